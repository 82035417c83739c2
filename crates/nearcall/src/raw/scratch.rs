//! Private copies of interpreted arguments (L41), made without allocating where that is possible:
//! small ones on the stack, large ones in memory that the thread keeps for the next call.

use std::cell::RefCell;
use std::ops::Deref;

use super::incoming::Payload;
use super::malformed::Malformed;

/// Copies up to this many bytes live on the server's own stack.
const STACK_BYTES: usize = 256;

/// A thread keeps this many buffers for later calls, none larger than [`KEPT_BYTES_MAX`].
const KEPT_COUNT_MAX: usize = 8;

/// Largest buffer that a thread keeps: above it the first touch is no longer the main cost.
const KEPT_BYTES_MAX: usize = 16 << 20;

thread_local! {
    static KEPT: RefCell<Vec<Vec<u8>>> = const { RefCell::new(Vec::new()) };
}

/// A private copy of bytes that a peer wrote. Derefs to `[u8]`.
#[derive(Debug)]
pub struct Bytes {
    place: Place,
}

/// A private copy of text that a peer wrote, checked once. Derefs to `str`.
#[derive(Debug)]
pub struct Text {
    bytes: Bytes,
}

// Large on purpose: that is the memory on the stack.
#[allow(clippy::large_enum_variant)]
#[derive(Debug)]
enum Place {
    Stack { array: [u8; STACK_BYTES], count: usize },
    Heap(Vec<u8>),
}

impl Bytes {
    /// Copies all of `source`.
    #[inline]
    pub(super) fn copy_of(source: Payload<'_>) -> Result<Bytes, Malformed> {
        let count = source.len();
        if count > STACK_BYTES {
            return Ok(Bytes { place: Place::Heap(copy_to_heap(source)?) });
        }
        let mut array = [0; STACK_BYTES];
        source.copy_out(&mut array[..count])?;
        Ok(Bytes { place: Place::Stack { array, count } })
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

impl Deref for Bytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match &self.place {
            Place::Stack { array, count } => &array[..*count],
            Place::Heap(bytes) => bytes,
        }
    }
}

impl Deref for Text {
    type Target = str;

    fn deref(&self) -> &str {
        // SAFETY: `copy_of`, which alone makes a `Text`, checked these bytes, and nothing writes
        // to them: they are private and no `&mut` to them is given out.
        unsafe { std::str::from_utf8_unchecked(&self.bytes) }
    }
}

impl Drop for Bytes {
    fn drop(&mut self) {
        if let Place::Heap(bytes) = &mut self.place {
            keep(std::mem::take(bytes));
        }
    }
}

#[cold]
fn copy_to_heap(source: Payload<'_>) -> Result<Vec<u8>, Malformed> {
    let kept = KEPT.with_borrow_mut(|kept| {
        let fits = kept.iter().position(|buffer| buffer.capacity() >= source.len());
        fits.map(|index| kept.swap_remove(index))
    });
    let mut bytes = kept.unwrap_or_default();
    source.append_to(&mut bytes)?;
    Ok(bytes)
}

fn keep(mut bytes: Vec<u8>) {
    bytes.clear();
    // A thread that is ending keeps nothing.
    let _ = KEPT.try_with(|kept| {
        let mut kept = kept.borrow_mut();
        if kept.len() < KEPT_COUNT_MAX && bytes.capacity() <= KEPT_BYTES_MAX {
            kept.push(bytes);
        }
    });
}
