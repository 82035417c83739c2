//! Confines a process to system calls that are listed: those of the library's documented lists, and
//! a few that whoever runs there makes itself. Any other one is named on the standard error, and
//! ends the process.
//!
//! Players of `testkit` ask for it themselves, by [`confine`]. Other programs are confined before
//! their `main`: this is also a library that a loader loads ahead of them (`ahead`), as
//! `tests/confined` has it done.

#![deny(unsafe_code)]

mod ahead;
mod caught;
pub mod lists;

use std::collections::BTreeMap;
use std::str::FromStr;

use seccompiler::{BpfProgram, SeccompAction, SeccompFilter};
use syscalls::Sysno;

pub use caught::{CAUGHT, STRAYED};

/// The number of a call that a tracer has skipped, as row T3 has some skipped: nothing is called.
const SKIPPED: i64 = u32::MAX as i64;

/// What the C library calls where the architecture has no call of x86-64's name.
fn in_its_place(name: &str) -> &str {
    if cfg!(target_arch = "x86_64") {
        return name;
    }
    match name {
        "alarm" => "setitimer",
        "newfstatat" => "fstatat",
        "pause" => "ppoll",
        "pipe" => "pipe2",
        "readlink" => "readlinkat",
        other => other,
    }
}

/// From here on this process, all its threads, makes no system call but these: one that it tries is
/// named on the standard error, and ends it.
///
/// # Panics: there is no call of such a name, or the system takes no filter.
pub fn confine<'n>(names: impl IntoIterator<Item = &'n str>) {
    caught::name_calls();
    let number = |name: &str| {
        let name = in_its_place(name);
        let call = Sysno::from_str(name).unwrap_or_else(|()| panic!("no system call is {name}"));
        i64::from(call.id())
    };
    let numbers = names.into_iter().map(number).chain([SKIPPED]);
    let rules: BTreeMap<_, _> = numbers.map(|number| (number, Vec::new())).collect();
    let target = std::env::consts::ARCH.try_into().expect("seccomp knows this processor");
    let filter = SeccompFilter::new(rules, SeccompAction::Trap, SeccompAction::Allow, target);
    let filter = filter.expect("a list of calls");
    let program = BpfProgram::try_from(filter).expect("it is short");
    seccompiler::apply_filter_all_threads(&program).expect("any process may confine itself");
}
