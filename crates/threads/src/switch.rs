//! The switch: from one FastThread's stack to another's. Decides nothing.
//!
//! ```text
//!  saved by us       stack pointer and where to go on, in the record; rbx and rbp, on the stack
//!  told the compiler every other register is lost: it saves those it still needs, mostly none
//!  not switched      floating-point control words, thread-locals, signal mask: the processor's
//! ```
//!
//! It goes on by a jump, because a return would go where the processor's return predictor says that
//! another thread's call came from, and miss each time: 10 ns of it. A suspended thread is two
//! words and a stack; a running one is an ordinary stack for debuggers, profilers and panics. Its
//! outermost frame has return address zero, where they stop.

use std::cell::Cell;

/// Where a suspended thread goes on.
#[derive(Debug, Default)]
#[repr(C)]
pub struct Context {
    stack_pointer: Cell<usize>,
    goes_on_at: Cell<usize>,
}

/// What a thread begins with. It is told its own context, which is at the start of its record.
pub type Start = unsafe extern "C" fn(*const Context) -> !;

impl Context {
    /// Prepares a thread that begins with `start` when it is first switched to.
    ///
    /// # Safety
    ///
    /// - S1 stack: the word at `stack_pointer` and everything below it, down to the guard, is
    ///   writable and nobody's.
    /// - S2 aligned: `stack_pointer` is 8 more than a multiple of 16, as at a function's entry.
    #[inline(always)]
    pub unsafe fn prepare(&self, stack_pointer: *mut usize, start: Start) {
        // SAFETY: S1. The return address of the outermost frame, where a backtrace ends.
        unsafe { stack_pointer.write(0) };
        self.stack_pointer.set(stack_pointer as usize);
        self.goes_on_at.set(start as usize);
    }
}

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
