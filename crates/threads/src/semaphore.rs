//! A count of permits.

use crate::monitor::Monitor;
use crate::processor::{Processor, here_for};
use crate::report::Waited;
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
#[derive(Debug)]
pub struct Semaphore {
    monitor: Monitor<Permits>,
}

/// How many are left. More than none only if nobody waits.
#[derive(Debug)]
struct Permits(usize);

impl Semaphore {
    /// So many permits.
    pub const fn new(permits: usize) -> Semaphore {
        Semaphore { monitor: Monitor::new(Permits(permits)) }
    }

    /// Takes a permit; waits until there is one. They are given in the order of who came.
    ///
    /// # Panics
    ///
    /// If the caller is no FastThread, or one of another run.
    #[inline(always)]
    #[track_caller]
    pub fn acquire(&self) {
        let processor = here_for("Semaphore::acquire");
        let is_ours = self.monitor.enter(processor, |inside| {
            let is_left = inside.state.take();
            if !is_left {
                inside.waiters.push(processor.running());
            }
            is_left
        });
        if !is_ours {
            processor.block_or_unwind(&self.monitor);
        }
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
