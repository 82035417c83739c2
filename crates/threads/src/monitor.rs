//! What is under every lock, condition and semaphore: some words, and the threads that wait for
//! them to change. One primitive for all (U25).
//!
//! Whoever makes a change that somebody waits for takes that thread out of the list and hands over
//! what it waits for, so that a woken thread never looks again and never waits twice.
//!
//! A run with one processor looks whether the monitor is its own, and that is all; one with several
//! enters by the latch that the same word is. A monitor is a run's until that is over, and for as
//! long after that as a guard is left which was taken out of it: who drops that outside of the run
//! enters for it, and leaves the monitor to it, for another kernel thread may have another guard.

use std::cell::{Cell, UnsafeCell};
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::time::Instant;

use crate::error::Outside;
use crate::latch::{self, INSIDE};
use crate::processor::{Processor, here};
use crate::report::Waited;
use crate::runs;
use crate::sleep::describe_time;
use crate::sync::AtomicU32;
use crate::thread::{Thread, Waiters};
use crate::warning::warn;

/// What a monitor is for.
pub trait Words {
    /// What it is called where a thread is refused.
    const KIND: &'static str;

    /// Whether a thread has by them what it may take out of its run.
    fn is_held(&self) -> bool {
        false
    }
}

/// Words of one run's, and who waits for them.
#[derive(Debug)]
pub struct Monitor<S> {
    /// A latch: the run whose threads may enter; 0 before the first has.
    run: AtomicU32,
    inside: UnsafeCell<Inside<S>>,
}

/// What only one thread sees at a time.
#[derive(Debug)]
pub struct Inside<S> {
    /// The words.
    pub state: S,
    /// Who waits.
    pub waiters: Waiters,
}

// SAFETY: only `enter` and `seen` reach what is inside, and only from one run: its processor
// is one kernel thread, and nothing that is called meanwhile switches or enters again; or it has
// several, and the one that reaches it is in the latch.
unsafe impl<S> Sync for Monitor<S> {}

// SAFETY: nobody waits while it is moved, because who waits borrows it.
unsafe impl<S> Send for Monitor<S> {}

// Whoever panics inside has changed nothing or all that it is to change, and leaves the latch.
impl<S> UnwindSafe for Monitor<S> {}

impl<S> RefUnwindSafe for Monitor<S> {}

/// A processor is in the latch while this lives, also if what it does there panics.
struct Latched<'w> {
    word: &'w AtomicU32,
    run: u32,
}

impl Drop for Latched<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        latch::leave(self.word, self.run);
    }
}

impl<S> Monitor<S> {
    /// Nobody waits.
    pub const fn new(state: S) -> Monitor<S> {
        let inside = Inside { state, waiters: Waiters::new() };
        Monitor { run: AtomicU32::new(0), inside: UnsafeCell::new(inside) }
    }

    /// For reports: lets `look` see what is inside.
    pub fn seen<R>(&self, look: impl FnOnce(&Inside<S>) -> R) -> R {
        self.enter_for_owner(|inside| look(inside))
    }

    /// Lets `look` see and change what is inside, for whose it is: while a thread waits or has what
    /// it may take out of its run, which is of the caller's kernel thread then or stands still.
    fn enter_for_owner<R>(&self, look: impl FnOnce(&mut Inside<S>) -> R) -> R {
        let run = latch::owner(&self.run) & !INSIDE;
        let entered = latch::enter(&self.run, run);
        assert!(entered.is_ok(), "a monitor whose words somebody waits for or has stays its run's");
        let _latched = Latched { word: &self.run, run };
        // SAFETY: this kernel thread is in the latch, by which all enter but the only processor of
        // a run: that is this kernel thread, or it has ended or stands still. `look` does not come
        // back here.
        look(unsafe { &mut *self.inside.get() })
    }
}

impl<S: Words> Monitor<S> {
    /// Lets `look` see and change what is inside. It must not enter again and must not wait.
    ///
    /// # Panics
    ///
    /// If this belongs to another run that is not over, or that has left a guard.
    #[inline(always)]
    #[track_caller]
    pub fn enter<R>(&self, processor: &Processor, look: impl FnOnce(&mut Inside<S>) -> R) -> R {
        if latch::owner(&self.run) != processor.alone_in() {
            return self.enter_latched(processor, look);
        }
        // SAFETY: this is the run's only kernel thread, and `look` does not come back here.
        look(unsafe { &mut *self.inside.get() })
    }

    /// The same for who drops a guard. `None`: that is another run's, and to be released for it
    /// ([`Monitor::release_outside`]).
    #[inline(always)]
    pub fn enter_to_release<R>(
        &self,
        processor: &Processor,
        look: impl FnOnce(&mut Inside<S>) -> R,
    ) -> Option<R> {
        if latch::owner(&self.run) != processor.alone_in() {
            return self.enter_latched_to_release(processor, look);
        }
        // SAFETY: as for `enter`.
        Some(look(unsafe { &mut *self.inside.get() }))
    }

