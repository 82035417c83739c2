//! Claiming an A-stack for a call that is awaited: a task that finds none waits in a queue, and
//! keeps nobody from running (design note 0022).

use std::future::Future;
use std::marker::PhantomData;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use nearcall_os::clock;

use super::call::Call;
use super::client::Client;
use crate::client::call_all::is_full;
use crate::client::claimants::Place;
use crate::client::deadline::{NEVER_NS, left_ns};
use crate::client::hasty::in_haste;
use crate::client::herald::{self, Ticket};
use crate::error::CallError;

/// Between two looks whether a captured A-stack has come back: that wakes nobody.
const REAP_SLICE_NS: u64 = 1_000_000;

/// An A-stack that is being claimed.
#[derive(Debug)]
#[must_use = "await it"]
pub struct Claiming<'b, 'd> {
    client: &'b Client,
    class: usize,
    procedure: u32,
    waiting: Option<Waiting>,
    puts: PhantomData<fn() -> &'d ()>,
}

/// It has found none.
#[derive(Debug)]
struct Waiting {
    place: Option<Place>,
    until_ns: u64,
    /// For its deadline, and for A-stacks that come back without a word.
    ticket: Option<Ticket>,
}

impl<'b, 'd> Claiming<'b, 'd> {
    pub(super) fn new(client: &'b Client, class: usize, procedure: u32) -> Claiming<'b, 'd> {
        Claiming { client, class, procedure, waiting: None, puts: PhantomData }
    }

    /// Claims if there is one.
    #[inline(always)]
    fn claim(&mut self) -> Result<Call<'b, 'd>, Box<CallError>> {
        let mut call = in_haste(|| self.client.claim_of_class(self.class, self.procedure))?;
        if let Some(waiting) = self.waiting.take() {
            call.note_wait(waiting.until_ns);
            waiting.leave(self.client);
        }
        Ok(call)
    }

    /// There is none. In a box, so that one that is there at once stays in registers.
    #[cold]
    #[inline(never)]
    fn wait(&mut self, waker: &Waker) -> Poll<Result<Box<Call<'b, 'd>>, Box<CallError>>> {
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
                Ok(call) => return Poll::Ready(Ok(Box::new(call))),
                Err(error) if is_full(&error) => {}
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
        let waiting = self.waiting.as_mut().expect("it waits");
        let slice_ns = match binding.has_captured() {
            true => clock::now_ns() + REAP_SLICE_NS,
            false => NEVER_NS,
        };
        let look_ns = waiting.until_ns.min(slice_ns);
        if look_ns != NEVER_NS {
            waiting.ticket = herald::wake(waker, None, look_ns);
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

impl<'b, 'd> Future for Claiming<'b, 'd> {
    type Output = Result<Call<'b, 'd>, Box<CallError>>;

    #[inline(always)]
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        match self.claim() {
            Ok(call) => Poll::Ready(Ok(call)),
            Err(error) if is_full(&error) => self.wait(context.waker()).map_ok(|call| *call),
            Err(error) => Poll::Ready(Err(error)),
        }
    }
}

impl Drop for Claiming<'_, '_> {
    #[inline]
    fn drop(&mut self) {
        if let Some(waiting) = self.waiting.take() {
            waiting.leave(self.client);
        }
    }
}
