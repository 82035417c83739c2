//! The table `urpc`: URPC's Figs. 3 and 4, a Null from T threads of one client at once, beside a
//! Null from one kernel thread that calls alone.
//!
//! | case | one operation is | subjects |
//! |---|---|---|
//! | `throughput-T` | a call of T at once: its part of it | FastThreads, kernel threads, async |
//! | `crowded-T` | the same over five A-stacks, as many as a procedure has of itself | the same |
//! | `latency-T` | a call, as the thread sees it that makes it | the same |
//! | `dispatch-T` | a wait of one of T for what is there when it is looked for | FastThreads |
//! | `asleep-T` | a call of T at once to a sleeper: its part of it | FastThreads, urgently or not |
//!
//! Counted: the instructions of a call's components, as Table II has them (`components`).
//!
//! The client has one processor (C = 1), and so has the server (S = 1) or has not (S = 0): then
//! both share the client's. Latencies are timed one by one, so that they contain a reading of the
//! clock.

mod asleep;
pub mod components;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use futures::executor::block_on;
use futures::stream::{FuturesUnordered, TryStreamExt};
use nearcall::{CallError, Domain};
use nearcall_os::clock;
use nearcall_threads::{Awaited, Idle, Word, fork, run, wait_for};

use crate::calls::stubs::calls::{CallsClient, SEVERAL, SeveralClient};
use crate::calls::{self, imported};
use crate::child::{Child, Failure};
use crate::outstanding;
use crate::rounds::{Statistic, Tally};
use crate::stage::{BATCH, Options, Stage};
use crate::statistics::{Plan, Samples};
use crate::table::{Case, Named, OURS, Table};

/// The table's name.
const NAME: &str = "urpc";

/// Calls on FastThreads, in every table.
const FAST: &str = "nearcall-fastthreads";

/// The same, each of which is to begin at once.
const URGENT: &str = "nearcall-fastthreads-urgent";

/// Calls on kernel threads, in this one.
const KERNEL: &str = "nearcall-kernel-threads";

/// Calls of tasks that are awaited, of one kernel thread.
const ASYNC: &str = "nearcall-async";

/// Numbers of threads; as many as the interface has A-stacks, at most.
const THREADS: &[u32] = &[1, 2, 4, 8, 16, 64];

/// The same where there are more of them than A-stacks.
const CROWDS: &[u32] = &[8, 64];

/// Processors of client and server that are not measured, and why.
const NOT_YET: [(&str, &str); 3] = [
    ("C=1,S=2", THREE_PROCESSORS),
    ("C=2,S=0", "the client's FastThreads are measured on one processor only so far"),
    ("C=2,S=1", THREE_PROCESSORS),
];

/// Why kernel threads are no crowd where the server has a processor of its own.
const NO_CROWD: &str = "the kernel lets each run for longer than all its calls take";

const THREE_PROCESSORS: &str = "three processors are needed, and a stage has two at most";

/// A client with a procedure that does nothing.
trait Null: Send + Sync + 'static {
    fn null(&self) -> Result<(), CallError>;

    fn null_awaited(&self) -> impl Future<Output = Result<(), CallError>>;
}

macro_rules! null {
    ($client:ty) => {
        impl Null for $client {
            #[inline(always)]
            fn null(&self) -> Result<(), CallError> {
                <$client>::null(self)
            }

            #[inline(always)]
            fn null_awaited(&self) -> impl Future<Output = Result<(), CallError>> {
                self.awaiting().null()
            }
        }
    };
}

null!(SeveralClient);
null!(CallsClient);

/// How one subject does one case.
type Measure<C> = fn(&Arc<C>, u32, Plan) -> Result<Samples, Failure>;

/// A line of the table, for each number of threads.
struct Line<C> {
    case: &'static str,
    subject: &'static str,
    measure: Measure<C>,
    /// Calls that are timed as one.
    batch: u32,
}

