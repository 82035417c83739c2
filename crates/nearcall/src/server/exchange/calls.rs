//! What the calls of a client do at the ends that the runtime keeps of its exchanges.

use std::any::Any;
use std::future::{Future, poll_fn};
use std::panic::resume_unwind;
use std::sync::Arc;
use std::task::{Context, Poll};

use super::{AskedEnd, AtWay, Ends, Last, SentEnd};
use crate::batch::Batch;
use crate::raw::{Refusal, ServedCall};
use crate::server::binding::ServerBinding;
use crate::server::current;
use crate::server::quota::{Charge, Resource};

/// A batch that a client has sent.
pub(super) struct Sent<T> {
    items: Batch<T>,
    /// What its binding is charged with until the application has taken it, if its message was out
    /// of line. Others are bounded by what fits an A-stack.
    charge: Option<Charge>,
}

impl<T> Sent<T> {
    pub fn new(items: Vec<T>, charge: Option<Charge>) -> Sent<T> {
        Sent { items: Batch::of(items), charge }
    }
}

/// Items and whether they are the last, or what was raised.
type BatchOrRaised<T, E> = Result<(Batch<T>, bool), E>;

/// What a call for a batch brings.
pub(crate) type NextBatch<T, E> = Result<BatchOrRaised<T, E>, Box<Refusal>>;

impl<T, E> AtWay<T, E> {
    /// What there is for the client, and whether it is the last. `None`: who was to put more has
    /// panicked.
    pub(super) fn poll_next(&self, context: &Context<'_>) -> Poll<Option<NextBatch<T, E>>> {
        let mut state = self.0.state();
        if state.is_unwanted {
            // What its client has had must not look like all there is.
            return Poll::Ready(Some(Err(Box::new(Refusal::FeedOver))));
        }
        if state.items.is_empty() {
            return match state.last.take() {
                None => {
                    state.waker = Some(context.waker().clone());
                    Poll::Pending
                }
                Some(Last::Raised(raised)) => Poll::Ready(Some(Ok(Err(raised)))),
                Some(Last::Ended | Last::GivenUp) => {
                    Poll::Ready(Some(Ok(Ok((state.items.take(), true)))))
                }
                Some(Last::Panicked) => Poll::Ready(None),
                Some(Last::Dropped) => Poll::Ready(Some(Err(Box::new(Refusal::Unended)))),
            };
        }
        let items = state.items.take();
        let is_last = matches!(state.last, Some(Last::Ended));
        self.0.tell(state);
        Poll::Ready(Some(Ok(Ok((items, is_last)))))
    }

    /// Whether there is room for a batch, which is taken then.
    pub(super) fn poll_put(
        &self,
        sent: &mut Sent<T>,
        context: &Context<'_>,
    ) -> Poll<Result<(), Box<Refusal>>> {
        let mut state = self.0.state();
        if state.is_unwanted || state.last.is_some() {
            return Poll::Ready(Err(Box::new(Refusal::FeedOver)));
        }
        if !state.items.is_empty() {
            state.waker = Some(context.waker().clone());
            return Poll::Pending;
        }
        state.items.append(&mut sent.items);
        state.charge = sent.charge.take();
        self.0.tell(state);
        Poll::Ready(Ok(()))
    }
}

impl ServedCall<'_> {
    /// Opens both ways of an exchange: the number of what comes to the client, then that of what
    /// goes.
    pub(crate) fn open_exchange<A, B, E>(
        &self,
        Ends { sent, asked }: Ends<A, B, E>,
    ) -> Result<(u64, u64), Box<Refusal>>
    where
        A: Send + 'static,
        B: Send + 'static,
        E: Send + 'static,
    {
        let ends: [Box<dyn Any + Send>; 2] = [Box::new(asked), Box::new(sent)];
        let [feed, sink] = self.open_feeds(ends)?;
        Ok((feed, sink))
    }

    /// Waits for batch `number` of what the application puts, and says whether it is the last.
    pub(crate) fn next_of_exchange<T, E>(
        &self,
        kind: u32,
        (feed, number): (u64, u32),
    ) -> Result<impl Future<Output = NextBatch<T, E>> + Send + use<T, E>, Box<Refusal>>
    where
        T: Send + 'static,
        E: Send + 'static,
    {
        let binding = self.outliving()?;
        let at_way = binding
            .feeds
            .with(feed, Some(number), |end| end.downcast_ref::<AskedEnd<T, E>>()?.0.enter(kind))?;
        Ok(async move {
            let mut batch = poll_fn(|context| at_way.poll_next(context)).await;
            if !matches!(batch, Some(Ok(Ok((_, false))))) {
                // A task that its inlet told of the binding's end may end its outlet before this
                // end is told: to a client that still waits, that must not look like all there is.
                if binding.feeds.is_over() {
                    batch = Some(Err(Box::new(Refusal::Ended)));
                }
                binding.feeds.close(feed);
            }
            // It was told of where it happened; what waits for a batch ends as it did.
            batch.unwrap_or_else(|| {
                resume_unwind(Box::new("who was to put more items has panicked"))
            })
        })
    }

    /// Waits until the application has taken the batch before.
    pub(crate) fn put_to_exchange<T: Send + 'static>(
        &self,
        kind: u32,
        (feed, number): (u64, u32),
        items: Vec<T>,
    ) -> Result<impl Future<Output = Result<(), Box<Refusal>>> + Send + use<T>, Box<Refusal>> {
        let binding = self.outliving()?;
        let mut sent = self.sent(feed, items)?;
        let at_way = binding
            .feeds
            .with(feed, Some(number), |end| end.downcast_ref::<SentEnd<T>>()?.0.enter(kind))?;
        Ok(async move { poll_fn(|context| at_way.poll_put(&mut sent, context)).await })
    }

    /// The client sends no more.
    pub(crate) fn end_of_exchange<T: Send + 'static>(
        &self,
        kind: u32,
        feed: u64,
    ) -> Result<(), Box<Refusal>> {
        let feeds = &self.binding.feeds;
        let way = feeds.with(feed, None, |end| end.downcast_ref::<SentEnd<T>>()?.end(kind))?;
        way.tell(way.state());
        feeds.close(feed);
        Ok(())
    }

    /// A batch of this call's, which may lie here for as long as the application pleases. If there
    /// is no room for it, its feed is over on both sides: who waits for an answer to these items
    /// would wait for ever.
    pub(super) fn sent<T>(&self, feed: u64, items: Vec<T>) -> Result<Sent<T>, Box<Refusal>> {
        let bytes = u64::from(self.message_bytes) + size_of_val(&*items) as u64;
        let charge = self.request().map(|_| self.binding.charge(Resource::OwnBytes, bytes));
        let charge = charge.transpose().map_err(|_| {
            self.binding.feeds.close(feed);
            Box::new(Refusal::Overloaded)
        })?;
        Ok(Sent::new(items, charge))
    }

    /// Its binding, for what outlives the look at its A-stack.
    pub(super) fn outliving(&self) -> Result<Arc<ServerBinding>, Box<Refusal>> {
        current::served_binding().ok_or_else(|| Box::new(Refusal::Ended))
    }
}
