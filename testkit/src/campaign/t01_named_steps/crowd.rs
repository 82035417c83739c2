//! A server dies while 1,000 FastThreads wait for it: some for a reply, the others for an A-stack.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::time::Instant;

use nearcall_threads::{Forked, fork, run, yield_now};
use rustix::process::{Pid, Signal, kill_process};

use super::super::deaths::{Survivor, end_of, process};
use super::super::latency::Times;
use super::super::report::Stopped;
use crate::effects::effects::EffectsClient;
use crate::signal;

/// How many wait.
pub const THREADS: u32 = 1_000;

/// What became of one call.
struct Told {
    has_returned: bool,
    at: Instant,
}

/// From when the server's end was seen to when each was told, and how many calls have returned.
pub fn outlive(survivor: &Survivor) -> Result<(Times, usize), Stopped> {
    let mut server = survivor.server()?;
    let client = Arc::new(survivor.bind()?);
    client.null()?;
    let stopped = Pid::from_raw(server.pid().cast_signed()).ok_or("no process has number 0")?;
    signal::stop(server.pid());
    // What is posted from here on nobody takes.
    let process = process(server.pid())?;
    let waited = run(move || {
        let threads = wait_all(&client);
        // A stopped process dies of this, too.
        let ended = kill_process(stopped, Signal::KILL).map(|()| end_of(&process));
        let told: Vec<Told> =
            threads.into_iter().map(|thread| thread.join().expect("it does not panic")).collect();
        ended.map(|ended| ended.map(|ended| (ended, told)))
    });
    let (ended, told) = waited???;
    let killed = server.wait()?.wrong(Some(Signal::KILL));
    killed.map_or(Ok(()), Err)?;
    let mut times = Times::default();
    told.iter().for_each(|told| times.push(told.at.saturating_duration_since(ended)));
    Ok((times, told.iter().filter(|told| told.has_returned).count()))
}

/// Forks them, and comes back when all of them wait.
fn wait_all(client: &Arc<EffectsClient>) -> Vec<Forked<Told>> {
    let begun = Arc::new(AtomicU32::new(0));
    let fork_one = |_| {
        let (client, begun) = (Arc::clone(client), Arc::clone(&begun));
        let calls = move || {
            // Relaxed: all of them are one kernel thread's.
            begun.fetch_add(1, Relaxed);
            let has_returned = client.null().is_ok();
            Told { has_returned, at: Instant::now() }
        };
        fork(calls).expect("there is memory for a thousand threads")
    };
    let threads = (0..THREADS).map(fork_one).collect();
    // Relaxed: as above.
    while begun.load(Relaxed) < THREADS {
        yield_now();
    }
    yield_now();
    threads
}
