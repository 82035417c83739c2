//! Claiming an A-stack for a call that is awaited: a task that finds none waits in a queue, and
//! keeps nobody from running (design note 0022).

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use super::call::Claimed;
use super::client::Client;
use crate::client::claimants::Place;
use crate::client::deadline::{NEVER_NS, left_ns};
use crate::client::herald::{self, Ticket};
use crate::error::CallError;

/// An A-stack that is being claimed.
#[derive(Debug)]
#[must_use = "await it"]
pub struct Claiming<'b> {
    client: &'b Client,
    class: usize,
    procedure: u32,
    waiting: Option<Waiting>,
}

/// It has found none.
#[derive(Debug)]
struct Waiting {
    place: Option<Place>,
    until_ns: u64,
    /// For its deadline.
    ticket: Option<Ticket>,
}

impl<'b> Claiming<'b> {
    pub(super) fn new(client: &'b Client, class: usize, procedure: u32) -> Claiming<'b> {
        Claiming { client, class, procedure, waiting: None }
    }

    /// Claims if there is one.
    fn claim(&mut self) -> Result<Option<Claimed<'b>>, Box<CallError>> {
        let mut claimed = self.client.claim_at_once(self.class, self.procedure)?;
        if let Some(claimed) = &mut claimed
            && let Some(waiting) = self.waiting.take()
        {
            claimed.note_wait(waiting.until_ns);
            waiting.leave(self.client);
        }
        Ok(claimed)
    }

    /// There was none.
    #[cold]
    #[inline(never)]
    fn wait(&mut self, waker: &Waker) -> Poll<Result<Claimed<'b>, Box<CallError>>> {
        if self.waiting.is_some()
            && let Some(claimed) = self.claim()?
        {
            return Poll::Ready(Ok(claimed));
        }
        let binding = self.client.binding().shared();
        let class = match &binding.agreement {
            None => self.class as u32,
            Some(agreement) => agreement.class(self.procedure).expect("it was refused for another"),
        };
        let until_ns = self.client.until_ns();
        let new = || Waiting { place: None, until_ns, ticket: None };
        self.waiting.get_or_insert_with(new).ticket = None;
        loop {
            let waiting = self.waiting.as_mut().expect("it was not claimed yet");
            if waiting.until_ns != NEVER_NS && left_ns(waiting.until_ns) == 0 {
                let procedure = binding.procedure_name(self.procedure);
                return Poll::Ready(Err(Box::new(CallError::NoAStack { procedure })));
            }
            // From now on whoever is done with one gives it back to the list.
            binding.revoke_bias(class);
            if binding.claimants.wait(binding, class, &mut waiting.place, waker) {
                break;
            }
            match self.claim() {
                Ok(Some(claimed)) => return Poll::Ready(Ok(claimed)),
                Ok(None) => {}
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
        let waiting = self.waiting.as_mut().expect("it waits");
        if waiting.until_ns != NEVER_NS {
            waiting.ticket = herald::wake(waker, None, waiting.until_ns);
            if waiting.ticket.is_none() {
                waker.wake_by_ref();
            }
        }
        Poll::Pending
    }
}

impl Waiting {
    fn leave(self, client: &Client) {
        let binding = client.binding().inner();
        if let Some(place) = self.place {
            binding.claimants.leave(binding, place);
        }
    }
}

impl<'b> Future for Claiming<'b> {
    type Output = Result<Claimed<'b>, Box<CallError>>;

    #[inline(always)]
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        if self.waiting.is_none() {
            match self.client.claim_at_once(self.class, self.procedure) {
                Ok(Some(claimed)) => return Poll::Ready(Ok(claimed)),
                Ok(None) => {}
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
        self.wait(context.waker())
    }
}

impl Drop for Claiming<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        if let Some(waiting) = self.waiting.take() {
            waiting.leave(self.client);
        }
    }
}
