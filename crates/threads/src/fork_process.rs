//! fork(2) of the process: its child has one kernel thread and a copy of every record, and no
//! FastThread goes on there.

use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::processor;

static IS_CHILD: AtomicBool = AtomicBool::new(false);

/// Whether this process was made by fork(2) from one that had FastThreads.
pub fn is_child() -> bool {
    // Relaxed: set before the child has a second thread.
    IS_CHILD.load(Ordering::Relaxed)
}

/// Has every fork(2) of this process noticed in the child.
pub fn watch() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // SAFETY: the function touches an atomic and a thread-local without a destructor, which is
        // allowed between fork and exec.
        let outcome = unsafe { libc::pthread_atfork(None, None, Some(in_child)) };
        assert_eq!(outcome, 0, "no memory to notice fork(2)");
    });
}

/// # Safety
///
/// - S1 child: called by fork(2) in the child.
unsafe extern "C" fn in_child() {
    // Relaxed: the child has one thread.
    IS_CHILD.store(true, Ordering::Relaxed);
    processor::forget_here();
}
