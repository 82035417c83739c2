//! The copy between private memory and memory that a peer may be writing.
//!
//! `memcpy` is not for this: to Rust a peer's store during it is a data race, and the optimizer may
//! load a byte twice and believe both. Loops over relaxed atomics are right, and several times
//! slower. Rust takes an assembly block for whatever Rust code could have done in its place. What
//! these blocks stand for is a relaxed atomic load (or store) of each shared byte: a peer's store
//! then is a race between atomics, which can spoil the values and nothing else. Some bytes are
//! loaded twice where the last move overlaps the one before; the private copy holds one of the
//! values, and it alone is looked at afterwards.
//!
//! - to 64 bytes: two to four moves, the last one overlapping
//! - to 1279 bytes: a loop over 64 bytes, the last ones overlapping
//! - from there on, x86_64: `rep movsb`, if the processor says that it is fast (ERMS)
//!
//! Out of shared memory the loop is used again from 32 KiB on. What another processor has just
//! written, `rep movsb` reads at one of two speeds, which last for seconds and differ by 2.5; the
//! loop has the better of them always, less a tenth. Measured as arguments that one side copies in
//! by `rep movsb` while the other copies them out behind it, in pieces of 64 KiB, against one
//! private `memcpy` of the same length in the same round:
//!
//! | bytes | by `rep movsb`, near | by the loop, near | by `rep movsb`, far | by the loop, far |
//! |---|---|---|---|---|
//! | 1 MiB | 0.39 or 0.95 | 0.79 to 0.90 | 0.43 to 0.49 | 0.54 to 0.61 |
//! | 2 MiB | 0.39 or 1.03 | 0.94 to 0.99 | 0.49 to 0.63 | 0.65 to 0.77 |
//! | 4 MiB | 0.39 or 1.04 | 0.93 and more | 0.44 to 0.57 | 0.71 to 0.75 |
//!
//! In, the loop takes three times as long between far processors: it asks for each line before it
//! writes it.
//!
//! The target stays plain x86_64. AVX would gain up to 8 ns below 2 KiB in the first level cache
//! and nothing between two processors.
//!
//! Measured on an AMD EPYC (Zen 5, KVM, Linux 6.18), private side 5 bytes off alignment, medians,
//! ns. "Between" is in by one processor and out by another of the same cluster, hand-over included,
//! with one way of copying for all lengths.
//!
//! | bytes | `memcpy` | this | between: `memcpy` | loop | `rep movsb` |
//! |---|---|---|---|---|---|
//! | 8 | 3.0 | 3.9 | | | |
//! | 48 | 3.0 | 4.9 | | | |
//! | 256 | 5.0 | 4.5 | 116 | 108 | 136 |
//! | 1,024 | 10.7 | 12.8 | 160 | 156 | 147 |
//! | 1,500 | 12.8 | 17.1 | 172 | 174 | 174 |
//! | 4,096 | 30.2 | 30.4 | 240 | 257 | 236 |
//! | 65,536 | 535 | 534 | 1,814 | 3,559 | 1,818 |
//! | 1,048,576 | 19,184 | 16,442 | 42,376 | 43,197 | 36,058 |

#[cfg(all(target_arch = "aarch64", not(miri)))]
#[path = "copy/aarch64.rs"]
mod machine;
#[cfg(all(target_arch = "x86_64", not(miri)))]
#[path = "copy/x86_64.rs"]
mod machine;

#[cfg(any(test, miri, not(any(target_arch = "x86_64", target_arch = "aarch64"))))]
mod portable;

#[cfg(all(any(target_arch = "x86_64", target_arch = "aarch64"), not(miri)))]
pub(crate) use assembly::{array_in, array_out, copy_in, copy_out};
#[cfg(any(miri, not(any(target_arch = "x86_64", target_arch = "aarch64"))))]
pub(crate) use portable::{array_in, array_out, copy_in, copy_out};

/// The copy by assembly, in either direction: a move does not care which side is shared.
#[cfg(all(any(target_arch = "x86_64", target_arch = "aarch64"), not(miri)))]
mod assembly {
    use super::machine;

