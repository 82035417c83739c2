//! Programs of the nightly toolchain: what the sanitizers and the interpreter need.

use std::path::PathBuf;
use std::process::Command;

use super::Setup;
use super::report::Stopped;

/// What the sanitizers are built for.
pub const TARGET: &str = "x86_64-unknown-linux-gnu";

/// What `cargo xtask campaign` builds its program with, too.
pub const PROFILE: &str = "campaign";

/// `cargo` of the nightly toolchain, with a target directory of its own for `purpose`.
///
/// # Errors: a component of that toolchain is not installed; the row is skipped.
pub fn cargo(setup: &Setup, purpose: &str, component: &str) -> Result<Command, Stopped> {
    let mut command = Command::new("rustup");
    command.args(["component", "list", "--toolchain", "nightly"]);
    let listed =
        command.output().map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
    if !listed.is_ok_and(|listed| is_installed(&listed, component)) {
        return Err(Stopped::Lacking(format!("{component} of the nightly toolchain")));
    }
    let mut command = Command::new("rustup");
    command.args(["run", "nightly", "cargo"]).current_dir(&setup.root);
    command.env("CARGO_TARGET_DIR", target(setup, purpose)).env_remove("CARGO");
    Ok(command)
}

/// Where what is built for `purpose` lies.
pub fn target(setup: &Setup, purpose: &str) -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR");
    target.map_or(setup.root.join("target"), PathBuf::from).join(purpose)
}

/// The campaign's program, with a sanitizer in it.
pub fn campaign(
    setup: &Setup,
    sanitizer: &str,
    component: &str,
    more: &[&str],
) -> Result<PathBuf, Stopped> {
    let mut command = cargo(setup, sanitizer, component)?;
    command.args(["build", "--quiet", "--profile", PROFILE]);
    command.args(["--package", "testkit", "--bin", "campaign"]);
    command.args(["--target", TARGET]).args(more);
    command.env("RUSTFLAGS", format!("-Zsanitizer={sanitizer}"));
    let output = command.output()?;
    match output.status.success() {
        true => Ok(target(setup, sanitizer).join(TARGET).join(PROFILE).join("campaign")),
        false => {
            let said = String::from_utf8_lossy(&output.stderr);
            Err(format!("not built with the {sanitizer} sanitizer: {said}").into())
        }
    }
}

fn is_installed(listed: &str, component: &str) -> bool {
    let of_it = |line: &&str| line.starts_with(component) && line.ends_with("(installed)");
    listed.lines().any(|line| of_it(&line))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_component_is_there_only_if_it_is_installed() {
        let listed = "miri-x86_64-unknown-linux-gnu (installed)\nrust-src";
        assert!(is_installed(listed, "miri"));
        assert!(!is_installed(listed, "rust-src"));
    }
}
