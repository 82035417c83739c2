//! The turn word, one edge at a time.

use crate::fault::PeerFault;
use crate::sync::AtomicU32;
use crate::turn::*;

const CALL: Sequence = Sequence::from_u32(7);

fn at(phase: Phase) -> AtomicU32 {
    AtomicU32::new(TurnWord::new(CALL, phase).0)
}

fn word(turn: AtomicU32) -> TurnWord {
    TurnWord(turn.into_inner())
}

fn every_phase() -> impl Iterator<Item = Phase> {
    (0..8).filter_map(|bits| TurnWord(bits).phase())
}

#[test]
fn there_are_seven_phases() {
    assert_eq!(every_phase().count(), 7);
}

#[test]
fn a_word_keeps_its_sequence_and_phase() {
    for phase in every_phase() {
        for sequence in [0, 1, (1 << 29) - 1].map(Sequence::from_u32) {
            let word = TurnWord::new(sequence, phase);
            assert_eq!((word.sequence(), word.phase()), (sequence, Some(phase)));
        }
    }
}

#[test]
fn a_sequence_wraps_at_two_to_the_29() {
    let last = Sequence::from_u32((1 << 29) - 1);
    assert_eq!(last.next(), Sequence::ZERO);
    assert_eq!(Sequence::ZERO.previous(), last);
    assert_eq!(Sequence::ZERO.ahead_of(last), 1);
    assert_eq!(last.ahead_of(Sequence::ZERO), -1);
    assert_eq!(CALL.ahead_of(CALL), 0);
}

#[test]
fn a_post_says_how_the_server_watches() {
    let posted = |phase| post(&at(phase), CALL.next());
    assert_eq!(posted(Phase::IdleBell), Ok(Mode::Bell));
    assert_eq!(posted(Phase::IdleHot), Ok(Mode::Hot));
    assert_eq!(posted(Phase::IdleTally), Ok(Mode::Tally));
}

#[test]
fn a_post_over_zeroed_memory_is_the_first_call() {
    let turn = AtomicU32::new(0);
    assert_eq!(post(&turn, Sequence::ZERO.next()), Ok(Mode::Bell));
    assert_eq!(word(turn), TurnWord::new(Sequence::from_u32(1), Phase::Posted));
}

#[test]
fn a_post_over_anything_but_idle_is_a_fault_that_says_what_was_seen() {
    for phase in [Phase::Posted, Phase::PostedAsleep, Phase::Aborted, Phase::Dead] {
        let seen = TurnWord::new(CALL, phase);
        let fault = PeerFault::Turn { seen, sequence: CALL, wanted: "idle" };
        assert_eq!(post(&at(phase), CALL.next()), Err(fault));
    }
    assert!(post(&at(Phase::IdleBell), CALL).is_err());
    assert!(post(&AtomicU32::new(u32::MAX), CALL.next()).is_err());
}

#[test]
fn a_client_sees_pending_until_the_reply() {
    let polled = |phase| poll(&at(phase), CALL);
    assert_eq!(polled(Phase::Posted), Poll::Pending);
    assert_eq!(polled(Phase::PostedAsleep), Poll::Pending);
    assert_eq!(polled(Phase::IdleBell), Poll::Replied { mode: Mode::Bell });
    assert_eq!(polled(Phase::IdleHot), Poll::Replied { mode: Mode::Hot });
    assert_eq!(polled(Phase::IdleTally), Poll::Replied { mode: Mode::Tally });
    assert_eq!(polled(Phase::Dead), Poll::Dead);
}

#[test]
fn a_reply_to_another_call_is_wrong() {
    for sequence in [CALL.previous(), CALL.next()] {
        let seen = TurnWord::new(CALL, Phase::IdleBell);
        assert_eq!(poll(&at(Phase::IdleBell), sequence), Poll::Wrong(seen));
    }
}

#[test]
fn a_phase_that_there_is_not_is_wrong_for_all() {
    let seen = TurnWord(CALL.as_u32() << 3 | 7);
    let turn = || AtomicU32::new(seen.0);
    assert_eq!(poll(&turn(), CALL), Poll::Wrong(seen));
    assert_eq!(doze(&turn(), CALL), Err(Poll::Wrong(seen)));
    assert_eq!(rouse(&turn(), CALL), Err(Poll::Wrong(seen)));
    assert_eq!(abort(&turn(), CALL), Err(Poll::Wrong(seen)));
    assert_eq!(bury(&turn(), CALL), Bury::Ended(seen));
    assert_eq!(reply(&turn(), CALL, Mode::Hot), Reply::Wrong(seen));
    assert_eq!(looked(seen, CALL.previous()), Look::Wrong(seen));
}

#[test]
fn a_client_dozes_and_rouses() {
    let turn = at(Phase::Posted);
    assert_eq!(doze(&turn, CALL), Ok(()));
    assert_eq!(poll(&turn, CALL), Poll::Pending);
    assert_eq!(rouse(&turn, CALL), Ok(()));
    assert_eq!(word(turn), TurnWord::new(CALL, Phase::Posted));
}

