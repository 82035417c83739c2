//! A system call that a filter does not let through: its name on the standard error, and an end.

#![allow(unsafe_code)]

use std::ffi::{c_int, c_void};

use nix::libc;
use nix::sys::signal::{SaFlags, SigAction, SigHandler, SigSet, Signal, sigaction};
use syscalls::Sysno;

/// What a process ends with that has made one: as a shell says that somebody died of SIGSYS.
pub const CAUGHT: i32 = 128 + libc::SIGSYS;

/// What it has said by then, behind the call's name. Another thread may end the process first.
pub const STRAYED: &str = " is not on the list of system calls";

/// What a filter that traps says of its signal: the kernel's SYS_SECCOMP.
const BY_FILTER: i32 = 1;

/// Longer than what is said of any call.
const LINE_BYTES_MAX: usize = 128;

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
    let call = (caught.si_code == BY_FILTER)
        // SAFETY: the signal is a filter's, and comes with the number of a call.
        .then(|| unsafe { caught.si_syscall() })
        .and_then(|number| usize::try_from(number).ok().and_then(Sysno::new));
    let name = call.as_ref().map_or("without a name", Sysno::name);
    let (mut line, mut end) = ([0; LINE_BYTES_MAX], 0);
    for part in ["the system call ", name, STRAYED, "\n"] {
        if let Some(place) = line.get_mut(end..end + part.len()) {
            place.copy_from_slice(part.as_bytes());
            end += part.len();
        }
    }
    // At once, so that two threads do not mix their words. Where nobody hears it, the end says so.
    let _ = rustix::io::write(rustix::stdio::stderr(), &line[..end]);
    // SAFETY: it runs no code of this process.
    unsafe { libc::_exit(CAUGHT) }
}
