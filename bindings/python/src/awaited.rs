//! Calls that are awaited (docs/design/0022-async.md): posted at once, and polled by the event loop
//! when it is woken (see `wakes.rs`). No thread waits.
//!
//! ```text
//!   await client.add(2, 3) ─▶ begin ─▶ poll: claim, fill, post ─▶ poll … ─▶ outcome
//!                                ├──────── give_up: the task was cancelled ─▶ the server sees it
//!                                └──────── its server has ended, and it may run twice ─▶ Pending,
//!                                          which a thread collects: it binds anew, and may wait
//! ```

use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker, ready};

use nearcall::CallError;
use nearcall::raw::{Awaiting, Claiming, Client, Reply, is_worth_another_try};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use self_cell::self_cell;
use send_wrapper::SendWrapper;

use crate::call::{Binding, Replied, fill_call, replied, results};
use crate::errors;
use crate::messages::{Filled, Side};
use crate::pending::{Again, Pending, UnderWay};
use crate::serve_awaited::ServedCall;
use crate::table::{Plan, Procedure};
use crate::wakes::{CallWaker, Wakes, wake_number};

/// Most bytes of arguments that are copied by the event loop itself.
const LOOP_BYTES_MAX: u64 = 256 << 10;

/// How far a call is.
enum Stage<'b> {
    Claiming(Claiming<'b>),
    Posted(Awaiting<'b, Reply<'b>, Box<CallError>>),
    Over,
}

self_cell!(
    /// A call, and the client that it goes through.
    struct Going {
        owner: Client,
        #[not_covariant]
        dependent: Stage,
    }
);

/// A call that a task awaits. Held by nobody any more, it is given up.
#[pyclass(frozen, module = "nearcall._native")]
pub struct AwaitedCall {
    plan: Arc<Plan>,
    procedure: usize,
    /// The call that is served by who awaits it, if one is.
    within: Option<Py<ServedCall>>,
    /// When both tries are over of what may run twice.
    until_ns: u64,
    waker: Arc<CallWaker>,
    /// Its last poll has woken it.
    is_woken: AtomicBool,
    state: Mutex<State>,
}

enum State {
    Going(Going, Filled),
    Ended(PyResult<Py<PyAny>>),
    /// It is being polled, or its outcome was taken, or it was given up.
    Over,
}

/// How far a poll has come.
enum Went {
    /// It waits.
    On,
    Over(PyResult<Py<PyAny>>),
    /// The first try of what may run twice; the next life of its server may have the second.
    Lost(Box<CallError>),
}

/// What a poll says.
#[derive(IntoPyObject)]
pub enum Polled {
    IsOver(bool),
    Again(Pending),
}

/// Begins a call of the procedure of this index, which `wakes` is to tell of; in the middle of the
/// call `within`, if that is given. `None`: a thread is to make it, as its arguments take long to
/// copy.
#[pyfunction]
#[pyo3(signature = (binding, wakes, within, procedure, *arguments))]
pub fn begin(
    binding: &Bound<'_, Binding>,
    wakes: &Wakes,
    within: Option<Py<ServedCall>>,
    procedure: usize,
    arguments: &Bound<'_, PyTuple>,
) -> PyResult<Option<AwaitedCall>> {
    let binding = binding.get();
    let (plan, filled) = binding.filled(procedure, arguments, Side::Client)?;
    if filled.variable_bytes() > LOOP_BYTES_MAX {
        return Ok(None);
    }
    let until_ns = match (&within, plan.is_retried) {
        (_, false) => 0,
        (None, true) => binding.client().until_ns(),
        (Some(served), true) => served.get().within(|| binding.client().until_ns()),
    };
    let going = Going::new(binding.client().clone(), |client| {
        Stage::Claiming(client.claim_awaited_of_class(plan.class, procedure as u32))
    });
    Ok(Some(AwaitedCall {
        plan: Arc::clone(binding.plan()),
        procedure,
        within,
        until_ns,
        waker: Arc::new(CallWaker::new(wake_number(), wakes.inbox())),
        is_woken: AtomicBool::new(false),
        state: Mutex::new(State::Going(going, filled)),
    }))
}

