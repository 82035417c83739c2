//! A lock that a thread waits for by letting others run.

use std::cell::UnsafeCell;
use std::fmt;
use std::marker::PhantomData;
use std::mem;
use std::ops::{Deref, DerefMut};
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{LockResult, PoisonError};

use crate::kernel::panicking;
use crate::monitor::{Monitor, Words};
use crate::processor::{Processor, here, here_for};
use crate::report::Waited;
use crate::thread::Thread;

/// A value that one FastThread at a time may use.
///
/// Who waits gets the lock in the order in which they came. A thread that panics while it has the
/// lock poisons it, as `std`'s mutexes do.
///
/// ```
/// use nearcall_threads::{Mutex, run};
/// static COUNT: Mutex<u32> = Mutex::new(1);
/// run(|| *COUNT.lock().unwrap() += 1).unwrap();
/// assert_eq!(run(|| *COUNT.lock().unwrap()).unwrap(), 2);
/// ```
pub struct Mutex<T: ?Sized> {
    monitor: Monitor<Holder>,
    poisoned: Poison,
    value: UnsafeCell<T>,
}

/// The thread that has the lock.
#[derive(Debug)]
struct Holder(Option<&'static Thread>);

impl Words for Holder {
    const KIND: &'static str = "mutex";

    fn is_held(&self) -> bool {
        self.0.is_some()
    }
}

/// The lock. Dropping it releases the lock.
///
/// It may be taken out of its run, as what that returns, or a guest of a [`crate::Host`]. Until it
/// is dropped, there or by a thread of another run, the lock stays that run's, and threads of
/// others are refused by a panic; also after that, for as long as the run goes on. If threads of
/// the run wait for the lock, dropping it there does not release it: they wait for ever, and a
/// warning says so.
///
/// Other threads may see the value by it, and no other has it:
///
/// ```compile_fail,E0277
/// use nearcall_threads::{Mutex, scope};
/// let lock = Mutex::new(1);
/// let guard = lock.lock();
/// scope(|scope| scope.fork(move || drop(guard)));
/// ```
#[must_use = "the lock is released when this is dropped"]
pub struct MutexGuard<'m, T: ?Sized> {
    mutex: &'m Mutex<T>,
    was_panicking: bool,
    stays: Stays,
}

// SAFETY: one thread at a time has the guard, and through it the value, which is `Send`.
unsafe impl<T: ?Sized + Send> Sync for Mutex<T> {}

// SAFETY: who has the mutex by value has the value, which is `Send`.
unsafe impl<T: ?Sized + Send> Send for Mutex<T> {}

// A value that a panic has left in the middle is told by the poison.
impl<T: ?Sized> UnwindSafe for Mutex<T> {}

impl<T: ?Sized> RefUnwindSafe for Mutex<T> {}

// SAFETY: who shares a guard sees the value by it, which is `Sync`, and nothing else.
unsafe impl<T: ?Sized + Sync> Sync for MutexGuard<'_, T> {}

/// Not `Send`: a thread releases what it has locked.
pub(crate) type Stays = PhantomData<*const ()>;

/// Whether a thread has panicked while it changed something.
#[derive(Debug)]
pub(crate) struct Poison(AtomicBool);

impl Poison {
    pub(crate) const fn new() -> Poison {
        Poison(AtomicBool::new(false))
    }

    fn set(&self) {
        // Relaxed, as below: the lock orders it.
        self.0.store(true, Ordering::Relaxed);
    }

    pub(crate) fn clear(&self) {
        // Relaxed: as above.
        self.0.store(false, Ordering::Relaxed);
    }

    pub(crate) fn is_set(&self) -> bool {
        // Relaxed: as above.
        self.0.load(Ordering::Relaxed)
    }

    /// A guard, with the warning if there is one.
    #[inline(always)]
    pub(crate) fn warn<G>(&self, guard: G) -> LockResult<G> {
        if self.is_set() { Err(PoisonError::new(guard)) } else { Ok(guard) }
    }

    /// A guard that was made when the thread was panicking or not is dropped.
    #[inline(always)]
    pub(crate) fn settle(&self, was_panicking: bool) {
        if !was_panicking && panicking() {
            self.set();
        }
    }
}

impl<T> Mutex<T> {
    /// Nobody has it.
    pub const fn new(value: T) -> Mutex<T> {
        let monitor = Monitor::new(Holder(None));
        Mutex { monitor, poisoned: Poison::new(), value: UnsafeCell::new(value) }
    }

    /// The value, if nobody can have the lock any more.
    ///
    /// # Errors: it, too, if a thread has panicked while it had the lock.
    pub fn into_inner(self) -> LockResult<T> {
        let warn = self.poisoned;
        warn.warn(self.value.into_inner())
    }
}

impl<T: ?Sized> Mutex<T> {
    /// The value, which nobody else can have now; on any kernel thread.
    ///
    /// # Errors: it, too, if a thread has panicked while it had the lock.
    pub fn value_mut(&mut self) -> LockResult<&mut T> {
        self.poisoned.warn(self.value.get_mut())
    }

