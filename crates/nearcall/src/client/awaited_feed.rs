//! Feeds whose items are awaited (design notes 0020 and 0022).
//!
//! As the feeds of `feed.rs`, in the same batches; but what is under way is a future, and who waits
//! for it lets other tasks run. So they do not belong to a thread, and go where their task goes.
//! They borrow nothing: see `awaited_batch.rs`.
//!
//! ```text
//!   Feed   ask ──▶ posting ──▶ under way ──▶ items ──▶ ask …      one batch ahead of the reader
//!   Sink   items ──▶ posting ──▶ under way ──▶ settled            one batch ahead of the server
//! ```
//!
//! A batch that is ahead of its task keeps an A-stack for as long as the task pleases, but never
//! the last one of its class: see `lead.rs`.

use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use super::awaited_batch::{Ahead, BatchCall, FeedClient};
use super::feed::Open;
use super::feed_room::FeedRoom;
use super::lead::Lead;
use crate::batch::{Batch, Batches, Keeping};
use crate::error::CallError;
use crate::raw::{Awaiting, Client};

/// Makes the call for a batch, which says whether it is the last.
type CallNext<T, E> = fn(FeedClient, u64, u32) -> BatchCall<(Vec<T>, bool), E>;

/// Makes the call that brings a batch.
type CallPut<T, E> = fn(FeedClient, u64, u32, Batch<T>) -> BatchCall<(), E>;

/// Makes the call that ends a feed.
type CallEnd<R, E> = fn(FeedClient, u64) -> BatchCall<R, E>;

/// Items that a server sends, which are awaited. After an error it is over.
///
/// Dropping it tells the server, which drops what makes the items; it does not wait. Dropping what
/// [`AwaitedFeed::next`] returns loses no item.
///
/// It has a share in its client, and borrows nothing: it may be returned, kept and given to a task.
///
/// Whoever wants a `Stream`: `futures::stream::poll_fn(move |context| feed.poll_next(context))`.
///
/// ```
/// use std::future::Future;
///
/// fn items(mut feed: nearcall::AwaitedFeed<u32>) -> impl Future + Send + 'static {
///     async move { while let Some(Ok(_item)) = feed.next().await {} }
/// }
/// ```
#[must_use = "items come when they are asked for"]
pub struct AwaitedFeed<T, E = CallError> {
    open: Open<FeedClient>,
    call: CallNext<T, E>,
    /// What `call` calls.
    next: u32,
    ahead: Ahead<(Vec<T>, bool), E>,
    lead: Option<Lead<FeedClient>>,
    items: std::vec::IntoIter<T>,
}

/// Items that a server is sent by a task. [`AwaitedSink::end`] says that there are no more; after
/// an error it is over.
///
/// Dropping it without that gives the feed up: the server drops what took the items.
///
/// It has a share in its client, as an [`AwaitedFeed`] has.
///
/// ```
/// use std::future::Future;
///
/// fn sum(mut sink: nearcall::AwaitedSink<u32, u64>) -> impl Future + Send + 'static {
///     async move {
///         sink.put(7).await?;
///         sink.end().await
///     }
/// }
/// ```
#[must_use = "it is given up if it is not ended"]
pub struct AwaitedSink<T, R, E = CallError> {
    open: Open<FeedClient>,
    call: CallPut<T, E>,
    end: CallEnd<R, E>,
    /// The batch that the server is at.
    ahead: Ahead<(), E>,
    lead: Option<Lead<FeedClient>>,
    batch: Batch<T>,
    /// What `call` calls.
    put: u32,
}

impl<T, E: From<Box<CallError>>> AwaitedFeed<T, E> {
    /// For generated code: feed number `feed`, and what calls procedure `next` for a batch.
    pub fn new(client: &Client, feed: u64, next: u32, call: CallNext<T, E>) -> AwaitedFeed<T, E> {
        let open = Open::new(FeedClient::new(client), feed);
        let items = Vec::new().into_iter();
        AwaitedFeed { open, call, next, ahead: Ahead::Nothing, lead: None, items }
    }

    /// The next item; `None`: there is no more.
    ///
    /// # Errors: as those of a call, and what the server raises behind its items.
    ///
    /// # Cost: a call a batch, made while the batch before is read, with two allocations.
    pub async fn next(&mut self) -> Option<Result<T, E>> {
        poll_fn(|context| self.poll_next(context)).await
    }

    /// The same for who polls by hand.
    pub fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<T, E>>> {
        loop {
            if let Some(item) = self.items.next() {
                return Poll::Ready(Some(Ok(item)));
            }
            if self.open.is_over() {
                return Poll::Ready(None);
            }
            if let Err(error) = ready!(self.poll_turn_over(context)) {
                self.open.give_up();
                return Poll::Ready(Some(Err(error)));
            }
        }
    }

