//! Whether a wait of this thread is to end before the reply comes: asked between two slices of
//! sleep, so that what takes microseconds is never asked. For languages whose runtime has to act on
//! signals outside of the signal handler.

use std::cell::Cell;
use std::time::Duration;

use super::cancellation::{self, SLICE};

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

/// How long a wait that sleeps at once may do so, of so long, before it asks again.
pub(crate) fn slice(left: Duration) -> Duration {
    if CHECK.get().is_some() { left.min(SLICE) } else { cancellation::slice(left) }
}

/// Whether this thread's wait is to end.
pub(crate) fn is_interrupted() -> bool {
    cancellation::is_cancelled() || CHECK.get().is_some_and(|check| check())
}
