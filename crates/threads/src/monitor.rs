//! What is under every lock, condition and semaphore: some words, and the threads that wait for
//! them to change. One primitive for all (U25).
//!
//! Whoever makes a change that somebody waits for takes that thread out of the list and hands over
//! what it waits for, so that a woken thread never looks again and never waits twice.

use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::error::Outside;
use crate::processor::Processor;
use crate::runs;
use crate::thread::Fifo;

/// Words of one run's, and who waits for them.
#[derive(Debug)]
pub struct Monitor<S> {
    /// The run whose threads may enter; 0 before the first has.
    run: AtomicU32,
    inside: UnsafeCell<Inside<S>>,
}

/// What only one thread sees at a time.
#[derive(Debug)]
pub struct Inside<S> {
    /// The words.
    pub state: S,
    /// Who waits.
    pub waiters: Fifo,
}

// SAFETY: only `enter` and `seen` reach what is inside, and only from one run: its processor
// is one kernel thread, and nothing that is called meanwhile switches or enters again.
unsafe impl<S> Sync for Monitor<S> {}

// SAFETY: nobody waits while it is moved, because who waits borrows it.
unsafe impl<S> Send for Monitor<S> {}

impl<S> Monitor<S> {
    /// Nobody waits.
    pub const fn new(state: S) -> Monitor<S> {
        let inside = Inside { state, waiters: Fifo::new() };
        Monitor { run: AtomicU32::new(0), inside: UnsafeCell::new(inside) }
    }

    /// Lets `look` see and change what is inside. It must not enter again and must not wait.
    ///
    /// # Panics
    ///
    /// If this belongs to another run that is not over.
    #[inline(always)]
    #[track_caller]
    pub fn enter<R>(&self, processor: &Processor, look: impl FnOnce(&mut Inside<S>) -> R) -> R {
        // Relaxed: what this run's threads wrote is the same kernel thread's.
        if self.run.load(Ordering::Relaxed) != processor.run_number() {
            self.belong_to(processor.run_number());
        }
        // SAFETY: this is the run's only kernel thread, and `look` does not come back here.
        look(unsafe { &mut *self.inside.get() })
    }

    /// For reports: lets `look` see what is inside.
    pub fn seen<R>(&self, look: impl FnOnce(&Inside<S>) -> R) -> R {
        // SAFETY: a thread of the run waits for this, and whoever reports runs on its processor or
        // after it; nobody is inside meanwhile.
        look(unsafe { &*self.inside.get() })
    }

    /// The first thread of a run comes here.
    #[cold]
    #[track_caller]
    fn belong_to(&self, run: u32) {
        // Relaxed: a run that is over has told so under a lock, after all that its threads wrote.
        let before = self.run.load(Ordering::Relaxed);
        let is_free = before == 0 || runs::is_over(before);
        // Acquire and Release: with the exchange of another run's, which then sees this number.
        let (order, failure) = (Ordering::AcqRel, Ordering::Relaxed);
        if !is_free || self.run.compare_exchange(before, run, order, failure).is_err() {
            panic!("a lock, condition or semaphore of FastThreads: {}", Outside::OtherRun);
        }
    }
}
