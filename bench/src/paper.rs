//! The table `paper`: the four calls of LRPC's Table IV and three of long arguments, between two
//! processes, on two processors and on one, each beside what the processors can do at all.
//!
//! Decides what is measured in which order, and how many calls it takes.

use nearcall::Domain;

use crate::calls::{Bound, Call};
use crate::child::Failure;
use crate::rounds::{Statistic, Tally};
use crate::stage::{BATCH, Options, Stage};
use crate::statistics::Plan;
use crate::table::{Case, Named, OURS, Table};

/// The table's name.
const NAME: &str = "paper";

/// Measures the table.
///
/// Binds the calling thread to the first processor that it may run on, and makes calls from there;
/// the servers, and the processes that the bounds alternate with, run on the second or on the same.
/// All but what is being measured sleep.
pub fn measure(options: Options) -> Result<Table, Failure> {
    let mut table = Table::new(NAME);
    let (stages, missing) = options.stages()?;
    if let Some(why) = missing {
        for call in Call::ALL {
            table.skip(call.name(), OURS, why);
        }
    }
    let domain = Domain::new()?;
    let directory = tempfile::tempdir()?;
    let mut servers = Vec::new();
    for stage in &stages {
        let directory = directory.path().join(stage.processors.to_string());
        servers.push(Bound::start(&domain, &directory, stage.there)?);
    }
    let mut tallies = vec![vec![Tally::default(); Call::ALL.len()]; stages.len()];
    for _ in 0..options.rounds {
        for ((stage, server), tallies) in stages.iter().zip(&servers).zip(&mut tallies) {
            for (call, tally) in Call::ALL.into_iter().zip(tallies) {
                let plan = plan(stage, call);
                tally.add(stage.beside_bound(|| Ok(server.measure(call, plan)?))?);
            }
        }
    }
    for (stage, tallies) in stages.iter().zip(&tallies) {
        for (call, tally) in Call::ALL.into_iter().zip(tallies) {
            let case = Case::new(call.name(), stage, plan(stage, call));
            let bound = Named::bound(stage.bound_name());
            table.tell(&case, &Named::ours(), &bound, tally, Statistic::P50);
        }
    }
    Ok(table)
}

/// How a call is measured: about 10 ms of it in the best of cases.
pub fn plan(stage: &Stage, call: Call) -> Plan {
    match call {
        Call::OneM => stage.plan(200, 1),
        Call::SixtyFourK => stage.plan(2000, 1),
        _ if stage.processors == 1 => stage.plan(2000, 1),
        _ => stage.plan(200 * BATCH, BATCH),
    }
}
