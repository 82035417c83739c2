//! Calls that are made on FastThreads: whoever waits lets others of its processor run (U5, U25),
//! and the processor looks for the replies of all of them when none can (design note 0017).
//!
//! Without the feature `threads` nobody is a FastThread, and nothing of this is left.

use std::time::{Duration, Instant};

use nearcall_os::peer::Process;

#[cfg(feature = "threads")]
mod fast;
#[cfg(feature = "threads")]
mod reallocating;

#[cfg(feature = "threads")]
pub(crate) use fast::{
    caller_number, finish, finish_here, is_here, is_unwinding, nap, wait_exit, wait_for_astack,
};
#[cfg(feature = "threads")]
pub(crate) use nearcall_threads::stack_end;
#[cfg(feature = "threads")]
pub use reallocating::urgently;
#[cfg(feature = "threads")]
pub(crate) use reallocating::{put_off, tell_all};

#[cfg(not(feature = "threads"))]
pub(crate) use nobody::{
    caller_number, finish, finish_here, is_here, is_unwinding, nap, put_off, stack_end, tell_all,
    wait_exit, wait_for_astack,
};

/// Waits so long, or until a process ends; whether it has ended. Of a FastThread's, which lets
/// others run meanwhile, the end is noticed after that time.
pub(crate) fn nap_beside(process: &Process, time: Duration) -> bool {
    if is_here() {
        nap(time);
        return process.has_exited();
    }
    let until = Instant::now() + time;
    let has_ended = process.wait_exit(time);
    if !has_ended {
        // A signal may have ended the wait.
        nap(until.saturating_duration_since(Instant::now()));
    }
    has_ended
}

#[cfg(not(feature = "threads"))]
mod nobody {
    use std::time::Duration;

    use nearcall_os::peer::Process;

    use crate::client::binding::{ClientBinding, Grip, thread_number};
    use crate::client::wait::{NoReply, Wait};

    /// Whether the caller is a FastThread.
    pub(crate) const fn is_here() -> bool {
        false
    }

    /// Whether the caller is a FastThread that unwinds.
    pub(crate) const fn is_unwinding() -> bool {
        false
    }

    /// The number that an A-stack has which the caller has outstanding.
    pub(crate) fn caller_number() -> u32 {
        thread_number() as u32
    }

    /// Where the stack of the caller ends, if it is a FastThread.
    pub(crate) const fn stack_end() -> Option<usize> {
        None
    }

    /// Waits so long, at least.
    pub(crate) fn nap(time: Duration) {
        std::thread::sleep(time);
    }

    /// Whether a ring can wait until the caller's processor is idle.
    pub(crate) const fn put_off(_: Grip<'_>, _processor: u32) -> bool {
        false
    }

    /// Whoever was put off is told.
    pub(crate) const fn tell_all() {}

    /// Waits for a reply, if the caller is a FastThread.
    pub(crate) const fn finish(_: &Wait<'_>) -> Option<Result<(), NoReply>> {
        None
    }

    /// The same where the caller is one.
    pub(crate) fn finish_here(_: &Wait<'_>) -> Result<(), NoReply> {
        unreachable!("nobody is a FastThread")
    }

    /// Waits for an A-stack of a class, if the caller is a FastThread.
    pub(crate) const fn wait_for_astack(_: &ClientBinding, _: u32, _: Duration) -> Option<u32> {
        None
    }

    /// Waits for the proof that a process has ended.
    pub(crate) fn wait_exit(process: &Process, timeout: Duration) -> bool {
        process.wait_exit(timeout)
    }
}
