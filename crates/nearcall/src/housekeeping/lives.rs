//! Clients that have ended although their sockets have not hung up: somebody else has one open, who
//! was given it, has stolen it, or is a child that no handler of fork(2) knew of. What a client was
//! admitted for goes with it. So it is asked in turn whether it lives, as long as anything happens
//! here, and then until each was asked once more: a server that nobody calls is not woken (design
//! note 0009).
//!
//! | word | written | by | read |
//! |---|---|---|---|
//! | `has_stirred` | true, before the other | who has run a call | housekeeping, after the other |
//! | `is_looking` | true, swap | who has run a call | wakes housekeeping if it was false |
//! | | false, swap | housekeeping | looks at `has_stirred` once more |
//!
//! Whichever swap of `is_looking` comes second sees what the other thread has done before its own.

use std::collections::BTreeSet;
use std::ops::Bound;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::{Housekeeping, Rounds, Watched, end_served};
use crate::domain::DomainCore;

/// Between two rounds.
pub(crate) const SLICE: Duration = Duration::from_secs(1);

/// Bindings that are asked about in one round, at 3 to 7 us each: 0.03 % of a processor at most,
/// however many there are.
const LOOKS_MAX: usize = 40;

/// Rounds for which a procedure counts as something that happens. One that takes longer is found
/// when it has returned, and its processor sleeps.
const ROUNDS_IN_PROCEDURE_MAX: u32 = 60;

/// Whom to look at, and whether to.
#[derive(Debug, Default)]
pub(super) struct Lives {
    turns: Mutex<Turns>,
    stirring: Stirring,
    course: Mutex<Course>,
}

/// The bindings that are served, by token, each in its turn.
#[derive(Debug, Default)]
struct Turns {
    tokens: BTreeSet<u64>,
    last: u64,
}

/// Whether anything happens here.
#[derive(Debug, Default)]
struct Stirring {
    has_stirred: AtomicBool,
    is_looking: AtomicBool,
}

/// How far housekeeping has come since something happened last. Its own.
#[derive(Debug, Default)]
struct Course {
    /// Where the watcher was.
    progress: u64,
    /// Bindings that were not asked about since.
    left: usize,
    rounds_in_procedure: u32,
}

/// Where the watcher is: another number whenever it has run a call, and whether it is in one.
pub(crate) type Progress = (u64, bool);

impl Turns {
    fn next(&mut self) -> Option<u64> {
        let behind = (Bound::Excluded(self.last), Bound::Unbounded);
        let next = self.tokens.range(behind).next().or_else(|| self.tokens.first()).copied();
        self.last = next.unwrap_or_default();
        next
    }
}

impl Stirring {
    /// Something happens. Whether nobody was looking.
    fn stir(&self) -> bool {
        // Relaxed: ordered by the swap.
        self.has_stirred.store(true, Ordering::Relaxed);
        // AcqRel: see the table.
        !self.is_looking.swap(true, Ordering::AcqRel)
    }

    fn is_looking(&self) -> bool {
        // Relaxed: who has set it wakes whoever asks.
        self.is_looking.load(Ordering::Relaxed)
    }

    /// Whether it has stirred since this was asked last.
    fn take(&self) -> bool {
        // Relaxed: what comes meanwhile is seen by `rest`.
        self.has_stirred.swap(false, Ordering::Relaxed)
    }

    /// Nobody looks any more. False: it has stirred just now.
    fn rest(&self) -> bool {
        // AcqRel: see the table.
        self.is_looking.swap(false, Ordering::AcqRel);
        // Relaxed: ordered by the swap.
        if self.has_stirred.load(Ordering::Relaxed) {
            self.stir();
            return false;
        }
        true
    }
}

impl Course {
    /// After a round that has asked about `looked` of `count` bindings: whether there is another.
    fn goes_on(
        &mut self,
        has_stirred: bool,
        (progress, is_in_procedure): Progress,
        (looked, count): (usize, usize),
    ) -> bool {
        if has_stirred || progress != self.progress {
            *self = Course { progress, left: count, rounds_in_procedure: 0 };
            return true;
        }
        self.left = self.left.saturating_sub(looked);
        self.rounds_in_procedure += u32::from(is_in_procedure);
        let is_busy = is_in_procedure && self.rounds_in_procedure <= ROUNDS_IN_PROCEDURE_MAX;
        self.left > 0 || is_busy
    }
}

