//! A server that sleeps and may have the caller's processor: T FastThreads call it at once, a
//! millisecond after the last time (design note 0023). Put off, their calls share one reallocation
//! of the processor; made urgently, each has its own.

use std::path::Path;
use std::sync::Arc;

use nearcall::{CallError, Domain, urgently};
use nearcall_os::clock;
use nearcall_threads::{fork, run};

use super::{FAST, URGENT};
use crate::calls::stubs::calls::{SEVERAL, SeveralClient};
use crate::calls::{self, imported};
use crate::child::{Child, Failure};
use crate::outstanding;
use crate::policy::think;
use crate::rounds::{Statistic, Tally};
use crate::stage::Stage;
use crate::statistics::{Plan, Samples};
use crate::table::{Case, Named, OURS, Table};

/// The name of the cases, without the number of threads.
pub const CASE: &str = "asleep";

/// The pause before each time.
const THOUGHT_NS: u64 = 1_000_000;

/// Numbers of threads.
const THREADS: [u32; 4] = [1, 4, 16, 64];

/// Times in a round.
const TIMES: u32 = 40;

/// Measures both ways, beside a call that is made alone after the same pause.
pub fn measure(
    stage: &Stage,
    rounds: u32,
    domain: &Domain,
    directory: &Path,
    table: &mut Table,
) -> Result<(), Failure> {
    let processors = [stage.here, stage.there];
    let server: Child = calls::start_on(outstanding::ROLE, directory, &processors)?;
    let client = Arc::new(SeveralClient::new(imported(domain, directory, &SEVERAL)?));
    let plan = stage.plan(TIMES, 1);
    let plan = Plan { warm_up: plan.warm_up.min(plan.batches), ..plan };
    for (subject, is_urgent) in [(FAST, false), (URGENT, true)] {
        for threads in THREADS {
            let mut tally = Tally::default();
            for _ in 0..rounds {
                tally.add(stage.beside(
                    || at_once(&client, threads, is_urgent, plan),
                    || Ok(plan.time_apart(|| think(THOUGHT_NS), || client.leaf())?),
                )?);
            }
            let case = Case::new(format!("{CASE}-{threads}"), stage, plan);
            table.tell(&case, &Named::bound(subject), &Named::bound(OURS), &tally, Statistic::P50);
        }
    }
    drop(client);
    drop(server);
    Ok(())
}

/// Times how long it takes until so many FastThreads have made a call each: a call's part of it.
fn at_once(
    client: &Arc<SeveralClient>,
    threads: u32,
    is_urgent: bool,
    plan: Plan,
) -> Result<Samples, Failure> {
    let client = Arc::clone(client);
    let timed = run(move || -> Result<Vec<u64>, Together> {
        let mut times_ns = Vec::with_capacity(plan.batches as usize);
        for time in 0..plan.warm_up + plan.batches {
            think(THOUGHT_NS);
            let begin_ns = clock::now_ns();
            call_from(&client, threads, is_urgent)?;
            if time >= plan.warm_up {
                times_ns.push(clock::now_ns() - begin_ns);
            }
        }
        Ok(times_ns)
    });
    match timed? {
        Ok(times_ns) => Ok(Samples::new(threads, times_ns)),
        Err(Together::Fork(error)) => Err(error.into()),
        Err(Together::Call(error)) => Err(error.into()),
    }
}

/// Why they could not.
enum Together {
    Fork(nearcall_threads::ForkError),
    Call(CallError),
}

fn call_from(client: &Arc<SeveralClient>, threads: u32, is_urgent: bool) -> Result<(), Together> {
    let fork_one = |_| {
        let client = Arc::clone(client);
        fork(move || match is_urgent {
            true => urgently(|| client.leaf()),
            false => client.leaf(),
        })
    };
    let forked: Result<Vec<_>, _> = (0..threads).map(fork_one).collect();
    for thread in forked.map_err(Together::Fork)? {
        thread.join().expect("it does not panic").map_err(Together::Call)?;
    }
    Ok(())
}
