//! The server's ends of exchanges (docs/design/0020-streams.md): what procedures in Python are
//! given, for threads of their own, and what carries it.
//!
//! All exchanges in Python have items of the same types here: what opens one tells it apart.

use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Waker};
use std::time::Duration;

use nearcall::raw::{self, Arguments, Ends, Finish, Keeping, Replied, exchange};
use pyo3::exceptions::{PyBaseException, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyInt, PyList, PyTuple};

use crate::domain::check_own;
use crate::errors;
use crate::feed::{Batch, alone, append};
use crate::serve::{Object, Unserved, attached, refused, reply};
use crate::shown::{self, shown};
use crate::table::{Plan, Type};
use crate::wakes::{CallWaker, Wakes};
use crate::wrong::Wrong;

/// Between two looks whether a signal handler is to run.
const SIGNALS_SLICE: Duration = Duration::from_millis(50);

/// An item as it is sent.
pub type Given = Vec<u8>;

/// Items that the client of an exchange sends. None come before the procedure that was given this
/// has returned. Asking for one waits, without the interpreter's lock, until there is one; where
/// the client has given them up, or has ended, GivenUp is raised.
///
/// Belongs to one thread at a time. Closed, or held by nobody any more, it takes no more: the
/// client is told at its next batch.
#[pyclass(frozen, generic, module = "nearcall")]
pub struct Inlet {
    plan: Arc<Plan>,
    /// Which procedure has opened what it is an end of.
    open: usize,
    inlet: Mutex<Option<nearcall::Inlet<Py<PyAny>>>>,
}

/// Items for the client of an exchange. None go before the procedure that was given this has
/// returned.
///
/// Belongs to one thread at a time. Closed, or held by nobody any more, there are no more. Left as
/// a context, it raises what was raised, but for GivenUp.
#[pyclass(frozen, generic, module = "nearcall")]
pub struct Outlet {
    plan: Arc<Plan>,
    next: usize,
    outlet: Mutex<Option<nearcall::Outlet<Given, Unserved>>>,
}

