//! The client's end of a binding, as a generated client holds it.

use std::time::Duration;

use nearcall_abi::InterfaceDescriptor;
use nearcall_abi::message::CLASSES_MAX;
use nearcall_os::processor::NumberOffset;

use super::awaiting::Awaiting;
use super::brief_call::{BriefResults, brief_reader, numbers};
use super::call::{Call, Claimed};
use super::claiming::Claiming;
use super::reply::{Reply, reader};
use crate::binding::Binding;
use crate::client::deadline::{Deadline, NEVER_NS};
use crate::client::lent::OpaqueIn;
use crate::client::rebind::is_worth_another_try;
use crate::error::{BindError, CallError, Failure, Ran};
use crate::server::current;

/// A binding and how to call through it.
#[derive(Clone, Debug)]
pub struct Client {
    binding: Binding,
    pub(super) deadline: Deadline,
    /// Where there is no time for its calls at all, a time that has passed; else 0.
    passed_ns: u64,
    /// How a thread knows its processor; `None` where calls are not brief: a stub has nothing else
    /// to ask.
    pub(super) numbers: Option<NumberOffset>,
}

impl Client {
    /// Calls through `binding`.
    ///
    /// # Panics
    ///
    /// If the binding was imported for another interface.
    pub fn new(binding: Binding, interface: &'static InterfaceDescriptor) -> Client {
        let bound = binding.interface();
        assert_eq!(
            (bound.name, bound.hash),
            (interface.name, interface.hash),
            "the binding was imported for another interface"
        );
        Client::over(binding, Deadline::default(), 0)
    }

    fn over(binding: Binding, deadline: Deadline, passed_ns: u64) -> Client {
        let has_time = passed_ns == 0;
        let numbers = has_time.then(|| numbers(binding.inner())).flatten();
        Client { binding, deadline, passed_ns, numbers }
    }

    /// The binding.
    pub fn binding(&self) -> &Binding {
        &self.binding
    }

    /// The same, whose calls take at most `deadline`, whatever they wait for, and then end in
    /// `CallAborted`, or unposted in `NoAStack` or `NotExecuted`. With a deadline of 0 nothing is
    /// posted: all calls are `NotExecuted`.
    pub fn with_deadline(&self, deadline: Duration) -> Client {
        let passed_ns = u64::from(deadline.is_zero());
        Client::over(self.binding.clone(), Deadline::new(deadline), passed_ns)
    }

    /// The same, of the server's present life: see [`Binding::rebind`].
    ///
    /// # Errors: as there.
    pub fn rebind(&self) -> Result<Client, BindError> {
        Ok(Client::over(self.binding.rebind()?, self.deadline, self.passed_ns))
    }

    /// Makes a call that may run twice: once more, over a binding to the server's next life, if its
    /// server ends. `call` makes it over the client that it is given. What the first try said is
    /// returned if there is no such life, in the time that the binding's `rebind` and the call's
    /// deadline leave, or if the second has not run.
    #[inline]
    pub fn twice_if_need_be<T, E: Failure>(
        &self,
        call: impl FnMut(&Client) -> Result<T, E>,
    ) -> Result<T, E> {
        self.twice_if_need_be_over(&mut None, call)
    }

    /// The same for a stub whose results borrow the client that they came over: that of the second
    /// try is put into `next`, which is empty.
    #[inline]
    pub fn twice_if_need_be_over<'n, T, E: Failure>(
        &'n self,
        next: &'n mut Option<Client>,
        call: impl FnMut(&'n Client) -> Result<T, E>,
    ) -> Result<T, E> {
        self.twice_if_need_be_until(self.deadline.until_ns(), next, call)
    }

    /// The same of a call that has begun before, and is over then: see [`Client::until_ns`].
    #[inline]
    pub fn twice_if_need_be_until<'n, T, E: Failure>(
        &'n self,
        until_ns: u64,
        next: &'n mut Option<Client>,
        mut call: impl FnMut(&'n Client) -> Result<T, E>,
    ) -> Result<T, E> {
        let (mut client, mut next, mut first) = (self, Some(next), None);
        loop {
            let error = match call(client) {
                Ok(results) => return Ok(results),
                Err(error) => error,
            };
            let Some(next) = next.take() else {
                return Err(told_of(first, error));
            };
            let Some(rebound) = self.rebound_after(error.call_error(), until_ns) else {
                return Err(error);
            };
            client = next.insert(rebound);
            first = Some(error);
        }
    }

