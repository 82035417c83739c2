//! The table `paper`: what LRPC's tables and figures show, between two processes, on two
//! processors and on one, each beside what the processors can do at all.
//!
//! | LRPC | here |
//! |---|---|
//! | Table II: Null beside the minimum of the machine | `null`, and its ratio to the bound |
//! | Table IV: Null, Add, BigIn, BigInOut | `null`, `add`, `bigin`, `biginout` |
//! | Table V: beside a procedure call | `null` of `procedure-call` |
//! | section 2.2 and Fig. 1: which calls, how long | `mix`, replayed |
//! | Fig. 2: calls a second on 1, 2, … processors | `callers-1`, `callers-2`, … |
//!
//! Beside callers stand as many pairs of bare processes (`raw-yield`), each pair on one of their
//! processors: what calls would take that are served where they are made.
//!
//! And three of long arguments. Table I counts calls of other people's machines; Table III, the
//! copies, is a property of the stubs, and what a copy costs is in `size`; the parts of Table V are
//! the table `cost`.

use std::convert::Infallible;
use std::hint::black_box;

use nearcall::Domain;
use nearcall_os::processor;

use crate::callers::{Alternating, CALLING_NS, Callers, ROUND_TRIPS};
use crate::calls::{Bound, Call};
use crate::child::Failure;
use crate::raw::yielding;
use crate::rounds::{Statistic, Tally};
use crate::stage::{BATCH, Options, Stage};
use crate::statistics::{Plan, Samples, median};
use crate::table::{Case, Named, OURS, Table};
use crate::workload::{self, Workload};

/// The table's name.
const NAME: &str = "paper";

/// Most callers of Fig. 2, whose machine had four processors.
const CALLERS_MAX: usize = 4;

/// A stage with its servers, and the rounds so far.
struct Set {
    stage: Stage,
    server: Bound,
    workload: Workload,
    calls: [Tally; Call::ALL.len()],
    mix: Tally,
}

/// Measures the table.
///
/// Binds the calling thread to the first processor that it may run on, and makes calls from there;
/// the servers, and the processes that the bounds alternate with, run on the second or on the same.
/// All but what is being measured sleep.
pub fn measure(options: Options) -> Result<Table, Failure> {
    let mut table = Table::new(NAME);
    let directory = tempfile::tempdir()?;
    let places = processor::allowed();
    let wanted = options.processors.map_or(CALLERS_MAX, |count| count as usize);
    let places = &places[..places.len().min(wanted).min(CALLERS_MAX)];
    let callers = Callers::start(&directory.path().join("callers"), places)?;
    let alternating = Alternating::start(places)?;
    let (stages, missing) = options.stages()?;
    if let Some(why) = missing {
        let names = Call::ALL.into_iter().map(Call::name).chain([workload::CASE]);
        names.for_each(|name| table.skip(name, OURS, why));
    }
    let domain = Domain::new()?;
    let mut sets = Vec::new();
    for stage in stages {
        let place = directory.path().join(stage.processors.to_string());
        let server = Bound::start(&domain, &place.join("calls"), stage.there)?;
        let workload = Workload::start(&domain, &place.join("workload"), stage.there)?;
        let (calls, mix) = Default::default();
        sets.push(Set { stage, server, workload, calls, mix });
    }
    for _ in 0..options.rounds {
        sets.iter_mut().try_for_each(Set::round)?;
    }
    sets.iter().for_each(|set| set.tell(&mut table));
    if !sets.is_empty() {
        count((&callers, &alternating), places.len(), options, &mut table)?;
    }
    Ok(table)
}

impl Set {
    fn round(&mut self) -> Result<(), Failure> {
        let Set { stage, server, workload, .. } = self;
        for (call, tally) in Call::ALL.into_iter().zip(&mut self.calls) {
            let plan = plan(stage, call);
            tally.add(stage.beside_bound(|| Ok(server.measure(call, plan)?))?);
        }
        let plan = stage.plan_short();
        self.mix.add(stage.beside_bound(|| Ok(workload.measure(plan)?))?);
        Ok(())
    }

    fn tell(&self, table: &mut Table) {
        let stage = &self.stage;
        let bound = Named::bound(stage.bound_name());
        for (call, tally) in Call::ALL.into_iter().zip(&self.calls) {
            let case = Case::new(call.name(), stage, plan(stage, call));
            table.tell(&case, &Named::ours(), &bound, tally, Statistic::P50);
        }
        let case = Case::new(workload::CASE, stage, stage.plan_short());
        table.tell(&case, &Named::ours(), &bound, &self.mix, Statistic::P50);
    }
}

/// What is no round: a call within the process, and callers on several processors.
fn count(
    (callers, alternating): (&Callers, &Alternating),
    callers_max: usize,
    options: Options,
    table: &mut Table,
) -> Result<(), Failure> {
    let call = procedure_call().p50_ns();
    table.count("null", &Named::bound("procedure-call"), "ns", call);
    // A run that is only to show that it works is short.
    let is_short = options.calls_max.is_some();
    let part = if is_short { 100 } else { 1 };
    for count in 1..=callers_max {
        let rates: Vec<f64> = (0..options.rounds)
            .map(|_| callers.measure(count, CALLING_NS / part))
            .collect::<Result<_, _>>()?;
        let case = format!("callers-{count}");
        table.count(&case, &Named::ours(), "calls/s", median(&rates).round());
        let rates: Vec<f64> = (0..options.rounds)
            .map(|_| alternating.measure(count, ROUND_TRIPS / part as u32))
            .collect::<Result<_, _>>()?;
        table.count(&case, &Named::bound(yielding::NAME), "calls/s", median(&rates).round());
    }
    if callers_max == 1 && options.processors != Some(1) {
        table.skip("callers-2", OURS, "there is one processor for callers");
    }
    Ok(())
}

/// A call that stays in the process, to a procedure that the compiler cannot see.
fn procedure_call() -> Samples {
    let add: fn(i32, i32) -> i32 = black_box(i32::wrapping_add);
    let samples = Plan::new(20_000 * BATCH, BATCH).time(|| {
        black_box(add(black_box(2), black_box(3)));
        Ok::<(), Infallible>(())
    });
    let Ok(samples) = samples;
    samples
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
