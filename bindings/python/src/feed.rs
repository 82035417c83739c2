//! The client's ends of feeds and exchanges (docs/design/0020-streams.md): a call for each batch.
//!
//! An item that goes is written when it is put: what is wrong with it is said then, and what
//! becomes of the object afterwards does not matter. Items that come are judged a batch at a time.

use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::{AcqRel, Acquire};
use std::sync::{Mutex, MutexGuard, TryLockError};

use nearcall::raw::FeedRoom;
use pyo3::exceptions::{PyIndexError, PyRuntimeError};
use pyo3::prelude::*;
use pyo3::types::{PyInt, PyList, PyTuple};

use crate::call::Binding;
use crate::errors;
use crate::messages::Payload;
use crate::shown::{self, shown};
use crate::table::{Form, Procedure, Role, Table, Type};
use crate::write::{Writer, check_bound};
use crate::wrong::Wrong;

/// Items as they lie in a message.
#[pyclass(frozen, module = "nearcall._native")]
pub struct Batch {
    bytes: Vec<u8>,
    count: usize,
}

/// A feed whose items come.
#[pyclass(frozen, module = "nearcall._native")]
pub struct Coming {
    open: OpenFeed,
    next: usize,
    /// Of the next batch.
    number: Mutex<u32>,
}

/// A feed whose items go.
#[pyclass(frozen, module = "nearcall._native")]
pub struct Going {
    open: OpenFeed,
    put: usize,
    end: usize,
    batch: Mutex<NextBatch>,
}

/// What is sent next.
#[derive(Default)]
struct NextBatch {
    number: u32,
    bytes: Vec<u8>,
    count: usize,
}

/// A feed that the server has open.
struct OpenFeed {
    binding: Binding,
    feed: u64,
    is_over: AtomicBool,
}

impl Batch {
    /// So many items.
    pub fn new(bytes: Vec<u8>, count: usize) -> Batch {
        Batch { bytes, count }
    }

    /// As a payload, and what its length word says.
    pub fn payload(&self, form: Form, bound: u32) -> Result<(usize, Payload), Wrong> {
        check_bound(self.count, bound)?;
        if form != Form::Marshalled {
            return Ok((self.count, Payload::Made(self.bytes.clone())));
        }
        let bytes = [&(self.count as u32).to_le_bytes(), self.bytes.as_slice()].concat();
        Ok((bytes.len(), Payload::Made(bytes)))
    }
}

/// The bytes of an item behind others; nothing is left there of one that is refused.
pub fn append(
    item: &Bound<'_, PyAny>,
    declared: &Type,
    table: &Table,
    bytes: &mut Vec<u8>,
) -> Result<(), Wrong> {
    let before = bytes.len();
    let mut writer = Writer::new(table);
    writer.bytes = std::mem::take(bytes);
    // Whoever takes the batch reads a list.
    let written = writer.nested(true, |writer| writer.value(item, declared));
    *bytes = writer.bytes;
    written.inspect_err(|_| bytes.truncate(before))
}

impl OpenFeed {
    fn new(binding: &Binding, feed: u64) -> OpenFeed {
        OpenFeed { binding: binding.shared(), feed, is_over: AtomicBool::new(false) }
    }

    fn procedure(&self, index: usize) -> &Procedure {
        &self.binding.plan().procedures[index]
    }

