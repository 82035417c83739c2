//! What a client knows of the room that a server has.

use core::sync::atomic::AtomicU32;

use crate::room::{NoRoom, look, tell};

#[test]
fn what_was_refused_and_what_is_more_is_known_until_the_word_changes() {
    let (word, mut known) = (AtomicU32::new(u32::MAX), NoRoom::default());
    assert!(!known.is_known(look(&word), u64::MAX));
    known.note(look(&word), 64);
    let is_known = |known: NoRoom| [63, 64, 65].map(|bytes| known.is_known(look(&word), bytes));
    assert_eq!(is_known(known), [false, true, true]);
    tell(&word);
    assert_eq!((look(&word), is_known(known)), (0, [false; 3]));
}

#[test]
fn the_least_that_was_refused_counts_and_what_was_refused_before_does_not() {
    let mut known = NoRoom::default();
    known.note(7, 64);
    known.note(7, 128);
    assert!(known.is_known(7, 64));
    known.note(7, 32);
    assert!(known.is_known(7, 32) && !known.is_known(7, 31));
    known.note(8, 128);
    assert!(!known.is_known(7, 128) && !known.is_known(8, 127) && known.is_known(8, 128));
}
