//! The atomics of the words that kernel threads share, and the names of their orderings: the model
//! test compiles the same sources against loom's, and weakens one row of a table at a time.

pub use core::sync::atomic::{AtomicU32, AtomicUsize};

/// The ordering of one row of a module's table: `ord!("N1", Release)`.
macro_rules! ord {
    ($row:literal, $order:ident) => {
        core::sync::atomic::Ordering::$order
    };
}

pub(crate) use ord;
