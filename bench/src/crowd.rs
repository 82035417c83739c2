//! The table `crowd`: 1,000 to 100,000 FastThreads that wait, and are all woken at once.
//!
//! | case | one operation is | against |
//! |---|---|---|
//! | `signal-N` | the wake of one of N that wait for a signal, until it has ended | a tenth of N |
//! | `reply-N` | the same for N in a Null, whose server is stopped until then | a tenth of N |
//!
//! So a ratio of one is a wake whose time grows as their number does. What 1,000 threads need of
//! their stacks and records fits a near cache and what 10,000 need does not: there bare touches of
//! as many lines cost 15 times as much (design note 0011). Of the replies as many are under way as
//! there are A-stacks; the other callers wait for one of those.
//!
//! Counted, of the largest number: what memory a thread takes beyond the pages of its stack that
//! were touched (`memory`), of it the kernel's page tables (`tables`), and those pages (`stack`).
//! Each measurement is made by a process of its own, whose pools are empty.

mod memory;
mod threads;

use std::path::Path;

use self::threads::Answer;
use crate::calls;
use crate::child::{Child, Failure};
use crate::outstanding;
use crate::rounds::{Statistic, Tally};
use crate::stage::{Options, Stage};
use crate::statistics::{Plan, Samples};
use crate::table::{Case, Named, Table};

pub use self::threads::{ROLE, play};

/// The table's name.
const NAME: &str = "crowd";

/// Numbers of threads; each is compared with the one before.
const THREADS: [u32; 3] = [1_000, 10_000, 100_000];

/// What a thread may take beyond what it has touched of its stack.
const BYTES_MAX: f64 = 5.0 * 1024.0;

/// A wake of all may take so many times ten wakes of a tenth of them.
const RATIO_MAX: f64 = 1.2;

/// What the threads wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Signal,
    Reply,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Kind::Signal => "signal",
            Kind::Reply => "reply",
        }
    }

    fn subject(self) -> Named {
        Named::bound(match self {
            Kind::Signal => "fastthreads",
            Kind::Reply => "nearcall-fastthreads",
        })
    }
}

/// Measures the table: signals on one processor, replies on both numbers.
pub fn measure(options: Options) -> Result<Table, Failure> {
    let mut table = Table::new(NAME);
    let (stages, missing) = options.stages()?;
    if let Some(why) = missing {
        let kind = Kind::Reply;
        THREADS.iter().for_each(|count| table.skip(&case(kind, *count), &kind.subject().name, why));
    }
    let directory = tempfile::tempdir()?;
    for stage in &stages {
        let directory = directory.path().join(stage.processors.to_string());
        measure_kind(Kind::Reply, stage, options, &directory, &mut table)?;
        if stage.processors == 1 {
            measure_kind(Kind::Signal, stage, options, &directory, &mut table)?;
        }
    }
    Ok(table)
}

fn case(kind: Kind, count: u32) -> String {
    format!("{}-{count}", kind.name())
}

fn measure_kind(
    kind: Kind,
    stage: &Stage,
    options: Options,
    directory: &Path,
    table: &mut Table,
) -> Result<(), Failure> {
    let counts = THREADS.map(|count| count.min(options.calls_max.unwrap_or(u32::MAX)));
    let mut tallies = [const { Tally::none() }; THREADS.len() - 1];
    let mut largest = None;
    for _ in 0..options.rounds {
        for (pair, tally) in counts.windows(2).zip(&mut tallies) {
            let crowd = |count| crowd(kind, count, stage, directory);
            let all = || {
                let answer = crowd(pair[1])?;
                let samples = answer.samples(pair[1]);
                largest = Some(answer);
                Ok(samples)
            };
            tally.add(stage.beside(all, || Ok(crowd(pair[0])?.samples(pair[0])))?);
        }
    }
    let subject = kind.subject();
    for (count, tally) in THREADS[1..].iter().zip(&tallies) {
        let plan = Plan::new(*count, *count);
        let case = Case::new(case(kind, *count), stage, plan).within(RATIO_MAX);
        table.tell(&case, &subject, &subject, tally, Statistic::P50);
    }
    let answer = largest.ok_or("a table has a round")?;
    let each = |bytes: u64| (bytes as f64 / f64::from(counts[THREADS.len() - 1])).round();
    let name = |part: &str| format!("{part}-{}-{}", kind.name(), stage.processors);
    let unit = "bytes a thread";
    table.count_within(&name("memory"), &subject, unit, each(answer.beyond_bytes), BYTES_MAX);
    table.count(&name("tables"), &subject, unit, each(answer.tables_bytes));
    table.count(&name("stack"), &subject, unit, each(answer.stack_bytes));
    Ok(())
}

/// What a process says whose so many threads have waited.
fn crowd(kind: Kind, count: u32, stage: &Stage, directory: &Path) -> Result<Answer, Failure> {
    if kind == Kind::Signal {
        return Answer::of(&Child::start(ROLE, &[], &[])?, count);
    }
    let server = calls::start(outstanding::ROLE, directory, stage.there)?;
    let place = directory.to_str().ok_or("the directory has no name in Unicode")?;
    let client = Child::start(ROLE, &[place, &server.id().to_string()], &[])?;
    Answer::of(&client, count)
}

impl Answer {
    fn samples(&self, count: u32) -> Samples {
        Samples::new(count, self.wakes_ns.clone())
    }
}
