//! Values whose bytes in memory are their bytes on the A-stack.

const _: () = assert!(cfg!(target_endian = "little"), "A-stacks are little endian");

/// Bytes of the count of a list that is marshalled.
pub(super) const COUNT_BYTES: usize = 4;

/// A value that crosses by one copy, alone or as an element: a number, an array of such values, or
/// a struct that is [`plain`](super::plain). Every bit pattern is one, so that nothing needs
/// checking.
pub trait Element: bytemuck::Pod {}

impl<T: bytemuck::Pod> Element for T {}

/// The bytes of a sequence.
#[inline]
pub fn element_bytes<T: Element>(elements: &[T]) -> &[u8] {
    bytemuck::cast_slice(elements)
}

/// What the bytes of a list take that is marshalled: its count, then its elements.
#[inline]
pub fn counted_bytes<T: Element>(elements: &[T]) -> usize {
    COUNT_BYTES + size_of_val(elements)
}
