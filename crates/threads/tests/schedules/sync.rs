//! The library's `sync`, with shuttle's atomics: every access is a place where another processor
//! may go on. The orders are those of the models (`tests/model`); here all is as if it were SeqCst.

pub use shuttle::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize};

macro_rules! ord {
    ($row:literal, $order:ident) => {
        core::sync::atomic::Ordering::$order
    };
}

pub(crate) use ord;

/// What one processor at a time may touch.
#[derive(Debug)]
pub struct UnsafeCell<T>(core::cell::UnsafeCell<T>);

impl<T> UnsafeCell<T> {
    pub fn new(value: T) -> UnsafeCell<T> {
        UnsafeCell(core::cell::UnsafeCell::new(value))
    }

    pub fn with_mut<R>(&self, look: impl FnOnce(*mut T) -> R) -> R {
        look(self.0.get())
    }
}

/// Somebody else goes on.
pub fn pause(_turn: u32) {
    shuttle::thread::yield_now();
}
