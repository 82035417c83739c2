//! What users hold of what there is only so much of.

use nearcall_core::quota::{LimitOf, OverLimit, Reserve, Shares};

use crate::any::Any;

#[inline(never)]
pub fn a_process_keeps_at_most_half(any: &mut Any) -> bool {
    let limit = any.u64();
    for reserve in [Reserve::DESCRIPTORS, Reserve::MAPPINGS] {
        let rest = reserve.rest(limit);
        assert!(rest <= limit && rest >= limit / 2);
    }
    true
}

/// Two users take, one gives back, and a third one takes: never more than there is, and a refusal
/// changes nothing (RELIABILITY 5).
#[inline(never)]
pub fn what_users_hold_is_within_the_limit(any: &mut Any) -> bool {
    let (limit, first, second, third) = (any.u64(), any.u64(), any.u64(), any.u64());
    let mut shares = Shares::new(limit);
    if !take(&mut shares, 1, first, limit) {
        return false;
    }
    assert!(first <= limit / 2);
    let has_second = take(&mut shares, 2, second, limit);
    let all = if has_second { first + second } else { first };
    assert_eq!(shares.total(), all);
    shares.give_back(Some(1), first);
    assert_eq!(shares.total(), all - first);
    let has_third = take(&mut shares, 3, third, limit);
    has_second && has_third
}

/// Whether a user has so much more now.
fn take(shares: &mut Shares, user: u32, amount: u64, limit: u64) -> bool {
    let before = shares.total();
    match shares.take(Some(user), amount, u64::MAX) {
        Ok(()) => {
            assert!(shares.total() <= limit);
            assert_eq!(shares.total() - before, amount);
            true
        }
        Err(OverLimit { claimed, limit: share, of }) => {
            assert!(claimed > share && of == LimitOf::Share);
            assert_eq!(shares.total(), before);
            false
        }
    }
}
