//! `cargo xtask python`: formatting and clippy of `bindings/python`, which is a workspace of its
//! own, so that no other command needs Python; then its tests, in an environment of their own.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use rayon::prelude::*;

use crate::check;
use crate::step::{self, Failed};

/// Where its workspace is.
const PLACE: &str = "bindings/python";

/// What builds the package, as its `pyproject.toml` has it, what it needs, and what its tests do.
/// NumPy is one whose system calls are listed (`docs/system-calls.md`): another may make others.
const TOOLS: &[&str] = &["maturin>=1.9,<2", "mypy>=1.18", "numpy==2.4.*", "pytest>=8"];

/// The file of tests that takes half of the time.
const LONGEST: &str = "test_lies.py";

/// Programs of the workspace that its tests run.
const PROGRAMS: &[&str] = &[
    "nearcall",
    "python-example",
    "hostile-server",
    "lies-to-python",
    "odd-pieces",
    "passing-server",
    "shapes-server",
    "talking-server",
];

/// Where cargo puts what the package is made of, with clippy as without: macros and build scripts
/// are compiled once for both.
const TARGET: &str = "target/python";

/// With which its `pyproject.toml` has it built.
const FEATURES: &str = "pyo3/extension-module";

/// Where its environment is.
const ENVIRONMENT: &str = "target/python/environment";

/// Builds the package, and runs its tests against servers of this workspace. Without Python that
/// is said, and nothing is counted; CI has it.
pub fn run(root: &Path) -> Result<(), Failed> {
    if let Some(lack) = lacking::lack_of_python("python3") {
        return step::lacking(&lack);
    }
    build(root)?;
    build_programs(root)?;
    test(root, &root.join(PLACE))
}

/// Formatting and clippy, and the package, in an environment that is made below `target`: nothing
/// of what the workspace is compiled to.
pub fn build(root: &Path) -> Result<(), Failed> {
    // What comes from PyPI is on its way meanwhile.
    std::thread::scope(|scope| {
        let environment = scope.spawn(|| make_environment(root));
        let checked = check(root);
        environment.join().expect("it does not panic").and(checked)
    })?;
    install_package(root)
}

fn check(root: &Path) -> Result<(), Failed> {
    let place = &root.join(PLACE);
    let format = step::cargo(place, &["fmt", "--", "--check", "--verbose"]);
    step::counted(format, "files", check::files_formatted())?;
    let mut clippy = step::cargo(place, &["clippy", "--locked", "--features", FEATURES]);
    clippy.args(["--message-format=json-render-diagnostics", "--", "-D", "warnings"]);
    clippy.env("CARGO_TARGET_DIR", root.join(TARGET));
    step::counted(clippy, "targets", step::targets_of(place))
}

/// The programs that tests run.
pub fn build_programs(root: &Path) -> Result<(), Failed> {
    let mut programs = step::cargo(root, &["build", "--workspace"]);
    programs.args(PROGRAMS.iter().flat_map(|program| ["--bin", program]));
    done(&mut programs)
}

/// Runs each file of tests by itself, side by side: tests wait for their servers. What they start
/// is confined, and each file has a record of that.
fn test(root: &Path, place: &Path) -> Result<(), Failed> {
    let files = test_files(place)?;
    eprintln!("==> pytest, {} files", files.len());
    let started = Instant::now();
    let records = tempfile::tempdir().map_err(|error| Failed(format!("no directory: {error}")))?;
    let run = |file: &PathBuf| {
        let mut tests = Command::new(interpreter(root));
        // Not the sources beside the tests: what was installed.
        tests.args(["-P", "-m", "pytest", "-q"]).arg(file);
        tests.current_dir(place).env("NEARCALL_PROGRAMS", root.join("target/debug"));
        let record = records.path().join(file.file_stem().unwrap_or_default());
        tests.env(confined::RECORD, record);
        tests.stdin(Stdio::null()).output()
    };
    let ran: Vec<_> = step::waiting()?.install(|| files.par_iter().map(run).collect());
    let (mut passed, mut failed) = (0, Vec::new());
    for (file, output) in files.iter().zip(ran) {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        let output = output.map_err(|error| Failed(format!("no pytest of {name}: {error}")))?;
        let said = String::from_utf8_lossy(&output.stdout);
        println!("{name}\n{said}{}", String::from_utf8_lossy(&output.stderr));
        let count: usize = said.lines().map(tests_passed).sum();
        if count == 0 || !output.status.success() {
            failed.push(name);
        }
        passed += count;
    }
    if !failed.is_empty() {
        return Err(Failed(format!("not passed: {}", failed.join(" "))));
    }
    let confined = confined::judge_all(records.path()).map_err(Failed)?;
    let seconds = started.elapsed().as_secs_f64();
    eprintln!("    {passed} tests passed, {confined} processes confined, {seconds:.1} s");
    Ok(())
}

