//! What is printed: a table for people, or one JSON object a line for programs.

use std::io::{self, Write};

use serde::Serialize;

use crate::machine::Machine;
use crate::rounds::Verdict;
use crate::statistics::Summary;

/// What is measured.
const SUBJECT: &str = "nearcall";

/// A table, measured.
#[derive(Clone, Debug)]
pub struct Table {
    name: &'static str,
    processors_allowed: usize,
    skipped: Vec<Skipped>,
    /// In the order of the table.
    pub rows: Vec<Row>,
}

/// One case in one class.
#[derive(Clone, Debug)]
pub struct Row {
    /// What was measured.
    pub case: Case,
    /// The bound's name.
    pub against: &'static str,
    /// Rounds of the case that were thrown away, of whatever class.
    pub thrown: u32,
    /// What came out.
    pub verdict: Verdict,
}

/// What was measured.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// Its name.
    pub name: &'static str,
    /// How many processors there were for both sides.
    pub processors: u32,
    /// Calls of a batch.
    pub batch: u32,
}

/// A line of a subject or a bound.
#[derive(Debug, Serialize)]
struct Line {
    table: &'static str,
    case: &'static str,
    subject: &'static str,
    version: &'static str,
    processors: u32,
    placement: &'static str,
    n: u64,
    rounds: u32,
    min_ns: f64,
    p50_ns: f64,
    p99_ns: f64,
    mean_ns: f64,
    against: Option<&'static str>,
    ratio: Option<f64>,
    ratio_min: Option<f64>,
    ratio_max: Option<f64>,
    spread: f64,
}

/// A case that could not run.
#[derive(Clone, Debug, Serialize)]
struct Skipped {
    table: &'static str,
    case: &'static str,
    subject: &'static str,
    skipped: String,
}

/// The last line.
#[derive(Debug, Serialize)]
struct Done {
    table: &'static str,
    done: bool,
    cases: usize,
}

impl Table {
    /// An empty table.
    pub fn new(name: &'static str, processors_allowed: usize) -> Table {
        Table { name, processors_allowed, skipped: Vec::new(), rows: Vec::new() }
    }

    /// Takes note that a case could not run.
    pub fn skip(&mut self, case: &'static str, why: String) {
        let skipped = Skipped { table: self.name, case, subject: SUBJECT, skipped: why };
        self.skipped.push(skipped);
    }

    /// For programs: a line for each subject and its bound, one for each case that was skipped, and
    /// the count.
    pub fn write_json(&self, out: &mut impl Write) -> io::Result<()> {
        for skipped in &self.skipped {
            write_line(out, skipped)?;
        }
        for row in &self.rows {
            write_line(out, &self.subject_line(row))?;
            write_line(out, &self.bound_line(row))?;
        }
        if self.rows.is_empty() {
            // A table of nothing is not done.
            return Ok(());
        }
        write_line(out, &Done { table: self.name, done: true, cases: self.rows.len() })
    }

    /// For people.
    pub fn write_text(&self, out: &mut impl Write, machine: &Machine) -> io::Result<()> {
        writeln!(out, "{machine}, {} processors allowed", self.processors_allowed)?;
        writeln!(
            out,
            "Nanoseconds of one call from one process to another. `ratio` is to the bound beside \
             it, measured\nbefore and after each round: median over rounds [best..worst]. p50 and \
             p99 are of averages over\nbatches. `thrown`: rounds in which the processors changed \
             places."
        )?;
        writeln!(out)?;
        writeln!(
            out,
            "{:<9} {:<9} {:>5} {:>10} {:>10} {:>10}  {:<9} {:>8}  {:<24} {:>6} {:>6}",
            "case",
            "placement",
            "batch",
            "p50",
            "p99",
            "mean",
            "bound",
            "p50",
            "ratio",
            "rounds",
            "thrown",
        )?;
        for row in &self.rows {
            write_row(out, row)?;
        }
        for skipped in &self.skipped {
            writeln!(out, "{:<9} skipped: {}", skipped.case, skipped.skipped)?;
        }
        Ok(())
    }

    fn subject_line(&self, row: &Row) -> Line {
        let verdict = &row.verdict;
        Line {
            against: Some(row.against),
            ratio: Some(rounded(verdict.ratio, 1000.0)),
            ratio_min: Some(rounded(verdict.ratio_min, 1000.0)),
            ratio_max: Some(rounded(verdict.ratio_max, 1000.0)),
            ..self.line(row, SUBJECT, &verdict.subject)
        }
    }

    fn bound_line(&self, row: &Row) -> Line {
        self.line(row, row.against, &row.verdict.bound)
    }

    /// A line without a comparison.
    fn line(&self, row: &Row, subject: &'static str, summary: &Summary) -> Line {
        Line {
            table: self.name,
            case: row.case.name,
            subject,
            version: env!("CARGO_PKG_VERSION"),
            processors: row.case.processors,
            placement: row.verdict.placement.name(),
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
        }
    }
}

fn write_row(out: &mut impl Write, row: &Row) -> io::Result<()> {
    let Row { case, against, thrown, verdict } = row;
    let Summary { p50_ns, p99_ns, mean_ns, .. } = verdict.subject;
    let ratio =
        format!("{:.2} [{:.2}..{:.2}]", verdict.ratio, verdict.ratio_min, verdict.ratio_max);
    writeln!(
        out,
        "{:<9} {:<9} {:>5} {p50_ns:>10.1} {p99_ns:>10.1} {mean_ns:>10.1}  {against:<9} {:>8.1}  \
         {ratio:<24} {:>6} {thrown:>6}",
        case.name,
        verdict.placement.name(),
        case.batch,
        verdict.bound.p50_ns,
        verdict.rounds,
    )
}

fn write_line(out: &mut impl Write, line: &impl Serialize) -> io::Result<()> {
    serde_json::to_writer(&mut *out, line)?;
    writeln!(out)
}

/// To so many parts of one.
fn rounded(value: f64, parts: f64) -> f64 {
    (value * parts).round() / parts
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::rounds::Placement;

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
        let case = Case { name: "null", processors: 2, batch: 64 };
        let mut table = Table::new("paper", 2);
        table.rows.push(Row { case, against: "raw-1line", thrown: 2, verdict });
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
        let mut table = Table::new("paper", 1);
        table.skip("add", "no second processor".to_owned());
        assert_eq!(json_of(&table).len(), 1);
    }

    #[test]
    fn a_skipped_case_says_why_and_is_not_counted() {
        let mut table = table();
        table.skip("add", "no second processor".to_owned());
        let lines = json_of(&table);
        let want = json!({
            "table": "paper", "case": "add", "subject": "nearcall",
            "skipped": "no second processor",
        });
        assert_eq!(lines[0], want);
        assert_eq!(lines.last().unwrap()["cases"], 1);
    }

    #[test]
    fn people_see_the_same_in_columns() {
        let mut table = table();
        table.skip("add", "no second processor".to_owned());
        let mut out = Vec::new();
        table.write_text(&mut out, &Machine::default()).unwrap();
        let text = String::from_utf8(out).unwrap();
        let row = "null      near         64       74.2       95.0       76.1  raw-1line     66.0  \
                   1.12 [1.07..1.19]             9      2";
        assert!(text.contains(row), "{text}");
        assert!(text.ends_with("add       skipped: no second processor\n"), "{text}");
    }
}
