//! `cargo xtask prepare`: check and peers, and all that the tests, Python's, the matrix and the
//! cost are compiled to.
//!
//! ```text
//! this workspace:   check ──▶ tests ──▶ programs of the matrix and of Python's tests
//! bench/peers:      check ──▶ the program that counts, by the release profile
//! bindings/python:  check ──▶ the package
//! ```
//!
//! Cargo does one thing at a time in a workspace, and at the end of each one crate is alone: the
//! last two rows have what processors the first leaves. They are about as long as each other, so
//! that two processors are busy to the end.

use std::path::Path;

use rustix::process;

use crate::matrix::{self, Selection};
use crate::step::{self, Failed};
use crate::{check, cost, peers, python};

/// The nicest that the kernel knows.
const NICE: i32 = 19;

/// Workspaces beside each other. All are over before the first failure is told.
pub fn run(root: &Path) -> Result<(), Failed> {
    std::thread::scope(|scope| {
        let others = [measured, package].map(|other| scope.spawn(move || nicely(root, other)));
        let own = own(root);
        others.into_iter().fold(own, |outcome, other| {
            // Awaited whatever has failed.
            let other = other.join().expect("it does not panic");
            outcome.and(other)
        })
    })
}

fn own(root: &Path) -> Result<(), Failed> {
    check::run(root)?;
    let format = "--message-format=json-render-diagnostics";
    let tests = step::cargo(root, &["test", "--workspace", "--no-run", format]);
    step::counted(tests, "targets", step::targets_of(root))?;
    matrix::build_programs(root, Selection::default().seed)?;
    python::build_programs(root)
}

/// Does something with what processors have left: what is longer has them first.
fn nicely(root: &Path, other: fn(&Path) -> Result<(), Failed>) -> Result<(), Failed> {
    // This thread's, and of all that it starts.
    process::setpriority_process(None, NICE)
        .map_err(|error| Failed(format!("this thread could not be made nice: {error}")))?;
    other(root)
}

fn measured(root: &Path) -> Result<(), Failed> {
    peers::run(root)?;
    cost::build(root)
}

fn package(root: &Path) -> Result<(), Failed> {
    match lacking::lack_of_python("python3") {
        None => python::build(root),
        // That is said, or fails, where its tests would run.
        Some(_) => Ok(()),
    }
}
