//! The table `policy`: what waiting costs, and whom. A Null where both sides have a processor each
//! or one between them; where others want the processors; where the client thinks between two
//! calls; after a second of nothing.
//!
//! | case | subject | against | ratio of |
//! |---|---|---|---|
//! | `free`, `shared` | a Null | the bound | p50 |
//! | `hog-…` | a Null beside hogs | the same without hogs | p99 |
//! | | a Null beside hogs | `raw-futex` without hogs | mean |
//! | | `raw-futex` beside hogs | the same without hogs | mean |
//! | `think-…` | a Null after so long a thought | `raw-futex` after such a thought | p50 |
//! | `in-turn` | a Null to each of two servers of one processor by turns | `raw-futex` so | p50 |
//! | `asleep` | a Null to a sleeper that may run where the client does | `raw-futex` | p50 |
//! | `asleep-leaf` | the same, of a procedure that says it starts no threads | `raw-futex` | p50 |
//! | `idle-1s` | the first Null after a second | `raw-futex` after another | p50 |
//!
//! `raw-futex` is what the kernel does for two processes that do not spin. `idle-1s` also counts
//! the processor time that the server takes in such a second.

use std::cell::Cell;
use std::time::Duration;

use nearcall::{CallError, Domain};
use nearcall_os::clock;

use crate::calls::stubs::calls::CallsClient;
use crate::calls::{Bound, Call};
use crate::child::Failure;
use crate::hog::Hog;
use crate::raw::exchange::{Exchange, Way};
use crate::rounds::{Round, Statistic, Tally};
use crate::stage::{Options, Stage, settle};
use crate::statistics::{Plan, Samples, median};
use crate::table::{Case, Named, OURS, Table};

/// The table's name.
const NAME: &str = "policy";

/// How long a measurement beside hogs takes: many of the slices in which a processor is shared.
const HOGGED_NS: u64 = 150_000_000;

/// Most calls of such a measurement: more than fit into its time.
const HOGGED_CALLS: u32 = 2_000_000;

/// Who competes for what.
const HOGS: [(&str, u32, [bool; 2]); 4] = [
    ("hog-client", 2, [true, false]),
    ("hog-server", 2, [false, true]),
    ("hog-both", 2, [true, true]),
    ("hog", 1, [true, false]),
];

/// Names and nanoseconds of thoughts, and how many calls are measured.
const THOUGHTS: [(&str, u64, u32); 4] = [
    ("think-0", 0, 2000),
    ("think-10us", 10_000, 1000),
    ("think-100us", 100_000, 300),
    ("think-1ms", 1_000_000, 40),
];

const IDLE: &str = "idle-1s";

/// Two servers of one processor are called by turns: whichever was called last polls there.
const IN_TURN: (&str, u32) = ("in-turn", 1000);

/// The server sleeps, and may have the caller's processor; where it may not is `think-1ms`.
const ASLEEP: (&str, u64, u32) = ("asleep", 1_000_000, 40);

/// The same for a leaf procedure.
const ASLEEP_LEAF: (&str, u64, u32) = ("asleep-leaf", 1_000_000, 40);

/// A call without arguments and results.
type Null = fn(&CallsClient) -> Result<(), CallError>;

/// A second of nothing.
const NOTHING: Duration = Duration::from_secs(1);

/// Rounds of it.
const IDLE_ROUNDS: u32 = 5;

/// A server of each kind.
struct Servers<'s> {
    stage: &'s Stage,
    ours: Bound,
    futex: Exchange,
}

/// What comes of hogs.
#[derive(Default)]
struct Hogged {
    null: Tally,
    null_beside_futex: Tally,
    futex: Tally,
}

