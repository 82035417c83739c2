//! Cancellation: a thread is asked to end, and ends where it waits (Taos's alerts).
//!
//! ```text
//!   cancel ─▶ it has not begun ─▶ never begins ──────────────────────────────┐
//!          ─▶ it waits ─▶ is taken out of what it waits for ─▶ unwinds ───────┼─▶ join: Cancelled
//!          ─▶ it runs ─▶ waits next, or asks ─▶ unwinds ──────────────────────┘
//!                    └─▶ returns first ────────────────────────────────────────▶ join: its result
//! ```
//!
//! What a thread waits for comes, or the cancel does, never both: both are decided on one
//! processor, or by one word.

use std::cell::Cell;
use std::marker::PhantomData;

use crate::kernel::{panicking, resume_unwind};
use crate::processor::{Processor, here};
use crate::thread::Thread;

/// What a cancelled thread unwinds with.
#[derive(Debug)]
pub struct Cancelled;

/// The calling thread was cancelled, and is to unwind. If it does not, it is told again where it
/// waits next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "a thread that was cancelled is to unwind"]
pub struct Unwind(PhantomData<*const ()>);

/// Whether a thread was cancelled. Its processor's own.
#[derive(Debug, Default)]
#[repr(C)]
pub struct Asked {
    /// It was, and no shield keeps it from that. First, so that it is in the record's first line.
    is_due: Cell<bool>,
    is_asked: Cell<bool>,
    shields: Cell<u32>,
}

impl Asked {
    /// It is to end where it waits next.
    #[inline(always)]
    pub fn is_due(&self) -> bool {
        self.is_due.get()
    }

    /// It is cancelled, not for the first time perhaps.
    pub fn ask(&self) {
        self.is_asked.set(true);
        self.settle();
    }

    /// One thread ends, and another one will have the record.
    pub fn forget(&self) {
        self.is_asked.set(false);
        self.shields.set(0);
        self.is_due.set(false);
    }

    /// Nothing of a thread is cancelled from here on.
    pub fn raise_shield(&self) {
        self.shields.set(self.shields.get() + 1);
        self.settle();
    }

    fn lower_shield(&self) {
        self.shields.set(self.shields.get() - 1);
        self.settle();
    }

    fn settle(&self) {
        self.is_due.set(self.is_asked.get() && self.shields.get() == 0);
    }
}

/// While it lives, its thread is not unwound by a cancel.
struct Shield(&'static Thread);

impl Drop for Shield {
    fn drop(&mut self) {
        self.0.asked.lower_shield();
    }
}

/// Ends the calling FastThread here if it was cancelled; see [`crate::Forked::cancel`].
///
/// # Cost: two loads.
#[inline]
pub fn test_cancel() {
    if let Some(thread) = here().map(Processor::running)
        && thread.asked.is_due()
        && !panicking()
    {
        Unwind::of(thread).unwind();
    }
}

/// Whether the calling FastThread was cancelled, shielded or not.
///
/// # Cost: two loads.
#[inline]
pub fn is_cancelled() -> bool {
    here().is_some_and(|processor| processor.running().asked.is_asked.get())
}

/// Runs `body`, in which a cancel has no effect: waits there end as if there were none. It has when
/// the thread waits after that. For code that must not be unwound: foreign code that calls back,
/// and steps of which all are to be done or none.
///
/// ```
/// use std::time::Duration;
/// use nearcall_threads::{JoinError, fork, run, shield, sleep, yield_now};
/// let joined = run(|| {
///     let child = fork(|| {
///         shield(|| sleep(Duration::from_millis(1)));
///         println!("this is reached");
///         sleep(Duration::MAX / 4);
///     })
///     .unwrap();
///     yield_now();
///     child.cancel().unwrap();
///     child.join()
/// });
/// assert!(matches!(joined.unwrap(), Err(JoinError::Cancelled(_))));
/// ```
pub fn shield<R>(body: impl FnOnce() -> R) -> R {
    let _shield = here().map(|processor| {
        let thread = processor.running();
        thread.asked.raise_shield();
        Shield(thread)
    });
    body()
}

/// Whoever is built so ends without a word otherwise.
#[cold]
fn refuse_to_unwind() -> ! {
    let title = here().map_or_else(String::new, |processor| processor.running().title());
    eprintln!("{title} was cancelled, and is built with `panic = \"abort\"`: aborting");
    std::process::abort()
}

impl Unwind {
    /// This thread is the caller and does not unwind, but is to.
    #[inline(always)]
    pub(crate) fn of(thread: &'static Thread) -> Unwind {
        debug_assert!(thread.asked.is_due(), "it was cancelled and is not shielded");
        Unwind(PhantomData)
    }

    /// Ends the calling thread: whatever is on its stack is dropped. Unlike a panic it says nothing
    /// on standard error.
    #[cold]
    pub fn unwind(self) -> ! {
        if cfg!(panic = "abort") {
            refuse_to_unwind();
        }
        resume_unwind(Box::new(Cancelled))
    }
}
