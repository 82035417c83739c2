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
//! | bytes | in | out |
//! |---|---|---|
//! | to 64 | two to four moves, the last one overlapping | as in |
//! | to 511 | a loop over 64 bytes, the last ones overlapping | as in |
//! | from 512 | x86_64: the loop by AVX, if the processor has it | as in |
//! | from 512 to 8 KiB | | x86_64: all lines are asked for first |
//! | from 1,280 | x86_64: `rep movsb`, if the processor says that it is fast (ERMS) | as before |
//! | to 8 KiB, Intel's | all lines are asked for to be written, then the loop | as before |
//! | from 16 KiB | x86_64 with AVX: past the caches if lines wait (`past.rs`) | as before |
//! | a length that the caller knows when it is compiled, to 256 | moves, no branch | as in |
//!
//! `rep movsb` has a trap on AMD's processors: where the target lies 1 to 31 bytes further into its
//! page than the source does into its own, it takes ten times as long out, and four times in. That
//! is no accident of few buffers: what `malloc` maps begins 16 bytes into a page, and a payload at
//! the beginning of one. So nothing comes out by it (nor by a C library's `memcpy`, which uses it
//! from 2 KiB on), and what would go in so goes by the loop. In by one processor and out by
//! another, hand-over included, AMD EPYC (Zen 3, KVM, Linux 6.18), medians of rounds in turn, us; a
//! line there and back took 0.07, far 0.44:
//!
//! | bytes | out by `rep movsb` | in the trap | SSE loop | AVX loop | far: SSE | AVX |
//! |---|---|---|---|---|---|---|
//! | 256 | | 0.38 | 0.16 | 0.15 | | |
//! | 4,096 | 0.35 to 0.39 | 3.7 | 0.43 to 0.80 | 0.32 to 0.68 | 1.9 | 1.7 |
//! | 16,384 | 1.0 | 7.1 | 1.2 to 1.3 | 1.0 to 1.1 | 26 | 25 |
//! | 65,536 | 4.2 | 26 | 4.3 to 4.7 | 4.2 | 25 | 25 |
//!
//! That at 4 KiB a loop takes twice as long for minutes is the machine's: a lone line takes as long
//! as before then, and AVX keeps its lead. AVX rounds of 128 bytes and more are slower, up to a
//! half. The AVX columns are without what the loop asks for ahead, which gains a tenth at 4 KiB and
//! less elsewhere; all lines asked for at once gain nothing there. On an Intel Xeon (Emerald
//! Rapids, KVM, far, a line 0.12) they do: a call with 4 KiB in takes 0.97 to 1.03 us where it took
//! 1.22 to 1.30, half of it by either side's (`bench paper`, in turn). In, out of the trap, `rep
//! movsb` costs what a loop does near, and on a Zen 5 a third of it far, because it need not ask
//! for a line before it writes it.

#[cfg(all(target_arch = "aarch64", not(miri)))]
#[path = "copy/aarch64.rs"]
mod machine;
#[cfg(all(target_arch = "x86_64", not(miri)))]
#[path = "copy/x86_64.rs"]
mod machine;

#[cfg(any(test, miri, not(any(target_arch = "x86_64", target_arch = "aarch64"))))]
mod portable;

#[cfg(all(any(target_arch = "x86_64", target_arch = "aarch64"), not(miri)))]
pub(crate) use assembly::{copy_in, copy_out, fixed_in, fixed_out, piece_in};
#[cfg(any(miri, not(any(target_arch = "x86_64", target_arch = "aarch64"))))]
pub(crate) use portable::{copy_in, copy_out, fixed_in, fixed_out, piece_in};

/// Which way a long copy into shared memory goes (`copy/past.rs`): a hint, which changes no byte.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Way {
    /// Found out by how long its beginning takes.
    #[default]
    Tried,
    /// Into this processor's caches.
    Cached,
    /// Past them, to memory.
    PastCaches,
}

/// The copy by assembly, in either direction: a move does not care which side is shared.
#[cfg(all(any(target_arch = "x86_64", target_arch = "aarch64"), not(miri)))]
mod assembly {
    use super::{Way, machine};

    /// Longest copy of a known length that is moves alone.
    const STRAIGHT_BYTES_MAX: usize = 256;

    /// Copies out of shared memory.
    ///
    /// # Safety
    ///
    /// - S1 live: `bytes` bytes are readable at `source` and writable at `target` until this
    ///   returns, and all accesses to those at `source` by others are atomic.
    /// - S2 apart: the ranges do not overlap; `target` is private.
    #[inline(never)]
    pub(crate) unsafe fn copy_out(source: *mut u8, target: *mut u8, bytes: usize) {
        if bytes <= 64 {
            // SAFETY: S1, S2: ours; S3: just compared.
            unsafe { small(source, target, bytes) }
        } else {
            // SAFETY: S1, S2: ours; S3: just compared.
            unsafe { machine::large_out(source, target, bytes) }
        }
    }

    /// Copies into shared memory.
    ///
    /// # Safety
    ///
    /// - S1 live: `bytes` bytes are readable at `source` and writable at `target` until this
    ///   returns, and all accesses to those at `target` by others are atomic.
    /// - S2 apart: the ranges do not overlap; `source` is private.
    #[inline(never)]
    pub(crate) unsafe fn copy_in(source: *const u8, target: *mut u8, bytes: usize) {
        // SAFETY: S1, S2: ours.
        unsafe { piece_in(source, target, bytes, Way::Tried) };
    }

