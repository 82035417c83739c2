//! Who of this process spins: fewer threads than the process has processors, so that somebody can
//! do what they wait for; and for how long they did (DESIGN 5, U17).
//!
//! The first polls of a wait, a few microseconds, do not count: most calls end there.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use nearcall_os::processor;

static SPINNERS: Spinners = Spinners::new();

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

/// Processor time that threads of this process have spent spinning for replies and for calls.
///
/// # Cost: one load.
pub fn spun() -> Duration {
    // Relaxed: a figure for people.
    Duration::from_nanos(SPINNERS.spun_ns.load(Ordering::Relaxed))
}

/// Asks whether this thread may spin. `None`: enough do.
pub(crate) fn begin() -> Option<Spinner<'static>> {
    SPINNERS.begin()
}

impl Spinners {
    const fn new() -> Spinners {
        Spinners { count: AtomicU32::new(0), spun_ns: AtomicU64::new(0), max: OnceLock::new() }
    }

    /// One less than there are processors, and at least one: who alone has one processor does not
    /// spin for anybody who shares it, and for others it is right.
    fn max(&self) -> u32 {
        *self.max.get_or_init(|| (processor::count_allowed() as u32 - 1).max(1))
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
    fn there_is_always_one_who_may() {
        assert!(Spinners::new().max() >= 1);
    }
}
