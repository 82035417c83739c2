//! A system call that a filter does not let through: its name on the standard error, and an end.

#![allow(unsafe_code)]

use std::ffi::{c_int, c_void};

use nix::libc;
use nix::sys::signal::{SaFlags, SigAction, SigHandler, SigSet, Signal, sigaction};
use syscalls::Sysno;

/// What a process ends with that has made one: as a shell says that somebody died of SIGSYS.
pub const CAUGHT: i32 = 128 + libc::SIGSYS;

/// From here on calls are named that a filter of this process traps.
pub fn name_calls() {
    // On the stack for signals: that of a FastThread may be short.
    let action =
        SigAction::new(SigHandler::SigAction(on_call), SaFlags::SA_ONSTACK, SigSet::empty());
    // SAFETY: the handler does what a handler may: it reads, writes to a descriptor and ends.
    unsafe { sigaction(Signal::SIGSYS, &action) }.expect("the kernel takes a handler");
}

extern "C" fn on_call(_: c_int, caught: *mut libc::siginfo_t, _: *mut c_void) {
    // SAFETY: the kernel hands over what SA_SIGINFO asks for, which nix sets.
    let caught = unsafe { &*caught };
    // SAFETY: SIGSYS is a filter's, and comes with the number of a call.
    let number = unsafe { caught.si_syscall() };
    let call = usize::try_from(number).ok().and_then(Sysno::new);
    let name = call.as_ref().map_or("without a name", Sysno::name);
    for part in ["the system call ", name, " is not on the list\n"] {
        // Where nobody hears it, the end says so.
        let _ = rustix::io::write(rustix::stdio::stderr(), part.as_bytes());
    }
    // SAFETY: nothing else of this process runs any more.
    unsafe { libc::_exit(CAUGHT) }
}
