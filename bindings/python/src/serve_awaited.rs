//! Procedures that are awaited (docs/design/0022-async.md): a processor sets their calls aside, and
//! the event loop of their server runs them. The processor needs no interpreter.
//!
//! ```text
//!   processor    take ─▶ set_aside ─▶ the loop's inbox (wakes.rs)
//!   event loop             Wakes.take ─▶ ServedCall: a task: arguments … ─▶ reply, fail
//! ```

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use nearcall::raw::{Arguments, Deferred, Inbox, Outcome, Refusal};
use pyo3::exceptions::{PyBaseException, PyRuntimeError};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::current::CurrentCall;
use crate::descriptor::Came;
use crate::domain;
use crate::errors;
use crate::serve::{Object, Unserved, came, given, outcome, reply};
use crate::served_one_way::End;
use crate::table::{Plan, Role};
use crate::wakes::Told;
use crate::{served_exchange, served_one_way};

/// A call that its event loop has not seen yet.
pub struct SetAside {
    object: Arc<Object>,
    procedure: usize,
    call: Deferred,
    /// The descriptors that came with it.
    came: Vec<Came>,
}

/// A call that an event loop runs. Held by nobody any more, it is to its client what a procedure is
/// that raised what the interface does not know; one whose arguments nobody has read did not run.
#[pyclass(frozen, module = "nearcall._native")]
pub struct ServedCall {
    object: Arc<Object>,
    procedure: usize,
    /// `None` once it was replied to: who knows of it still, as tasks do that its own has begun,
    /// keeps nothing of its client.
    call: Mutex<Option<Deferred>>,
    /// `None` once its arguments were read.
    came: Mutex<Option<Vec<Came>>>,
    /// What it is to open.
    opening: Mutex<Option<Opening>>,
    /// The feed to one side that it has opened, until its task is done.
    of_feed: Mutex<Option<OfFeed>>,
}

/// A feed to one side, as the task has it that makes or takes its items.
struct OfFeed {
    /// Where goes what its task comes to.
    end: End,
    /// Who that is for.
    opened_by: nearcall::CurrentCall,
}

/// What the runtime keeps of what a call opens until it has numbers.
enum Opening {
    Exchange(served_exchange::Opening),
    OneWay(served_one_way::Opening),
}

/// Sets a call aside for the loop of this inbox. Where that is closed, the procedure does not run.
pub fn set_aside(
    object: &Arc<Object>,
    inbox: &Inbox<Told>,
    procedure: usize,
    arguments: Arguments<'_>,
) -> Outcome {
    let message = &object.plan.procedures[procedure].request;
    let came = came(message, &arguments).map_err(Box::<Refusal>::from)?;
    let variable_at = message.has_payloads.then_some(message.variable_at);
    arguments.defer(variable_at, |call| {
        let call = SetAside { object: Arc::clone(object), procedure, call, came };
        if let Err(Told::Came(call)) = inbox.push(Told::Came(call)) {
            call.refuse();
        }
    })
}

impl SetAside {
    /// Nobody is there to run it.
    pub fn refuse(self) {
        self.call.reply(|_| Err(Box::new(Refusal::Ended)));
    }

    /// As its event loop has it.
    pub fn served(self) -> ServedCall {
        ServedCall {
            object: self.object,
            procedure: self.procedure,
            call: Mutex::new(Some(self.call)),
            came: Mutex::new(Some(self.came)),
            opening: Mutex::default(),
            of_feed: Mutex::default(),
        }
    }
}

impl ServedCall {
    /// What there is to know of it as long as it runs.
    fn running(&self) -> Option<nearcall::CurrentCall> {
        self.call().as_ref().map(|call| call.current().clone())
    }

    fn role(&self) -> Role {
        self.object.plan.procedures[self.procedure].role
    }

    fn of_feed(&self) -> MutexGuard<'_, Option<OfFeed>> {
        self.of_feed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Its feed has ended, or nobody wants more of it.
    pub fn is_feed_over(&self) -> bool {
        self.of_feed().as_ref().is_none_or(|feed| feed.end.is_given_up())
    }

