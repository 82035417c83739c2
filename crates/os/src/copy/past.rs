//! Large copies into lines that another processor has read since they were last written.
//!
//! Before such a line is written, the other processor's copy of it has to go, and of those requests
//! few are under way at once: a line takes 3 to 10 ns near, and 20 to 37 far, where one that nobody
//! else holds takes 1. A store that goes past the caches waits for nothing of the kind; but what it
//! wrote comes from memory then, not from a cache, when the other side reads it. So it is tried:
//! the beginning of a copy is written as ever, and if that takes long, the rest goes past them.
//!
//! In by one processor and out by another, hand-over included, us:
//!
//! | bytes | near: as ever | past | far: as ever | past |
//! |---|---|---|---|---|
//! | 8 Ki | 0.8 to 1.0 | 1.5 to 2.2 | | |
//! | 16 Ki | 2.1 to 2.7 | 2.4 to 2.8 | 8.6 to 9.9 | 3.1 |
//! | 64 Ki | 11 to 12 | 7.4 to 8.5 | 38 to 45 | 7.9 to 9.1 |
//! | 256 Ki | 42 to 50 | 28 to 31 | 140 to 170 | 25 to 32 |
//! | 1 Mi | 116 to 124 | 82 to 93 | 460 to 640 | 91 to 110 |
//! | 1 Mi, both at once | 35 to 42 | 62 to 70 | | 45 to 50 |
//!
//! (AMD EPYC, Zen 4, KVM, Linux 6.18, by bare threads; a line there and back took 0.07 near and
//! 0.33 far.) In the last row, near, the lines have left the other processor's cache before they
//! are written again, and the beginning is quick. A thread that writes each line after it has read
//! it would be better still, 3.7 us for 64 Ki near and 9.8 far; but a receiver must not be able to
//! (`segment.rs`).

use std::arch::asm;

use super::{cached_in, lines};
use crate::clock::{ns_since, ticks, ticks_ns};
use crate::copy::Way;

/// Below, what goes past the caches takes as long as what waits.
pub(super) const BYTES_MIN: usize = TRIED_BYTES;

/// What is written as ever, to see how long it takes. The first half may leave no trace: so much
/// waits in the processor's store buffer.
const TRIED_BYTES: usize = 16 << 10;

/// Longest that those take whose lines nobody else holds: 4.5 ns a line.
const TRIED_NS_MAX: u64 = 1150;

/// Between far processors as little as this tells, and what is tried takes long.
const BRIEFLY_TRIED_BYTES: usize = 4 << 10;

/// Longest that those take between near ones: 8 ns a line.
const BRIEFLY_TRIED_NS_MAX: u64 = 512;

/// What is left is copied with what is before it where it is shorter.
const REST_BYTES_MIN: usize = 128;

/// Copies as `way` says, and says which way that was.
///
/// # Safety
///
/// - S1 live: `bytes` bytes are readable at `source` and writable at `target`.
/// - S2 apart: the ranges do not overlap.
/// - S3 large: `bytes` is at least [`BYTES_MIN`].
/// - S4 the processor has AVX, and the kernel keeps its registers.
pub(super) unsafe fn copy_in(source: *const u8, target: *mut u8, bytes: usize, way: Way) -> Way {
    let (way, tried) = match way {
        // SAFETY: S1, S2: ours; by S3 so many bytes are there.
        Way::Tried => unsafe { try_in(source, target) },
        known => (known, 0),
    };
    // SAFETY: S1 to S4: ours; no more is tried than BYTES_MIN.
    unsafe { rest_in(source, target, bytes, (way, tried)) };
    way
}

