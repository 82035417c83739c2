//! Telling a server of a post: in the tally that it polls, or by its bell (design notes 0003 and
//! 0007). Where it polls the A-stack's head, there is nothing to do.

use nearcall_abi::RequestLine;
use nearcall_core::{Mode, tally};

#[cfg(all(test, feature = "threads"))]
mod tests;

use super::Grip;
use crate::client::bell::Rung;
use crate::client::switching;

impl Grip<'_> {
    /// Tells the server of a call that was posted on it from `processor`, as the post found that it
    /// watches the A-stack.
    #[inline]
    pub fn tell(self, mode: Mode, processor: u32) {
        if mode != Mode::Tally || !self.tally() {
            self.ring(processor);
        }
    }

    /// The same for a call that this thread is about to wait for.
    #[inline]
    pub fn tell_in_time(self, mode: Mode, processor: u32) {
        if mode != Mode::Tally || !self.tally() {
            self.ring_in_time(processor);
        }
    }

    /// Notes the post in the tally of its class. False: it is kept for no thread, and there is no
    /// bit that is ours to write.
    #[inline]
    fn tally(self) -> bool {
        let linkage = self.linkage();
        let bit = linkage.kept();
        if bit != 0 {
            let first = self.binding.astack(self.binding.bias(linkage).first());
            tally::note(&first.own_line::<RequestLine>().tally, bit, linkage.sequence());
        }
        bit != 0
    }

    /// The same as [`Grip::ring`], for a call that this thread is about to wait for.
    #[cold]
    #[inline(never)]
    fn ring_in_time(self, processor: u32) {
        if !switching::put_off(self, processor) {
            self.ring(processor);
        }
    }

    /// Rings for a call that was posted on it from `processor`.
    #[cold]
    #[inline(never)]
    pub fn ring(self, processor: u32) {
        let linkage = self.linkage();
        match self.binding.ring() {
            // Whoever waits for the reply gives the processor away at once.
            Rung::Here => linkage.set_server_processor(processor),
            // It will run here again, and not before we let it.
            Rung::Elsewhere if linkage.server_processor() == processor => {}
            // The bell is to get there, and the server to begin to look: polls of the reply would
            // take the line away that it looks at.
            Rung::Elsewhere => (0..2).for_each(|_| linkage.until_reply().pass()),
        }
    }
}
