//! The moves of aarch64: NEON, which every such processor under Linux has.
//!
//! Each block reads and writes exactly the bytes it says and uses no stack.

use core::arch::asm;

use super::Way;

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
    move_1: 1, reg, "ldrb {word:w}, [{source}]", "strb {word:w}, [{target}]";
    move_2: 2, reg, "ldrh {word:w}, [{source}]", "strh {word:w}, [{target}]";
    move_4: 4, reg, "ldr {word:w}, [{source}]", "str {word:w}, [{target}]";
    move_8: 8, reg, "ldr {word:x}, [{source}]", "str {word:x}, [{target}]";
    move_16: 16, vreg, "ldr {word:q}, [{source}]", "str {word:q}, [{target}]";
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
            "ldp {low:q}, {high:q}, [{source}]",
            "stp {low:q}, {high:q}, [{target}]",
            source = in(reg) source,
            target = in(reg) target,
            low = out(vreg) _,
            high = out(vreg) _,
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
            "sub {target_last}, {bytes}, #64",
            "add {last}, {source}, {target_last}",
            "add {target_last}, {target}, {target_last}",
            "cmp {source}, {last}",
            "b.hs 3f",
            "2:",
            "ldp {a:q}, {b:q}, [{source}]",
            "ldp {c:q}, {d:q}, [{source}, #32]",
            "stp {a:q}, {b:q}, [{target}]",
            "stp {c:q}, {d:q}, [{target}, #32]",
            "add {source}, {source}, #64",
            "add {target}, {target}, #64",
            "cmp {source}, {last}",
            "b.lo 2b",
            "3:",
            "ldp {a:q}, {b:q}, [{last}]",
            "ldp {c:q}, {d:q}, [{last}, #32]",
            "stp {a:q}, {b:q}, [{target_last}]",
            "stp {c:q}, {d:q}, [{target_last}, #32]",
            source = inout(reg) source => _,
            target = inout(reg) target => _,
            bytes = in(reg) bytes,
            last = out(reg) _,
            target_last = out(reg) _,
            a = out(vreg) _,
            b = out(vreg) _,
            c = out(vreg) _,
            d = out(vreg) _,
            options(nostack),
        );
    }
}

/// There is one way: [`lines`].
///
/// # Safety
///
/// - S1 live, S2 apart, S3 large: as [`lines`].
#[inline(never)]
pub(super) unsafe fn large_in(source: *const u8, target: *mut u8, bytes: usize, way: Way) -> Way {
    // SAFETY: S1 to S3: ours.
    unsafe { lines(source, target, bytes) };
    way
}

/// There is one way: [`lines`].
///
/// # Safety
///
/// - S1 live, S2 apart, S3 large: as [`lines`].
#[inline(never)]
pub(super) unsafe fn large_out(source: *const u8, target: *mut u8, bytes: usize) {
    // SAFETY: S1 to S3: ours.
    unsafe { lines(source, target, bytes) }
}