/// Copies the beginning; says which way suits what is left, and how much that was.
///
/// What comes from memory of our own that is in no cache would be taken for waiting, and so it is
/// read before. What else is taken for it harms that one copy: the page faults of a new segment,
/// and a processor that was taken away.
///
/// # Safety
///
/// - S1 live: [`TRIED_BYTES`] are readable at `source` and writable at `target`.
/// - S2 apart: the ranges do not overlap.
unsafe fn try_in(source: *const u8, target: *mut u8) -> (Way, usize) {
    for line in (0..TRIED_BYTES).step_by(64) {
        // SAFETY: S1: inside.
        let byte = unsafe { source.add(line) };
        // SAFETY: S1. Volatile, so that it is read though nobody wants it.
        unsafe { byte.read_volatile() };
    }
    // The first of these of a process takes 20 us.
    ticks_ns(0);
    let start = ticks();
    // SAFETY: S1, S2: ours, for fewer bytes.
    unsafe { cached_in(source, target, BRIEFLY_TRIED_BYTES) };
    if ns_since(start) > BRIEFLY_TRIED_NS_MAX {
        return (Way::PastCaches, BRIEFLY_TRIED_BYTES);
    }
    // SAFETY: inside, by S1.
    let source = unsafe { source.add(BRIEFLY_TRIED_BYTES) };
    // SAFETY: as above.
    let target = unsafe { target.add(BRIEFLY_TRIED_BYTES) };
    // SAFETY: S1, S2: ours, of what is left.
    unsafe { cached_in(source, target, TRIED_BYTES - BRIEFLY_TRIED_BYTES) };
    let is_quick = ns_since(start) <= TRIED_NS_MAX;
    (if is_quick { Way::Cached } else { Way::PastCaches }, TRIED_BYTES)
}

/// Copies what is left behind the bytes that were tried, that way.
///
/// # Safety
///
/// - S1 live, S2 apart, S3 large, S4: as [`copy_in`], and no more was tried than [`BYTES_MIN`].
unsafe fn rest_in(source: *const u8, target: *mut u8, bytes: usize, (way, tried): (Way, usize)) {
    let at = tried.min(bytes - REST_BYTES_MIN);
    let rest = bytes - at;
    // SAFETY: inside.
    let source = unsafe { source.add(at) };
    // SAFETY: as above.
    let target = unsafe { target.add(at) };
    match way {
        // SAFETY: S1 to S4: ours, of what is left, at least REST_BYTES_MIN.
        Way::PastCaches => unsafe { past_caches(source, target, rest) },
        // SAFETY: as above.
        Way::Tried | Way::Cached => unsafe { cached_in(source, target, rest) },
    }
}

