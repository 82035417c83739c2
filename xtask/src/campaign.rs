//! `cargo xtask campaign`: the acceptance table of `docs/RELIABILITY.md`, row by row. The rows are
//! `testkit`'s; this builds them, runs them, and counts those that passed.

pub mod mutants;

use std::path::Path;
use std::process::Command;

use crate::step::{self, Failed};

/// What its program is built with; below `target` its folder is called so, too.
const PROFILE: &str = "campaign";

/// What to run of it.
#[derive(Debug, Default)]
pub struct Selection {
    /// Only these rows.
    pub only: Vec<String>,
    /// Decides whatever is chosen at random.
    pub seed: u64,
    /// Take the time that the longer version takes.
    pub is_nightly: bool,
}

/// Builds the program, then runs it.
pub fn run(root: &Path, selection: &Selection) -> Result<(), Failed> {
    let build = ["build", "--profile", PROFILE, "--package", "testkit", "--bins"];
    let built = step::cargo(root, &build).status();
    if !built.is_ok_and(|status| status.success()) {
        return Err(Failed("testkit was not built".to_owned()));
    }
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or(root.join("target"), Into::into);
    let mut command = Command::new(target.join(PROFILE).join("campaign"));
    command.current_dir(root).arg("--root").arg(root);
    command.args(["--seed", &selection.seed.to_string()]);
    if selection.is_nightly {
        command.arg("--nightly");
    }
    if !selection.only.is_empty() {
        command.args(["--only", &selection.only.join(",")]);
    }
    step::counted(command, "rows passed", step::summed(rows_passed))
}

/// How many rows a line says have passed: one or none.
fn rows_passed(line: &str) -> usize {
    usize::from(line.starts_with('T') && line.contains(": passed: "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_that_passed_are_counted_and_no_others() {
        assert_eq!(rows_passed("T7    hostile peers: passed: 52 scripts [9.1 s]"), 1);
        assert_eq!(rows_passed("T7    hostile peers: FAILED: 52 scripts [9.1 s]"), 0);
        assert_eq!(rows_passed("T19   packets: skipped: no packet exchange yet"), 0);
    }
}
