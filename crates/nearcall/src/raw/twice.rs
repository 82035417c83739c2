//! Calls of `@idempotent` operations that no stub waits for: what they need to be made once more
//! is kept until they are over (design note 0015).
//!
//! ```text
//!   posted    PendingTwice ─┬─ Pending              the first try
//!                           └─ a copy of arguments  the second, which the collection posts
//!   awaited   Tries, in a future that has the arguments of its caller
//! ```
//!
//! Other operations know nothing of this: their calls are what they were.

use std::fmt;

use super::client::{Client, told_of};
use super::pending::Pending;
use crate::client::rebind::is_worth_another_try;
use crate::error::{CallError, Failure};

/// Posts a call over the client that it is given, as often as it is asked to.
type Post<T, E> = dyn for<'c> Fn(&'c Client) -> Result<Pending<'c, T, E>, CallError>;

/// A call that is under way and may run twice, and evaluates to a `T`: a [`Pending`] whose
/// collection makes it once more, over a binding to the server's next life, if its server ends.
///
/// # Cost: a copy of the arguments on the heap, beside what a [`Pending`] costs.
#[must_use = "collect it: its results are what the call was made for"]
pub struct PendingTwice<'b, T, E = CallError> {
    client: &'b Client,
    /// When both tries are over.
    until_ns: u64,
    /// An error: nobody was there to post it to, and the next life may have it.
    first: Result<Pending<'b, T, E>, Box<CallError>>,
    post: Box<Post<T, E>>,
}

impl<'b, T, E> PendingTwice<'b, T, E> {
    /// Posts a call by `post`, which owns its arguments.
    ///
    /// # Errors: those of `post`, but for what the collection tries again.
    pub fn post(
        client: &'b Client,
        post: impl for<'c> Fn(&'c Client) -> Result<Pending<'c, T, E>, CallError> + 'static,
    ) -> Result<PendingTwice<'b, T, E>, CallError> {
        let until_ns = client.until_ns();
        let first = match post(client) {
            Ok(pending) => Ok(pending),
            Err(error) if is_worth_another_try(&error) => Err(Box::new(error)),
            Err(error) => return Err(error),
        };
        Ok(PendingTwice { client, until_ns, first, post: Box::new(post) })
    }

    /// Whether the first try is over: [`PendingTwice::collect`] will not wait, unless it makes the
    /// call once more.
    ///
    /// # Cost: one load.
    pub fn is_replied(&self) -> bool {
        self.first.as_ref().map_or(true, Pending::is_replied)
    }

    /// Gives the call up, as [`Pending::cancel`] does; it is not made once more.
    pub fn cancel(self) {
        if let Ok(pending) = self.first {
            pending.cancel();
        }
    }

    /// As many calls may be under way at once; of one that nobody has, it alone.
    pub(crate) fn astack_count(&self) -> u32 {
        self.first.as_ref().map_or(1, Pending::astack_count)
    }
}

impl<T, E: Failure + From<CallError> + From<Box<CallError>>> PendingTwice<'_, T, E> {
    /// Waits for the reply, and returns what the call returns. One deadline, which counts from the
    /// post, holds for both tries.
    ///
    /// # Errors: those of the plain call.
    pub fn collect(self) -> Result<T, E> {
        let PendingTwice { client, until_ns, first, post } = self;
        let mut first = Some(first);
        client.twice_if_need_be_until(until_ns, &mut None, |client| match first.take() {
            Some(posted) => posted?.collect(),
            None => post(client)?.collect(),
        })
    }
}

impl<T, E> fmt::Debug for PendingTwice<'_, T, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PendingTwice").field("first", &self.first).finish_non_exhaustive()
    }
}

/// The tries of a call that is awaited: the first one, and a second one if need be.
#[derive(Debug)]
pub struct Tries<'b, E> {
    client: &'b Client,
    /// When both are over.
    until_ns: u64,
    /// Of the second one.
    next: Option<Client>,
    /// What became of the first one.
    first: Option<E>,
}

impl<'b, E: Failure> Tries<'b, E> {
    /// A call that begins now.
    pub fn new(client: &'b Client) -> Tries<'b, E> {
        Tries { client, until_ns: client.until_ns(), next: None, first: None }
    }

    /// What the try is made over that is due.
    pub fn client(&self) -> &Client {
        self.next.as_ref().unwrap_or(self.client)
    }

    /// A try has ended so: what the call evaluates to; `None`: it is to be made once more.
    pub async fn ended<T>(&mut self, ended: Result<T, E>) -> Option<Result<T, E>> {
        let error = match ended {
            Ok(results) => return Some(Ok(results)),
            Err(error) => error,
        };
        if self.next.is_some() {
            return Some(Err(told_of(self.first.take(), error)));
        }
        let worth = error.call_error();
        let until_ns = worth.and_then(|worth| self.client.second_until_ns(worth, self.until_ns));
        let Some(until_ns) = until_ns else {
            return Some(Err(error));
        };
        self.next = self.client.rebound_awaited(until_ns).await;
        if self.next.is_none() {
            return Some(Err(error));
        }
        self.first = Some(error);
        None
    }
}