#[pymethods]
impl Inlet {
    fn __iter__(own: PyRef<'_, Self>) -> PyRef<'_, Self> {
        own
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<Py<PyAny>>> {
        let mut held = alone(&self.inlet)?;
        let Some(inlet) = held.as_mut() else { return Ok(None) };
        wait(py, |slice| inlet.wait(slice))?;
        inlet.next().transpose().map_err(|given_up| errors::of_not_put(py, &given_up.into()))
    }

    /// Those that came together, without a wait: none yet, or `None`, there are no more.
    fn batch<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyList>>> {
        let mut held = alone(&self.inlet)?;
        let Some(inlet) = held.as_mut() else { return Ok(None) };
        if !inlet.is_ready() {
            return Ok(Some(PyList::empty(py)));
        }
        let items = inlet.next_batch().transpose();
        let items = items.map_err(|given_up| errors::of_not_put(py, &given_up.into()))?;
        items.map(|items| PyList::new(py, items)).transpose()
    }

    /// Whether asking for the next one will not wait; if it will, `wakes` is told by this number
    /// when it may not any more.
    fn is_ready(&self, wakes: &Wakes, number: u64) -> PyResult<bool> {
        let waker = Waker::from(Arc::new(CallWaker::new(number, wakes.inbox())));
        let mut held = alone(&self.inlet)?;
        let context = Context::from_waker(&waker);
        Ok(held.as_mut().is_none_or(|inlet| inlet.poll_ready(&context).is_ready()))
    }

    /// Takes no more items.
    fn close(&self) -> PyResult<()> {
        alone(&self.inlet)?.take();
        Ok(())
    }

    fn __enter__(own: PyRef<'_, Self>) -> PyRef<'_, Self> {
        own
    }

    #[pyo3(signature = (*_raised))]
    fn __exit__(&self, _raised: &Bound<'_, PyTuple>) -> PyResult<()> {
        self.close()
    }

    fn __repr__(&self) -> String {
        shown_end("Inlet", (&self.plan, self.open), &self.inlet)
    }
}

#[pymethods]
impl Outlet {
    /// Gives the client an item. Waits, without the interpreter's lock, while a whole batch is
    /// there that it has not asked for; GivenUp is raised if it does not want it.
    ///
    /// An item that is refused here was not put, and the outlet stays as it was.
    fn put(&self, item: &Bound<'_, PyAny>) -> PyResult<()> {
        let py = item.py();
        let mut held = alone(&self.outlet)?;
        let Some(outlet) = held.as_mut() else {
            return Err(PyValueError::new_err("the outlet is closed"));
        };
        let bytes = self.bytes(item).map_err(|wrong| errors::of_argument(py, wrong, "item"))?;
        wait(py, |slice| outlet.wait(slice))?;
        outlet.put(bytes).map_err(|not_put| errors::of_not_put(py, &not_put))
    }

    /// Gives the client an item that an async generator has made. `None`, and it was not put, while
    /// there is no room. False if there is no use in more: the client does not want them; or this
    /// one is refused, the feed is over behind the items before it, and the server's own people are
    /// told.
    fn put_made(&self, item: &Bound<'_, PyAny>) -> PyResult<Option<bool>> {
        let mut held = alone(&self.outlet)?;
        if held.as_ref().is_some_and(|outlet| !outlet.is_ready()) {
            return Ok(None);
        }
        let why = match self.bytes(item) {
            Ok(bytes) => {
                if held.as_mut().is_some_and(|outlet| outlet.put(bytes).is_ok()) {
                    return Ok(Some(true));
                }
                None
            }
            Err(wrong) => Some(refused(item.py(), (wrong, "item"))),
        };
        drop(held);
        // Its generator is closed from here on, and not cancelled besides, while it cleans up.
        self.end(why);
        Ok(Some(false))
    }

    /// Whether `put` will not wait; if it will, `wakes` is told by this number when it may not any
    /// more.
    fn is_ready(&self, wakes: &Wakes, number: u64) -> PyResult<bool> {
        let waker = Waker::from(Arc::new(CallWaker::new(number, wakes.inbox())));
        let mut held = alone(&self.outlet)?;
        let context = Context::from_waker(&waker);
        Ok(held.as_mut().is_none_or(|outlet| outlet.poll_ready(&context).is_ready()))
    }

    /// There are no more items, and this exception behind them: one that the interface declares, or
    /// the client is told that the procedure has ended with an error of its own.
    fn raise_(&self, raised: &Bound<'_, PyBaseException>) -> PyResult<()> {
        let outlet = alone(&self.outlet)?.take();
        if let Some(outlet) = outlet {
            outlet.raise(Unserved::Python(PyErr::from_value(raised.as_any().clone())));
        }
        Ok(())
    }

    /// There are no more items: the client has had all of them.
    fn close(&self) -> PyResult<()> {
        if let Some(outlet) = alone(&self.outlet)?.take() {
            outlet.end();
        }
        Ok(())
    }

    fn __enter__(own: PyRef<'_, Self>) -> PyRef<'_, Self> {
        own
    }

    #[pyo3(signature = (_kind, raised, _traceback))]
    fn __exit__(
        &self,
        _kind: &Bound<'_, PyAny>,
        raised: Option<&Bound<'_, PyBaseException>>,
        _traceback: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        match raised {
            None => self.close(),
            // Nobody is to be told of it, but what went is not all.
            Some(raised) if errors::is_given_up(raised)? => {
                alone(&self.outlet)?.take();
                Ok(())
            }
            Some(raised) => self.raise_(raised),
        }
    }

    fn __repr__(&self) -> String {
        let opener = self.plan.procedures[self.next].role.opener();
        shown_end("Outlet", (&self.plan, opener.unwrap_or(self.next)), &self.outlet)
    }
}

/// An end of what this procedure has opened, as it is shown.
fn shown_end<T>(class: &str, (plan, open): (&Plan, usize), held: &Mutex<Option<T>>) -> String {
    let state = match shown::seen(held) {
        _ if check_own().is_err() => shown::PARENTS,
        None => "busy",
        Some(held) if held.is_none() => "closed",
        Some(_) => "open",
    };
    shown(class, &shown::procedure(plan, &plan.procedures[open]), state)
}

impl Outlet {
    /// What goes to the client of a feed whose batches come in calls of procedure `next`.
    pub fn new(plan: &Arc<Plan>, next: usize, outlet: nearcall::Outlet<Given, Unserved>) -> Outlet {
        Outlet { plan: Arc::clone(plan), next, outlet: Mutex::new(Some(outlet)) }
    }

    fn bytes(&self, item: &Bound<'_, PyAny>) -> Result<Given, Wrong> {
        let carrier = &self.plan.procedures[self.next];
        let declared = carrier.items().map_or(&Type::Extended, |(declared, _)| declared);
        let mut bytes = Vec::new();
        append(item, declared, &self.plan.table, &mut bytes)?;
        Ok(bytes)
    }

    /// Nobody wants items any more.
    pub fn is_given_up(&self) -> bool {
        let held = self.outlet.lock().unwrap_or_else(PoisonError::into_inner);
        held.as_ref().is_some_and(nearcall::Outlet::is_given_up)
    }

    /// There are no more items, for this reason if there is one. The reason, if nobody is left to
    /// be told of it.
    pub fn end(&self, why: Option<Unserved>) -> Option<Unserved> {
        let outlet = self.outlet.lock().unwrap_or_else(PoisonError::into_inner).take();
        match (outlet.filter(|outlet| !outlet.is_given_up()), why) {
            (Some(outlet), Some(why)) => {
                outlet.raise(why);
                None
            }
            (Some(outlet), None) => {
                outlet.end();
                None
            }
            (None, why) => why,
        }
    }
}

impl Inlet {
    /// What comes from a client that has called procedure `open`.
    pub fn new(plan: &Arc<Plan>, open: usize, inlet: nearcall::Inlet<Py<PyAny>>) -> Inlet {
        Inlet { plan: Arc::clone(plan), open, inlet: Mutex::new(Some(inlet)) }
    }
}

/// Waits, without the interpreter's lock, until `wait` says so; or until a signal handler raises,
/// after which everything is as it was.
fn wait(py: Python<'_>, mut wait: impl FnMut(Duration) -> bool + Send) -> PyResult<()> {
    while !py.detach(|| wait(SIGNALS_SLICE)) {
        py.check_signals()?;
    }
    Ok(())
}

/// A call of an exchange's procedure.
pub struct ExchangeCall<'s, 'py> {
    pub py: Python<'py>,
    pub object: &'s Arc<Object>,
    /// Which procedure.
    pub index: usize,
}

/// What the runtime keeps of an exchange until it has numbers.
pub struct Opening(Ends<Py<PyAny>, Given, Unserved>);

impl Opening {
    /// A new exchange: what the runtime keeps of it, and the two ends that go to the procedure,
    /// behind its arguments.
    pub fn new<'py>(
        py: Python<'py>,
        plan: &Arc<Plan>,
        (index, next): (usize, usize),
    ) -> PyResult<(Opening, [Bound<'py, PyAny>; 2])> {
        let limit = plan.procedures[next].items().map_or(1, |(_, limit)| limit);
        let (ends, inlet, outlet) = exchange(index as u32, limit, Keeping::AsItIs);
        let inlet = Bound::new(py, Inlet::new(plan, index, inlet))?.into_any();
        let outlet = Bound::new(py, Outlet::new(plan, next, outlet))?.into_any();
        Ok((Opening(ends), [inlet, outlet]))
    }

    /// Opens it: its numbers, which its procedure evaluates to.
    pub fn numbers<'py>(
        self,
        py: Python<'py>,
        arguments: &Arguments<'_>,
    ) -> Result<Bound<'py, PyAny>, Unserved> {
        let (feed, sink) = arguments.open_exchange(self.0).map_err(Unserved::Refused)?;
        let numbers = [feed, sink].map(|number| PyInt::new(py, number));
        Ok(PyTuple::new(py, numbers)?.into_any())
    }
}

impl<'py> ExchangeCall<'_, 'py> {
    /// Runs the procedure that opens one, with two ends behind its arguments; the numbers of the
    /// others.
    pub fn opened(
        &self,
        function: &Bound<'py, PyAny>,
        given: impl Iterator<Item = Bound<'py, PyAny>>,
        next: usize,
        arguments: &Arguments<'_>,
    ) -> Result<Bound<'py, PyAny>, Unserved> {
        let (opening, ends) = Opening::new(self.py, &self.object.plan, (self.index, next))?;
        let all: Vec<_> = given.chain(ends).collect();
        function.call1(PyTuple::new(self.py, all)?)?;
        opening.numbers(self.py, arguments)
    }

