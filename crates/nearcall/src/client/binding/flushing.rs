//! Waiting until the calls are over that nobody waits for, before one goes.

use std::time::Duration;

use nearcall_core::{Step, Waiter};
use nearcall_os::{clock, processor};

use super::ClientBinding;
use crate::client::deadline::left_ns;
use crate::client::interrupt::is_interrupted;
use crate::client::switching;
use crate::client::wait::{YIELD_BAN, end_spinning};
use crate::server::current;
use crate::spinning;

/// Looks before the first sleep: a server that is awake is done with a short call in far less.
const LOOKS: u32 = 64;

/// The first sleep between two looks, and the longest; each is twice the one before.
const PAUSE_MIN: Duration = Duration::from_micros(100);
const PAUSE_MAX: Duration = Duration::from_millis(5);

impl ClientBinding {
    /// Waits for so long at most until all calls are over that nobody waits for; how many are not.
    pub fn flush(&self, timeout: Duration) -> u32 {
        let timeout_ns = u64::try_from(timeout.as_nanos()).unwrap_or(u64::MAX);
        let until_ns = clock::now_ns().saturating_add(timeout_ns);
        // In a child of fork(2) they are its parent's, and so may be the lock that counts them.
        if self.domain.core().is_forked() {
            return 0;
        }
        for _ in 0..LOOKS {
            if self.captured_count() == 0 {
                return 0;
            }
            processor::relax();
        }
        // Of its own domain's calls a procedure's processor looks after none while it waits here.
        current::call_for_relief();
        if self.are_over_soon(until_ns) {
            return 0;
        }
        let mut pause = PAUSE_MIN;
        loop {
            // Asked before they are counted: what is over by then is over.
            let left_ns = left_ns(until_ns);
            let is_last = left_ns == 0 || !self.state.is_open();
            let count = self.captured_count();
            if count == 0 || is_last {
                return count;
            }
            // Lost bells are housekeeping's to ring for again.
            switching::nap(pause.min(Duration::from_nanos(left_ns)));
            if is_interrupted() {
                return self.captured_count();
            }
            // Nobody else may have noticed yet that it has ended.
            self.note_end();
            pause = (pause * 2).min(PAUSE_MAX);
        }
    }

    /// Looks for as long as one may spin for a reply, with yields between looks: the shortest sleep
    /// takes several times what a few short calls do. False: they are not over, or enough threads
    /// spin, or other FastThreads are to run meanwhile.
    fn are_over_soon(&self, until_ns: u64) -> bool {
        let mut spinner = (!switching::is_here()).then(spinning::begin).flatten();
        if spinner.is_none() {
            return false;
        }
        let begin = clock::ticks();
        let mut ban = YIELD_BAN.get();
        let mut waiter = Waiter::new(&self.policy, &mut ban, self.policy.spin_ns_max);
        waiter = waiter.until(until_ns);
        let mut are_over = false;
        while !are_over && let Step::Spin { polls } = waiter.next(clock::now_ns, false) {
            let looks = spinning::share(polls, &mut waiter, &mut ban);
            are_over = (0..looks).any(|_| {
                processor::relax();
                self.captured_count() == 0
            });
        }
        YIELD_BAN.set(ban);
        end_spinning(&mut spinner, || clock::ns_since(begin), &waiter);
        are_over
    }
}