#[test]
fn a_reply_that_came_keeps_its_client_awake() {
    let replied = Err(Poll::Replied { mode: Mode::Hot });
    assert_eq!(doze(&at(Phase::IdleHot), CALL), replied);
    assert_eq!(rouse(&at(Phase::IdleHot), CALL), replied);
    assert_eq!(abort(&at(Phase::IdleHot), CALL), replied);
}

#[test]
fn a_client_that_sleeps_already_does_not_doze() {
    let seen = TurnWord::new(CALL, Phase::PostedAsleep);
    assert_eq!(doze(&at(Phase::PostedAsleep), CALL), Err(Poll::Wrong(seen)));
}

#[test]
fn a_call_is_aborted_awake_or_asleep() {
    for phase in [Phase::Posted, Phase::PostedAsleep] {
        let turn = at(phase);
        assert_eq!(abort(&turn, CALL), Ok(()));
        assert!(!is_idle(&turn, CALL));
        assert_eq!(reply(&turn, CALL, Mode::Bell), Reply::Aborted);
        assert!(is_idle(&turn, CALL));
    }
}

#[test]
fn a_buried_call_is_not_aborted() {
    assert_eq!(abort(&at(Phase::Dead), CALL), Err(Poll::Dead));
    assert_eq!(doze(&at(Phase::Dead), CALL), Err(Poll::Dead));
}

#[test]
fn a_burial_wakes_only_who_sleeps() {
    assert_eq!(bury(&at(Phase::Posted), CALL), Bury::ClientAwake);
    assert_eq!(bury(&at(Phase::Aborted), CALL), Bury::ClientAwake);
    assert_eq!(bury(&at(Phase::PostedAsleep), CALL), Bury::WakeClient);
}

#[test]
fn a_reply_is_not_buried() {
    let turn = at(Phase::IdleHot);
    let idle = TurnWord::new(CALL, Phase::IdleHot);
    assert_eq!(bury(&turn, CALL), Bury::Ended(idle));
    assert_eq!(word(turn), idle);
}

#[test]
fn a_later_call_is_not_buried() {
    let turn = at(Phase::Posted);
    let posted = TurnWord::new(CALL, Phase::Posted);
    assert_eq!(bury(&turn, CALL.previous()), Bury::Ended(posted));
    assert_eq!(word(turn), posted);
}

#[track_caller]
fn looked(turn: TurnWord, claimed: Sequence) -> Look {
    look(&AtomicU32::new(turn.0), &AtomicU32::new(claimed.as_u32()))
}

#[test]
fn an_unclaimed_call_is_seen() {
    let before = CALL.previous();
    let see = |phase| looked(TurnWord::new(CALL, phase), before);
    assert_eq!(see(Phase::Posted), Look::Posted(CALL));
    assert_eq!(see(Phase::PostedAsleep), Look::Posted(CALL));
    assert_eq!(see(Phase::Aborted), Look::Aborted(CALL));
    assert_eq!(see(Phase::Dead), Look::Nothing);
}

#[test]
fn a_claimed_call_is_not_seen_again() {
    for phase in every_phase() {
        assert_eq!(looked(TurnWord::new(CALL, phase), CALL), Look::Nothing);
        assert_eq!(looked(TurnWord::new(CALL, phase), CALL.next()), Look::Nothing);
    }
}

#[test]
fn a_call_past_the_next_is_wrong() {
    let seen = TurnWord::new(CALL.next(), Phase::Posted);
    assert_eq!(looked(seen, CALL.previous()), Look::Wrong(seen));
}

#[test]
fn the_call_after_the_last_sequence_is_seen() {
    let last = Sequence::ZERO.previous();
    let seen = looked(TurnWord::new(Sequence::ZERO, Phase::Posted), last);
    assert_eq!(seen, Look::Posted(Sequence::ZERO));
}

#[test]
fn a_reply_wakes_only_who_sleeps() {
    let replied = |phase| reply(&at(phase), CALL, Mode::Bell);
    assert_eq!(replied(Phase::Posted), Reply::ClientAwake);
    assert_eq!(replied(Phase::PostedAsleep), Reply::WakeClient);
    assert_eq!(replied(Phase::Dead), Reply::Dead);
}

#[test]
fn a_reply_to_no_call_is_wrong() {
    let seen = TurnWord::new(CALL, Phase::IdleBell);
    assert_eq!(reply(&at(Phase::IdleBell), CALL, Mode::Bell), Reply::Wrong(seen));
    let seen = TurnWord::new(CALL, Phase::Posted);
    assert_eq!(reply(&at(Phase::Posted), CALL.next(), Mode::Bell), Reply::Wrong(seen));
}

#[test]
fn a_watched_astack_is_demoted() {
    for (phase, mode) in [(Phase::IdleHot, Mode::Hot), (Phase::IdleTally, Mode::Tally)] {
        let turn = at(phase);
        assert!(demote(&turn, CALL, mode));
        assert_eq!(word(turn), TurnWord::new(CALL, Phase::IdleBell));
    }
}

#[test]
fn a_posted_astack_is_not_demoted() {
    let turn = at(Phase::Posted);
    for mode in [Mode::Hot, Mode::Tally] {
        assert!(!demote(&turn, CALL, mode));
        assert!(!demote(&turn, CALL.previous(), mode));
    }
    assert_eq!(word(turn), TurnWord::new(CALL, Phase::Posted));
}
