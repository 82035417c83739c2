//! What programs read: one JSON object a line. Written here, and read again for the report.

use std::io::{self, Write};

use serde::{Deserialize, Serialize};

use super::{Named, Row, Table};
use crate::rounds::Statistic;
use crate::statistics::Summary;

/// Any line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Line {
    /// A subject or what it is compared with.
    Measured(Measured),
    /// A number that is no time.
    Count(Count),
    /// What could not run.
    Skipped(Skipped),
    /// The last one.
    Done(Done),
}

/// A subject or what it is compared with, timed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    pub table: String,
    pub case: String,
    pub subject: String,
    pub version: String,
    pub processors: u32,
    pub placement: String,
    pub n: u64,
    pub rounds: u32,
    pub min_ns: f64,
    pub p50_ns: f64,
    pub p99_ns: f64,
    pub mean_ns: f64,
    pub against: Option<String>,
    pub ratio: Option<f64>,
    pub ratio_min: Option<f64>,
    pub ratio_max: Option<f64>,
    pub spread: f64,
    /// What the ratio is of, where it is not of the p50.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ratio_of: Option<String>,
    /// What the ratio is to be at most, where that was said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<f64>,
    /// Bytes that a call moves, where the table is about them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// At the p50.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes_per_s: Option<f64>,
}

/// A number that is no time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Count {
    pub table: String,
    pub case: String,
    pub subject: String,
    pub version: String,
    pub unit: String,
    pub value: f64,
    /// What it is to be at most, where that was said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<f64>,
}

/// A case that could not run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Skipped {
    pub table: String,
    pub case: String,
    pub subject: String,
    pub skipped: String,
}

/// The last line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Done {
    pub table: String,
    pub done: bool,
    pub cases: usize,
}

impl Line {
    /// Which table it is of.
    pub fn table(&self) -> &str {
        match self {
            Line::Measured(line) => &line.table,
            Line::Count(line) => &line.table,
            Line::Skipped(line) => &line.table,
            Line::Done(line) => &line.table,
        }
    }
}

impl Table {
    /// For programs: a line for each case that was skipped, one for each subject and for what it
    /// is compared with, and the count.
    pub fn write_json(&self, out: &mut impl Write) -> io::Result<()> {
        for line in self.lines() {
            serde_json::to_writer(&mut *out, &line)?;
            writeln!(out)?;
        }
        Ok(())
    }

    /// The same, not yet text. A table of nothing is not done.
    fn lines(&self) -> Vec<Line> {
        let skipped = self.skipped.iter().cloned().map(Line::Skipped);
        let rows =
            self.rows.iter().flat_map(|row| [self.subject_line(row), self.against_line(row)]);
        let counts = self.counts.iter().cloned().map(Line::Count);
        let cases = self.rows.len() + self.counts.len();
        let done = Done { table: self.name.to_owned(), done: true, cases };
        let done = (!self.is_empty()).then_some(Line::Done(done));
        skipped.chain(rows.map(Line::Measured)).chain(counts).chain(done).collect()
    }

    fn subject_line(&self, row: &Row) -> Measured {
        let verdict = &row.verdict;
        let is_usual = row.statistic == Statistic::P50;
        Measured {
            against: Some(row.against.name.clone()),
            ratio: Some(ratio(verdict.ratio)),
            ratio_min: Some(ratio(verdict.ratio_min)),
            ratio_max: Some(ratio(verdict.ratio_max)),
            ratio_of: (!is_usual).then(|| row.statistic.name().to_owned()),
            limit: row.case.limit,
            ..self.line(row, &row.subject, &verdict.subject)
        }
    }

    fn against_line(&self, row: &Row) -> Measured {
        self.line(row, &row.against, &row.verdict.bound)
    }

    /// A line without a comparison.
    fn line(&self, row: &Row, subject: &Named, summary: &Summary) -> Measured {
        // A bound that moves one line, whatever the case, has no bytes.
        let bytes = row.case.bytes.filter(|_| !subject.name.starts_with("raw-"));
        let bytes_per_s = |bytes: u64| (bytes as f64 / summary.p50_ns * 1e9).round();
        Measured {
            table: self.name.to_owned(),
            case: row.case.name.clone(),
            subject: subject.name.clone(),
            version: subject.version.clone(),
            processors: row.case.processors,
            placement: row.verdict.placement.name().to_owned(),
            n: summary.n,
            rounds: row.verdict.rounds,
            min_ns: rounded(summary.min_ns, 10.0),
            p50_ns: rounded(summary.p50_ns, 10.0),
            p99_ns: rounded(summary.p99_ns, 10.0),
            mean_ns: rounded(summary.mean_ns, 10.0),
            against: None,
            ratio: None,
            ratio_min: None,
            ratio_max: None,
            spread: rounded(row.verdict.spread, 1000.0),
            ratio_of: None,
            limit: None,
            bytes,
            bytes_per_s: bytes.map(bytes_per_s),
        }
    }
}

/// Small ones keep their digits.
fn ratio(ratio: f64) -> f64 {
    rounded(ratio, if ratio < 0.1 { 1_000_000.0 } else { 1000.0 })
}