    fn will_open(&self, opening: Opening, end: Option<End>) {
        self.opening.lock().unwrap_or_else(PoisonError::into_inner).replace(opening);
        let feed = end.zip(self.running());
        *self.of_feed() = feed.map(|(end, opened_by)| OfFeed { end, opened_by });
    }

    /// Makes the ends of what it opens; those that its procedure is given, behind its arguments.
    fn prepare<'py>(
        &self,
        py: Python<'py>,
        values: &mut impl Extend<Bound<'py, PyAny>>,
    ) -> PyResult<()> {
        let (plan, index) = (&self.object.plan, self.procedure);
        match self.role() {
            Role::OpensExchange { next, .. } => {
                let (opening, ends) = served_exchange::Opening::new(py, plan, (index, next))?;
                values.extend(ends);
                self.will_open(Opening::Exchange(opening), None);
            }
            Role::OpensSource { next } => {
                let (opening, outlet) = served_one_way::Opening::source(py, plan, (index, next))?;
                values.extend([outlet.bind(py).clone().into_any()]);
                self.will_open(Opening::OneWay(opening), Some(End::Outlet(outlet)));
            }
            Role::OpensTaker { .. } => {
                let (opening, inlet, answer) = served_one_way::Opening::taker(py, plan, index)?;
                values.extend([inlet.into_bound(py).into_any()]);
                self.will_open(Opening::OneWay(opening), Some(answer));
            }
            _ => {}
        }
        Ok(())
    }

    fn call(&self) -> MutexGuard<'_, Option<Deferred>> {
        self.call.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does `work`, whose calls have no more time than this one, as long as that runs: its task may
    /// have begun others that go on.
    pub fn within<T>(&self, work: impl FnOnce() -> T) -> T {
        match self.running() {
            Some(current) => current.within(work),
            None => work(),
        }
    }

    /// Replies, once. What comes after that is what became of the feed that it has opened.
    fn end<'py>(&self, py: Python<'py>, answer: Result<Bound<'py, PyAny>, Unserved>) {
        let call = self.call().take();
        let Some(call) = call else { return self.end_feed(py, answer) };
        let (object, procedure) = (&self.object, self.procedure);
        let opening = self.opening.lock().unwrap_or_else(PoisonError::into_inner).take();
        call.reply(|arguments| {
            let answer = match opening {
                Some(Opening::Exchange(opening)) => {
                    answer.and_then(|_| opening.numbers(py, &arguments))
                }
                Some(Opening::OneWay(opening)) => {
                    answer.and_then(|_| opening.number(py, &arguments))
                }
                None => answer,
            };
            let served = reply(py, &object.plan, procedure, (answer, arguments));
            let ended = outcome(py, object.functions[procedure].as_ref(), served);
            // To the client it is what a panic is; the hook that prints those has nothing to add.
            ended.unwrap_or_else(|_raised| std::panic::resume_unwind(Box::new("raised in Python")))
        });
    }

    /// Its feed has come to this. An error that no client asks for any more is shown at once to the
    /// server's own people.
    fn end_feed<'py>(&self, py: Python<'py>, answer: Result<Bound<'py, PyAny>, Unserved>) {
        let of_feed = self.of_feed().take();
        let untold = of_feed.and_then(|OfFeed { end, .. }| end.end(answer));
        let Some(Unserved::Python(error)) = untold else { return };
        let object = &self.object;
        if !is_clients(py, &object.plan, self.procedure, &error).unwrap_or(false) {
            let function = object.functions[self.procedure].as_ref();
            error.write_unraisable(py, function.map(|function| function.bind(py)));
        }
    }
}

impl Drop for ServedCall {
    /// As where its task was cancelled before it has begun, with its loop. A child that was forked
    /// waits for no lock here.
    fn drop(&mut self) {
        let came = self.came.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        let call = self.call.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        let_go(call, came.is_none());
    }
}

/// Nobody will reply. A procedure has begun once it has its arguments.
fn let_go(call: Option<Deferred>, has_begun: bool) {
    match call {
        Some(call) if !has_begun => call.reply(|_| Err(Box::new(Refusal::Ended))),
        begun => drop(begun),
    }
}

