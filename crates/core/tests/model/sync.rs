//! The library's `sync`, with loom's atomics, and with one row weakened when asked.

pub use modelkit::atomics::{AtomicU32, AtomicU64};
pub use modelkit::weakening::order;

macro_rules! ord {
    ($row:literal, $order:ident) => {
        crate::sync::order($row, core::sync::atomic::Ordering::$order)
    };
}

pub(crate) use ord;

/// The library's half of an asymmetric fence, as strong as it is together with the other half.
pub fn light_fence() {
    loom::sync::atomic::fence(core::sync::atomic::Ordering::SeqCst);
}
