//! Processes under a seccomp filter that lets the documented system calls through, and who watches
//! them and is told of any other: all that they make are named, not the first alone.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::str::FromStr;
use std::thread::JoinHandle;

use nearcall::system_calls::{BINDING, CALLING};
use nix::errno::Errno;
use nix::sys::ptrace::{self, Options};
use nix::sys::signal::Signal;
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;
use seccompiler::{BpfProgram, SeccompAction, SeccompFilter};
use syscalls::Sysno;

/// Which system calls are let through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum List {
    /// Those of bindings that are made.
    Calling,
    /// And those that make them.
    Binding,
}

impl List {
    /// The system calls on it.
    fn names(self) -> impl Iterator<Item = &'static str> {
        let binding: &[_] = if self == List::Binding { BINDING } else { &[] };
        CALLING.iter().chain(binding).copied()
    }
}

/// From here on whoever watches this process is told of every system call that is not on the list.
/// Where nobody watches it, none of them does anything.
///
/// # Panics: the list names a call that there is not, or the system takes no filter.
pub fn confine(list: List) {
    filter(list, SeccompAction::Trace(0));
}

/// The same, watched or not: this process dies of any other system call.
///
/// # Panics: as above.
pub fn confine_on_pain_of_death(list: List) {
    filter(list, SeccompAction::KillProcess);
}

fn filter(list: List, other: SeccompAction) {
    let number = |name: &str| {
        let call = Sysno::from_str(name).unwrap_or_else(|()| panic!("no system call is {name}"));
        i64::from(call.id())
    };
    let rules: BTreeMap<_, _> = list.names().map(|name| (number(name), Vec::new())).collect();
    let target = std::env::consts::ARCH.try_into().expect("seccomp knows this processor");
    let filter = SeccompFilter::new(rules, other, SeccompAction::Allow, target);
    let filter = filter.expect("a list of calls");
    let program = BpfProgram::try_from(filter).expect("it is short");
    seccompiler::apply_filter_all_threads(&program).expect("any process may confine itself");
}

/// How a process that was watched ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    /// With this code.
    Exited(i32),
    /// By this signal.
    Killed(Signal),
    /// However: it had made system calls that its list does not have.
    Called(BTreeSet<String>),
}

/// Watches a process that this one started, all its threads, until it has ended. Nobody else has to
/// wait for it any more.
///
/// # Errors: `EPERM` or `ENOSYS` where this system lets no process be traced.
///
/// # Panics: there is no such process.
pub fn watch(pid: u32) -> Result<JoinHandle<io::Result<Ended>>, Errno> {
    let (began, begin) = std::sync::mpsc::channel();
    let watcher = std::thread::spawn(move || {
        let leader = Pid::from_raw(pid as i32);
        let seized = seize_all(leader);
        let is_seized = seized.is_ok();
        began.send(seized).expect("whoever asked waits");
        if is_seized { follow(leader) } else { Err(io::Error::other("nothing is watched")) }
    });
    begin.recv().expect("who watches says so")?;
    Ok(watcher)
}

fn seize_all(leader: Pid) -> Result<(), Errno> {
    let options =
        Options::PTRACE_O_TRACECLONE | Options::PTRACE_O_TRACESECCOMP | Options::PTRACE_O_EXITKILL;
    let tasks = std::fs::read_dir(format!("/proc/{leader}/task"));
    for task in tasks.expect("a process that is there") {
        let name = task.expect("its threads").file_name();
        let thread = name.to_string_lossy().parse().expect("a thread's number");
        ptrace::seize(Pid::from_raw(thread), options)?;
    }
    Ok(())
}

fn follow(leader: Pid) -> io::Result<Ended> {
    let ours = WaitPidFlag::__WALL | WaitPidFlag::__WNOTHREAD;
    let mut called = BTreeSet::new();
    let as_listed = |called: BTreeSet<_>, ended| match called.is_empty() {
        true => Ok(ended),
        false => Ok(Ended::Called(called)),
    };
    loop {
        match waitpid(Pid::from_raw(-1), Some(ours))? {
            WaitStatus::PtraceEvent(thread, _, event) => {
                if event == ptrace::Event::PTRACE_EVENT_SECCOMP as i32 {
                    called.insert(name_of_call(thread)?);
                }
                go_on(thread, None)?;
            }
            WaitStatus::Stopped(thread, signal) => go_on(thread, Some(signal))?,
            WaitStatus::Exited(thread, code) if thread == leader => {
                return as_listed(called, Ended::Exited(code));
            }
            WaitStatus::Signaled(thread, signal, _) if thread == leader => {
                return as_listed(called, Ended::Killed(signal));
            }
            _ => {}
        }
    }
}

/// The system call that a thread has just been stopped at.
fn name_of_call(thread: Pid) -> io::Result<String> {
    let number = ptrace::getregs(thread)?.orig_rax as usize;
    Ok(Sysno::new(number).map_or(format!("call {number}"), |call| call.name().to_owned()))
}

/// Lets a thread go on that may have been killed meanwhile.
fn go_on(thread: Pid, signal: Option<Signal>) -> io::Result<()> {
    match ptrace::cont(thread, signal) {
        Err(Errno::ESRCH) => Ok(()),
        other => Ok(other?),
    }
}
