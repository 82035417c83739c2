//! The table `floor`: what bare processes need for the same movement of cache lines, copies or
//! switches, and how near ours comes. Where a figure has a floor of its own that lies above what
//! one line or one copy suggests, this is the measurement that shows it.
//!
//! | case | floor | what it moves |
//! |---|---|---|
//! | `null`, `pipelined-8`, `-16`, `-64` | `raw-heads` | A-stacks, claims, locked operations |
//! | `pipelined-8`, `-16`, `-64` | `raw-array` | so many lines under way at once |
//! | `biginout`, `4k`, `64k` | `raw-copy` | bytes copied in on one processor and out on the other |
//! | `1m`, `4m` | `raw-stream` | bytes copied by both processors at once |
//! | `cold-64`, `-512` | `raw-rung` | two lines that were not polled, of many pages |
//! | `asleep-leaf` | `raw-futex` | two switches on the caller's processor, after the same thought |
//!
//! Each floor also stands beside what its figure is relative to: `raw-1line`, one line alone, a
//! copy within private memory, and a wake-up of an idle processor.

use std::path::Path;

use nearcall::Domain;

use crate::calls::{Bound, Call};
use crate::child::Failure;
use crate::outstanding::Several;
use crate::policy::think;
use crate::raw::array::{self, Array};
use crate::raw::exchange::{Exchange, Way};
use crate::raw::heads::{self, Heads};
use crate::raw::rung::{self, Rung};
use crate::raw::streamed::{self, Streamed};
use crate::rounds::{Statistic, Tally};
use crate::scale::{self, Crowd};
use crate::size;
use crate::stage::{Options, Stage, settle};
use crate::statistics::{Plan, Samples};
use crate::table::{Case, Named, OURS, Table};

/// The table's name.
const NAME: &str = "floor";

/// What is copied, one side after the other.
const COPIED: [Call; 3] = [Call::BigInOut, Call::FourK, Call::SixtyFourK];

/// What is copied by both sides at once.
const STREAMED: [(&str, usize); 2] = [("1m", 1 << 20), ("4m", 4 << 20)];

/// How many are under way.
const UNDER_WAY: [usize; 3] = [8, 16, 64];

/// Numbers of bindings that are called in turn.
const COLD: [usize; 2] = [64, 512];

/// What sleeps.
const ASLEEP: &str = "asleep-leaf";

/// For how long, nanoseconds.
const ASLEEP_NS: u64 = 1_000_000;

/// How often it is called.
const ASLEEP_CALLS: u32 = 40;

/// Where all of it is measured.
struct Floors<'s> {
    stage: &'s Stage,
    domain: &'s Domain,
    directory: &'s Path,
    rounds: u32,
    table: &'s mut Table,
}

/// Measures the table, on two processors.
pub fn measure(options: Options) -> Result<Table, Failure> {
    let mut table = Table::new(NAME);
    // Before the servers are started, which inherit it: a binding needs a few descriptors.
    scale::allow_descriptors()?;
    let (stages, _) = Options { processors: Some(2), ..options }.stages()?;
    let Some(stage) = stages.first() else {
        cases().iter().for_each(|name| {
            table.skip(name, OURS, "two processors are needed and one is allowed");
        });
        return Ok(table);
    };
    let (directory, domain) = (tempfile::tempdir()?, Domain::new()?);
    let directory = directory.path();
    let rounds = options.rounds;
    let mut floors = Floors { stage, domain: &domain, directory, rounds, table: &mut table };
    let calls = Bound::start(&domain, &directory.join("calls"), stage.there)?;
    floors.null(&calls)?;
    floors.copies(&calls)?;
    floors.streams(&calls)?;
    floors.lines()?;
    floors.rings()?;
    floors.switches()?;
    Ok(table)
}

/// Their names.
fn cases() -> Vec<String> {
    let copied = COPIED.map(Call::name).into_iter().chain(STREAMED.map(|(name, _)| name));
    let named = [Call::Null.name(), ASLEEP].into_iter().chain(copied).map(str::to_owned);
    named.chain(UNDER_WAY.map(pipelined)).chain(COLD.map(cold)).collect()
}