    /// The same client of the server's next life, if that is what to do after `error`.
    #[cold]
    #[inline(never)]
    fn rebound_after(&self, error: Option<&CallError>, until_ns: u64) -> Option<Client> {
        let until_ns = self.second_until_ns(error?, until_ns)?;
        self.rebound(self.binding.renewed(until_ns), until_ns)
    }

    /// The same for a task.
    pub(super) async fn rebound_awaited(&self, until_ns: u64) -> Option<Client> {
        self.rebound(self.binding.renewed_awaited(until_ns).await, until_ns)
    }

    /// Until when a second try is to be over, if there is to be one after `error`.
    pub(super) fn second_until_ns(&self, error: &CallError, until_ns: u64) -> Option<u64> {
        let nested_ns = current::until_ns().unwrap_or(NEVER_NS);
        is_worth_another_try(error).then(|| until_ns.min(nested_ns))
    }

    fn rebound(&self, binding: Result<Binding, BindError>, until_ns: u64) -> Option<Client> {
        let failed = |error: &BindError| {
            tracing::info!(name = self.binding.name(), %error, "a call is not made once more");
        };
        let binding = binding.inspect_err(failed).ok()?;
        // Also of a client that has no deadline: the first try may have had that of a procedure
        // which this thread does not serve.
        let deadline = match until_ns {
            NEVER_NS => self.deadline,
            _ => self.deadline.within(until_ns)?,
        };
        Some(Client::over(binding, deadline, self.passed_ns))
    }

    /// What an `@opaque` argument is given as, as what is put.
    ///
    /// # Errors: [`CallError::Usage`] if it is lent to the server of another binding.
    #[inline]
    pub fn opaque<'a>(
        &self,
        argument: impl Into<OpaqueIn<'a>>,
    ) -> Result<OpaqueIn<'a>, Box<CallError>> {
        let argument = argument.into();
        argument.check_binding(&self.binding).map(|()| argument)
    }

    /// Takes an A-stack of class `CLASS` for a call of `procedure`, which is of that class (L20).
    /// May wait for one, as the binding was told. In a procedure whose own caller waits only so
    /// long, the call has no more time than that has left.
    #[inline(always)]
    pub fn claim<'d, const CLASS: usize>(
        &self,
        procedure: u32,
    ) -> Result<Call<'_, 'd>, Box<CallError>> {
        const { assert!(CLASS < CLASSES_MAX) };
        self.claim_of_class(CLASS, procedure)
    }

    /// The same for a stub that is interpreted: it learns the class when it runs.
    ///
    /// # Panics
    ///
    /// If an interface cannot have so many classes.
    #[inline(always)]
    pub fn claim_of_class<'d>(
        &self,
        class: usize,
        procedure: u32,
    ) -> Result<Call<'_, 'd>, Box<CallError>> {
        let deadline = self.deadline_now(procedure)?;
        let (held, deadline) = self.binding.inner().claim(class, procedure, deadline)?;
        Ok(Claimed::new(held, procedure, deadline).call())
    }

    /// The same without waiting for an A-stack: `None` if there is none.
    #[inline(always)]
    pub(super) fn claim_at_once(
        &self,
        class: usize,
        procedure: u32,
    ) -> Result<Option<Claimed<'_>>, Box<CallError>> {
        let deadline = self.deadline_now(procedure)?;
        let claimed = self.binding.inner().claim_at_once(class, procedure, deadline)?;
        Ok(claimed.map(|(held, deadline)| Claimed::new(held, procedure, deadline)))
    }

    /// The same for a call that is awaited: a task that finds no A-stack lets others run.
    #[inline(always)]
    pub fn claim_awaited<const CLASS: usize>(&self, procedure: u32) -> Claiming<'_> {
        const { assert!(CLASS < CLASSES_MAX) };
        self.claim_awaited_of_class(CLASS, procedure)
    }

    /// The same for a stub that is interpreted: as [`Client::claim_of_class`].
    #[inline(always)]
    pub fn claim_awaited_of_class(&self, class: usize, procedure: u32) -> Claiming<'_> {
        Claiming::new(self, class, procedure)
    }

    /// Posts a call of this client's; what it evaluates to, by `read`, is awaited.
    #[inline(always)]
    pub fn post_awaited<'b, T, E, F>(
        &'b self,
        call: Call<'b, '_>,
        fixed_bytes: u32,
        read: F,
    ) -> Result<Awaiting<'b, T, E>, Box<CallError>>
    where
        E: From<Box<CallError>>,
        F: Fn(Reply<'b>) -> Result<T, E> + Copy,
    {
        call.post_awaited(fixed_bytes, reader(read))
    }

    /// The same of a brief call of class `CLASS`, whose results take `REPLY` bytes.
    #[inline(always)]
    pub fn post_awaited_brief<'b, const CLASS: usize, const REPLY: u32, T, E, F>(
        &'b self,
        call: Call<'b, '_>,
        fixed_bytes: u32,
        read: F,
    ) -> Result<Awaiting<'b, T, E>, Box<CallError>>
    where
        E: From<Box<CallError>>,
        F: for<'r> Fn(BriefResults<'r>) -> Result<T, E> + Copy,
    {
        let read = brief_reader::<CLASS, REPLY, _, _, _>(read);
        call.post_awaited(fixed_bytes, read)
    }

    /// When a call is over that begins now, on this domain's clock.
    pub fn until_ns(&self) -> u64 {
        let until_ns = self.deadline.until_ns();
        current::until_ns().map_or(until_ns, |nested_ns| until_ns.min(nested_ns))
    }

    /// Of a call that begins now.
    #[inline(always)]
    pub(super) fn deadline_now(&self, procedure: u32) -> Result<Deadline, Box<CallError>> {
        match current::until_ns_or(self.passed_ns) {
            None => Ok(self.deadline),
            Some(until_ns) => self.nested_deadline(procedure, until_ns),
        }
    }

    /// For a call that has no time, or that this thread makes in a procedure whose client waits
    /// until then.
    #[inline(always)]
    fn nested_deadline(&self, procedure: u32, until_ns: u64) -> Result<Deadline, Box<CallError>> {
        let until_ns = if self.passed_ns == 0 { until_ns } else { self.passed_ns };
        match nested_ns(self.deadline, until_ns) {
            0 => Err(Box::new(self.binding.inner().late(procedure))),
            ns => Ok(Deadline { ns, word: word_of(ns) }),
        }
    }
}

