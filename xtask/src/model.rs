//! `cargo xtask model`: the protocol's shared words under loom.

use std::path::Path;

use crate::step::{self, Failed};

/// Runs the model tests of `nearcall-core` with every interleaving loom finds.
pub fn run(root: &Path) -> Result<(), Failed> {
    let arguments = [
        "test",
        "--package",
        "nearcall-core",
        "--release",
        "--test",
        "loom",
    ];
    let mut command = step::cargo(root, &arguments);
    command.env("RUSTFLAGS", "--cfg loom");
    // Objects built with other flags would be thrown away on every switch.
    command.env("CARGO_TARGET_DIR", root.join("target").join("loom"));
    step::counted(command, "models passed", step::summed(step::tests_passed))
}
