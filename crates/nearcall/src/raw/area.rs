//! Byte `n` of a message: in the head's inline bytes below [`INLINE_BYTES`], in the block from
//! there on. Offsets of the fixed part are constants of the stubs, so that the choice costs
//! nothing at run time; it is a straight-line store or load (L31).

use nearcall_os::span::{Span, SpanMut};

use super::element::Element;
use super::malformed::Malformed;
use super::marshal::{Marshal, Reader, Writer};

const INLINE: usize = nearcall_abi::INLINE_BYTES as usize;

/// A message that is being written.
#[derive(Clone, Copy, Debug)]
pub(super) struct Outgoing<'r> {
    pub inline: SpanMut<'r>,
    pub block: SpanMut<'r>,
}

/// A message that is being read. Every load is one access; what it gave is private.
#[derive(Clone, Copy, Debug)]
pub(super) struct Inbound<'r> {
    pub inline: Span<'r>,
    pub block: Span<'r>,
}

macro_rules! scalars {
    ($(($put:ident, $get:ident, $store:ident, $load:ident, $number:ty)),*) => {
        impl Outgoing<'_> {
            $(#[inline(always)]
            pub fn $put<const AT: usize>(&self, value: $number) {
                const { assert!(AT.is_multiple_of(size_of::<$number>())) };
                if AT < INLINE {
                    self.inline.$store(AT, value);
                } else {
                    self.block.$store(AT - INLINE, value);
                }
            })*
        }

        impl Inbound<'_> {
            $(#[inline(always)]
            pub fn $get<const AT: usize>(&self) -> $number {
                const { assert!(AT.is_multiple_of(size_of::<$number>())) };
                if AT < INLINE {
                    self.inline.$load(AT)
                } else {
                    self.block.$load(AT - INLINE)
                }
            })*
        }
    };
}

scalars!(
    (put_u8, get_u8, store_u8, load_u8, u8),
    (put_u16, get_u16, store_u16, load_u16, u16),
    (put_u32, get_u32, store_u32, load_u32, u32),
    (put_u64, get_u64, store_u64, load_u64, u64)
);

impl Outgoing<'_> {
    /// Copies a fixed block of the message, part of which may lie inline: that part last, because
    /// the peer polls the line that it lies in, and takes it away again meanwhile.
    #[inline(always)]
    pub fn put_bytes(&self, at: usize, bytes: &[u8]) {
        if at >= INLINE {
            return self.block.copy_in(at - INLINE, bytes);
        }
        let (inline, rest) = bytes.split_at(bytes.len().min(INLINE - at));
        if !rest.is_empty() {
            self.block.copy_in(0, rest);
        }
        self.inline.copy_in(at, inline);
    }

    /// Marshals a fixed value, which cannot breach a bound.
    pub fn put_image<T: Marshal>(&self, at: usize, value: &T) {
        let mut writer = Writer::new();
        value.marshal(&mut writer);
        self.put_bytes(at, writer.as_bytes());
    }
}

impl Inbound<'_> {
    /// Copies a fixed block of the message out, part of which may lie inline.
    #[inline(always)]
    pub fn copy_out(&self, at: usize, target: &mut [u8]) {
        if at >= INLINE {
            return self.block.copy_out(at - INLINE, target);
        }
        let inline_count = target.len().min(INLINE - at);
        let (inline, rest) = target.split_at_mut(inline_count);
        self.inline.copy_out(at, inline);
        if !rest.is_empty() {
            self.block.copy_out(0, rest);
        }
    }

    /// A fixed array of elements, in one copy.
    #[inline(always)]
    pub fn get_element<const AT: usize, T: Element>(&self) -> T {
        let mut value = T::zeroed();
        self.copy_out(AT, bytemuck::bytes_of_mut(&mut value));
        value
    }

    /// A fixed value of `BYTES` bytes that was marshalled.
    pub fn get_image<const AT: usize, const BYTES: usize, T: Marshal>(
        &self,
    ) -> Result<T, Malformed> {
        let mut image = [0; BYTES];
        self.copy_out(AT, &mut image);
        let mut reader = Reader::new(&image);
        let value = T::unmarshal(&mut reader)?;
        reader.finish().map(|()| value)
    }
}