impl Lives {
    fn turns(&self) -> MutexGuard<'_, Turns> {
        self.turns.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn goes_on(&self, progress: Progress, looked: usize) -> bool {
        let count = self.turns().tokens.len();
        let mut course = self.course.lock().unwrap_or_else(PoisonError::into_inner);
        course.goes_on(self.stirring.take(), progress, (looked, count)) || !self.stirring.rest()
    }
}

impl Housekeeping {
    /// A server processor has run a call since it slept, or begins to watch.
    ///
    /// # Cost: a locked operation; a system call, once in a second or two.
    pub fn note_awake(&self) {
        if self.lives.stirring.stir() {
            self.waker.wake();
        }
    }

    /// The housekeeping thread has something to do.
    pub(super) fn note_stirred(&self) {
        self.lives.stirring.stir();
    }

    /// From now on it is asked whether this binding's client lives.
    pub(super) fn look_after_life(&self, token: u64) {
        self.lives.turns().tokens.insert(token);
    }

    /// It has gone.
    pub(super) fn forget_life(&self, token: u64) {
        self.lives.turns().tokens.remove(&token);
    }

    /// Looks for clients that have ended, if it is time. How long until it is time again.
    pub(super) fn look_for_ended(
        &self,
        core: &Arc<DomainCore>,
        rounds: &mut Rounds,
    ) -> Option<Duration> {
        let has_some = || self.lives.stirring.is_looking() && !self.lives.turns().tokens.is_empty();
        rounds.look_after(SLICE, has_some, || {
            let looked = self.look_through_lives(core);
            self.lives.goes_on(core.processors.progress(), looked)
        })
    }

    /// A round. How many it has asked about.
    fn look_through_lives(&self, core: &Arc<DomainCore>) -> usize {
        let count = self.lives.turns().tokens.len().min(LOOKS_MAX);
        for _ in 0..count {
            let Some(token) = self.lives.turns().next() else { break };
            let served = self.watched().get(&token).cloned();
            if let Some(Watched::Importer(binding)) = served
                && binding.importer.has_ended()
            {
                end_served(core, &binding);
            }
        }
        count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Where a watcher is that does nothing.
    const STILL: Progress = (8, false);

    fn after_a_call(count: usize) -> Course {
        let mut course = Course::default();
        assert!(course.goes_on(true, STILL, (0, count)));
        course
    }

    #[test]
    fn each_has_its_turn_and_one_that_comes_or_goes_takes_nobodys() {
        let mut turns = Turns::default();
        assert_eq!(turns.next(), None);
        turns.tokens.extend([3, 5, 9]);
        assert_eq!([turns.next(), turns.next()], [Some(3), Some(5)]);
        turns.tokens.remove(&5);
        turns.tokens.insert(12);
        assert_eq!([(); 4].map(|()| turns.next()), [Some(9), Some(12), Some(3), Some(9)]);
        turns.tokens.clear();
        assert_eq!(turns.next(), None);
    }

    #[test]
    fn after_a_call_each_is_asked_about_once_more_and_then_none() {
        let mut course = after_a_call(100);
        assert!(course.goes_on(false, STILL, (40, 100)));
        assert!(course.goes_on(false, STILL, (40, 100)));
        assert!(!course.goes_on(false, STILL, (40, 100)));
        let mut course = after_a_call(2);
        assert!(!course.goes_on(false, STILL, (2, 2)));
    }

    #[test]
    fn calls_that_are_run_without_a_sleep_keep_it_going() {
        let mut course = after_a_call(1);
        for calls in 0..1_000 {
            assert!(course.goes_on(false, (10 + 2 * calls, false), (1, 1)));
        }
        assert!(!course.goes_on(false, (10 + 2 * 999, false), (1, 1)));
    }

    #[test]
    fn a_procedure_counts_for_a_while_and_not_for_hours() {
        let mut course = after_a_call(1);
        assert!(course.goes_on(false, (9, true), (1, 1)));
        let rounds = (0..1_000).filter(|_| course.goes_on(false, (9, true), (1, 1)));
        assert_eq!(rounds.count(), ROUNDS_IN_PROCEDURE_MAX as usize);
    }

    #[test]
    fn who_stirs_wakes_whoever_rests_and_nobody_else() {
        let stirring = Stirring::default();
        assert!(!stirring.is_looking());
        assert!(stirring.stir() && stirring.is_looking());
        assert!(!stirring.stir());
        assert!(stirring.take() && !stirring.take());
        assert!(stirring.rest() && !stirring.is_looking());
        assert!(stirring.stir());
    }

    #[test]
    fn it_does_not_rest_beside_what_stirs_just_then() {
        let stirring = Stirring::default();
        assert!(stirring.stir());
        assert!(!stirring.rest() && stirring.is_looking());
    }
}
