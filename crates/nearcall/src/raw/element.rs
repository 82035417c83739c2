//! Values whose bytes in memory are their bytes on the A-stack.

use crate::types::{Char, LongDouble};

const _: () = assert!(cfg!(target_endian = "little"), "A-stacks are little endian");

/// An element of a sequence or a fixed array that crosses by one copy. Sealed, and `bytemuck::Pod`:
/// every bit pattern is a value, so that nothing needs checking.
pub trait Element: bytemuck::Pod + sealed::Sealed {}

mod sealed {
    pub trait Sealed {}
}

macro_rules! elements {
    ($($number:ty),*) => {$(
        impl sealed::Sealed for $number {}
        impl Element for $number {}
    )*};
}

elements!(u8, i8, u16, i16, u32, i32, u64, i64, f32, f64, Char, LongDouble);

impl<T: Element, const N: usize> sealed::Sealed for [T; N] {}
impl<T: Element, const N: usize> Element for [T; N] {}

/// The bytes of a sequence.
#[inline]
pub fn element_bytes<T: Element>(elements: &[T]) -> &[u8] {
    bytemuck::cast_slice(elements)
}
