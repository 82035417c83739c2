//! What a bias gives to whom, on one thread.

use crate::bias::{Bias, Claim, Settled};

const ME: u64 = 7;

fn kept() -> Bias {
    let bias = Bias::new();
    assert!(bias.establish(ME, 3));
    assert!(bias.release(ME));
    bias
}

#[test]
fn the_owner_claims_what_is_kept_for_it_and_nobody_else_does() {
    let bias = kept();
    assert_eq!(bias.claim(8), Claim::Nothing);
    assert_eq!(bias.claim(ME), Claim::Kept(3));
    assert_eq!(bias.claim(ME), Claim::Nothing);
    assert!(!bias.establish(8, 1));
}

#[test]
fn a_free_one_goes_to_whoever_revokes() {
    let bias = kept();
    assert_eq!(bias.revoke(|| ()), Settled::Push(3));
    assert_eq!(bias.claim(ME), Claim::Nothing);
    assert_eq!(bias.revoke(|| ()), Settled::Nothing);
}

#[test]
fn a_busy_one_is_pushed_by_its_owner() {
    let bias = kept();
    assert_eq!(bias.claim(ME), Claim::Kept(3));
    assert_eq!(bias.revoke(|| ()), Settled::Nothing);
    assert!(!bias.release(ME));
    assert_eq!(bias.settle(), Settled::Push(3));
}

#[test]
fn an_abandoned_one_is_nobodys_to_push() {
    let bias = kept();
    assert_eq!(bias.claim(ME), Claim::Kept(3));
    bias.abandon(ME, || panic!("there is no revoker to wait for"));
    assert_eq!(bias.revoke(|| ()), Settled::Nothing);
    assert_eq!(bias.claim(ME), Claim::Nothing);
}

#[test]
fn one_abandoned_after_a_revocation_stays_with_its_owner() {
    let bias = kept();
    assert_eq!(bias.claim(ME), Claim::Kept(3));
    assert_eq!(bias.revoke(|| ()), Settled::Nothing);
    bias.abandon(ME, || panic!("the revoker has been"));
}
