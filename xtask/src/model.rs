//! `cargo xtask model`: the protocol's shared words under every interleaving and memory order.

use std::path::Path;

use crate::step::{self, Failed};

/// Runs the models of `nearcall-core`, and the test that weakens each row and demands that a model
/// then fails.
pub fn run(root: &Path) -> Result<(), Failed> {
    let arguments =
        ["test", "--package", "nearcall-core", "--test", "model", "--", "--show-output"];
    let command = step::cargo(root, &arguments);
    step::counted(command, "tests passed", step::summed(step::tests_passed))
}
