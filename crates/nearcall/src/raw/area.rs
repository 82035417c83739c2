//! Byte `n` of a message: in the head's inline bytes below [`INLINE_BYTES`], in the block from
//! there on. Offsets of the fixed part are constants of the stubs, so that the choice costs
//! nothing at run time; it is a straight-line store or load (L31).

use std::mem::MaybeUninit;

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
    /// Copies a block of the message, part of which may lie inline: that part last, because the
    /// peer polls the line that it lies in, and takes it away again meanwhile.
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

    /// The same of a block whose length is a constant of the stub's.
    #[inline(always)]
    pub fn put_block<const AT: usize>(&self, bytes: &[u8]) {
        if AT >= INLINE {
            return self.block.copy_in_fixed(AT - INLINE, bytes);
        }
        let (inline, rest) = bytes.split_at(bytes.len().min(INLINE - AT));
        if !rest.is_empty() {
            self.block.copy_in_fixed(0, rest);
        }
        self.inline.copy_in_fixed(AT, inline);
    }

    /// Marshals a fixed value, which cannot breach a bound.
    pub fn put_image<T: Marshal>(&self, at: usize, value: &T) {
        let mut writer = Writer::new();
        value.marshal(&mut writer);
        self.put_bytes(at, writer.as_bytes());
    }
}

impl Inbound<'_> {
    /// Copies a block of the message out, part of which may lie inline.
    #[inline]
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

    /// The same over what may be no bytes yet.
    #[inline]
    pub fn copy_to<'t>(&self, at: usize, target: &'t mut [MaybeUninit<u8>]) -> &'t mut [u8] {
        if at >= INLINE {
            self.block.copy_to(at - INLINE, target);
        } else {
            let (inline, rest) = target.split_at_mut(target.len().min(INLINE - at));
            self.inline.copy_to(at, inline);
            if !rest.is_empty() {
                self.block.copy_to(0, rest);
            }
        }
        // SAFETY: all of them were written, by one copy or by two; `MaybeUninit<u8>` has the layout
        // of `u8`.
        unsafe { &mut *(std::ptr::from_mut(target) as *mut [u8]) }
    }

    /// The same, to the end of `target`.
    #[inline]
    pub fn append_to(&self, at: usize, bytes: usize, target: &mut Vec<u8>) {
        target.reserve(bytes);
        if at >= INLINE {
            return self.block.append_to(at - INLINE, bytes, target);
        }
        let inline_bytes = bytes.min(INLINE - at);
        self.inline.append_to(at, inline_bytes, target);
        if bytes > inline_bytes {
            self.block.append_to(0, bytes - inline_bytes, target);
        }
    }

    /// A fixed array of elements, in one copy.
    #[inline(always)]
    pub fn get_element<const AT: usize, T: Element>(&self) -> T {
        *self.get_element_in::<AT, T>(&mut MaybeUninit::uninit())
    }

    /// A fixed array of elements, in one copy to where it stays.
    #[inline(always)]
    pub fn get_element_in<'v, const AT: usize, T: Element>(
        &self,
        room: &'v mut MaybeUninit<T>,
    ) -> &'v mut T {
        let base = room.as_mut_ptr().cast::<MaybeUninit<u8>>();
        // SAFETY: the bytes of `room`, borrowed as it is, and they may be anything.
        let bytes = unsafe { std::slice::from_raw_parts_mut(base, size_of::<T>()) };
        self.copy_block::<AT>(bytes);
        // SAFETY: all of its bytes were written, and any bytes are an `Element`.
        unsafe { room.assume_init_mut() }
    }

    /// A fixed array of elements, in one copy over the one before.
    #[inline(always)]
    pub fn get_element_to<const AT: usize, T: Element>(&self, target: &mut T) {
        // SAFETY: of the same layout; only values are written to it, by `get_element_in`.
        let room = unsafe { &mut *std::ptr::from_mut(target).cast::<MaybeUninit<T>>() };
        self.get_element_in::<AT, T>(room);
    }

    #[inline(always)]
    fn copy_block<const AT: usize>(&self, target: &mut [MaybeUninit<u8>]) {
        if AT >= INLINE {
            return self.block.copy_out_fixed(AT - INLINE, target);
        }
        let (inline, rest) = target.split_at_mut(target.len().min(INLINE - AT));
        self.inline.copy_out_fixed(AT, inline);
        if !rest.is_empty() {
            self.block.copy_out_fixed(0, rest);
        }
    }

    /// A fixed value of `BYTES` bytes that was marshalled.
    pub fn get_image<const AT: usize, const BYTES: usize, T: Marshal>(
        &self,
    ) -> Result<T, Malformed> {
        let mut image = MaybeUninit::<[u8; BYTES]>::uninit();
        let mut reader = Reader::new(self.get_element_in::<AT, _>(&mut image));
        let value = T::unmarshal(&mut reader)?;
        reader.finish().map(|()| value)
    }
}