const LINES: [Line<SeveralClient>; 7] = [
    Line { case: "throughput", subject: FAST, measure: on_fastthreads, batch: BATCH },
    Line { case: "throughput", subject: KERNEL, measure: on_kernel_threads, batch: BATCH },
    Line { case: "throughput", subject: ASYNC, measure: by_tasks, batch: BATCH },
    Line { case: "latency", subject: FAST, measure: each_on_fastthreads, batch: 1 },
    Line { case: "latency", subject: KERNEL, measure: each_on_kernel_threads, batch: 1 },
    Line { case: "latency", subject: ASYNC, measure: each_by_tasks, batch: 1 },
    Line { case: "dispatch", subject: FAST, measure: dispatched, batch: BATCH },
];

const CROWDED: [Line<CallsClient>; 3] = [
    Line { case: "crowded", subject: FAST, measure: on_fastthreads, batch: BATCH },
    Line { case: "crowded", subject: KERNEL, measure: on_kernel_threads, batch: BATCH },
    Line { case: "crowded", subject: ASYNC, measure: by_tasks, batch: BATCH },
];

/// What a call from FastThreads is to take at most, over a Null: processors, threads, ratio.
const LIMITS: [(u32, u32, f64); 4] = [(2, 8, 0.45), (2, 64, 0.2), (1, 16, 0.10), (1, 64, 0.04)];

/// The same of an awaited Null that is alone.
const AWAITED_LIMIT: f64 = 1.5;

impl<C> Line<C> {
    /// What its ratio is to be at most, if there is such a figure.
    fn limit(&self, threads: u32, processors: u32) -> Option<f64> {
        let limit = |&(on, of, _): &(u32, u32, f64)| (on, of) == (processors, threads);
        match (self.case, self.subject) {
            ("throughput", FAST) => LIMITS.iter().find(|at| limit(at)).map(|(.., ratio)| *ratio),
            ("throughput", ASYNC) if threads == 1 && processors == 2 => Some(AWAITED_LIMIT),
            _ => None,
        }
    }
}

/// Measures the table.
pub fn measure(options: Options) -> Result<Table, Failure> {
    let mut table = Table::new(NAME);
    if options.processors != Some(1) {
        // Before this thread is bound to one processor.
        components::count(&mut table)?;
    }
    let (stages, missing) = options.stages()?;
    for (processors, why) in NOT_YET {
        table.skip(processors, FAST, why);
    }
    if let Some(why) = missing {
        LINES.iter().for_each(|line| table.skip(line.case, line.subject, why));
        CROWDED.iter().for_each(|line| table.skip(line.case, line.subject, why));
        [FAST, URGENT].iter().for_each(|subject| table.skip(asleep::CASE, subject, why));
    }
    let domain = Domain::new()?;
    let directory = tempfile::tempdir()?;
    for stage in &stages {
        let directory = directory.path().join(stage.processors.to_string());
        measure_on(stage, options.rounds, &domain, &directory, &mut table)?;
        if stage.processors == 2 {
            let directory = directory.join(asleep::CASE);
            asleep::measure(stage, options.rounds, &domain, &directory, &mut table)?;
        }
    }
    Ok(table)
}

fn measure_on(
    stage: &Stage,
    rounds: u32,
    domain: &Domain,
    directory: &Path,
    table: &mut Table,
) -> Result<(), Failure> {
    let several = directory.join("several");
    let server: Child = calls::start(outstanding::ROLE, &several, stage.there)?;
    let client = || Ok(SeveralClient::new(imported(domain, &several, &SEVERAL)?));
    measure_lines(LINES.iter(), THREADS, client, (stage, rounds), table)?;
    drop(server);
    let five = directory.join("five");
    let server: Child = calls::start(calls::ROLE, &five, stage.there)?;
    let client = || calls::import(domain, &five);
    let is_crowd = |line: &&Line<CallsClient>| stage.processors == 1 || line.subject != KERNEL;
    measure_lines(CROWDED.iter().filter(is_crowd), CROWDS, client, (stage, rounds), table)?;
    if stage.processors != 1 {
        table.skip("crowded", KERNEL, NO_CROWD);
    }
    drop(server);
    Ok(())
}

