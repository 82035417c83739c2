//! Memory that Python and we both see: that of its objects, read where it lies (`bytes`, `array`,
//! `memoryview`, NumPy arrays), and lent memory, which Python fills where the server reads it.
//!
//! The one place of the package with unsafe code.

use std::ffi::{c_int, c_void};

use nearcall::OpaqueIn;
use pyo3::buffer::{ElementType, PyUntypedBuffer};
use pyo3::exceptions::PyBufferError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyMemoryView;

use crate::words::Word;

/// A view of an object's memory, which stays where it is for as long as the view is there.
pub struct View {
    held: PyUntypedBuffer,
}

impl View {
    /// The memory of an object that has the buffer protocol, in one piece and in the order of C.
    /// `None` if it has not.
    pub fn of(value: &Bound<'_, PyAny>) -> Option<View> {
        let held = match PyUntypedBuffer::get(value) {
            // An array of ctypes says no strides, which a memoryview of it does.
            Err(error) if error.is_instance_of::<PyBufferError>(value.py()) => {
                PyUntypedBuffer::get(PyMemoryView::from(value).ok()?.as_any())
            }
            held => held,
        };
        held.ok().map(|held| View { held })
    }

    /// In one piece, row by row.
    pub fn is_contiguous(&self) -> bool {
        self.held.is_c_contiguous()
    }

    /// Its elements are numbers of this word, and little endian, as messages are.
    pub fn is_of(&self, word: Word) -> bool {
        // What says `>` or `!` is big endian; one byte has no order.
        let is_reversed = matches!(self.held.format().to_bytes().first(), Some(b'>' | b'!'));
        if is_reversed && word.bytes() > 1 {
            return false;
        }
        let bytes = usize::from(self.held.item_size() == word.bytes()) * word.bytes();
        match (ElementType::from_format(self.held.format()), word) {
            (ElementType::UnsignedInteger { bytes: found }, Word::Unsigned(_)) => found == bytes,
            (ElementType::SignedInteger { bytes: found }, Word::Signed(_)) => found == bytes,
            (ElementType::Float { bytes: found }, Word::Float | Word::Double) => found == bytes,
            _ => false,
        }
    }

    /// Its shape, outermost first.
    pub fn shape(&self) -> &[usize] {
        self.held.shape()
    }

    /// What its elements are, for errors.
    pub fn format(&self) -> String {
        self.held.format().to_string_lossy().into_owned()
    }

    /// The bytes. The object must not be written to before the call that they are for returns: what
    /// is then sent is torn. Empty if they do not lie in one piece.
    pub fn bytes(&self) -> &[u8] {
        let (start, bytes) = (self.held.buf_ptr().cast_const().cast::<u8>(), self.held.len_bytes());
        if bytes == 0 || start.is_null() || !self.is_contiguous() {
            return &[];
        }
        // SAFETY: the exporter keeps `len_bytes` bytes from `buf_ptr` on where they are, and
        // initialized, until the view is released, which `self` does when it is dropped; a
        // contiguous view has all its items there. `u8` has no alignment and no invalid value.
        // That nobody writes meanwhile is asked of Python code: the GIL may be free while these
        // bytes are copied, as it is in NumPy's own copies; they are copied once, to shared memory,
        // and nothing here or in the runtime decides anything by their values.
        unsafe { std::slice::from_raw_parts(start, bytes) }
    }
}

/// Memory that the server of one binding reads in place, as an `@opaque` argument: fill it through
/// the buffer protocol (`numpy.frombuffer`, `memoryview`), then pass it, any number of times.
#[pyclass(frozen, module = "nearcall._native")]
pub struct Lent {
    lent: nearcall::Lent,
    /// Where its bytes begin: taken once, so that no reference to them is made while Python writes.
    start: usize,
}

impl Lent {
    /// Hands it to Python.
    pub fn new(mut lent: nearcall::Lent) -> Lent {
        let start = lent.as_mut_ptr() as usize;
        Lent { lent, start }
    }

    /// As an argument: all of it.
    pub fn argument(&self) -> OpaqueIn<'_> {
        OpaqueIn::from(&self.lent)
    }
}

#[pymethods]
impl Lent {
    fn __len__(&self) -> usize {
        self.argument().len()
    }

    fn __repr__(&self) -> String {
        format!("<nearcall.Lent of {} bytes>", self.__len__())
    }

    /// # Safety
    ///
    /// - S1 room: `view` points to a `Py_buffer` that may be written, or is null.
    unsafe fn __getbuffer__(
        slf: Bound<'_, Self>,
        view: *mut ffi::Py_buffer,
        flags: c_int,
    ) -> PyResult<()> {
        if view.is_null() {
            return Err(PyBufferError::new_err("there is no view to fill"));
        }
        let own = slf.get();
        let (start, bytes) = (own.start as *mut c_void, own.__len__() as ffi::Py_ssize_t);
        // SAFETY: `view` may be written by S1. `start` and the next `bytes` bytes stay mapped and
        // writable as long as `slf` lives, to which the view takes a reference. Rust has no
        // reference to them: `Lent` derefs to them in `new` alone, before Python sees it. The
        // server only reads them, by accesses that allow for changes.
        let filled = unsafe { ffi::PyBuffer_FillInfo(view, slf.as_ptr(), start, bytes, 0, flags) };
        match filled {
            0 => Ok(()),
            _ => Err(PyErr::fetch(slf.py())),
        }
    }
}
