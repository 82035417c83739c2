//! Ending a call whose task does not wait for it any more.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use pyo3::prelude::*;

thread_local! {
    /// What ends the call that this thread makes.
    static OWN: RefCell<Option<Arc<AtomicBool>>> = const { RefCell::new(None) };
}

/// Says of one call that nobody waits for it any more.
#[pyclass(frozen, module = "nearcall._native")]
#[derive(Default)]
pub struct Cancellation {
    is_cancelled: Arc<AtomicBool>,
}

/// While it lives, the calls of this thread can be cancelled.
pub struct Cancellable {
    before: Option<Arc<AtomicBool>>,
}

#[pymethods]
impl Cancellation {
    #[new]
    fn new() -> Cancellation {
        Cancellation::default()
    }

    /// The call is aborted when its thread looks up from its sleep, within 20 ms.
    fn cancel(&self) {
        // Relaxed: a flag that orders nothing.
        self.is_cancelled.store(true, Ordering::Relaxed);
    }
}

impl Cancellation {
    /// From now on it is this thread's calls that it cancels.
    pub fn begin(&self) -> Cancellable {
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