/// What pytest would find, of which there has to be something.
fn test_files(place: &Path) -> Result<Vec<PathBuf>, Failed> {
    let folder = place.join("tests");
    let entries = std::fs::read_dir(&folder);
    let entries = entries.map_err(|error| Failed(format!("{}: {error}", folder.display())))?;
    let mut files: Vec<_> = entries.filter_map(Result::ok).map(|entry| entry.path()).collect();
    files.retain(|file| {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with("test_") && name.ends_with(".py")
    });
    // The longest first: the others are done by its end.
    files.sort_by_key(|file| (!file.ends_with(LONGEST), file.clone()));
    match files.is_empty() {
        true => Err(Failed(format!("{} has no tests", folder.display()))),
        false => Ok(files),
    }
}

/// The interpreter of the environment.
pub fn interpreter(root: &Path) -> PathBuf {
    root.join(ENVIRONMENT).join("bin/python")
}

/// Makes an environment below `target`, with all tools. What is there already needs no PyPI.
pub fn make_environment(root: &Path) -> Result<(), Failed> {
    if !interpreter(root).exists() {
        done(Command::new("python3").args(["-m", "venv"]).arg(root.join(ENVIRONMENT)))?;
    }
    done(install(root).args(TOOLS))
}

/// Builds the package into the environment, with the tools that are in it, by the profile of tests.
pub fn install_package(root: &Path) -> Result<(), Failed> {
    let mut path = root.join(ENVIRONMENT).join("bin").into_os_string();
    path.push(":");
    path.push(std::env::var_os("PATH").unwrap_or_default());
    let mut install = install(root);
    install.args(["--no-build-isolation", "--no-deps"]).arg(root.join(PLACE)).env("PATH", path);
    install.env("CARGO_TARGET_DIR", root.join(TARGET));
    install.env("MATURIN_PEP517_ARGS", "--profile=dev");
    done(&mut install)
}

/// The environment's pip, about to install something.
fn install(root: &Path) -> Command {
    let mut install = Command::new(interpreter(root));
    install.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]);
    install
}

/// What pytest says of tests that did not have to pass.
const EXCUSED: [&str; 4] = ["skipped", "deselected", "xfailed", "xpassed"];

/// How many tests pytest's last line says have passed; none if any did not have to.
fn tests_passed(line: &str) -> usize {
    let mut words = line.split([' ', ',']).filter(|word| !word.is_empty());
    let (count, what) = (words.next(), words.next());
    match (count.and_then(|count| count.parse().ok()), what) {
        (Some(count), Some("passed")) if !EXCUSED.iter().any(|word| line.contains(word)) => count,
        _ => 0,
    }
}

/// A step that counts nothing.
fn done(command: &mut Command) -> Result<(), Failed> {
    let program = command.get_program().to_owned();
    let words = command.get_args().map(OsStr::to_string_lossy).collect::<Vec<_>>().join(" ");
    let shown = format!("{} {words}", program.to_string_lossy());
    match command.stdin(Stdio::null()).status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(Failed(format!("`{shown}` failed ({status})"))),
        Err(error) => Err(Failed(format!("`{shown}` did not start: {error}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_line_that_counts_is_counted() {
        assert_eq!(tests_passed("81 passed in 43.80s"), 81);
        assert_eq!(tests_passed("81 passed, 1 warning in 43.80s"), 81);
        assert_eq!(tests_passed("80 passed, 1 skipped in 1.00s"), 0);
        assert_eq!(tests_passed("80 passed, 1 deselected in 1.00s"), 0);
        assert_eq!(tests_passed("80 passed, 1 xfailed in 1.00s"), 0);
        assert_eq!(tests_passed("80 passed, 1 xpassed in 1.00s"), 0);
        assert_eq!(tests_passed("2 failed, 78 passed, 1 error in 56.00s"), 0);
        assert_eq!(tests_passed("no tests ran in 0.01s"), 0);
    }
}
