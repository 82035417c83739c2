//! Feeds to one side that are awaited (design note 0020): what an exchange has each way, one way,
//! and an answer behind what goes.
//!
//! ```text
//!   next: suspended until put              ◀── Outlet
//!   put: suspended until taken             ──▶ Inlet  ┐ one procedure,
//!   end: suspended until it has answered   ◀── Answer ┘ a task of the application's
//! ```

use std::collections::VecDeque;
use std::convert::Infallible;
use std::fmt;
use std::future::{Future, poll_fn};
use std::panic::resume_unwind;
use std::sync::Arc;
use std::task::{Context, Poll};

use super::{AskedEnd, AtWay, Inlet, Last, Outlet, SentEnd, Way};
use crate::batch::{Batch, Keeping};
use crate::raw::{Refusal, ServedCall};

/// What the runtime keeps, until it has a number, of a feed whose items an [`Outlet`] is given.
pub struct OutletEnd<T, E>(AskedEnd<T, E>);

/// The same of a feed whose items come out of an [`Inlet`].
pub struct InletEnd<T, R, E> {
    /// Dropped first: who is told by the inlet that it was given up finds that nobody waits for an
    /// answer.
    answer: AskedEnd<R, E>,
    sent: SentEnd<T>,
}

/// Where a server's answer to the items of an [`Inlet`] goes, once: what the operation that opened
/// the feed returns, or raises. Its client has it when it has sent its last item, or, if it is an
/// exception, at the next batch before.
///
/// It may go to any thread or task, and be given before the last item came: what comes then is
/// dropped. Dropped without an answer, its client is told `Panicked`.
///
/// ```
/// # struct Row { value: u32 }
/// # #[derive(Debug)]
/// # struct Refused { code: i32 }
/// async fn sum(mut inlet: nearcall::Inlet<Row>, answer: nearcall::Answer<u32, Refused>) {
///     let mut sum = 0;
///     loop {
///         inlet.ready().await;
///         match inlet.next() {
///             Some(Ok(row)) if row.value == 0 => return answer.raise(Refused { code: 1 }),
///             Some(Ok(row)) => sum += row.value,
///             // Nobody waits for an answer.
///             Some(Err(nearcall::GivenUp)) => return,
///             None => return answer.give(sum),
///         }
///     }
/// }
/// ```
pub struct Answer<R, E = Infallible>(Outlet<R, E>);

/// An answer, or what was raised in its place.
pub(crate) type Answered<R, E> = Result<Result<R, E>, Box<Refusal>>;

/// The ends of a new feed to the client: the runtime's, and the application's. At most `limit`
/// items wait for the client, and `keeping` is what becomes of them; `kind` as of an exchange.
pub fn outlet<T, E>(kind: u32, limit: u32, keeping: Keeping<T>) -> (OutletEnd<T, E>, Outlet<T, E>) {
    let way = Arc::new(Way::new(kind, Batch::new(keeping, limit)));
    let outlet = Outlet { way: Arc::clone(&way), apart: Batch::new(keeping, limit) };
    (OutletEnd(AskedEnd(way)), outlet)
}

/// The ends of a new feed from the client: the runtime's, and the application's two.
pub fn inlet<T, R, E>(kind: u32) -> (InletEnd<T, R, E>, Inlet<T>, Answer<R, E>) {
    let way = Arc::new(Way::new(kind, Batch::of(Vec::new())));
    let inlet = Inlet { way: Arc::clone(&way), batch: VecDeque::new(), is_over: false };
    let (OutletEnd(answer), outlet) = outlet(kind, 1, Keeping::AsItIs);
    (InletEnd { sent: SentEnd(way), answer }, inlet, Answer(outlet))
}

impl<R, E> Answer<R, E> {
    /// Answers with what the operation returns. Never waits; one that nobody waits for is dropped.
    ///
    /// The interface judges it when its client has it: what it forbids is `ResultsRefused` there.
    pub fn give(mut self, answer: R) {
        // Refused it cannot be, and its client may have given it up.
        let _ = self.0.put(answer);
        self.0.end();
    }

    /// Raises an exception in place of an answer: the feed is over. Never waits.
    pub fn raise(self, raised: E) {
        self.0.raise(raised);
    }

    /// Nobody waits for it: the client has given the feed up, or has ended. An [`Inlet`] says so as
    /// well, by [`GivenUp`](super::GivenUp), to whoever waits for the next item.
    pub fn is_given_up(&self) -> bool {
        self.0.is_given_up()
    }

