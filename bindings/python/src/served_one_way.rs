//! The server's ends of feeds to one side that are awaited (docs/design/0020-streams.md): what a
//! task is given, and what carries it. Batches to the client go as an exchange's do.

use std::sync::Arc;

use nearcall::Answer;
use nearcall::raw::{Arguments, Finish, InletEnd, Keeping, OutletEnd, Replied, inlet, outlet};
use pyo3::prelude::*;
use pyo3::types::PyInt;

use crate::serve::{Object, Unserved, attached, reply};
use crate::served_exchange::{Given, Inlet, Outlet, items_of};
use crate::table::Plan;

/// What the runtime keeps of a feed until it has a number.
pub enum Opening {
    Source(OutletEnd<Given, Unserved>),
    Taker(InletEnd<Py<PyAny>, Py<PyAny>, Unserved>),
}

/// Where a task's items, or its answer, go.
pub enum End {
    Outlet(Py<Outlet>),
    Answer(Answer<Py<PyAny>, Unserved>),
}

impl Opening {
    /// A new feed to the client that `index` opens and calls of `next` carry: what the runtime
    /// keeps of it, and the task's end.
    pub fn source(
        py: Python<'_>,
        plan: &Arc<Plan>,
        (index, next): (usize, usize),
    ) -> PyResult<(Opening, Py<Outlet>)> {
        let limit = plan.procedures[next].items().map_or(1, |(_, limit)| limit);
        let (end, outlet) = outlet(index as u32, limit, Keeping::AsItIs);
        let outlet = Py::new(py, Outlet::new(plan, next, outlet))?;
        Ok((Opening::Source(end), outlet))
    }

    /// A new feed from the client that `index` opens: what the runtime keeps of it, what the
    /// procedure is given behind its arguments, and where its answer goes.
    pub fn taker(
        py: Python<'_>,
        plan: &Arc<Plan>,
        index: usize,
    ) -> PyResult<(Opening, Py<Inlet>, End)> {
        let (end, inlet, answer) = inlet(index as u32);
        let inlet = Py::new(py, Inlet::new(plan, index, inlet))?;
        Ok((Opening::Taker(end), inlet, End::Answer(answer)))
    }

    /// Opens it: its number, which its procedure evaluates to.
    pub fn number<'py>(
        self,
        py: Python<'py>,
        arguments: &Arguments<'_>,
    ) -> Result<Bound<'py, PyAny>, Unserved> {
        let number = match self {
            Opening::Source(end) => arguments.open_outlet(end),
            Opening::Taker(end) => arguments.open_inlet(end),
        };
        Ok(PyInt::new(py, number.map_err(Unserved::Refused)?).into_any())
    }
}

impl End {
    /// Its client wants no more of it.
    pub fn is_given_up(&self) -> bool {
        match self {
            End::Outlet(outlet) => outlet.get().is_given_up(),
            End::Answer(answer) => answer.is_given_up(),
        }
    }

    /// What its task has come to. Why it has come to nothing, if nobody is left to be told of it.
    pub fn end(self, answer: Result<Bound<'_, PyAny>, Unserved>) -> Option<Unserved> {
        match (self, answer) {
            (End::Outlet(outlet), answer) => return outlet.get().end(answer.err()),
            (End::Answer(end), answer) if end.is_given_up() => return answer.err(),
            (End::Answer(end), Ok(answer)) => end.give(answer.unbind()),
            (End::Answer(end), Err(why)) => end.raise(why),
        }
        None
    }
}

/// A call that carries items to a task.
pub struct OneWayCall<'s> {
    pub object: &'s Arc<Object>,
    /// Which procedure.
    pub index: usize,
}

impl OneWayCall<'_> {
    /// Replies once the task has room for these items.
    pub fn put(
        &self,
        open: usize,
        given: &[Bound<'_, PyAny>],
        arguments: Arguments<'_>,
    ) -> Result<Replied, Unserved> {
        let (sink, number) = (given[0].extract()?, given[1].extract()?);
        let items = items_of(&given[2])?;
        let awaited = arguments
            .put_to_inlet::<Py<PyAny>, Py<PyAny>, Unserved>(open as u32, sink, number, items)
            .map_err(Unserved::Refused)?;
        let (object, index) = (Arc::clone(self.object), self.index);
        let later = arguments.run_awaited(async move {
            let put = awaited.await;
            let finish: Finish = Box::new(move |arguments| match put? {
                Ok(()) => arguments.results().reply(0),
                Err(why) => attached(object.method(index), |py| {
                    reply(py, &object.plan, index, (Err(why), arguments))
                }),
            });
            finish
        });
        later.map_err(Unserved::Refused)
    }

    /// Replies with what the task makes of all items.
    pub fn end(
        &self,
        open: usize,
        given: &[Bound<'_, PyAny>],
        arguments: Arguments<'_>,
    ) -> Result<Replied, Unserved> {
        let sink = given[0].extract()?;
        let awaited = arguments
            .end_of_inlet::<Py<PyAny>, Py<PyAny>, Unserved>(open as u32, sink)
            .map_err(Unserved::Refused)?;
        let (object, index) = (Arc::clone(self.object), self.index);
        let later = arguments.run_awaited(async move {
            let answer = awaited.await;
            let finish: Finish = Box::new(move |arguments| {
                let answer = answer?;
                attached(object.method(index), |py| {
                    let answer = answer.map(|answer| answer.into_bound(py));
                    reply(py, &object.plan, index, (answer, arguments))
                })
            });
            finish
        });
        later.map_err(Unserved::Refused)
    }
}
