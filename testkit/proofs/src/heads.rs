//! The words of a head, and what they are held against.

use core::sync::atomic::AtomicU32;

use nearcall_abi::head::flag;
use nearcall_abi::{AStackHead, Status};
use nearcall_core::admission::Permitted;
use nearcall_core::length::{self, OUT_OF_LINE_END_MAX, Place};
use nearcall_core::turn::{self, Poll};
use nearcall_core::{ClaimedIndex, Sequence, TurnWord, progress};
use nearcall_os::HeadWords;

use crate::any::Any;

/// Any words of a head, loaded once.
fn words(any: &mut Any) -> HeadWords {
    let head = AStackHead {
        turn: AtomicU32::new(any.u32()),
        selector: AtomicU32::new(any.u32()),
        message_bytes: AtomicU32::new(any.u32()),
        origin: AtomicU32::new(any.u32()),
        inline: Default::default(),
    };
    HeadWords::load_at_once(&head)
}

/// The server's one comparison and its closer look agree (L44).
#[inline(never)]
pub fn a_message_that_is_within_is_in_place_and_fits(any: &mut Any) -> bool {
    let (words, capacity_bytes) = (words(any), any.u32());
    if !words.is_within(capacity_bytes, flag::OUT_OF_LINE | flag::DEADLINE) {
        return false;
    }
    assert!(words.message_bytes() <= capacity_bytes);
    assert_eq!(words.origin() & flag::DEADLINE, 0);
    let judged = length::judge(words.message_bytes(), words.origin(), capacity_bytes);
    assert_eq!(judged, Ok(Place::InPlace));
    true
}

#[inline(never)]
pub fn a_length_that_is_judged_fits_where_it_is_said_to_be(any: &mut Any) -> bool {
    let (claimed, origin, capacity_bytes) = (any.u32(), any.u32(), any.u32());
    let is_out_of_line = origin & flag::OUT_OF_LINE != 0;
    match length::judge(claimed, origin, capacity_bytes) {
        Ok(Place::InPlace) => assert!(!is_out_of_line && claimed <= capacity_bytes),
        Ok(Place::OutOfLine) => assert!(is_out_of_line && claimed <= OUT_OF_LINE_END_MAX),
        Err(_) => assert!(claimed > capacity_bytes.min(OUT_OF_LINE_END_MAX)),
    }
    true
}

/// The client's one comparison finds what its closer look finds.
#[inline(never)]
pub fn a_usual_reply_is_a_reply_that_returned(any: &mut Any) -> bool {
    let (words, sequence) = (words(any), Sequence::from_u32(any.u32()));
    if !words.is_returned_from(turn::first_usual_reply(sequence).0) {
        return false;
    }
    let seen = TurnWord(words.turn());
    assert!(turn::is_usual_reply(seen, sequence));
    assert!(matches!(turn::poll_word(seen, sequence), Poll::Replied { .. }));
    assert_eq!(Status::from_word(words.selector()), Some(Status::Returned));
    true
}

#[inline(never)]
pub fn exact_words_are_just_these(any: &mut Any) -> bool {
    let (words, bytes, processor) = (words(any), any.u32(), any.u32());
    let are_these = words.message_bytes() == bytes && words.origin() == processor;
    assert_eq!(words.is_exactly(bytes, processor), are_these);
    are_these
}

#[inline(never)]
pub fn a_status_is_its_word(any: &mut Any) -> bool {
    let word = any.u32();
    let Some(status) = Status::from_word(word) else {
        assert!(word > u16::MAX.into());
        return false;
    };
    assert_eq!(status.to_word(), word);
    true
}

/// L49.
#[inline(never)]
pub fn an_index_is_below_what_it_was_held_against(any: &mut Any) -> bool {
    let (claimed, count) = (any.u32(), any.u32());
    let (astack, procedure) =
        (ClaimedIndex(claimed).check(count), ClaimedIndex(claimed).check_procedure(count));
    assert_eq!(astack.is_ok(), claimed < count);
    assert_eq!(procedure.is_ok(), claimed < count);
    let (Ok(astack), Ok(procedure)) = (astack, procedure) else { return false };
    assert!(astack.as_u32() < count && procedure.as_u32() < count);
    true
}

/// Of procedures on both sides of a word's end.
#[inline(never)]
pub fn what_was_not_permitted_is_not_allowed(any: &mut Any) -> bool {
    let permitted = [0, 63, 64, 130];
    let procedure = any.u32();
    let allowed = Permitted::of(permitted).allows(procedure);
    assert_eq!(allowed, permitted.contains(&procedure));
    allowed
}

#[inline(never)]
pub fn a_client_that_copies_still_is_between_what_was_seen_and_the_end(any: &mut Any) -> bool {
    let (word, seen, end) = (AtomicU32::new(any.u32()), any.u32(), any.u32());
    let Ok(there) = progress::look(&word, seen, end) else { return false };
    assert!(seen <= there && there <= end);
    true
}
