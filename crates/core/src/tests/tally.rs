//! Tallies of any value.

use core::sync::atomic::AtomicU64;

use crate::tally::{Tallied, note};
use crate::turn::Sequence;

fn call(number: u32) -> Sequence {
    Sequence::from_u32(number)
}

#[test]
fn a_post_is_seen_until_it_is_served() {
    let (word, mut tallied) = (AtomicU64::new(0), Tallied::default());
    tallied.watch(0b100, call(6));
    assert_eq!(tallied.posted(&word), 0);
    for number in 7..10 {
        note(&word, 0b100, call(number));
        assert_eq!(tallied.posted(&word), 0b100);
        assert_eq!(tallied.posted(&word), 0b100);
        tallied.watch(0b100, call(number));
        assert_eq!(tallied.posted(&word), 0);
    }
}

#[test]
fn a_call_that_was_posted_without_a_note_is_made_up_for_by_the_next() {
    let (word, mut tallied) = (AtomicU64::new(0), Tallied::default());
    note(&word, 1, call(1));
    tallied.watch(1, call(2));
    note(&word, 1, call(3));
    assert_eq!(tallied.posted(&word), 1);
}

#[test]
fn the_last_number_is_followed_by_an_even_one() {
    let last = Sequence::ZERO.previous();
    let (word, mut tallied) = (AtomicU64::new(0), Tallied::default());
    note(&word, 1, last);
    tallied.watch(1, last);
    note(&word, 1, last.next());
    assert_eq!(tallied.posted(&word), 1);
}

#[test]
fn each_astack_has_a_bit_of_its_own() {
    let word = AtomicU64::new(0);
    let bits = [1, 1 << 5, 1 << 63];
    let mut tallied = Tallied::default();
    bits.iter().for_each(|&bit| tallied.watch(bit, call(2)));
    note(&word, bits[2], call(3));
    note(&word, bits[0], call(3));
    assert_eq!(tallied.posted(&word), bits[0] | bits[2]);
    tallied.watch(bits[0], call(3));
    assert_eq!(tallied.posted(&word), bits[2]);
}

#[test]
fn what_is_not_watched_is_not_looked_at_whatever_the_word_says() {
    let mut tallied = Tallied::default();
    assert_eq!(tallied.posted(&AtomicU64::new(u64::MAX)), 0);
    tallied.watch(0b10, call(1));
    assert_eq!(tallied.posted(&AtomicU64::new(u64::MAX)), 0);
    assert_eq!(tallied.posted(&AtomicU64::new(0)), 0b10);
    assert!(tallied.forget(0b10));
    assert!(!tallied.forget(0b10));
    assert_eq!((tallied.posted(&AtomicU64::new(0)), tallied.watched()), (0, 0));
}