    /// Replies with a batch, and whether it is the last, once there is one.
    pub fn next(
        &self,
        open: usize,
        given: &[Bound<'py, PyAny>],
        arguments: Arguments<'_>,
    ) -> Result<Replied, Unserved> {
        let (feed, number) = (given[0].extract()?, given[1].extract()?);
        let awaited = arguments.next_of_exchange::<Given, Unserved>(open as u32, feed, number);
        let awaited = awaited.map_err(Unserved::Refused)?;
        let (object, index) = (Arc::clone(self.object), self.index);
        let later = arguments.run_awaited(async move {
            let came = awaited.await;
            let finish: Finish = Box::new(move |arguments| {
                let came = came?;
                attached(object.method(index), |py| {
                    let answer = came.and_then(|batch| Ok(batch_of(py, batch)?));
                    reply(py, &object.plan, index, (answer, arguments))
                })
            });
            finish
        });
        later.map_err(Unserved::Refused)
    }

    /// Replies once whoever takes the items has room for them.
    pub fn put(
        &self,
        open: usize,
        given: &[Bound<'py, PyAny>],
        arguments: Arguments<'_>,
    ) -> Result<Replied, Unserved> {
        let (sink, number) = (given[0].extract()?, given[1].extract()?);
        let items = items_of(&given[2])?;
        let awaited = arguments.put_to_exchange::<Py<PyAny>>(open as u32, sink, number, items);
        let awaited = awaited.map_err(Unserved::Refused)?;
        let later = arguments.run_awaited(async move {
            let taken = awaited.await;
            let finish: Finish = Box::new(move |arguments| {
                taken?;
                arguments.results().reply(0)
            });
            finish
        });
        later.map_err(Unserved::Refused)
    }

    /// The client sends no more.
    pub fn end(
        &self,
        open: usize,
        given: &[Bound<'py, PyAny>],
        arguments: &Arguments<'_>,
    ) -> Result<Bound<'py, PyAny>, Unserved> {
        let sink = given[0].extract()?;
        let ended = arguments.end_of_exchange::<Py<PyAny>>(open as u32, sink);
        ended.map_err(Unserved::Refused)?;
        Ok(self.py.None().into_bound(self.py))
    }
}

/// The items of a batch that came.
pub fn items_of(batch: &Bound<'_, PyAny>) -> PyResult<Vec<Py<PyAny>>> {
    batch.try_iter()?.map(|item| item.map(Bound::unbind)).collect()
}

/// A batch as a procedure that carries one returns it.
fn batch_of(
    py: Python<'_>,
    (batch, is_last): (raw::Batch<Given>, bool),
) -> PyResult<Bound<'_, PyAny>> {
    let items = batch.into_items();
    let count = items.len();
    let batch = Bound::new(py, Batch::new(items.concat(), count))?.into_any();
    let is_last = PyBool::new(py, is_last).to_owned().into_any();
    Ok(PyTuple::new(py, [batch, is_last])?.into_any())
}
