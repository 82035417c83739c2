//! Descriptors that calls carry (docs/design/0019-descriptors.md): those that come are Python's
//! own, those that go stay whose they are.
//!
//! A descriptor that goes is duplicated while the interpreter's lock is held: whatever other
//! threads do with the number meanwhile, what was meant is what is judged and sent.

use std::ffi::c_int;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, IntoRawFd, OwnedFd};
use std::sync::{Mutex, MutexGuard, PoisonError};

use nearcall::raw::DescriptorKind;
use nearcall_os::descriptor::PeerDescriptor;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyInt};

use crate::table::{Part, Place};
use crate::words::wrong_type;
use crate::wrong::Wrong;

/// A descriptor that came with a call, as an object of its own. It is closed when nobody holds it
/// any more, and whoever drops it does not wait for that.
#[pyclass(frozen, module = "nearcall._native")]
pub struct Descriptor {
    held: Mutex<Option<PeerDescriptor>>,
}

/// A descriptor that came with a call; `None` is absent.
pub type Came = Option<PeerDescriptor>;

/// A descriptor that goes with a message.
pub struct Passed {
    pub name: &'static str,
    pub kind: DescriptorKind,
    /// What Python calls it.
    pub number: c_int,
    /// It may be absent. Those that may go behind the others.
    pub is_optional: bool,
    /// `None`: it is absent.
    own: Option<OwnedFd>,
}

impl Descriptor {
    /// Hands it to Python.
    pub fn new(came: PeerDescriptor) -> Descriptor {
        Descriptor { held: Mutex::new(Some(came)) }
    }

    fn held(&self) -> MutexGuard<'_, Option<PeerDescriptor>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self) -> PyResult<PeerDescriptor> {
        self.held().take().ok_or_else(is_closed)
    }
}

fn is_closed() -> PyErr {
    PyValueError::new_err("the descriptor is closed, or was detached")
}

#[pymethods]
impl Descriptor {
    /// Its number; the descriptor stays this object's.
    fn fileno(&self) -> PyResult<c_int> {
        let held = self.held();
        let held = held.as_ref().ok_or_else(is_closed)?;
        Ok(held.as_fd().as_raw_fd())
    }

    /// Its number; whoever asked closes it, as `os.fdopen` and `socket.socket(fileno=…)` do.
    fn detach(&self) -> PyResult<c_int> {
        Ok(self.take()?.take().into_raw_fd())
    }

    /// Closes it now, and waits for that. Nothing happens the second time.
    fn close(&self, py: Python<'_>) {
        let held = self.held().take();
        py.detach(|| drop(held.map(PeerDescriptor::take)));
    }

    /// It is not this object's any more.
    #[getter]
    fn closed(&self) -> bool {
        self.held().is_none()
    }

    fn __enter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    #[pyo3(signature = (*_raised))]
    fn __exit__(&self, py: Python<'_>, _raised: &Bound<'_, pyo3::types::PyTuple>) {
        self.close(py);
    }

    fn __repr__(&self) -> String {
        match self.fileno() {
            Ok(number) => format!("<nearcall.Descriptor {number}>"),
            Err(_) => String::from("<nearcall.Descriptor, closed>"),
        }
    }
}

