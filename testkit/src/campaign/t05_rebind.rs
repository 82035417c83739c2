//! T5: a server is killed again and again under eight clients, and started again each time. Who was
//! bound binds again, to the new life and never to the old one.

use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use std::time::{Duration, Instant};

use nearcall::Domain;
use rustix::process::Signal;

use super::Setup;
use super::effects;
use super::latency::Times;
use super::oracle::{CallName, Entry, Told, judge_all};
use super::player::{Player, Role, bind_in};
use super::report::{Report, Stopped};

const NAME: &str = "reborn";

const CLIENTS: u64 = 8;

const DEATHS: u64 = 1_000;
const DEATHS_AT_NIGHT: u64 = 10_000;

/// How soon after a server is ready its clients are to be bound to it.
const REBOUND_MS_P99: f64 = 50.0;

/// How long clients call each life.
const LIFE: Duration = Duration::from_millis(15);

/// What eight clients share.
struct Stage<'s> {
    directory: &'s Path,
    is_over: AtomicBool,
    /// Which life of the server it is.
    life: AtomicU64,
    /// How many clients are bound to it and have had a call return.
    served: AtomicU64,
    ready: Mutex<Instant>,
}

/// What one client has to tell.
#[derive(Default)]
struct Memory {
    history: Vec<Entry>,
    rebinds: Times,
    violations: Vec<String>,
}

/// Kills, starts, kills.
pub fn run(setup: &Setup) -> Result<Report, Stopped> {
    let mut report = Report::of("deaths");
    let directory = tempfile::tempdir()?;
    let stage = Stage {
        directory: directory.path(),
        is_over: AtomicBool::new(false),
        life: AtomicU64::new(0),
        served: AtomicU64::new(0),
        ready: Mutex::new(Instant::now()),
    };
    let deaths = if setup.is_nightly { DEATHS_AT_NIGHT } else { DEATHS };
    let all = std::thread::scope(|threads| {
        let start = |client| {
            threads.spawn({
                let stage = &stage;
                move || live(stage, client)
            })
        };
        let clients: Vec<_> = (1..=CLIENTS).map(start).collect();
        let killed = (0..deaths).try_for_each(|_| one_life(&stage));
        // SeqCst: flags between threads of a test.
        stage.is_over.store(true, SeqCst);
        let told: Vec<_> =
            clients.into_iter().map(|client| client.join().expect("a client")).collect();
        killed.map(|()| told)
    })?;
    report.count = deaths;
    let (mut rebinds, mut history) = (Times::default(), Vec::new());
    for told in all {
        rebinds.extend([told.rebinds]);
        history.extend(told.history);
        report.violations.extend(told.violations);
    }
    report.violations.extend(judge_all(&history, &effects::written(directory.path())));
    report.figure(format!("{} calls of {CLIENTS} clients", history.len()));
    let returned = history.iter().filter(|entry| entry.told == Told::Returned).count();
    report.at_least("returned", returned as f64, (deaths * CLIENTS) as f64, "");
    report.at_most("bound again p99", rebinds.quantile_us(0.99) / 1e3, REBOUND_MS_P99, " ms");
    Ok(report)
}

/// A server lives until all clients have called it for a while, and is killed.
fn one_life(stage: &Stage<'_>) -> Result<(), Stopped> {
    let mut server = Player::start(Role::Serve, stage.directory, NAME, "")?;
    *stage.ready.lock().expect("nobody panics here") = Instant::now();
    // SeqCst, all of them: as above.
    stage.served.store(0, SeqCst);
    // SeqCst: as above.
    stage.life.fetch_add(1, SeqCst);
    let begin = Instant::now();
    // SeqCst: as above.
    while stage.served.load(SeqCst) < CLIENTS {
        if begin.elapsed() > Duration::from_secs(10) {
            return Err("not every client is served again".into());
        }
        std::thread::sleep(Duration::from_micros(200));
    }
    std::thread::sleep(LIFE);
    let killed = server.end_by_kill()?.wrong(Some(Signal::KILL));
    killed.map_or(Ok(()), |wrong| Err(wrong.into()))
}

/// Binds whenever it is not bound, and calls.
fn live(stage: &Stage<'_>, client: u64) -> Memory {
    let mut told = Memory::default();
    let domain = Domain::new().expect("a domain");
    let (mut number, mut life, mut incarnation) = (0, 0, 0);
    // SeqCst: as above.
    while !stage.is_over.load(SeqCst) {
        // SeqCst: as above.
        let now = stage.life.load(SeqCst);
        let bound = if now > life {
            bind_in(&domain, stage.directory, NAME, Duration::from_secs(5)).ok()
        } else {
            None
        };
        let Some(bound) = bound else {
            std::thread::sleep(Duration::from_micros(500));
            continue;
        };
        let ready = *stage.ready.lock().expect("nobody panics here");
        told.rebinds.push(ready.elapsed());
        if bound.binding().incarnation() <= incarnation {
            told.violations.push(format!("client {client} is bound to an earlier life"));
        }
        (life, incarnation) = (now, bound.binding().incarnation());
        let first = number + 1;
        loop {
            number += 1;
            let outcome = bound.effect(client, number);
            told.history.push(Entry::of(CallName { client, number }, bound.binding(), &outcome));
            if number == first && outcome.is_ok() {
                // SeqCst: as above.
                stage.served.fetch_add(1, SeqCst);
            }
            // SeqCst: as above.
            if outcome.is_err() || stage.is_over.load(SeqCst) {
                break;
            }
        }
    }
    told
}
