//! What stubs need that hold their ends of feeds themselves: those in C, and those that are
//! interpreted (design note 0020).

use nearcall_abi::ProcedureName;
use nearcall_core::PeerFault;

use super::client::Client;
use crate::error::{CallError, NotExecuted};

impl Client {
    /// Tells the server that a feed is given up: it drops what makes or takes the items. Does not
    /// wait.
    pub fn give_up_feed(&self, feed: u64) {
        self.binding().inner().control.end_feed(feed);
    }

    /// What a batch of nothing that is not the last makes of the binding, which is revoked: whoever
    /// asked for an item would wait for ever.
    pub fn empty_batch(&self, procedure: u32) -> CallError {
        let fault = PeerFault::Length { claimed: 0, limit: 1 };
        self.binding().inner().fault(self.procedure_name(procedure), fault)
    }

    /// What an item is told that comes after a feed is over.
    pub fn feed_over(&self, procedure: u32) -> CallError {
        let (procedure, reason) = (self.procedure_name(procedure), NotExecuted::FeedOver);
        CallError::NotExecuted { procedure, reason }
    }

    fn procedure_name(&self, procedure: u32) -> ProcedureName<'static> {
        self.binding().inner().procedure_name(procedure)
    }
}