impl AwaitedCall {
    fn procedure(&self) -> &Procedure {
        &self.plan.procedures[self.procedure]
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Nothing is held while others run.
    fn take(&self) -> State {
        std::mem::replace(&mut *self.state(), State::Over)
    }

    /// Goes on, and says how far.
    fn advance(&self, py: Python<'_>, going: &mut Going, filled: &Filled) -> Went {
        let waker = Waker::from(Arc::clone(&self.waker));
        let procedure = self.procedure();
        let called = (procedure, self.procedure as u32);
        going.with_dependent_mut(|client, stage| {
            // It copies, yields to its server and makes system calls.
            let mut poll = || stage.poll(client, called, filled, &waker);
            let within = self.within.as_ref().map(Py::get);
            let polled = py.detach(|| {
                SendWrapper::new(match within {
                    Some(served) => served.within(poll),
                    None => poll(),
                })
            });
            Went::Over(match polled.take() {
                Poll::Pending => return Went::On,
                Poll::Ready(Ok(Some(replied))) => {
                    results(py, &self.plan, procedure, replied).map(Bound::unbind)
                }
                Poll::Ready(Ok(None)) => Ok(py.None()),
                Poll::Ready(Err(error)) => {
                    if procedure.is_retried && is_worth_another_try(&error) {
                        return Went::Lost(error);
                    }
                    Err(errors::of_call_with(py, &error, &filled.passed))
                }
            })
        })
    }

    /// The call of which this became of the first try, for a thread to collect.
    fn again(&self, going: Going, filled: Filled, lost: Box<CallError>) -> Pending {
        let under_way = UnderWay::new(going.into_owner(), |_| Some(Err(lost)));
        let again = Again { until_ns: self.until_ns, filled };
        Pending::new((under_way, Some(Box::new(again))), Arc::clone(&self.plan), self.procedure)
    }
}

impl<'b> Stage<'b> {
    fn poll(
        &mut self,
        client: &'b Client,
        (procedure, index): (&Procedure, u32),
        filled: &Filled,
        waker: &Waker,
    ) -> Poll<Result<Option<Replied<'b>>, Box<CallError>>> {
        let context = &mut Context::from_waker(waker);
        if let Stage::Claiming(claiming) = self {
            let claimed = ready!(Pin::new(claiming).poll(context))?;
            *self = Stage::Over;
            let call = fill_call(claimed.call(), client, procedure, filled)?;
            let fixed_bytes = procedure.request.fixed_bytes as u32;
            if procedure.is_oneway {
                return Poll::Ready(call.post_oneway(fixed_bytes).map(|()| None));
            }
            *self = Stage::Posted(client.post_awaited(call, fixed_bytes, Ok)?);
        }
        let Stage::Posted(posted) = self else {
            unreachable!("call {index} is not polled after it was ready");
        };
        let reply = ready!(Pin::new(posted).poll(context)).map_err(|error| *error)?;
        Poll::Ready(replied(procedure, reply).map(Some))
    }
}

#[pymethods]
impl AwaitedCall {
    /// What its wake is told by.
    #[getter]
    fn number(&self) -> u64 {
        self.waker.number()
    }

    /// Whether the last poll has woken it: it is to be polled when all that is ready has run.
    #[getter]
    fn is_woken(&self) -> bool {
        // Relaxed: read by who has polled.
        self.is_woken.load(Ordering::Relaxed)
    }

    /// Goes on as far as it can without waiting. True: it is over. A call in its place, which a
    /// thread is to collect: its server has ended, and it may run twice.
    fn poll(&self, py: Python<'_>) -> Polled {
        let (mut going, filled) = match self.take() {
            State::Going(going, filled) => (going, filled),
            over => {
                *self.state() = over;
                return Polled::IsOver(true);
            }
        };
        self.waker.begin_poll();
        let went = self.advance(py, &mut going, &filled);
        let is_woken = self.waker.end_poll();
        // Relaxed: as above.
        self.is_woken.store(is_woken, Ordering::Relaxed);
        let (state, polled) = match went {
            Went::On => (State::Going(going, filled), Polled::IsOver(false)),
            Went::Over(outcome) => (State::Ended(outcome), Polled::IsOver(true)),
            Went::Lost(error) => (State::Over, Polled::Again(self.again(going, filled, error))),
        };
        *self.state() = state;
        polled
    }

    /// What the call evaluates to, or raises, once it is over. Once.
    fn outcome(&self) -> PyResult<Py<PyAny>> {
        match self.take() {
            State::Ended(outcome) => outcome,
            State::Going(..) | State::Over => Err(PyRuntimeError::new_err("there is no outcome")),
        }
    }

    /// Nobody awaits it any more: the server sees it, and does not run it if it has not begun to.
    fn give_up(&self) {
        drop(self.take());
    }
}
