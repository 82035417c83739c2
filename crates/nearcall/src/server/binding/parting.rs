//! What is left of a binding whose client has gone: calls that were posted oneway, for which nobody
//! waits anyway, are begun still (design note 0015).

use std::sync::Arc;
use std::time::{Duration, Instant};

use nearcall_abi::ProcedureDescriptor;
use nearcall_core::turn::{self, Look};
use nearcall_core::{RevokeReason, Sequence, TurnWord};

use super::ServerBinding;

/// After which it is looked for the first time whether they have ended; doubled up to
/// [`PAUSE_MAX`].
const PAUSE_MIN: Duration = Duration::from_millis(1);

/// Longest such time.
const PAUSE_MAX: Duration = Duration::from_millis(256);

/// A binding that parts, as the thread that keeps house has it.
#[derive(Debug)]
pub(crate) struct Parting {
    pub binding: Arc<ServerBinding>,
    /// What was posted oneway and had no reply when the client was found to have gone: no more than
    /// one an A-stack, whatever is posted since.
    left: Vec<(u32, Sequence)>,
    pub due: Instant,
    pause: Duration,
}

impl Parting {
    /// The client of a binding has gone. `None`: it has left nothing behind, or the binding was
    /// revoked before, and is over.
    pub fn begin(binding: &Arc<ServerBinding>, reason: RevokeReason) -> Option<Parting> {
        if !binding.state.part(reason) {
            binding.revoke(reason);
            return None;
        }
        binding.audit.revoked(binding.subject(), reason);
        binding.feeds.clear();
        binding.suspended.clear_waited_for();
        // Behind the state: what is claimed from here on, and oneway, is run.
        let posted = (0..binding.astack_count()).filter_map(|index| binding.oneway_on(index));
        let (left, pause) = (posted.collect(), PAUSE_MIN);
        let parting =
            Parting { binding: Arc::clone(binding), left, due: Instant::now() + pause, pause };
        (!parting.is_over()).then_some(parting)
    }

    /// All that was left has ended, and wants neither arguments nor a place in the table any more;
    /// or the binding was revoked.
    pub fn is_over(&self) -> bool {
        // A client that lives may change the word: then it is none, or keeps its own binding.
        let has_ended = |(index, sequence): &(u32, Sequence)| {
            turn::is_given_up(&self.binding.astack(*index).head().turn, *sequence)
        };
        !self.binding.state.is_parting() || self.left.iter().all(has_ended)
    }

    /// Whether some of it is not begun.
    pub fn has_left(&self) -> bool {
        let is_left = |(index, sequence): &(u32, Sequence)| {
            self.binding.look(*index).0 == Look::Posted(*sequence)
        };
        self.left.iter().any(is_left)
    }

    /// It is not over, and to be looked at once more.
    pub fn put_off(&mut self, now: Instant) {
        self.pause = (2 * self.pause).min(PAUSE_MAX);
        self.due = now + self.pause;
    }
}

impl ServerBinding {
    /// Whether a call of the procedure that `selector` claims to be is run although the client has
    /// gone.
    #[cold]
    pub fn runs_last(&self, selector: u32) -> bool {
        self.state.is_parting() && self.is_oneway(selector)
    }

    /// Whether nobody waits for calls of the procedure that `selector` claims to be.
    pub fn is_oneway(&self, selector: u32) -> bool {
        let is_oneway = |procedure: &ProcedureDescriptor| procedure.is_oneway;
        self.all_procedures().get(selector as usize).is_some_and(is_oneway)
    }

    /// The call on A-stack `index` that nobody waits for, begun or not.
    fn oneway_on(&self, index: u32) -> Option<(u32, Sequence)> {
        let words = self.look(index).1;
        let (sequence, claimed) = (TurnWord(words.turn()).sequence(), self.claimed(index));
        let is_due = sequence == claimed || sequence == claimed.next();
        (is_due && self.is_oneway(words.selector())).then_some((index, sequence))
    }
}
