//! The moves of x86_64: SSE2, which every such processor has, AVX where it is there, and `rep
//! movsb` where it is fast.
//!
//! Each block reads and writes exactly the bytes it says, leaves the flags that it says, and uses
//! no stack. The direction flag is clear, as the calling convention promises.

use core::arch::asm;
use core::arch::x86_64::{__cpuid, CpuidResult};
use std::sync::atomic::AtomicU8;
// Relaxed: whoever finds it out finds the same.
use std::sync::atomic::Ordering::Relaxed;

use super::Way;
use crate::processor::{prefetch_read_at, prefetch_write_at};

mod past;

/// From here on `rep movsb` costs no more than the loop.
const STRING_BYTES_MIN: usize = 1280;

const PAGE_BYTES: usize = 4096;

/// From here on registers of 32 bytes gain something.
const WIDE_BYTES_MIN: usize = 512;

/// Up to here all lines are asked for at once: the first cache has room for them and their copy.
const ASKED_BYTES_MAX: usize = 8 << 10;

/// Whether lines that another processor has read since they were written come sooner if they are
/// asked for in a state to be written than by `rep movsb`: Intel's with AVX. On AMD's processors
/// that makes no difference near, and between far ones of Zen 5 `rep movsb` takes a third of the
/// loop's time.
fn asks_to_write() -> bool {
    /// What was found, plus one. No lock, which a child of fork(2) could find taken.
    static FOUND: AtomicU8 = AtomicU8::new(0);
    match FOUND.load(Relaxed) {
        0 => {
            let found = std::arch::is_x86_feature_detected!("avx") && is_intels();
            FOUND.store(1 + u8::from(found), Relaxed);
            found
        }
        known => known == 2,
    }
}

#[cold]
fn is_intels() -> bool {
    // To older compilers it is an unsafe function, to newer ones a safe one.
    let cpuid: unsafe fn(u32) -> CpuidResult = __cpuid;
    // SAFETY: every processor of x86_64 has the instruction.
    let leaf = unsafe { cpuid(0) };
    [leaf.ebx, leaf.edx, leaf.ecx].map(u32::to_le_bytes).as_flattened() == b"GenuineIntel"
}

macro_rules! moves {
    ($($name:ident: $bytes:literal, $class:ident, $load:literal, $store:literal;)*) => {$(
        /// # Safety
        ///
        #[doc = concat!("- S1 live: ", $bytes, " bytes are readable at `source` and")]
        ///   writable at `target`.
        /// - S2 apart: the ranges do not overlap.
        #[inline(always)]
        pub(super) unsafe fn $name(source: *const u8, target: *mut u8) {
            // SAFETY: reads and writes the bytes of S1, through one register.
            unsafe {
                asm!(
                    $load,
                    $store,
                    source = in(reg) source,
                    target = in(reg) target,
                    word = out($class) _,
                    options(nostack, preserves_flags),
                );
            }
        }
    )*};
}

moves! {
    move_1: 1, reg_byte, "mov {word}, byte ptr [{source}]", "mov byte ptr [{target}], {word}";
    move_2: 2, reg, "movzx {word:e}, word ptr [{source}]", "mov word ptr [{target}], {word:x}";
    move_4: 4, reg, "mov {word:e}, dword ptr [{source}]", "mov dword ptr [{target}], {word:e}";
    move_8: 8, reg, "mov {word}, qword ptr [{source}]", "mov qword ptr [{target}], {word}";
    move_16: 16, xmm_reg, "movups {word}, [{source}]", "movups [{target}], {word}";
}

/// # Safety
///
/// - S1 live: 32 bytes are readable at `source`, writable at `target`.
/// - S2 apart: the ranges do not overlap.
#[inline(always)]
pub(super) unsafe fn move_32(source: *const u8, target: *mut u8) {
    // SAFETY: reads and writes the bytes of S1, through two registers.
    unsafe {
        asm!(
            "movups {low}, [{source}]",
            "movups {high}, [{source} + 16]",
            "movups [{target}], {low}",
            "movups [{target} + 16], {high}",
            source = in(reg) source,
            target = in(reg) target,
            low = out(xmm_reg) _,
            high = out(xmm_reg) _,
            options(nostack, preserves_flags),
        );
    }
}

