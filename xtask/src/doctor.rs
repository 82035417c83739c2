//! `cargo xtask doctor`: is this machine able to run everything.

use std::process::{Command, Stdio};

use crate::step::Failed;

/// One thing a machine needs, and what for.
struct Need {
    name: &'static str,
    needed_for: &'static str,
    /// Without it the workspace does not build or its tests do not run.
    is_required: bool,
    /// What was found.
    look: fn() -> Option<String>,
}

const NEEDS: &[Need] = &[
    Need { name: "Linux 5.11", needed_for: "running", is_required: true, look: kernel },
    Need { name: "2 processors", needed_for: "hot calls", is_required: true, look: processors },
    Need {
        name: "rustc 1.90",
        needed_for: "building",
        is_required: true,
        look: || tool("rustc", &["--version"]).filter(|line| version_in(line) >= Some((1, 90))),
    },
    Need {
        name: "rustfmt",
        needed_for: "cargo xtask check",
        is_required: true,
        look: || tool("rustfmt", &["--version"]),
    },
    Need {
        name: "clippy",
        needed_for: "cargo xtask check",
        is_required: true,
        look: || tool("cargo", &["clippy", "--version"]),
    },
    Need {
        name: "git",
        needed_for: "cargo xtask bless",
        is_required: false,
        look: || tool("git", &["--version"]),
    },
    Need {
        name: "pkg-config",
        needed_for: "tests of what is installed",
        is_required: false,
        look: || tool("pkg-config", &["--version"]),
    },
    Need {
        name: "CMake",
        needed_for: "tests of what is installed",
        is_required: false,
        look: || tool("cmake", &["--version"]),
    },
    Need {
        name: "make",
        needed_for: "the test of the example in C",
        is_required: false,
        look: || tool("make", &["--version"]),
    },
    Need {
        name: "gdb",
        needed_for: "the test of what debuggers see of FastThreads",
        is_required: false,
        look: || tool("gdb", &["--version"]),
    },
    Need {
        name: "strace",
        needed_for: "tests that count system calls",
        is_required: false,
        look: || tool("strace", &["--version"]),
    },
    Need {
        name: "binutils",
        needed_for: "cargo xtask cost",
        is_required: false,
        look: || tool("objdump", &["--version"]),
    },
    Need {
        name: "Python 3.11",
        needed_for: "cargo xtask python, cargo xtask matrix",
        is_required: false,
        look: || tool("python3", &["--version"]).filter(|line| version_in(line) >= Some((3, 11))),
    },
    Need {
        name: "nightly Rust",
        needed_for: "sanitizers",
        is_required: false,
        look: || tool("rustc", &["+nightly", "--version"]),
    },
];

/// One line per thing; fails if a required one is missing.
pub fn run() -> Result<(), Failed> {
    let mut missing = 0;
    for need in NEEDS {
        let found = (need.look)();
        let mark = match (&found, need.is_required) {
            (Some(_), _) => "found  ",
            (None, true) => "MISSING",
            (None, false) => "missing",
        };
        missing += usize::from(found.is_none() && need.is_required);
        let found = found.unwrap_or_default();
        println!("{mark}  {:<13} for {:<30} {found}", need.name, need.needed_for);
    }
    println!("{} things looked for, {missing} required ones missing", NEEDS.len());
    match missing {
        0 => Ok(()),
        _ => Err(Failed(format!("{missing} required things are missing"))),
    }
}

fn kernel() -> Option<String> {
    let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").ok()?;
    let release = release.trim().to_owned();
    (version_in(&release) >= Some((5, 11))).then_some(release)
}

fn processors() -> Option<String> {
    let count = std::thread::available_parallelism().ok()?.get();
    (count >= 2).then(|| count.to_string())
}

/// The first line that the program prints, if it runs.
fn tool(program: &str, arguments: &[&str]) -> Option<String> {
    let mut command = Command::new(program);
    let output = command.args(arguments).stdin(Stdio::null()).output().ok()?;
    if !output.status.success() {
        return None;
    }
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.lines().next().map(str::to_owned)
}

/// The first `major.minor` in `line`.
fn version_in(line: &str) -> Option<(u32, u32)> {
    line.split([' ', '-']).find_map(|word| {
        let mut parts = word.split('.');
        Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_and_ordered() {
        assert_eq!(version_in("rustc 1.95.0 (59807616e 2026-04-14)"), Some((1, 95)));
        assert_eq!(version_in("6.8.0-45-generic"), Some((6, 8)));
        assert!(version_in("rustc 1.89.0") < Some((1, 90)));
        assert_eq!(version_in("no version"), None);
    }

    #[test]
    fn a_missing_program_is_missing() {
        assert_eq!(tool("a-program-that-is-not-there", &[]), None);
    }
}
