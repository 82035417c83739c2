//! `raw-yield`: two processes on one processor that alternate by giving it to each other. No call
//! between two processes on one processor can be faster without the kernel's help.

use nearcall_abi::AStackHead;
use nearcall_os::processor;

use super::line::Load;
use super::peer::Wait;

/// The bound's name.
pub const NAME: &str = "raw-yield";

/// Load, yield.
pub struct Yield;

impl Wait for Yield {
    const NUMBER: u64 = 3;
    const POLLS_MAX: u32 = 1 << 24;

    #[inline]
    fn look(head: &AStackHead) -> u32 {
        Load::look(head)
    }

    #[inline]
    fn between() {
        processor::yield_now();
    }
}