    /// [`copy_in`] of a piece of what is longer, the way that the piece before it went; says which
    /// way this one did.
    ///
    /// # Safety
    ///
    /// - S1 live, S2 apart: as [`copy_in`].
    #[inline]
    pub(crate) unsafe fn piece_in(
        source: *const u8,
        target: *mut u8,
        bytes: usize,
        way: Way,
    ) -> Way {
        if bytes <= 64 {
            // SAFETY: S1, S2: ours; S3: just compared.
            unsafe { small(source, target, bytes) };
            way
        } else {
            // SAFETY: S1, S2: ours; S3: just compared.
            unsafe { machine::large_in(source, target, bytes, way) }
        }
    }

    /// [`copy_out`] of a length that is a constant where this is inlined: no branch is left.
    ///
    /// # Safety
    ///
    /// - S1 live, S2 apart: as [`copy_out`].
    #[inline(always)]
    pub(crate) unsafe fn fixed_out(source: *mut u8, target: *mut u8, bytes: usize) {
        if bytes <= STRAIGHT_BYTES_MAX {
            // SAFETY: S1, S2: ours.
            unsafe { straight(source, target, bytes) }
        } else {
            // SAFETY: S1, S2: ours.
            unsafe { copy_out(source, target, bytes) }
        }
    }

    /// [`copy_in`] of a length that is a constant where this is inlined: no branch is left.
    ///
    /// # Safety
    ///
    /// - S1 live, S2 apart: as [`copy_in`].
    #[inline(always)]
    pub(crate) unsafe fn fixed_in(source: *const u8, target: *mut u8, bytes: usize) {
        if bytes <= STRAIGHT_BYTES_MAX {
            // SAFETY: S1, S2: ours.
            unsafe { straight(source, target, bytes) }
        } else {
            // SAFETY: S1, S2: ours.
            unsafe { copy_in(source, target, bytes) }
        }
    }

    /// 32 bytes a move, then the last of them, which may overlap the one before.
    ///
    /// # Safety
    ///
    /// - S1 live: `bytes` bytes are readable at `source` and writable at `target`.
    /// - S2 apart: the ranges do not overlap.
    #[inline(always)]
    unsafe fn straight(source: *const u8, target: *mut u8, bytes: usize) {
        if bytes <= 64 {
            // SAFETY: S1, S2: ours; S3: just compared.
            return unsafe { small(source, target, bytes) };
        }
        let mut at = 0;
        while at < bytes {
            let begin = at.min(bytes - 32);
            // SAFETY: S1: 32 bytes before the end at most.
            let source = unsafe { source.add(begin) };
            // SAFETY: as above.
            let target = unsafe { target.add(begin) };
            // SAFETY: S1, S2: 32 bytes of the ranges begin there.
            unsafe { machine::move_32(source, target) };
            at += 32;
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
        // Asked in the order of what is copied most: a `match` by ranges becomes a chain that
        // begins at no byte.
        if bytes >= 16 {
            if bytes >= 32 { ends!(32, machine::move_32) } else { ends!(16, machine::move_16) }
        } else if bytes >= 8 {
            ends!(8, machine::move_8)
        } else if bytes >= 4 {
            ends!(4, machine::move_4)
        } else if bytes >= 2 {
            ends!(2, machine::move_2)
        } else if bytes == 1 {
            // SAFETY: S1, S2: one byte.
            unsafe { machine::move_1(source, target) }
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
        /// Where the way changes, and beyond.
        const EDGES: [usize; 6] = [511, 512, 1279, 1280, 8192, 8193];
        const LARGE: &[usize] = &[1023, 1343, 1500, 4095, 12_001, 65_536, (1 << 20) + 3];
        let (small_max, edges, large) =
            if cfg!(miri) { (80, &EDGES[..0], &LARGE[..1]) } else { (300, &EDGES[..], LARGE) };
        (0..small_max).chain(edges.iter().chain(large).copied())
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
    fn known_lengths_of_every_kind_are_copied() {
        macro_rules! check_lengths {
            ($($bytes:literal)*) => {$(
                check(|source, target, _| {
                    // SAFETY: the caller's.
                    unsafe { fixed_out(source, target, $bytes) }
                }, $bytes);
                check(|source, target, _| {
                    // SAFETY: the caller's.
                    unsafe { fixed_in(source, target, $bytes) }
                }, $bytes);
            )*};
        }
        check_lengths!(0 1 2 3 4 7 8 12 15 16 17 31 32 33 48 63 64 65 95 96 97 152 200 255 256 257);
    }

    #[cfg(all(target_arch = "x86_64", not(miri)))]
    #[test]
    fn large_copies_do_without_fast_strings_and_wide_registers() {
        for bytes in lengths().filter(|bytes| *bytes >= 64) {
            // SAFETY: the caller's, and S3 by the filter.
            check(|source, target, bytes| unsafe { machine::lines(source, target, bytes) }, bytes);
        }
    }

    #[cfg(all(target_arch = "x86_64", not(miri)))]
    #[test]
    fn wide_registers_copy_every_length_from_a_line_on() {
        if !std::arch::is_x86_feature_detected!("avx") {
            return lacking::lacking("a processor with AVX");
        }
        for bytes in lengths().filter(|bytes| *bytes >= 64) {
            // SAFETY: the caller's, S3 by the filter, S4 as asked above.
            check(|from, to, bytes| unsafe { machine::wide_lines(from, to, bytes) }, bytes);
        }
    }
}