    /// The same where the run has other processors, or the guard is not the run's.
    #[inline(never)]
    fn enter_latched_to_release<R>(
        &self,
        processor: &Processor,
        look: impl FnOnce(&mut Inside<S>) -> R,
    ) -> Option<R> {
        // It stays whose it is for as long as there is the guard.
        self.is_of(processor).then(|| self.enter_latched(processor, look))
    }

    /// A guard is dropped where no FastThread of its run is, on a kernel thread of that: `release`
    /// takes back what it gave. Not if threads wait for that, for nobody here can make them ready;
    /// that is told. In the child of a fork(2) there is nobody to release it for, if its parent has
    /// begun the run and that was not over.
    #[cold]
    pub fn release_outside(&self, release: impl FnOnce(&mut S)) {
        if runs::is_left_behind(latch::owner(&self.run) & !INSIDE) {
            return;
        }
        let is_released = self.enter_for_owner(|inside| {
            let is_unwanted = inside.waiters.is_empty();
            if is_unwanted {
                release(&mut inside.state);
            }
            is_unwanted
        });
        if !is_released {
            warn(
                "a guard is dropped where no FastThread of its run is, and FastThreads wait for \
                 its lock: it is not released, and they wait for ever",
            );
        }
    }

    /// Whether it is of the processor's run already.
    fn is_of(&self, processor: &Processor) -> bool {
        latch::owner(&self.run) & !INSIDE == processor.run_number()
    }

    /// Whether it is of the caller's run already, so that who enters takes it from nobody.
    pub fn is_of_caller(&self) -> bool {
        here().is_some_and(|processor| self.is_of(processor))
    }

    /// Enters where the run has other processors, or has not been here.
    #[inline(never)]
    #[track_caller]
    fn enter_latched<R>(&self, processor: &Processor, look: impl FnOnce(&mut Inside<S>) -> R) -> R {
        let run = processor.run_number();
        while let Err(seen) = latch::enter(&self.run, run) {
            self.belong_to(run, seen & !INSIDE);
        }
        let _latched = Latched { word: &self.run, run };
        // SAFETY: this kernel thread is in the latch, and `look` does not come back here.
        look(unsafe { &mut *self.inside.get() })
    }

    /// A thread of this processor does not wait any more, if nobody has made it ready.
    pub fn withdraw(&self, processor: &Processor, thread: &'static Thread) -> bool {
        self.enter(processor, |inside| inside.waiters.remove(thread))
    }

    /// Suspends the running thread, which is among those that wait, until somebody takes it out or
    /// that time has come; false: it has, and the thread is not among them any more. Unwinds it if
    /// a cancel comes first.
    pub fn block_until(&self, processor: &Processor, until: Instant) -> bool
    where
        Self: Waited,
    {
        let running = processor.running();
        processor.sleepers.push(until, running);
        let waited = Until { monitor: self, until, is_late: Cell::new(false) };
        processor.block_or_unwind(&waited);
        // It is there still if somebody else was first.
        processor.sleepers.remove(running);
        !waited.is_late.get()
    }

    /// The first thread of a run comes here, where another one's have been, or nobody's. The run
    /// may find it its own after that.
    #[cold]
    #[track_caller]
    fn belong_to(&self, run: u32, other: u32) {
        // A run that is over has told so under a lock, after all that its threads wrote.
        let is_free = other == 0 || other == run || runs::is_over(other);
        assert!(is_free, "a {} of FastThreads: {}", S::KIND, Outside::OtherRun);
        // Somebody else may be the first.
        if other == run || latch::enter(&self.run, other).is_err() {
            return;
        }
        let mut latched = Latched { word: &self.run, run: other };
        // SAFETY: this kernel thread is in the latch, by which all enter whose run has not been
        // here.
        let is_left = unsafe { &*self.inside.get() }.state.is_held();
        let kind = S::KIND;
        assert!(!is_left, "a {kind} of FastThreads: a guard of it is left of a run that is over");
        latched.run = run;
    }
}

/// What a thread waits for until some time.
struct Until<'m, S> {
    monitor: &'m Monitor<S>,
    until: Instant,
    /// That has come, and nothing else.
    is_late: Cell<bool>,
}

impl<S: Words> Waited for Until<'_, S>
where
    Monitor<S>: Waited,
{
    fn describe(&self) -> String {
        format!("{}, or {}", self.monitor.describe(), describe_time(self.until))
    }

    fn withdraw(&self, processor: &Processor, thread: &'static Thread) -> bool {
        let waits = self.monitor.withdraw(processor, thread);
        if waits {
            processor.sleepers.remove(thread);
        }
        waits
    }

    fn be_late(&self, processor: &Processor, thread: &'static Thread) -> bool {
        // False: somebody has taken it out, and makes it ready.
        self.is_late.set(self.monitor.withdraw(processor, thread));
        self.is_late.get()
    }
}