    /// From here on bytes come out by the loop: see the module's note on the two speeds.
    const LINES_OUT_BYTES_MIN: usize = 32 << 10;

    /// Copies out of shared memory.
    ///
    /// # Safety
    ///
    /// - S1 live: `bytes` bytes are readable at `source` and writable at `target` until this
    ///   returns, and all accesses to those at `source` by others are atomic.
    /// - S2 apart: the ranges do not overlap; `target` is private.
    #[inline]
    pub(crate) unsafe fn copy_out(source: *mut u8, target: *mut u8, bytes: usize) {
        if bytes >= LINES_OUT_BYTES_MIN {
            // SAFETY: S1, S2: ours; S3: just compared.
            unsafe { machine::lines(source, target, bytes) }
        } else {
            // SAFETY: S1, S2: ours.
            unsafe { any(source, target, bytes) }
        }
    }

    /// Copies into shared memory.
    ///
    /// # Safety
    ///
    /// - S1 live: `bytes` bytes are readable at `source` and writable at `target` until this
    ///   returns, and all accesses to those at `target` by others are atomic.
    /// - S2 apart: the ranges do not overlap; `source` is private.
    #[inline]
    pub(crate) unsafe fn copy_in(source: *const u8, target: *mut u8, bytes: usize) {
        // SAFETY: S1, S2: ours.
        unsafe { any(source, target, bytes) }
    }

    /// [`copy_out`] of `N` bytes, without a branch up to 64.
    ///
    /// # Safety
    ///
    /// - S1 live, S2 apart: as [`copy_out`].
    #[inline(always)]
    pub(crate) unsafe fn array_out<const N: usize>(source: *mut u8, target: *mut u8) {
        // SAFETY: S1, S2: ours.
        unsafe { array::<N>(source, target) }
    }

    /// [`copy_in`] of `N` bytes, without a branch up to 64.
    ///
    /// # Safety
    ///
    /// - S1 live, S2 apart: as [`copy_in`].
    #[inline(always)]
    pub(crate) unsafe fn array_in<const N: usize>(source: *const u8, target: *mut u8) {
        // SAFETY: S1, S2: ours.
        unsafe { array::<N>(source, target) }
    }

    /// # Safety
    ///
    /// - S1 live: `N` bytes are readable at `source` and writable at `target`.
    /// - S2 apart: the ranges do not overlap.
    #[inline(always)]
    unsafe fn array<const N: usize>(source: *const u8, target: *mut u8) {
        if N <= 64 {
            // SAFETY: S1, S2: ours; S3: just compared.
            unsafe { small(source, target, N) }
        } else {
            // SAFETY: S1, S2: ours.
            unsafe { any(source, target, N) }
        }
    }

    /// # Safety
    ///
    /// - S1 live: `bytes` bytes are readable at `source` and writable at `target`.
    /// - S2 apart: the ranges do not overlap.
    #[inline(never)]
    unsafe fn any(source: *const u8, target: *mut u8, bytes: usize) {
        if bytes <= 64 {
            // SAFETY: S1, S2: ours; S3: just compared.
            unsafe { small(source, target, bytes) }
        } else {
            // SAFETY: S1, S2: ours; S3: just compared.
            unsafe { machine::large(source, target, bytes) }
        }
    }

