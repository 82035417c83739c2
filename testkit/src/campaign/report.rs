//! What a row found, and how that is said.

use std::error::Error;
use std::fmt;
use std::time::Duration;

use super::Row;

/// Violations that are printed; the others are counted.
const SHOWN_MAX: usize = 12;

/// What a row checked and found.
#[derive(Debug, Default)]
pub struct Report {
    /// How many things were checked.
    pub count: u64,
    /// What they are.
    pub unit: &'static str,
    /// Each with its limit.
    pub figures: Vec<String>,
    /// Whatever must not be.
    pub violations: Vec<String>,
}

/// Why a row has no report.
#[derive(Debug)]
pub enum Stopped {
    /// This machine lacks this.
    Lacking(String),
    /// It went wrong.
    Failed(Box<dyn Error>),
}

/// How a row went.
#[derive(Debug)]
pub enum Verdict {
    /// All was as it must be.
    Passed(Report),
    /// Something was not.
    Failed {
        /// What was checked.
        report: Report,
        /// And what was wrong.
        violations: Vec<String>,
    },
    /// Nothing was checked, and this is said of it.
    Skipped(String),
}

impl Report {
    /// Of nothing yet.
    pub fn of(unit: &'static str) -> Report {
        Report { unit, ..Report::default() }
    }

    /// Notes a figure.
    pub fn figure(&mut self, figure: impl fmt::Display) {
        self.figures.push(figure.to_string());
    }

    /// Notes what must not be.
    pub fn violation(&mut self, violation: impl fmt::Display) {
        self.violations.push(violation.to_string());
    }

    /// Notes a part that is not done for want of something: as what it is, and in CI, which may
    /// lack what `lacking` names alone, as what must not be.
    pub fn lacks(&mut self, what: &str) {
        self.lacks_in(what, lacking::is_ci());
    }

    fn lacks_in(&mut self, what: &str, is_ci: bool) {
        match lacking::excuse(is_ci, what) {
            Ok(_) => self.figure(format!("NOT DONE for want of {what}")),
            Err(failure) => self.violation(failure),
        }
    }

    /// Notes a number that must not be over its limit. Without an end that is held against nothing,
    /// and said so.
    pub fn at_most(&mut self, what: &str, found: f64, limit: f64, unit: &str) {
        let held = match limit.is_finite() {
            true => format!("limit {limit}{unit}"),
            false => String::from("NOT HELD against its limit here"),
        };
        self.figure(format!("{what} {}{unit} ({held})", shortened(found)));
        if found > limit {
            let found = shortened(found);
            self.violation(format!("{what} of {found}{unit} is over {limit}{unit}"));
        }
    }

    /// Notes a number that must not be under its limit.
    pub fn at_least(&mut self, what: &str, found: f64, limit: f64, unit: &str) {
        self.figure(format!("{what} {}{unit} (at least {limit}{unit})", shortened(found)));
        if found < limit {
            let found = shortened(found);
            self.violation(format!("{what} of {found}{unit} is under {limit}{unit}"));
        }
    }
}

impl Verdict {
    /// Judges what a row says of itself. CI may lack what `lacking` names alone.
    pub fn of(outcome: Result<Report, Stopped>, at_least: u64, is_ci: bool) -> Verdict {
        let failed = |violation: String| {
            let violations = vec![violation];
            Verdict::Failed { report: Report::of("things"), violations }
        };
        let mut report = match outcome {
            Ok(report) => report,
            Err(Stopped::Lacking(what)) => {
                return lacking::excuse(is_ci, &what).map_or_else(failed, Verdict::Skipped);
            }
            Err(Stopped::Failed(error)) => return failed(error.to_string()),
        };
        let mut violations = std::mem::take(&mut report.violations);
        if report.count < at_least {
            let Report { count, unit, .. } = report;
            violations.push(format!("{count} {unit} are fewer than {at_least}"));
        }
        match violations.is_empty() {
            true => Verdict::Passed(report),
            false => Verdict::Failed { report, violations },
        }
    }
}

impl<E: Into<Box<dyn Error>>> From<E> for Stopped {
    fn from(error: E) -> Stopped {
        Stopped::Failed(error.into())
    }
}

/// The line of a row.
pub fn line(row: &Row, verdict: &Verdict, took: Duration) -> String {
    let (id, what) = (row.id, row.what);
    let (report, word) = match verdict {
        Verdict::Passed(report) => (report, "passed"),
        Verdict::Failed { report, .. } => (report, "FAILED"),
        Verdict::Skipped(excuse) => return format!("{id:<5} {what}: {excuse}"),
    };
    let Report { count, unit, figures, .. } = report;
    let figures: String = figures.iter().map(|figure| format!(", {figure}")).collect();
    format!("{id:<5} {what}: {word}: {count} {unit}{figures} [{:.1} s]", took.as_secs_f64())
}

/// Prints what was wrong.
pub fn explain(violations: &[String]) {
    for violation in violations.iter().take(SHOWN_MAX) {
        println!("      {violation}");
    }
    if violations.len() > SHOWN_MAX {
        println!("      and {} more", violations.len() - SHOWN_MAX);
    }
}

fn shortened(number: f64) -> String {
    if number.fract() == 0.0 { format!("{number}") } else { format!("{number:.2}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(count: u64) -> Report {
        Report { count, ..Report::of("steps") }
    }

    #[test]
    fn a_row_that_checked_too_little_has_failed() {
        assert!(matches!(Verdict::of(Ok(report(40)), 40, false), Verdict::Passed(_)));
        let Verdict::Failed { violations, .. } = Verdict::of(Ok(report(39)), 40, false) else {
            panic!("39 of 40 passed");
        };
        assert_eq!(violations, ["39 steps are fewer than 40"]);
    }

    #[test]
    fn a_figure_over_its_limit_fails() {
        let mut found = report(1);
        found.at_most("p99", 2.0, 2.0, "");
        assert!(found.violations.is_empty());
        found.at_most("p99", 2.01, 2.0, " ms");
        assert_eq!(found.violations, ["p99 of 2.01 ms is over 2 ms"]);
        assert!(matches!(Verdict::of(Ok(found), 1, false), Verdict::Failed { .. }));
        let mut found = report(1);
        found.at_least("share", 80.0, 80.0, " %");
        assert!(found.violations.is_empty());
        found.at_least("share", 79.0, 80.0, " %");
        assert_eq!(found.violations, ["share of 79 % is under 80 %"]);
    }

    #[test]
    fn a_part_that_is_not_done_is_told_and_fails_in_ci() {
        let mut found = report(1);
        found.lacks_in("landlock", false);
        assert_eq!(found.figures, ["NOT DONE for want of landlock"]);
        assert!(found.violations.is_empty());
        let mut found = report(1);
        found.lacks_in("landlock", true);
        found.lacks_in("a pid namespace", true);
        assert_eq!(found.violations, ["CI has to have landlock"]);
        assert_eq!(found.figures, ["NOT DONE for want of a pid namespace"]);
    }

    #[test]
    fn an_error_is_a_failure_and_a_missing_tool_is_one_in_ci() {
        assert!(matches!(Verdict::of(Err("lost".into()), 0, false), Verdict::Failed { .. }));
        let lacks = |is_ci, what: &str| Verdict::of(Err(Stopped::Lacking(what.into())), 1, is_ci);
        assert!(matches!(lacks(false, "strace"), Verdict::Skipped(_)));
        assert!(matches!(lacks(true, "strace"), Verdict::Failed { .. }));
        assert!(matches!(lacks(true, "a memory control group"), Verdict::Skipped(_)));
    }
}
