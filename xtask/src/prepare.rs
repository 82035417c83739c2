//! `cargo xtask prepare`: check and peers, and all that the tests, Python's and the matrix are
//! compiled to.
//!
//! ```text
//! this workspace:        check ──▶ tests ──▶ programs of the matrix
//! bench/peers and then
//! bindings/python:       checks ──▶ the package       with what processors have left
//! ```
//!
//! Cargo does one thing at a time in a workspace, and at the end of each one crate is alone.

use std::path::Path;

use rustix::process;

use crate::matrix::{self, Selection};
use crate::step::{self, Failed};
use crate::{check, peers, python};

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
    match lacking::lack_of_python("python3") {
        None => python::build(root),
        // Which is said, or fails, where its tests would run.
        Some(_) => Ok(()),
    }
}
