//! Which trust classes' bells a server processor hears (design note 0025). One that rings and has
//! nothing there is charged with the time that this took, and left out until the debt is paid. Told
//! the time; owns no clock, and neither bells nor the debts, which processors share.
//!
//! ```text
//!            rings in vain, and owes too much (quota::Pace::RINGS)
//!   heard ─────────────────────────────────────────────────────────▶ left out
//!     ▲                        its pause is over                        │
//!     └─────────────────────────────────────────────────────────────────┘
//! ```

use alloc::vec::Vec;

/// A trust class, by a number that no other one has.
pub type ClassNumber = u64;

/// Most calls of a class that are kept to account for rings: what rang before its first call was
/// found is charged all the same.
const FOUND_MAX: u32 = 64;

/// Calls that a class's bells have brought, less the rings in vain that they account for. A call
/// may ring for one processor, and have been served by another by the time that one is awake: the
/// watcher and a resident, say, or a relief. Whoever rings may make a call each time, which costs
/// the server more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Found(u32);

impl Found {
    /// What [`Found::as_u32`] said.
    pub fn from_u32(count: u32) -> Found {
        Found(count)
    }

    /// For a word that processors share.
    pub fn as_u32(self) -> u32 {
        self.0
    }

    /// With one more call that a bell has brought; `None`: there are as many as are kept.
    pub fn with_call(self) -> Option<Found> {
        (self.0 < FOUND_MAX).then_some(Found(self.0 + 1))
    }

    /// Without the call that accounts for a ring in vain; `None`: there is none, and the class is
    /// charged.
    pub fn without_ring(self) -> Option<Found> {
        self.0.checked_sub(1).map(Found)
    }
}

/// What one server processor hears.
#[derive(Debug, Default)]
pub struct Hearing {
    left_out: Vec<Pause>,
    /// For whom the processor has been awake since it slept last.
    called: Vec<Called>,
}

#[derive(Clone, Copy, Debug)]
struct Pause {
    class: ClassNumber,
    until_ns: u64,
}

#[derive(Clone, Copy, Debug)]
struct Called {
    class: ClassNumber,
    /// It rang; else its pause is over, which ends a sleep as well.
    has_rung: bool,
}

impl Hearing {
    /// A class rang, or woke the processor.
    pub fn told_ring(&mut self, class: ClassNumber) {
        match self.called.iter_mut().find(|called| called.class == class) {
            Some(called) => called.has_rung = true,
            None => self.called.push(Called { class, has_rung: true }),
        }
    }

    /// Whether somebody has called the processor since it slept last.
    pub fn is_called(&self) -> bool {
        !self.called.is_empty()
    }

    /// Whether a class is heard.
    ///
    /// # Cost: one load, while no class is left out.
    #[inline]
    pub fn hears(&self, class: ClassNumber) -> bool {
        self.left_out.is_empty() || !self.left_out.iter().any(|pause| pause.class == class)
    }

    /// Whether any class is left out.
    #[inline]
    pub fn leaves_out(&self) -> bool {
        !self.left_out.is_empty()
    }

    /// Hears those again whose pause is over, and says how long the next one's lasts.
    pub fn resume(&mut self, now_ns: u64) -> Option<u64> {
        let called = &mut self.called;
        self.left_out.retain(|pause| {
            let is_over = pause.until_ns <= now_ns;
            if is_over && !called.iter().any(|called| called.class == pause.class) {
                called.push(Called { class: pause.class, has_rung: false });
            }
            !is_over
        });
        self.left_out.iter().map(|pause| pause.until_ns - now_ns).min()
    }

    /// Leaves a class out for so long; not at all if that is 0.
    pub fn leave_out(&mut self, class: ClassNumber, pause_ns: u64, now_ns: u64) {
        if pause_ns > 0 && self.hears(class) {
            self.left_out.push(Pause { class, until_ns: now_ns.saturating_add(pause_ns) });
        }
    }

