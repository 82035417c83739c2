//! The table `threads`: what FastThreads cost, as the URPC paper's Table I has it, beside an
//! indirect call of an empty procedure, on one processor (T7).
//!
//! | case | one operation is | also beside it |
//! |---|---|---|
//! | `fork` | a thread that nobody joins, forked, run and ended; 64 of them at a time | |
//! | `fork-join` | the same, one at a time, and its result | `std-thread` |
//! | `yield` | one of two threads lets the other one go on | `corosensei-switch`, `sched-yield` |
//! | `lock` | a mutex that nobody has, locked and released | `std-mutex` |
//! | `pingpong` | a signal and a wait: half of a round trip between two threads | `std-condvar` |
//!
//! `fork`, `fork-join`, `yield` and `pingpong` are measured of other people's threads, too:
//! `threads/peers.rs`.
//!
//! Beside another subject, that one's time over ours is the ratio; except `std-mutex` and
//! `corosensei-switch`, which are bounds.

mod bounds;
mod fast;
mod peers;

use std::path::Path;

use self::peers::{Bout, Programs};
use crate::child::Failure;
use crate::rounds::{Statistic, Tally};
use crate::stage::{BATCH, Options, Stage};
use crate::statistics::{Plan, Samples};
use crate::table::{Case, Named, Table};

/// The table's name.
const NAME: &str = "threads";

/// FastThreads, in every table.
const OURS: &str = "fastthreads";

/// What everything is compared with.
const PROCEDURE_CALL: &str = "procedure-call";

/// How one subject does one case.
type Measure = fn(Plan) -> Result<Samples, Failure>;

/// A subject or a bound, and how it is measured.
#[derive(Clone, Copy)]
struct Way {
    name: &'static str,
    /// Operations that are timed as one, and how many such batches.
    batch: u32,
    batches: u32,
    measure: Measure,
}

/// A line of the table: what is over what.
struct Beside {
    case: &'static str,
    subject: Way,
    against: Way,
    /// What the ratio is to be at most, if it is the figure that counts.
    limit: Option<f64>,
}

const fn short(name: &'static str, measure: Measure) -> Way {
    Way { name, batch: BATCH, batches: 500, measure }
}

const fn long(name: &'static str, measure: Measure) -> Way {
    Way { name, batch: 1, batches: 200, measure }
}

const FORK: Way = short(OURS, fast::fork);
const CALL: Way = short(PROCEDURE_CALL, bounds::procedure_call);
const FORK_JOIN: Way = short(OURS, fast::fork_join);
const YIELD: Way = short(OURS, fast::yields);
const LOCK: Way = short(OURS, fast::lock);
const PINGPONG: Way = short(OURS, fast::pingpong);

const LINES: [Beside; 10] = [
    Beside { case: "fork", subject: FORK, against: CALL, limit: Some(6.0) },
    Beside { case: "fork-join", subject: FORK_JOIN, against: CALL, limit: Some(14.0) },
    Beside { case: "yield", subject: YIELD, against: CALL, limit: Some(5.0) },
    Beside { case: "lock", subject: LOCK, against: CALL, limit: None },
    Beside { case: "pingpong", subject: PINGPONG, against: CALL, limit: Some(8.0) },
    Beside {
        case: "fork-join",
        subject: long("std-thread", bounds::std_thread),
        against: FORK_JOIN,
        limit: None,
    },
    Beside {
        case: "yield",
        subject: YIELD,
        against: short("corosensei-switch", bounds::corosensei_switch),
        limit: None,
    },
    Beside {
        case: "yield",
        subject: short("sched-yield", bounds::sched_yield),
        against: YIELD,
        limit: None,
    },
    Beside {
        case: "lock",
        subject: LOCK,
        against: short("std-mutex", bounds::std_mutex),
        limit: Some(1.0),
    },
    Beside {
        case: "pingpong",
        subject: long("std-condvar", bounds::std_condvar),
        against: PINGPONG,
        limit: None,
    },
];

impl Way {
    fn plan(&self, stage: &Stage) -> Plan {
        stage.plan(self.batches * self.batch, self.batch)
    }

    fn measure(&self, stage: &Stage) -> Result<Samples, Failure> {
        (self.measure)(self.plan(stage))
    }

    fn named(&self) -> Named {
        match self.name {
            "corosensei-switch" => Named { name: self.name.to_owned(), version: "0.3".to_owned() },
            "sched-yield" | "std-thread" | "std-condvar" => Named::kernel(self.name),
            name => Named::bound(name),
        }
    }
}

/// Measures the table, on one processor whatever is asked for. `programs` is a directory with what
/// other people's threads were compiled to; without it, they are compiled now.
pub fn measure(options: Options, programs: Option<&Path>) -> Result<Table, Failure> {
    let mut table = Table::new(NAME);
    // Before this thread, whose processors compilers inherit, is bound to one of them.
    let programs = Programs::find(programs)?;
    let (stages, _) = Options { processors: Some(1), ..options }.stages()?;
    for stage in &stages {
        let mut bouts = programs.start(stage);
        let mut tallies = vec![Tally::default(); LINES.len()];
        for _ in 0..options.rounds {
            for (line, tally) in LINES.iter().zip(&mut tallies) {
                tally.add(
                    stage.beside(|| line.subject.measure(stage), || line.against.measure(stage))?,
                );
            }
            bouts.iter_mut().try_for_each(Bout::round)?;
        }
        for (line, tally) in LINES.iter().zip(&tallies) {
            let case = Case::new(line.case, stage, line.subject.plan(stage));
            let case = Case { limit: line.limit, ..case };
            let (subject, against) = (line.subject.named(), line.against.named());
            table.tell(&case, &subject, &against, tally, Statistic::P50);
        }
        bouts.iter().for_each(|bout| bout.tell(&mut table));
    }
    Ok(table)
}