impl Floors<'_> {
    /// Ours beside its floor, and the floor beside what the figure is relative to.
    fn tell(&mut self, case: &Case, floor: &Named, [ours, raw]: [&Tally; 2], against: &Named) {
        self.table.tell(case, &Named::ours(), floor, ours, Statistic::P50);
        self.table.tell(case, floor, against, raw, Statistic::P50);
    }

    fn null(&mut self, calls: &Bound) -> Result<(), Failure> {
        let stage = self.stage;
        let (plan, bare) = (stage.plan_short(), Heads::start(stage.there)?);
        let (mut ours, mut raw) = (Tally::default(), Tally::default());
        for _ in 0..self.rounds {
            raw.add(stage.beside_bound(|| bare.measure(1, plan))?);
            let null = || Ok(calls.measure(Call::Null, plan)?);
            ours.add(stage.beside(null, || bare.measure(1, plan))?);
        }
        let case = Case::new(Call::Null.name(), stage, plan);
        let floor = Named::bound(heads::NAME);
        self.tell(&case, &floor, [&ours, &raw], &Named::bound(stage.bound_name()));
        Ok(())
    }

    fn copies(&mut self, calls: &Bound) -> Result<(), Failure> {
        let (stage, floor) = (self.stage, Named::bound(Way::Spin.name()));
        for call in COPIED {
            let (mut ours, mut raw) = (Tally::default(), Tally::default());
            let plan = crate::paper::plan(stage, call);
            for _ in 0..self.rounds {
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
            self.tell(&case, &floor, [&ours, &raw], &Named::bound(stage.bound_name()));
        }
        Ok(())
    }

    fn streams(&mut self, calls: &Bound) -> Result<(), Failure> {
        let (stage, bare) = (self.stage, Streamed::start(self.stage.there)?);
        let source = vec![7; streamed::BYTES_MAX];
        let mut target = vec![8; streamed::BYTES_MAX];
        for (name, bytes) in STREAMED {
            let (source, target) = (&source[..bytes], &mut target[..bytes]);
            let plan = size::plan(stage, bytes as u64);
            let (mut ours, mut raw) = (Tally::default(), Tally::default());
            for _ in 0..self.rounds {
                let call = || Ok(calls.measure_in(source, plan)?);
                ours.add(stage.beside(call, || bare.measure(source, plan))?);
                let copy = || Ok(size::copy(source, target, plan));
                raw.add(stage.beside(|| bare.measure(source, plan), copy)?);
            }
            let case = Case { bytes: Some(bytes as u64), ..Case::new(name, stage, plan) };
            let floor = Named::bound(streamed::NAME);
            self.tell(&case, &floor, [&ours, &raw], &Named::bound(size::AGAINST));
        }
        Ok(())
    }

    fn lines(&mut self) -> Result<(), Failure> {
        let stage = self.stage;
        let several = Several::start(stage, self.domain, &self.directory.join("several"))?;
        let (array, bare) = (Array::start(stage.there)?, Heads::start(stage.there)?);
        let plan = stage.plan_short();
        for count in UNDER_WAY {
            let case = Case::new(pipelined(count), stage, plan);
            let line = |count| array.measure(count, plan);
            self.under_way(&several, &case, array::NAME, (count, &line))?;
            let head = |count| bare.measure(count, plan);
            self.under_way(&several, &case, heads::NAME, (count, &head))?;
        }
        Ok(())
    }

    fn under_way(
        &mut self,
        several: &Several,
        case: &Case,
        name: &str,
        (count, bare): (usize, &dyn Fn(usize) -> Result<Samples, Failure>),
    ) -> Result<(), Failure> {
        let (stage, plan) = (self.stage, self.stage.plan_short());
        let (mut ours, mut raw) = (Tally::default(), Tally::default());
        for _ in 0..self.rounds {
            ours.add(stage.beside(|| Ok(several.always(count, plan)?), || bare(count))?);
            raw.add(stage.beside(|| bare(count), || bare(1))?);
        }
        let alone = Named::bound(&format!("{name} of 1"));
        self.tell(case, &Named::bound(name), [&ours, &raw], &alone);
        Ok(())
    }

    fn rings(&mut self) -> Result<(), Failure> {
        let stage = self.stage;
        let plan = stage.plan_short();
        let mut crowd = Crowd::start(stage, self.domain, self.directory.join("crowd"))?;
        for count in COLD {
            crowd.grow(count)?;
            let bare = Rung::start(stage.there, count)?;
            let (mut ours, mut raw) = (Tally::default(), Tally::default());
            for _ in 0..self.rounds {
                ours.add(stage.beside(|| Ok(crowd.cold(plan)?), || bare.measure(plan))?);
                raw.add(stage.beside_bound(|| bare.measure(plan))?);
            }
            let case = Case::new(cold(count), stage, plan);
            let floor = Named::bound(rung::NAME);
            self.tell(&case, &floor, [&ours, &raw], &Named::bound(stage.bound_name()));
        }
        Ok(())
    }

    fn switches(&mut self) -> Result<(), Failure> {
        let stage = self.stage;
        let places = [stage.here, stage.there];
        let calls = Bound::start_on(self.domain, &self.directory.join("anywhere"), &places)?;
        let mut here = Exchange::start(Way::Futex, stage.here)?;
        let mut there = Exchange::start(Way::Futex, stage.there)?;
        let plan = stage.plan(ASLEEP_CALLS, 1);
        let plan = Plan { warm_up: plan.warm_up.min(plan.batches), ..plan };
        let (mut ours, mut raw) = (Tally::default(), Tally::default());
        let thought = || think(ASLEEP_NS);
        for _ in 0..self.rounds {
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
        self.tell(&case, &floor, [&ours, &raw], &Named::kernel(Way::Futex.name()));
        Ok(())
    }
}

fn pipelined(count: usize) -> String {
    format!("pipelined-{count}")
}

fn cold(count: usize) -> String {
    format!("cold-{count}")
}
