//! `cargo xtask model`: the protocol's shared words under every interleaving and memory order.

use std::path::Path;

use crate::step::{self, Failed};

/// Runs the models of `nearcall-core` and of `nearcall-threads`, and the tests that weaken each row
/// and demand that a model then fails.
pub fn run(root: &Path) -> Result<(), Failed> {
    let packages = ["--package", "nearcall-core", "--package", "nearcall-threads"];
    let arguments = [&["test"], &packages[..], &["--test", "model", "--", "--show-output"]];
    let command = step::cargo(root, &arguments.concat());
    step::counted(command, "tests passed", step::summed(step::tests_passed))
}
