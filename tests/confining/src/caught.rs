//! A system call that a filter does not let through: its name on the standard error and in the
//! record of whoever has started the process, and an end.

#![allow(unsafe_code)]

use std::ffi::{CString, c_int, c_void};
use std::sync::OnceLock;

use nix::libc;
use nix::sys::signal::{SaFlags, SigAction, SigHandler, SigSet, Signal, sigaction};
use rustix::fs::{Mode, OFlags};
use syscalls::Sysno;

/// What a process ends with that has made one: as a shell says that somebody died of SIGSYS.
pub const CAUGHT: i32 = 128 + libc::SIGSYS;

/// What it has said by then, behind the call's name. Another thread may end the process first.
pub const STRAYED: &str = " is not on the list of system calls";

/// What a filter that traps says of its signal: the kernel's SYS_SECCOMP.
const BY_FILTER: i32 = 1;

/// Longer than what is said of any call.
const LINE_BYTES_MAX: usize = 128;

/// Where such a call is written down, too.
static RECORD: OnceLock<CString> = OnceLock::new();

/// From here on a call that is named is written down in this file, as well.
pub fn write_down_in(record: String) {
    let record = CString::new(record).expect("the environment has no NUL");
    RECORD.set(record).expect("it is said once");
}

/// Whether this process has a sanitizer in it, which makes calls of its own.
pub fn is_sanitized() -> bool {
    // SAFETY: it looks a name up, and nothing is done with what it finds.
    !unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"__asan_init".as_ptr()) }.is_null()
}

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
    for part in [confined::STRAYED, ": ", "the system call ", name, STRAYED, "\n"] {
        if let Some(place) = line.get_mut(end..end + part.len()) {
            place.copy_from_slice(part.as_bytes());
            end += part.len();
        }
    }
    // At once, so that two threads do not mix their words. Where nobody hears it, the end says so.
    let _ = rustix::io::write(rustix::stdio::stderr(), &line[confined::STRAYED.len() + 2..end]);
    let flags = OFlags::WRONLY | OFlags::APPEND;
    let record =
        RECORD.get().map(|record| rustix::fs::open(record.as_c_str(), flags, Mode::empty()));
    if let Some(Ok(record)) = record {
        let _ = rustix::io::write(record, &line[..end]);
    }
    // SAFETY: it runs no code of this process.
    unsafe { libc::_exit(CAUGHT) }
}
