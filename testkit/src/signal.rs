//! Signals to the processes that a test started, and clients that are processes of their own.

use std::path::Path;
use std::process::{Child, Command, Stdio};

/// Stops a process that the test started.
pub fn stop(pid: u32) {
    signal(pid, "-STOP");
}

/// Lets a stopped process go on.
pub fn resume(pid: u32) {
    signal(pid, "-CONT");
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