/// Whether what was raised is the client's alone to know: an exception of the interface, or that it
/// has given the feed up.
fn is_clients(py: Python<'_>, plan: &Plan, procedure: usize, error: &PyErr) -> PyResult<bool> {
    let raised = error.value(py);
    for (row, _) in &plan.procedures[procedure].raised {
        if raised.is_instance(plan.table[*row].class.bind(py))? {
            return Ok(true);
        }
    }
    errors::is_given_up(raised)
}

#[pymethods]
impl ServedCall {
    /// The method that is to run.
    #[getter]
    fn function(&self, py: Python<'_>) -> Option<Py<PyAny>> {
        self.object.functions[self.procedure].as_ref().map(|function| function.clone_ref(py))
    }

    /// What there is to know of it; `None` once it was replied to, and the feed to one side is over
    /// that it has opened.
    #[getter]
    fn current(own: &Bound<'_, Self>) -> Option<CurrentCall> {
        let call = own.get();
        let running = call.running().map(CurrentCall::from);
        running.or_else(|| {
            let opened_by = call.of_feed().as_ref()?.opened_by.clone();
            Some(CurrentCall::of_feed(opened_by, own.clone().unbind()))
        })
    }

    /// It runs, and its client has given it up, or the feed that it has opened, or has gone: nobody
    /// will see its results.
    #[getter]
    fn is_cancelled(&self) -> bool {
        match self.running() {
            Some(current) => current.is_cancelled(),
            None => self.of_feed().as_ref().is_some_and(|feed| feed.end.is_given_up()),
        }
    }

    /// What it opens: its last argument is an outlet for the items of a `source`, and an inlet for
    /// those of a `taker`, its last two are those of an `exchange`.
    #[getter]
    fn opens(&self) -> Option<&'static str> {
        match self.role() {
            Role::OpensSource { .. } => Some("source"),
            Role::OpensTaker { .. } => Some("taker"),
            Role::OpensExchange { .. } => Some("exchange"),
            _ => None,
        }
    }

    /// Its arguments, once. `None`: they are not what the interface promises, and it was refused.
    fn arguments<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        let came = self.came.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(came) = came else {
            return Err(PyRuntimeError::new_err("its arguments were read before"));
        };
        let message = &self.object.plan.procedures[self.procedure].request;
        // Not within the lock: what is made may have others collected, whose end may ask for it.
        let Some(call) = self.call().take() else { return Ok(None) };
        let values =
            call.read(|arguments| given(py, &self.object.plan.table, (message, came), &arguments));
        self.call().replace(call);
        match values {
            Ok(mut values) => {
                self.prepare(py, &mut values)?;
                PyTuple::new(py, values).map(Some)
            }
            Err(unserved) => {
                self.end(py, Err(unserved));
                Ok(None)
            }
        }
    }

    /// Opens its feed to one side: from here on there are items, and results are the feed's.
    fn open(&self, py: Python<'_>) {
        self.end(py, Ok(py.None().into_bound(py)));
    }

    /// Its procedure has returned.
    fn reply(&self, results: &Bound<'_, PyAny>) {
        self.end(results.py(), Ok(results.clone()));
    }

    /// Its procedure has raised.
    fn fail(&self, raised: &Bound<'_, PyBaseException>) {
        let error = PyErr::from_value(raised.as_any().clone());
        self.end(raised.py(), Err(Unserved::Python(error)));
    }

    /// Its task was cancelled: there are no results, nor more items.
    fn give_up(&self) {
        if domain::check_own().is_err() {
            // It is a parent's, and the locks may be held here for good.
            return;
        }
        let came = self.came.lock().unwrap_or_else(PoisonError::into_inner).take();
        let call = self.call().take();
        let_go(call, came.is_none());
        let of_feed = self.of_feed().take();
        if let Some(OfFeed { end, .. }) = of_feed {
            end.end(Err(Unserved::Cancelled));
        }
    }
}
