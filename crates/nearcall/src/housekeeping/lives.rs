//! Clients that have ended although their sockets have not hung up: somebody else has one open, who
//! was given it, has stolen it, or is a child that no handler of fork(2) knew of. What a client was
//! admitted for goes with it. So it is asked now and then whether it lives, as long as anything
//! happens here: a server that nobody calls is not woken (design note 0009).
//!
//! | word | written | by | read |
//! |---|---|---|---|
//! | `has_stirred` | true, before the other | who was woken | housekeeping, after the other |
//! | `is_looking` | true, swap | who was woken | wakes housekeeping if it was false |
//! | | false, swap | housekeeping | looks at `has_stirred` once more |
//!
//! Whichever swap of `is_looking` comes second sees what the other thread has done before its own.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::{Housekeeping, Rounds, SPARSE_SHARE, Watched, end_served};
use crate::domain::DomainCore;

/// Between two rounds.
const SLICE: Duration = Duration::from_secs(1);

/// Clients that are asked about in one round, at 3 to 7 us each: 0.03 % of a processor at most,
/// however many there are.
const LOOKS_MAX: usize = 40;

/// Whom to look at, and whether to.
#[derive(Debug, Default)]
pub(super) struct Lives {
    /// The bindings that are served, by token, in the order in which they are looked at; and some
    /// that have gone.
    tokens: Mutex<VecDeque<u64>>,
    has_stirred: AtomicBool,
    is_looking: AtomicBool,
    /// How far the watcher was at the last round.
    progress: AtomicU64,
}

impl Lives {
    fn tokens(&self) -> MutexGuard<'_, VecDeque<u64>> {
        self.tokens.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Something happens here. Whether nobody was looking.
    fn stir(&self) -> bool {
        // Relaxed: ordered by the swap.
        self.has_stirred.store(true, Ordering::Relaxed);
        // AcqRel: see the table.
        !self.is_looking.swap(true, Ordering::AcqRel)
    }

    /// Whether anything has happened since it was last asked, or is happening.
    fn goes_on(&self, core: &DomainCore) -> bool {
        let (progress, is_in_procedure) = core.processors.progress();
        // Relaxed, both: the housekeeping thread's own, and what comes meanwhile is seen below.
        let has_moved = self.progress.swap(progress, Ordering::Relaxed) != progress;
        // Relaxed: as above.
        if self.has_stirred.swap(false, Ordering::Relaxed) || has_moved || is_in_procedure {
            return true;
        }
        // AcqRel: see the table.
        self.is_looking.swap(false, Ordering::AcqRel);
        // Relaxed: ordered by the swap.
        self.has_stirred.load(Ordering::Relaxed) && {
            self.stir();
            true
        }
    }
}

impl Housekeeping {
    /// A server processor was woken, or has the watch now.
    ///
    /// # Cost: a locked operation, and once in a second or two a system call.
    pub fn note_awake(&self) {
        if self.lives.stir() {
            self.waker.wake();
        }
    }

    /// The housekeeping thread itself was.
    pub(super) fn note_stirred(&self) {
        self.lives.stir();
    }

    /// From now on it is asked whether this binding's client lives.
    pub(super) fn look_after_life(&self, token: u64) {
        self.lives.tokens().push_back(token);
    }

    /// Looks for clients that have ended, if it is time. How long until it is time again.
    pub(super) fn look_for_ended(
        &self,
        core: &Arc<DomainCore>,
        rounds: &mut Rounds,
    ) -> Option<Duration> {
        // Relaxed: who has set it has woken this thread.
        let is_looking = self.lives.is_looking.load(Ordering::Relaxed);
        let has_some = || is_looking && !self.lives.tokens().is_empty();
        rounds.look_after(SLICE, has_some, || {
            self.look_through_lives(core);
            self.lives.goes_on(core)
        })
    }

    fn look_through_lives(&self, core: &Arc<DomainCore>) {
        let served = |token| match self.watched().get(&token) {
            Some(Watched::Importer(binding)) => Some(Arc::clone(binding)),
            _ => None,
        };
        let mut look_count = 0;
        let count = self.lives.tokens().len();
        for _ in 0..count {
            let token = self.lives.tokens().pop_front();
            let Some((token, binding)) = token.and_then(|token| Some((token, served(token)?)))
            else {
                continue;
            };
            match binding.importer.has_ended() {
                true => end_served(core, &binding),
                false => self.look_after_life(token),
            }
            look_count += 1;
            if look_count == LOOKS_MAX {
                break;
            }
        }
        let mut tokens = self.lives.tokens();
        if tokens.len() < tokens.capacity() / SPARSE_SHARE {
            let room = 2 * tokens.len();
            tokens.shrink_to(room);
        }
    }
}
