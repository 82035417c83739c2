//! Feeds whose items are awaited (design notes 0020 and 0022).
//!
//! As the feeds of `feed.rs`, in the same batches; but what is under way is a future, and who waits
//! for it lets other tasks run. So they do not belong to a thread, and go where their task goes.
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

use nearcall_abi::ProcedureName;

use super::feed::Open;
use super::feed_room::FeedRoom;
use super::lead::Lead;
use crate::batch::{Batch, Batches, Keeping};
use crate::error::CallError;
use crate::raw::{Awaiting, Client};

/// A call that is being posted: it may wait for an A-stack.
pub type PostingBatch<'b, T, E> =
    Pin<Box<dyn Future<Output = Result<Awaiting<'b, T, E>, E>> + Send + 'b>>;

/// Posts the call for a batch, which says whether it is the last.
type PostNext<'b, T, E> = fn(&'b Client, u64, u32) -> PostingBatch<'b, (Vec<T>, bool), E>;

/// Posts a batch.
type PostPut<'b, T, E> = fn(&'b Client, u64, u32, Batch<T>) -> PostingBatch<'b, (), E>;

/// Ends a feed.
type PostEnd<'b, R, E> = fn(&'b Client, u64) -> PostingBatch<'b, R, E>;

/// Items that a server sends, which are awaited. After an error it is over.
///
/// Dropping it tells the server, which drops what makes the items; it does not wait. Dropping what
/// [`AwaitedFeed::next`] returns loses no item.
///
/// For whoever wants a `Stream`: `futures::stream::poll_fn(|context| feed.poll_next(context))`.
#[must_use = "items come when they are asked for"]
pub struct AwaitedFeed<'b, T, E = CallError> {
    open: Open<'b>,
    post: PostNext<'b, T, E>,
    ahead: Ahead<'b, (Vec<T>, bool), E>,
    lead: Option<Lead<'b>>,
    items: std::vec::IntoIter<T>,
}

/// Items that a server is sent by a task. [`AwaitedSink::end`] says that there are no more; after
/// an error it is over.
///
/// Dropping it without that gives the feed up: the server drops what took the items.
#[must_use = "it is given up if it is not ended"]
pub struct AwaitedSink<'b, T, R, E = CallError> {
    open: Open<'b>,
    post: PostPut<'b, T, E>,
    end: PostEnd<'b, R, E>,
    /// The batch that the server is at.
    ahead: Ahead<'b, (), E>,
    lead: Option<Lead<'b>>,
    batch: Batch<T>,
    /// What `post` calls, and, once it was called, how many A-stacks there are for it.
    put: u32,
    astack_count: u32,
}