    fn call<'py, const N: usize>(
        &self,
        py: Python<'py>,
        procedure: usize,
        behind: [Bound<'py, PyAny>; N],
    ) -> PyResult<Bound<'py, PyAny>> {
        let feed = PyInt::new(py, self.feed).into_any();
        let arguments = PyTuple::new(py, std::iter::once(feed).chain(behind).collect::<Vec<_>>())?;
        self.binding.call(py, procedure, &arguments)
    }

    fn is_over(&self) -> bool {
        self.is_over.load(Acquire)
    }

    /// The server has said so itself.
    fn end(&self) {
        if !self.is_over.swap(true, AcqRel) {
            self.binding.client().feeds_ended(1);
        }
    }

    /// Tells the server, once; does not wait.
    fn give_up(&self) {
        if !self.is_over.swap(true, AcqRel) {
            self.binding.client().give_up_feed(self.feed);
        }
    }

    /// As an end of it is shown whose batches go in calls of this procedure.
    fn shown(&self, class: &str, carrier: usize) -> String {
        let (plan, client) = (self.binding.plan(), self.binding.client());
        let opener = self.procedure(carrier).role.opener().unwrap_or(carrier);
        let of = shown::procedure(plan, self.procedure(opener));
        let state = if self.is_over() { "over" } else { shown::state(client) };
        shown(class, &shown::at(&of, client), state)
    }

    /// What a call has said; after an error the feed is over.
    fn unless_over<T>(&self, said: PyResult<T>) -> PyResult<T> {
        said.inspect_err(|_| self.give_up())
    }
}

impl Drop for OpenFeed {
    fn drop(&mut self) {
        self.give_up();
    }
}

/// A feed belongs to one thread at a time. Nobody waits here: the other thread may need the
/// interpreter's lock, which this one has.
pub fn alone<T>(held: &Mutex<T>) -> PyResult<MutexGuard<'_, T>> {
    match held.try_lock() {
        Ok(held) => Ok(held),
        Err(TryLockError::Poisoned(poisoned)) => Ok(poisoned.into_inner()),
        Err(TryLockError::WouldBlock) => {
            Err(PyRuntimeError::new_err("another thread is at this feed"))
        }
    }
}

#[pymethods]
impl Coming {
    /// The items of the next batch, in a list; `None` if there are no more. Waits for it.
    fn batch<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyList>>> {
        let mut number = alone(&self.number)?;
        if self.open.is_over() {
            return Ok(None);
        }
        let due = PyInt::new(py, *number).into_any();
        *number = number.wrapping_add(1);
        let came = self.open.call(py, self.next, [due]);
        let came = came.and_then(|came| came.extract::<(Bound<'py, PyList>, bool)>());
        let (items, is_last) = self.open.unless_over(came)?;
        if is_last {
            self.open.end();
        } else if items.is_empty() {
            // Whoever asks for an item would wait for ever.
            let error = self.open.binding.client().empty_batch(self.next as u32);
            return self.open.unless_over(Err(errors::of_call(py, &error)));
        }
        Ok(Some(items))
    }

    /// Tells the server that nobody wants more. Does not wait.
    fn give_up(&self) {
        self.open.give_up();
    }

    fn __repr__(&self) -> String {
        self.open.shown("Coming", self.next)
    }
}

#[pymethods]
impl Going {
    /// Puts an item into the batch; says whether it is full, and to be flushed.
    fn put(&self, item: &Bound<'_, PyAny>) -> PyResult<bool> {
        let mut batch = alone(&self.batch)?;
        self.expect_open(item.py())?;
        let table = &self.open.binding.plan().table;
        let Some((declared, limit)) = self.open.procedure(self.put).items() else {
            return Ok(false);
        };
        append(item, declared, table, &mut batch.bytes)
            .map_err(|wrong| errors::of_argument(item.py(), wrong, "item"))?;
        batch.count += 1;
        Ok(batch.count >= limit as usize)
    }

    /// Sends what there is, and waits until the server has taken it.
    fn flush(&self, py: Python<'_>) -> PyResult<()> {
        let mut batch = alone(&self.batch)?;
        self.flush_batch(py, &mut batch)
    }

    /// Says that there are no more; what the server makes of them.
    fn end<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let mut batch = alone(&self.batch)?;
        self.flush_batch(py, &mut batch)?;
        let made = self.open.unless_over(self.open.call(py, self.end, []))?;
        self.open.end();
        Ok(made)
    }

    /// Tells the server that no more will come. Does not wait.
    fn give_up(&self) {
        self.open.give_up();
    }

    /// It was ended, or given up, or there was an error.
    #[getter]
    fn is_over(&self) -> bool {
        self.open.is_over()
    }

    fn __repr__(&self) -> String {
        self.open.shown("Going", self.put)
    }
}

impl Going {
    fn expect_open(&self, py: Python<'_>) -> PyResult<()> {
        if !self.open.is_over() {
            return Ok(());
        }
        Err(errors::of_call(py, &self.open.binding.client().feed_over(self.put as u32)))
    }

