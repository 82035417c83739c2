//! Something that is made once, by whoever needs it first.

use std::cell::UnsafeCell;
use std::fmt;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::monitor::{Monitor, Words};
use crate::processor::here_for;
use crate::report::Waited;
use crate::thread::Thread;

/// A value that is made once.
///
/// ```
/// use nearcall_threads::{Once, run};
/// static TABLE: Once<Vec<u32>> = Once::new();
/// assert_eq!(run(|| TABLE.value(|| vec![1, 2]).len()).unwrap(), 2);
/// ```
pub struct Once<T> {
    monitor: Monitor<Making>,
    is_made: AtomicBool,
    value: UnsafeCell<Option<T>>,
}

/// The thread that is at it.
#[derive(Debug)]
struct Making(Option<&'static Thread>);

impl Words for Making {
    const KIND: &'static str = "value that is made once";
}

/// Ends the making, however it ends.
struct Turn<'o, T>(&'o Once<T>);

// SAFETY: one thread makes the value, before anybody reads it; it is read by many, so `Sync`, and
// dropped by who has it, so `Send`.
unsafe impl<T: Send + Sync> Sync for Once<T> {}

// SAFETY: who has it by value has the value, which is `Send`.
unsafe impl<T: Send> Send for Once<T> {}

// A value whose making panics is not there.
impl<T: UnwindSafe> UnwindSafe for Once<T> {}

impl<T: RefUnwindSafe + UnwindSafe> RefUnwindSafe for Once<T> {}

impl<T> Once<T> {
    /// Not made yet.
    pub const fn new() -> Once<T> {
        let monitor = Monitor::new(Making(None));
        Once { monitor, is_made: AtomicBool::new(false), value: UnsafeCell::new(None) }
    }

    /// The value. The first who asks makes it; who asks meanwhile waits. If `make` panics, the next
    /// who asks makes it.
    ///
    /// # Panics
    ///
    /// With `make`; and, before the value is made, if the caller is no FastThread, one of another
    /// run, or the one that makes it.
    ///
    /// # Cost: one load, when it is made.
    #[inline]
    #[track_caller]
    pub fn value(&self, make: impl FnOnce() -> T) -> &T {
        if self.made().is_none() {
            self.make(make);
        }
        self.made().expect("it was made just now")
    }

    /// Gives it this value, if it has none. Waits for whoever is making one.
    ///
    /// # Errors: it has one. Here is this one back.
    ///
    /// # Panics
    ///
    /// As [`Once::value`].
    ///
    /// ```
    /// use nearcall_threads::{Once, run};
    /// static LIMIT: Once<u32> = Once::new();
    /// assert_eq!(run(|| (LIMIT.set(1), LIMIT.set(2))).unwrap(), (Ok(()), Err(2)));
    /// assert_eq!(LIMIT.made(), Some(&1));
    /// ```
    #[track_caller]
    pub fn set(&self, value: T) -> Result<(), T> {
        let mut value = Some(value);
        self.value(|| value.take().expect("it is made once"));
        value.map_or(Ok(()), Err)
    }

    /// The value, if it is made.
    #[inline]
    pub fn made(&self) -> Option<&T> {
        // Acquire: with the store in `make`; makes the value visible, to kernel threads too.
        if !self.is_made.load(Ordering::Acquire) {
            return None;
        }
        // SAFETY: nobody writes it after it was made.
        unsafe { &*self.value.get() }.as_ref()
    }

    /// The same for who has it alone.
    pub fn made_mut(&mut self) -> Option<&mut T> {
        self.value.get_mut().as_mut()
    }

    /// Takes the value out; it is not made then.
    pub fn take(&mut self) -> Option<T> {
        std::mem::take(self).into_inner()
    }

    /// The value, if it is made.
    pub fn into_inner(self) -> Option<T> {
        self.value.into_inner()
    }

    #[cold]
    #[track_caller]
    fn make(&self, make: impl FnOnce() -> T) {
        let processor = here_for("Once::value");
        let running = processor.running();
        let is_ours = self.monitor.enter(processor, |inside| match inside.state.0 {
            None => {
                inside.state.0 = Some(running);
                true
            }
            Some(maker) if ptr::eq(maker, running) => refuse_again(running),
            Some(_) => {
                inside.waiters.push(running);
                false
            }
        });
        if !is_ours {
            // The turn is handed over: to make it if it was not made.
            processor.block(&self.monitor);
        }
        let _turn = Turn(self);
        if self.made().is_none() {
            let value = make();
            // SAFETY: the turn is this thread's alone, and nobody reads before `is_made`.
            unsafe { *self.value.get() = Some(value) };
            // Release: makes the value visible to who sees it made.
            self.is_made.store(true, Ordering::Release);
        }
    }
}

impl<T> Drop for Turn<'_, T> {
    fn drop(&mut self) {
        let processor = here_for("Once::value");
        let next = self.0.monitor.enter(processor, |inside| {
            inside.state.0 = inside.waiters.pop();
            inside.state.0
        });
        if let Some(next) = next {
            processor.wake(next);
        }
    }
}

/// Made already.
impl<T> From<T> for Once<T> {
    fn from(value: T) -> Once<T> {
        let monitor = Monitor::new(Making(None));
        Once { monitor, is_made: AtomicBool::new(true), value: UnsafeCell::new(Some(value)) }
    }
}

/// With a copy of the value, if it is made.
impl<T: Clone> Clone for Once<T> {
    fn clone(&self) -> Once<T> {
        self.made().cloned().map_or_else(Once::new, Once::from)
    }
}

impl<T: PartialEq> PartialEq for Once<T> {
    fn eq(&self, other: &Once<T>) -> bool {
        self.made() == other.made()
    }
}

impl<T: Eq> Eq for Once<T> {}

impl<T> Default for Once<T> {
    fn default() -> Once<T> {
        Once::new()
    }
}

impl<T: fmt::Debug> fmt::Debug for Once<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Once").field(&self.made()).finish()
    }
}

impl Waited for Monitor<Making> {
    fn describe(&self) -> String {
        match self.seen(|inside| inside.state.0.map(Thread::title)) {
            Some(maker) => format!("a value that {maker} makes"),
            None => "a value that another FastThread makes".to_owned(),
        }
    }

    fn holder(&self) -> Option<usize> {
        self.seen(|inside| inside.state.0.map(Thread::address))
    }
}

#[cold]
#[track_caller]
fn refuse_again(thread: &Thread) -> ! {
    panic!("{} makes a value, for which it needs the value", thread.title())
}
