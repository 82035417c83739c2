//! The table `floor`: what bare processes need for the same movement of cache lines, copies or
//! switches, and how near ours comes. Where a figure has a floor of its own that lies above what
//! one line or one copy suggests, this is the measurement that shows it.
//!
//! | case | floor | what it moves |
//! |---|---|---|
//! | `biginout`, `4k`, `64k` | `raw-copy` | bytes copied in on one processor and out on the other |
//! | `pipelined-8`, `-16`, `-64` | `raw-array` | so many lines under way at once |
//! | `asleep-leaf` | `raw-futex` | two switches on the caller's processor, after the same thought |
//!
//! Each floor also stands beside what its figure is relative to: `raw-1line`, one line alone, and a
//! wake-up of an idle processor.

use nearcall::Domain;

use crate::calls::{Bound, Call};
use crate::child::Failure;
use crate::outstanding::Several;
use crate::policy::think;
use crate::raw::array::{self, Array};
use crate::raw::exchange::{Exchange, Way};
use crate::rounds::{Statistic, Tally};
use crate::stage::{Options, Stage, settle};
use crate::table::{Case, Named, OURS, Table};

/// The table's name.
const NAME: &str = "floor";

/// What is copied.
const COPIED: [Call; 3] = [Call::BigInOut, Call::FourK, Call::SixtyFourK];

/// How many are under way.
const UNDER_WAY: [usize; 3] = [8, 16, 64];

/// What sleeps.
const ASLEEP: &str = "asleep-leaf";

/// For how long, nanoseconds.
const ASLEEP_NS: u64 = 1_000_000;

/// How often it is called.
const ASLEEP_CALLS: u32 = 40;

/// Measures the table, on two processors.
pub fn measure(options: Options) -> Result<Table, Failure> {
    let mut table = Table::new(NAME);
    let (stages, _) = Options { processors: Some(2), ..options }.stages()?;
    let Some(stage) = stages.first() else {
        let names = COPIED.map(Call::name).into_iter().map(str::to_owned);
        let names = names.chain(UNDER_WAY.map(pipelined)).chain([ASLEEP.to_owned()]);
        names.for_each(|name| {
            table.skip(&name, OURS, "two processors are needed and one is allowed");
        });
        return Ok(table);
    };
    let directory = tempfile::tempdir()?;
    let domain = Domain::new()?;
    let calls = Bound::start(&domain, &directory.path().join("calls"), stage.there)?;
    copies(stage, &calls, options.rounds, &mut table)?;
    let several = Several::start(stage, &domain, &directory.path().join("several"))?;
    lines(stage, &several, options.rounds, &mut table)?;
    let places = [stage.here, stage.there];
    let calls = Bound::start_on(&domain, &directory.path().join("anywhere"), &places)?;
    switches(stage, &calls, options.rounds, &mut table)?;
    Ok(table)
}

fn copies(stage: &Stage, calls: &Bound, rounds: u32, table: &mut Table) -> Result<(), Failure> {
    let floor = Named::bound(Way::Spin.name());
    for call in COPIED {
        let (mut ours, mut raw) = (Tally::default(), Tally::default());
        let plan = crate::paper::plan(stage, call);
        for _ in 0..rounds {
            // It polls as long as it lives.
            let mut copy = Exchange::start(Way::Spin, stage.there)?;
            raw.add(stage.beside_bound(|| copy.measure(call, plan))?);
            drop(copy);
            ours.add(stage.beside(
                || Ok(calls.measure(call, plan)?),
                || Exchange::start(Way::Spin, stage.there)?.measure(call, plan),
            )?);
        }
        let case = Case::new(call.name(), stage, plan);
        table.tell(&case, &Named::ours(), &floor, &ours, Statistic::P50);
        table.tell(&case, &floor, &Named::bound(stage.bound_name()), &raw, Statistic::P50);
    }
    Ok(())
}

fn lines(stage: &Stage, several: &Several, rounds: u32, table: &mut Table) -> Result<(), Failure> {
    let (array, floor) = (Array::start(stage.there)?, Named::bound(array::NAME));
    let plan = stage.plan_short();
    for count in UNDER_WAY {
        let (mut ours, mut raw) = (Tally::default(), Tally::default());
        for _ in 0..rounds {
            ours.add(
                stage.beside(|| Ok(several.always(count, plan)?), || array.measure(count, plan))?,
            );
            raw.add(stage.beside(|| array.measure(count, plan), || array.measure(1, plan))?);
        }
        let case = Case::new(pipelined(count), stage, plan);
        table.tell(&case, &Named::ours(), &floor, &ours, Statistic::P50);
        let alone = Named::bound(&format!("{} of 1", array::NAME));
        table.tell(&case, &floor, &alone, &raw, Statistic::P50);
    }
    Ok(())
}

fn switches(stage: &Stage, calls: &Bound, rounds: u32, table: &mut Table) -> Result<(), Failure> {
    let mut here = Exchange::start(Way::Futex, stage.here)?;
    let mut there = Exchange::start(Way::Futex, stage.there)?;
    let plan = stage.plan(ASLEEP_CALLS, 1);
    let plan = crate::statistics::Plan { warm_up: plan.warm_up.min(plan.batches), ..plan };
    let (mut ours, mut raw) = (Tally::default(), Tally::default());
    let thought = || think(ASLEEP_NS);
    for _ in 0..rounds {
        let client = calls.client();
        ours.add(stage.beside(
            || Ok(plan.time_apart(thought, || client.leaf())?),
            || plan.time_apart(thought, || here.once(0, 0)),
        )?);
        settle();
        raw.add(stage.beside(
            || plan.time_apart(thought, || here.once(0, 0)),
            || plan.time_apart(thought, || there.once(0, 0)),
        )?);
    }
    let case = Case::new(ASLEEP, stage, plan);
    let floor = Named::kernel("raw-futex here");
    table.tell(&case, &Named::ours(), &floor, &ours, Statistic::P50);
    table.tell(&case, &floor, &Named::kernel(Way::Futex.name()), &raw, Statistic::P50);
    Ok(())
}

fn pipelined(count: usize) -> String {
    format!("pipelined-{count}")
}
