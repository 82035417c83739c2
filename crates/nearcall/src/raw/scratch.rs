//! Private copies of interpreted arguments (L41), made without allocating where that is possible:
//! small ones in a room on the entry stub's stack, which they do not leave, large ones in memory
//! that the thread keeps for the next call. So is what values are marshalled to.

use std::cell::RefCell;
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ops::Deref;
use std::thread::LocalKey;

use nearcall_os::huge;

use super::area::Inbound;
use super::element::Element;
use super::incoming::Payload;
use super::malformed::Malformed;

/// What copies lie in: aligned for each [`Element`].
type Block = u64;

const BLOCK_BYTES: usize = size_of::<Block>();

/// Copies up to this many bytes live on the server's own stack.
const ROOM_BYTES: usize = 256;

/// A thread keeps this many buffers for later calls, none larger than [`KEPT_BYTES_MAX`].
const KEPT_COUNT_MAX: usize = 8;

/// Largest buffer that a thread keeps: above it the first touch is no longer the main cost.
const KEPT_BYTES_MAX: usize = 16 << 20;

/// What a thread keeps.
type Kept<T> = LocalKey<RefCell<Vec<Vec<T>>>>;

thread_local! {
    static COPIED: RefCell<Vec<Vec<Block>>> = const { RefCell::new(Vec::new()) };
    static MARSHALLED: RefCell<Vec<Vec<u8>>> = const { RefCell::new(Vec::new()) };
}

/// Memory on the stack of an entry stub for the copy of one small argument. A copy lies in it from
/// its making to its end: what it takes to be moved is three words.
#[derive(Debug)]
pub struct Room(MaybeUninit<[Block; ROOM_BYTES / BLOCK_BYTES]>);

impl Room {
    /// Empty, and not cleared.
    #[inline(always)]
    #[allow(clippy::new_without_default)]
    pub const fn new() -> Room {
        Room(MaybeUninit::uninit())
    }

    #[inline(always)]
    fn bytes_mut(&mut self) -> &mut [MaybeUninit<u8>; ROOM_BYTES] {
        // SAFETY: of the same size, less aligned, and any bytes may be uninitialized in both.
        unsafe { &mut *self.0.as_mut_ptr().cast() }
    }
}

/// A private copy of bytes that a peer wrote. Derefs to `[u8]`.
#[derive(Debug)]
pub struct Bytes<'r> {
    place: Place<'r>,
}

/// A private copy of text that a peer wrote, checked once. Derefs to `str`.
#[derive(Debug)]
pub struct Text<'r> {
    bytes: Bytes<'r>,
}

/// A private copy of elements that a peer wrote, of which every bit pattern is one. Derefs to
/// `[T]`.
#[derive(Debug)]
pub struct Elements<'r, T> {
    bytes: Bytes<'r>,
    elements: PhantomData<T>,
}

/// What was marshalled, in memory that the thread keeps behind it. Derefs to `[u8]`.
#[derive(Debug, Default)]
pub struct Marshalled(Vec<u8>);

#[derive(Debug)]
enum Place<'r> {
    /// At the beginning of a room.
    Room(&'r [u8]),
    /// The first of those blocks, so many bytes.
    Heap(Vec<Block>, usize),
}

impl<'r> Bytes<'r> {
    /// Copies `count` bytes from byte `at` of a message on, into `room` if they fit.
    ///
    /// # Panics
    ///
    /// If the message ends before.
    #[inline]
    pub(super) fn of(message: Inbound<'_>, at: usize, count: usize, room: &'r mut Room) -> Self {
        let Some(target) = room.bytes_mut().get_mut(..count) else {
            return Bytes::many_of(&message, at, count);
        };
        Bytes { place: Place::Room(message.copy_to(at, target)) }
    }

    #[inline(never)]
    fn many_of(message: &Inbound<'_>, at: usize, count: usize) -> Self {
        let mut blocks = taken(count);
        message.copy_out(at, &mut bytemuck::cast_slice_mut(&mut blocks)[..count]);
        Bytes { place: Place::Heap(blocks, count) }
    }

    /// Copies all of `source`, into `room` if it fits.
    #[inline]
    pub(super) fn copy_of(source: Payload<'_>, room: &'r mut Room) -> Result<Self, Malformed> {
        let count = source.len();
        let Some(target) = room.bytes_mut().get_mut(..count) else {
            return Bytes::large_copy_of(source);
        };
        let place = Place::Room(source.copy_to(target)?);
        Ok(Bytes { place })
    }

    #[inline(never)]
    fn large_copy_of(source: Payload<'_>) -> Result<Self, Malformed> {
        let count = source.len();
        // Made first, so that the memory is kept whatever happens.
        let mut copy = Bytes { place: Place::Heap(taken(count), count) };
        if let Place::Heap(blocks, _) = &mut copy.place {
            source.copy_out(&mut bytemuck::cast_slice_mut(blocks)[..count])?;
        }
        Ok(copy)
    }
}

impl<'r> Text<'r> {
    /// Checks the copy.
    #[inline]
    pub(super) fn of(bytes: Bytes<'r>) -> Result<Self, Malformed> {
        text_of(&bytes)?;
        Ok(Text { bytes })
    }
}

impl<'r, T: Element> Elements<'r, T> {
    /// The elements that these bytes are, a whole number of them.
    #[inline]
    pub(super) fn of(bytes: Bytes<'r>) -> Self {
        const { assert!(align_of::<T>() <= align_of::<Block>()) };
        Elements { bytes, elements: PhantomData }
    }
}

impl Deref for Bytes<'_> {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        match &self.place {
            Place::Room(bytes) => bytes,
            Place::Heap(blocks, count) => &bytemuck::cast_slice(blocks)[..*count],
        }
    }
}