/// # Safety
///
/// - S1 live: `bytes` bytes are readable at `source` and writable at `target`.
/// - S2 apart: the ranges do not overlap.
/// - S3 large: `bytes` is at least 64.
#[inline(never)]
pub(super) unsafe fn large_in(source: *const u8, target: *mut u8, bytes: usize, way: Way) -> Way {
    if bytes >= past::BYTES_MIN && std::arch::is_x86_feature_detected!("avx") {
        // SAFETY: S1, S2: ours; S3, S4: just asked.
        return unsafe { past::copy_in(source, target, bytes, way) };
    }
    // SAFETY: S1 to S3: ours.
    unsafe { cached_in(source, target, bytes) };
    way
}

/// # Safety
///
/// - S1 live: `bytes` bytes are readable at `source` and writable at `target`.
/// - S2 apart: the ranges do not overlap.
/// - S3 large: `bytes` is at least 64.
#[inline]
unsafe fn cached_in(source: *const u8, target: *mut u8, bytes: usize) {
    if bytes < STRING_BYTES_MIN {
        // SAFETY: S1 to S3: ours.
        return unsafe { by_loop(source, target, bytes) };
    }
    if bytes <= ASKED_BYTES_MAX && asks_to_write() {
        ask(target, bytes, prefetch_write_at);
        // SAFETY: S1 to S3: ours.
        return unsafe { by_loop(source, target, bytes) };
    }
    if !is_trapped(source, target) && std::arch::is_x86_feature_detected!("ermsb") {
        // SAFETY: S1 to S3: ours.
        unsafe { string(source, target, bytes) }
    } else {
        // SAFETY: S1 to S3: ours.
        unsafe { by_loop(source, target, bytes) }
    }
}

/// Has the lines of so many bytes come, all at once; not the last one, if `first` is inside of one
/// and they end before that in theirs.
#[inline(always)]
fn ask(first: *const u8, bytes: usize, ask_for: impl Fn(*const u8)) {
    for at in (0..bytes).step_by(64) {
        ask_for(first.wrapping_add(at));
    }
}

/// Is this where `rep movsb` is slow? See the note on its trap (`copy.rs`).
#[inline]
fn is_trapped(source: *const u8, target: *mut u8) -> bool {
    let further = (target as usize).wrapping_sub(source as usize) % PAGE_BYTES;
    (1..32).contains(&further)
}

/// # Safety
///
/// - S1 live: `bytes` bytes are readable at `source` and writable at `target`.
/// - S2 apart: the ranges do not overlap.
/// - S3 large: `bytes` is at least 64.
#[inline(never)]
pub(super) unsafe fn large_out(source: *const u8, target: *mut u8, bytes: usize) {
    if (WIDE_BYTES_MIN..=ASKED_BYTES_MAX).contains(&bytes) {
        ask(source, bytes, prefetch_read_at);
    }
    // SAFETY: S1 to S3: ours.
    unsafe { by_loop(source, target, bytes) }
}

/// # Safety
///
/// - S1 live: `bytes` bytes are readable at `source` and writable at `target`.
/// - S2 apart: the ranges do not overlap.
/// - S3 large: `bytes` is at least 64.
#[inline]
unsafe fn by_loop(source: *const u8, target: *mut u8, bytes: usize) {
    if bytes >= WIDE_BYTES_MIN && std::arch::is_x86_feature_detected!("avx") {
        // SAFETY: S1 to S3: ours; S4: just asked.
        unsafe { wide_lines(source, target, bytes) }
    } else {
        // SAFETY: S1 to S3: ours.
        unsafe { lines(source, target, bytes) }
    }
}

/// The first 64 bytes by moves, so that the string may begin at a line of the target.
///
/// # Safety
///
/// - S1 live: `bytes` bytes are readable at `source` and writable at `target`.
/// - S2 apart: the ranges do not overlap.
/// - S3 large: `bytes` is at least 64.
#[inline]
unsafe fn string(source: *const u8, target: *mut u8, bytes: usize) {
    // SAFETY: S1, S2: ours, for 64 bytes, which S3 promises.
    unsafe { lines(source, target, 64) };
    let moved = (target as usize).wrapping_neg() % 64;
    // SAFETY: `moved` is below 64, so inside by S3.
    let source = unsafe { source.add(moved) };
    // SAFETY: as above.
    let target = unsafe { target.add(moved) };
    // SAFETY: reads and writes the bytes of S1 past `moved`, upwards.
    unsafe {
        asm!(
            "rep movsb",
            inout("rsi") source => _,
            inout("rdi") target => _,
            inout("rcx") bytes - moved => _,
            options(nostack, preserves_flags),
        );
    }
}

