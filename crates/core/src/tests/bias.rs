//! What a bias gives to whom, on one thread.

extern crate alloc;

use alloc::vec::Vec;

use crate::bias::{Bias, Claim, KEPT_MAX, Settled};

const ME: u64 = 7;
const FIRST: u32 = 5;

/// Keeps the first `count` A-stacks of the class for me.
fn kept(count: u32) -> Bias {
    let bias = Bias::new(FIRST);
    for index in FIRST..FIRST + count {
        assert!(bias.may_keep(ME, index) && bias.establish(ME, index));
    }
    (FIRST..FIRST + count).for_each(|index| assert!(bias.release(ME, bias.bit(index))));
    bias
}

fn revoked(bias: &Bias) -> Vec<u32> {
    let mut pushed = Vec::new();
    bias.revoke(|| (), |index| pushed.push(index));
    pushed
}

#[test]
fn the_owner_claims_what_is_kept_for_it_and_nobody_else_does() {
    let bias = kept(1);
    assert_eq!(bias.claim(8), Claim::Nothing);
    assert_eq!(bias.claim(ME), Claim::Kept(FIRST));
    assert_eq!(bias.claim(ME), Claim::Nothing);
    assert!(!bias.may_keep(8, FIRST + 1));
    assert!(!bias.establish(8, FIRST + 1));
}

#[test]
fn as_many_are_kept_as_a_word_has_bits() {
    let bias = kept(KEPT_MAX);
    let mut claimed = Vec::new();
    while let Claim::Kept(index) = bias.claim(ME) {
        claimed.push(index);
    }
    assert_eq!(claimed, (FIRST..FIRST + KEPT_MAX).collect::<Vec<_>>());
    assert!(!bias.may_keep(ME, FIRST + KEPT_MAX));
    assert!(!bias.may_keep(ME, FIRST - 1));
    assert!(bias.release(ME, bias.bit(FIRST + 40)));
    assert_eq!(bias.claim(ME), Claim::Kept(FIRST + 40));
}

#[test]
fn free_ones_go_to_whoever_revokes() {
    let bias = kept(3);
    assert_eq!(revoked(&bias), [FIRST, FIRST + 1, FIRST + 2]);
    assert_eq!(bias.claim(ME), Claim::Nothing);
    assert!(revoked(&bias).is_empty());
    assert!(!bias.may_keep(ME, FIRST));
}

#[test]
fn a_busy_one_is_pushed_by_its_owner() {
    let bias = kept(2);
    assert_eq!(bias.claim(ME), Claim::Kept(FIRST));
    assert_eq!(revoked(&bias), [FIRST + 1]);
    assert!(!bias.release(ME, bias.bit(FIRST)));
    assert_eq!(bias.settle(FIRST), Settled::Push);
}

#[test]
fn one_that_comes_back_another_way_is_kept_again() {
    let bias = kept(1);
    assert_eq!(bias.claim(ME), Claim::Kept(FIRST));
    // Its call was captured, and then it came from the list.
    assert!(bias.establish(ME, FIRST) && bias.release(ME, bias.bit(FIRST)));
    assert_eq!(bias.claim(ME), Claim::Kept(FIRST));
    assert!(revoked(&bias).is_empty(), "its owner has it");
}

#[test]
fn nothing_is_claimed_from_a_closed_one() {
    let bias = kept(2);
    assert_eq!(bias.claim(ME), Claim::Kept(FIRST));
    bias.close();
    assert_eq!(bias.claim(ME), Claim::Nothing);
    assert!(!bias.may_keep(ME, FIRST) && !bias.establish(ME, FIRST));
    assert!(!bias.release(ME, bias.bit(FIRST)));
    assert_eq!(bias.settle(FIRST), Settled::Nothing, "nobody needs it");
    assert!(revoked(&bias).is_empty());
}

#[test]
fn nothing_is_kept_once_the_list_was_found_empty() {
    let bias = Bias::new(FIRST);
    bias.revoke(|| panic!("nothing was kept"), |_| panic!("nothing is free"));
    assert!(!bias.may_keep(ME, FIRST) && !bias.establish(ME, FIRST));
}
