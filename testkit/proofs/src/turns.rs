//! Turn words and claims: whatever a peer has written, and across the end of the sequence.

use core::sync::atomic::AtomicU32;
use core::sync::atomic::Ordering::Relaxed;

use nearcall_core::turn::{self, Bury, Look, Poll, Reply};
use nearcall_core::{Mode, Phase, Sequence, TurnWord, claim};

use crate::any::Any;

/// Any word, and the number of any call.
fn word_and_call(any: &mut Any) -> (AtomicU32, Sequence) {
    (AtomicU32::new(any.u32()), Sequence::from_u32(any.u32()))
}

/// What a thread finds that nobody is beside: the proofs are about words, models about threads.
fn of(word: &AtomicU32) -> u32 {
    // Relaxed: as above.
    word.load(Relaxed)
}

fn mode(any: &mut Any) -> Mode {
    match any.u8() % 3 {
        0 => Mode::Bell,
        1 => Mode::Hot,
        _ => Mode::Tally,
    }
}

/// Written once more, by the table of the turn word.
fn idle(sequence: Sequence, mode: Mode) -> u32 {
    let phase = match mode {
        Mode::Bell => Phase::IdleBell,
        Mode::Hot => Phase::IdleHot,
        Mode::Tally => Phase::IdleTally,
    };
    TurnWord::new(sequence, phase).0
}

fn is_idle(word: u32, sequence: Sequence) -> bool {
    [Mode::Bell, Mode::Hot, Mode::Tally].into_iter().any(|mode| word == idle(sequence, mode))
}

fn is_at(word: u32, sequence: Sequence, phase: Phase) -> bool {
    word == TurnWord::new(sequence, phase).0
}

#[inline(never)]
pub fn a_poll_tells_replies_of_this_call_alone(any: &mut Any) -> bool {
    let (word, sequence) = word_and_call(any);
    let seen = of(&word);
    let poll = turn::poll(&word, sequence);
    match poll {
        Poll::Replied { mode } => assert_eq!(seen, idle(sequence, mode)),
        Poll::Pending => {
            let phases = [Phase::Posted, Phase::PostedAsleep];
            assert!(phases.into_iter().any(|phase| is_at(seen, sequence, phase)));
        }
        Poll::Dead => assert!(is_at(seen, sequence, Phase::Dead)),
        Poll::Wrong(wrong) => assert!(wrong.0 == seen && !is_idle(seen, sequence)),
    }
    if turn::is_usual_reply(TurnWord(seen), sequence) {
        assert!(matches!(poll, Poll::Replied { mode: Mode::Bell | Mode::Hot }));
    }
    turn::is_idle(&word, sequence)
}

#[inline(never)]
pub fn a_post_finds_the_call_before_idle_or_says_what_is_wrong(any: &mut Any) -> bool {
    let (word, sequence) = word_and_call(any);
    let seen = of(&word);
    let posted = turn::post(&word, sequence);
    assert!(is_at(of(&word), sequence, Phase::Posted));
    assert_eq!(posted.is_ok(), is_idle(seen, sequence.previous()));
    assert_eq!(turn::was_polled(seen, sequence), posted == Ok(Mode::Hot));
    let Ok(mode) = posted else { return false };
    assert_eq!(seen, idle(sequence.previous(), mode));
    true
}

/// The server runs a call that is next, and no other, whatever both words say.
#[inline(never)]
pub fn a_look_finds_the_call_after_the_last_claimed_alone(any: &mut Any) -> bool {
    let (word, claim_word) = (AtomicU32::new(any.u32()), AtomicU32::new(any.u32()));
    let (seen, due) = (of(&word), claim::claimed(&claim_word).next());
    match turn::look(&word, &claim_word) {
        Look::Posted(sequence) => {
            assert_eq!(sequence, due);
            let phases = [Phase::Posted, Phase::PostedAsleep];
            assert!(phases.into_iter().any(|phase| is_at(seen, due, phase)));
            assert!(turn::may_run(&word, &claim_word));
            return true;
        }
        Look::Aborted(sequence) => {
            assert_eq!(sequence, due);
            assert!(is_at(seen, due, Phase::Aborted));
        }
        Look::Wrong(wrong) => assert_eq!(wrong.0, seen),
        Look::Nothing => {
            let phases = [Phase::Posted, Phase::PostedAsleep, Phase::Aborted];
            assert!(!phases.into_iter().any(|phase| is_at(seen, due, phase)));
        }
    }
    false
}

#[inline(never)]
pub fn a_claim_is_had_once(any: &mut Any) -> bool {
    let (word, sequence) = word_and_call(any);
    if !claim::claim(&word, sequence) {
        return false;
    }
    assert!(claim::was_claimed(&word, sequence));
    assert_eq!(claim::claimed(&word), sequence);
    assert!(!claim::claim(&word, sequence));
    true
}

#[inline(never)]
pub fn a_reply_leaves_the_word_idle_at_its_call(any: &mut Any) -> bool {
    let ((word, sequence), mode) = (word_and_call(any), mode(any));
    let seen = of(&word);
    let reply = turn::reply(&word, sequence, mode);
    assert_eq!(of(&word), idle(sequence, mode));
    let phase = match reply {
        Reply::ClientAwake => Phase::Posted,
        Reply::WakeClient => Phase::PostedAsleep,
        Reply::Aborted => Phase::Aborted,
        Reply::Dead => Phase::Dead,
        Reply::Wrong(wrong) => {
            assert_eq!(wrong.0, seen);
            return false;
        }
    };
    assert!(is_at(seen, sequence, phase));
    true
}

/// O2, O5, O6 and O7: from the phases of the table, and else the word stays as it was.
#[inline(never)]
pub fn a_client_moves_a_word_from_its_own_calls_alone(any: &mut Any) -> bool {
    let (word, sequence) = word_and_call(any);
    let seen = of(&word);
    let (from, to, has_moved): (&[Phase], _, _) = match any.u8() % 4 {
        0 => (&[Phase::Posted], Phase::PostedAsleep, turn::doze(&word, sequence).is_ok()),
        1 => (&[Phase::PostedAsleep], Phase::Posted, turn::rouse(&word, sequence).is_ok()),
        2 => {
            let has_moved = turn::abort(&word, sequence).is_ok();
            (&[Phase::Posted, Phase::PostedAsleep], Phase::Aborted, has_moved)
        }
        _ => {
            let has_moved = !matches!(turn::bury(&word, sequence), Bury::Ended(_));
            let from = &[Phase::Posted, Phase::PostedAsleep, Phase::Aborted];
            (from, Phase::Dead, has_moved)
        }
    };
    assert_eq!(has_moved, from.iter().any(|phase| is_at(seen, sequence, *phase)));
    let left = if has_moved { TurnWord::new(sequence, to).0 } else { seen };
    assert_eq!(of(&word), left);
    has_moved
}

#[inline(never)]
pub fn a_call_is_ahead_by_as_many_as_come_between(any: &mut Any) -> bool {
    let (one, other) = (Sequence::from_u32(any.u32()), Sequence::from_u32(any.u32()));
    assert_eq!(one.next().previous(), one);
    assert_eq!(one.next().ahead_of(one), 1);
    let ahead = one.ahead_of(other);
    assert_eq!(Sequence::from_u32(other.as_u32().wrapping_add_signed(ahead)), one);
    assert_eq!(ahead == 0, one == other);
    assert!((-(1 << 28)..1 << 28).contains(&ahead));
    true
}