    /// Waits until nobody else has the lock, and takes it.
    ///
    /// Lets other FastThreads run meanwhile; never spins and never blocks the processor.
    ///
    /// # Errors: the lock, too, if a thread has panicked while it had it.
    ///
    /// # Panics
    ///
    /// If the caller is no FastThread, or one of another run, or has the lock already.
    ///
    /// # Cost: no system call and no locked operation.
    #[inline(always)]
    #[track_caller]
    pub fn lock(&self) -> LockResult<MutexGuard<'_, T>> {
        self.take(here_for("Mutex::lock"));
        self.poisoned.warn(self.guard())
    }

    /// The same for a thread that has had it, on this processor, and does not unwind.
    #[inline(always)]
    #[track_caller]
    pub(crate) fn lock_again(&self, processor: &Processor) -> LockResult<MutexGuard<'_, T>> {
        self.take(processor);
        self.poisoned.warn(MutexGuard { mutex: self, was_panicking: false, stays: PhantomData })
    }

    #[inline(always)]
    #[track_caller]
    fn take(&self, processor: &Processor) {
        let running = processor.running();
        let is_ours = self.monitor.enter(processor, |inside| match inside.state.0 {
            None => {
                inside.state.0 = Some(running);
                true
            }
            Some(holder) if ptr::eq(holder, running) => refuse_again(running),
            Some(_) => {
                inside.waiters.push(running);
                false
            }
        });
        if !is_ours {
            processor.block(&self.monitor);
        }
    }

    /// Takes the lock if nobody has it.
    ///
    /// # Panics
    ///
    /// If the caller is no FastThread, or one of another run.
    #[inline]
    #[track_caller]
    pub fn try_lock(&self) -> Option<LockResult<MutexGuard<'_, T>>> {
        let processor = here_for("Mutex::try_lock");
        let running = processor.running();
        let is_ours = self.monitor.enter(processor, |inside| {
            let is_free = inside.state.0.is_none();
            if is_free {
                inside.state.0 = Some(running);
            }
            is_free
        });
        is_ours.then(|| self.poisoned.warn(self.guard()))
    }

    /// Whether a thread has panicked while it had the lock, and nobody has said since that the
    /// value is good.
    pub fn is_poisoned(&self) -> bool {
        self.poisoned.is_set()
    }

    /// The value is good again.
    pub fn clear_poison(&self) {
        self.poisoned.clear();
    }

    #[inline(always)]
    fn guard(&self) -> MutexGuard<'_, T> {
        let was_panicking = panicking();
        MutexGuard { mutex: self, was_panicking, stays: PhantomData }
    }

    /// The lock is somebody else's now, or nobody's.
    #[inline(always)]
    fn release(&self, processor: &Processor) {
        let next = self.monitor.enter_to_release(processor, |inside| {
            inside.state.0 = inside.waiters.pop();
            inside.state.0
        });
        match next {
            Some(Some(next)) => processor.wake(next),
            Some(None) => {}
            None => self.release_outside(),
        }
    }

    /// The same where no FastThread of its run is.
    #[cold]
    fn release_outside(&self) {
        self.monitor.release_outside(|holder| holder.0 = None);
    }
}

impl<'m, T: ?Sized> MutexGuard<'m, T> {
    /// Releases the lock for a wait: a thread that unwinds aborts there, so that it makes no
    /// difference whether it has poisoned the lock.
    #[inline(always)]
    pub(crate) fn release_to_wait(self, processor: &Processor) -> &'m Mutex<T> {
        let mutex = self.mutex;
        mem::forget(self);
        mutex.release(processor);
        mutex
    }
}

impl<T: ?Sized> Drop for MutexGuard<'_, T> {
    #[inline(always)]
    fn drop(&mut self) {
        self.mutex.poisoned.settle(self.was_panicking);
        match here() {
            Some(processor) => self.mutex.release(processor),
            None => self.mutex.release_outside(),
        }
    }
}

impl<T: ?Sized> Deref for MutexGuard<'_, T> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        // SAFETY: this thread has the lock, so nobody else reaches the value.
        unsafe { &*self.mutex.value.get() }
    }
}

impl<T: ?Sized> DerefMut for MutexGuard<'_, T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as for `deref`, and the guard is borrowed alone.
        unsafe { &mut *self.mutex.value.get() }
    }
}

impl<T: Default> Default for Mutex<T> {
    fn default() -> Mutex<T> {
        Mutex::new(T::default())
    }
}

impl<T> From<T> for Mutex<T> {
    fn from(value: T) -> Mutex<T> {
        Mutex::new(value)
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for Mutex<T> {
    /// With the value, if nobody has the lock and it is of the caller's run: waits for nothing, and
    /// can be asked for anywhere.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let guard = self.monitor.is_of_caller().then(|| self.try_lock()).flatten();
        let guard = guard.map(|locked| locked.unwrap_or_else(PoisonError::into_inner));
        show("Mutex", guard.as_deref(), self.is_poisoned(), f)
    }
}

/// A lock as `Debug` shows it, and the value if that may be read now.
pub(crate) fn show<T: ?Sized + fmt::Debug>(
    kind: &str,
    value: Option<&T>,
    is_poisoned: bool,
    f: &mut fmt::Formatter<'_>,
) -> fmt::Result {
    let mut shown = f.debug_struct(kind);
    match value {
        Some(value) => shown.field("value", &value),
        None => shown.field("value", &format_args!("<locked, or not of this run>")),
    };
    shown.field("is_poisoned", &is_poisoned).finish()
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for MutexGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized + fmt::Display> fmt::Display for MutexGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl Waited for Monitor<Holder> {
    fn describe(&self) -> String {
        // Whoever asks is on a processor of the run, or the run stands still.
        match self.seen(|inside| inside.state.0.map(Thread::title)) {
            Some(holder) => format!("a mutex that {holder} has"),
            None => "a mutex".to_owned(),
        }
    }

    fn holder(&self) -> Option<usize> {
        self.seen(|inside| inside.state.0.map(Thread::address))
    }
}

#[cold]
#[track_caller]
fn refuse_again(thread: &Thread) -> ! {
    panic!("{} locks a mutex that it has already", thread.title())
}
