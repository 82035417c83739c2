//! fork(2) of the process: its child has one kernel thread and a copy of every record, and no
//! FastThread goes on there. It may begin runs of its own.
//!
//! What kernel threads share beyond a run is behind six locks. Who forks has them meanwhile, so
//! that no other kernel thread, which the child has not, is in the middle of something there.

use std::cell::Cell;
use std::mem::ManuallyDrop;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{MutexGuard, Once};

use crate::block::{self, Standins};
use crate::circle::{self, Waits};
use crate::host::{self, Made};
use crate::processor;
use crate::runs::{self, Runs};
use crate::stacks::{self, Pool};
use crate::watch::{self, Watch};

static IS_CHILD: AtomicBool = AtomicBool::new(false);

thread_local! {
    /// Without a destructor, so that a thread that forks allocates nothing for it.
    static HELD: Cell<Option<ManuallyDrop<Held>>> = const { Cell::new(None) };
}

/// The locks, each of which is taken without another one elsewhere.
struct Held {
    standins: MutexGuard<'static, Standins>,
    watch: MutexGuard<'static, Watch>,
    runs: MutexGuard<'static, Runs>,
    _pool: MutexGuard<'static, Pool>,
    _waits: MutexGuard<'static, Waits>,
    _made: MutexGuard<'static, Made>,
}

/// Whether this process was made by fork(2) from one that had FastThreads.
pub fn is_child() -> bool {
    // Relaxed: set before the child has a second thread.
    IS_CHILD.load(Ordering::Relaxed)
}

/// Has every fork(2) of this process noticed.
pub fn watch() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // SAFETY: the function for the child touches atomics and a thread-local without a
        // destructor and frees nothing, which is allowed between fork and exec.
        let outcome = unsafe { libc::pthread_atfork(Some(hold), Some(let_go), Some(in_child)) };
        assert_eq!(outcome, 0, "no memory to notice fork(2)");
    });
}

/// # Safety
///
/// - S1 before: called by fork(2), which calls one of the others after it.
unsafe extern "C" fn hold() {
    let (standins, runs, _pool) = (block::standins(), runs::runs(), stacks::pool());
    let (watch, _waits, _made) = (watch::watch(), circle::waits(), host::made());
    HELD.set(Some(ManuallyDrop::new(Held { standins, watch, runs, _pool, _waits, _made })));
}

/// # Safety
///
/// - S1 after: called by fork(2), on the kernel thread that calls it.
unsafe extern "C" fn let_go() {
    drop(HELD.take().map(ManuallyDrop::into_inner));
}

/// # Safety
///
/// - S1 child: called by fork(2) in the child.
unsafe extern "C" fn in_child() {
    // Relaxed: the child has one thread.
    IS_CHILD.store(true, Ordering::Relaxed);
    processor::forget_here();
    if let Some(held) = HELD.take() {
        let mut held = ManuallyDrop::into_inner(held);
        held.standins.forget();
        held.watch.forget();
        held.runs.forget();
    }
}
