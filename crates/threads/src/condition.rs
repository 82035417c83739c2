//! A condition: threads that wait for something to become true, and are told.

use std::fmt;
use std::sync::{LockResult, PoisonError};
use std::time::{Duration, Instant};

use crate::kernel::now;
use crate::monitor::{Monitor, Words};
use crate::mutex::MutexGuard;
use crate::processor::{Processor, here_for};
use crate::report::Waited;
use crate::sleep::after;
use crate::thread::Thread;

/// Where threads wait until another one says that what they wait for may be true.
///
/// ```
/// use std::sync::Arc;
/// use nearcall_threads::{Condition, Mutex, fork, run};
/// let seen = run(|| {
///     let shared = Arc::new((Mutex::new(0), Condition::new()));
///     let theirs = Arc::clone(&shared);
///     let child = fork(move || {
///         let value = theirs.1.wait_while(theirs.0.lock().unwrap(), |value| *value == 0);
///         *value.unwrap()
///     });
///     *shared.0.lock().unwrap() = 5;
///     shared.1.signal();
///     child.unwrap().join().unwrap()
/// });
/// assert_eq!(seen.unwrap(), 5);
/// ```
#[derive(Default)]
pub struct Condition {
    monitor: Monitor<Told>,
}

/// Whether a wait has ended because its time had passed, as `std`'s of this name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaitTimeoutResult(bool);

impl WaitTimeoutResult {
    /// The time has passed, and there was no signal for this thread.
    pub fn timed_out(&self) -> bool {
        self.0
    }
}

/// A condition has no state: a signal that nobody waits for is nothing.
#[derive(Debug)]
struct Told;

impl Words for Told {
    const KIND: &'static str = "condition";
}

impl Default for Monitor<Told> {
    fn default() -> Self {
        Monitor::new(Told)
    }
}

impl fmt::Debug for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Condition").finish_non_exhaustive()
    }
}

impl Condition {
    /// Nobody waits.
    pub const fn new() -> Condition {
        Condition { monitor: Monitor::new(Told) }
    }

    /// Releases the lock, waits for a signal, and takes the lock again. Never comes back without a
    /// signal; but another thread may have had the lock first. If the thread is cancelled, it does
    /// not have the lock while it unwinds.
    ///
    /// # Errors: the lock, too, if a thread has panicked while it had it.
    ///
    /// # Panics
    ///
    /// If the condition or the lock is of another run.
    #[inline(always)]
    #[track_caller]
    pub fn wait<'m, T: ?Sized>(&self, guard: MutexGuard<'m, T>) -> LockResult<MutexGuard<'m, T>> {
        let processor = here_for("Condition::wait");
        self.monitor.enter(processor, |inside| inside.waiters.push(processor.running()));
        let mutex = guard.release_to_wait(processor);
        processor.block_or_unwind(&self.monitor);
        // A thread stays with its processor.
        mutex.lock_again(processor)
    }

    /// Waits as long as `is_so` holds.
    ///
    /// # Errors: as [`Condition::wait`].
    ///
    /// # Panics
    ///
    /// As [`Condition::wait`].
    #[inline(always)]
    #[track_caller]
    pub fn wait_while<'m, T: ?Sized>(
        &self,
        mut guard: MutexGuard<'m, T>,
        mut is_so: impl FnMut(&mut T) -> bool,
    ) -> LockResult<MutexGuard<'m, T>> {
        while is_so(&mut guard) {
            guard = self.wait(guard)?;
        }
        Ok(guard)
    }

    /// The same as [`Condition::wait`], for so long at most, and says whether that has passed. A
    /// thread is signalled or late, never both: a signal that comes later is another one's. One
    /// that is longer than the clock can say does not pass.
    ///
    /// # Errors: as [`Condition::wait`].
    ///
    /// # Panics
    ///
    /// As [`Condition::wait`].
    ///
    /// # Cost: beside a wait's, a reading of the clock, and an entry among those that wait for a
    /// time.
    ///
    /// ```
    /// use std::time::Duration;
    /// use nearcall_threads::{Condition, Mutex, run};
    /// run(|| {
    ///     let (lock, never) = (Mutex::new(()), Condition::new());
    ///     let waited = never.wait_timeout(lock.lock().unwrap(), Duration::from_millis(1));
    ///     assert!(waited.unwrap().1.timed_out());
    /// })
    /// .unwrap();
    /// ```
    #[track_caller]
    pub fn wait_timeout<'m, T: ?Sized>(
        &self,
        guard: MutexGuard<'m, T>,
        timeout: Duration,
    ) -> LockResult<(MutexGuard<'m, T>, WaitTimeoutResult)> {
        self.wait_until(guard, after(timeout))
    }

    /// Waits as long as `is_so` holds, for so long at most: whether it still held then.
    ///
    /// # Errors: as [`Condition::wait`].
    ///
    /// # Panics
    ///
    /// As [`Condition::wait`].
    #[track_caller]
    pub fn wait_timeout_while<'m, T: ?Sized>(
        &self,
        mut guard: MutexGuard<'m, T>,
        timeout: Duration,
        mut is_so: impl FnMut(&mut T) -> bool,
    ) -> LockResult<(MutexGuard<'m, T>, WaitTimeoutResult)> {
        let until = after(timeout);
        while is_so(&mut guard) {
            if now() >= until {
                return Ok((guard, WaitTimeoutResult(true)));
            }
            (guard, _) = self.wait_until(guard, until)?;
        }
        Ok((guard, WaitTimeoutResult(false)))
    }

    #[track_caller]
    fn wait_until<'m, T: ?Sized>(
        &self,
        guard: MutexGuard<'m, T>,
        until: Instant,
    ) -> LockResult<(MutexGuard<'m, T>, WaitTimeoutResult)> {
        let processor = here_for("Condition::wait_timeout");
        self.monitor.enter(processor, |inside| inside.waiters.push(processor.running()));
        let mutex = guard.release_to_wait(processor);
        let is_signalled = self.monitor.block_until(processor, until);
        let result = WaitTimeoutResult(!is_signalled);
        match mutex.lock_again(processor) {
            Ok(guard) => Ok((guard, result)),
            Err(poisoned) => Err(PoisonError::new((poisoned.into_inner(), result))),
        }
    }

    /// Makes the thread that has waited longest ready, if one waits.
    ///
    /// # Panics
    ///
    /// If the caller is no FastThread, or one of another run.
    #[inline(always)]
    #[track_caller]
    pub fn signal(&self) {
        let processor = here_for("Condition::signal");
        if let Some(waiter) = self.monitor.enter(processor, |inside| inside.waiters.pop()) {
            processor.wake(waiter);
        }
    }

    /// Makes every thread that waits ready.
    ///
    /// # Panics
    ///
    /// If the caller is no FastThread, or one of another run.
    #[track_caller]
    pub fn broadcast(&self) {
        let processor = here_for("Condition::broadcast");
        if processor.is_alone() {
            let waiters = self.monitor.enter(processor, |inside| inside.waiters.take());
            while let Some(waiter) = waiters.pop() {
                processor.wake(waiter);
            }
        } else {
            // Other processors may look for theirs before they are made ready.
            let waiters = self.monitor.enter(processor, |inside| inside.waiters.hide());
            while let Some(waiter) = waiters.pop() {
                processor.wake(waiter);
            }
        }
    }
}

impl Waited for Monitor<Told> {
    fn describe(&self) -> String {
        "the signal of a condition".to_owned()
    }

    fn withdraw(&self, processor: &Processor, thread: &'static Thread) -> bool {
        Monitor::withdraw(self, processor, thread)
    }
}
