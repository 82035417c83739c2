//! The library's `sync`, with shuttle's atomics: every access is a place where another thread may
//! go on. The orders are those of the models (`tests/model`); here all is as if it were SeqCst.

pub use shuttle::sync::atomic::{AtomicU32, AtomicU64};

macro_rules! ord {
    ($row:literal, $order:ident) => {
        core::sync::atomic::Ordering::$order
    };
}

pub(crate) use ord;

/// Nothing is reordered here.
pub fn light_fence() {}
