//! NumPy's masked arrays: the memory of one has what its mask marks as no value, too, and nothing
//! that is sent says which. So one that marks anything is refused.
//!
//! Imports nothing: where nobody has imported `numpy.ma` there are none.

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyType};

use crate::wrong::Wrong;

/// Refuses a masked array that marks anything, an element that is marked as well.
pub fn check_mask(value: &Bound<'_, PyAny>) -> Result<(), Wrong> {
    match class(value.py()) {
        Some(class) if value.get_type().is_subclass(class)? => check_elements(value),
        _ => Ok(()),
    }
}

#[cold]
fn check_elements(value: &Bound<'_, PyAny>) -> Result<(), Wrong> {
    let py = value.py();
    let is_marked = py.import(intern!(py, "numpy.ma"))?.call_method1("is_masked", (value,))?;
    if !is_marked.is_truthy()? {
        return Ok(());
    }
    let name = value.get_type().name()?;
    let way = ".filled(value) or .compressed() makes an array without it";
    let why = format!("{name} whose mask marks what is no value: {way}");
    Err(Wrong::Type { of: String::new(), why })
}

/// The class of them, once there may be any.
fn class(py: Python<'_>) -> Option<&Bound<'_, PyType>> {
    static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    static MODULES: PyOnceLock<Py<PyDict>> = PyOnceLock::new();
    if let Some(class) = CLASS.get(py) {
        return Some(class.bind(py));
    }
    let modules = MODULES.get_or_try_init(py, || {
        let modules = py.import("sys")?.getattr("modules")?;
        Ok::<_, PyErr>(modules.cast_into::<PyDict>()?.unbind())
    });
    let module = modules.ok()?.bind(py).get_item(intern!(py, "numpy.ma")).ok()??;
    // It is not there yet while another thread imports the module.
    let class = module.getattr("MaskedArray").ok()?.cast_into::<PyType>().ok()?;
    Some(CLASS.get_or_init(py, || class.unbind()).bind(py))
}