    /// Waits for the batch that is under way, and asks for the one after it.
    fn poll_turn_over(&mut self, context: &mut Context<'_>) -> Poll<Result<(), E>> {
        if let Ahead::Nothing = self.ahead {
            self.ask();
        }
        let (client, _) = self.open.client();
        let Some(batch) = ready!(self.ahead.poll_ended(client, context)) else {
            return Poll::Ready(Ok(()));
        };
        self.lead = None;
        let (items, is_last) = batch?;
        let procedure = client.procedure_name(self.next);
        self.items = self.open.turned_over(procedure, items, is_last)?;
        let (client, _) = self.open.client();
        if !is_last {
            self.lead = client.lead();
        }
        if self.lead.is_some() {
            self.ask();
            let (client, _) = self.open.client();
            // It is posted now if there is an A-stack; who waits for one is polled for it later.
            let _ = self.ahead.poll_begun(client, context);
        }
        Poll::Ready(Ok(()))
    }

    fn ask(&mut self) {
        let number = self.open.count();
        let (client, feed) = self.open.client();
        self.ahead = Ahead::called(client, |client| (self.call)(client, feed, number));
    }
}

impl<T, R, E: From<Box<CallError>>> AwaitedSink<T, R, E> {
    /// For generated code: feed number `feed`, its batches, what becomes of an item, what brings a
    /// batch, and what ends the feed.
    pub fn new(
        client: &Client,
        feed: u64,
        Batches { procedure: put, count }: Batches,
        keeping: Keeping<T>,
        call: CallPut<T, E>,
        end: CallEnd<R, E>,
    ) -> AwaitedSink<T, R, E> {
        let open = Open::new(FeedClient::new(client), feed);
        let (ahead, batch) = (Ahead::Nothing, Batch::new(keeping, count));
        AwaitedSink { open, call, end, ahead, lead: None, batch, put }
    }

    /// Sends an item, with others: when a batch is full, and the server has taken the one before.
    /// Dropped before it is over, it has not put the item.
    ///
    /// # Errors: [`crate::UsageError`] for an item that the interface forbids, which is not sent;
    /// the feed goes on. What the server raised about an item before; the feed is over. After that,
    /// [`crate::NotExecuted::FeedOver`].
    pub async fn put(&mut self, item: T) -> Result<(), E> {
        let mut item = Some(item);
        poll_fn(|context| self.poll_put(&mut item, context)).await
    }

    fn poll_put(&mut self, item: &mut Option<T>, context: &mut Context<'_>) -> Poll<Result<(), E>> {
        self.expect_open()?;
        // What has no A-stack that it may keep is waited for, also by whoever comes after one that
        // has given that up.
        let is_owed = self.lead.is_none() && !matches!(self.ahead, Ahead::Nothing);
        if is_owed || self.batch.is_full() {
            ready!(self.poll_flush(context))?;
        }
        let item = item.take().expect("a future is not polled after it was ready");
        self.batch.put(item).map_err(|refused| E::from(Box::new(CallError::Usage(refused))))?;
        if self.batch.is_full() {
            self.send_ahead(context)?;
        }
        Poll::Ready(Ok(()))
    }

    /// Whether it takes no more items: an error that was no item's own has said so.
    pub fn is_over(&self) -> bool {
        self.open.is_over()
    }

    /// Sends a full batch without waiting, if the server has taken the one before and there is an
    /// A-stack to keep; else whoever puts the next item waits.
    fn send_ahead(&mut self, context: &mut Context<'_>) -> Result<(), E> {
        if let Poll::Ready(settled) = self.poll_settled(context) {
            settled?;
            self.lead = self.open.client().0.lead();
        }
        if self.lead.is_some() && matches!(self.ahead, Ahead::Nothing) {
            self.call();
            let _ = self.ahead.poll_begun(self.open.client().0, context);
        }
        Ok(())
    }

    fn call(&mut self) {
        let (number, batch) = (self.open.count(), self.batch.take());
        let (client, feed) = self.open.client();
        self.ahead = Ahead::called(client, |client| (self.call)(client, feed, number, batch));
    }

    /// Sends what there is, once the server has taken the batch before; where A-stacks are short,
    /// waits until it has taken this one, too.
    ///
    /// # Errors: as [`AwaitedSink::put`], of no item of its own.
    pub async fn flush(&mut self) -> Result<(), E> {
        self.expect_open()?;
        poll_fn(|context| self.poll_flush(context)).await
    }

