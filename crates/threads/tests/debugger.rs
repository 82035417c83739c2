//! What a debugger sees of a FastThread: an ordinary stack, from where it stops to its first frame.

#![forbid(unsafe_code)]

use std::hint::black_box;
use std::process::Command;

use lacking::lacking;
use nearcall_threads::{fork, run};

/// Where the debugger stops.
#[inline(never)]
fn stops_here(number: u32) -> u32 {
    black_box(number) + 1
}

#[inline(never)]
fn calls_another(number: u32) -> u32 {
    black_box(stops_here(black_box(number))) + 1
}

/// What the debugger runs.
#[test]
fn a_forked_thread_calls() {
    let told = run(|| fork(|| black_box(calls_another(7)) + 1).unwrap().join().unwrap());
    assert_eq!(told.unwrap(), 10);
}

#[test]
fn gdb_shows_the_frames_of_a_forked_thread_and_where_they_end() {
    if Command::new("gdb").arg("--version").output().is_err() {
        return lacking("gdb");
    }
    let gdb = || {
        let mut gdb = Command::new("gdb");
        gdb.args(["--batch", "--nx", "-ex", "set debuginfod enabled off"]).env("LC_ALL", "C");
        gdb
    };
    let tried = gdb().args(["-ex", "run", "true"]).output().unwrap();
    if !String::from_utf8_lossy(&tried.stdout).contains("exited normally") {
        return lacking("the right to trace processes");
    }
    let mut gdb = gdb();
    gdb.args(["-ex", "break debugger::stops_here", "-ex", "run", "-ex", "backtrace"]);
    // This program, also where a build beside it has put another one in its place.
    let own = format!("{}/debugged-{}", env!("CARGO_TARGET_TMPDIR"), std::process::id());
    std::fs::copy("/proc/self/exe", &own).unwrap();
    gdb.args(["--args", &own, "--exact", "a_forked_thread_calls"]);
    let output = gdb.output();
    std::fs::remove_file(own).unwrap();
    let output = output.unwrap();
    let said = [&output.stdout[..], &output.stderr].map(String::from_utf8_lossy).concat();
    let frames: Vec<_> = said.lines().filter(|line| line.starts_with('#')).collect();
    println!("{}", frames.join("\n"));
    let at = |name: &str| frames.iter().position(|frame| frame.contains(name));
    assert_eq!(at("stops_here"), Some(0), "{said}");
    assert_eq!(at("calls_another"), Some(1), "{said}");
    assert_eq!(at("a_forked_thread_calls::"), Some(2), "the closure that was forked: {said}");
    // Behind the thread's own first frame there is the return address zero, and then nothing; gdb
    // does not find that it cannot go on.
    assert!(!said.contains("Backtrace stopped"), "{said}");
    let first = frames.iter().rfind(|frame| !frame.contains("0x0000000000000000 in ?? ()"));
    assert!(first.unwrap().contains("nearcall_threads::fork::start"), "{said}");
    assert!(frames.len() < 20, "{said}");
}
