//! The atomics that the protocol is written in, and the names of its orderings.
//!
//! The model test compiles the same sources against a `sync` of its own, in which the atomics are
//! loom's and `ord!` weakens one row of a table to `Relaxed` at a time. That is why no other module
//! of this crate names an ordering except through `ord!`.

pub use core::sync::atomic::{AtomicU32, AtomicU64};

/// The ordering of one row of a module's table: `ord!("O1", Release)`.
macro_rules! ord {
    ($row:literal, $order:ident) => {
        core::sync::atomic::Ordering::$order
    };
}

pub(crate) use ord;

/// One half of an asymmetric fence: keeps the compiler from moving accesses across. Its other half
/// is a fence on every processor of the domain, which the runtime has the kernel make. The model
/// has a full fence here.
#[inline(always)]
pub fn light_fence() {
    // SeqCst: the strongest; the compiler's alone.
    core::sync::atomic::compiler_fence(core::sync::atomic::Ordering::SeqCst);
}
