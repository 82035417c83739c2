//! A table, measured: rows of a subject beside what it is compared with, and what is missing.

mod json;
mod text;

pub use json::{Count, Done, Line, Measured, Skipped};

use crate::machine::Machine;
use crate::rounds::{Statistic, Tally, Verdict};
use crate::stage::Stage;
use crate::statistics::Plan;

/// What all of this is about.
pub const OURS: &str = "nearcall";

/// A table, measured.
#[derive(Clone, Debug)]
pub struct Table {
    name: &'static str,
    /// How people are to read it, where nothing is timed.
    legend: Option<&'static str>,
    skipped: Vec<Skipped>,
    rows: Vec<Row>,
    counts: Vec<Count>,
}

/// A subject, or what it is compared with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    /// Its name in every table.
    pub name: String,
    /// Which version of it.
    pub version: String,
}

/// What was measured.
#[derive(Clone, Debug)]
pub struct Case {
    /// Its name.
    pub name: String,
    /// How many processors there were for both sides.
    pub processors: u32,
    /// Calls of a batch.
    pub batch: u32,
    /// Bytes that a call moves, where the table is about them.
    pub bytes: Option<u64>,
    /// What its ratio is to be at most.
    pub limit: Option<f64>,
}

/// One case in one class.
#[derive(Clone, Debug)]
struct Row {
    case: Case,
    subject: Named,
    against: Named,
    /// Rounds of the case that were thrown away, of whatever class.
    thrown: u32,
    statistic: Statistic,
    verdict: Verdict,
}

impl Named {
    /// Nearcall.
    pub fn ours() -> Named {
        Named::bound(OURS)
    }

    /// A bound, which is part of this program.
    pub fn bound(name: &str) -> Named {
        Named { name: name.to_owned(), version: env!("CARGO_PKG_VERSION").to_owned() }
    }

    /// What the kernel does.
    pub fn kernel(name: &str) -> Named {
        let version = Machine::kernel().unwrap_or_else(|| "unknown".to_owned());
        Named { name: name.to_owned(), version }
    }
}

impl Case {
    /// A case of that name in a stage, measured by that plan.
    pub fn new(name: impl Into<String>, stage: &Stage, plan: Plan) -> Case {
        let processors = stage.processors;
        Case { name: name.into(), processors, batch: plan.batch, bytes: None, limit: None }
    }

    /// The same, whose ratio is to be so much at most.
    #[must_use]
    pub fn within(self, limit: f64) -> Case {
        Case { limit: Some(limit), ..self }
    }
}

impl Table {
    /// An empty table.
    pub fn new(name: &'static str) -> Table {
        let (skipped, rows, counts) = Default::default();
        Table { name, legend: None, skipped, rows, counts }
    }

    /// One in which nothing is timed, and how to read it.
    pub fn explained(name: &'static str, legend: &'static str) -> Table {
        Table { legend: Some(legend), ..Table::new(name) }
    }

    /// Whether nothing was measured, which is a failure.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty() && self.counts.is_empty()
    }

    /// Takes note that a case could not run.
    pub fn skip(&mut self, case: &str, subject: &str, why: impl Into<String>) {
        self.skipped.push(Skipped {
            table: self.name.to_owned(),
            case: case.to_owned(),
            subject: subject.to_owned(),
            skipped: why.into(),
        });
    }

    /// Takes note of the rounds of a case: a row for each class that was met.
    pub fn tell(
        &mut self,
        case: &Case,
        subject: &Named,
        against: &Named,
        tally: &Tally,
        statistic: Statistic,
    ) {
        let verdicts = tally.verdicts(statistic);
        let thrown = tally.thrown();
        if verdicts.is_empty() {
            let why = format!("the processors changed places in each of {thrown} rounds");
            self.skip(&case.name, &subject.name, why);
        }
        self.rows.extend(verdicts.into_iter().map(|verdict| Row {
            case: case.clone(),
            subject: subject.clone(),
            against: against.clone(),
            thrown,
            statistic,
            verdict,
        }));
    }

    /// Takes note of something that was counted, not timed.
    pub fn count(&mut self, case: &str, subject: &Named, unit: &str, value: f64) {
        self.push_count(case, subject, unit, value, None);
    }

    /// The same of something that is to be so much at most.
    pub fn count_within(
        &mut self,
        case: &str,
        subject: &Named,
        unit: &str,
        value: f64,
        limit: f64,
    ) {
        self.push_count(case, subject, unit, value, Some(limit));
    }

    fn push_count(
        &mut self,
        case: &str,
        subject: &Named,
        unit: &str,
        value: f64,
        limit: Option<f64>,
    ) {
        self.counts.push(Count {
            table: self.name.to_owned(),
            case: case.to_owned(),
            subject: subject.name.clone(),
            version: subject.version.clone(),
            unit: unit.to_owned(),
            value,
            limit,
        });
    }
}
