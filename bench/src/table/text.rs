//! What people read.

use std::io::{self, Write};

use super::{Row, Table};
use crate::machine::Machine;
use crate::statistics::Summary;

/// How to read it.
const LEGEND: &str = "\
Nanoseconds of one call from one process to another. `ratio` is to what stands left of it,
measured in the same round: median over rounds [best..worst], of the p50 unless it says of what.
p50 and p99 are of averages over batches; a number behind `of` is what it is to be at most.
`thrown`: rounds in which the processors changed places.";

impl Table {
    /// For people.
    pub fn write_text(&self, out: &mut impl Write, machine: &Machine) -> io::Result<()> {
        let legend = self.legend.unwrap_or(LEGEND);
        writeln!(out, "{}: {machine}\n{legend}\n", self.name)?;
        if self.legend.is_none() {
            write_head(out)?;
        }
        for row in &self.rows {
            write_row(out, row)?;
        }
        for count in &self.counts {
            let (case, subject) = (&count.case, &count.subject);
            let limit = count.limit.map_or(String::new(), |limit| format!(", {limit} at most"));
            writeln!(out, "{case:<16} {subject:<15} {} {}{limit}", count.value, count.unit)?;
        }
        for skipped in &self.skipped {
            let (case, subject) = (&skipped.case, &skipped.subject);
            writeln!(out, "{case:<16} {subject:<15} skipped: {}", skipped.skipped)?;
        }
        Ok(())
    }
}

fn write_head(out: &mut impl Write) -> io::Result<()> {
    writeln!(
        out,
        "{:<16} {:<15} {:<9} {:>5} {:>11} {:>11} {:>11}  {:<14} {:>11}  {:<30} {:>6} {:>6}",
        "case",
        "subject",
        "placement",
        "batch",
        "p50",
        "p99",
        "mean",
        "against",
        "p50",
        "ratio",
        "rounds",
        "thrown",
    )
}

fn write_row(out: &mut impl Write, row: &Row) -> io::Result<()> {
    let Row { case, subject, against, thrown, statistic, verdict } = row;
    let Summary { p50_ns, p99_ns, mean_ns, .. } = verdict.subject;
    let digits = if verdict.ratio < 0.1 { 4 } else { 2 };
    let ratio = format!(
        "{:.digits$} [{:.digits$}..{:.digits$}]{}{}",
        verdict.ratio,
        verdict.ratio_min,
        verdict.ratio_max,
        statistic.remark(),
        case.limit.map_or(String::new(), |limit| format!(" of {limit}")),
    );
    writeln!(
        out,
        "{:<16} {:<15} {:<9} {:>5} {p50_ns:>11.1} {p99_ns:>11.1} {mean_ns:>11.1}  {:<14} \
         {:>11.1}  {ratio:<30} {:>6} {thrown:>6}",
        case.name,
        subject.name,
        verdict.placement.name(),
        case.batch,
        against.name,
        verdict.bound.p50_ns,
        verdict.rounds,
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rounds::{Placement, Statistic, Verdict};
    use crate::table::{Case, Named};

    #[test]
    fn people_see_what_was_measured_and_what_is_missing() {
        let summary = Summary { n: 640, min_ns: 61.0, p50_ns: 74.2, p99_ns: 95.0, mean_ns: 76.1 };
        let verdict = Verdict {
            placement: Placement::Near,
            rounds: 9,
            subject: summary,
            bound: Summary { p50_ns: 66.0, ..summary },
            ratio: 1.1249,
            ratio_min: 1.07,
            ratio_max: 1.19,
            spread: 0.06,
        };
        let case = Case {
            name: "null".to_owned(),
            processors: 2,
            batch: 64,
            bytes: None,
            limit: Some(1.15),
        };
        let (subject, against) = (Named::ours(), Named::bound("raw-1line"));
        let mut table = Table::new("paper");
        let statistic = Statistic::Mean;
        table.rows.push(Row { case, subject, against, thrown: 2, statistic, verdict });
        table.skip("add", "nearcall", "no second processor");
        table.count("idle", &Named::ours(), "ns", 12.0);
        let mut out = Vec::new();
        table.write_text(&mut out, &Machine::default()).unwrap();
        let text = String::from_utf8(out).unwrap();
        for part in ["74.2", "1.12 [1.07..1.19] of mean of 1.15", "skipped: no second", "12 ns"] {
            assert!(text.contains(part), "{text}");
        }
    }
}