    /// # Safety
    ///
    /// - S1 live: `bytes` bytes are readable at `source` and writable at `target`.
    /// - S2 apart: the ranges do not overlap.
    /// - S3 small: `bytes` is at most 64.
    #[inline(always)]
    unsafe fn small(source: *const u8, target: *mut u8, bytes: usize) {
        /// Moves the first and the last `$width` bytes.
        macro_rules! ends {
            ($width:literal, $move:path) => {{
                // SAFETY: S1, S2: `bytes` is at least the width.
                unsafe { $move(source, target) };
                // SAFETY: as above, so the last `$width` bytes begin inside.
                let source = unsafe { source.add(bytes - $width) };
                // SAFETY: as above.
                let target = unsafe { target.add(bytes - $width) };
                // SAFETY: S1, S2: the last `$width` bytes of the ranges.
                unsafe { $move(source, target) };
            }};
        }
        match bytes {
            0 => {}
            // SAFETY: S1, S2: one byte.
            1 => unsafe { machine::move_1(source, target) },
            2..=3 => ends!(2, machine::move_2),
            4..=7 => ends!(4, machine::move_4),
            8..=15 => ends!(8, machine::move_8),
            16..=31 => ends!(16, machine::move_16),
            _ => ends!(32, machine::move_32),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MARGIN: usize = 64;

    type Copy = unsafe fn(*mut u8, *mut u8, usize);

    fn copy_in_from(source: *mut u8, target: *mut u8, bytes: usize) {
        // SAFETY: the caller's.
        unsafe { copy_in(source, target, bytes) }
    }

    fn portable_in(source: *mut u8, target: *mut u8, bytes: usize) {
        // SAFETY: the caller's.
        unsafe { portable::copy_in(source, target, bytes) }
    }

    fn pattern(bytes: usize) -> Vec<u8> {
        (0..bytes).map(|index| (index * 7 + index / 251) as u8 | 1).collect()
    }

    /// Copies between every alignment and demands all of the bytes and none beside them.
    fn check(copy: Copy, bytes: usize) {
        let shifts = if cfg!(miri) { &[(0, 0), (3, 5)][..] } else { &[(0, 0), (1, 0), (3, 5)] };
        for &(from, to) in shifts {
            let mut source = pattern(bytes + MARGIN);
            let mut target = vec![0; bytes + 2 * MARGIN];
            let source_at = source[from..].as_mut_ptr();
            let target_at = target[MARGIN + to..].as_mut_ptr();
            // SAFETY: S1: `bytes` bytes past each begin inside. S2: two vectors.
            unsafe { copy(source_at, target_at, bytes) };
            assert_eq!(target[MARGIN + to..][..bytes], source[from..][..bytes], "{bytes}");
            assert!(target[..MARGIN + to].iter().all(|byte| *byte == 0), "{bytes}: before");
            assert!(target[MARGIN + to + bytes..].iter().all(|byte| *byte == 0), "{bytes}: after");
        }
    }

    fn lengths() -> impl Iterator<Item = usize> {
        const LARGE: &[usize] = &[1023, 1279, 1280, 1343, 1500, 4095, 65_536, (1 << 20) + 3];
        let (small_max, large) = if cfg!(miri) { (80, &LARGE[..1]) } else { (300, LARGE) };
        (0..small_max).chain(large.iter().copied())
    }

    #[test]
    fn every_length_is_copied_whole_and_nothing_beside_it() {
        for bytes in lengths() {
            check(copy_out, bytes);
            check(copy_in_from, bytes);
        }
    }

    #[test]
    fn the_portable_copy_is_the_same_copy() {
        for bytes in lengths() {
            check(portable::copy_out, bytes);
            check(portable_in, bytes);
        }
    }

    #[test]
    fn arrays_of_every_kind_of_length_are_copied() {
        macro_rules! check_arrays {
            ($($bytes:literal)*) => {$(
                check(|source, target, _| {
                    // SAFETY: the caller's.
                    unsafe { array_out::<$bytes>(source, target) }
                }, $bytes);
                check(|source, target, _| {
                    // SAFETY: the caller's.
                    unsafe { array_in::<$bytes>(source, target) }
                }, $bytes);
            )*};
        }
        check_arrays!(0 1 2 3 4 7 8 12 15 16 17 31 32 33 48 63 64 65 100);
    }

    #[cfg(all(target_arch = "x86_64", not(miri)))]
    #[test]
    fn large_copies_do_without_fast_strings() {
        for bytes in lengths().filter(|bytes| *bytes >= 64) {
            // SAFETY: the caller's, and S3 by the filter.
            check(|source, target, bytes| unsafe { machine::lines(source, target, bytes) }, bytes);
        }
    }
}
