//! The atomics of the words that kernel threads share, and the names of their orderings: the model
//! test compiles the same sources against loom's, and weakens one row of a table at a time.

use std::hint::spin_loop;
use std::thread::yield_now;

pub use core::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize};

/// Turns of a wait for another processor's few instructions before the kernel is asked to run it.
const TURNS_MAX: u32 = 64;

/// One turn of such a wait.
#[cold]
pub fn pause(turn: u32) {
    if turn < TURNS_MAX { spin_loop() } else { yield_now() }
}

/// What one kernel thread at a time may touch.
#[derive(Debug)]
pub struct UnsafeCell<T>(core::cell::UnsafeCell<T>);

impl<T> UnsafeCell<T> {
    pub fn new(value: T) -> UnsafeCell<T> {
        UnsafeCell(core::cell::UnsafeCell::new(value))
    }

    /// Shows it to `look`, which may write to it if nobody else touches it meanwhile.
    #[inline(always)]
    pub fn with_mut<R>(&self, look: impl FnOnce(*mut T) -> R) -> R {
        look(self.0.get())
    }
}

/// The ordering of one row of a module's table: `ord!("N1", Release)`.
macro_rules! ord {
    ($row:literal, $order:ident) => {
        core::sync::atomic::Ordering::$order
    };
}

pub(crate) use ord;
