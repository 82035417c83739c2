//! What the interpreter knows of a server processor, kept from one call to the next.
//!
//! CPython makes that when a thread of somebody else's attaches, and drops it when the thread
//! detaches: maps memory, touches it and unmaps it, which takes several times as long as a call. It
//! would drop `threading.local` values with it, too.

use pyo3::ffi;
use pyo3::prelude::*;

thread_local! {
    static KEPT: Kept = Kept::new();
}

/// A reference of this thread's to its own state.
struct Kept;

/// Has the calling thread's state stay until the thread ends. Not for threads that Python has made:
/// theirs stay anyway.
pub fn keep(_attached: Python<'_>) {
    KEPT.with(|_| ());
}

impl Kept {
    /// Made by [`keep`] alone.
    fn new() -> Kept {
        // SAFETY: this thread is attached, as `keep` was given the proof: so an interpreter is
        // there, and this counts one more reference to a state that the thread has. It is given
        // back by `drop`. What it returns is that the thread was attached.
        unsafe { ffi::PyGILState_Ensure() };
        Kept
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        // Without an interpreter there is no state.
        Python::try_attach(|_attached| {
            // SAFETY: the thread is attached, the reference is that of `new`, and it is not the
            // last: attaching has made another, which goes when this closure has returned.
            unsafe { ffi::PyGILState_Release(ffi::PyGILState_STATE::PyGILState_LOCKED) };
        });
    }
}
