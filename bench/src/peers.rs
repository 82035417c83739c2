//! The table `peers`: the same calls over other people's ways to call and over the kernel's own,
//! each beside Nearcall in the same round. The peer is the subject: its ratio says how many times
//! longer it takes.

use std::path::{Path, PathBuf};

use nearcall::Domain;

use crate::calls::{Bound, Call};
use crate::child::Failure;
use crate::paper;
use crate::raw::exchange::{Exchange, Way};
use crate::rival::{self, Rival};
use crate::rounds::{Statistic, Tally};
use crate::stage::{BATCH, Options, Stage};
use crate::statistics::{Plan, Samples};
use crate::table::{Case, Named, Table};

/// The table's name.
const NAME: &str = "peers";

/// Calls of the first look at a peer, which says how many it can be asked for.
const FIRST: u32 = 20;

/// How long a measurement of a peer is to take, about.
const MEASUREMENT_NS: f64 = 10e6;

/// A call that takes less is timed in batches.
const SHORT_NS: f64 = 2_000.0;

/// Somebody else's way to call.
enum Peer {
    Program(Rival),
    Raw(Exchange),
}

/// What is to be measured on a stage.
struct Bout<'s> {
    stage: &'s Stage,
    server: &'s Bound,
    named: Named,
    peer: Peer,
    /// One for each case.
    plans: Vec<Plan>,
    tallies: Vec<Tally>,
    /// Why it cannot go on.
    ended: Option<String>,
}

/// Measures the table. Who runs where: see `paper`. `program` is what `bench/peers` was compiled
/// to; without it, it is compiled now.
pub fn measure(options: Options, program: Option<&Path>) -> Result<Table, Failure> {
    let mut table = Table::new(NAME);
    // Before this thread, whose processors cargo inherits, is bound to one of them.
    let program = program.map_or_else(build, |program| Ok(program.to_owned()));
    let (stages, missing) = options.stages()?;
    if let Some(why) = missing {
        names().for_each(|name| skip(&mut table, name, why));
    }
    let domain = Domain::new()?;
    let directory = tempfile::tempdir()?;
    let mut servers = Vec::new();
    for stage in &stages {
        let directory = directory.path().join(stage.processors.to_string());
        servers.push(Bound::start(&domain, &directory, stage.there)?);
    }
    let mut bouts = Vec::new();
    for (stage, server) in stages.iter().zip(&servers) {
        for name in names() {
            match Bout::start(stage, server, name, &program) {
                Ok(bout) => bouts.push(bout),
                Err(error) => {
                    let why = format!("{} processors: {error}", stage.processors);
                    skip(&mut table, name, &why);
                }
            }
        }
    }
    for _ in 0..options.rounds {
        bouts.iter_mut().try_for_each(Bout::round)?;
    }
    bouts.iter().for_each(|bout| bout.tell(&mut table));
    Ok(table)
}

fn build() -> Result<PathBuf, Failure> {
    rival::build("bench-peers")
}

/// All peers.
fn names() -> impl Iterator<Item = &'static str> {
    rival::NAMES.into_iter().chain(Way::ASLEEP.into_iter().map(Way::name))
}

fn skip(table: &mut Table, name: &str, why: &str) {
    for call in Call::ALL {
        table.skip(call.name(), name, why);
    }
}

impl Peer {
    fn start(
        name: &str,
        stage: &Stage,
        program: &Result<PathBuf, Failure>,
    ) -> Result<(Named, Peer), Failure> {
        if let Some(way) = Way::ASLEEP.into_iter().find(|way| way.name() == name) {
            let exchange = Exchange::start(way, stage.there)?;
            return Ok((Named::kernel(name), Peer::Raw(exchange)));
        }
        let program: &Path = program.as_ref().map_err(|error| error.to_string())?;
        let rival = Rival::start(program, name, stage.here, stage.there)?;
        let named = Named { name: name.to_owned(), version: rival.version().to_owned() };
        Ok((named, Peer::Program(rival)))
    }

    fn measure(&mut self, call: Call, plan: Plan) -> Result<Samples, Failure> {
        match self {
            Peer::Program(rival) => rival.measure(call.name(), plan),
            Peer::Raw(exchange) => exchange.measure(call, plan),
        }
    }
}

impl<'s> Bout<'s> {
    fn start(
        stage: &'s Stage,
        server: &'s Bound,
        name: &str,
        program: &Result<PathBuf, Failure>,
    ) -> Result<Bout<'s>, Failure> {
        let (named, mut peer) = Peer::start(name, stage, program)?;
        let mut plans = Vec::new();
        for call in Call::ALL {
            let first = peer.measure(call, stage.plan(FIRST, 1))?;
            plans.push(plan(stage, first.p50_ns()));
        }
        let tallies = vec![Tally::default(); Call::ALL.len()];
        Ok(Bout { stage, server, named, peer, plans, tallies, ended: None })
    }

    /// One round of every case. A peer that fails is out; Nearcall is not to fail.
    fn round(&mut self) -> Result<(), Failure> {
        let cases = Call::ALL.into_iter().zip(&self.plans).zip(&mut self.tallies);
        for ((call, plan), tally) in cases {
            if self.ended.is_some() {
                break;
            }
            let ours = paper::plan(self.stage, call);
            let mut failed = None;
            let round = self.stage.beside(
                || {
                    let measured = self.peer.measure(call, *plan);
                    measured.inspect_err(|error| failed = Some(error.to_string()))
                },
                || Ok(self.server.measure(call, ours)?),
            );
            match (round, failed) {
                (_, Some(why)) => self.ended = Some(why),
                (round, None) => tally.add(round?),
            }
        }
        Ok(())
    }

    fn tell(&self, table: &mut Table) {
        if let Some(why) = &self.ended {
            skip(table, &self.named.name, why);
            return;
        }
        for ((call, plan), tally) in Call::ALL.into_iter().zip(&self.plans).zip(&self.tallies) {
            let case = Case::new(call.name(), self.stage, *plan);
            table.tell(&case, &self.named, &Named::ours(), tally, Statistic::P50);
        }
    }
}

/// How a peer is measured whose calls take so long.
fn plan(stage: &Stage, call_ns: f64) -> Plan {
    let calls = (MEASUREMENT_NS / call_ns).clamp(f64::from(FIRST), 2000.0) as u32;
    if call_ns < SHORT_NS {
        return stage.plan(100 * BATCH, BATCH);
    }
    stage.plan(calls, 1)
}
