//! The library's `sync`, with loom's atomics, and with one row weakened when asked.

pub use modelkit::atomics::{AtomicU32, AtomicU64, AtomicUsize, UnsafeCell};
pub use modelkit::weakening::order;

/// Somebody else goes on.
pub fn pause(_turn: u32) {
    loom::thread::yield_now();
}

macro_rules! ord {
    ($row:literal, $order:ident) => {
        crate::sync::order($row, core::sync::atomic::Ordering::$order)
    };
}

pub(crate) use ord;
