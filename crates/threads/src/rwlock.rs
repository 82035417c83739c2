//! A lock that many may have to read and one to write.

use std::cell::UnsafeCell;
use std::fmt;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::ptr;
use std::sync::{LockResult, PoisonError};

use crate::kernel::panicking;
use crate::monitor::{Inside, Monitor, Words};
use crate::mutex::{Poison, Stays, show};
use crate::processor::{Processor, here, here_for};
use crate::report::Waited;
use crate::thread::{Fifo, Thread};

/// A value that many FastThreads may read, or one may write.
///
/// First come, first served: a reader that comes after a waiting writer waits behind it. A thread
/// that panics while it may write poisons the lock.
pub struct RwLock<T: ?Sized> {
    monitor: Monitor<Holders>,
    poisoned: Poison,
    value: UnsafeCell<T>,
}

/// Who has it.
#[derive(Debug)]
struct Holders {
    readers: usize,
    writer: Option<&'static Thread>,
}

impl Words for Holders {
    const KIND: &'static str = "rwlock";

    fn is_held(&self) -> bool {
        self.readers > 0 || self.writer.is_some()
    }
}

/// The right to read. Dropping it gives it back; out of its run, see [`crate::MutexGuard`].
#[must_use = "the lock is released when this is dropped"]
pub struct ReadGuard<'l, T: ?Sized> {
    lock: &'l RwLock<T>,
    stays: Stays,
}

/// The right to write. Dropping it gives it back; out of its run, see [`crate::MutexGuard`].
#[must_use = "the lock is released when this is dropped"]
pub struct WriteGuard<'l, T: ?Sized> {
    lock: &'l RwLock<T>,
    was_panicking: bool,
    stays: Stays,
}

// SAFETY: threads read it together, so it is `Sync`; one at a time writes it, so it is `Send`.
unsafe impl<T: ?Sized + Send + Sync> Sync for RwLock<T> {}

// SAFETY: who has the lock by value has the value, which is `Send`.
unsafe impl<T: ?Sized + Send> Send for RwLock<T> {}

// As of a mutex.
impl<T: ?Sized> UnwindSafe for RwLock<T> {}

impl<T: ?Sized> RefUnwindSafe for RwLock<T> {}

// SAFETY: who shares a guard sees the value by it, which is `Sync`, and nothing else.
unsafe impl<T: ?Sized + Sync> Sync for ReadGuard<'_, T> {}

// SAFETY: as above.
unsafe impl<T: ?Sized + Sync> Sync for WriteGuard<'_, T> {}

impl<T> RwLock<T> {
    /// Nobody has it.
    pub const fn new(value: T) -> RwLock<T> {
        let monitor = Monitor::new(Holders { readers: 0, writer: None });
        RwLock { monitor, poisoned: Poison::new(), value: UnsafeCell::new(value) }
    }

    /// The value, if nobody can have the lock any more.
    ///
    /// # Errors: it, too, if a thread has panicked while it wrote.
    pub fn into_inner(self) -> LockResult<T> {
        let warn = self.poisoned;
        warn.warn(self.value.into_inner())
    }
}

impl<T: ?Sized> RwLock<T> {
    /// The value, which nobody else can have now; on any kernel thread.
    ///
    /// # Errors: it, too, if a thread has panicked while it wrote.
    pub fn value_mut(&mut self) -> LockResult<&mut T> {
        self.poisoned.warn(self.value.get_mut())
    }

