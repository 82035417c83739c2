//! The environment that Python's clients run in: the package, compiled as its users compile it (for
//! a test, as for other tests), NumPy, and grpcio if it can be had.
//!
//! ```text
//! build.rs ─────────────────────▶ calls.py ─────────────┐
//! pip install bindings/python ──▶ the package `nearcall`┼── bench/python/client.py
//! pip install grpcio ───────────▶ its package ──────────┴── bench/python/grpc_client.py
//! ```

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::child::Failure;
use crate::rival;

/// Where this package stands.
const PACKAGE: &str = env!("CARGO_MANIFEST_DIR");

/// Where its build script has printed the stubs.
const STUBS: &str = env!("OUT_DIR");

/// What compiles the package, and what it needs.
const TOOLS: [&str; 2] = ["maturin>=1.9,<2", "numpy>=1.26"];

/// Makes the environment below `target`, that of `cargo xtask python`, with everything but grpcio;
/// or says what the machine lacks for that. What was there is brought up to date.
pub fn build() -> Result<Result<PathBuf, String>, Failure> {
    let workspace = Path::new(PACKAGE).parent().ok_or("this package is one of a workspace")?;
    let place = workspace.join("target/python");
    let environment = place.join("environment");
    if let Some(lack) = lacking::lack_of_python("python3") {
        return rival::excuse(&lack).map(Err);
    }
    if let Err(error) = make(&environment) {
        let lack = format!("what compiles the package: {error}");
        return rival::excuse(&lack).map(Err);
    }
    let mut path = environment.join("bin").into_os_string();
    path.push(":");
    path.push(std::env::var_os("PATH").unwrap_or_default());
    let mut install = pip(&environment);
    install.args(["--no-build-isolation", "--no-deps", "--force-reinstall"]).env("PATH", path);
    install.env("CARGO_TARGET_DIR", place);
    // This program's own, as cargo calls it.
    let profile = if cfg!(debug_assertions) { "dev" } else { "release" };
    install.env("MATURIN_PEP517_ARGS", format!("--profile={profile}"));
    done(install.arg(workspace.join("bindings/python")))?;
    Ok(Ok(environment))
}

/// Of other people's packages: they are to be had, or they are not.
fn make(environment: &Path) -> Result<(), Failure> {
    if !environment.join("bin/python").exists() {
        done(Command::new("python3").args(["-m", "venv"]).arg(environment))?;
    }
    done(pip(environment).args(TOOLS))
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
