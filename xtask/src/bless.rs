//! `cargo xtask bless`: rewrite the goldens, then show what changed.

use std::path::Path;
use std::process::Command;

use cargo_metadata::{DependencyKind, MetadataCommand};

use crate::cost;
use crate::step::{self, Failed};

/// What a golden can be of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Kind {
    /// What tests compare with: plans, generated code, diagnostics.
    Tests,
    /// Assembly.
    Asm,
}

/// Runs the tests of every package that uses goldens with `UPDATE_EXPECT=1`, and steps through
/// calls for the assembly; or does one of the two.
pub fn run(root: &Path, kind: Option<Kind>) -> Result<(), Failed> {
    if kind != Some(Kind::Asm) {
        tests(root)?;
    }
    if kind != Some(Kind::Tests) {
        cost::run(root, true)?;
    }
    difference(root)
}

fn tests(root: &Path) -> Result<(), Failed> {
    let packages = packages_with_goldens(root)?;
    if packages.is_empty() {
        return Err(Failed("no package has goldens".to_owned()));
    }
    let mut arguments = vec!["test".to_owned()];
    for package in packages {
        arguments.extend(["--package".to_owned(), package]);
    }
    let mut command = step::cargo(root, &arguments);
    command.env("UPDATE_EXPECT", "1");
    step::counted(command, "tests passed", step::summed(step::tests_passed))
}

/// Those that compare with `expect-test`.
fn packages_with_goldens(root: &Path) -> Result<Vec<String>, Failed> {
    let metadata = MetadataCommand::new()
        .manifest_path(root.join("Cargo.toml"))
        .no_deps()
        .exec()
        .map_err(|error| Failed(error.to_string()))?;
    let mut names = Vec::new();
    for package in metadata.packages {
        let uses = package.dependencies.iter().any(|dependency| {
            dependency.kind == DependencyKind::Development && dependency.name == "expect-test"
        });
        if uses {
            names.push(package.name.to_string());
        }
    }
    Ok(names)
}

fn difference(root: &Path) -> Result<(), Failed> {
    let status = Command::new("git").current_dir(root).args(["diff", "--stat"]).status();
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(Failed(format!("`git diff --stat` failed ({status})"))),
        Err(error) => Err(Failed(format!("`git` did not start: {error}"))),
    }
}
