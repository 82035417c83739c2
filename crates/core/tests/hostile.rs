//! A peer may write anything at any time: whatever the words, nothing panics, and an edge is taken
//! from the word that it starts from and from no other.

use core::sync::atomic::Ordering::Relaxed;
use core::sync::atomic::{AtomicU32, AtomicU64};

use nearcall_core::turn::{self, Bury, Look, Mode, Phase, Poll, Reply};
use nearcall_core::{ClaimedIndex, Sequence, TurnWord, bell, claim};
use proptest::prelude::*;

/// Any word, and often one that is close to being right for call `sequence`.
fn words_about(sequence: Sequence) -> impl Strategy<Value = u32> {
    let near = (0u32..3, 0u32..8).prop_map(move |(ahead, phase)| {
        let first = sequence.previous().as_u32();
        Sequence::from_u32(first.wrapping_add(ahead)).as_u32() << 3 | phase
    });
    prop_oneof![any::<u32>(), near]
}

fn sequences() -> impl Strategy<Value = Sequence> {
    let edges = prop_oneof![Just(0), Just(1), Just((1 << 29) - 1)];
    prop_oneof![edges, any::<u32>()].prop_map(Sequence::from_u32)
}

fn cases() -> impl Strategy<Value = (Sequence, u32)> {
    sequences().prop_flat_map(|sequence| (Just(sequence), words_about(sequence)))
}

fn is(word: u32, sequence: Sequence, phases: &[Phase]) -> bool {
    phases.iter().any(|&phase| word == TurnWord::new(sequence, phase).0)
}

const IDLE: &[Phase] = &[Phase::IdleBell, Phase::IdleHot, Phase::IdleTally];
const POSTED: &[Phase] = &[Phase::Posted, Phase::PostedAsleep];

proptest! {
    #[test]
    fn a_post_succeeds_over_the_idle_word_before_and_no_other((sequence, word) in cases()) {
        let posted = turn::post(&AtomicU32::new(word), sequence);
        prop_assert_eq!(posted.is_ok(), is(word, sequence.previous(), IDLE));
    }

    #[test]
    fn a_reply_is_seen_in_the_idle_word_and_no_other((sequence, word) in cases()) {
        let polled = turn::poll(&AtomicU32::new(word), sequence);
        prop_assert_eq!(matches!(polled, Poll::Replied { .. }), is(word, sequence, IDLE));
        prop_assert_eq!(polled == Poll::Pending, is(word, sequence, POSTED));
        prop_assert_eq!(polled == Poll::Dead, is(word, sequence, &[Phase::Dead]));
    }

    #[test]
    fn a_clients_edge_starts_from_its_word_and_leaves_any_other((sequence, word) in cases()) {
        type Edge = fn(&AtomicU32, Sequence) -> Result<(), Poll>;
        let edges: [(Edge, &[Phase], Phase); 3] = [
            (turn::doze, &[Phase::Posted], Phase::PostedAsleep),
            (turn::rouse, &[Phase::PostedAsleep], Phase::Posted),
            (turn::abort, POSTED, Phase::Aborted),
        ];
        for (edge, from, to) in edges {
            let turn = AtomicU32::new(word);
            let taken = edge(&turn, sequence);
            prop_assert_eq!(taken.is_ok(), is(word, sequence, from));
            let want = if taken.is_ok() { TurnWord::new(sequence, to).0 } else { word };
            prop_assert_eq!(turn.into_inner(), want);
            prop_assert!(taken != Err(Poll::Pending));
        }
    }

    #[test]
    fn a_burial_leaves_a_word_that_is_not_outstanding((sequence, word) in cases()) {
        let turn = AtomicU32::new(word);
        let is_outstanding = is(word, sequence, POSTED) || is(word, sequence, &[Phase::Aborted]);
        let has_ended = matches!(turn::bury(&turn, sequence), Bury::Ended(_));
        prop_assert_eq!(has_ended, !is_outstanding);
        prop_assert_eq!(turn.into_inner() == word, has_ended);
    }

    #[test]
    fn a_server_runs_the_call_after_its_claim_and_no_other(
        (sequence, word) in cases(),
        claimed in any::<Option<u32>>(),
    ) {
        let claimed = claimed.unwrap_or(sequence.previous().as_u32());
        let claim = AtomicU32::new(claimed);
        let due = Sequence::from_u32(claimed).next();
        let look = turn::look(&AtomicU32::new(word), &claim);
        prop_assert_eq!(look == Look::Posted(due), is(word, due, POSTED));
        prop_assert_eq!(matches!(look, Look::Posted(_)), look == Look::Posted(due));
    }

    #[test]
    fn what_is_at_rest_has_nothing_for_a_look((claimed, word) in cases()) {
        let (turn, claim) = (AtomicU32::new(word), AtomicU32::new(claimed.as_u32()));
        let is_at_rest = turn::is_at_rest(&turn);
        prop_assert!(!is_at_rest || turn::look(&turn, &claim) == Look::Nothing);
        let resting = [Phase::IdleBell, Phase::IdleHot];
        prop_assert_eq!(is_at_rest, is(word, TurnWord(word).sequence(), &resting));
    }

    #[test]
    fn only_the_call_claimed_last_and_the_next_may_run((claimed, word) in cases()) {
        let claim = AtomicU32::new(claimed.as_u32());
        let may_run = turn::may_run(&AtomicU32::new(word), &claim);
        let pending = [Phase::Posted, Phase::PostedAsleep, Phase::Aborted];
        let either = [claimed, claimed.next()];
        prop_assert_eq!(may_run, either.iter().any(|&call| is(word, call, &pending)));
    }

    #[test]
    fn a_call_is_claimed_once(sequence in sequences(), other in any::<Option<u32>>()) {
        let due = sequence.previous().as_u32();
        let before = other.unwrap_or(due);
        let word = AtomicU32::new(before);
        let first = claim::claim(&word, sequence);
        prop_assert_eq!(first, before == due);
        prop_assert!(!claim::claim(&word, sequence));
        prop_assert!(claim::was_claimed(&word, sequence));
        prop_assert_eq!(word.into_inner(), if first { sequence.as_u32() } else { before });
    }

    #[test]
    fn a_reply_to_anything_but_an_outstanding_call_is_wrong((sequence, word) in cases()) {
        let replied = turn::reply(&AtomicU32::new(word), sequence, Mode::Hot);
        let known = [Phase::Posted, Phase::PostedAsleep, Phase::Aborted, Phase::Dead];
        prop_assert_eq!(!matches!(replied, Reply::Wrong(_)), is(word, sequence, &known));
    }

    #[test]
    fn a_bell_of_any_value_is_opened_and_taken_and_then_slept_at(
        word in any::<u32>(),
        lanes in any::<[u64; 2]>(),
    ) {
        let (gate, lanes) = (AtomicU32::new(word), lanes.map(AtomicU64::new));
        let is_quiet = word <= bell::ASLEEP && lanes.iter().all(|word| word.load(Relaxed) == 0);
        prop_assert_eq!(bell::fall_asleep(&gate, &lanes), is_quiet);
        bell::open_gate(&gate);
        lanes.iter().for_each(|lane_word| _ = bell::take_lanes(lane_word));
        prop_assert!(bell::fall_asleep(&gate, &lanes));
    }

    #[test]
    fn an_index_is_checked_if_it_is_below(index in any::<u32>(), count in any::<u32>()) {
        prop_assert_eq!(ClaimedIndex(index).check(count).is_ok(), index < count);
        prop_assert_eq!(ClaimedIndex(index).check_procedure(count).is_ok(), index < count);
    }
}
