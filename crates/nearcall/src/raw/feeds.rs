//! What stubs need that hold their ends of feeds themselves: those in C, and those that are
//! interpreted (design note 0020).

use nearcall_abi::ProcedureName;
use nearcall_core::PeerFault;

use super::client::Client;
use crate::client::awaited_feed::FeedNumbers;
use crate::client::feed_room::FeedRoom;
use crate::error::{CallError, NotExecuted};

impl Client {
    /// Room for the `count` feeds that `procedure` opens, before anything is posted.
    ///
    /// # Errors: [`crate::UsageError::TooManyFeeds`]; over a binding that is not open what a call
    /// is told there.
    pub fn feed_room(&self, procedure: u32, count: u32) -> Result<FeedRoom<'_>, CallError> {
        FeedRoom::take(self.binding().inner(), procedure, count)
    }

    /// Calls `procedure` by `open`, if there is room for what that opens.
    ///
    /// # Errors: as [`Client::feed_room`], and as `open`.
    pub fn opening<N: FeedNumbers, E: From<Box<CallError>>>(
        &self,
        procedure: u32,
        open: impl FnOnce() -> Result<N, E>,
    ) -> Result<N, E> {
        let room = self.feed_room(procedure, N::COUNT).map_err(Box::new)?;
        open().inspect(|_| room.keep())
    }

    /// So many feeds are over by what the server has said, or were not opened.
    pub fn feeds_ended(&self, count: u32) {
        self.binding().inner().feeds.end(count);
    }

    /// Tells the server that a feed is given up: it drops what makes or takes the items. Does not
    /// wait.
    pub fn give_up_feed(&self, feed: u64) {
        self.binding().inner().control.end_feed(feed);
        self.feeds_ended(1);
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

    pub(crate) fn procedure_name(&self, procedure: u32) -> ProcedureName<'static> {
        self.binding().inner().procedure_name(procedure)
    }
}
