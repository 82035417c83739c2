//! The switch: from one FastThread's stack to another's. Decides nothing.
//!
//! ```text
//!  saved by us       stack pointer and where to go on, in the record; two registers that the
//!                    compiler keeps for itself, on the stack
//!  told the compiler every other register is lost: it saves those it still needs, mostly none
//!  not switched      floating-point control words, thread-locals, signal mask: the processor's
//! ```
//!
//! It goes on by a jump, because a return would go where the processor's return predictor says that
//! another thread's call came from, and miss each time: 10 ns of it. A suspended thread is two
//! words and a stack; a running one is an ordinary stack for debuggers, profilers and panics. Its
//! outermost frame has return address zero, where they stop.

use std::cell::Cell;

// With their paths, because the schedules (`tests/schedules`) have this file as a module, too.
#[cfg(target_arch = "aarch64")]
#[path = "switch/aarch64.rs"]
mod aarch64;
#[cfg(target_arch = "x86_64")]
#[path = "switch/x86_64.rs"]
mod x86_64;

#[cfg(target_arch = "aarch64")]
pub use aarch64::{leave, switch};
#[cfg(target_arch = "x86_64")]
pub use x86_64::{leave, switch};

/// Above the outermost return address, where a function's stack pointer is when it begins: there
/// the caller has pushed that address, or there is none.
const BEGINS_ABOVE_BYTES: usize = if cfg!(target_arch = "x86_64") { 0 } else { 8 };

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
        self.stack_pointer.set(stack_pointer as usize + BEGINS_ABOVE_BYTES);
        self.goes_on_at.set(start as usize);
    }
}
