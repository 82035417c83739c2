//! Copies between private memory and memory that a peer may be writing.

use std::sync::atomic::{AtomicU8, Ordering};

/// Copies out of shared memory.
///
/// # Safety
///
/// - S1 live: `bytes` bytes are readable at `source` and writable at `target`.
/// - S2 apart: the two ranges do not overlap, and `target` is private.
pub(crate) unsafe fn copy_out(source: *mut u8, target: *mut u8, bytes: usize) {
    for index in 0..bytes {
        // SAFETY: S1.
        let source = unsafe { source.add(index) };
        // SAFETY: S1.
        let target = unsafe { target.add(index) };
        // SAFETY: S1, S2.
        let byte = unsafe { AtomicU8::from_ptr(source) }.load(Ordering::Relaxed);
        // SAFETY: S1, S2.
        unsafe { target.write(byte) };
    }
}

/// Copies into shared memory.
///
/// # Safety
///
/// - S1 live: `bytes` bytes are readable at `source` and writable at `target`.
/// - S2 apart: the two ranges do not overlap, and `source` is private.
pub(crate) unsafe fn copy_in(source: *const u8, target: *mut u8, bytes: usize) {
    for index in 0..bytes {
        // SAFETY: S1.
        let source = unsafe { source.add(index) };
        // SAFETY: S1.
        let target = unsafe { target.add(index) };
        // SAFETY: S1, S2.
        let byte = unsafe { source.read() };
        // SAFETY: S1, S2.
        unsafe { AtomicU8::from_ptr(target) }.store(byte, Ordering::Relaxed);
    }
}

/// [`copy_out`] of a constant number of bytes.
///
/// # Safety: as [`copy_out`].
#[inline]
pub(crate) unsafe fn array_out<const N: usize>(source: *mut u8, target: *mut u8) {
    // SAFETY: S1, S2: the caller's.
    unsafe { copy_out(source, target, N) }
}

/// [`copy_in`] of a constant number of bytes.
///
/// # Safety: as [`copy_in`].
#[inline]
pub(crate) unsafe fn array_in<const N: usize>(source: *const u8, target: *mut u8) {
    // SAFETY: S1, S2: the caller's.
    unsafe { copy_in(source, target, N) }
}
