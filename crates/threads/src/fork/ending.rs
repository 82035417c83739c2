//! The end of a thread: its result is in place, and goes to whoever joins it, or is dropped.

use std::mem;
use std::panic::AssertUnwindSafe;
use std::sync::atomic::Ordering;

use super::{Outcome, outcome_of};
use crate::error::Unwound;
use crate::join::End;
use crate::kernel::catch_unwind;
use crate::local;
use crate::processor::{Processor, here, outside};
use crate::thread::Thread;

/// A thread ends with this.
///
/// # Safety
///
/// - S1 room: there is room for an `Outcome<T>`, and nothing in it.
#[inline(always)]
pub(super) unsafe fn end_with<T>(thread: &'static Thread, outcome: Outcome<T>) -> ! {
    let is_to_be_dropped = mem::needs_drop::<T>() || outcome.is_err();
    // SAFETY: S1.
    unsafe { outcome_of::<T>(thread).write(outcome) };
    end::<T>(thread, is_to_be_dropped)
}

/// The end of a thread whose result is in place; if nobody wants that, is something to be done with
/// it? What is rare never comes back here, so that nothing has to be saved for it.
#[inline(always)]
fn end<T>(thread: &'static Thread, is_to_be_dropped: bool) -> ! {
    let Some(processor) = here() else { refuse_to_end(thread) };
    if thread.is_rare.get() {
        end_rare::<T>(thread, is_to_be_dropped);
    }
    match thread.join.end_alone() {
        End::Keep => {}
        End::Wake(joiner) => wake_joiner(processor, joiner),
        End::Drop => {
            if is_to_be_dropped {
                end_dropping::<T>(processor, thread);
            }
            processor.stacks.give(thread);
        }
    }
    // Relaxed: tells no more than itself.
    thread.run.store(0, Ordering::Relaxed);
    processor.end()
}

#[inline(always)]
fn wake_joiner(processor: &Processor, joiner: usize) {
    // SAFETY: S1: who joins writes its own record's address, and never 0.
    if let Some(joiner) = unsafe { Thread::at(joiner) } {
        processor.wake(joiner);
    }
}

/// The end of a thread that has a name or thread-locals, was cancelled, is in a scope, or whose run
/// has other processors.
#[cold]
fn end_rare<T>(thread: &'static Thread, is_to_be_dropped: bool) -> ! {
    // Its values may wait when they are dropped.
    thread.asked.raise_shield();
    local::drop_all(thread);
    let is_in_scope = thread.rare.borrow().family.is_some();
    match here() {
        Some(processor) if is_in_scope || !processor.is_alone() => {
            end_among_others::<T>(processor, thread)
        }
        _ => {
            forget_rare(thread);
            end::<T>(thread, is_to_be_dropped)
        }
    }
}

/// Nothing of what most threads have not is left for the next one that has the record.
fn forget_rare(thread: &Thread) {
    thread.is_rare.set(false);
    thread.rare.take();
    thread.asked.forget();
}

/// The end of a thread whose result another processor may take, or that is in a scope. Its record
/// is its own until its processor has left its stack.
fn end_among_others<T>(processor: &Processor, thread: &'static Thread) -> ! {
    let family = thread.rare.borrow_mut().family.take();
    // SAFETY: S1 of `fork_in`: it is there until the thread has left it, below.
    let family = family.map(|family| unsafe { family.as_ref() });
    if let Some(family) = family {
        // SAFETY: S1: the result is in place, and nobody else has it yet.
        if unsafe { has_panicked::<T>(thread) } {
            family.note_panic(processor);
        }
    }
    match thread.join.end() {
        End::Keep => {}
        End::Wake(joiner) => wake_joiner(processor, joiner),
        End::Drop => {
            // SAFETY: S1: the result is in place, and nobody else has or will have it.
            unsafe { drop_own::<T>(thread) };
            let is_left = thread.join.take();
            debug_assert!(!is_left, "the stack is in use");
        }
    }
    if let Some(family) = family {
        family.leave(processor, thread);
    }
    forget_rare(thread);
    thread.home.leave();
    // Relaxed: tells no more than itself.
    thread.run.store(0, Ordering::Relaxed);
    processor.end_among_others(thread)
}

/// The end of a thread that nobody joins, and whose result has something to drop.
#[cold]
fn end_dropping<T>(processor: &Processor, thread: &'static Thread) -> ! {
    // SAFETY: S1: the result is in place, and nobody else has or will have it.
    unsafe { drop_own::<T>(thread) };
    forget_rare(thread);
    // Relaxed: tells no more than itself.
    thread.run.store(0, Ordering::Relaxed);
    processor.stacks.give(thread);
    processor.end()
}

/// A thread drops its own result, and the locals that this makes. It is still one of its
/// processor's, because either may wait.
///
/// # Safety
///
/// - S1 ended: as for [`take`].
unsafe fn drop_own<T>(thread: &Thread) {
    // SAFETY: S1.
    drop_unwanted(unsafe { take::<T>(thread) });
    local::drop_all(thread);
}

/// Whether it has ended by a panic, and not by a cancel.
///
/// # Safety
///
/// - S1 ended: as for [`take`].
unsafe fn has_panicked<T>(thread: &Thread) -> bool {
    // SAFETY: S1.
    let outcome = unsafe { &*outcome_of::<T>(thread) };
    outcome.as_ref().is_err_and(|payload| !Unwound::seen(&**payload).is_cancelled())
}

/// Drops a result that nobody joins. If that panics, its message was printed; there is nobody whom
/// it could reach.
pub(super) fn drop_unwanted<T>(outcome: Outcome<T>) {
    let dropped = catch_unwind(AssertUnwindSafe(|| drop(outcome)));
    mem::forget(dropped);
}

/// Moves a result out.
///
/// # Safety
///
/// - S1 ended: the thread has ended with an `Outcome<T>`, which nobody has taken.
#[inline(always)]
pub(super) unsafe fn take<T>(thread: &Thread) -> Outcome<T> {
    // SAFETY: S1.
    unsafe { outcome_of::<T>(thread).read() }
}

/// A FastThread comes to its end where no processor is: in the child of a fork(2).
#[cold]
fn refuse_to_end(thread: &Thread) -> ! {
    eprintln!("{} returns: {}: aborting", thread.title(), outside());
    std::process::abort()
}
