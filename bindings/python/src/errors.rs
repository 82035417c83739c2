//! Why a call has no results, as exceptions of `nearcall.errors`.

use std::cell::RefCell;
use std::path::Path;

use nearcall::{
    BindError, CallError, ExportError, NotExecuted, NotPut, OutOfRange, OverBound, Ran, UsageError,
};
use nearcall_policy::PolicyError;
use pyo3::exceptions::{PyBaseException, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::descriptor::Passed;
use crate::wrong::{Wrong, cut};

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

/// What an exception says beside its message.
#[derive(Default)]
struct Facts {
    ran: &'static str,
    may_retry: bool,
    reason: Option<&'static str>,
    incarnation: Option<u64>,
}

impl Facts {
    /// Of what is over as it is.
    fn ran(ran: &'static str) -> Facts {
        Facts { ran, ..Facts::default() }
    }
}

/// An exception of the package.
fn exception(py: Python<'_>, class: &str, message: String, facts: &Facts) -> PyResult<PyErr> {
    let errors = py.import("nearcall.errors")?;
    let keywords = PyDict::new(py);
    keywords.set_item("ran", errors.getattr("Ran")?.getattr(facts.ran)?)?;
    keywords.set_item("may_retry", facts.may_retry)?;
    if let Some(reason) = facts.reason {
        keywords.set_item("reason", errors.getattr("Reason")?.getattr(reason)?)?;
    }
    if let Some(incarnation) = facts.incarnation {
        keywords.set_item("incarnation", incarnation)?;
    }
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

fn made(py: Python<'_>, class: &str, message: String, ran: &'static str) -> PyErr {
    made_with(py, class, message, &Facts::ran(ran))
}

fn made_with(py: Python<'_>, class: &str, message: String, facts: &Facts) -> PyErr {
    exception(py, class, message, facts).unwrap_or_else(|error| error)
}

/// Why a call has no results.
pub fn of_call(py: Python<'_>, error: &CallError) -> PyErr {
    let ran = match error.ran() {
        Ran::No => "NO",
        Ran::Maybe => "MAYBE",
        Ran::Yes => "YES",
    };
    let (may_retry, incarnation) = (error.may_retry(), error.incarnation());
    let mut facts = Facts { may_retry, incarnation, ..Facts::ran(ran) };
    let class = match error {
        CallError::Usage(UsageError::Outstanding { .. }) => "Outstanding",
        CallError::Usage(_) => "UsageError",
        CallError::NoAStack { .. } => "NoAStack",
        CallError::NotExecuted { reason, .. } => {
            facts.reason = of_not_executed(*reason);
            facts.reason.map_or("CallError", |_| "NotExecuted")
        }
        CallError::CallFailed { .. } => "CallFailed",
        CallError::CallAborted { .. } => "CallAborted",
        CallError::Panicked { .. } => "Panicked",
        CallError::ResultsRefused { .. } => "ResultsRefused",
        CallError::Peer { .. } => "Peer",
        _ => "CallError",
    };
    made_with(py, class, error.to_string(), &facts)
}

/// Why a procedure did not run, as `Reason` has it. `None`: a test has to miss it there.
fn of_not_executed(reason: NotExecuted) -> Option<&'static str> {
    Some(match reason {
        NotExecuted::ServerEnded => "SERVER_ENDED",
        NotExecuted::Revoked => "REVOKED",
        NotExecuted::Refused => "REFUSED",
        NotExecuted::ArgumentsRefused => "ARGUMENTS_REFUSED",
        NotExecuted::NotPermitted => "NOT_PERMITTED",
        NotExecuted::NotProvided => "NOT_PROVIDED",
        NotExecuted::DeadlinePassed => "DEADLINE_PASSED",
        NotExecuted::Overloaded => "OVERLOADED",
        NotExecuted::DescriptorsNotSent => "DESCRIPTORS_NOT_SENT",
        NotExecuted::FeedOver => "FEED_OVER",
        _ => return None,
    })
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
        Wrong::Bound { of, over } => Err(format!("{of}{}", OverBound { parameter: "", ..over })),
        Wrong::Range { of, beyond } => {
            Err(format!("{of}{}", OutOfRange { parameter: "", ..beyond }))
        }
        Wrong::Nesting { of, beyond } => {
            Err(format!("{}{}", cut(of), OutOfRange { parameter: "", ..beyond }))
        }
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
        BindError::OtherInterface { .. } => "OtherInterface",
        BindError::Hash { .. } => "OtherVersion",
        BindError::Overloaded { .. } => "Overloaded",
        BindError::TimedOut { .. } => "TimedOut",
        BindError::NotReady { .. } => "NotReady",
        BindError::ProcessEnded { .. } => "ProcessEnded",
        BindError::NoIntroduction(_) => "NoIntroduction",
        BindError::IntroductionOver { .. } => "IntroductionOver",
        BindError::Introduced { .. } => "Introduced",
        BindError::Revoked { .. } => "Revoked",
        BindError::Name(_)
        | BindError::WrongDescriptor { .. }
        | BindError::Peer { .. }
        | BindError::System { .. } => "BindError",
        _ => "BindError",
    };
    let facts = Facts { may_retry: error.may_retry(), ..Facts::ran("NO") };
    let made = made_with(py, class, error.to_string(), &facts);
    if let BindError::NotReady { last, .. } | BindError::ProcessEnded { last, .. } = error {
        made.set_cause(py, Some(of_bind(py, last)));
    }
    made
}

/// Why a file is no policy to export by.
pub fn of_policy(py: Python<'_>, path: &Path, error: &PolicyError) -> PyErr {
    made(py, "ExportError", error.in_file(path), "NO")
}

/// Why an interface is not exported.
pub fn of_export(py: Python<'_>, error: &ExportError) -> PyErr {
    let facts = Facts { may_retry: error.may_retry(), ..Facts::ran("NO") };
    made_with(py, "ExportError", error.to_string(), &facts)
}
