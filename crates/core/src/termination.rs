//! What became of a call whose server ended, or went away (L51, DESIGN 8).
//!
//! The turn word and the claim word outlive the server, because this side's mapping does. Read
//! them after the proof, never before.

use crate::turn::{Phase, Sequence, TurnWord};

/// What is known about the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Proof {
    /// Its pidfd says that it ended: it will write nothing more.
    Died,
    /// Its socket hung up. It may still be running.
    HungUp,
    /// It said that it takes no more calls on this binding, while the call was posted or not yet
    /// posted. It says so when no call is pending, after a fence on all its processors; they look
    /// whether the binding is open after they have claimed ([`crate::claim::take`]), and refuse
    /// what they claimed if it is not. So what had begun had also ended, and nothing begins.
    Revoked,
}

/// What became of the call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Its reply is there: it ran exactly once, and its results are the client's.
    Delivered,
    /// Proven not taken. A retry is safe.
    NotExecuted,
    /// Taken, or not proven not to be: it may have run.
    CallFailed,
}

/// Classifies call `sequence`.
///
/// `turn` is the turn word, and `was_claimed` what [`crate::claim::was_claimed`] said, both read
/// after `proof` was had. Dead, aborted and unknown phases count as no reply.
pub fn classify(turn: TurnWord, sequence: Sequence, was_claimed: bool, proof: Proof) -> Outcome {
    let is_idle = matches!(turn.phase(), Some(Phase::IdleBell | Phase::IdleHot | Phase::IdleTally));
    if is_idle && turn.sequence() == sequence {
        return Outcome::Delivered;
    }
    match proof {
        Proof::Revoked => Outcome::NotExecuted,
        Proof::Died if !was_claimed => Outcome::NotExecuted,
        Proof::Died | Proof::HungUp => Outcome::CallFailed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CALL: Sequence = Sequence::from_u32(5);

    #[track_caller]
    fn check(phase: Phase, was_claimed: bool, proof: Proof, want: Outcome) {
        assert_eq!(classify(TurnWord::new(CALL, phase), CALL, was_claimed, proof), want);
    }

    #[test]
    fn a_reply_before_the_death_is_delivered() {
        for proof in [Proof::Died, Proof::HungUp, Proof::Revoked] {
            check(Phase::IdleBell, true, proof, Outcome::Delivered);
            check(Phase::IdleHot, true, proof, Outcome::Delivered);
            check(Phase::IdleTally, true, proof, Outcome::Delivered);
        }
    }

    #[test]
    fn an_unclaimed_call_of_a_dead_server_did_not_run() {
        for phase in [Phase::Posted, Phase::PostedAsleep, Phase::Aborted, Phase::Dead] {
            check(phase, false, Proof::Died, Outcome::NotExecuted);
        }
    }

    #[test]
    fn a_claimed_call_without_a_reply_may_have_run() {
        for proof in [Proof::Died, Proof::HungUp] {
            check(Phase::Posted, true, proof, Outcome::CallFailed);
            check(Phase::Dead, true, proof, Outcome::CallFailed);
        }
    }

    #[test]
    fn what_a_server_claimed_after_it_took_no_more_calls_it_refused() {
        for phase in [Phase::Posted, Phase::PostedAsleep, Phase::Dead] {
            check(phase, false, Proof::Revoked, Outcome::NotExecuted);
            check(phase, true, Proof::Revoked, Outcome::NotExecuted);
        }
    }

    #[test]
    fn a_hang_up_proves_nothing_about_an_unclaimed_call() {
        check(Phase::Posted, false, Proof::HungUp, Outcome::CallFailed);
    }

    #[test]
    fn a_reply_to_another_call_is_none_to_this_one() {
        let other = TurnWord::new(CALL.previous(), Phase::IdleHot);
        assert_eq!(classify(other, CALL, true, Proof::Died), Outcome::CallFailed);
    }
}