/// Measures the table. Who runs where: see `paper`.
pub fn measure(options: Options) -> Result<Table, Failure> {
    let mut table = Table::new(NAME);
    let (stages, missing) = options.stages()?;
    if let Some(why) = missing {
        let hogs = HOGS.iter().filter(|(_, processors, _)| *processors == 2);
        let names =
            hogs.map(|(name, ..)| *name).chain(["free", IDLE, IN_TURN.0, ASLEEP.0, ASLEEP_LEAF.0]);
        let names = names.chain(THOUGHTS.iter().map(|(name, ..)| *name));
        names.for_each(|name| table.skip(name, OURS, why));
    }
    let domain = Domain::new()?;
    let directory = tempfile::tempdir()?;
    for stage in &stages {
        let directory = directory.path().join(stage.processors.to_string());
        let ours = Bound::start(&domain, &directory, stage.there)?;
        let futex = Exchange::start(Way::Futex, stage.there)?;
        let mut servers = Servers { stage, ours, futex };
        servers.undisturbed(options.rounds, &mut table)?;
        for (name, processors, hogs) in HOGS {
            if processors == stage.processors {
                servers.hogged(name, hogs, options.rounds, &mut table)?;
            }
        }
        for thought in THOUGHTS {
            servers.thinking(thought, CallsClient::null, options.rounds, &mut table)?;
        }
        servers.idle(options.rounds.min(IDLE_ROUNDS), &mut table)?;
        if stage.processors == 2 {
            let other = Bound::start(&domain, &directory.join("other"), stage.there)?;
            let other = (other, Exchange::start(Way::Futex, stage.there)?);
            servers.in_turn_with(other, options.rounds, &mut table)?;
            let directory = directory.join("anywhere");
            servers.ours = Bound::start_on(&domain, &directory, &[stage.here, stage.there])?;
            servers.thinking(ASLEEP, CallsClient::null, options.rounds, &mut table)?;
            servers.thinking(ASLEEP_LEAF, CallsClient::leaf, options.rounds, &mut table)?;
        }
    }
    Ok(table)
}

