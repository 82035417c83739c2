//! A count of permits.

use std::fmt;
use std::marker::PhantomData;
use std::time::Duration;

use crate::monitor::{Monitor, Words};
use crate::processor::{Processor, here_for};
use crate::report::Waited;
use crate::sleep::after;
use crate::thread::Thread;

/// So many permits; who finds none waits for one.
///
/// ```
/// use nearcall_threads::{Semaphore, fork, run};
/// static DONE: Semaphore = Semaphore::new(0);
/// run(|| {
///     let child = fork(|| DONE.release()).unwrap();
///     DONE.acquire();
///     child.join().unwrap();
/// })
/// .unwrap();
/// ```
pub struct Semaphore {
    monitor: Monitor<Permits>,
}

/// A permit, given back when this is dropped.
///
/// # Panics
///
/// Dropping it panics where [`Semaphore::release`] does.
#[must_use = "the permit is given back when this is dropped"]
pub struct Permit<'s> {
    semaphore: &'s Semaphore,
    /// It stays with its kernel thread: others are no processor of the run.
    stays: PhantomData<*const ()>,
}

/// How many are left. More than none only if nobody waits.
#[derive(Debug)]
struct Permits(usize);

impl Words for Permits {
    const KIND: &'static str = "semaphore";
}

impl Semaphore {
    /// So many permits.
    pub const fn new(permits: usize) -> Semaphore {
        Semaphore { monitor: Monitor::new(Permits(permits)) }
    }

    /// Takes a permit; waits until there is one. They are given in the order of who came. Nothing
    /// gives it back but [`Semaphore::release`], by any thread; that of [`Semaphore::permit`] goes
    /// back by itself.
    ///
    /// # Panics
    ///
    /// If the caller is no FastThread, or one of another run.
    #[inline(always)]
    #[track_caller]
    pub fn acquire(&self) {
        let processor = here_for("Semaphore::acquire");
        if !self.take_or_enlist(processor) {
            processor.block_or_unwind(&self.monitor);
        }
    }

    /// [`Semaphore::acquire`] for as long as a block: the permit is given back when what this
    /// returns is dropped, also where the block panics or is cancelled.
    ///
    /// # Panics
    ///
    /// As [`Semaphore::acquire`].
    ///
    /// ```
    /// use nearcall_threads::{Semaphore, run};
    /// run(|| {
    ///     let permits = Semaphore::new(1);
    ///     let permit = permits.permit();
    ///     assert!(!permits.try_acquire());
    ///     drop(permit);
    ///     assert!(permits.try_acquire());
    /// })
    /// .unwrap();
    /// ```
    #[inline(always)]
    #[track_caller]
    pub fn permit(&self) -> Permit<'_> {
        self.acquire();
        Permit { semaphore: self, stays: PhantomData }
    }

    /// [`Semaphore::acquire`] for so long at most: whether it has taken a permit. One that is given
    /// in time is the caller's, however late it goes on; one that is given after it is another
    /// one's. A time that is longer than the clock can say does not pass.
    ///
    /// # Panics
    ///
    /// As [`Semaphore::acquire`].
    ///
    /// # Cost: beside a wait's, two readings of the clock, and an entry among those that wait for a
    /// time; if a permit is left, nothing beside [`Semaphore::acquire`]'s.
    ///
    /// ```
    /// use std::time::Duration;
    /// use nearcall_threads::{Semaphore, run};
    /// run(|| {
    ///     let permits = Semaphore::new(1);
    ///     assert!(permits.acquire_timeout(Duration::MAX));
    ///     assert!(!permits.acquire_timeout(Duration::from_millis(1)));
    /// })
    /// .unwrap();
    /// ```
    #[must_use = "it may have no permit"]
    #[track_caller]
    pub fn acquire_timeout(&self, timeout: Duration) -> bool {
        let processor = here_for("Semaphore::acquire_timeout");
        self.take_or_enlist(processor) || self.monitor.block_until(processor, after(timeout))
    }

    /// Takes a permit, or is among those that wait for one.
    #[inline(always)]
    #[track_caller]
    fn take_or_enlist(&self, processor: &Processor) -> bool {
        self.monitor.enter(processor, |inside| {
            let is_left = inside.state.take();
            if !is_left {
                inside.waiters.push(processor.running());
            }
            is_left
        })
    }

    /// Takes a permit if one is left.
    ///
    /// # Panics
    ///
    /// As [`Semaphore::acquire`].
    #[inline(always)]
    #[track_caller]
    pub fn try_acquire(&self) -> bool {
        let processor = here_for("Semaphore::try_acquire");
        self.monitor.enter(processor, |inside| inside.state.take())
    }

    /// Gives a permit.
    ///
    /// # Panics
    ///
    /// As [`Semaphore::acquire`]; and if [`usize::MAX`] permits are left already.
    #[inline(always)]
    #[track_caller]
    pub fn release(&self) {
        let processor = here_for("Semaphore::release");
        let waiter = self.monitor.enter(processor, |inside| {
            let waiter = inside.waiters.pop();
            if waiter.is_none() {
                inside.state.0 = inside.state.0.checked_add(1).unwrap_or_else(|| refuse_more());
            }
            waiter
        });
        if let Some(waiter) = waiter {
            processor.wake(waiter);
        }
    }
}

impl fmt::Debug for Semaphore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Semaphore").finish_non_exhaustive()
    }
}

impl fmt::Debug for Permit<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Permit").finish_non_exhaustive()
    }
}

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        self.semaphore.release();
    }
}

impl Permits {
    fn take(&mut self) -> bool {
        let is_left = self.0 > 0;
        self.0 -= usize::from(is_left);
        is_left
    }
}

impl Waited for Monitor<Permits> {
    fn describe(&self) -> String {
        "a permit of a semaphore".to_owned()
    }

    fn withdraw(&self, processor: &Processor, thread: &'static Thread) -> bool {
        Monitor::withdraw(self, processor, thread)
    }
}

#[cold]
#[track_caller]
fn refuse_more() -> ! {
    panic!("a semaphore of FastThreads has {} permits left, and can have no more", usize::MAX)
}
