//! What the runtime tells, on its way to Python's `logging`. It tells in the middle of its work,
//! which must not wait for the interpreter's lock: so a thread of its own does.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::{self, SyncSender, TrySendError};

use nearcall_log::Level;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

/// Most lines that wait for the thread; what more there is, is counted.
const WAITING_MAX: usize = 1024;

/// To the thread; `None`: it could not be started.
static TELLING: OnceLock<Option<SyncSender<Told>>> = OnceLock::new();

/// Lines for which there was no room, since the last one for which there was.
static LEFT_OUT: AtomicU64 = AtomicU64::new(0);

enum Told {
    /// How grave, what, and how many were left out before it.
    Line(u32, String, u64),
    /// Tells who waits that whatever came before is told.
    Settled(mpsc::Sender<()>),
}

/// From here on `logging` has what the runtime tells.
pub fn begin() {
    // Taken: by a domain of this process before, whose making failed.
    let _ = nearcall_log::write_lines(tell);
}

/// Waits until all is told that was told until now. Not with the interpreter's lock.
pub fn settle() {
    if let Some(Some(telling)) = TELLING.get() {
        let (sender, settled) = mpsc::channel();
        // An error, of either: there is no thread, and nothing to wait for.
        let _ = telling.send(Told::Settled(sender));
        let _ = settled.recv();
    }
}

fn tell(level: Level, line: &str) {
    let Some(telling) = TELLING.get_or_init(start) else { return };
    // Relaxed: a count, which no other word goes with.
    let left_out = LEFT_OUT.swap(0, Relaxed);
    let told = Told::Line(number(level), line.to_owned(), left_out);
    if let Err(TrySendError::Full(_)) = telling.try_send(told) {
        // Relaxed: as above.
        LEFT_OUT.fetch_add(left_out + 1, Relaxed);
    }
}

fn start() -> Option<SyncSender<Told>> {
    let (sender, receiver) = mpsc::sync_channel::<Told>(WAITING_MAX);
    let thread = std::thread::Builder::new().name("nearcall-log".to_owned());
    let started = thread.spawn(move || receiver.into_iter().for_each(pass_on));
    started.ok().map(|_| sender)
}

/// As `logging` has it.
fn number(level: Level) -> u32 {
    match level {
        Level::ERROR => 40,
        Level::WARN => 30,
        _ => 20,
    }
}

fn pass_on(told: Told) {
    static TELL: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let (level, line, left_out) = match told {
        Told::Line(level, line, left_out) => (level, line, left_out),
        Told::Settled(settled) => {
            // Whoever asked may have given up.
            let _ = settled.send(());
            return;
        }
    };
    // Without an interpreter there is nobody to tell.
    Python::try_attach(|py| {
        let tell = TELL.import(py, "nearcall.logs", "tell");
        let told = tell.and_then(|tell| tell.call1((level, line, left_out)));
        if let Err(error) = told {
            error.write_unraisable(py, None);
        }
    });
}
