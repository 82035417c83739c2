//! Feeds, as their client holds them: items come and go in batches, one call a batch (design note
//! 0020).
//!
//! One batch is under way while the caller is at another. So a feed holds two batches at most, and
//! whoever is slower keeps the other waiting: the procedures of a feed reply when they have
//! consumed, or produced, a batch.

use std::fmt;
use std::ops::Deref;

use nearcall_abi::ProcedureName;
use nearcall_core::PeerFault;

use crate::batch::{Batch, Batches, Keeping};
use crate::error::CallError;
use crate::raw::{Client, Pending};

/// A call for a batch, which says whether it is the last.
type Next<'b, T, E> = Pending<'b, (Vec<T>, bool), E>;

/// Posts it.
type PostNext<'b, T, E> = fn(&'b Client, u64, u32) -> Result<Next<'b, T, E>, CallError>;

/// Posts a batch.
type PostPut<'b, T, E> =
    fn(&'b Client, u64, u32, &Batch<T>) -> Result<Pending<'b, (), E>, CallError>;

/// Ends a feed.
type End<'b, R, E> = fn(&'b Client, u64) -> Result<R, E>;

/// Items that a server sends. After an error it is over.
///
/// Dropping it tells the server, which drops what makes the items, and cancels the call for the
/// next batch, which what makes them may wait in ([`CurrentCall::is_cancelled`]); it does not wait.
///
/// [`CurrentCall::is_cancelled`]: crate::CurrentCall::is_cancelled
#[must_use = "items come when they are asked for"]
pub struct Feed<'b, T, E = CallError> {
    open: Open<&'b Client>,
    post: PostNext<'b, T, E>,
    /// The call for the next batch, or why there is none.
    ahead: Option<Result<Next<'b, T, E>, E>>,
    items: std::vec::IntoIter<T>,
}

/// Items that a server is sent. [`Sink::end`] says that there are no more; after an error it is
/// over.
///
/// Dropping it without that gives the feed up, and the batch that is under way: the server drops
/// what took the items.
#[must_use = "it is given up if it is not ended"]
pub struct Sink<'b, T, R, E = CallError> {
    open: Open<&'b Client>,
    post: PostPut<'b, T, E>,
    end: End<'b, R, E>,
    /// The batch that the server is at.
    ahead: Option<Pending<'b, (), E>>,
    batch: Batch<T>,
    /// What `post` calls.
    put: u32,
}

/// One side of an exchange that no thread has begun with: it may go to another thread, where it is
/// a [`Feed`] or a [`Sink`].
///
/// Dropping it gives that side up, and not the other.
#[must_use = "it is given up if it is not begun"]
pub struct Unbegun<'b, F> {
    open: Open<&'b Client>,
    make: fn(&'b Client, u64) -> F,
}

/// A feed that the server has open, of a client that it borrows, or has a share in.
#[derive(Debug)]
pub(super) struct Open<C: Deref<Target = Client>> {
    client: C,
    feed: u64,
    /// Of the next batch.
    number: u32,
    is_over: bool,
}

impl<'b, T, E: From<Box<CallError>>> Feed<'b, T, E> {
    /// For generated code: feed number `feed`, and what posts the call for its next batch.
    pub fn new(client: &'b Client, feed: u64, post: PostNext<'b, T, E>) -> Feed<'b, T, E> {
        let items = Vec::new().into_iter();
        Feed { open: Open::new(client, feed), post, ahead: None, items }
    }

    fn post_next(&mut self) -> Result<Next<'b, T, E>, E> {
        let Open { client, feed, .. } = self.open;
        let number = self.open.count();
        (self.post)(client, feed, number).map_err(|error| Box::new(error).into())
    }

    /// Waits for the batch that is under way, and posts for the one after it.
    fn turn_over(&mut self) -> Result<(), E> {
        let pending = self.ahead.take().unwrap_or_else(|| self.post_next());
        let pending = pending?;
        let procedure = pending.procedure_name();
        let (items, is_last) = pending.collect()?;
        self.items = self.open.turned_over(procedure, items, is_last)?;
        if !is_last {
            self.ahead = Some(self.post_next());
        }
        Ok(())
    }
}

impl<T, E: From<Box<CallError>>> Iterator for Feed<'_, T, E> {
    type Item = Result<T, E>;

    fn next(&mut self) -> Option<Result<T, E>> {
        loop {
            if let Some(item) = self.items.next() {
                return Some(Ok(item));
            }
            if self.open.is_over {
                return None;
            }
            if let Err(error) = self.turn_over() {
                self.open.give_up();
                return Some(Err(error));
            }
        }
    }
}

