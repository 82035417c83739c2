//! T15: whole clients and a whole server, under many schedules that chance chooses (shuttle, PCT).

use std::process::Command;

use super::Setup;
use super::report::{Report, Stopped};

const SCHEDULES: u64 = 100_000;
const SCHEDULES_AT_NIGHT: u64 = 10_000_000;

/// Lines of a failure that say what it is.
const COMPLAINTS: usize = 6;

/// Runs `crates/core/tests/schedules`.
pub fn run(setup: &Setup) -> Result<Report, Stopped> {
    let mut report = Report::of("schedules");
    let wanted = if setup.is_nightly { SCHEDULES_AT_NIGHT } else { SCHEDULES };
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(program);
    command.current_dir(&setup.root);
    command.args(["test", "--quiet", "--package", "nearcall-core", "--test", "schedules"]);
    command.args(["--", "--nocapture"]).env("NEARCALL_SCHEDULES", wanted.to_string());
    // What shuttle calls the seed of its scheduler.
    command.env("SHUTTLE_RANDOM_SEED", setup.seed.to_string());
    let output = command.output()?;
    let said = String::from_utf8_lossy(&output.stdout);
    if let Some((schedules, calls)) = said.lines().find_map(tried) {
        report.count = schedules;
        report.figure(calls);
    }
    if !output.status.success() {
        let complaints = String::from_utf8_lossy(&output.stderr).into_owned();
        report.violations.extend(complaints.lines().take(COMPLAINTS).map(str::to_owned));
        report.violation(format!("the schedules ended with {}", output.status));
    }
    Ok(report)
}

/// How many schedules a line says were tried, and what their calls came to.
fn tried(line: &str) -> Option<(u64, &str)> {
    let (count, calls) = line.split_once(" schedules, calls: ")?;
    // The test harness may have begun the line.
    let begun = count.trim_end_matches(|letter: char| letter.is_ascii_digit());
    Some((count[begun.len()..].parse().ok()?, calls))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schedules_are_counted_where_they_are_named() {
        let line = "4000 schedules, calls: 9 returned, 8 not run, 7 given up";
        assert_eq!(tried(line), Some((4000, "9 returned, 8 not run, 7 given up")));
        assert_eq!(tried(&format!("..........{line}")).unwrap().0, 4000);
        assert_eq!(tried("test result: ok. 11 passed; 0 failed"), None);
    }
}