impl Deref for Text<'_> {
    type Target = str;

    #[inline]
    fn deref(&self) -> &str {
        // SAFETY: `of`, which alone makes a `Text`, checked these bytes, and nothing writes
        // to them: they are private and no `&mut` to them is given out.
        unsafe { std::str::from_utf8_unchecked(&self.bytes) }
    }
}

impl<T: Element> Deref for Elements<'_, T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        bytemuck::cast_slice(&self.bytes)
    }
}

impl Drop for Bytes<'_> {
    #[inline]
    fn drop(&mut self) {
        if let Place::Heap(blocks, _) = &mut self.place {
            keep(&COPIED, std::mem::take(blocks));
        }
    }
}

impl Marshalled {
    /// Nothing yet, in memory that the thread has kept, if it has.
    pub(super) fn new() -> Marshalled {
        let kept = MARSHALLED.try_with(|kept| kept.borrow_mut().pop());
        Marshalled(kept.ok().flatten().unwrap_or_default())
    }

    pub(super) fn vec_mut(&mut self) -> &mut Vec<u8> {
        &mut self.0
    }
}

impl Deref for Marshalled {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        &self.0
    }
}

impl Drop for Marshalled {
    fn drop(&mut self) {
        self.0.clear();
        if self.0.capacity() > 0 {
            keep(&MARSHALLED, std::mem::take(&mut self.0));
        }
    }
}

/// The text that a private copy is. Most often that is ASCII, which is told in less time than it
/// takes to look for each character's end.
#[inline(always)]
pub(super) fn text_of(bytes: &[u8]) -> Result<&str, Malformed> {
    if bytes.is_ascii() {
        // SAFETY: ASCII is UTF-8.
        return Ok(unsafe { std::str::from_utf8_unchecked(bytes) });
    }
    wide_text_of(bytes)
}

/// The same of bytes for keeps.
#[inline]
pub(super) fn string_of(bytes: Vec<u8>) -> Result<String, Malformed> {
    text_of(&bytes)?;
    // SAFETY: `text_of` found that they are UTF-8.
    Ok(unsafe { String::from_utf8_unchecked(bytes) })
}

#[inline(never)]
fn wide_text_of(bytes: &[u8]) -> Result<&str, Malformed> {
    std::str::from_utf8(bytes).map_err(|bad| Malformed::Text { at: bad.valid_up_to() })
}

/// Room for `bytes` bytes, which hold what an earlier call has left there.
fn taken(bytes: usize) -> Vec<Block> {
    let count = bytes.div_ceil(BLOCK_BYTES);
    let kept = COPIED.with_borrow_mut(|kept| {
        // Calls are alike: the one that was kept last fits most often.
        let last = kept.pop_if(|buffer| buffer.len() >= count);
        last.or_else(|| {
            let fits = kept.iter().position(|buffer| buffer.len() >= count);
            fits.map(|index| kept.swap_remove(index))
        })
    });
    kept.unwrap_or_else(|| huge::zeros(count))
}

/// Keeps memory for a later call, in place of less if there is enough.
#[inline(never)]
fn keep<T>(kept: &'static Kept<T>, memory: Vec<T>) {
    if memory.capacity() * size_of::<T>() > KEPT_BYTES_MAX {
        return;
    }
    // A thread that is ending keeps nothing.
    let _ = kept.try_with(|kept| {
        let mut kept = kept.borrow_mut();
        if kept.len() < KEPT_COUNT_MAX {
            return kept.push(memory);
        }
        let smallest = kept.iter_mut().min_by_key(|other| other.capacity());
        if let Some(smallest) = smallest.filter(|other| other.capacity() < memory.capacity()) {
            *smallest = memory;
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_large_buffer_takes_the_place_of_a_small_one() {
        let small = KEPT_BYTES_MAX / BLOCK_BYTES / 16;
        (0..KEPT_COUNT_MAX).for_each(|_| keep(&COPIED, vec![0; small]));
        keep(&COPIED, vec![7; 2 * small]);
        assert_eq!(taken(2 * small * BLOCK_BYTES)[0], 7);
        keep(&COPIED, vec![0; KEPT_BYTES_MAX / BLOCK_BYTES + 1]);
        COPIED.with_borrow(|kept| assert_eq!(kept.len(), KEPT_COUNT_MAX - 1));
    }

    #[test]
    fn text_is_what_the_standard_library_takes_for_it() {
        let wide = "grüße, 世界 🦀".as_bytes();
        let mut looked_at = 0;
        for ascii in 0..70 {
            let all = [&vec![b'a'; ascii], wide].concat();
            for cut in ascii..=all.len() {
                for (place, byte) in [(0, b'a'), (0, 0x80), (ascii / 2, 0xff), (ascii, 0x7f)] {
                    let mut bytes = all[..cut].to_vec();
                    bytes.splice(place.min(cut)..place.min(cut), [byte]);
                    let due = std::str::from_utf8(&bytes);
                    let due = due.map_err(|bad| Malformed::Text { at: bad.valid_up_to() });
                    assert_eq!(text_of(&bytes), due);
                    assert_eq!(string_of(bytes.clone()), due.map(str::to_owned));
                    looked_at += 1;
                }
            }
        }
        assert!(looked_at > 5_000, "{looked_at}");
    }

    #[test]
    fn what_was_marshalled_leaves_its_memory_empty() {
        let mut first = Marshalled::new();
        first.vec_mut().extend_from_slice(&[7; 1000]);
        let memory = first.as_ptr();
        drop(first);
        let next = Marshalled::new();
        assert_eq!((next.as_ptr(), next.len()), (memory, 0));
    }
}