    /// Says that there are no more items, and waits for what the server makes of them.
    ///
    /// # Errors: as [`AwaitedSink::flush`].
    pub async fn end(mut self) -> Result<R, E> {
        self.flush().await?;
        poll_fn(|context| self.poll_settled(context)).await?;
        let (client, feed) = self.open.client();
        let mut ending = Ahead::called(client, |client| (self.end)(client, feed));
        let ended = poll_fn(|context| ending.poll_ended(client, context)).await;
        let ended = ended.expect("it was called")?;
        self.open.note_end();
        Ok(ended)
    }

    fn expect_open(&self) -> Result<(), E> {
        if !self.open.is_over() {
            return Ok(());
        }
        let (client, _) = self.open.client();
        Err(Box::new(client.feed_over(self.put)).into())
    }

    /// Ready when all that was put is posted, and has an A-stack that it may keep, or was taken.
    fn poll_flush(&mut self, context: &mut Context<'_>) -> Poll<Result<(), E>> {
        if !self.batch.is_empty() {
            ready!(self.poll_settled(context))?;
            self.call();
        }
        let (client, _) = self.open.client();
        if let Err(error) = ready!(self.ahead.poll_posted(client, context)) {
            return Poll::Ready(self.judge(Err(error)));
        }
        if let Ahead::Nothing = self.ahead {
            return Poll::Ready(Ok(()));
        }
        if self.lead.is_none() {
            self.lead = client.lead();
        }
        match self.lead {
            Some(_) => Poll::Ready(Ok(())),
            None => self.poll_settled(context),
        }
    }

    /// Ready when the server has taken all that was posted.
    fn poll_settled(&mut self, context: &mut Context<'_>) -> Poll<Result<(), E>> {
        let settled =
            ready!(self.ahead.poll_ended(self.open.client().0, context)).unwrap_or(Ok(()));
        self.lead = None;
        Poll::Ready(self.judge(settled))
    }

    /// After an error it is over.
    fn judge(&mut self, outcome: Result<(), E>) -> Result<(), E> {
        outcome.inspect_err(|_| {
            self.open.give_up();
            self.batch.clear();
        })
    }
}

/// Numbers of what a call opens.
pub trait FeedNumbers {
    /// How many.
    const COUNT: u32;

    /// Tells the server that nobody wants those.
    fn give_up(self, client: &Client);
}

impl FeedNumbers for u64 {
    const COUNT: u32 = 1;

    fn give_up(self, client: &Client) {
        drop(Open::new(client, self));
    }
}

impl FeedNumbers for (u64, u64) {
    const COUNT: u32 = 2;

    fn give_up(self, client: &Client) {
        self.0.give_up(client);
        self.1.give_up(client);
    }
}

/// A call that opens a feed, or an exchange. Dropped when it has done so and nobody knows yet, it
/// gives up what it has opened.
#[must_use = "await it"]
pub struct Opening<'b, N: FeedNumbers, E> {
    client: &'b Client,
    room: Option<FeedRoom<'b>>,
    call: Option<Awaiting<'b, N, E>>,
}

impl<'b, N: FeedNumbers, E> Opening<'b, N, E> {
    /// For generated code: of this client's, which has room for what it opens.
    pub fn new(
        client: &'b Client,
        room: FeedRoom<'b>,
        call: Awaiting<'b, N, E>,
    ) -> Opening<'b, N, E> {
        Opening { client, room: Some(room), call: Some(call) }
    }

    /// The call has ended so.
    fn opened<O>(&mut self, opened: Result<N, O>) -> Result<N, O> {
        self.call = None;
        let room = self.room.take();
        opened.inspect(|_| room.into_iter().for_each(FeedRoom::keep))
    }
}

impl<N: FeedNumbers, E: From<Box<CallError>>> Future for Opening<'_, N, E> {
    type Output = Result<N, E>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<N, E>> {
        let call = self.call.as_mut().expect("a future is not polled after it was ready");
        let opened = ready!(Pin::new(call).poll(context));
        Poll::Ready(self.opened(opened).map_err(|error| *error))
    }
}

impl<N: FeedNumbers, E> Drop for Opening<'_, N, E> {
    fn drop(&mut self) {
        if let Some(given_up) = self.call.take().and_then(Awaiting::give_up)
            && let Ok(numbers) = self.opened(given_up)
        {
            numbers.give_up(self.client);
        }
    }
}

impl<N: FeedNumbers, E> fmt::Debug for Opening<'_, N, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Opening").field("call", &self.call).finish_non_exhaustive()
    }
}

impl<T, E> fmt::Debug for AwaitedFeed<T, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AwaitedFeed").field("open", &self.open).finish_non_exhaustive()
    }
}

impl<T, R, E> fmt::Debug for AwaitedSink<T, R, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AwaitedSink").field("open", &self.open).finish_non_exhaustive()
    }
}