impl Passed {
    /// What a value stands for: a number, or an object that has one. It stays the caller's.
    pub fn of(
        value: &Bound<'_, PyAny>,
        (name, kind): (&'static str, DescriptorKind),
    ) -> Result<Passed, Wrong> {
        let number = number_of(value)?;
        let not_open = Wrong::NotOpen { parameter: name, number, wanted: kind };
        if number < 0 {
            return Err(not_open);
        }
        // SAFETY: the number is not -1. It is borrowed for one system call, during which no other
        // thread of Python runs, as `value` proves that this one has the interpreter's lock. If it
        // is not open, or a thread of somebody else's closes it, the kernel says so or duplicates
        // what has the number then: a wrong file at worst, as with every number of Python's.
        let given = unsafe { BorrowedFd::borrow_raw(number) };
        match given.try_clone_to_owned() {
            Ok(own) => Ok(Passed { name, kind, number, is_optional: false, own: Some(own) }),
            Err(error) if error.raw_os_error() == Some(libc::EBADF) => Err(not_open),
            Err(error) => Err(Wrong::Python(error.into())),
        }
    }

    /// One that is absent.
    pub fn absent((name, kind): (&'static str, DescriptorKind)) -> Passed {
        Passed { name, kind, number: -1, is_optional: true, own: None }
    }

    /// The same, where it might have been absent.
    pub fn or_none(self) -> Passed {
        Passed { is_optional: true, ..self }
    }

    /// The duplicate, if it is not absent.
    pub fn as_fd(&self) -> Option<BorrowedFd<'_>> {
        self.own.as_ref().map(AsFd::as_fd)
    }

    /// The duplicate of one that is not absent.
    pub fn into_own(self) -> OwnedFd {
        self.own.expect("it is there")
    }

    /// What a procedure returns: a number is handed over, and closed here; an object keeps what it
    /// has.
    pub fn returned(
        value: &Bound<'_, PyAny>,
        named: (&'static str, DescriptorKind),
    ) -> Result<Passed, Wrong> {
        let passed = Passed::of(value, named)?;
        if value.is_instance_of::<PyInt>() {
            value.py().import("os")?.call_method1("close", (passed.number,))?;
        }
        Ok(passed)
    }
}

/// What has to come with a message: what must, and what may, each with the byte of the message that
/// says whether it is there.
#[derive(Debug, Default)]
pub struct Descriptors {
    kinds: Vec<DescriptorKind>,
    optional: Vec<(DescriptorKind, usize)>,
    /// Of each, in the order of the parts: whether it may be absent.
    order: Vec<bool>,
}

impl Descriptors {
    /// Of a message of these parts.
    pub fn of(parts: &[Part]) -> Descriptors {
        let mut all = Descriptors::default();
        for part in parts {
            let Place::Descriptor { kind, presence_at } = part.place else { continue };
            all.order.push(presence_at.is_some());
            match presence_at {
                Some(at) => all.optional.push((kind, at)),
                None => all.kinds.push(kind),
            }
        }
        all
    }

    /// How many go with a message, absent ones as well.
    pub fn count(&self) -> usize {
        self.order.len()
    }

    /// What must come.
    pub fn kinds(&self) -> &[DescriptorKind] {
        &self.kinds
    }

    /// What may come, each with whether it does, as the message says whose fixed part is copied by
    /// `copy`.
    pub fn claims(
        &self,
        fixed_bytes: usize,
        copy: impl FnOnce(&mut [u8]),
    ) -> Vec<(DescriptorKind, u8)> {
        if self.optional.is_empty() {
            return Vec::new();
        }
        let mut fixed = vec![0; fixed_bytes];
        copy(&mut fixed);
        self.optional.iter().map(|(kind, at)| (*kind, fixed[*at])).collect()
    }

    /// What came, in the order of the parts.
    pub fn in_order(&self, came: (Vec<OwnedFd>, Vec<Option<OwnedFd>>)) -> Vec<Came> {
        let (mut all, mut optional) = (came.0.into_iter().map(Some), came.1.into_iter());
        let next = self.order.iter().map(|is_optional| match is_optional {
            true => optional.next(),
            false => all.next(),
        });
        next.map(|one| one.flatten().map(PeerDescriptor::from)).collect()
    }
}

/// The number that a value is, or that its `fileno()` says.
fn number_of(value: &Bound<'_, PyAny>) -> Result<c_int, Wrong> {
    let is_number = value.is_instance_of::<PyInt>() && !value.is_instance_of::<PyBool>();
    if is_number {
        return Ok(value.extract()?);
    }
    match value.getattr_opt("fileno")? {
        Some(fileno) => Ok(fileno.call0()?.extract()?),
        None => Err(wrong_type(value, "a descriptor, an int or an object with fileno(),")),
    }
}
