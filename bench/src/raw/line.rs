//! `raw-1line`: one cache line that two processors write in turn, each spinning for the other, and
//! by turns one of several (`peer.rs`). No call between two processors that spin can be faster.
//!
//! Which way of polling is faster depends on where the processors are: loads where they share a
//! cache, `prefetchw` where they do not, because it fetches the line once instead of twice. The
//! bound is the better of the two.

use std::sync::atomic::Ordering;

use nearcall_abi::AStackHead;
use nearcall_os::processor;

use super::peer::Wait;

/// The bound's name.
pub const NAME: &str = "raw-1line";

/// Load, pause.
pub struct Load;

/// Prefetch for writing, load, pause.
pub struct Prefetch;

impl Wait for Load {
    const NUMBER: u64 = 1;
    const POLLS_MAX: u32 = 1 << 28;

    #[inline]
    fn look(head: &AStackHead) -> u32 {
        // Relaxed: the word stands for itself.
        head.turn.load(Ordering::Relaxed)
    }

    #[inline]
    fn between() {
        processor::relax();
    }
}

impl Wait for Prefetch {
    const NUMBER: u64 = 2;
    const POLLS_MAX: u32 = Load::POLLS_MAX;

    #[inline]
    fn look(head: &AStackHead) -> u32 {
        processor::prefetch_write(head);
        Load::look(head)
    }

    #[inline]
    fn between() {
        processor::relax();
    }
}