impl<'b, T, R, E: From<Box<CallError>>> Sink<'b, T, R, E> {
    /// For generated code: feed number `feed`, its batches, what becomes of an item, what posts a
    /// batch, and what ends the feed.
    pub fn new(
        client: &'b Client,
        feed: u64,
        Batches { procedure: put, count }: Batches,
        keeping: Keeping<T>,
        post: PostPut<'b, T, E>,
        end: End<'b, R, E>,
    ) -> Sink<'b, T, R, E> {
        let (open, batch) = (Open::new(client, feed), Batch::new(keeping, count));
        Sink { open, post, end, ahead: None, batch, put }
    }

    /// Sends an item, with others: at once only if a batch is full, and then it waits until the
    /// server has taken the batch before.
    ///
    /// # Errors: [`crate::UsageError`] for an item that the interface forbids, which is not sent;
    /// the feed goes on. What the server raised about an item before; the feed is over. After that,
    /// [`crate::NotExecuted::FeedOver`].
    pub fn put(&mut self, item: T) -> Result<(), E> {
        self.expect_open()?;
        self.batch.put(item).map_err(|refused| E::from(Box::new(CallError::Usage(refused))))?;
        if !self.batch.is_full() {
            return Ok(());
        }
        self.flush()
    }

    /// Whether it takes no more items: an error that was no item's own has said so.
    pub fn is_over(&self) -> bool {
        self.open.is_over
    }

    /// Sends what there is.
    ///
    /// # Errors: as [`Sink::put`], of no item of its own.
    pub fn flush(&mut self) -> Result<(), E> {
        self.expect_open()?;
        let flushed = self.settle().and_then(|()| self.post_items());
        flushed.inspect_err(|_| {
            self.open.give_up();
            self.batch.clear();
        })
    }

    fn expect_open(&self) -> Result<(), E> {
        if !self.open.is_over {
            return Ok(());
        }
        Err(Box::new(self.open.client.feed_over(self.put)).into())
    }

    /// Says that there are no more items, and waits for what the server makes of them.
    ///
    /// # Errors: as [`Sink::flush`].
    pub fn end(mut self) -> Result<R, E> {
        self.flush()?;
        let settled = self.settle();
        settled.inspect_err(|_| self.open.give_up())?;
        let Open { client, feed, .. } = self.open;
        (self.end)(client, feed).inspect(|_| self.open.note_end())
    }

    fn settle(&mut self) -> Result<(), E> {
        self.ahead.take().map_or(Ok(()), Pending::collect)
    }

    fn post_items(&mut self) -> Result<(), E> {
        if self.batch.is_empty() {
            return Ok(());
        }
        let Open { client, feed, .. } = self.open;
        let number = self.open.count();
        let posted = (self.post)(client, feed, number, &self.batch);
        self.batch.clear();
        let posted = posted.map_err(|error| E::from(Box::new(error)))?;
        self.ahead = Some(posted);
        Ok(())
    }
}

impl<'b, F> Unbegun<'b, F> {
    /// For generated code: feed number `feed`, and what makes it this thread's.
    pub fn new(client: &'b Client, feed: u64, make: fn(&'b Client, u64) -> F) -> Unbegun<'b, F> {
        Unbegun { open: Open::new(client, feed), make }
    }

    /// This thread's from here on.
    pub fn begin(mut self) -> F {
        let Open { client, feed, .. } = self.open;
        // What is made gives it up from here on.
        self.open.is_over = true;
        (self.make)(client, feed)
    }
}

impl<C: Deref<Target = Client>> Open<C> {
    pub(super) fn new(client: C, feed: u64) -> Open<C> {
        Open { client, feed, number: 0, is_over: false }
    }

    /// Whose it is, and its number there.
    pub(super) fn client(&self) -> (&C, u64) {
        (&self.client, self.feed)
    }

    /// Number of the next batch.
    pub(super) fn count(&mut self) -> u32 {
        let number = self.number;
        self.number = number.wrapping_add(1);
        number
    }

    /// There is nothing to be told to the server.
    pub(super) fn is_over(&self) -> bool {
        self.is_over
    }

    /// The server has said so itself.
    pub(super) fn note_end(&mut self) {
        self.is_over = true;
        self.client.feeds_ended(1);
    }

    /// The items of a batch that `procedure` has sent.
    pub(super) fn turned_over<T, E: From<Box<CallError>>>(
        &mut self,
        procedure: ProcedureName<'static>,
        items: Vec<T>,
        is_last: bool,
    ) -> Result<std::vec::IntoIter<T>, E> {
        if items.is_empty() && !is_last {
            // Whoever asks for an item would wait for ever, whatever its deadline.
            let fault = PeerFault::Length { claimed: 0, limit: 1 };
            let fault = self.client.binding().inner().fault(procedure, fault);
            return Err(Box::new(fault).into());
        }
        if is_last {
            self.note_end();
        }
        Ok(items.into_iter())
    }

    /// Tells the server, once.
    pub(super) fn give_up(&mut self) {
        if !std::mem::replace(&mut self.is_over, true) {
            self.client.give_up_feed(self.feed);
        }
    }
}

impl<C: Deref<Target = Client>> Drop for Open<C> {
    fn drop(&mut self) {
        self.give_up();
    }
}

/// The call for a batch is given up with the feed: what makes the items may wait in it, and learns
/// only from its call that nobody wants them.
fn give_up_batch<T, E>(ahead: Option<Pending<'_, T, E>>) {
    if let Some(batch) = ahead {
        batch.cancel();
    }
}

impl<T, E> Drop for Feed<'_, T, E> {
    fn drop(&mut self) {
        give_up_batch(self.ahead.take().and_then(Result::ok));
    }
}

impl<T, R, E> Drop for Sink<'_, T, R, E> {
    fn drop(&mut self) {
        give_up_batch(self.ahead.take());
    }
}

impl<F> fmt::Debug for Unbegun<'_, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Unbegun").field("feed", &self.open.feed).finish_non_exhaustive()
    }
}

impl<T, E> fmt::Debug for Feed<'_, T, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Feed").field("feed", &self.open.feed).finish_non_exhaustive()
    }
}

impl<T, R, E> fmt::Debug for Sink<'_, T, R, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sink").field("feed", &self.open.feed).finish_non_exhaustive()
    }
}
