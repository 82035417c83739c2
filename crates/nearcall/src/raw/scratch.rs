//! Private copies of interpreted arguments (L41), made without allocating where that is possible:
//! small ones on the stack, large ones in memory that the thread keeps for the next call.

use std::cell::RefCell;
use std::marker::PhantomData;
use std::ops::Deref;

use super::element::Element;
use super::incoming::Payload;
use super::malformed::Malformed;

/// What copies lie in: aligned for each [`Element`].
type Block = u64;

const BLOCK_BYTES: usize = size_of::<Block>();

/// Copies up to this many bytes live on the server's own stack.
const STACK_BYTES: usize = 256;

/// A thread keeps this many buffers for later calls, none larger than [`KEPT_BYTES_MAX`].
const KEPT_COUNT_MAX: usize = 8;

/// Largest buffer that a thread keeps: above it the first touch is no longer the main cost.
const KEPT_BYTES_MAX: usize = 16 << 20;

thread_local! {
    static KEPT: RefCell<Vec<Vec<Block>>> = const { RefCell::new(Vec::new()) };
}

/// A private copy of bytes that a peer wrote. Derefs to `[u8]`.
#[derive(Debug)]
pub struct Bytes {
    place: Place,
    /// How many of those in its place.
    count: usize,
}

/// A private copy of text that a peer wrote, checked once. Derefs to `str`.
#[derive(Debug)]
pub struct Text {
    bytes: Bytes,
}

/// A private copy of elements that a peer wrote, of which every bit pattern is one. Derefs to
/// `[T]`.
#[derive(Debug)]
pub struct Elements<T> {
    bytes: Bytes,
    elements: PhantomData<T>,
}

// Large on purpose: that is the memory on the stack.
#[allow(clippy::large_enum_variant)]
#[derive(Debug)]
enum Place {
    Stack([Block; STACK_BYTES / BLOCK_BYTES]),
    Heap(Vec<Block>),
}

impl Bytes {
    /// Copies all of `source`.
    #[inline]
    pub(super) fn copy_of(source: Payload<'_>) -> Result<Bytes, Malformed> {
        let count = source.len();
        let place = match count > STACK_BYTES {
            true => Place::Heap(taken(count)),
            false => Place::Stack([0; STACK_BYTES / BLOCK_BYTES]),
        };
        let mut copy = Bytes { place, count };
        let blocks = match &mut copy.place {
            Place::Stack(blocks) => &mut blocks[..],
            Place::Heap(blocks) => blocks,
        };
        source.copy_out(&mut bytemuck::cast_slice_mut(blocks)[..count])?;
        Ok(copy)
    }
}

impl Text {
    /// Copies all of `source` and checks the copy.
    #[inline]
    pub(super) fn copy_of(source: Payload<'_>) -> Result<Text, Malformed> {
        let bytes = Bytes::copy_of(source)?;
        match std::str::from_utf8(&bytes) {
            Ok(_) => Ok(Text { bytes }),
            Err(bad) => Err(Malformed::Text { at: bad.valid_up_to() }),
        }
    }
}

impl<T: Element> Elements<T> {
    /// Copies all of `source`, which is a whole number of them.
    #[inline]
    pub(super) fn copy_of(source: Payload<'_>) -> Result<Elements<T>, Malformed> {
        const { assert!(align_of::<T>() <= align_of::<Block>()) };
        Ok(Elements { bytes: Bytes::copy_of(source)?, elements: PhantomData })
    }
}

impl Deref for Bytes {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        let blocks = match &self.place {
            Place::Stack(blocks) => &blocks[..],
            Place::Heap(blocks) => blocks,
        };
        &bytemuck::cast_slice(blocks)[..self.count]
    }
}

impl Deref for Text {
    type Target = str;

    #[inline]
    fn deref(&self) -> &str {
        // SAFETY: `copy_of`, which alone makes a `Text`, checked these bytes, and nothing writes
        // to them: they are private and no `&mut` to them is given out.
        unsafe { std::str::from_utf8_unchecked(&self.bytes) }
    }
}

impl<T: Element> Deref for Elements<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        bytemuck::cast_slice(&self.bytes)
    }
}

impl Drop for Bytes {
    fn drop(&mut self) {
        if let Place::Heap(blocks) = &mut self.place {
            keep(std::mem::take(blocks));
        }
    }
}

/// Room for `bytes` bytes, which hold what an earlier call has left there.
#[cold]
fn taken(bytes: usize) -> Vec<Block> {
    let count = bytes.div_ceil(BLOCK_BYTES);
    let kept = KEPT.with_borrow_mut(|kept| {
        let fits = kept.iter().position(|buffer| buffer.len() >= count);
        fits.map(|index| kept.swap_remove(index))
    });
    kept.unwrap_or_else(|| vec![0; count])
}

/// Keeps them for a later call, in place of smaller ones if there are enough.
fn keep(blocks: Vec<Block>) {
    if blocks.len() * BLOCK_BYTES > KEPT_BYTES_MAX {
        return;
    }
    // A thread that is ending keeps nothing.
    let _ = KEPT.try_with(|kept| {
        let mut kept = kept.borrow_mut();
        if kept.len() < KEPT_COUNT_MAX {
            return kept.push(blocks);
        }
        let smallest = kept.iter_mut().min_by_key(|buffer| buffer.len());
        if let Some(smallest) = smallest.filter(|smallest| smallest.len() < blocks.len()) {
            *smallest = blocks;
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_large_buffer_takes_the_place_of_a_small_one() {
        let small = KEPT_BYTES_MAX / BLOCK_BYTES / 16;
        (0..KEPT_COUNT_MAX).for_each(|_| keep(vec![0; small]));
        keep(vec![7; 2 * small]);
        assert_eq!(taken(2 * small * BLOCK_BYTES)[0], 7);
        keep(vec![0; KEPT_BYTES_MAX / BLOCK_BYTES + 1]);
        KEPT.with_borrow(|kept| assert_eq!(kept.len(), KEPT_COUNT_MAX - 1));
    }
}
