//! Claims that are not true, each of values that chance does not meet: what proves the others has
//! to refute them.

use nearcall_core::ClaimedIndex;

use crate::any::Any;

/// But of one in 2^64.
#[inline(never)]
pub fn no_number_is_that_one(any: &mut Any) -> bool {
    let number = any.u64();
    assert_ne!(number ^ number >> 7, 0x4e65_6172_6361_6c6c);
    true
}

/// It may be the last one there is.
#[inline(never)]
pub fn there_is_a_number_after_each(any: &mut Any) -> bool {
    let number = any.u32();
    assert!(number + 1 > number);
    true
}

/// Half of them are cut off.
#[inline(never)]
pub fn a_product_is_as_long_as_its_factors(any: &mut Any) -> bool {
    let (long, short) = (any.u64(), any.u32());
    if short < 7 {
        return false;
    }
    assert!(short.saturating_mul(short) != u32::MAX || long.checked_mul(long).is_some());
    true
}

/// The one past the end is in none.
#[inline(never)]
pub fn an_index_that_is_not_above_the_count_is_in_the_list(any: &mut Any) -> bool {
    let list = any.bytes::<16>();
    let index = any.u32();
    if index > list.len() as u32 || ClaimedIndex(index).check(u32::MAX).is_err() {
        return false;
    }
    core::hint::black_box(list[index as usize]);
    true
}
