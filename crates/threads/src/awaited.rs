//! What comes from outside without waking anybody: a reply in shared memory, say. The processor of
//! the FastThreads that wait for such things looks whether they are there, when it has nothing else
//! to do, and now and then when it has (U7).
//!
//! ```text
//!   wait_for ──▶ list of the processor, the oldest first ──look: it is over──▶ ready list
//!                    │ nothing is ready                    time: it is late ──▶ ready list
//!                    ▼
//!                 Awaited::idle of the oldest: poll, yield or sleep, as it knows best
//! ```
//!
//! Who waits for what another one of them has, such as the A-stack of a call, stands in a queue
//! beside that list, so that a crowd of those costs the others nothing.
//!
//! Who waits for what and who is woken is decided here; how to wait is the oldest's to say, because
//! only it knows who brings about what it waits for.

use std::fmt;
use std::num::NonZeroUsize;
use std::time::{Duration, Instant};

use crate::cancel::Unwind;
use crate::kernel::panicking;
use crate::processor::{Processor, here};
use crate::report::Waited;
use crate::sync::AtomicU32;
use crate::thread::Thread;

// With its path, because the schedules (`tests/schedules`) have this file as a module, too.
#[path = "awaited/list.rs"]
mod list;

pub use list::AwaitedList;

/// Something that comes from outside.
///
/// Everything is asked on the waiting thread's processor, on any of its FastThreads' stacks, so
/// nothing of it may wait for FastThreads or panic: that ends the process.
pub trait Awaited {
    /// Whether it is there, so that who waits for it goes on. Asked often.
    fn is_over(&self) -> bool;

    /// If a FastThread that waits may be the one to bring it about: a number that all have who wait
    /// for the same, and nobody else, such as an address. They stand in one queue, and the first
    /// one is asked for all of them.
    fn queue(&self) -> Option<NonZeroUsize> {
        None
    }

    /// It may come without waking anybody: the processor sleeps no longer than this. Asked of the
    /// first in a queue.
    fn look_again_in(&self) -> Option<Duration> {
        None
    }

    /// No thread is ready, and this has been waited for longest. Returns when a look has found
    /// something, or earlier.
    fn idle(&self, idle: &Idle<'_>);

    /// The processor is about to sleep: announces that to whom it may concern. `None`: it is over.
    fn fall_asleep(&self) -> Option<Word<'_>>;

    /// The processor has slept; `is_late` if it did so for as long as it wanted to.
    fn wake_up(&self, is_late: bool);

    /// It may have been waited for long, by a host's guest, and the host may never sleep: sees
    /// whether it still comes. Asked now and then.
    fn look_closer(&self) {}

    /// For reports: what it is.
    fn describe(&self) -> String;
}

/// What a sleep waits for: a word that does not hold that any more, and a wake of it.
#[derive(Clone, Copy, Debug)]
pub struct Word<'w> {
    /// The word.
    pub word: &'w AtomicU32,
    /// What it holds meanwhile.
    pub expected: u32,
    /// No other domain reaches it.
    pub is_own: bool,
}

/// How a wait for something from outside ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitEnd {
    /// It is over.
    Over,
    /// It was late.
    Late,
    /// The thread was cancelled: it is to give up what it has waited for, and to unwind.
    Cancelled(Unwind),
}

/// Which of the things that are waited for may end a sleep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Enders {
    /// The oldest ones, so many at most.
    Oldest(usize),
    /// The newest one only: who brings them about does all of them before that.
    Newest,
}

/// A processor that has nothing to do but wait.
pub struct Idle<'p>(pub(crate) &'p Processor);

/// Whether the caller is a FastThread that may wait. One that unwinds may not.
///
/// # Cost: a load.
#[inline(always)]
pub fn is_fastthread() -> bool {
    here().is_some() && !panicking()
}

/// Whether the caller is a FastThread of a processor that has a loop of its own: a [`crate::Host`].
pub fn is_hosted() -> bool {
    here().is_some_and(Processor::is_hosted)
}

/// Which FastThread the caller is, if it is one. Two that live at the same time differ.
#[inline]
pub fn identity() -> Option<usize> {
    here().map(|processor| std::ptr::from_ref(processor.running()).addr())
}

/// Where the stack of the FastThread ends that calls this: the lowest address that it may use.
/// `None`: the caller is a kernel thread, on its own stack.
pub fn stack_end() -> Option<usize> {
    let thread = here()?.running();
    (thread.stack.bytes() > 0).then(|| thread.stack.end())
}

/// Waits for it, at most until then, and lets other FastThreads run meanwhile.
///
/// # Panics
///
/// If the caller is no FastThread.
///
/// # Cost: two switches, none if nobody else is ready; with a time, two readings of the clock.
#[inline]
pub fn wait_for(awaited: &dyn Awaited, until: Option<Instant>) -> WaitEnd {
    crate::processor::here_for("wait_for").wait_for(awaited, until)
}

/// Has the processor of this FastThread call `chore` each time that it goes on with another thread,
/// or with none, until it says that there is no more to do. One that was to be called before is
/// forgotten. It may not wait for FastThreads or panic: that ends the process.
///
/// # Panics
///
/// If the caller is no FastThread.
pub fn at_each_switch(chore: fn() -> bool) {
    crate::processor::here_for("at_each_switch").at_each_switch(chore);
}

impl Idle<'_> {
    /// Looks at what is oldest, and at what follows as long as it is there. True: a thread is
    /// ready, or may be.
    #[inline]
    pub fn poll(&self) -> bool {
        self.0.poll()
    }

    /// Looks at everything that may make a thread ready. True: one is.
    pub fn look(&self) -> bool {
        self.0.look();
        self.0.has_ready()
    }

    /// How many threads wait for something that only comes from outside.
    pub fn count(&self) -> usize {
        self.0.awaited.count()
    }

    /// Has `sleep` sleep while all these words hold what they should, at most so long; it says
    /// whether it has slept for as long as it wanted to, which this then says, too.
    pub fn sleep(&self, enders: Enders, sleep: impl FnOnce(&[Word<'_>], Duration) -> bool) -> bool {
        self.0.sleep_for_awaited(enders, sleep)
    }
}

impl fmt::Debug for Idle<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Idle").field("processor", self.0).finish()
    }
}

/// What a thread waits for, as reports see it.
pub struct For<'a>(pub &'a dyn Awaited);

impl Waited for For<'_> {
    fn describe(&self) -> String {
        self.0.describe()
    }

    fn withdraw(&self, processor: &Processor, thread: &'static Thread) -> bool {
        let waits = processor.awaited.has(thread);
        if waits {
            processor.awaited.remove(thread);
            processor.sleepers.remove(thread);
            thread.awaits.set(None);
        }
        waits
    }

    fn be_late(&self, processor: &Processor, thread: &'static Thread) -> bool {
        let waits = thread.awaits.get().is_some();
        if waits {
            processor.awaited.remove(thread);
        }
        waits
    }
}
