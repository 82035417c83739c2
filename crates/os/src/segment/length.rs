//! Setting a memory file's length where the process may make no file that long.
//!
//! `RLIMIT_FSIZE` (`ulimit -f`) is about memory files, too, and the kernel says it by an error and
//! by SIGXFSZ, which ends the process. A peer has a part in how long a segment is, and is to end
//! nobody by that: the signal, which is the thread's that asked, is held back, and taken.

use std::io;
use std::mem::{self, MaybeUninit};
use std::ptr;

use rustix::io::Errno;

/// What `set` says, without the signal.
///
/// # Cost: two system calls, and a third where the signal has come.
pub(super) fn without_signal(set: impl FnOnce() -> Result<(), Errno>) -> Result<(), Errno> {
    let held_back = HeldBack::new();
    let outcome = set();
    if let Some(held_back) = held_back
        && outcome == Err(Errno::FBIG)
        && !held_back.take()
    {
        // It still waits, and is not to come: from here on this thread holds it back.
        mem::forget(held_back);
    }
    outcome
}

/// SIGXFSZ is held back from this thread until this is dropped, and then as it was before.
struct HeldBack {
    signal: libc::sigset_t,
    before: libc::sigset_t,
}

impl HeldBack {
    /// `None` where a filter of system calls refuses it: then nothing has changed.
    fn new() -> Option<HeldBack> {
        let signal = only(libc::SIGXFSZ);
        let mut before = signal;
        // SAFETY: both are sets of signals of this frame, the one read, the other written.
        let refused = unsafe { libc::pthread_sigmask(libc::SIG_BLOCK, &signal, &mut before) };
        (refused == 0).then_some(HeldBack { signal, before })
    }

    /// Takes the signal that waits for this thread; false where a filter of system calls refuses
    /// that.
    fn take(&self) -> bool {
        let at_once = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: the set and the time are read, and null says that nobody asks for more of it.
        let taken = unsafe { libc::sigtimedwait(&self.signal, ptr::null_mut(), &at_once) };
        // By `EAGAIN` none waits, as where it is ignored.
        taken == libc::SIGXFSZ || io::Error::last_os_error().raw_os_error() == Some(libc::EAGAIN)
    }
}

impl Drop for HeldBack {
    fn drop(&mut self) {
        // SAFETY: the set is read, and null says that nobody asks for the one before.
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &self.before, ptr::null_mut()) };
    }
}

fn only(signal: i32) -> libc::sigset_t {
    let mut set = MaybeUninit::uninit();
    // SAFETY: what is written is this frame's.
    unsafe { libc::sigemptyset(set.as_mut_ptr()) };
    // SAFETY: `sigemptyset` has initialised all of it, and fails for no set.
    let mut set = unsafe { set.assume_init() };
    // SAFETY: an initialised set of this frame's.
    unsafe { libc::sigaddset(&mut set, signal) };
    set
}
