//! `cargo xtask campaign`: the acceptance table of `docs/RELIABILITY.md`, row by row. The rows are
//! `testkit`'s; this builds them, runs them, and counts those that passed.

pub mod mutants;

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use rayon::prelude::*;

use crate::step::{self, Failed};

/// What its program is built with; below `target` its folder is called so, too.
const PROFILE: &str = "campaign";

/// Rows whose figures are counts, or times that are far below their limits wherever they run, or
/// fail nothing here, as T7's: those that count alone, at the same time, since each leaves half of
/// two processors idle, and then all others.
const QUICK: [&[&str]; 3] =
    [&["T3"], &["T9", "T10"], &["T6", "T7", "T23", "T25", "T29", "T30", "T31"]];

/// What rows run, themselves among them.
const PROGRAMS: [&str; 6] = [
    "campaign",
    "testkit-confined",
    "testkit-estacks",
    "testkit-keeper",
    "testkit-server",
    "testkit-stays",
];

/// What to run of it.
#[derive(Debug)]
pub struct Selection {
    /// Only these rows.
    pub only: Vec<String>,
    /// Decides whatever is chosen at random.
    pub seed: u64,
    /// Take the time that the longer version takes.
    pub is_nightly: bool,
    /// The quick rows alone, of the programs that tests run.
    pub is_quick: bool,
}

impl Selection {
    /// What CI runs.
    pub fn quick() -> Selection {
        Selection { only: Vec::new(), seed: 1, is_nightly: false, is_quick: true }
    }
}

/// Builds the program, then runs it.
pub fn run(root: &Path, selection: &Selection) -> Result<(), Failed> {
    // As the workspace has them, so that what its tests have built is not built again.
    let mut build = step::cargo(root, &["build", "--workspace"]);
    build.args(PROGRAMS.iter().flat_map(|program| ["--bin", program]));
    let folder = match selection.is_quick {
        true => "debug",
        false => {
            build.args(["--profile", PROFILE]);
            PROFILE
        }
    };
    if !build.status().is_ok_and(|status| status.success()) {
        return Err(Failed("testkit was not built".to_owned()));
    }
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or(root.join("target"), Into::into);
    let program = target.join(folder).join("campaign");
    let run = |rows: &[&str]| run_rows(root, &program, selection, rows);
    if selection.is_quick {
        let (last, first) = QUICK.split_last().expect("there are some");
        let mut ran: Vec<_> = first.par_iter().map(|rows| run(rows)).collect();
        ran.push(run(last));
        let failed: Vec<_> = ran.into_iter().filter_map(|ran| Some(ran.err()?.0)).collect();
        return if failed.is_empty() { Ok(()) } else { Err(Failed(failed.join("\n"))) };
    }
    run(&selection.only.iter().map(String::as_str).collect::<Vec<_>>())
}

/// Runs these rows, or all if none is named.
fn run_rows(
    root: &Path,
    program: &Path,
    selection: &Selection,
    named: &[&str],
) -> Result<(), Failed> {
    let mut command = Command::new(program);
    command.current_dir(root).arg("--root").arg(root);
    command.args(["--seed", &selection.seed.to_string()]);
    if selection.is_nightly {
        command.arg("--nightly");
    }
    if selection.is_quick {
        command.arg("--untimed");
    }
    if !named.is_empty() {
        command.args(["--only", &named.join(",")]);
    }
    let told = RefCell::new(BTreeSet::new());
    let count = |line: &str| {
        told.borrow_mut().extend(row_told(line).map(str::to_owned));
        rows_passed(line)
    };
    step::counted(command, "rows passed", step::summed(count))?;
    let told = told.into_inner();
    let silent: Vec<_> = named.iter().copied().filter(|row| !told.contains(*row)).collect();
    match silent.is_empty() {
        true => Ok(()),
        false => Err(Failed(format!("nothing was told of {}", silent.join(" ")))),
    }
}

/// The row that a line says has passed, or lacks something that it may lack.
fn row_told(line: &str) -> Option<&str> {
    let row = line.split(' ').next().filter(|row| row.starts_with('T'))?;
    (line.contains(": passed: ") || line.contains(": skipped: ")).then_some(row)
}

/// How many rows a line says have passed: one or none.
fn rows_passed(line: &str) -> usize {
    usize::from(line.starts_with('T') && line.contains(": passed: "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_told_of_that_passed_or_was_skipped() {
        assert_eq!(row_told("T7    hostile peers: passed: 52 scripts [9.1 s]"), Some("T7"));
        assert_eq!(row_told("T23   segments: skipped: this machine lacks a group"), Some("T23"));
        assert_eq!(row_told("T7    hostile peers: FAILED: 52 scripts [9.1 s]"), None);
        assert_eq!(row_told("      again: passed: "), None);
    }

    #[test]
    fn rows_that_passed_are_counted_and_no_others() {
        assert_eq!(rows_passed("T7    hostile peers: passed: 52 scripts [9.1 s]"), 1);
        assert_eq!(rows_passed("T7    hostile peers: FAILED: 52 scripts [9.1 s]"), 0);
        assert_eq!(rows_passed("T19   packets: skipped: no packet exchange yet"), 0);
    }
}
