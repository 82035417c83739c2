//! Waking an event loop when a call that is awaited is to be polled again, or when one has come for
//! a server of its (docs/design/0022-async.md), through an inbox of the runtime's. Whoever wakes
//! needs no interpreter.

use std::os::fd::{AsFd, AsRawFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use nearcall::raw::{Inbox, NumberedWaker};
use pyo3::prelude::*;

use crate::serve_awaited::{ServedCall, SetAside};

/// Of the next that waits to be woken.
static NUMBER: AtomicU64 = AtomicU64::new(0);

/// Who of one event loop was woken, and what has come for it.
#[pyclass(frozen, module = "nearcall._native")]
pub struct Wakes {
    inbox: Arc<Inbox<Told>>,
}

/// What an event loop is told.
pub enum Told {
    /// The call of this number was woken.
    Woken(u64),
    /// This one has come.
    Came(SetAside),
}

/// What wakes one call.
pub type CallWaker = NumberedWaker<Told>;

/// What nobody else is woken by.
#[pyfunction]
pub fn wake_number() -> u64 {
    // Relaxed: all that matters is that no two are the same.
    NUMBER.fetch_add(1, Ordering::Relaxed)
}

#[pymethods]
impl Wakes {
    #[new]
    fn new() -> PyResult<Wakes> {
        Ok(Wakes { inbox: Arc::new(Inbox::new()?) })
    }

    /// What the loop watches, as long as this lives: it can be read when `take` has something.
    fn fileno(&self) -> i32 {
        self.inbox.as_fd().as_raw_fd()
    }

    /// The numbers of all that was woken since, and the calls that have come for servers of this
    /// loop.
    fn take(&self) -> (Vec<u64>, Vec<ServedCall>) {
        let (mut woken, mut calls) = (Vec::new(), Vec::new());
        for told in self.inbox.take() {
            match told {
                Told::Woken(number) => woken.push(number),
                Told::Came(call) => calls.push(call.served()),
            }
        }
        (woken, calls)
    }

    /// The loop is closed: nobody runs what has come, nor what comes.
    fn close(&self) {
        for told in self.inbox.close() {
            if let Told::Came(call) = told {
                call.refuse();
            }
        }
    }
}

impl Wakes {
    /// Where its loop is told.
    pub fn inbox(&self) -> &Arc<Inbox<Told>> {
        &self.inbox
    }
}

impl Drop for Wakes {
    fn drop(&mut self) {
        self.close();
    }
}

impl From<u64> for Told {
    fn from(number: u64) -> Told {
        Told::Woken(number)
    }
}
