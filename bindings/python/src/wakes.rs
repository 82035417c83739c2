//! Waking an event loop when a call that is awaited is to be polled again, or when one has come for
//! a server of its (docs/design/0022-async.md). Whoever wakes needs no interpreter.
//!
//! ```text
//!   herald, or who releases an A-stack ── Waker::wake ──▶ number to the queue; if that was empty,
//!   server processor ───────────────────────────────────▶ call         a write to the eventfd
//!   event loop: its reader ── Wakes.take ──▶ numbers ──▶ their futures
//!                                          └▶ calls ────▶ tasks
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

use crate::domain;
use crate::serve_awaited::{ServedCall, SetAside};

/// Nobody polls it, and it was not woken.
const PARKED: u8 = 0;

/// It is being polled.
const POLLED: u8 = 1;

/// It is to be polled.
const WOKEN: u8 = 2;

/// Of the next that waits to be woken.
static NUMBER: AtomicU64 = AtomicU64::new(0);

/// Who of one event loop was woken, and what has come for it.
#[pyclass(frozen, module = "nearcall._native")]
pub struct Wakes {
    queue: Arc<Queue>,
}

/// What an event loop is told.
pub struct Queue {
    /// `None`: the loop is closed.
    told: Mutex<Option<Told>>,
    /// The loop watches it.
    signal: OwnedFd,
}

#[derive(Default)]
struct Told {
    woken: Vec<u64>,
    calls: Vec<SetAside>,
}

/// What wakes one call.
pub struct CallWaker {
    number: u64,
    stage: AtomicU8,
    queue: Arc<Queue>,
}

/// What nobody else is woken by.
#[pyfunction]
pub fn wake_number() -> u64 {
    // Relaxed: all that matters is that no two are the same.
    NUMBER.fetch_add(1, Ordering::Relaxed)
}

#[pymethods]
impl Wakes {
    #[new]
    fn new() -> PyResult<Wakes> {
        let flags = EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK;
        let signal = eventfd(0, flags).map_err(std::io::Error::from)?;
        Ok(Wakes { queue: Arc::new(Queue { told: Mutex::new(Some(Told::default())), signal }) })
    }

    /// What the loop watches, as long as this lives: it can be read when `take` has something.
    fn fileno(&self) -> i32 {
        self.queue.signal.as_raw_fd()
    }

    /// The numbers of all that was woken since, and the calls that have come for servers of this
    /// loop.
    fn take(&self) -> (Vec<u64>, Vec<ServedCall>) {
        self.queue.hear();
        // Both at once: whoever finds them empty after that writes anew.
        let told = self.queue.told().as_mut().map(std::mem::take).unwrap_or_default();
        (told.woken, told.calls.into_iter().map(SetAside::served).collect())
    }

    /// The loop is closed: nobody runs what has come, nor what comes.
    fn close(&self) {
        if domain::check_own().is_err() {
            // The calls are a parent's, and the lock may be held here for good.
            return;
        }
        let left = self.queue.told().take();
        let calls = left.into_iter().flat_map(|told| told.calls);
        calls.for_each(SetAside::refuse);
    }
}

impl Wakes {
    /// Where its loop is told.
    pub fn queue(&self) -> Arc<Queue> {
        Arc::clone(&self.queue)
    }
}

impl Drop for Wakes {
    fn drop(&mut self) {
        self.close();
    }
}

impl Queue {
    fn told(&self) -> MutexGuard<'_, Option<Told>> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Before anything is taken out, so that whoever finds it empty after that writes anew.
    fn hear(&self) {
        // An error: nobody has written yet, and will.
        let _ = rustix::io::read(&self.signal, &mut [0; 8]);
    }

    /// Tells the loop; whoever is first since it has heard writes.
    fn tell(&self, mut told: MutexGuard<'_, Option<Told>>, tell: impl FnOnce(&mut Told)) {
        let Some(all) = told.as_mut() else { return };
        let is_first = all.woken.is_empty() && all.calls.is_empty();
        tell(all);
        drop(told);
        if is_first {
            // It fails where it can be read anyway: its count is at its end.
            let _ = rustix::io::write(&self.signal, &1u64.to_ne_bytes());
        }
    }

    fn push(&self, number: u64) {
        self.tell(self.told(), |told| told.woken.push(number));
    }

    /// Has the loop run a call, or gives it back if that is closed.
    pub fn push_call(&self, call: SetAside) -> Option<SetAside> {
        let told = self.told();
        if told.is_none() {
            return Some(call);
        }
        self.tell(told, |told| told.calls.push(call));
        None
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
