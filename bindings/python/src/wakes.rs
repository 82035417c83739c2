//! Waking an event loop when a call that is awaited is to be polled again, or when one has come for
//! a server of its (docs/design/0022-async.md). Whoever wakes needs no interpreter.
//!
//! ```text
//!   herald, or who releases an A-stack ── Waker::wake ──▶ number to the queue; if that was empty,
//!   server processor ───────────────────────────────────▶ call         a write to the eventfd
//!   event loop: its reader ── Wakes.take ──▶ numbers ──▶ their futures
//!                             Wakes.calls ─▶ calls ────▶ tasks
//! ```
//!
//! A call that wakes itself while it is polled, as those do that have just been posted, is told so
//! by the poll, and goes on at the next turn of its loop.

use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::atomic::Ordering::{self, AcqRel};
use std::sync::atomic::{AtomicU8, AtomicU64};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Wake;

use pyo3::prelude::*;
use rustix::event::{EventfdFlags, eventfd};

use crate::serve_awaited::{ServedCall, SetAside};

/// Nobody polls it, and it was not woken.
const PARKED: u8 = 0;

/// It is being polled.
const POLLED: u8 = 1;

/// It is to be polled.
const WOKEN: u8 = 2;

/// Who of one event loop was woken, and what has come for it.
#[pyclass(frozen, module = "nearcall._native")]
pub struct Wakes {
    queue: Arc<Queue>,
}

/// What an event loop is told.
pub struct Queue {
    told: Mutex<Told>,
    /// The loop watches it.
    signal: OwnedFd,
}

#[derive(Default)]
struct Told {
    woken: Vec<u64>,
    calls: Vec<SetAside>,
    /// The loop is closed.
    is_over: bool,
}

/// What wakes one call.
pub struct CallWaker {
    number: u64,
    stage: AtomicU8,
    queue: Arc<Queue>,
}

#[pymethods]
impl Wakes {
    #[new]
    fn new() -> PyResult<Wakes> {
        let flags = EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK;
        let signal = eventfd(0, flags).map_err(std::io::Error::from)?;
        Ok(Wakes { queue: Arc::new(Queue { told: Mutex::default(), signal }) })
    }

    /// What the loop watches, as long as this lives: it can be read when `take` or `calls` has
    /// something.
    fn fileno(&self) -> i32 {
        self.queue.signal.as_raw_fd()
    }

    /// The numbers of all calls that were woken since.
    fn take(&self) -> Vec<u64> {
        self.queue.hear();
        std::mem::take(&mut self.queue.told().woken)
    }

    /// The calls that have come for servers of this loop since.
    fn calls(&self) -> Vec<ServedCall> {
        self.queue.hear();
        let calls = std::mem::take(&mut self.queue.told().calls);
        calls.into_iter().map(SetAside::served).collect()
    }
}

/// Of the next that waits to be woken.
static NUMBER: AtomicU64 = AtomicU64::new(0);

/// What nobody else is woken by.
#[pyfunction]
pub fn wake_number() -> u64 {
    // Relaxed: all that matters is that no two are the same.
    NUMBER.fetch_add(1, Ordering::Relaxed)
}

impl Wakes {
    /// Where its loop is told.
    pub fn queue(&self) -> Arc<Queue> {
        Arc::clone(&self.queue)
    }
}

impl Drop for Wakes {
    /// Nobody runs what has come, nor what comes.
    fn drop(&mut self) {
        let left = {
            let mut told = self.queue.told();
            told.is_over = true;
            std::mem::take(&mut told.calls)
        };
        left.into_iter().for_each(SetAside::refuse);
    }
}

impl Queue {
    fn told(&self) -> MutexGuard<'_, Told> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Before anything is taken out, so that whoever finds it empty after that writes anew.
    fn hear(&self) {
        // An error: nobody has written yet, and will.
        let _ = rustix::io::read(&self.signal, &mut [0; 8]);
    }

    fn signal(&self) {
        // It fails where it can be read anyway: its count is at its end.
        let _ = rustix::io::write(&self.signal, &1u64.to_ne_bytes());
    }

    fn push(&self, number: u64) {
        let mut told = self.told();
        let is_first = told.woken.is_empty();
        told.woken.push(number);
        drop(told);
        if is_first {
            self.signal();
        }
    }

    /// Has the loop run a call.
    ///
    /// # Errors: it is closed.
    pub fn push_call(&self, call: SetAside) -> Result<(), SetAside> {
        let mut told = self.told();
        if told.is_over {
            return Err(call);
        }
        let is_first = told.calls.is_empty();
        told.calls.push(call);
        drop(told);
        if is_first {
            self.signal();
        }
        Ok(())
    }
}

impl CallWaker {
    /// Wakes the call of this number.
    pub fn new(number: u64, wakes: &Wakes) -> CallWaker {
        CallWaker { number, stage: AtomicU8::new(PARKED), queue: Arc::clone(&wakes.queue) }
    }

    /// Of the call.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// It is about to be polled: whatever woke it before is done with.
    pub fn begin_poll(&self) {
        self.stage.swap(POLLED, AcqRel);
    }

    /// It was polled; whether it was woken meanwhile, and nobody else tells.
    pub fn end_poll(&self) -> bool {
        self.stage.swap(PARKED, AcqRel) == WOKEN
    }
}

impl Wake for CallWaker {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if self.stage.swap(WOKEN, AcqRel) == PARKED {
            self.queue.push(self.number);
        }
    }
}
