//! What a procedure in Python learns of the call that it serves.

use std::ffi::c_int;
use std::future::Future;
use std::os::fd::IntoRawFd;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Waker};

use nearcall::CurrentCall as Served;
use pyo3::exceptions::PyOSError;
use pyo3::intern;
use pyo3::prelude::*;

use crate::domain::check_own;
use crate::serve_awaited::ServedCall;
use crate::shown::{self, shown};
use crate::wakes::{CallWaker, Wakes};

/// A call, as the procedure that serves it sees its client.
#[pyclass(frozen, module = "nearcall._native")]
pub struct CurrentCall {
    served: Served,
    /// What has opened the feed that its task is at since it was replied to.
    feed: Option<Py<ServedCall>>,
}

/// What a task waits for that waits for its server's end.
#[pyclass(frozen, module = "nearcall._native")]
pub struct Ending {
    ending: Mutex<nearcall::Ending>,
}

/// Who calls, as the system told when it bound.
#[pyclass(frozen, module = "nearcall._native")]
pub struct Importer {
    own: Arc<nearcall::Importer>,
}

/// The call that this thread serves; `None` outside of a procedure (L54, L55).
///
/// # Cost: one look-up in a table of bindings; ask once a call.
#[pyfunction]
pub fn current_call() -> Option<CurrentCall> {
    nearcall::current_call().map(CurrentCall::from)
}

#[pymethods]
impl CurrentCall {
    /// Its client has given it up, or the feed that it has opened, or has gone: nobody will see its
    /// results.
    #[getter]
    fn is_cancelled(&self) -> bool {
        match &self.feed {
            Some(feed) => feed.get().is_feed_over(),
            None => self.served.is_cancelled(),
        }
    }

    /// Its server ends: the clerk that has exported its interface was withdrawn, or this process's
    /// part is being shut down, as at exit. Its results still arrive, if its client is there.
    #[getter]
    fn is_ending(&self) -> bool {
        self.served.is_ending()
    }

    /// Waits, in a task, until its server ends.
    fn ending<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let ending = Ending { ending: Mutex::new(self.served.ending()) };
        py.import(intern!(py, "nearcall.waiting"))?.call_method1(intern!(py, "ready"), (ending,))
    }

    /// How long its client still waits, seconds; `None`: as long as it takes, as for a feed.
    #[getter]
    fn time_left(&self) -> Option<f64> {
        let left = self.served.time_left().filter(|_| self.feed.is_none());
        left.map(|left| left.as_secs_f64())
    }

    /// Who made it.
    #[getter]
    fn importer(&self) -> Importer {
        Importer { own: Arc::clone(self.served.importer()) }
    }

    /// Who has introduced the importer; `None`: it came by the name.
    #[getter]
    fn giver(&self) -> Option<Importer> {
        self.served.giver().map(|giver| Importer { own: Arc::clone(giver) })
    }

    fn __repr__(&self) -> String {
        let state = match &self.feed {
            _ if check_own().is_err() => shown::PARENTS,
            Some(_) => "at its feed",
            None if self.served.is_cancelled() => "cancelled",
            None => "running",
        };
        shown("CurrentCall", &format!("of {}", self.importer().__repr__()), state)
    }
}

#[pymethods]
impl Ending {
    /// Whether it has come; if not, `wakes` is told by this number when it has.
    fn is_ready(&self, wakes: &Wakes, number: u64) -> bool {
        let waker = Waker::from(Arc::new(CallWaker::new(number, wakes.inbox())));
        let mut ending = self.ending.lock().unwrap_or_else(PoisonError::into_inner);
        Pin::new(&mut *ending).poll(&mut Context::from_waker(&waker)).is_ready()
    }
}

#[pymethods]
impl Importer {
    /// Its number, for people: another process may have it by now.
    #[getter]
    fn pid(&self) -> Option<u32> {
        self.own.pid()
    }

    /// Its user; `None` if this namespace has no number for it.
    #[getter]
    fn uid(&self) -> Option<u32> {
        self.own.uid()
    }

    /// Its group; `None` likewise.
    #[getter]
    fn gid(&self) -> Option<u32> {
        self.own.gid()
    }

    /// Whether it is in this group, beside its own one.
    fn is_in_group(&self, group: u32) -> bool {
        self.own.is_in_group(group)
    }

    /// Whether all groups that it is in beside its own one have numbers here: where not, it may be
    /// in any.
    #[getter]
    fn are_groups_all(&self) -> bool {
        self.own.are_groups_all()
    }

    /// Its control group, as a path; `None` if the system does not tell, or its binding has gone.
    ///
    /// # Cost: some system calls, without the interpreter's lock.
    fn cgroup(&self, py: Python<'_>) -> Option<String> {
        py.detach(|| self.own.cgroup())
    }

    /// Its security label, as it was when it connected; `None` if the system has none.
    #[getter]
    fn label(&self) -> Option<&str> {
        self.own.label()
    }

    /// A pidfd: what identifies it, and can be read once it has ended. Whoever asked closes it.
    ///
    /// # Errors: `OSError`: its binding has gone; it ended so long ago that the kernel has nothing
    /// more to tell of it; or this process has no room for a descriptor.
    ///
    /// # Cost: up to three system calls.
    fn pidfd(&self, py: Python<'_>) -> PyResult<c_int> {
        let refused = match self.own.pidfd() {
            Ok(pidfd) => return Ok(pidfd.into_raw_fd()),
            Err(refused) => refused,
        };
        // By its number Python knows what kind of error it is, and says so by `errno`.
        let Some(number) = refused.raw_os_error() else { return Err(refused.into()) };
        let words =
            py.import(intern!(py, "os"))?.call_method1(intern!(py, "strerror"), (number,))?;
        Err(PyOSError::new_err((number, words.unbind())))
    }

    fn __repr__(&self) -> String {
        let number = |number: Option<u32>| number.map_or("None".to_owned(), |one| one.to_string());
        let [pid, uid, gid] = [self.pid(), self.uid(), self.gid()].map(number);
        format!("Importer(pid={pid}, uid={uid}, gid={gid})")
    }
}

impl From<Served> for CurrentCall {
    fn from(served: Served) -> CurrentCall {
        CurrentCall { served, feed: None }
    }
}

impl CurrentCall {
    /// As the task sees its client that is at the feed which `call` has opened.
    pub fn of_feed(served: Served, call: Py<ServedCall>) -> CurrentCall {
        CurrentCall { served, feed: Some(call) }
    }
}
