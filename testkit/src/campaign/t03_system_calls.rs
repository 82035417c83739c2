//! T3: a system call fails, or kills, at each place where a domain makes one; at night two of them.

use std::process::Command;

use super::Setup;
use super::deaths::{Host, Survivor};
use super::report::{Report, Stopped};

/// System calls of a bind, a call, a wait and a teardown. Not `munmap`, which fails for a broken
/// invariant of our own only: that is asserted while debugging.
const CALLS: [&str; 16] = [
    "memfd_create",
    "fallocate",
    "fcntl",
    "mmap",
    "sendmsg",
    "recvmsg",
    "getsockopt",
    "socket",
    "connect",
    "accept4",
    "epoll_ctl",
    "epoll_wait",
    "pidfd_open",
    "futex",
    "futex_waitv",
    "clone3",
];

/// What a system call may say.
const ERRORS: [&str; 8] =
    ["ENOMEM", "EINTR", "EAGAIN", "EMFILE", "EPERM", "EINVAL", "ENOBUFS", "ECONNRESET"];

/// How many-th calls of a thread are disturbed.
const TIMES: [u32; 4] = [1, 2, 3, 5];
const TIMES_AT_NIGHT: [u32; 10] = [1, 2, 3, 4, 5, 6, 7, 8, 12, 20];

/// Pairs of disturbances, on either side.
const PAIRS_AT_NIGHT: usize = 2_000;

/// Disturbs clients, then servers.
pub fn run(setup: &Setup) -> Result<Report, Stopped> {
    if Command::new("strace").arg("-V").output().is_err() {
        return Err(Stopped::Lacking("strace".to_owned()));
    }
    let mut report = Report::of("disturbed lives");
    let mut before_ready = 0;
    let mut note = |injects: &[String], lived: Option<Vec<String>>| match lived {
        None => before_ready += 1,
        Some(violations) => {
            report.count += 1;
            let named = |violation| format!("{}: {violation}", injects.join(" "));
            report.violations.extend(violations.into_iter().map(named));
        }
    };
    let mut survivor = Survivor::new()?;
    let disturbances = disturbances(setup);
    for injects in &disturbances {
        note(injects, survivor.disturbed(injects)?);
    }
    let left_by_servers = survivor.left_behind();
    let mut host = Host::new()?;
    for injects in &disturbances {
        note(injects, host.disturbed(injects)?);
    }
    for left in [left_by_servers, host.left_behind()].into_iter().flatten() {
        report.violation(left);
    }
    report.figure(format!("{} system calls", CALLS.len()));
    report.figure(format!("{before_ready} disturbed before they were ready"));
    Ok(report)
}

/// What is injected, one after the other: a death at each place, and each of the errors; at night
/// pairs of them that chance chooses.
fn disturbances(setup: &Setup) -> Vec<Vec<String>> {
    let single = single(if setup.is_nightly { &TIMES_AT_NIGHT } else { &TIMES });
    let mut chances = setup.chances("T3");
    let mut any = || single[chances.usize(..single.len())].clone();
    let pairs = if setup.is_nightly { PAIRS_AT_NIGHT } else { 0 };
    let pairs: Vec<_> = (0..pairs).map(|_| vec![any(), any()]).collect();
    single.iter().map(|inject| vec![inject.clone()]).chain(pairs).collect()
}

fn single(times: &[u32]) -> Vec<String> {
    let mut all = Vec::new();
    for (call, time) in CALLS.iter().flat_map(|call| times.iter().map(move |time| (*call, time))) {
        all.push(format!("inject={call}:signal=KILL:when={time}"));
        let errors = match call {
            // Wakes are among them. The kernel fails none, and one that is failed here wakes
            // nobody: a server whose last wake is, sleeps on. `futex_waitv` is for waits alone.
            "futex" => &[],
            _ => &ERRORS[..],
        };
        all.extend(errors.iter().map(|error| format!("inject={call}:error={error}:when={time}")));
    }
    all
}

/// What starts a player that is disturbed so.
pub fn starter(injects: &[String]) -> Vec<&str> {
    let strace = ["strace", "--follow-forks", "-qqq", "--output", "/dev/null"];
    strace.into_iter().chain(injects.iter().flat_map(|inject| ["-e", inject])).collect()
}