    fn flush_batch(&self, py: Python<'_>, batch: &mut NextBatch) -> PyResult<()> {
        self.expect_open(py)?;
        if batch.count == 0 {
            return Ok(());
        }
        let NextBatch { number, bytes, count } = std::mem::take(batch);
        batch.number = number.wrapping_add(1);
        let items = Bound::new(py, Batch::new(bytes, count))?.into_any();
        let number = PyInt::new(py, number).into_any();
        let put = self.open.call(py, self.put, [number, items]);
        self.open.unless_over(put.map(|_| ()))
    }
}

/// Room for the feeds that a procedure opens.
fn room<'b>(
    binding: &'b Binding,
    py: Python<'_>,
    procedure: usize,
    count: u32,
) -> PyResult<FeedRoom<'b>> {
    let room = binding.client().feed_room(procedure as u32, count);
    room.map_err(|error| errors::of_call(py, &error))
}

/// Calls the procedure of this index, which opens a feed.
#[pyfunction]
#[pyo3(signature = (binding, procedure, *arguments))]
pub fn open_feed<'py>(
    binding: &Bound<'py, Binding>,
    procedure: usize,
    arguments: &Bound<'py, PyTuple>,
) -> PyResult<Bound<'py, PyAny>> {
    let (py, binding) = (binding.py(), binding.get());
    let role = binding.plan().procedures.get(procedure).map(|plan| plan.role);
    let open = || {
        let room = room(binding, py, procedure, 1)?;
        let feed = binding.call(py, procedure, arguments)?.extract()?;
        room.keep();
        Ok::<_, PyErr>(OpenFeed::new(binding, feed))
    };
    match role {
        Some(Role::OpensSource { next }) => {
            let coming = Coming { open: open()?, next, number: Mutex::new(0) };
            Ok(Bound::new(py, coming)?.into_any())
        }
        Some(Role::OpensTaker { put, end }) => {
            let going = Going { open: open()?, put, end, batch: Mutex::default() };
            Ok(Bound::new(py, going)?.into_any())
        }
        _ => Err(PyIndexError::new_err(format!("procedure {procedure} opens no feed"))),
    }
}

/// Calls the procedure of this index, which opens an exchange: what goes, and what comes.
#[pyfunction]
#[pyo3(signature = (binding, procedure, *arguments))]
pub fn open_exchange<'py>(
    binding: &Bound<'py, Binding>,
    procedure: usize,
    arguments: &Bound<'py, PyTuple>,
) -> PyResult<(Bound<'py, Going>, Bound<'py, Coming>)> {
    let (py, binding) = (binding.py(), binding.get());
    let role = binding.plan().procedures.get(procedure).map(|plan| plan.role);
    let Some(Role::OpensExchange { next, put, end }) = role else {
        return Err(PyIndexError::new_err(format!("procedure {procedure} opens no exchange")));
    };
    let room = room(binding, py, procedure, 2)?;
    let (feed, sink): (u64, u64) = binding.call(py, procedure, arguments)?.extract()?;
    room.keep();
    // From here on what is not returned is given up.
    let [came, sent] = [feed, sink].map(|number| OpenFeed::new(binding, number));
    let going = Going { open: sent, put, end, batch: Mutex::default() };
    let coming = Coming { open: came, next, number: Mutex::new(0) };
    Ok((Bound::new(py, going)?, Bound::new(py, coming)?))
}
