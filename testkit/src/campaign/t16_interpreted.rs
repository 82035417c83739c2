//! T16: a client and a server over the heap twin of the segments, interpreted (Miri, tree borrows)
//! with many seeds: no undefined behaviour, whatever the schedule and however late a store is seen.

use super::Setup;
use super::nightly;
use super::report::{Report, Stopped};

const SEEDS: u64 = 64;
const SEEDS_AT_NIGHT: u64 = 4_096;

/// Runs `crates/nearcall/tests/interpreted.rs`.
pub fn run(setup: &Setup) -> Result<Report, Stopped> {
    let mut report = Report::of("seeds");
    let first = setup.seed.wrapping_mul(SEEDS_AT_NIGHT) % u64::from(u32::MAX);
    let seeds = if setup.is_nightly { SEEDS_AT_NIGHT } else { SEEDS };
    let mut command = nightly::cargo(setup, "miri", "miri")?;
    command.args(["miri", "test", "--quiet", "--package", "nearcall", "--test", "interpreted"]);
    let flags = format!("-Zmiri-tree-borrows -Zmiri-many-seeds={first}..{}", first + seeds);
    command.env("MIRIFLAGS", flags);
    let output = command.output()?;
    let said = String::from_utf8_lossy(&output.stdout);
    // Seeds run side by side, and their lines are not whole.
    report.count = said.matches(" passed; 0 failed; ").count() as u64;
    if !output.status.success() || report.count != seeds {
        let complaints = String::from_utf8_lossy(&output.stderr);
        let failed = complaints.lines().filter(|line| line.contains("error:"));
        report.violations.extend(failed.map(str::to_owned));
        let (ended, count) = (output.status, report.count);
        report.violation(format!("{count} of {seeds} seeds passed, and it ended with {ended}"));
    }
    Ok(report)
}
