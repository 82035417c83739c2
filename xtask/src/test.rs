//! `cargo xtask test`: every test of the workspace.

use std::path::Path;

use crate::step::{self, Failed};

/// Unit, documentation, golden and two-domain tests.
pub fn run(root: &Path) -> Result<(), Failed> {
    let command = step::cargo(root, &["test", "--workspace"]);
    step::counted(command, "tests passed", step::summed(step::tests_passed))
}
