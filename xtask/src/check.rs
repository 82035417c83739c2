//! `cargo xtask check`: what must hold before a commit.

use std::path::Path;

use crate::step::{self, Failed};
use crate::tidy;

/// What has nothing in it for a reader, and depends on much that rustdoc would have checked first.
const UNDOCUMENTED: &[&str] = &["matrix-tests", "python-tests", "unused-stubs"];

/// Formatting, clippy, tidy and documentation, in that order; stops at the first failure.
pub fn run(root: &Path) -> Result<(), Failed> {
    let format = step::cargo(root, &["fmt", "--all", "--", "--check", "--verbose"]);
    step::counted(format, "files", files_formatted())?;

    // What one member wants of the runtime is on for the whole workspace; for most users it is not.
    for scope in [["--workspace", "--all-targets"], ["--package=nearcall", "--lib"]] {
        let format = "--message-format=json-render-diagnostics";
        let clippy = ["clippy", scope[0], scope[1], format, "--", "-D", "warnings"];
        step::counted(step::cargo(root, &clippy), "targets", step::targets_of(root))?;
    }

    tidy::run(root)?;

    // Libraries only: the program `nearcall` would be documented over the crate of that name.
    let mut doc = step::cargo(root, &["doc", "--workspace", "--lib", "--no-deps"]);
    doc.args(UNDOCUMENTED.iter().map(|package| format!("--exclude={package}")));
    doc.arg("--message-format=json-render-diagnostics");
    doc.env("RUSTDOCFLAGS", "-D warnings");
    step::counted(doc, "targets", step::targets_of(root))
}

/// rustfmt says which files it looked at; those lines are counted, all others shown.
pub(crate) fn files_formatted() -> impl FnOnce(&mut dyn std::io::Read) -> usize {
    use std::io::{BufRead, BufReader};
    |output| {
        let lines = BufReader::new(output).lines().map_while(Result::ok);
        lines.filter(|line| is_formatted(line)).count()
    }
}

fn is_formatted(line: &str) -> bool {
    if line.starts_with("Formatting ") {
        return true;
    }
    if !line.starts_with("Spent ") && !line.starts_with("Using rustfmt config") {
        println!("{line}");
    }
    false
}
