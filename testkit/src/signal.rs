//! Signals to the processes that a test started, and clients that are processes of their own.

use std::path::Path;
use std::process::{Child, Command, Stdio};

/// Stops a process that the test started, and waits until each of its threads has stopped.
pub fn stop(pid: u32) {
    signal(pid, "-STOP");
    let is_stopped = |task: std::fs::DirEntry| {
        let status = std::fs::read_to_string(task.path().join("stat")).unwrap_or_default();
        // The state stands behind the name, which is in parentheses.
        status.rsplit(") ").next().is_some_and(|rest| rest.starts_with('T'))
    };
    let tasks = || std::fs::read_dir(format!("/proc/{pid}/task")).expect("a process that is there");
    while !tasks().flatten().all(is_stopped) {
        std::thread::yield_now();
    }
}

/// Lets a stopped process go on.
pub fn resume(pid: u32) {
    signal(pid, "-CONT");
}

/// Kills a process that the test started and still has to wait for.
pub fn kill(pid: u32) {
    signal(pid, "-KILL");
}

/// Starts a client process that calls `doze` for a minute.
pub fn spawn_dozer(program: &str, directory: &Path, name: &str) -> Child {
    let mut command = Command::new(program);
    command.arg(directory).arg(name).arg("doze").stdin(Stdio::null());
    command.spawn().expect("the client's program")
}

fn signal(pid: u32, signal: &str) {
    let status = Command::new("kill").arg(signal).arg(pid.to_string()).status();
    assert!(status.expect("the program kill").success(), "kill {signal} {pid}");
}
