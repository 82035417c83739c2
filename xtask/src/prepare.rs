//! `cargo xtask prepare`: check and peers, and all that the tests, Python's, the matrix and the
//! cost are compiled to.
//!
//! ```text
//! this workspace:                      check ──▶ tests ──▶ programs of the matrix
//! bench/peers, bindings/python,
//! and what the release profile makes:  checks ──▶ the package ──▶ the program that counts
//!                                      with what processors have left
//! ```
//!
//! Cargo does one thing at a time in a workspace, and at the end of each one crate is alone.

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
        let others = scope.spawn(|| others(root));
        let own = own(root);
        own.and(others.join().expect("it does not panic"))
    })
}

fn own(root: &Path) -> Result<(), Failed> {
    check::run(root)?;
    let format = "--message-format=json-render-diagnostics";
    let tests = step::cargo(root, &["test", "--workspace", "--no-run", format]);
    step::counted(tests, "targets", step::targets_of(root))?;
    matrix::build_programs(root, Selection::default().seed)
}

fn others(root: &Path) -> Result<(), Failed> {
    // This thread's, and of all that it starts: what is longer has the processors first.
    process::setpriority_process(None, NICE)
        .map_err(|error| Failed(format!("this thread could not be made nice: {error}")))?;
    peers::run(root)?;
    // Where it is lacking that is said, or fails, where its tests would run.
    if lacking::lack_of_python("python3").is_none() {
        python::build(root)?;
    }
    cost::build(root)
}
