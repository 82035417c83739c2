//! Lines of shared memory with named words: which structs may lie there, and what a side that may
//! only read sees of them.

use std::sync::atomic::{Ordering, fence};

use nearcall_abi::bell::GateLine;
use nearcall_abi::{AStackHead, BellLine, ReplyLine, RequestLine};

/// A line of shared memory with named words.
///
/// # Safety
///
/// - S1 atomic: every byte of the type lies in an atomic integer or is padding.
/// - S2 any bytes: every bit pattern is a value of the type.
pub unsafe trait SharedLine: Sized {}

// SAFETY: S1, S2: four `AtomicU32` and six `AtomicU64`.
unsafe impl SharedLine for AStackHead {}
// SAFETY: S1, S2: two `AtomicU32`, an `AtomicU64`, padding.
unsafe impl SharedLine for RequestLine {}
// SAFETY: S1, S2: three `AtomicU32`, padding.
unsafe impl SharedLine for ReplyLine {}
// SAFETY: S1, S2: sixteen `AtomicU32`.
unsafe impl SharedLine for BellLine {}
// SAFETY: S1, S2: sixteen `AtomicU32`.
unsafe impl SharedLine for GateLine {}

/// A line that this side may only read: its words, and no way to store.
#[derive(Debug)]
pub struct ReadLine<'a, T> {
    line: &'a T,
}

impl<'a, T> ReadLine<'a, T> {
    #[inline]
    pub(super) fn new(line: &'a T) -> ReadLine<'a, T> {
        ReadLine { line }
    }
}

impl<T> Clone for ReadLine<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for ReadLine<'_, T> {}

impl ReadLine<'_, RequestLine> {
    /// Which out-of-line segment holds the variable part.
    #[inline]
    pub fn generation(self) -> u32 {
        // Relaxed: written before the post, row O1, and read after the take, row O3.
        self.line.generation.load(Ordering::Relaxed)
    }

    /// Bytes of the variable part that are there, with these bytes (row P2).
    #[inline]
    pub fn progress(self) -> u32 {
        // Relaxed with a fence: as the claim below.
        let progress = self.line.progress.load(Ordering::Relaxed);
        fence(Ordering::Acquire);
        progress
    }

    /// Which A-stacks of the class a thread has posted calls on (row Y2).
    #[inline(always)]
    pub fn tally(self) -> u64 {
        // Relaxed: row Y2. A hint: what it stands for is looked at, and read through its own word.
        self.line.tally.load(Ordering::Relaxed)
    }
}

impl ReadLine<'_, ReplyLine> {
    /// Sequence number of the last call taken, with everything that the server did before it
    /// (row C2).
    #[inline]
    pub fn claim(self) -> u32 {
        // Relaxed with a fence: an acquiring load of memory that is mapped read-only is more than
        // Rust promises to be only a load.
        let claim = self.line.claim.load(Ordering::Relaxed);
        fence(Ordering::Acquire);
        claim
    }

    /// Which out-of-line segment holds the variable part.
    #[inline]
    pub fn generation(self) -> u32 {
        // Relaxed: written before the reply, row O4, and read after it was seen, row O8.
        self.line.generation.load(Ordering::Relaxed)
    }

    /// Whether there may be room for what there was none for (row Q2).
    #[inline]
    pub fn room(self) -> u32 {
        // Relaxed: row Q2. Nothing is read through it.
        self.line.room.load(Ordering::Relaxed)
    }
}
