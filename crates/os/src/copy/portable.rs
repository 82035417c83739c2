//! The copy for other processors and for Miri: relaxed atomics, by words where the shared side is
//! aligned. `AtomicU64` and `AtomicU8` on the same bytes are within what Miri checks.

use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

const WORD: usize = size_of::<u64>();

/// Copies out of shared memory.
///
/// # Safety
///
/// - S1 live: `bytes` bytes are readable and writable at `source` and writable at `target` until
///   this returns, and all accesses to those at `source` by others are atomic.
/// - S2 apart: the ranges do not overlap; `target` is private.
pub(crate) unsafe fn copy_out(source: *mut u8, target: *mut u8, bytes: usize) {
    let mut done = 0;
    while done < bytes {
        // SAFETY: S1: `done` is inside.
        let source = unsafe { source.add(done) };
        // SAFETY: S1: `done` is inside.
        let target = unsafe { target.add(done) };
        if takes_word(source, bytes - done) {
            // SAFETY: S1: a whole word, aligned, is left.
            let word = unsafe { AtomicU64::from_ptr(source.cast()) };
            // Relaxed: the bytes are a claim until the turn word has been acquired.
            let word = word.load(Ordering::Relaxed);
            // SAFETY: S1, S2: a whole word is left.
            unsafe { target.cast::<u64>().write_unaligned(word) };
            done += WORD;
        } else {
            // SAFETY: S1.
            let byte = unsafe { AtomicU8::from_ptr(source) };
            // Relaxed: as above.
            let byte = byte.load(Ordering::Relaxed);
            // SAFETY: S1, S2.
            unsafe { target.write(byte) };
            done += 1;
        }
    }
}

/// Copies into shared memory.
///
/// # Safety
///
/// - S1 live: `bytes` bytes are readable at `source` and writable at `target` until this returns,
///   and all accesses to those at `target` by others are atomic.
/// - S2 apart: the ranges do not overlap; `source` is private.
pub(crate) unsafe fn copy_in(source: *const u8, target: *mut u8, bytes: usize) {
    let mut done = 0;
    while done < bytes {
        // SAFETY: S1: `done` is inside.
        let source = unsafe { source.add(done) };
        // SAFETY: S1: `done` is inside.
        let target = unsafe { target.add(done) };
        if takes_word(target, bytes - done) {
            // SAFETY: S1, S2: a whole word is left.
            let word = unsafe { source.cast::<u64>().read_unaligned() };
            // SAFETY: S1: a whole word, aligned, is left.
            let shared = unsafe { AtomicU64::from_ptr(target.cast()) };
            // Relaxed: the turn word, released afterwards, makes the bytes visible.
            shared.store(word, Ordering::Relaxed);
            done += WORD;
        } else {
            // SAFETY: S1, S2.
            let byte = unsafe { source.read() };
            // SAFETY: S1.
            let shared = unsafe { AtomicU8::from_ptr(target) };
            // Relaxed: as above.
            shared.store(byte, Ordering::Relaxed);
            done += 1;
        }
    }
}

fn takes_word(shared: *mut u8, bytes_left: usize) -> bool {
    bytes_left >= WORD && shared.cast::<u64>().is_aligned()
}

/// [`copy_out`], of a length that may be known when this is compiled.
///
/// # Safety
///
/// - S1 live, S2 apart: as [`copy_out`].
#[cfg(any(miri, not(any(target_arch = "x86_64", target_arch = "aarch64"))))]
pub(crate) unsafe fn fixed_out(source: *mut u8, target: *mut u8, bytes: usize) {
    // SAFETY: S1, S2: ours.
    unsafe { copy_out(source, target, bytes) }
}

/// [`copy_in`], of a length that may be known when this is compiled.
///
/// # Safety
///
/// - S1 live, S2 apart: as [`copy_in`].
#[cfg(any(miri, not(any(target_arch = "x86_64", target_arch = "aarch64"))))]
pub(crate) unsafe fn fixed_in(source: *const u8, target: *mut u8, bytes: usize) {
    // SAFETY: S1, S2: ours.
    unsafe { copy_in(source, target, bytes) }
}

/// [`copy_in`] of a piece of what is longer: there is one way.
///
/// # Safety
///
/// - S1 live, S2 apart: as [`copy_in`].
#[cfg(any(miri, not(any(target_arch = "x86_64", target_arch = "aarch64"))))]
pub(crate) unsafe fn piece_in(
    source: *const u8,
    target: *mut u8,
    bytes: usize,
    way: super::Way,
) -> super::Way {
    // SAFETY: S1, S2: ours.
    unsafe { copy_in(source, target, bytes) };
    way
}
