//! Waiting until the calls are over that nobody waits for, before one goes.

use std::time::Duration;

use nearcall_core::RevokeReason;
use nearcall_os::{clock, processor};

use super::ClientBinding;
use crate::client::deadline::left_ns;
use crate::client::interrupt::is_interrupted;
use crate::client::switching;

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
        for _ in 0..LOOKS {
            if self.captured_count() == 0 {
                return 0;
            }
            processor::relax();
        }
        let (mut pause, mut times) = (PAUSE_MIN, 0);
        loop {
            let (count, left_ns) = (self.captured_count(), left_ns(until_ns));
            if count == 0 || left_ns == 0 || !self.state.is_open() || is_interrupted() {
                return count;
            }
            // Its bell may have been lost, and nobody else may have noticed yet that it has ended.
            self.look_after_captured(times);
            switching::nap(pause.min(Duration::from_nanos(left_ns)));
            if self.process.has_exited() {
                self.revoke(RevokeReason::PeerDied);
            }
            (pause, times) = ((pause * 2).min(PAUSE_MAX), times + 1);
        }
    }
}
