//! Who of this process spins: fewer threads than the process has processors, so that somebody can
//! do what they wait for, but always two; and for how long they did (DESIGN 5, U17). Who spins lets
//! others have its processor between two spins (design note 0003).
//!
//! The first polls of a wait, a few microseconds, do not count: most calls end there.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use nearcall_core::{Waiter, YieldBan};
use nearcall_os::forks::PerProcess;
use nearcall_os::{clock, processor};

static SPINNERS: PerProcess<Spinners> = PerProcess::new();

#[derive(Debug)]
struct Spinners {
    count: AtomicU32,
    spun_ns: AtomicU64,
    max: OnceLock<u32>,
}

/// This thread may spin, until it says for how long it did.
#[derive(Debug)]
#[must_use]
pub(crate) struct Spinner<'s> {
    spinners: &'s Spinners,
}

/// Those of this process: in a child of fork(2) none of its parent's threads spins.
fn spinners() -> &'static Spinners {
    SPINNERS.own(Spinners::new)
}

/// Processor time that threads of this process have spent spinning for replies and for calls.
///
/// # Cost: a comparison for each fork that lies behind this process, and a load.
pub fn spun() -> Duration {
    // Relaxed: a figure for people.
    Duration::from_nanos(spinners().spun_ns.load(Ordering::Relaxed))
}

/// Asks whether this thread may spin. `None`: enough do.
pub(crate) fn begin() -> Option<Spinner<'static>> {
    spinners().begin()
}

/// How often a wait polls that was told to spin, once it has let others have its processor between
/// two spins, unless yields are banned: what it spins for may want just that one, as a server does
/// that is called back, or an event loop that goes on with a call. Where somebody has had it, that
/// was a spin already.
///
/// # Cost: one system call, of 0.3 us if nobody else is ready.
pub(crate) fn share(polls: u32, waiter: &mut Waiter<'_>, ban: &mut YieldBan) -> u32 {
    if !waiter.may_share() {
        return polls;
    }
    let before = clock::ticks();
    processor::yield_now();
    match waiter.told_share(ban, clock::ns_since(before)) {
        true => polls.min(1),
        false => polls,
    }
}

/// One less than there are processors, and at least two: who waits for a server, and the processor
/// of its own domain that this one calls back meanwhile.
fn max_of(processor_count: usize) -> u32 {
    (processor_count as u32).saturating_sub(1).max(2)
}

impl Spinners {
    const fn new() -> Spinners {
        Spinners { count: AtomicU32::new(0), spun_ns: AtomicU64::new(0), max: OnceLock::new() }
    }

    fn max(&self) -> u32 {
        *self.max.get_or_init(|| max_of(processor::count_allowed()))
    }

    fn begin(&self) -> Option<Spinner<'_>> {
        // Relaxed: a count that orders nothing; one spinner too many for a moment does no harm.
        if self.count.fetch_add(1, Ordering::Relaxed) >= self.max() {
            // Relaxed: as above.
            self.count.fetch_sub(1, Ordering::Relaxed);
            return None;
        }
        Some(Spinner { spinners: self })
    }
}

impl Spinner<'_> {
    /// It spun for so long.
    pub fn end(self, spun_ns: u64) {
        // Relaxed: a sum that orders nothing.
        self.spinners.spun_ns.fetch_add(spun_ns, Ordering::Relaxed);
    }
}

impl Drop for Spinner<'_> {
    fn drop(&mut self) {
        // Relaxed: as in `begin`.
        self.spinners.count.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn for_processors(count: u32) -> Spinners {
        let spinners = Spinners::new();
        spinners.max.set(count).unwrap();
        spinners
    }

    #[test]
    fn one_spinner_too_many_is_refused_until_another_ends() {
        let spinners = for_processors(2);
        let (first, second) = (spinners.begin().unwrap(), spinners.begin().unwrap());
        assert!(spinners.begin().is_none());
        first.end(5);
        let third = spinners.begin().unwrap();
        assert!(spinners.begin().is_none());
        second.end(7);
        drop(third);
        assert_eq!(spinners.count.into_inner(), 0);
        assert_eq!(spinners.spun_ns.into_inner(), 12);
    }

    #[test]
    fn there_are_always_two_who_may_and_otherwise_one_less_than_there_are_processors() {
        assert_eq!([1, 2, 3, 4, 64].map(max_of), [2, 2, 2, 3, 63]);
    }
}
