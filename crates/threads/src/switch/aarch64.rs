//! The switch on aarch64. Was run by the tests under an emulator (qemu), and on no machine yet.

use super::Context;

/// Suspends the caller in `from` and goes on in `to`; comes back when somebody switches to `from`.
///
/// # Safety
///
/// - S1 suspended: `to` was prepared, or suspended by this function, and not gone on with since.
/// - S2 ours: `from` is of the running thread, and nobody goes on with it before this jumps.
/// - S3 processor: both belong to this kernel thread for good, so that what the compiler knows of
///   its thread-locals stays true.
#[inline(always)]
pub unsafe fn switch(from: &Context, to: &Context) {
    // SAFETY: what is pushed is popped when somebody jumps to the label, on the same stack; all
    // other registers are declared lost. A prepared thread pops nothing and finds the end of a
    // chain of frames in x29 and x30. S2 and S3 are the caller's.
    unsafe {
        core::arch::asm!(
            "stp x19, x29, [sp, #-16]!",
            "adr x9, 2f",
            "mov x10, sp",
            "stp x10, x9, [x1]",
            "ldp x10, x9, [x0]",
            "mov sp, x10",
            "mov x29, xzr",
            "mov x30, xzr",
            "br x9",
            "2:",
            "ldp x19, x29, [sp], #16",
            inout("x0") to => _,
            inout("x1") from => _,
            out("x20") _,
            out("x21") _,
            out("x22") _,
            out("x23") _,
            out("x24") _,
            out("x25") _,
            out("x26") _,
            out("x27") _,
            out("x28") _,
            out("v8") _,
            out("v9") _,
            out("v10") _,
            out("v11") _,
            out("v12") _,
            out("v13") _,
            out("v14") _,
            out("v15") _,
            clobber_abi("C"),
        );
    }
}

/// Goes on in `to` and leaves nothing to come back to.
///
/// # Safety
///
/// S1 and S3 of [`switch`]; and the caller's frames are never used again.
#[inline(always)]
pub unsafe fn leave(to: &Context) -> ! {
    // SAFETY: as in `switch`; nothing is saved, because nobody comes back.
    unsafe {
        core::arch::asm!(
            "ldp x10, x9, [x0]",
            "mov sp, x10",
            "mov x29, xzr",
            "mov x30, xzr",
            "br x9",
            in("x0") to,
            options(noreturn),
        );
    }
}
