//! What the runtime tells, on its way to Python's `logging`. It tells in the middle of its work,
//! which must not wait for the interpreter's lock: so a thread of its own does.

use std::cell::Cell;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed, Ordering::SeqCst};
use std::sync::mpsc::{self, Sender};
use std::time::Duration;

use nearcall_log::Level;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

/// Most lines that wait for the thread; what more there is, is counted.
const WAITING_MAX: u64 = 1024;

/// What a handler may take for what is told at the end.
const PATIENCE: Duration = Duration::from_secs(5);

/// To the thread; `None`: it could not be started.
static TELLING: OnceLock<Option<Sender<Told>>> = OnceLock::new();

/// Lines that wait for it.
static WAITING: AtomicU64 = AtomicU64::new(0);

/// Lines for which there was no room, since the last one for which there was.
static LEFT_OUT: AtomicU64 = AtomicU64::new(0);

/// The interpreter is about to end: nothing more is put in.
static IS_OVER: AtomicBool = AtomicBool::new(false);

/// Nobody waits for the thread any more.
static IS_GIVEN_UP: AtomicBool = AtomicBool::new(false);

thread_local! {
    /// This is the thread that tells: a handler of the program's runs on it.
    static TELLS: Cell<bool> = const { Cell::new(false) };
}

enum Told {
    /// How grave, what, and how many were left out before it.
    Line(u32, String, u64),
    /// Tells who waits that whatever came before is told.
    Settled(Sender<()>),
}

/// From here on `logging` has what the runtime tells.
pub fn begin() {
    // Taken: by a domain of this process before, whose making failed.
    let _ = nearcall_log::write_lines(tell);
}

/// Waits until all is told that was told until now, for a while at most; what comes later is told
/// to nobody, as the interpreter may end. Not with the interpreter's lock.
pub fn settle() {
    IS_OVER.store(true, SeqCst);
    if let Some(Some(telling)) = TELLING.get()
        && !TELLS.get()
    {
        let (sender, settled) = mpsc::channel();
        // An error, of either: there is no thread, or a handler that takes too long.
        let _ = telling.send(Told::Settled(sender));
        let _ = settled.recv_timeout(PATIENCE);
    }
    IS_GIVEN_UP.store(true, SeqCst);
}

fn tell(level: Level, line: &str) {
    if IS_OVER.load(SeqCst) {
        return;
    }
    let Some(telling) = TELLING.get_or_init(start) else { return };
    // Relaxed, as all below: counts, which no other word goes with. A line too many is none too
    // many.
    if WAITING.load(Relaxed) >= WAITING_MAX {
        LEFT_OUT.fetch_add(1, Relaxed);
        return;
    }
    WAITING.fetch_add(1, Relaxed);
    let left_out = LEFT_OUT.swap(0, Relaxed);
    // An error: the thread has ended with the interpreter.
    let _ = telling.send(Told::Line(number(level), line.to_owned(), left_out));
}

fn start() -> Option<Sender<Told>> {
    let (sender, receiver) = mpsc::channel::<Told>();
    let thread = std::thread::Builder::new().name("nearcall-log".to_owned());
    let started = thread.spawn(move || {
        TELLS.set(true);
        // What was put in behind the end is told to nobody.
        while receiver.recv().is_ok_and(pass_on) {}
    });
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

/// False: it was the last.
fn pass_on(told: Told) -> bool {
    static TELL: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let (level, line, left_out) = match told {
        Told::Line(level, line, left_out) => (level, line, left_out),
        Told::Settled(settled) => {
            // Whoever asked may have given up.
            let _ = settled.send(());
            return false;
        }
    };
    // Relaxed: see `tell`.
    WAITING.fetch_sub(1, Relaxed);
    if IS_GIVEN_UP.load(SeqCst) {
        return false;
    }
    // Without an interpreter there is nobody to tell.
    Python::try_attach(|py| {
        let tell = TELL.import(py, "nearcall.logs", "tell");
        let told = tell.and_then(|tell| tell.call1((level, line, left_out)));
        if let Err(error) = told {
            error.write_unraisable(py, None);
        }
    });
    true
}
