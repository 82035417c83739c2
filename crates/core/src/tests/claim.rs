//! The claim word, one edge at a time.

use crate::claim::{claim, claimed, was_claimed};
use crate::sync::AtomicU32;
use crate::turn::Sequence;

const CALL: Sequence = Sequence::from_u32(7);

#[test]
fn a_call_is_claimed_once() {
    let word = AtomicU32::new(6);
    assert!(claim(&word, CALL));
    assert!(!claim(&word, CALL));
    assert_eq!(claimed(&word), CALL);
}

#[test]
fn a_call_after_the_next_is_not_claimed() {
    let word = AtomicU32::new(5);
    assert!(!claim(&word, CALL));
    assert_eq!(claimed(&word), Sequence::from_u32(5));
}

#[test]
fn the_first_call_after_the_last_sequence_is_claimed() {
    let word = AtomicU32::new(u32::MAX >> 3);
    assert!(claim(&word, Sequence::ZERO));
}

#[test]
fn only_the_word_of_the_call_before_proves_that_it_was_not_taken() {
    assert!(!was_claimed(&AtomicU32::new(6), CALL));
    assert!(was_claimed(&AtomicU32::new(7), CALL));
    assert!(was_claimed(&AtomicU32::new(5), CALL));
    assert!(was_claimed(&AtomicU32::new(u32::MAX), CALL));
}
