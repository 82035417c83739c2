//! Ending a call whose task does not wait for it any more.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::serve_awaited::ServedCall;

thread_local! {
    /// What ends the call that this thread makes.
    static OWN: RefCell<Option<Arc<AtomicBool>>> = const { RefCell::new(None) };
}

/// Says of the calls that one function makes that nobody waits for them any more.
#[pyclass(frozen, module = "nearcall._native")]
pub struct Cancellation {
    is_cancelled: Arc<AtomicBool>,
    /// The call that is served by who makes them, if one is.
    within: Option<Py<ServedCall>>,
}

/// While it lives, the calls of this thread can be cancelled.
struct Cancellable {
    before: Option<Arc<AtomicBool>>,
}

#[pymethods]
impl Cancellation {
    #[new]
    #[pyo3(signature = (within=None))]
    fn new(within: Option<Py<ServedCall>>) -> Cancellation {
        Cancellation { is_cancelled: Arc::default(), within }
    }

    /// What `function` evaluates to, whose calls are aborted like those whose deadline has passed
    /// when this is cancelled; in the middle of the call `within`, if that was given.
    #[pyo3(signature = (function, *arguments))]
    fn run<'py>(
        &self,
        function: &Bound<'py, PyAny>,
        arguments: &Bound<'py, PyTuple>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let _cancellable = self.begin();
        match &self.within {
            Some(served) => served.get().within(|| function.call1(arguments)),
            None => function.call1(arguments),
        }
    }

    /// A call is aborted when its thread looks up from its sleep, within 20 ms.
    fn cancel(&self) {
        // Relaxed: a flag that orders nothing.
        self.is_cancelled.store(true, Ordering::Relaxed);
    }
}

impl Cancellation {
    /// From now on it is this thread's calls that it cancels.
    fn begin(&self) -> Cancellable {
        Cancellable { before: OWN.replace(Some(Arc::clone(&self.is_cancelled))) }
    }
}

impl Drop for Cancellable {
    fn drop(&mut self) {
        OWN.set(self.before.take());
    }
}

/// Whether the call that this thread makes was cancelled.
pub fn is_cancelled() -> bool {
    // Relaxed: as above.
    OWN.with_borrow(|own| own.as_ref().is_some_and(|own| own.load(Ordering::Relaxed)))
}