    /// Waits until nobody waits for it, as [`Outlet::given_up`]: for a task that works on with what
    /// an inlet gave it.
    pub async fn given_up(&mut self) {
        self.0.given_up().await;
    }
}

impl<R, E> AtWay<R, E> {
    /// Waits for the answer, which stays; or takes what was raised. `None`: there will be neither.
    fn poll_answered(&self, context: &Context<'_>) -> Poll<Option<Answered<(), E>>> {
        let mut state = self.0.state();
        if state.is_unwanted {
            return Poll::Ready(Some(Err(Box::new(Refusal::FeedOver))));
        }
        if !state.items.is_empty() {
            return Poll::Ready(Some(Ok(Ok(()))));
        }
        match state.last.take() {
            Some(Last::Raised(raised)) => Poll::Ready(Some(Ok(Err(raised)))),
            Some(Last::Dropped) => Poll::Ready(Some(Err(Box::new(Refusal::Unended)))),
            Some(_) => Poll::Ready(None),
            None => {
                state.waker = Some(context.waker().clone());
                Poll::Pending
            }
        }
    }

    /// The answer, or what was raised. `None`: there will be neither.
    async fn answer(&self) -> Option<Answered<R, E>> {
        Some(match poll_fn(|context| self.poll_next(context)).await? {
            Ok(Ok((batch, _))) => match batch.into_items().pop() {
                Some(answer) => Ok(Ok(answer)),
                None => Err(Box::new(Refusal::FeedOver)),
            },
            Ok(Err(raised)) => Ok(Err(raised)),
            Err(ended) => Err(ended),
        })
    }
}

/// It was told of where it happened; what waits for an answer ends as it did.
fn no_answer<T>() -> T {
    resume_unwind(Box::new("who was to answer has not"))
}

impl ServedCall<'_> {
    /// Opens a feed to the client; its number.
    pub(crate) fn open_outlet<T, E>(&self, end: OutletEnd<T, E>) -> Result<u64, Box<Refusal>>
    where
        T: Send + 'static,
        E: Send + 'static,
    {
        let [feed] = self.open_feeds([Box::new(end.0)])?;
        Ok(feed)
    }

    /// Opens a feed from the client; its number.
    pub(crate) fn open_inlet<T, R, E>(&self, end: InletEnd<T, R, E>) -> Result<u64, Box<Refusal>>
    where
        T: Send + 'static,
        R: Send + 'static,
        E: Send + 'static,
    {
        let [feed] = self.open_feeds([Box::new(end)])?;
        Ok(feed)
    }

    /// Waits until the application has taken the batch before, or has answered: then the items are
    /// dropped, and the client asks for the answer at the end.
    pub(crate) fn put_to_inlet<T, R, E>(
        &self,
        kind: u32,
        (feed, number): (u64, u32),
        items: Vec<T>,
    ) -> Result<impl Future<Output = Answered<(), E>> + Send + use<T, R, E>, Box<Refusal>>
    where
        T: Send + 'static,
        R: Send + 'static,
        E: Send + 'static,
    {
        let binding = self.outliving()?;
        let mut sent = self.sent(feed, items)?;
        let (at_way, at_answer) = binding.feeds.with(feed, Some(number), |end| {
            let InletEnd { sent, answer } = end.downcast_ref::<InletEnd<T, R, E>>()?;
            Some((sent.0.enter(kind)?, answer.0.enter(kind)?))
        })?;
        Ok(async move {
            // The answer first: once there is one, an inlet that is kept sees no item, rather than
            // those that happen to find room.
            let put = poll_fn(|context| match at_answer.poll_answered(context) {
                Poll::Pending => match at_way.poll_put(&mut sent, context) {
                    Poll::Ready(Ok(())) => Poll::Ready(Some(Ok(Ok(())))),
                    Poll::Ready(Err(_)) | Poll::Pending => Poll::Pending,
                },
                answered => answered,
            });
            let put = put.await;
            if !matches!(put, Some(Ok(Ok(())))) {
                binding.feeds.close(feed);
            }
            put.unwrap_or_else(no_answer).map_err(|refusal| binding.feeds.or_over(refusal))
        })
    }

    /// The client sends no more: waits for the answer.
    pub(crate) fn end_of_inlet<T, R, E>(
        &self,
        kind: u32,
        feed: u64,
    ) -> Result<impl Future<Output = Answered<R, E>> + Send + use<T, R, E>, Box<Refusal>>
    where
        T: Send + 'static,
        R: Send + 'static,
        E: Send + 'static,
    {
        let binding = self.outliving()?;
        let (way, at_answer) = binding.feeds.with(feed, None, |end| {
            let InletEnd { sent, answer } = end.downcast_ref::<InletEnd<T, R, E>>()?;
            let at_answer = answer.0.enter(kind)?;
            Some((sent.end(kind)?, at_answer))
        })?;
        way.tell(way.state());
        Ok(async move {
            let answer = at_answer.answer().await;
            binding.feeds.close(feed);
            answer.unwrap_or_else(no_answer).map_err(|refusal| binding.feeds.or_over(refusal))
        })
    }
}