    /// The processor is about to sleep. If it has found nothing to do since it did last, those who
    /// called it bear the time that it was awake, in equal parts: `charge` says how long each
    /// pauses. Only who rang is left out: if the end of a pause led to the next one, a class that
    /// has fallen silent would never be free of them.
    pub fn end(
        &mut self,
        has_found: bool,
        spent_ns: u64,
        now_ns: u64,
        mut charge: impl FnMut(ClassNumber, u64) -> u64,
    ) {
        if has_found {
            self.called.clear();
            return;
        }
        let called = core::mem::take(&mut self.called);
        for Called { class, has_rung } in &called {
            let pause_ns = charge(*class, spent_ns / called.len() as u64);
            if *has_rung {
                self.leave_out(*class, pause_ns, now_ns);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quota::Pace;

    const A: ClassNumber = 1;
    const B: ClassNumber = 2;

    /// What a wake for nothing takes.
    const WAKE_NS: u64 = 15_000;

    /// A class that rings as soon as it is heard, for a second. How long the processor was awake.
    fn flooded(mut wakes: impl FnMut(&mut Hearing)) -> u64 {
        let (mut hearing, mut pace) = (Hearing::default(), Pace::RINGS);
        let (mut now_ns, mut awake_ns) = (0, 0);
        while now_ns < 1_000_000_000 {
            now_ns += hearing.resume(now_ns).unwrap_or(0);
            hearing.resume(now_ns);
            wakes(&mut hearing);
            (now_ns, awake_ns) = (now_ns + WAKE_NS, awake_ns + WAKE_NS);
            hearing.end(false, WAKE_NS, now_ns, |_, spent_ns| {
                pace.spend(spent_ns, now_ns);
                pace.pause_ns(now_ns)
            });
        }
        awake_ns
    }

    #[test]
    fn whoever_rings_in_vain_without_end_has_a_fortieth_of_a_processor() {
        let awake_ns = flooded(|hearing| hearing.told_ring(A));
        assert!((25_000_000..28_000_000).contains(&awake_ns), "{awake_ns} ns of a second");
    }

    #[test]
    fn a_call_that_was_found_accounts_for_one_ring_and_for_no_more_than_are_kept() {
        let mut found = Found::default();
        assert_eq!(found.without_ring(), None);
        found = found.with_call().unwrap();
        assert_eq!(found.without_ring(), Some(Found::default()));
        let kept = core::iter::successors(Some(found), |found| found.with_call()).count();
        assert_eq!(kept as u32, FOUND_MAX);
    }

    #[test]
    fn whoever_rings_only_once_its_pause_has_woken_us_has_no_more() {
        let mut turns = 0;
        let awake_ns = flooded(|hearing| {
            turns += 1;
            if turns % 2 == 0 {
                hearing.told_ring(A);
            }
        });
        assert!((25_000_000..28_000_000).contains(&awake_ns), "{awake_ns} ns of a second");
    }

    #[test]
    fn a_class_is_left_out_until_its_pause_is_over_and_others_are_heard() {
        let mut hearing = Hearing::default();
        hearing.told_ring(A);
        hearing.end(false, WAKE_NS, 100, |class, spent_ns| {
            assert_eq!((class, spent_ns), (A, WAKE_NS));
            50
        });
        assert!(!hearing.hears(A) && hearing.hears(B));
        assert_eq!(hearing.resume(149), Some(1));
        assert!(!hearing.hears(A) && !hearing.is_called());
        assert_eq!(hearing.resume(150), None);
        assert!(hearing.hears(A) && hearing.is_called());
    }

    #[test]
    fn the_end_of_a_pause_is_charged_and_leads_to_no_other() {
        let mut hearing = Hearing::default();
        hearing.leave_out(A, 50, 0);
        hearing.resume(50);
        let mut charged = Vec::new();
        hearing.end(false, WAKE_NS, 60, |class, spent_ns| {
            charged.push((class, spent_ns));
            1_000
        });
        assert_eq!(charged, [(A, WAKE_NS)]);
        assert!(hearing.hears(A));
    }

    #[test]
    fn nobody_is_charged_if_something_was_there() {
        let mut hearing = Hearing::default();
        hearing.told_ring(A);
        hearing.end(true, WAKE_NS, 0, |_, _| panic!("a call was there"));
        hearing.end(false, WAKE_NS, 0, |_, _| panic!("nobody has called since"));
        assert!(hearing.hears(A));
    }

    #[test]
    fn those_who_rang_together_bear_it_together() {
        let mut hearing = Hearing::default();
        [A, B, A].into_iter().for_each(|class| hearing.told_ring(class));
        let mut charged = Vec::new();
        hearing.end(false, WAKE_NS, 0, |class, spent_ns| {
            charged.push((class, spent_ns));
            0
        });
        assert_eq!(charged, [(A, WAKE_NS / 2), (B, WAKE_NS / 2)]);
    }
}
