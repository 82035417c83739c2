//! `cargo xtask peers`: formatting and clippy of `bench/peers`, which is a workspace of its own, so
//! that no other command compiles it.
//!
//! Checked and not built: what it measures is built when the table `peers` is asked for.

use std::path::Path;

use crate::check;
use crate::step::{self, Failed};

/// Where its workspace is.
const PLACE: &str = "bench/peers";

/// With the versions of its lock file.
pub fn run(root: &Path) -> Result<(), Failed> {
    let place = root.join(PLACE);
    let format = step::cargo(
        &place,
        &[
            "fmt",
            "--package",
            "bench-peers",
            "--package",
            "bench-records",
            "--package",
            "bench-threads",
            "--",
            "--check",
            "--verbose",
        ],
    );
    step::counted(format, "files", check::files_formatted())?;
    let clippy = [
        "clippy",
        "--locked",
        "--workspace",
        "--all-targets",
        "--message-format=json-render-diagnostics",
        "--",
        "-D",
        "warnings",
    ];
    step::counted(step::cargo(&place, &clippy), "targets", step::targets_of(&place))
}
