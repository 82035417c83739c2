//! Letting go of what procedures in Python have made for feeds. Their ends come on whatever thread
//! finds that a feed is over, and that thread must not wait: so a thread of its own waits for the
//! interpreter's lock, and for what `close` does.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::mpsc::{self, Sender};

use pyo3::prelude::*;

/// To the thread; `None`: it could not be started.
static RELEASING: OnceLock<Option<Sender<Released>>> = OnceLock::new();

/// The interpreter is about to end: nothing is released any more.
static IS_OVER: AtomicBool = AtomicBool::new(false);

enum Released {
    /// An iterator: dropped.
    Source(Py<PyAny>),
    /// A taker: told, then dropped.
    Taker(Py<PyAny>),
    /// Tells who waits that whatever came before is released.
    Settled(Sender<()>),
}

/// What a procedure has made: an iterator, or a taker.
pub struct Made {
    held: Option<Py<PyAny>>,
    is_taker: bool,
}

impl Made {
    /// Of an iterator.
    pub fn source(iterator: Py<PyAny>) -> Made {
        Made { held: Some(iterator), is_taker: false }
    }

    /// Of a taker, which is closed at last.
    pub fn taker(taker: Py<PyAny>) -> Made {
        Made { held: Some(taker), is_taker: true }
    }

    /// The object.
    pub fn bind<'py>(&self, py: Python<'py>) -> Bound<'py, PyAny> {
        self.held.as_ref().expect("it is held until it is dropped").bind(py).clone()
    }
}

impl Drop for Made {
    fn drop(&mut self) {
        let held = self.held.take();
        if IS_OVER.load(SeqCst) {
            std::mem::forget(held);
        } else if let Some(held) = held {
            let wanted = if self.is_taker { Released::Taker } else { Released::Source };
            send(wanted(held));
        }
    }
}

/// Waits until all that is over is released; what is over later stays, as the interpreter may end.
/// Not with the interpreter's lock.
pub fn settle() {
    IS_OVER.store(true, SeqCst);
    if RELEASING.get().is_none() {
        return;
    }
    let (sender, settled) = mpsc::channel();
    send(Released::Settled(sender));
    // An error: there is no thread, and nothing to wait for.
    let _ = settled.recv();
}

fn send(released: Released) {
    let start = || {
        let (sender, receiver) = mpsc::channel::<Released>();
        let thread = std::thread::Builder::new().name("nearcall-release".to_owned());
        let started = thread.spawn(move || receiver.into_iter().for_each(release));
        started.ok().map(|_| sender)
    };
    // Without the thread what is released is dropped when the interpreter's lock is next free.
    if let Some(sender) = RELEASING.get_or_init(start) {
        let _ = sender.send(released);
    }
}

fn release(released: Released) {
    let (held, is_taker) = match released {
        Released::Source(held) => (held, false),
        Released::Taker(held) => (held, true),
        Released::Settled(settled) => {
            // Whoever asked may have given up.
            let _ = settled.send(());
            return;
        }
    };
    // Without an interpreter there is nobody to tell.
    Python::try_attach(|py| {
        let held = held.into_bound(py);
        if is_taker && let Err(error) = held.call_method0("close") {
            error.write_unraisable(py, Some(&held));
        }
    });
}
