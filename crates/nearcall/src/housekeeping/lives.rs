//! Clients that have ended although their sockets have not hung up: somebody else has one open, who
//! was given it, has stolen it, or is a child that no handler of fork(2) knew of. What a client was
//! admitted for goes with it, so that it is asked now and then whether it lives (design note 0009).

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::{Housekeeping, Rounds, SPARSE_SHARE, Watched, end_served};
use crate::domain::DomainCore;

/// Between two rounds.
const SLICE: Duration = Duration::from_secs(1);

/// Clients that are asked about in one round, at 3 to 7 us each: 0.03 % of a processor at most,
/// however many there are.
const LOOKS_MAX: usize = 40;

/// The bindings that are served, by token, in the order in which they are looked at; and some that
/// have gone.
#[derive(Debug, Default)]
pub(super) struct Lives(Mutex<VecDeque<u64>>);

impl Lives {
    fn tokens(&self) -> MutexGuard<'_, VecDeque<u64>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Housekeeping {
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
        let has_some = || !self.lives.tokens().is_empty();
        rounds.look_after(SLICE, has_some, || self.look_through_lives(core))
    }

    fn look_through_lives(&self, core: &Arc<DomainCore>) -> bool {
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
        !tokens.is_empty()
    }
}