/// To so many parts of one.
fn rounded(value: f64, parts: f64) -> f64 {
    (value * parts).round() / parts
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::rounds::{Placement, Verdict};
    use crate::table::Case;

    fn summary(p50_ns: f64) -> Summary {
        Summary { n: 200_000, min_ns: 61.04, p50_ns, p99_ns: 95.0, mean_ns: 76.1 }
    }

    fn table() -> Table {
        let verdict = Verdict {
            placement: Placement::Near,
            rounds: 9,
            subject: summary(74.2),
            bound: summary(66.0),
            ratio: 1.1249,
            ratio_min: 1.07,
            ratio_max: 1.19,
            spread: 0.06,
        };
        let case =
            Case { name: "null".to_owned(), processors: 2, batch: 64, bytes: None, limit: None };
        let (subject, against) = (Named::ours(), Named::bound("raw-1line"));
        let statistic = Statistic::P50;
        let mut table = Table::new("paper");
        table.rows.push(Row { case, subject, against, thrown: 2, statistic, verdict });
        table
    }

    /// The lines, each parsed.
    fn json_of(table: &Table) -> Vec<Value> {
        let mut out = Vec::new();
        table.write_json(&mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    #[test]
    fn a_subject_has_every_field_of_the_contract() {
        let want = json!({
            "table": "paper", "case": "null", "subject": "nearcall",
            "version": env!("CARGO_PKG_VERSION"), "processors": 2, "placement": "near",
            "n": 200_000, "rounds": 9,
            "min_ns": 61.0, "p50_ns": 74.2, "p99_ns": 95.0, "mean_ns": 76.1,
            "against": "raw-1line", "ratio": 1.125, "ratio_min": 1.07, "ratio_max": 1.19,
            "spread": 0.06,
        });
        assert_eq!(json_of(&table())[0], want);
    }

    #[test]
    fn a_bound_is_a_subject_that_is_compared_with_nothing() {
        let line = &json_of(&table())[1];
        assert_eq!((&line["subject"], &line["p50_ns"]), (&json!("raw-1line"), &json!(66.0)));
        for field in ["against", "ratio", "ratio_min", "ratio_max"] {
            assert_eq!(line.get(field), Some(&Value::Null), "{field}");
        }
    }

    #[test]
    fn the_last_line_counts_the_cases() {
        let want = json!({ "table": "paper", "done": true, "cases": 1 });
        assert_eq!(json_of(&table()).last(), Some(&want));
    }

    #[test]
    fn a_table_of_nothing_is_not_done() {
        let mut table = Table::new("paper");
        table.skip("add", "nearcall", "no second processor");
        assert_eq!(json_of(&table).len(), 1);
    }

    #[test]
    fn a_skipped_case_says_why_and_is_not_counted() {
        let mut table = table();
        table.skip("add", "nearcall", "no second processor");
        let lines = json_of(&table);
        let want = json!({
            "table": "paper", "case": "add", "subject": "nearcall",
            "skipped": "no second processor",
        });
        assert_eq!(lines[0], want);
        assert_eq!(lines.last().unwrap()["cases"], 1);
    }

    #[test]
    fn a_ratio_that_is_not_of_the_p50_says_of_what() {
        let mut table = table();
        table.rows[0].statistic = Statistic::Mean;
        assert_eq!(json_of(&table)[0]["ratio_of"], "mean");
    }

    #[test]
    fn what_has_a_limit_says_it() {
        let mut table = table();
        table.rows[0].case.limit = Some(1.15);
        table.count_within("memory", &Named::ours(), "bytes", 12.0, 14.0);
        let lines = json_of(&table);
        assert_eq!((&lines[0]["limit"], &lines[2]["limit"]), (&json!(1.15), &json!(14.0)));
        assert_eq!(lines[1].get("limit"), None);
    }

    #[test]
    fn bytes_come_with_their_rate_and_not_for_a_bound_of_one_line() {
        let mut table = table();
        table.rows[0].case.bytes = Some(742);
        let lines = json_of(&table);
        assert_eq!((&lines[0]["bytes"], &lines[0]["bytes_per_s"]), (&json!(742), &json!(1e10)));
        assert_eq!(lines[1].get("bytes"), None);
    }

    #[test]
    fn what_is_counted_is_a_case() {
        let mut table = Table::new("policy");
        table.count("idle-1s", &Named::ours(), "ns", 12.0);
        let lines = json_of(&table);
        assert_eq!((&lines[0]["unit"], &lines[0]["value"]), (&json!("ns"), &json!(12.0)));
        assert_eq!(lines[1]["cases"], 1);
    }

    #[test]
    fn every_line_can_be_read_again() {
        let mut table = table();
        table.skip("add", "nearcall", "no second processor");
        table.count("idle-1s", &Named::ours(), "ns", 12.0);
        for line in table.lines() {
            let text = serde_json::to_string(&line).unwrap();
            assert_eq!(serde_json::from_str::<Line>(&text).unwrap(), line);
        }
    }
}
