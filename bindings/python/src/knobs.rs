//! The knobs of a domain and of waiting in Python: each class is the runtime's own record. And what
//! else is said to this package, not to an interface: of what is none of it the error has the name.

use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use nearcall::raw::DescriptorKind;
use pyo3::exceptions::{PyOverflowError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::descriptor::Passed;
use crate::errors;

/// What an argument of that name, or a knob, may be.
pub trait Given: Sized {
    /// From what somebody says.
    fn from_python(name: &'static str, given: &Bound<'_, PyAny>) -> PyResult<Self>;
}

/// What a knob may be set to.
trait Knob: Given {
    /// As it is told.
    fn to_python<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>>;
}

/// A class over a record: its knobs as keywords, all of which may be left out, and as properties.
macro_rules! knobs {
    ($(#[$told:meta])* $name:ident, $record:path { $($knob:ident,)* }) => {
        $(#[$told])*
        #[pyclass(frozen, eq, module = "nearcall")]
        #[derive(Clone, PartialEq)]
        pub struct $name {
            pub knobs: $record,
        }

        #[pymethods]
        impl $name {
            #[new]
            #[pyo3(signature = (*, $($knob = None),*))]
            #[expect(clippy::too_many_arguments, reason = "keywords of Python's")]
            fn new($($knob: Option<Bound<'_, PyAny>>),*) -> PyResult<$name> {
                let mut knobs = <$record>::default();
                $(if let Some(given) = $knob {
                    knobs.$knob = Given::from_python(stringify!($knob), &given)?;
                })*
                Ok($name { knobs })
            }

            $(#[getter]
            fn $knob<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
                self.knobs.$knob.to_python(py)
            })*

            fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
                let told = [$(
                    format!("{}={}", stringify!($knob), self.$knob(py)?.repr()?)
                ),*];
                Ok(format!("{}({})", stringify!($name), told.join(", ")))
            }
        }
    };
}

knobs! {
    /// How long to spin, yield and sleep. What is not said is as usual.
    WaitPolicy, nearcall::WaitPolicy {
        linger_cycles_max,
        spin_ns_max,
        spin_ns_min,
        polls_per_spin,
        yields_max,
        yield_ns_max,
        slow_yields_ns_max,
        yield_ban_waits_min,
        yield_ban_waits_max,
        sleep_slice_ns_min,
        sleep_slice_ns_max,
    }
}

knobs! {
    /// What this process's part may take, and how it waits. What is not said is as usual.
    DomainOptions, nearcall::DomainOptions {
        wait,
        processors_max,
        bindings_max,
        handshakes_max,
        astacks_max,
        mapped_bytes_max,
        mappings_max,
        open_descriptors_max,
        raises_descriptor_limit,
        own_bytes_max,
        descriptors_max,
        introduction_timeout,
        is_dumpable,
    }
}

/// A whole number has limits, of which its errors tell.
macro_rules! whole_number {
    ($($number:ty)*) => {$(
        impl Given for $number {
            fn from_python(name: &'static str, given: &Bound<'_, PyAny>) -> PyResult<$number> {
                given.extract().map_err(|error: PyErr| {
                    let found = shown(given);
                    match error.is_instance_of::<PyOverflowError>(given.py()) {
                        true => PyValueError::new_err(format!(
                            "{name} is {found}: it may be 0 to {}",
                            <$number>::MAX
                        )),
                        false => wanted(name, given, "a whole number"),
                    }
                })
            }
        }

        impl Knob for $number {
            fn to_python<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
                Ok(self.into_pyobject(py)?.into_any())
            }
        }
    )*};
}

whole_number!(u32 u64 usize);

impl Given for bool {
    fn from_python(name: &'static str, given: &Bound<'_, PyAny>) -> PyResult<bool> {
        given.extract().map_err(|_| wanted(name, given, "True or False"))
    }
}

impl Knob for bool {
    fn to_python<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(self.into_pyobject(py)?.to_owned().into_any())
    }
}

/// `None` is as usual.
impl<T: Given> Given for Option<T> {
    fn from_python(name: &'static str, given: &Bound<'_, PyAny>) -> PyResult<Option<T>> {
        (!given.is_none()).then(|| T::from_python(name, given)).transpose()
    }
}

/// `None` is what the process may have.
impl Knob for Option<u32> {
    fn to_python<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        match self {
            Some(most) => most.to_python(py),
            None => Ok(py.None().into_bound(py)),
        }
    }
}

/// In seconds, as all durations in Python.
impl Given for Duration {
    fn from_python(name: &'static str, given: &Bound<'_, PyAny>) -> PyResult<Duration> {
        let seconds: f64 =
            given.extract().map_err(|_| wanted(name, given, "a number of seconds"))?;
        Duration::try_from_secs_f64(seconds).map_err(|_| {
            let most = u64::MAX;
            PyValueError::new_err(format!("{name} is {seconds:?} seconds: it may be 0 to {most}"))
        })
    }
}

impl Knob for Duration {
    fn to_python<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(self.as_secs_f64().into_pyobject(py)?.into_any())
    }
}

impl Given for String {
    fn from_python(name: &'static str, given: &Bound<'_, PyAny>) -> PyResult<String> {
        let given = given.cast::<PyString>().map_err(|_| wanted(name, given, "a str"))?;
        // That of a surrogate, which is for Python to say.
        given.extract().inspect_err(|error| errors::note(given.py(), error, "argument", name))
    }
}

impl Given for PathBuf {
    fn from_python(name: &'static str, given: &Bound<'_, PyAny>) -> PyResult<PathBuf> {
        given.extract().map_err(|error: PyErr| {
            if error.is_instance_of::<PyTypeError>(given.py()) {
                let wanted = wanted(name, given, "a str or an os.PathLike");
                wanted.set_cause(given.py(), Some(error));
                return wanted;
            }
            errors::note(given.py(), &error, "argument", name);
            error
        })
    }
}

/// A number that is open, or an object that has one. It stays the caller's: ours is another.
impl Given for Arc<OwnedFd> {
    fn from_python(name: &'static str, given: &Bound<'_, PyAny>) -> PyResult<Arc<OwnedFd>> {
        let passed = Passed::of(given, (name, DescriptorKind::Any));
        let passed = passed.map_err(|wrong| errors::of_argument(given.py(), wrong, name))?;
        Ok(Arc::new(passed.into_own()))
    }
}

impl Given for nearcall::WaitPolicy {
    fn from_python(name: &'static str, given: &Bound<'_, PyAny>) -> PyResult<Self> {
        let policy = given.cast::<WaitPolicy>();
        Ok(policy.map_err(|_| wanted(name, given, "a nearcall.WaitPolicy"))?.get().knobs)
    }
}

impl Given for nearcall::DomainOptions {
    fn from_python(name: &'static str, given: &Bound<'_, PyAny>) -> PyResult<Self> {
        let options = given.cast::<DomainOptions>();
        let options = options.map_err(|_| wanted(name, given, "a nearcall.DomainOptions"))?;
        Ok(options.get().knobs.clone())
    }
}

impl Knob for nearcall::WaitPolicy {
    fn to_python<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(Bound::new(py, WaitPolicy { knobs: *self })?.into_any())
    }
}

fn wanted(name: &str, given: &Bound<'_, PyAny>, wanted: &str) -> PyErr {
    PyTypeError::new_err(format!("{name} is {}: {wanted} is wanted", shown(given)))
}

/// Somebody's value, in an error.
fn shown(given: &Bound<'_, PyAny>) -> String {
    given.repr().map_or_else(|_| "of no text".to_owned(), |text| text.to_string())
}
