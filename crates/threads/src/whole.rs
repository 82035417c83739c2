//! What a panic must not leave in the middle.

use std::mem;

/// Calls `body`, out of which no panic comes: it ends the process.
///
/// Between two threads a panic would unwind whichever ran last, which waits already and would be
/// gone on with all the same; and a processor that unwinds leaves the others of its run to wait
/// for ever.
#[inline(always)]
pub fn or_abort<R>(body: impl FnOnce() -> R) -> R {
    let guard = AbortsWhenDropped;
    let outcome = body();
    mem::forget(guard);
    outcome
}

struct AbortsWhenDropped;

impl Drop for AbortsWhenDropped {
    #[cold]
    fn drop(&mut self) {
        eprintln!("a processor of FastThreads panics while others go on: aborting");
        std::process::abort();
    }
}
