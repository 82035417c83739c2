//! Waking an event loop when a call that is awaited is to be polled again
//! (docs/design/0022-async.md). Whoever wakes needs no interpreter.
//!
//! ```text
//!   herald, or who releases an A-stack ── Waker::wake ──▶ number to the queue; if that was empty,
//!                                                         a write to the eventfd
//!   event loop: its reader ── Wakes.take ──▶ numbers ──▶ their futures
//! ```
//!
//! A call that wakes itself while it is polled, as those do that have just been posted, is told so
//! by the poll, and goes on at the next turn of its loop.

use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::atomic::AtomicU8;
use std::sync::atomic::Ordering::AcqRel;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Wake;

use pyo3::prelude::*;
use rustix::event::{EventfdFlags, eventfd};

/// Nobody polls it, and it was not woken.
const PARKED: u8 = 0;

/// It is being polled.
const POLLED: u8 = 1;

/// It is to be polled.
const WOKEN: u8 = 2;

/// Who of one event loop was woken.
#[pyclass(frozen, module = "nearcall._native")]
pub struct Wakes {
    queue: Arc<Queue>,
}

struct Queue {
    woken: Mutex<Vec<u64>>,
    /// The loop watches it.
    signal: OwnedFd,
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
        Ok(Wakes { queue: Arc::new(Queue { woken: Mutex::default(), signal }) })
    }

    /// What the loop watches, as long as this lives: it can be read when `take` has something.
    fn fileno(&self) -> i32 {
        self.queue.signal.as_raw_fd()
    }

    /// The numbers of all calls that were woken since.
    fn take(&self) -> Vec<u64> {
        // Before the queue is emptied, so that whoever finds it empty after that writes anew. An
        // error: nobody has written yet, and will.
        let _ = rustix::io::read(&self.queue.signal, &mut [0; 8]);
        std::mem::take(&mut *self.queue.woken())
    }
}

impl Queue {
    fn woken(&self) -> MutexGuard<'_, Vec<u64>> {
        self.woken.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn push(&self, number: u64) {
        let mut woken = self.woken();
        let is_first = woken.is_empty();
        woken.push(number);
        drop(woken);
        if is_first {
            // It fails where it can be read anyway: its count is at its end.
            let _ = rustix::io::write(&self.signal, &1u64.to_ne_bytes());
        }
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
