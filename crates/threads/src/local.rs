//! Thread-locals of FastThreads. Those of `std` belong to the kernel thread, so that all its
//! FastThreads share them.

use std::any::Any;
use std::fmt;
use std::mem;
use std::panic::AssertUnwindSafe;
use std::ptr;

use crate::error::LocalError;
use crate::kernel::catch_unwind;
use crate::processor::{here, here_for, outside};
use crate::thread::Thread;

/// A value of which each FastThread has its own.
///
/// It is made when a thread uses it first, and dropped when the thread ends, the last one first; on
/// the E-stack of a host (see [`crate::Host`]) when the guest has returned. What is dropped may use
/// other values, and make them, but none whose own drop has begun.
///
/// ```
/// use std::cell::Cell;
/// use nearcall_threads::{Local, fork, run};
/// static COUNT: Local<Cell<u32>> = Local::new(|| Cell::new(0));
/// run(|| {
///     COUNT.with(|count| count.set(1));
///     assert_eq!(fork(|| COUNT.with(Cell::get)).unwrap().join().unwrap(), 0);
/// })
/// .unwrap();
/// ```
pub struct Local<T: 'static> {
    make: fn() -> T,
    /// So that two of them never have one address.
    _place: u8,
}

/// Drops the values of the thread that calls this, the last one first; those too that they make,
/// but each once: two that use each other would be made for ever.
pub(crate) fn drop_all(thread: &Thread) {
    // Without a borrow: a value that is dropped may use others.
    let last = || {
        let locals = &mut thread.rare.borrow_mut().locals;
        locals.iter_mut().rev().find_map(|(_, value)| value.take())
    };
    while let Some(value) = last() {
        let dropped = catch_unwind(AssertUnwindSafe(|| drop(value)));
        mem::forget(dropped);
    }
    thread.rare.borrow_mut().locals.clear();
}

/// One thread's value: whose it is, and it, until its drop begins.
pub(crate) type Value = (usize, Option<Box<dyn Any>>);

impl<T: 'static> Local<T> {
    /// To be made by `make`.
    pub const fn new(make: fn() -> T) -> Local<T> {
        Local { make, _place: 0 }
    }

    /// Shows the calling thread's value to `look`.
    ///
    /// # Panics
    ///
    /// If the caller is no FastThread, or ends and the value's drop has begun; and with `make` and
    /// `look`.
    ///
    /// # Cost: a look at each value that the thread has; an allocation the first time.
    #[track_caller]
    pub fn with<R>(&'static self, look: impl FnOnce(&T) -> R) -> R {
        let thread = here_for("Local::with").running();
        match self.try_with(look) {
            Ok(outcome) => outcome,
            Err(_) => refuse_dropped(thread),
        }
    }

    /// The same, for code that may be called by a thread that ends, or by none.
    ///
    /// # Errors: see [`LocalError`]. Neither `make` nor `look` was called.
    ///
    /// # Panics
    ///
    /// With `make` and `look`.
    ///
    /// # Cost: see [`Local::with`].
    ///
    /// ```
    /// use nearcall_threads::{Local, LocalError, Outside};
    /// static NAME: Local<String> = Local::new(String::new);
    /// let outside = Err(LocalError::Outside(Outside::KernelThread));
    /// assert_eq!(NAME.try_with(String::len), outside);
    /// ```
    pub fn try_with<R>(&'static self, look: impl FnOnce(&T) -> R) -> Result<R, LocalError> {
        let thread = here().ok_or_else(|| LocalError::Outside(outside()))?.running();
        let key = ptr::from_ref(self) as usize;
        let find = || {
            let rare = thread.rare.borrow();
            let (_, value) = rare.locals.iter().find(|(its_key, _)| *its_key == key)?;
            Some(value.as_deref().map(ptr::from_ref))
        };
        let value = match find() {
            Some(Some(value)) => value,
            Some(None) => return Err(LocalError::Dropped),
            None => {
                // Without a borrow: it may use others.
                let value: Box<dyn Any> = Box::new((self.make)());
                let place = ptr::from_ref(value.as_ref());
                thread.rare.borrow_mut().locals.push((key, Some(value)));
                thread.is_rare.set(true);
                place
            }
        };
        // SAFETY: the value is in a box of the thread's, which nobody takes out before the thread
        // or its guest ends; and the thread is the caller, so neither does meanwhile.
        let value = unsafe { &*value };
        Ok(look(value.downcast_ref().expect("the key is of one value, so of one type")))
    }
}

impl<T> fmt::Debug for Local<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Local").finish_non_exhaustive()
    }
}

#[cold]
#[track_caller]
fn refuse_dropped(thread: &Thread) -> ! {
    panic!("{} ends, and uses a thread-local that it has dropped", thread.title())
}