/// 64 bytes a round, then the last 64, which overlap what the rounds have copied.
///
/// # Safety
///
/// - S1 live: `bytes` bytes are readable at `source` and writable at `target`.
/// - S2 apart: the ranges do not overlap.
/// - S3 large: `bytes` is at least 64.
#[inline]
pub(super) unsafe fn lines(source: *const u8, target: *mut u8, bytes: usize) {
    // SAFETY: `last` is the first of the last 64 bytes, inside by S3. A round begins below it and
    // ends below it plus 64, so that all accesses lie within S1.
    unsafe {
        asm!(
            "lea {last}, [{source} + {bytes} - 64]",
            "lea {target_last}, [{target} + {bytes} - 64]",
            "cmp {source}, {last}",
            "jae 3f",
            "2:",
            "movups {a}, [{source}]",
            "movups {b}, [{source} + 16]",
            "movups {c}, [{source} + 32]",
            "movups {d}, [{source} + 48]",
            "movups [{target}], {a}",
            "movups [{target} + 16], {b}",
            "movups [{target} + 32], {c}",
            "movups [{target} + 48], {d}",
            "add {source}, 64",
            "add {target}, 64",
            "cmp {source}, {last}",
            "jb 2b",
            "3:",
            "movups {a}, [{last}]",
            "movups {b}, [{last} + 16]",
            "movups {c}, [{last} + 32]",
            "movups {d}, [{last} + 48]",
            "movups [{target_last}], {a}",
            "movups [{target_last} + 16], {b}",
            "movups [{target_last} + 32], {c}",
            "movups [{target_last} + 48], {d}",
            source = inout(reg) source => _,
            target = inout(reg) target => _,
            bytes = in(reg) bytes,
            last = out(reg) _,
            target_last = out(reg) _,
            a = out(xmm_reg) _,
            b = out(xmm_reg) _,
            c = out(xmm_reg) _,
            d = out(xmm_reg) _,
            options(nostack),
        );
    }
}

/// How far ahead [`wide_lines`] asks for lines.
const AHEAD_BYTES: usize = 512;

/// [`lines`] by registers of 32 bytes, two loads a line instead of four, so that more lines are
/// under way at once; those ahead are asked for, and none past the end, which may be another
/// message's.
///
/// # Safety
///
/// - S1 live: `bytes` bytes are readable at `source` and writable at `target`.
/// - S2 apart: the ranges do not overlap.
/// - S3 large: `bytes` is at least 64.
/// - S4 the processor has AVX, and the kernel keeps its registers.
#[inline]
pub(super) unsafe fn wide_lines(source: *const u8, target: *mut u8, bytes: usize) {
    // SAFETY: accesses as in `lines`. By S4 the instructions are there; the registers are named as
    // what the compiler knows of them without AVX, whose upper halves it has no use for, and
    // `vzeroupper` leaves those as it found them.
    unsafe {
        asm!(
            "lea {last}, [{source} + {bytes} - 64]",
            "lea {target_last}, [{target} + {bytes} - 64]",
            "cmp {source}, {last}",
            "jae 4f",
            "2:",
            "lea {asked}, [{source} + {ahead}]",
            "cmp {asked}, {last}",
            "ja 3f",
            "prefetcht0 byte ptr [{asked}]",
            "3:",
            "vmovups ymm0, [{source}]",
            "vmovups ymm1, [{source} + 32]",
            "vmovups [{target}], ymm0",
            "vmovups [{target} + 32], ymm1",
            "add {source}, 64",
            "add {target}, 64",
            "cmp {source}, {last}",
            "jb 2b",
            "4:",
            "vmovups ymm0, [{last}]",
            "vmovups ymm1, [{last} + 32]",
            "vmovups [{target_last}], ymm0",
            "vmovups [{target_last} + 32], ymm1",
            "vzeroupper",
            source = inout(reg) source => _,
            target = inout(reg) target => _,
            bytes = in(reg) bytes,
            last = out(reg) _,
            target_last = out(reg) _,
            asked = out(reg) _,
            ahead = const AHEAD_BYTES,
            // `vzeroupper` clears the upper half of each of them, which nobody else uses where
            // AVX is no feature of the target, and where it is their users expect to be lost.
            out("xmm0") _, out("xmm1") _, out("xmm2") _, out("xmm3") _,
            out("xmm4") _, out("xmm5") _, out("xmm6") _, out("xmm7") _,
            out("xmm8") _, out("xmm9") _, out("xmm10") _, out("xmm11") _,
            out("xmm12") _, out("xmm13") _, out("xmm14") _, out("xmm15") _,
            options(nostack),
        );
    }
}
