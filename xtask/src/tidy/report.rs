//! What a check found, and how much it looked at.

use std::fmt;

/// One thing that is wrong, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// From the root of the tree.
    pub path: String,
    /// From 1; 0 if it is about the file as a whole.
    pub line: usize,
    pub message: String,
}

/// The outcome of one check.
#[derive(Clone, Debug)]
pub struct Report {
    pub name: &'static str,
    /// How many of which things were looked at; none of these may be zero.
    pub counts: Vec<(usize, &'static str)>,
    pub findings: Vec<Finding>,
}

impl Report {
    pub fn new(name: &'static str) -> Self {
        Self { name, counts: Vec::new(), findings: Vec::new() }
    }

    pub fn find(&mut self, path: &str, line: usize, message: impl Into<String>) {
        self.findings.push(Finding { path: path.to_owned(), line, message: message.into() });
    }

    pub fn counted(mut self, counts: &[(usize, &'static str)]) -> Self {
        self.counts.extend_from_slice(counts);
        self
    }

    /// A check that looked at nothing has not passed.
    pub fn is_ok(&self) -> bool {
        self.findings.is_empty()
            && !self.counts.is_empty()
            && self.counts.iter().all(|(count, _)| *count > 0)
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counts: Vec<_> =
            self.counts.iter().map(|(count, unit)| format!("{count} {unit}")).collect();
        let verdict = if self.is_ok() { "ok  " } else { "FAIL" };
        writeln!(f, "tidy {verdict} {:<12} {}", self.name, counts.join(", "))?;
        for Finding { path, line, message } in &self.findings {
            match line {
                0 => writeln!(f, "  {path}: {message}")?,
                _ => writeln!(f, "  {path}:{line}: {message}")?,
            }
        }
        for (_, unit) in self.counts.iter().filter(|(count, _)| *count == 0) {
            writeln!(f, "  checked no {unit}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_that_counted_nothing_is_not_ok() {
        assert!(!Report::new("x").is_ok());
        assert!(!Report::new("x").counted(&[(0, "files")]).is_ok());
        assert!(!Report::new("x").counted(&[(3, "files"), (0, "rows")]).is_ok());
        assert!(Report::new("x").counted(&[(3, "files")]).is_ok());
    }

    #[test]
    fn a_finding_is_not_ok() {
        let mut report = Report::new("x");
        report.find("a.rs", 3, "wrong");
        let report = report.counted(&[(1, "files")]);
        assert!(!report.is_ok());
        assert!(report.to_string().contains("a.rs:3: wrong"));
    }
}
