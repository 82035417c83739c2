//! What belongs to a run: it is shared as if for ever, and freed when the run is over.

use std::ptr::NonNull;

/// A value in a box of its own. One that is never freed lasts for ever.
#[derive(Debug)]
pub struct Owned<T>(NonNull<T>);

impl<T> Owned<T> {
    /// Moves the value there.
    pub fn new(value: T) -> Owned<T> {
        Owned(NonNull::from(Box::leak(Box::new(value))))
    }

    /// The value, for whoever does not use it once it is freed: see [`Owned::free`].
    pub fn shared(&self) -> &'static T {
        // SAFETY: it is in a box, of which there are no other references than these; who frees it
        // answers for them.
        unsafe { self.0.as_ref() }
    }

    /// Drops the value.
    ///
    /// # Safety
    ///
    /// - S1 unused: nobody uses a reference to it any more.
    pub unsafe fn free(self) {
        // SAFETY: it came from a box, and nobody else frees it, for `self` is gone then. S1.
        drop(unsafe { Box::from_raw(self.0.as_ptr()) });
    }
}
