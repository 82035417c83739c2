//! The table `paper`: the four calls of LRPC's Table IV and three of long arguments, between two
//! processes, on two processors and on one, each beside what the processors can do at all.
//!
//! Decides who runs where, what is measured in which order, and how many calls it takes.

use std::path::Path;
use std::time::Duration;

use nearcall::Domain;
use nearcall_os::processor;

use crate::calls::{Bound, Call};
use crate::child::Failure;
use crate::raw::line::{self, Load, Prefetch};
use crate::raw::yielding::{self, Yield};
use crate::raw::{self, Peer};
use crate::report::{Case, Row, Table};
use crate::rounds::{Look, Placement, Round, Tally};
use crate::statistics::{Plan, Samples};

/// The table's name.
const NAME: &str = "paper";

/// Calls of a batch that is timed as one, where a call takes less than a microsecond.
const BATCH: u32 = 64;

/// How long everybody is left alone before the next measurement: whoever spins stops after 50 us
/// without a call.
const SETTLE: Duration = Duration::from_micros(500);

/// What is asked for.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Rounds of each case.
    pub rounds: u32,
    /// On two processors, on one, or on both numbers in turn.
    pub processors: Option<u32>,
    /// Most calls of a measurement; `None`: as many as make it steady.
    pub calls_max: Option<u32>,
}

/// Both sides of everything on two processors, or on one.
struct Arrangement {
    processors: u32,
    peer: Peer,
    server: Bound,
}

/// Measures the table.
///
/// Binds the calling thread to the first processor that it may run on, and makes calls from there;
/// the servers, and the processes that the bounds alternate with, run on the second or on the same.
/// All but what is being measured sleep.
pub fn measure(options: Options) -> Result<Table, Failure> {
    let allowed = processor::allowed();
    let wanted = |count: u32| options.processors.is_none_or(|wanted| wanted == count);
    // Before the domain is made: its threads inherit the processor.
    processor::pin(allowed[0])?;
    let domain = Domain::new()?;
    let directory = tempfile::tempdir()?;
    let mut arrangements = Vec::new();
    let mut table = Table::new(NAME, allowed.len());
    for (processors, place) in [(2, allowed.get(1)), (1, allowed.first())] {
        let directory = directory.path().join(processors.to_string());
        match place {
            _ if !wanted(processors) => {}
            Some(place) => {
                arrangements.push(Arrangement::new(&domain, &directory, processors, *place)?);
            }
            None => skip(&mut table, "two processors are needed and one is allowed"),
        }
    }
    let mut tallies = vec![vec![Tally::default(); Call::ALL.len()]; arrangements.len()];
    for _ in 0..options.rounds {
        for (arrangement, tallies) in arrangements.iter().zip(&mut tallies) {
            for (call, tally) in Call::ALL.into_iter().zip(tallies) {
                tally.add(arrangement.round(call, options.calls_max)?);
            }
        }
    }
    for (arrangement, tallies) in arrangements.iter().zip(&tallies) {
        for (call, tally) in Call::ALL.into_iter().zip(tallies) {
            arrangement.tell(call, tally, &mut table);
        }
    }
    Ok(table)
}

fn skip(table: &mut Table, why: &str) {
    for call in Call::ALL {
        table.skip(call.name(), why.to_owned());
    }
}

impl Arrangement {
    fn new(
        domain: &Domain,
        directory: &Path,
        processors: u32,
        place: u32,
    ) -> Result<Arrangement, Failure> {
        let server = Bound::start(domain, directory, place)?;
        Ok(Arrangement { processors, peer: Peer::start(place)?, server })
    }

    /// One round of one case.
    fn round(&self, call: Call, calls_max: Option<u32>) -> Result<Option<Round>, Failure> {
        let plan = self.plan(call, calls_max);
        // Whatever the case, its bound is measured as a Null is.
        let bound_plan = self.plan(Call::Null, calls_max);
        let before = self.look(bound_plan)?;
        std::thread::sleep(SETTLE);
        let subject = self.server.measure(call, plan)?;
        let after = self.look(bound_plan)?;
        Ok(Round::judge(|bound_ns| self.class(bound_ns), &before, subject, &after))
    }

    /// The bound, in every way that it can be reached.
    fn look(&self, plan: Plan) -> Result<Look, Failure> {
        let settled = |samples: fn(&Peer, Plan) -> Result<Samples, Failure>| {
            std::thread::sleep(SETTLE);
            samples(&self.peer, plan)
        };
        if self.processors == 1 {
            return Ok(vec![settled(Peer::alternate::<Yield>)?]);
        }
        Ok(vec![settled(Peer::alternate::<Load>)?, settled(Peer::alternate::<Prefetch>)?])
    }

    fn class(&self, bound_ns: f64) -> Placement {
        if self.processors == 1 { Placement::One } else { Placement::of_two(bound_ns) }
    }

    fn bound_name(&self) -> &'static str {
        if self.processors == 1 { yielding::NAME } else { line::NAME }
    }

    /// How a call is measured: about 10 ms of it in the best of cases.
    fn plan(&self, call: Call, calls_max: Option<u32>) -> Plan {
        let is_short = self.processors == 2 && !matches!(call, Call::SixtyFourK | Call::OneM);
        let calls = match call {
            Call::OneM => 200,
            _ if is_short => 200 * BATCH,
            _ => 2000,
        };
        let batch = if is_short { BATCH } else { 1 };
        Plan::new(calls.min(calls_max.unwrap_or(u32::MAX)), batch)
    }

    fn tell(&self, call: Call, tally: &Tally, table: &mut Table) {
        let verdicts = tally.verdicts();
        let thrown = tally.thrown();
        if verdicts.is_empty() {
            let why = format!("the processors changed places in each of {thrown} rounds");
            table.skip(call.name(), why);
        }
        for verdict in verdicts {
            let case = Case {
                name: call.name(),
                processors: self.processors,
                batch: self.plan(call, None).batch,
            };
            table.rows.push(Row { case, against: self.bound_name(), thrown, verdict });
        }
    }
}

/// What a child of the benchmark program can be.
pub const ROLES: &[(&str, crate::child::Role)] =
    &[(crate::calls::ROLE, crate::calls::play), (raw::ROLE, raw::play)];