/// What is told of a call whose second try has failed.
pub(super) fn told_of<E: Failure>(first: Option<E>, second: E) -> E {
    let has_not_run = second.call_error().is_some_and(|error| error.ran() == Ran::No);
    first.filter(|_| has_not_run).unwrap_or(second)
}

/// What there is of both; 0: it has passed. A word, so that a stub has it in a register.
#[inline(never)]
fn nested_ns(deadline: Deadline, until_ns: u64) -> u64 {
    deadline.within(until_ns).map_or(0, |within| within.ns)
}

/// As above.
#[inline(never)]
fn word_of(ns: u64) -> u32 {
    Deadline::of_ns(ns).word
}

#[cfg(test)]
mod tests {
    use nearcall_abi::AStackClass;
    use nearcall_os::clock;

    use super::*;
    use crate::testing::{Null, TestServer, null_interface};

    static NULL: InterfaceDescriptor = null_interface(&[AStackClass { block_bytes: 0, count: 1 }]);

    #[test]
    fn a_second_try_is_over_when_the_first_was_to_be_also_on_a_thread_that_serves_nothing() {
        let server = TestServer::new("second-try", Null(&NULL));
        let client = Client::new(server.import(), &NULL);
        let hour = Duration::from_secs(3600);
        let until_ns = clock::now_ns() + hour.as_nanos() as u64;
        let rebound = client.rebound(Ok(server.import()), until_ns).unwrap();
        assert!(rebound.deadline.ns > 0 && rebound.deadline.ns <= hour.as_nanos() as u64);
        let within = client.with_deadline(Duration::from_secs(1));
        assert_eq!(
            within.rebound(Ok(server.import()), until_ns).unwrap().deadline,
            within.deadline
        );
        assert!(client.rebound(Ok(server.import()), clock::now_ns()).is_none());
        let never = client.rebound(Ok(server.import()), NEVER_NS).unwrap();
        assert_eq!(never.deadline, client.deadline);
    }
}
