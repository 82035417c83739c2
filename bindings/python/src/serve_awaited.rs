//! Procedures that are awaited (docs/design/0022-async.md): a processor sets their calls aside, and
//! the event loop of their server runs them. The processor needs no interpreter.
//!
//! ```text
//!   processor    take ─▶ set_aside ─▶ the loop's queue (wakes.rs)
//!   event loop             Wakes.take ─▶ ServedCall: a task: arguments … ─▶ reply, fail
//! ```

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use nearcall::raw::{Arguments, Deferred, Outcome, Refusal};
use nearcall_os::descriptor::PeerDescriptor;
use pyo3::exceptions::{PyBaseException, PyRuntimeError};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::current::CurrentCall;
use crate::serve::{Object, Unserved, came, given, outcome, reply};
use crate::served_exchange::Opening;
use crate::table::Role;
use crate::wakes::Queue;

/// A call that its event loop has not seen yet.
pub struct SetAside {
    object: Arc<Object>,
    procedure: usize,
    call: Deferred,
    /// The descriptors that came with it.
    came: Vec<PeerDescriptor>,
}

/// A call that an event loop runs. Held by nobody any more, it is to its client what a procedure is
/// that raised what the interface does not know.
#[pyclass(frozen, module = "nearcall._native")]
pub struct ServedCall {
    object: Arc<Object>,
    procedure: usize,
    /// `None` once it was replied to: who knows of it still, as tasks do that its own has begun,
    /// keeps nothing of its client.
    call: Mutex<Option<Deferred>>,
    /// `None` once its arguments were read.
    came: Mutex<Option<Vec<PeerDescriptor>>>,
    /// The exchange that it is to open.
    opening: Mutex<Option<Opening>>,
}

/// Sets a call aside for the loop of this queue. Where that is closed, the procedure does not run.
pub fn set_aside(
    object: &Arc<Object>,
    queue: &Queue,
    procedure: usize,
    arguments: Arguments<'_>,
) -> Outcome {
    let message = &object.plan.procedures[procedure].request;
    let came = came(message, &arguments).map_err(Box::<Refusal>::from)?;
    let variable_at = message.has_payloads.then_some(message.variable_at);
    arguments.defer(variable_at, |call| {
        let call = SetAside { object: Arc::clone(object), procedure, call, came };
        if let Err(call) = queue.push_call(call) {
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

    /// Replies, once.
    fn end<'py>(&self, py: Python<'py>, answer: Result<Bound<'py, PyAny>, Unserved>) {
        let call = self.call().take();
        let Some(call) = call else { return };
        let (object, procedure) = (&self.object, self.procedure);
        let opening = self.opening.lock().unwrap_or_else(PoisonError::into_inner).take();
        call.reply(|arguments| {
            let answer = match opening {
                Some(opening) => answer.and_then(|_| opening.numbers(py, &arguments)),
                None => answer,
            };
            let served = reply(py, &object.plan, procedure, (answer, arguments));
            let ended = outcome(py, object.functions[procedure].as_ref(), served);
            // To the client it is what a panic is; the hook that prints those has nothing to add.
            ended.unwrap_or_else(|_raised| std::panic::resume_unwind(Box::new("raised in Python")))
        });
    }
}

#[pymethods]
impl ServedCall {
    /// The method that is to run.
    #[getter]
    fn function(&self, py: Python<'_>) -> Option<Py<PyAny>> {
        self.object.functions[self.procedure].as_ref().map(|function| function.clone_ref(py))
    }

    /// What there is to know of it; `None` once it was replied to.
    #[getter]
    fn current(&self) -> Option<CurrentCall> {
        self.running().map(CurrentCall::from)
    }

    /// It runs, and its client has given it up, or has gone: nobody will see its results.
    #[getter]
    fn is_cancelled(&self) -> bool {
        self.running().is_some_and(|current| current.is_cancelled())
    }

    /// Whether its last two arguments are the ends of an exchange.
    #[getter]
    fn opens_exchange(&self) -> bool {
        matches!(self.role(), Role::OpensExchange { .. })
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
                if let Role::OpensExchange { next, .. } = self.role() {
                    let exchange = (self.procedure, next);
                    let (opening, ends) = Opening::new(py, &self.object.plan, exchange)?;
                    self.opening.lock().unwrap_or_else(PoisonError::into_inner).replace(opening);
                    values.extend(ends);
                }
                PyTuple::new(py, values).map(Some)
            }
            Err(unserved) => {
                self.end(py, Err(unserved));
                Ok(None)
            }
        }
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

    /// Its task was cancelled: there are no results.
    fn give_up(&self) {
        let call = self.call().take();
        drop(call);
    }
}