impl Servers<'_> {
    fn undisturbed(&self, rounds: u32, table: &mut Table) -> Result<(), Failure> {
        let stage = self.stage;
        let mut tally = Tally::default();
        let plan = stage.plan_short();
        for _ in 0..rounds {
            tally.add(stage.beside_bound(|| Ok(self.ours.measure(Call::Null, plan)?))?);
        }
        let name = if stage.processors == 1 { "shared" } else { "free" };
        let case = Case::new(name, stage, plan);
        let bound = Named::bound(stage.bound_name());
        table.tell(&case, &Named::ours(), &bound, &tally, Statistic::P50);
        Ok(())
    }

    fn hogged(
        &mut self,
        name: &str,
        hogs: [bool; 2],
        rounds: u32,
        table: &mut Table,
    ) -> Result<(), Failure> {
        let mut hogged = Hogged::default();
        for _ in 0..rounds {
            self.hogged_round(hogs, &mut hogged)?;
        }
        let case = Case::new(name, self.stage, self.hogged_plan());
        let (ours, futex) = (Named::ours(), Named::kernel(Way::Futex.name()));
        table.tell(&case, &ours, &ours, &hogged.null, Statistic::P99);
        table.tell(&case, &ours, &futex, &hogged.null_beside_futex, Statistic::Mean);
        table.tell(&case, &futex, &futex, &hogged.futex, Statistic::Mean);
        Ok(())
    }

    /// Everything without hogs, then with them, between two looks at where the processors are.
    fn hogged_round(&mut self, hogs: [bool; 2], hogged: &mut Hogged) -> Result<(), Failure> {
        let before = self.stage.place()?;
        let null_alone = self.hogged_null()?;
        let futex_alone = self.hogged_futex()?;
        let places = [self.stage.here, self.stage.there];
        let wanted = places.into_iter().zip(hogs).filter(|(_, is_wanted)| *is_wanted);
        let running: Vec<Hog> =
            wanted.map(|(place, _)| Hog::start(place)).collect::<Result<_, _>>()?;
        let null = self.hogged_null()?;
        let futex = self.hogged_futex()?;
        drop(running);
        let is_kept = self.stage.place()? == before;
        let round = |subject: &Samples, against: &Samples| {
            is_kept.then(|| Round::new(before, subject.clone(), against.clone()))
        };
        hogged.null.add(round(&null, &null_alone));
        hogged.null_beside_futex.add(round(&null, &futex_alone));
        hogged.futex.add(round(&futex, &futex_alone));
        Ok(())
    }

    fn hogged_plan(&self) -> Plan {
        Plan { warm_up: 100, ns_max: HOGGED_NS, ..self.stage.plan(HOGGED_CALLS, 1) }
    }

    fn hogged_null(&self) -> Result<Samples, Failure> {
        settle();
        Ok(self.ours.measure(Call::Null, self.hogged_plan())?)
    }

    fn hogged_futex(&mut self) -> Result<Samples, Failure> {
        settle();
        let plan = self.hogged_plan();
        self.futex.measure(Call::Null, plan)
    }

    fn thinking(
        &mut self,
        (name, thought_ns, calls): (&str, u64, u32),
        null: Null,
        rounds: u32,
        table: &mut Table,
    ) -> Result<(), Failure> {
        let stage = self.stage;
        let plan = stage.plan(calls, 1);
        let plan = Plan { warm_up: plan.warm_up.min(plan.batches), ..plan };
        let mut tally = Tally::default();
        for _ in 0..rounds {
            let (client, futex) = (self.ours.client(), &mut self.futex);
            tally.add(stage.beside(
                || Ok(plan.time_apart(|| think(thought_ns), || null(client))?),
                || plan.time_apart(|| think(thought_ns), || futex.once(0, 0)),
            )?);
        }
        let case = Case::new(name, stage, plan);
        let futex = Named::kernel(Way::Futex.name());
        table.tell(&case, &Named::ours(), &futex, &tally, Statistic::P50);
        Ok(())
    }

    fn in_turn_with(
        &mut self,
        (other, mut other_futex): (Bound, Exchange),
        rounds: u32,
        table: &mut Table,
    ) -> Result<(), Failure> {
        let (name, calls) = IN_TURN;
        let (stage, plan) = (self.stage, self.stage.plan(calls, 1));
        let mut tally = Tally::default();
        let is_others_turn = Cell::new(false);
        let pass = || is_others_turn.set(!is_others_turn.get());
        for _ in 0..rounds {
            let (clients, futex) = ([self.ours.client(), other.client()], &mut self.futex);
            tally.add(stage.beside(
                || Ok(plan.time_apart(pass, || clients[usize::from(is_others_turn.get())].null())?),
                || {
                    plan.time_apart(pass, || match is_others_turn.get() {
                        true => other_futex.once(0, 0),
                        false => futex.once(0, 0),
                    })
                },
            )?);
        }
        let case = Case::new(name, stage, plan);
        let futex = Named::kernel(Way::Futex.name());
        table.tell(&case, &Named::ours(), &futex, &tally, Statistic::P50);
        Ok(())
    }

    fn idle(&mut self, rounds: u32, table: &mut Table) -> Result<(), Failure> {
        let plan = Plan { warm_up: 0, ..self.stage.plan(1, 1) };
        let mut tally = Tally::default();
        let mut used_ns = Vec::new();
        for _ in 0..rounds {
            let before = self.stage.place()?;
            // A second for each: the first call of all wakes a processor that sleeps deeply.
            self.ours.measure(Call::Null, self.stage.plan(100, 1))?;
            std::thread::sleep(NOTHING);
            let null = self.ours.measure(Call::Null, plan)?;
            self.futex.measure(Call::Null, self.stage.plan(100, 1))?;
            let begin_ns = self.ours.server().link().ask(0)?;
            std::thread::sleep(NOTHING);
            let futex = self.futex.measure(Call::Null, plan)?;
            used_ns.push((self.ours.server().link().ask(0)? - begin_ns) as f64);
            let after = self.stage.place()?;
            tally.add((before == after).then(|| Round::new(before, null, futex)));
        }
        let case = Case::new(IDLE, self.stage, plan);
        let futex = Named::kernel(Way::Futex.name());
        table.tell(&case, &Named::ours(), &futex, &tally, Statistic::P50);
        let name = format!("{IDLE}-server-{}", self.stage.processors);
        table.count(&name, &Named::ours(), "processor-ns", median(&used_ns));
        Ok(())
    }
}

/// Keeps the processor busy for so long.
pub fn think(thought_ns: u64) {
    let begin_ns = clock::now_ns();
    while thought_ns > 0 && clock::now_ns() - begin_ns < thought_ns {
        std::hint::spin_loop();
    }
}
