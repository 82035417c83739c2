//! The call for a batch of a feed that is awaited (design note 0020).
//!
//! It is kept between two polls, and so may outlive whoever has opened the feed. A call borrows the
//! binding that it goes over; here both lie in one future, which has a share in the client.
//!
//! ```text
//!   called ──▶ posting ──────▶ posted: here it stops, once ──────▶ under way ──▶ ended
//!              may wait for    nobody waits for it yet: no look    polled by whoever
//!              an A-stack      for a reply, and no wake            waits for it
//! ```

use std::future::{Future, poll_fn};
use std::ops::Deref;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;
// Relaxed: a feed is polled by one task at a time, and the call within that.
use std::sync::atomic::Ordering::Relaxed;
use std::task::{Context, Poll, ready};

use super::lead::Lead;
use crate::error::CallError;
use crate::raw::{Awaiting, Client};

/// A call for a batch, from before its post until it has ended.
pub type BatchCall<T, E> = Pin<Box<dyn Future<Output = Result<T, E>> + Send>>;

/// A share in the client of a feed: the feed has one, and so has its call for a batch.
///
/// # Cost: two locked operations, and no allocation but the first.
#[derive(Clone, Debug)]
pub struct FeedClient(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    client: Client,
    /// How many A-stacks there are for calls like the last one for a batch; 0: it is not posted.
    astack_count: AtomicU32,
}

/// The call for a batch.
pub(super) enum Ahead<T, E> {
    Nothing,
    /// It was called: it is posted, or waits for that.
    Called(BatchCall<T, E>),
    /// It has, and nobody has asked how.
    Ended(Result<T, E>),
}

impl FeedClient {
    /// The first one.
    pub(super) fn new(client: &Client) -> FeedClient {
        FeedClient(Arc::new(Shared { client: client.clone(), astack_count: AtomicU32::new(0) }))
    }

    /// For generated code: of a call for a batch that was posted, what it evaluates to.
    pub async fn awaited<T, E: From<Box<CallError>>>(
        &self,
        posted: Awaiting<'_, T, E>,
    ) -> Result<T, E> {
        self.0.astack_count.store(posted.astack_count(), Relaxed);
        let mut has_stopped = false;
        let stop = |_: &mut Context<'_>| match std::mem::replace(&mut has_stopped, true) {
            true => Poll::Ready(()),
            false => Poll::Pending,
        };
        poll_fn(stop).await;
        posted.await.map_err(|error| *error)
    }

    /// For one more call like the last.
    pub(super) fn lead(&self) -> Option<Lead<FeedClient>> {
        Lead::take(self, self.0.astack_count.load(Relaxed))
    }

    fn is_posted(&self) -> bool {
        self.0.astack_count.load(Relaxed) != 0
    }
}

impl Deref for FeedClient {
    type Target = Client;

    fn deref(&self) -> &Client {
        &self.0.client
    }
}

impl<T, E> Ahead<T, E> {
    /// One that `call` makes over its own share in a client.
    pub fn called(
        client: &FeedClient,
        call: impl FnOnce(FeedClient) -> BatchCall<T, E>,
    ) -> Ahead<T, E> {
        client.0.astack_count.store(0, Relaxed);
        Ahead::Called(call(client.clone()))
    }

    /// Goes on until it is posted, or was not.
    pub fn poll_begun(&mut self, client: &FeedClient, context: &mut Context<'_>) -> Poll<()> {
        if let Ahead::Called(call) = self
            && !client.is_posted()
        {
            match call.as_mut().poll(context) {
                Poll::Ready(ended) => *self = Ahead::Ended(ended),
                Poll::Pending if !client.is_posted() => return Poll::Pending,
                Poll::Pending => {}
            }
        }
        Poll::Ready(())
    }

    /// The same; why it was not.
    pub fn poll_posted(
        &mut self,
        client: &FeedClient,
        context: &mut Context<'_>,
    ) -> Poll<Result<(), E>> {
        ready!(self.poll_begun(client, context));
        match std::mem::replace(self, Ahead::Nothing) {
            Ahead::Ended(Err(error)) => return Poll::Ready(Err(error)),
            other => *self = other,
        }
        Poll::Ready(Ok(()))
    }

    /// Goes on until it has ended; `None`: there is none.
    pub fn poll_ended(
        &mut self,
        client: &FeedClient,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<T, E>>> {
        ready!(self.poll_begun(client, context));
        if let Ahead::Called(call) = self {
            *self = Ahead::Ended(ready!(call.as_mut().poll(context)));
        }
        match std::mem::replace(self, Ahead::Nothing) {
            Ahead::Ended(ended) => Poll::Ready(Some(ended)),
            Ahead::Nothing | Ahead::Called(_) => Poll::Ready(None),
        }
    }
}
