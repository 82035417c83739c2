//! Signals to the processes that a test started, and clients that are processes of their own.

use std::path::Path;
use std::process::{Child, Command, Stdio};

/// Stops a process that the test started, and waits until each of its threads has stopped.
///
/// # Panics: it has ended, and nobody has waited for it.
#[track_caller]
pub fn stop(pid: u32) {
    signal(pid, "-STOP");
    loop {
        let states: Vec<char> = states_of(pid).collect();
        assert!(!states.iter().all(|state| "ZX".contains(*state)), "process {pid} has ended");
        if states.iter().all(|state| *state == 'T') {
            return;
        }
        std::thread::yield_now();
    }
}

/// The state of each thread of a process.
fn states_of(pid: u32) -> impl Iterator<Item = char> {
    let tasks = std::fs::read_dir(format!("/proc/{pid}/task")).expect("a process that is there");
    tasks.flatten().filter_map(|task| {
        // One that ends meanwhile has none.
        let status = std::fs::read_to_string(task.path().join("stat")).ok()?;
        // The state stands behind the name, which is in parentheses.
        status.rsplit(") ").next()?.chars().next()
    })
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_that_has_ended_is_not_waited_for_until_it_stops() {
        let mut ended = Command::new("true").spawn().unwrap();
        while states_of(ended.id()).any(|state| state != 'Z') {
            std::thread::yield_now();
        }
        let pid = ended.id();
        let panic = std::panic::catch_unwind(|| stop(pid)).unwrap_err();
        let said = panic.downcast_ref::<String>().unwrap();
        assert_eq!(*said, format!("process {pid} has ended"));
        ended.wait().unwrap();
    }

    #[test]
    fn a_process_that_is_stopped_goes_on_when_it_may() {
        let mut sleeper = Command::new("sleep").arg("600").spawn().unwrap();
        stop(sleeper.id());
        assert!(states_of(sleeper.id()).all(|state| state == 'T'));
        resume(sleeper.id());
        while states_of(sleeper.id()).any(|state| state == 'T') {
            std::thread::yield_now();
        }
        sleeper.kill().unwrap();
        sleeper.wait().unwrap();
    }
}
