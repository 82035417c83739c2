//! Whether a wait of this thread is to end before the reply comes: asked between two slices of
//! sleep, so that what takes microseconds is never asked. For languages whose runtime has to act on
//! signals outside of the signal handler.

use std::cell::Cell;

use super::cancellation;

thread_local! {
    static CHECK: Cell<Option<fn() -> bool>> = const { Cell::new(None) };
}

/// While it lives, this thread's waits ask `check` between two slices of sleep, and give up if it
/// says so: the call is `CallAborted`, or `NoAStack` if it was not posted yet.
#[derive(Debug)]
#[must_use = "it ends when it is dropped"]
pub struct Interruptible {
    before: Option<fn() -> bool>,
}

impl Interruptible {
    /// From now on waits may be interrupted.
    #[inline]
    pub fn begin(check: fn() -> bool) -> Interruptible {
        Interruptible { before: CHECK.replace(Some(check)) }
    }
}

impl Drop for Interruptible {
    fn drop(&mut self) {
        CHECK.set(self.before);
    }
}

/// Whether this thread's wait is to end.
pub(crate) fn is_interrupted() -> bool {
    cancellation::is_cancelled() || CHECK.get().is_some_and(|check| check())
}
