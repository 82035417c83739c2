//! Waits that a cancel ends, and who carries it out: the processor that the thread is at home on.

use std::sync::atomic::Ordering;

use super::{Processor, here};
use crate::cancel::Unwind;
use crate::circle;
use crate::error::ForkError;
use crate::fork::fork_elsewhere;
use crate::home::Cancel;
use crate::kernel::panicking;
use crate::report::Waited;
use crate::thread::Thread;

/// A thread that may have ended, the number that it had, and the processor that it began on.
pub struct Target {
    thread: &'static Thread,
    number: u64,
    at: u16,
}

// SAFETY: who has it asks two words first that all processors may read, `run` and `home`, and goes
// on only if they say that the thread is its own.
unsafe impl Send for Target {}

impl Processor {
    /// The same as [`Processor::block`], if no cancel comes meanwhile.
    ///
    /// # Errors: one has, and the thread is in nobody's list.
    #[inline(always)]
    pub fn block_unless_cancelled(&self, waited: &dyn Waited) -> Result<(), Unwind> {
        let running = self.running();
        if running.asked.is_due() && self.withdraws(running, waited) {
            return Err(Unwind::of(running));
        }
        // Whoever cancels it takes out what it waits for.
        match self.suspend(waited).waits_for.take() {
            Some(_) => Ok(()),
            None => Err(Unwind::of(running)),
        }
    }

    /// The same, which unwinds the thread then.
    #[inline(always)]
    pub fn block_or_unwind(&self, waited: &dyn Waited) {
        if let Err(cancelled) = self.block_unless_cancelled(waited) {
            cancelled.unwind();
        }
    }

    /// It was cancelled before it waits. What it waits for may have come since it is in the list.
    #[cold]
    fn withdraws(&self, running: &'static Thread, waited: &dyn Waited) -> bool {
        !panicking() && waited.withdraw(self, running)
    }

    /// A thread of this run, whose result nobody has taken, is to end.
    ///
    /// # Errors: it is another processor's, and there is no stack for the thread that tells it.
    pub fn cancel(&'static self, thread: &'static Thread) -> Result<(), ForkError> {
        self.aim_at(thread, thread.number.get()).map_or(Ok(()), |target| self.cancel_target(target))
    }

    /// The first part of that, which is done while the caller knows that the record is no other
    /// thread's; and what is left to do, which can be done later.
    pub fn aim_at(&self, thread: &'static Thread, number: u64) -> Option<Target> {
        if self.is_alone() {
            return Some(Target { thread, number, at: self.place().at });
        }
        match thread.home.cancel() {
            Cancel::Done => None,
            Cancel::Tell(at) => Some(Target { thread, number, at }),
        }
    }

    /// The second part.
    ///
    /// # Errors: as [`Processor::cancel`].
    pub fn cancel_target(&'static self, target: Target) -> Result<(), ForkError> {
        if target.at == self.place().at {
            self.cancel_own(&target);
            return Ok(());
        }
        fork_elsewhere(self, target.at, move || tell(&target))
    }

    /// The same for a thread that is at home here, if it has not ended meanwhile.
    fn cancel_own(&self, target: &Target) {
        let Target { thread, number, .. } = *target;
        // The record may have become another thread's, of this run or another one: nothing but
        // these two words is looked at then.
        // Relaxed: where the run is alone it was written here, and else `home` says enough.
        let is_ours = thread.run.load(Ordering::Relaxed) == self.run_number()
            && self.is_home_of(thread)
            && thread.number.get() == number;
        if !is_ours {
            return;
        }
        // So that its end forgets that it was asked.
        thread.is_rare.set(true);
        thread.asked.ask();
        if !thread.asked.is_due() {
            return;
        }
        let Some(waited) = thread.waits_for.get() else { return };
        // SAFETY: the thread borrows what it waits for, on its own stack, until it goes on, and it
        // does so on this processor.
        if unsafe { waited.as_ref() }.withdraw(self, thread) {
            thread.waits_for.set(None);
            if cfg!(debug_assertions) {
                circle::end(thread);
            }
            self.wake(thread);
        }
    }
}

/// What the thread does that one processor has another one cancel by.
fn tell(target: &Target) {
    if let Some(processor) = here() {
        processor.cancel_own(target);
    }
}
