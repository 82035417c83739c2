//! The environment that Python's clients run in: the package, compiled as its users compile it,
//! NumPy, and grpcio if it can be had.
//!
//! ```text
//! build.rs ─────────────────────▶ calls.py ─────────────┐
//! pip install bindings/python ──▶ the package `nearcall`┼── bench/python/client.py
//! pip install grpcio ───────────▶ its package ──────────┴── bench/python/grpc_client.py
//! ```

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::child::Failure;

/// Where this package stands.
const PACKAGE: &str = env!("CARGO_MANIFEST_DIR");

/// Where its build script has printed the stubs.
const STUBS: &str = env!("OUT_DIR");

/// What compiles the package, and what it needs.
const TOOLS: [&str; 2] = ["maturin>=1.9,<2", "numpy>=1.26"];

/// Makes the environment below `target`, with everything but grpcio. What was there is brought up
/// to date.
pub fn build() -> Result<PathBuf, Failure> {
    let place = PathBuf::from(format!("{PACKAGE}/../target/python"));
    let environment = place.join("measured");
    let python = environment.join("bin/python");
    if !python.exists() {
        let mut command = Command::new("python3");
        done(command.args(["-m", "venv"]).arg(&environment))?;
    }
    done(pip(&environment).args(TOOLS))?;
    let mut path = environment.join("bin").into_os_string();
    path.push(":");
    path.push(std::env::var_os("PATH").unwrap_or_default());
    let mut install = pip(&environment);
    install.args(["--no-build-isolation", "--no-deps", "--force-reinstall"]).env("PATH", path);
    install.env("CARGO_TARGET_DIR", place.join("measured-target"));
    done(install.arg(format!("{PACKAGE}/../bindings/python")))?;
    Ok(environment)
}

/// Adds grpcio, unless it is there.
pub fn add_grpc(environment: &Path) -> Result<(), Failure> {
    done(pip(environment).args(["--only-binary", ":all:", "grpcio"]))
}

/// A program of `bench/python`, about to start in an environment.
pub fn program(environment: &Path, name: &str) -> Command {
    let mut command = Command::new(environment.join("bin/python"));
    command.arg(format!("{PACKAGE}/python/{name}")).env("PYTHONPATH", STUBS);
    command.env("PYTHONDONTWRITEBYTECODE", "1");
    command
}

fn pip(environment: &Path) -> Command {
    let mut install = Command::new(environment.join("bin/python"));
    install.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]);
    install
}

/// Runs a step. What it says last is why there is nothing.
fn done(command: &mut Command) -> Result<(), Failure> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command.stdin(Stdio::null()).output();
    let output = output.map_err(|error| format!("no `{program}`: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let said = said.lines().rfind(|line| !line.trim().is_empty()).unwrap_or("it says nothing");
    let what = command.get_args().last().unwrap_or_default().to_string_lossy().into_owned();
    Err(format!("`{program}` did not make {what}: {said}").into())
}