/// What was called, and how many A-stacks there are for it.
type Called = (ProcedureName<'static>, u32);

/// The call for a batch.
enum Ahead<'b, T, E> {
    Nothing,
    Posting(PostingBatch<'b, T, E>),
    UnderWay(Awaiting<'b, T, E>),
    /// It was not posted.
    Failed(E),
}

impl<'b, T, E: From<Box<CallError>>> Ahead<'b, T, E> {
    /// Goes on until it is posted, or was not.
    fn poll_begun(&mut self, context: &mut Context<'_>) -> Poll<()> {
        if let Ahead::Posting(posting) = self {
            *self = match ready!(posting.as_mut().poll(context)) {
                Ok(call) => Ahead::UnderWay(call),
                Err(error) => Ahead::Failed(error),
            };
        }
        Poll::Ready(())
    }

    /// The same; what is called, and how many A-stacks there are for it.
    fn poll_posted(&mut self, context: &mut Context<'_>) -> Poll<Result<Called, E>> {
        ready!(self.poll_begun(context));
        Poll::Ready(match std::mem::replace(self, Ahead::Nothing) {
            Ahead::Failed(error) => Err(error),
            Ahead::UnderWay(call) => {
                let called = (call.procedure_name(), call.astack_count());
                *self = Ahead::UnderWay(call);
                Ok(called)
            }
            Ahead::Nothing | Ahead::Posting(_) => Ok((ProcedureName::new(""), 0)),
        })
    }

    /// Goes on until it has ended; `None`: there is none.
    fn poll_ended(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<T, E>>> {
        if let Err(error) = ready!(self.poll_posted(context)) {
            return Poll::Ready(Some(Err(error)));
        }
        let Ahead::UnderWay(call) = self else { return Poll::Ready(None) };
        let ended = ready!(Pin::new(call).poll(context));
        *self = Ahead::Nothing;
        Poll::Ready(Some(ended.map_err(|error| *error)))
    }
}

impl<'b, T, E: From<Box<CallError>>> AwaitedFeed<'b, T, E> {
    /// For generated code: feed number `feed`, and what posts the call for its next batch.
    pub fn new(client: &'b Client, feed: u64, post: PostNext<'b, T, E>) -> AwaitedFeed<'b, T, E> {
        let items = Vec::new().into_iter();
        let (open, ahead) = (Open::new(client, feed), Ahead::Nothing);
        AwaitedFeed { open, post, ahead, lead: None, items }
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
        let (procedure, astack_count) = ready!(self.ahead.poll_posted(context))?;
        let Some(batch) = ready!(self.ahead.poll_ended(context)) else {
            return Poll::Ready(Ok(()));
        };
        self.lead = None;
        let (items, is_last) = batch?;
        self.items = self.open.turned_over(procedure, items, is_last)?;
        if !is_last {
            self.lead = Lead::take(self.open.client().0, astack_count);
        }
        if self.lead.is_some() {
            self.ask();
            // It is posted now if there is an A-stack; who waits for one is polled for it later.
            let _ = self.ahead.poll_begun(context);
        }
        Poll::Ready(Ok(()))
    }

    fn ask(&mut self) {
        let (client, feed) = self.open.client();
        self.ahead = Ahead::Posting((self.post)(client, feed, self.open.count()));
    }
}

impl<'b, T, R, E: From<Box<CallError>>> AwaitedSink<'b, T, R, E> {
    /// For generated code: feed number `feed`, its batches, what becomes of an item, what posts a
    /// batch, and what ends the feed.
    pub fn new(
        client: &'b Client,
        feed: u64,
        Batches { procedure: put, count }: Batches,
        keeping: Keeping<T>,
        post: PostPut<'b, T, E>,
        end: PostEnd<'b, R, E>,
    ) -> AwaitedSink<'b, T, R, E> {
        let (open, ahead) = (Open::new(client, feed), Ahead::Nothing);
        let batch = Batch::new(keeping, count);
        AwaitedSink { open, post, end, ahead, lead: None, batch, put, astack_count: 0 }
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
            self.lead = Lead::take(self.open.client().0, self.astack_count);
        }
        if self.lead.is_some() && matches!(self.ahead, Ahead::Nothing) {
            self.post();
            let _ = self.ahead.poll_begun(context);
        }
        Ok(())
    }

    fn post(&mut self) {
        let (client, feed) = self.open.client();
        self.ahead =
            Ahead::Posting((self.post)(client, feed, self.open.count(), self.batch.take()));
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
        let ended = (self.end)(client, feed).await?.await.map_err(|error| *error)?;
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
            self.post();
        }
        match ready!(self.ahead.poll_posted(context)) {
            Err(error) => return Poll::Ready(self.judge(Err(error))),
            Ok((_, 0)) => return Poll::Ready(Ok(())),
            Ok((_, astack_count)) => self.astack_count = astack_count,
        }
        if self.lead.is_none() {
            self.lead = Lead::take(self.open.client().0, self.astack_count);
        }
        match self.lead {
            Some(_) => Poll::Ready(Ok(())),
            None => self.poll_settled(context),
        }
    }

    /// Ready when the server has taken all that was posted.
    fn poll_settled(&mut self, context: &mut Context<'_>) -> Poll<Result<(), E>> {
        let settled = ready!(self.ahead.poll_ended(context)).unwrap_or(Ok(()));
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

impl<T, E> fmt::Debug for AwaitedFeed<'_, T, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AwaitedFeed").field("open", &self.open).finish_non_exhaustive()
    }
}

impl<T, R, E> fmt::Debug for AwaitedSink<'_, T, R, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AwaitedSink").field("open", &self.open).finish_non_exhaustive()
    }
}
