//! Why a call has no results, as exceptions of `nearcall.errors`.

use std::cell::RefCell;
use std::path::Path;

use nearcall::{BindError, CallError, ExportError, NotPut, Ran, UsageError};
use nearcall_policy::PolicyError;
use pyo3::exceptions::{PyBaseException, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::descriptor::Passed;
use crate::write::Wrong;

thread_local! {
    /// What a signal handler raised while this thread waited.
    static RAISED: RefCell<Option<PyErr>> = const { RefCell::new(None) };
}

/// Whether this thread's wait is to end, as a signal handler of Python has raised. Called without
/// the interpreter's lock.
pub fn is_interrupted() -> bool {
    let raised = Python::attach(|py| py.check_signals().err());
    let is_raised = raised.is_some();
    if is_raised {
        RAISED.set(raised);
    }
    is_raised
}

/// What a signal handler raised while the call waited that has just ended.
pub fn take_raised() -> Option<PyErr> {
    RAISED.take()
}

/// An exception of the package.
fn exception(py: Python<'_>, class: &str, message: String, ran: &str) -> PyResult<PyErr> {
    let errors = py.import("nearcall.errors")?;
    let keywords = PyDict::new(py);
    keywords.set_item("ran", errors.getattr("Ran")?.getattr(ran)?)?;
    let made = errors.getattr(class)?.call((message,), Some(&keywords))?;
    Ok(PyErr::from_value(made))
}

/// The client of an exchange has given a side up, or an item is none of it.
pub fn of_not_put(py: Python<'_>, not_put: &NotPut) -> PyErr {
    match not_put {
        NotPut::GivenUp => made(py, "GivenUp", not_put.to_string(), "YES"),
        NotPut::Refused(_) => made(py, "UsageError", not_put.to_string(), "NO"),
    }
}

/// Whether that was raised.
pub fn is_given_up(raised: &Bound<'_, PyBaseException>) -> PyResult<bool> {
    let class = raised.py().import("nearcall.errors")?.getattr("GivenUp")?;
    raised.is_instance(&class)
}

fn made(py: Python<'_>, class: &str, message: String, ran: &str) -> PyErr {
    exception(py, class, message, ran).unwrap_or_else(|error| error)
}

/// Why a call has no results.
pub fn of_call(py: Python<'_>, error: &CallError) -> PyErr {
    let class = match error {
        CallError::Usage(UsageError::Outstanding { .. }) => "Outstanding",
        CallError::Usage(_) => "UsageError",
        CallError::NoAStack { .. } => "NoAStack",
        CallError::NotExecuted { .. } => "NotExecuted",
        CallError::CallFailed { .. } => "CallFailed",
        CallError::CallAborted { .. } => "CallAborted",
        CallError::Panicked { .. } => "Panicked",
        CallError::ResultsRefused { .. } => "ResultsRefused",
        CallError::Peer { .. } => "Peer",
        _ => "CallError",
    };
    let ran = match error.ran() {
        Ran::No => "NO",
        Ran::Maybe => "MAYBE",
        Ran::Yes => "YES",
    };
    made(py, class, error.to_string(), ran)
}

/// Why an argument is not sent.
pub fn of_argument(py: Python<'_>, wrong: Wrong, label: &'static str) -> PyErr {
    unsent(py, wrong.named(label), ("argument", label))
        .unwrap_or_else(|message| made(py, "UsageError", message, "NO"))
}

/// Why a result is not sent, for the server's own people; it is named.
pub fn of_result(py: Python<'_>, wrong: Wrong, label: &'static str) -> PyErr {
    unsent(py, wrong, ("result", label))
        .unwrap_or_else(|message| made(py, "ResultsRefused", message, "YES"))
}

/// The exception that says what is wrong, or what it is if that is for one of ours to say.
fn unsent(py: Python<'_>, wrong: Wrong, (what, label): (&str, &str)) -> Result<PyErr, String> {
    match wrong {
        Wrong::Bound(over) => Err(over.to_string()),
        Wrong::Range(beyond) => Err(beyond.to_string()),
        Wrong::NotOpen { parameter, number, wanted } => {
            Err(format!("{parameter} is {number}, which is not open: no {wanted}"))
        }
        Wrong::Type { of, why } => Ok(PyTypeError::new_err(format!("{of}: {why}"))),
        Wrong::Python(error) => {
            note(py, &error, what, label);
            Ok(error)
        }
    }
}

/// Says of an exception that is somebody else's what it is of. A note is for people: the exception
/// stands without it.
pub fn note(py: Python<'_>, error: &PyErr, what: &str, label: &str) {
    let _ = error.value(py).call_method1("add_note", (format!("of the {what} {label}"),));
}

/// Why a call with these descriptors has no results.
pub fn of_call_with(py: Python<'_>, error: &CallError, passed: &[Passed]) -> PyErr {
    let CallError::Usage(UsageError::WrongDescriptor { parameter, wrong }) = error else {
        return of_call(py, error);
    };
    match passed.iter().find(|one| one.name == *parameter) {
        Some(Passed { number, .. }) => {
            made(py, "UsageError", format!("{parameter} is {number}: {wrong}"), "NO")
        }
        None => of_call(py, error),
    }
}

/// Why there is no binding.
pub fn of_bind(py: Python<'_>, error: &BindError) -> PyErr {
    let class = match error {
        BindError::NoSuchName { .. } => "NoSuchName",
        BindError::NotAdmitted { .. } => "NotAdmitted",
        _ => "BindError",
    };
    made(py, class, error.to_string(), "NO")
}

/// Why a file is no policy to export by.
pub fn of_policy(py: Python<'_>, path: &Path, error: &PolicyError) -> PyErr {
    made(py, "ExportError", error.in_file(path), "NO")
}

/// Why an interface is not exported.
pub fn of_export(py: Python<'_>, error: &ExportError) -> PyErr {
    made(py, "ExportError", error.to_string(), "NO")
}