fn measure_lines<'l, C: Null>(
    lines: impl Iterator<Item = &'l Line<C>>,
    threads: &[u32],
    client: impl Fn() -> Result<C, Failure>,
    (stage, rounds): (&Stage, u32),
    table: &mut Table,
) -> Result<(), Failure> {
    for line in lines {
        let plan = stage.plan(200 * BATCH, line.batch);
        for &threads in threads {
            // Over a binding of its own: one that more kernel threads have used at once than it has
            // A-stacks keeps those for nobody from then on.
            let client = Arc::new(client()?);
            let mut tally = Tally::default();
            for _ in 0..rounds {
                tally.add(stage.beside(
                    || (line.measure)(&client, threads, plan),
                    || Ok(plan.time(|| client.null())?),
                )?);
            }
            let case = Case::new(format!("{}-{threads}", line.case), stage, plan);
            let case = Case { limit: line.limit(threads, stage.processors), ..case };
            let subject = Named::bound(line.subject);
            table.tell(&case, &subject, &Named::bound(OURS), &tally, Statistic::P50);
        }
    }
    Ok(())
}

/// What threads have done together.
struct Together {
    plan: Plan,
    calls: AtomicU32,
    /// When each batch was complete, the warm-up as the first.
    stamps_ns: std::sync::Mutex<Vec<u64>>,
}

/// Counts a call: how many there are now.
type Count = fn(&AtomicU32) -> u32;

/// For threads of one kernel thread.
fn count_alone(calls: &AtomicU32) -> u32 {
    let made = calls.load(Relaxed) + 1;
    calls.store(made, Relaxed);
    made
}

/// For kernel threads.
fn count_together(calls: &AtomicU32) -> u32 {
    calls.fetch_add(1, Relaxed) + 1
}

impl Together {
    fn new(plan: Plan) -> Arc<Together> {
        let stamps_ns = std::sync::Mutex::new(Vec::with_capacity(plan.batches as usize + 1));
        Arc::new(Together { plan, calls: AtomicU32::new(0), stamps_ns })
    }

    /// One of the threads: calls until all together have made the plan's calls.
    fn call(&self, client: &impl Null, count: Count) -> Result<(), CallError> {
        loop {
            client.null()?;
            if self.note(count) {
                return Ok(());
            }
        }
    }

    /// The same of a task.
    async fn call_awaited(&self, client: &impl Null) -> Result<(), CallError> {
        loop {
            client.null_awaited().await?;
            if self.note(count_alone) {
                return Ok(());
            }
        }
    }

    /// A call has been made. True: no more are to be.
    fn note(&self, count: Count) -> bool {
        let (last, warm_up, batch) = (self.plan.calls(), self.plan.warm_up, self.plan.batch);
        assert!(batch.is_power_of_two(), "so that the end of a batch is seen without a division");
        let made = count(&self.calls);
        let is_batch = made.wrapping_sub(warm_up) & (batch - 1) == 0;
        if is_batch && (warm_up..=last).contains(&made) {
            self.stamps_ns.lock().expect("nobody panics").push(clock::now_ns());
        }
        made >= last
    }

    fn samples(&self) -> Samples {
        let mut stamps_ns = self.stamps_ns.lock().expect("nobody panics").clone();
        // Kernel threads may have come to the lock in another order.
        stamps_ns.sort_unstable();
        let apart = |pair: &[u64]| pair[1] - pair[0];
        Samples::new(self.plan.batch, stamps_ns.windows(2).map(apart).collect())
    }
}

/// Calls from so many FastThreads on this kernel thread.
fn on_fastthreads<C: Null>(client: &Arc<C>, threads: u32, plan: Plan) -> Result<Samples, Failure> {
    let together = Together::new(plan);
    let ours = Arc::clone(&together);
    fork_all(client, threads, move |client| ours.call(client, count_alone))?;
    Ok(together.samples())
}

/// The same, each call timed by itself.
fn each_on_fastthreads<C: Null>(
    client: &Arc<C>,
    threads: u32,
    plan: Plan,
) -> Result<Samples, Failure> {
    let plan = part_of(plan, threads);
    let parts = fork_all(client, threads, move |client| plan.time(|| client.null()))?;
    Ok(Samples::together(&parts))
}