/// Whole lines of the target past the caches, what begins and ends elsewhere as ever.
///
/// # Safety
///
/// - S1 live: `bytes` bytes are readable at `source` and writable at `target`.
/// - S2 apart: the ranges do not overlap.
/// - S3 large: `bytes` is at least [`REST_BYTES_MIN`].
/// - S4 the processor has AVX, and the kernel keeps its registers.
pub(super) unsafe fn past_caches(source: *const u8, target: *mut u8, bytes: usize) {
    // SAFETY: S1, S2: ours, for 64 bytes, which S3 promises.
    unsafe { lines(source, target, 64) };
    let moved = (target as usize).wrapping_neg() % 64;
    let whole = (bytes - moved) / 64 * 64;
    // SAFETY: the last 64 bytes begin inside by S3.
    let source_last = unsafe { source.add(bytes - 64) };
    // SAFETY: as above.
    let target_last = unsafe { target.add(bytes - 64) };
    // SAFETY: S1, S2: ours, for the last 64 bytes.
    unsafe { lines(source_last, target_last, 64) };
    // SAFETY: `moved` is below 64, so inside by S3.
    let source = unsafe { source.add(moved) };
    // SAFETY: as above.
    let target = unsafe { target.add(moved) };
    // SAFETY: reads and writes `whole` bytes, which lie within S1 and are not 0 by S3; `target` is
    // a line's beginning, as the stores demand. The fence has them done before whatever follows,
    // as other stores are. By S4 the instructions are there; of the registers as in `wide_lines`.
    unsafe {
        asm!(
            "2:",
            "vmovups ymm0, [{source}]",
            "vmovups ymm1, [{source} + 32]",
            "vmovntps [{target}], ymm0",
            "vmovntps [{target} + 32], ymm1",
            "add {source}, 64",
            "add {target}, 64",
            "sub {left}, 64",
            "jnz 2b",
            "sfence",
            "vzeroupper",
            source = inout(reg) source => _,
            target = inout(reg) target => _,
            left = inout(reg) whole => _,
            out("xmm0") _, out("xmm1") _, out("xmm2") _, out("xmm3") _,
            out("xmm4") _, out("xmm5") _, out("xmm6") _, out("xmm7") _,
            out("xmm8") _, out("xmm9") _, out("xmm10") _, out("xmm11") _,
            out("xmm12") _, out("xmm13") _, out("xmm14") _, out("xmm15") _,
            options(nostack),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MARGIN: usize = 64;
    const TARGET_SHIFTS: [usize; 5] = [0, 1, 31, 32, 63];
    const WAYS: [Way; 3] = [Way::Tried, Way::Cached, Way::PastCaches];

    /// Copies `bytes` bytes to so far behind a line, and demands all of them and none beside them.
    fn check(copy: impl FnOnce(*const u8, *mut u8, usize), bytes: usize, shift: usize) {
        let source: Vec<u8> = (0..bytes + 3).map(|at| (at * 7 + at / 251) as u8 | 1).collect();
        let source = &source[3..];
        let mut memory = vec![0; bytes + 3 * MARGIN];
        let begin = memory.as_ptr().align_offset(MARGIN) + MARGIN + shift;
        copy(source.as_ptr(), memory[begin..].as_mut_ptr(), bytes);
        assert_eq!(&memory[begin..][..bytes], source, "{bytes} bytes, {shift} behind a line");
        memory[begin..][..bytes].fill(0);
        assert!(memory.iter().all(|byte| *byte == 0), "{bytes} bytes: beside them");
    }

    fn has_avx() -> bool {
        let is_there = std::arch::is_x86_feature_detected!("avx");
        if !is_there {
            lacking::lacking("a processor with AVX");
        }
        is_there
    }

    #[test]
    fn past_the_caches_every_byte_comes_and_none_beside_it() {
        if !has_avx() {
            return;
        }
        let lengths = (128..400).chain([4095, BYTES_MIN, 65_537, (1 << 20) + 3]);
        for bytes in lengths {
            for shift in TARGET_SHIFTS {
                // SAFETY: S1, S2: `check` gives two vectors. S3: 128 and more. S4: just asked.
                check(|from, to, bytes| unsafe { past_caches(from, to, bytes) }, bytes, shift);
            }
        }
    }

    #[test]
    fn whichever_way_a_copy_goes_it_is_whole() {
        if !has_avx() {
            return;
        }
        for bytes in [BYTES_MIN, BYTES_MIN + 1, BYTES_MIN + 127, 65_535] {
            for (shift, way) in TARGET_SHIFTS.iter().flat_map(|shift| WAYS.map(|way| (*shift, way)))
            {
                let copy = |from, to, bytes| {
                    // SAFETY: as above; S3: of these lengths.
                    let went = unsafe { copy_in(from, to, bytes, way) };
                    let is_found = way == Way::Tried && went != Way::Tried;
                    assert!(is_found || went == way, "{way:?} became {went:?}");
                };
                check(copy, bytes, shift);
            }
        }
    }

    #[test]
    fn whatever_was_tried_the_rest_is_copied() {
        if !has_avx() {
            return;
        }
        for tried in [0, BRIEFLY_TRIED_BYTES, TRIED_BYTES] {
            for rest in [0, 1, REST_BYTES_MIN - 1, REST_BYTES_MIN, REST_BYTES_MIN + 1, 9_999] {
                for (shift, way) in TARGET_SHIFTS.map(|shift| WAYS.map(|way| (shift, way))).concat()
                {
                    let copy = |from: *const u8, to: *mut u8, bytes| {
                        // SAFETY: as above. The beginning counts as tried once it is there.
                        unsafe { to.copy_from_nonoverlapping(from, tried) };
                        // SAFETY: as above; S3: more than BYTES_MIN, or as many as were tried.
                        unsafe { rest_in(from, to, bytes, (way, tried)) };
                    };
                    check(copy, (tried + rest).max(BYTES_MIN), shift);
                }
            }
        }
    }
}