    /// Waits until nobody writes or waits to write, and may read then.
    ///
    /// # Errors: the lock, too, if a thread has panicked while it wrote.
    ///
    /// # Panics
    ///
    /// If the caller is no FastThread, or one of another run, or may write already. One that may
    /// read already waits for ever if somebody waits to write: who reads is not known.
    #[inline]
    #[track_caller]
    pub fn read(&self) -> LockResult<ReadGuard<'_, T>> {
        self.take(here_for("RwLock::read"), false);
        self.reading()
    }

    /// May read if nobody writes or waits to write.
    ///
    /// # Panics
    ///
    /// If the caller is no FastThread, or one of another run.
    #[track_caller]
    pub fn try_read(&self) -> Option<LockResult<ReadGuard<'_, T>>> {
        self.try_take(here_for("RwLock::try_read"), false).then(|| self.reading())
    }

    /// Waits until nobody has the lock, and may write then.
    ///
    /// # Errors: the lock, too, if a thread has panicked while it wrote.
    ///
    /// # Panics
    ///
    /// If the caller is no FastThread, or one of another run, or may write already. One that may
    /// read waits for ever: who reads is not known.
    #[inline]
    #[track_caller]
    pub fn write(&self) -> LockResult<WriteGuard<'_, T>> {
        self.take(here_for("RwLock::write"), true);
        self.writing()
    }

    /// May write if nobody has the lock or waits for it.
    ///
    /// # Panics
    ///
    /// If the caller is no FastThread, or one of another run.
    #[track_caller]
    pub fn try_write(&self) -> Option<LockResult<WriteGuard<'_, T>>> {
        self.try_take(here_for("RwLock::try_write"), true).then(|| self.writing())
    }

    /// Whether a thread has panicked while it wrote, and nobody has said since that the value is
    /// good.
    pub fn is_poisoned(&self) -> bool {
        self.poisoned.is_set()
    }

    /// The value is good again.
    pub fn clear_poison(&self) {
        self.poisoned.clear();
    }

    fn reading(&self) -> LockResult<ReadGuard<'_, T>> {
        self.poisoned.warn(ReadGuard { lock: self, stays: PhantomData })
    }

    fn writing(&self) -> LockResult<WriteGuard<'_, T>> {
        let was_panicking = panicking();
        self.poisoned.warn(WriteGuard { lock: self, was_panicking, stays: PhantomData })
    }

    #[track_caller]
    fn try_take(&self, processor: &Processor, is_writer: bool) -> bool {
        self.monitor.enter(processor, |inside| {
            let running = processor.running();
            running.is_writer.set(is_writer);
            inside.waiters.is_empty() && inside.state.admit(running)
        })
    }

    #[track_caller]
    fn take(&self, processor: &Processor, is_writer: bool) {
        let is_ours = self.monitor.enter(processor, |inside| {
            let running = processor.running();
            running.is_writer.set(is_writer);
            let is_ours = inside.waiters.is_empty() && inside.state.admit(running);
            if !is_ours {
                match inside.state.writer {
                    Some(writer) if ptr::eq(writer, running) => refuse_again(running),
                    _ => inside.waiters.push(running),
                }
            }
            is_ours
        });
        if !is_ours {
            processor.block(&self.monitor);
        }
    }

    fn release(&self, is_writer: bool) {
        let released = here().and_then(|processor| {
            let admitted = self.monitor.enter_to_release(processor, |inside| {
                inside.state.release(is_writer);
                admit_next(inside)
            });
            admitted.map(|admitted| (processor, admitted))
        });
        let Some((processor, admitted)) = released else {
            return self.monitor.release_outside(|holders| holders.release(is_writer));
        };
        while let Some(thread) = admitted.pop() {
            processor.wake(thread);
        }
    }
}

/// Those of the waiting, in their order, who have the lock now.
fn admit_next(inside: &mut Inside<Holders>) -> Fifo {
    let admitted = Fifo::new();
    while let Some(first) = inside.waiters.first()
        && inside.state.admit(first)
    {
        inside.waiters.pop();
        admitted.push(first);
    }
    admitted
}

impl Holders {
    /// Who may write, or one of those that may read, gives that back.
    fn release(&mut self, is_writer: bool) {
        if is_writer {
            self.writer = None;
        } else {
            self.readers -= 1;
        }
    }

    /// Gives this thread the lock, if it can be given.
    fn admit(&mut self, thread: &'static Thread) -> bool {
        let is_writer = thread.is_writer.get();
        if self.writer.is_some() || (is_writer && self.readers > 0) {
            return false;
        }
        if is_writer {
            self.writer = Some(thread);
        } else {
            self.readers += 1;
        }
        true
    }
}

impl<T: ?Sized> Drop for ReadGuard<'_, T> {
    fn drop(&mut self) {
        self.lock.release(false);
    }
}

impl<T: ?Sized> Drop for WriteGuard<'_, T> {
    fn drop(&mut self) {
        self.lock.poisoned.settle(self.was_panicking);
        self.lock.release(true);
    }
}

impl<T: ?Sized> Deref for ReadGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: nobody writes while somebody may read.
        unsafe { &*self.lock.value.get() }
    }
}

impl<T: ?Sized> Deref for WriteGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: this thread alone has the lock.
        unsafe { &*self.lock.value.get() }
    }
}

impl<T: ?Sized> DerefMut for WriteGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: this thread alone has the lock, and the guard is borrowed alone.
        unsafe { &mut *self.lock.value.get() }
    }
}

impl<T: Default> Default for RwLock<T> {
    fn default() -> RwLock<T> {
        RwLock::new(T::default())
    }
}

impl<T> From<T> for RwLock<T> {
    fn from(value: T) -> RwLock<T> {
        RwLock::new(value)
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for RwLock<T> {
    /// As of a [`crate::Mutex`]: with the value, if the caller may read it without waiting.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let guard = self.monitor.is_of_caller().then(|| self.try_read()).flatten();
        let guard = guard.map(|reading| reading.unwrap_or_else(PoisonError::into_inner));
        show("RwLock", guard.as_deref(), self.is_poisoned(), f)
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for ReadGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized + fmt::Display> fmt::Display for ReadGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for WriteGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized + fmt::Display> fmt::Display for WriteGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl Waited for Monitor<Holders> {
    fn describe(&self) -> String {
        self.seen(|inside| match (inside.state.writer, inside.state.readers) {
            (Some(writer), _) => format!("a rwlock that {} writes", writer.title()),
            (None, 1) => "a rwlock with one reader".to_owned(),
            (None, readers) => format!("a rwlock with {readers} readers"),
        })
    }

    fn holder(&self) -> Option<usize> {
        self.seen(|inside| inside.state.writer.map(Thread::address))
    }
}

#[cold]
#[track_caller]
fn refuse_again(thread: &Thread) -> ! {
    panic!("{} locks a rwlock that it may write already", thread.title())
}