impl<T, E> fmt::Debug for OutletEnd<T, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OutletEnd").finish_non_exhaustive()
    }
}

impl<T, R, E> fmt::Debug for InletEnd<T, R, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InletEnd").finish_non_exhaustive()
    }
}

impl<R, E> fmt::Debug for Answer<R, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Answer").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
    use std::task::{Wake, Waker};

    use super::*;

    /// One from the client, of numbers, whose answer is one.
    fn opened() -> (InletEnd<u32, u32, u8>, Inlet<u32>, Answer<u32, u8>) {
        inlet(7)
    }

    fn at_answer(end: &InletEnd<u32, u32, u8>) -> AtWay<u32, u8> {
        end.answer.0.enter(7).unwrap()
    }

    fn context() -> Context<'static> {
        Context::from_waker(Waker::noop())
    }

    #[test]
    fn an_answer_is_there_for_whoever_puts_more_and_for_whoever_ends() {
        let (end, _inlet, answer) = opened();
        let at_answer = at_answer(&end);
        assert!(end.answer.0.enter(7).is_none() && end.answer.0.enter(8).is_none());
        assert!(at_answer.poll_answered(&context()).is_pending() && !answer.is_given_up());
        answer.give(5);
        for _ in 0..2 {
            assert!(matches!(at_answer.poll_answered(&context()), Poll::Ready(Some(Ok(Ok(()))))));
        }
        let Poll::Ready(Some(Ok(Ok((batch, _))))) = at_answer.poll_next(&context()) else {
            panic!("no answer");
        };
        assert_eq!(batch.into_items(), [5]);
    }

    #[test]
    fn what_is_raised_is_told_once_and_no_answer_is_no_end() {
        let (end, _inlet, answer) = opened();
        answer.raise(3);
        let at_answer_raised = at_answer(&end);
        assert!(matches!(
            at_answer_raised.poll_answered(&context()),
            Poll::Ready(Some(Ok(Err(3))))
        ));

        let (end, _inlet, answer) = opened();
        drop(answer);
        let Poll::Ready(Some(Err(unended))) = at_answer(&end).poll_answered(&context()) else {
            panic!("it looks answered");
        };
        assert!(matches!(*unended, Refusal::Unended));
    }

    #[test]
    fn nobody_waits_for_an_answer_once_the_feed_was_given_up() {
        let (end, mut inlet, answer) = opened();
        let at_answer = at_answer(&end);
        drop(end);
        assert!(answer.is_given_up() && inlet.next() == Some(Err(super::super::GivenUp)));
        let over = at_answer.poll_answered(&context());
        assert!(matches!(over, Poll::Ready(Some(Err(over))) if matches!(*over, Refusal::FeedOver)));
        answer.give(5);

        let (end, mut outlet) = outlet::<u32, u8>(7, 1, Keeping::AsItIs);
        assert!(!outlet.is_given_up());
        assert!(pin!(outlet.given_up()).poll(&mut context()).is_pending());
        drop(end);
        assert!(outlet.is_given_up());
        assert!(pin!(outlet.given_up()).poll(&mut context()).is_ready());
    }

    /// Looks, when it is woken, whether somebody waits for an answer.
    struct Looks {
        answer: Answer<u32, u8>,
        was_given_up: AtomicBool,
    }

    impl Wake for Looks {
        fn wake(self: Arc<Self>) {
            self.was_given_up.store(self.answer.is_given_up(), Relaxed);
        }
    }

    #[test]
    fn who_is_told_that_it_was_given_up_knows_that_nobody_waits() {
        let (end, mut inlet, answer) = opened();
        let looks = Arc::new(Looks { answer, was_given_up: AtomicBool::new(false) });
        let waker = Waker::from(Arc::clone(&looks));
        assert!(inlet.poll_ready(&Context::from_waker(&waker)).is_pending());
        drop(end);
        assert!(looks.was_given_up.load(Relaxed));
    }
}
