//! Progress words of any value.

use alloc::string::ToString;
use core::sync::atomic::AtomicU32;

use crate::fault::PeerFault;
use crate::progress::{advance, look};

fn check(claimed: u32, seen: u32, end: u32, is_sound: bool) {
    let word = AtomicU32::new(0);
    advance(&word, claimed);
    let want = match is_sound {
        true => Ok(claimed),
        false => Err(PeerFault::Progress { claimed, seen, end }),
    };
    assert_eq!(look(&word, seen, end), want);
}

#[test]
fn progress_lies_between_what_was_seen_and_the_end() {
    check(5, 5, 9, true);
    check(6, 5, 9, true);
    check(9, 5, 9, true);
    check(9, 9, 9, true);
}

#[test]
fn progress_that_goes_back_or_past_the_end_is_a_fault() {
    check(4, 5, 9, false);
    check(0, 5, 9, false);
    check(10, 5, 9, false);
    check(u32::MAX, 0, 9, false);
}

#[test]
fn a_fault_of_progress_names_the_claim_and_the_limits() {
    let fault = PeerFault::Progress { claimed: 10, seen: 5, end: 9 };
    assert_eq!(fault.to_string(), "progress 10 is not between 5 and 9 bytes");
}
