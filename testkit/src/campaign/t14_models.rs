//! T14: the shared words under every interleaving, and each order weakened in turn.

use std::process::Command;

use super::Setup;
use super::report::{Report, Stopped};

/// Runs the models of `nearcall-core`.
pub fn run(setup: &Setup) -> Result<Report, Stopped> {
    let mut report = Report::of("model tests");
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(program);
    command.current_dir(&setup.root);
    command.args(["test", "--quiet", "--package", "nearcall-core", "--test", "model"]);
    let output = command.output()?;
    let said = String::from_utf8_lossy(&output.stdout);
    report.count = passed(&said);
    report.figure("each order weakened");
    if !output.status.success() {
        let failed =
            said.lines().filter(|line| line.contains("FAILED") || line.contains("panicked"));
        report.violations.extend(failed.map(str::to_owned));
        report.violation(format!("the models ended with {}", output.status));
    }
    Ok(report)
}

/// How many tests the test harness says have passed.
pub fn passed(said: &str) -> u64 {
    let results = said.lines().filter_map(|line| line.strip_prefix("test result: "));
    let counts = results.filter_map(|line| line.split_once(". ")?.1.split(' ').next());
    counts.filter_map(|count| count.parse::<u64>().ok()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passed_tests_are_counted_over_all_programs() {
        let said = "running 3 tests\ntest result: ok. 3 passed; 0 failed\n\
                    test result: FAILED. 2 passed; 1 failed";
        assert_eq!(passed(said), 5);
        assert_eq!(passed("running 3 tests"), 0);
    }
}
