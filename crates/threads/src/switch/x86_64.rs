//! The switch on x86-64.

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
    // chain of frames in rbp. S2 and S3 are the caller's.
    unsafe {
        core::arch::asm!(
            "push rbp",
            "push rbx",
            "lea rax, [rip + 2f]",
            "mov [rsi], rsp",
            "mov [rsi + 8], rax",
            "mov rsp, [rdi]",
            "xor ebp, ebp",
            "jmp [rdi + 8]",
            "2:",
            "pop rbx",
            "pop rbp",
            inout("rdi") to => _,
            inout("rsi") from => _,
            out("r12") _,
            out("r13") _,
            out("r14") _,
            out("r15") _,
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
            "mov rsp, [rdi]",
            "xor ebp, ebp",
            "jmp [rdi + 8]",
            in("rdi") to,
            options(noreturn),
        );
    }
}
