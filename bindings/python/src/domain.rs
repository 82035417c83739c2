//! This process's part: made at the first import or export, ended at exit.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use nearcall::Domain;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use crate::knobs::Given;
use crate::{log, release};

/// This process's part, once something was imported or exported.
static DOMAIN: OnceLock<(u32, Domain)> = OnceLock::new();

/// This process is a child of the one that has made the domain.
static IS_FORKED: AtomicBool = AtomicBool::new(false);

/// This process has ended its part.
static IS_SHUT_DOWN: AtomicBool = AtomicBool::new(false);

/// How it is to be, once somebody has said so. Held while it is made: who comes then is too late.
static OPTIONS: Mutex<Option<nearcall::DomainOptions>> = Mutex::new(None);

/// This process's part. Its threads are not there in a child that was forked.
pub fn domain() -> PyResult<&'static Domain> {
    let own = std::process::id();
    let (owner, domain) = match DOMAIN.get() {
        Some(made) => made,
        None => made(own)?,
    };
    match *owner == own {
        true => Ok(domain),
        false => Err(forked(*owner)),
    }
}

/// Makes it, unless another thread has meanwhile.
fn made(own: u32) -> PyResult<&'static (u32, Domain)> {
    let options = OPTIONS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(made) = DOMAIN.get() {
        return Ok(made);
    }
    log::begin();
    let made = Domain::with_options(options.clone().unwrap_or_default())?;
    Ok(DOMAIN.get_or_init(|| (own, made)))
}

/// Says how this process's domain is to be, in place of what was said before. It is made at the
/// first import or export; then it is too late.
#[pyfunction]
#[pyo3(signature = (options, /))]
pub fn configure(options: &Bound<'_, PyAny>) -> PyResult<()> {
    let options = nearcall::DomainOptions::from_python("options", options)?;
    let mut said = OPTIONS.lock().unwrap_or_else(PoisonError::into_inner);
    match DOMAIN.get() {
        None => {
            *said = Some(options);
            Ok(())
        }
        Some((owner, _)) if *owner != std::process::id() => Err(forked(*owner)),
        Some(_) => Err(PyRuntimeError::new_err(
            "nearcall has been used by this process: configure it before it imports or exports",
        )),
    }
}

fn forked(owner: u32) -> PyErr {
    let own = std::process::id();
    PyRuntimeError::new_err(format!(
        "process {own} was forked from {owner}, which had used nearcall: \
         start it with multiprocessing's \"spawn\", or import nothing before the fork"
    ))
}

/// Has a child that was just forked remember that what it has is its parent's.
#[pyfunction]
pub fn note_fork() {
    if DOMAIN.get().is_some() {
        // Relaxed: a child begins with this one thread.
        IS_FORKED.store(true, Ordering::Relaxed);
    }
}

/// Refuses in a child that was forked: it has a copy of which A-stacks are free, so that a call of
/// it and one of its parent would take the same.
pub fn check_own() -> PyResult<()> {
    // Relaxed: see `note_fork`.
    match DOMAIN.get().filter(|_| IS_FORKED.load(Ordering::Relaxed)) {
        Some((owner, _)) => Err(forked(*owner)),
        None => Ok(()),
    }
}

/// Whether this process has ended its part, or does so just now.
pub fn is_shut_down() -> bool {
    // Relaxed: see `shut_down`.
    IS_SHUT_DOWN.load(Ordering::Relaxed)
}

/// Ends this process's part in an orderly way: calls that run are finished.
#[pyfunction]
pub fn shut_down(py: Python<'_>) {
    if let Some((owner, domain)) = DOMAIN.get()
        && *owner == std::process::id()
    {
        // Relaxed: for who shows what there was, and nothing else.
        IS_SHUT_DOWN.store(true, Ordering::Relaxed);
        py.detach(|| {
            domain.shut_down();
            release::settle();
            log::settle();
        });
    }
}