/// What each of so many FastThreads does, all on this kernel thread.
fn fork_all<C: Null, T: Send + 'static>(
    client: &Arc<C>,
    threads: u32,
    body: impl Fn(&C) -> Result<T, CallError> + Send + Sync + 'static,
) -> Result<Vec<T>, Failure> {
    let (client, body) = (Arc::clone(client), Arc::new(body));
    let outcomes = run(move || {
        let fork_one = |_| {
            let (client, body) = (Arc::clone(&client), Arc::clone(&body));
            fork(move || body(&client))
        };
        let forked: Result<Vec<_>, _> = (0..threads).map(fork_one).collect();
        let joined = forked?.into_iter().map(|thread| thread.join().expect("it does not panic"));
        Ok::<_, nearcall_threads::ForkError>(joined.collect::<Result<Vec<T>, CallError>>())
    });
    Ok(outcomes???)
}

/// Calls from so many kernel threads, which share this one's processor.
fn on_kernel_threads<C: Null>(
    client: &Arc<C>,
    threads: u32,
    plan: Plan,
) -> Result<Samples, Failure> {
    let together = Together::new(plan);
    std::thread::scope(|scope| {
        let call = |_| scope.spawn(|| together.call(&**client, count_together));
        let spawned: Vec<_> = (0..threads).map(call).collect();
        spawned.into_iter().try_for_each(|thread| thread.join().expect("it does not panic"))
    })?;
    Ok(together.samples())
}

/// The same, each call timed by itself.
fn each_on_kernel_threads<C: Null>(
    client: &Arc<C>,
    threads: u32,
    plan: Plan,
) -> Result<Samples, Failure> {
    let plan = part_of(plan, threads);
    let parts = std::thread::scope(|scope| {
        let each = |_| scope.spawn(|| plan.time(|| client.null()));
        let spawned: Vec<_> = (0..threads).map(each).collect();
        let joined = spawned.into_iter().map(|thread| thread.join().expect("it does not panic"));
        joined.collect::<Result<Vec<_>, CallError>>()
    })?;
    Ok(Samples::together(&parts))
}

/// What each of so many makes of the plan.
fn part_of(plan: Plan, threads: u32) -> Plan {
    let batches = (plan.batches / threads).max(1);
    Plan { warm_up: (plan.warm_up / threads).max(1), batches, ..plan }
}

/// Calls of so many tasks, all on this thread.
fn by_tasks<C: Null>(client: &Arc<C>, tasks: u32, plan: Plan) -> Result<Samples, Failure> {
    let together = Together::new(plan);
    let all: FuturesUnordered<_> = (0..tasks).map(|_| together.call_awaited(&**client)).collect();
    block_on(all.try_collect::<()>())?;
    Ok(together.samples())
}

/// The same, each call timed by itself.
fn each_by_tasks<C: Null>(client: &Arc<C>, tasks: u32, plan: Plan) -> Result<Samples, Failure> {
    let plan = part_of(plan, tasks);
    let each = async || {
        let mut times_ns = Vec::with_capacity(plan.batches as usize);
        for call in 0..plan.warm_up + plan.batches {
            let begin_ns = clock::now_ns();
            client.null_awaited().await?;
            if call >= plan.warm_up {
                times_ns.push(clock::now_ns() - begin_ns);
            }
        }
        Ok::<_, CallError>(Samples::new(1, times_ns))
    };
    let all: FuturesUnordered<_> = (0..tasks).map(|_| each()).collect();
    Ok(Samples::together(&block_on(all.try_collect::<Vec<_>>())?))
}

/// What is there whenever it is looked for, and not before.
struct There;

impl Awaited for There {
    fn is_over(&self) -> bool {
        true
    }

    fn idle(&self, idle: &Idle<'_>) {
        idle.poll();
    }

    fn fall_asleep(&self) -> Option<Word<'_>> {
        None
    }

    fn wake_up(&self, _: bool) {}

    fn describe(&self) -> String {
        "nothing".to_owned()
    }
}

/// Waits of so many FastThreads as calls make them, without the calls.
fn dispatched<C>(_: &Arc<C>, threads: u32, plan: Plan) -> Result<Samples, Failure> {
    let together = Together::new(plan);
    let forks = Arc::clone(&together);
    let forked = run(move || {
        let forked = (0..threads).map(|_| {
            let ours = Arc::clone(&forks);
            let waits = move || loop {
                wait_for(&There, None);
                if ours.note(count_alone) {
                    break;
                }
            };
            fork(waits).map(drop)
        });
        forked.collect::<Result<(), _>>()
    });
    forked??;
    Ok(together.samples())
}
