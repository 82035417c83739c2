//! Ending a call whose task does not wait for it any more.

use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::serve_awaited::ServedCall;

/// Says of the calls that one function makes that nobody waits for them any more.
#[pyclass(frozen, module = "nearcall._native")]
pub struct Cancellation {
    cancellation: nearcall::Cancellation,
    /// The call that is served by who makes them, if one is.
    within: Option<Py<ServedCall>>,
}

#[pymethods]
impl Cancellation {
    #[new]
    #[pyo3(signature = (within=None))]
    fn new(within: Option<Py<ServedCall>>) -> Cancellation {
        Cancellation { cancellation: nearcall::Cancellation::new(), within }
    }

    /// What `function` evaluates to, whose calls are aborted like those whose deadline has passed
    /// when this is cancelled; in the middle of the call `within`, if that was given.
    #[pyo3(signature = (function, *arguments))]
    fn run<'py>(
        &self,
        function: &Bound<'py, PyAny>,
        arguments: &Bound<'py, PyTuple>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.cancellation.run(|| match &self.within {
            Some(served) => served.get().within(|| function.call1(arguments)),
            None => function.call1(arguments),
        })
    }

    /// A call is aborted when its thread looks up from its sleep, within 20 ms.
    fn cancel(&self) {
        self.cancellation.cancel();
    }
}
