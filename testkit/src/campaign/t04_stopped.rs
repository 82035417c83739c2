//! T4: a server is stopped at any moment, by a signal or by the freezer of a control group, and
//! goes on later. Its client is told when its deadline is over and not later, others do not notice,
//! and no reply that comes late reaches a later call.

use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use nearcall::CallError;

use super::Setup;
use super::effects;
use super::latency::Times;
use super::oracle::{CallName, Entry, judge_all};
use super::player::{Player, Role, bind};
use super::report::{Report, Stopped};
use crate::effects::effects::EffectsClient;
use crate::freezer::Freezer;
use crate::signal;

const STOPPED: &str = "stopped";
const OTHER: &str = "other";
const IDLE: &str = "idle";

const STOPS: usize = 500;
const STOPS_AT_NIGHT: usize = 5_000;

/// The deadline of each call, and how late it may be over.
const DEADLINE: Duration = Duration::from_millis(20);
const LATE_MS_P99: f64 = 5.0;

/// How long a server that goes on may take to let go of what was given up.
const LET_GO: Duration = Duration::from_secs(5);

/// Longest that it is left to run before it is stopped, microseconds.
const RUNNING_US_MAX: u64 = 2_000;

/// How much slower others may be than beside the same client while a server is stopped that nobody
/// calls, and how often that is. What it takes the kernel to stop a process of several threads, and
/// to have it go on, is not ours.
const SLOWED_MAX: f64 = 1.5;
const STOPS_OF_IDLE: usize = 150;

/// How long others are watched with nothing beside them, for the report.
const ALONE: Duration = Duration::from_millis(500);

/// Calls after a server went on that must be answered with what is theirs.
const CALLS_AFTER: i32 = 8;

/// Times that all is done if something came late: other work on the machine makes it later, and
/// nothing makes it earlier.
const TRIES: u32 = 4;

/// Number of the client, in the effects.
const CLIENT: u64 = 4;

/// What stops the server.
enum Means<'f> {
    /// A signal to its process.
    Signal(u32),
    /// The freezer of its control group.
    Freezer(&'f Freezer),
}

impl<'f> Means<'f> {
    /// What there is for a server.
    fn of((server, freezer): (&Player, &'f Option<Freezer>)) -> Vec<Means<'f>> {
        let frozen = freezer.as_ref().map(Means::Freezer);
        frozen.into_iter().chain([Means::Signal(server.pid())]).collect()
    }

    fn stop(&self) -> io::Result<()> {
        match self {
            Means::Signal(pid) => signal::stop(*pid),
            Means::Freezer(freezer) => freezer.freeze()?,
        }
        Ok(())
    }

    fn resume(&self) -> io::Result<()> {
        match self {
            Means::Signal(pid) => signal::resume(*pid),
            Means::Freezer(freezer) => freezer.thaw()?,
        }
        Ok(())
    }
}

/// Who calls, and what it was told.
struct Scene<'s> {
    client: &'s EffectsClient,
    number: u64,
    history: Vec<Entry>,
    aborted: u64,
    late: Times,
    /// Calls that were neither answered nor given up.
    wrong: Vec<String>,
}

/// Stops, waits, lets go on.
pub fn run(setup: &Setup) -> Result<Report, Stopped> {
    let mut report = Report::of("stops");
    let directory = tempfile::tempdir()?;
    let (path, timeout) = (directory.path(), Duration::from_secs(5));
    let mut servers = [STOPPED, OTHER, IDLE].map(|name| Player::start(Role::Serve, path, name, ""));
    let [Ok(server), Ok(_), Ok(idle)] = &servers else {
        return Err("a server did not start".to_owned().into());
    };
    let client = bind(path, STOPPED, timeout)?.with_deadline(DEADLINE);
    let (other, uncalled) = (bind(path, OTHER, timeout)?, bind(path, IDLE, timeout)?);
    uncalled.null()?;
    let freezers = [Freezer::of(server.pid()), Freezer::of(idle.pid())];
    let [means, means_of_idle] = [(server, &freezers[0]), (idle, &freezers[1])].map(Means::of);
    match means.len() {
        2 => report.figure("every other one by the freezer"),
        _ => report.lacks("a control group that freezes"),
    }
    let (history, late) = (Vec::new(), Times::default());
    let mut scene =
        Scene { client: &client, number: 0, history, aborted: 0, late, wrong: Vec::new() };
    let mut chances = setup.chances("T4");
    let mut running = || Duration::from_micros(chances.u64(..RUNNING_US_MAX));
    let (mut late_ms, mut ratio) = (f64::MAX, f64::MAX);
    for _ in 0..TRIES {
        let alone = beside(&other, &mut report, |_| std::thread::sleep(ALONE));
        let beside_idle = beside(&other, &mut report, |report| {
            for means in means_of_idle.iter().cycle().take(STOPS_OF_IDLE) {
                report.violations.extend(scene.go_on_beside(means, running()).err());
            }
        });
        scene.late = Times::default();
        let stopped = beside(&other, &mut report, |report| {
            let stops = if setup.is_nightly { STOPS_AT_NIGHT } else { STOPS };
            for means in means.iter().cycle().take(stops) {
                report.violations.extend(scene.stop(means, running()).err());
                report.count += 1;
            }
        });
        late_ms = late_ms.min(scene.late.quantile_us(0.99) / 1e3);
        let [stopped_us, idle_us, alone_us] =
            [stopped, beside_idle, alone].map(|mut times| times.quantile_us(0.99));
        report.figure(format!(
            "p99 of others {stopped_us:.0} us, {idle_us:.0} beside stops of another, {alone_us:.0} \
             alone"
        ));
        ratio = ratio.min(stopped_us / idle_us);
        if late_ms <= LATE_MS_P99 && ratio <= SLOWED_MAX {
            break;
        }
    }
    finish(&mut report, &scene, path);
    report.at_most("deadline over p99", late_ms, LATE_MS_P99, " ms late");
    report.at_most("p99 of others", ratio, SLOWED_MAX, " of that beside stops of another");
    for server in servers.iter_mut().flatten() {
        report.violations.extend(server.end()?.wrong(None));
    }
    Ok(report)
}

fn finish(report: &mut Report, scene: &Scene<'_>, directory: &Path) {
    report.violations.extend(judge_all(&scene.history, &effects::written(directory)));
    report.figure(format!("{} calls", scene.history.len()));
    report.violations.extend(scene.wrong.iter().cloned());
    // One at each stop; beside other stops one may be late of itself.
    report.at_least("given up", scene.aborted as f64, report.count as f64, "");
}

impl Scene<'_> {
    /// Calls until a call is not answered, because the server was stopped meanwhile; has it go on,
    /// and looks whether later calls get what is theirs.
    fn stop(&mut self, means: &Means<'_>, running: Duration) -> Result<(), String> {
        std::thread::scope(|threads| {
            let stopped = threads.spawn(|| {
                std::thread::sleep(running);
                means.stop()
            });
            while self.call() {}
            stopped.join().expect("who stops it")
        })
        .and_then(|()| means.resume())
        .map_err(|error| format!("the freezer: {error}"))?;
        let begin = Instant::now();
        while self.client.binding().captured_count() > 0 {
            if begin.elapsed() > LET_GO {
                return Err(format!("an A-stack is captured {LET_GO:?} after the server went on"));
            }
            std::thread::sleep(Duration::from_micros(200));
        }
        self.call_after()
    }

    /// What [`stop`](Scene::stop) does, while another server is stopped: the client calls for as
    /// long, and then is silent for as long as it would wait in vain.
    fn go_on_beside(&mut self, means: &Means<'_>, running: Duration) -> Result<(), String> {
        std::thread::scope(|threads| {
            let stopped = threads.spawn(|| {
                std::thread::sleep(running);
                means.stop()
            });
            while !stopped.is_finished() && self.call() {}
            stopped.join().expect("who stops it")
        })
        .map_err(|error| format!("the freezer: {error}"))?;
        std::thread::sleep(DEADLINE);
        means.resume().map_err(|error| format!("the freezer: {error}"))?;
        self.call_after()
    }

    fn call_after(&self) -> Result<(), String> {
        let patient = self.client.with_deadline(LET_GO);
        for number in 0..CALLS_AFTER {
            let sum = patient.add(number, 1000);
            if !matches!(sum, Ok(sum) if sum == number + 1000) {
                return Err(format!("{number} + 1000 came to {sum:?} after a stop"));
            }
        }
        Ok(())
    }

    /// One call. False: it was not answered.
    fn call(&mut self) -> bool {
        self.number += 1;
        let begin = Instant::now();
        let outcome = self.client.effect(CLIENT, self.number);
        let took = begin.elapsed();
        let call = CallName { client: CLIENT, number: self.number };
        self.history.push(Entry::of(call, self.client.binding(), &outcome));
        if outcome.is_ok() {
            return true;
        }
        self.late.push(took.saturating_sub(DEADLINE));
        match outcome {
            Err(CallError::CallAborted { .. }) => self.aborted += 1,
            other => self.wrong.push(format!("call {} came to {other:?}", self.number)),
        }
        false
    }
}

/// What calls of another server take while something is done; none of them may fail.
fn beside(other: &EffectsClient, report: &mut Report, work: impl FnOnce(&mut Report)) -> Times {
    let is_over = AtomicBool::new(false);
    let (times, failures) = std::thread::scope(|threads| {
        let calls = threads.spawn(|| {
            let (mut times, mut failures) = (Times::default(), 0);
            // Relaxed: a flag that orders nothing.
            while !is_over.load(Ordering::Relaxed) {
                // At a pace: it is not to be a load itself.
                std::thread::sleep(Duration::from_micros(200));
                let begin = Instant::now();
                failures += u64::from(!matches!(other.add(2, 3), Ok(5)));
                times.push(begin.elapsed());
            }
            (times, failures)
        });
        work(report);
        // Relaxed: as above.
        is_over.store(true, Ordering::Relaxed);
        calls.join().expect("the other client")
    });
    if failures > 0 {
        report.violation(format!("{failures} calls of another server failed"));
    }
    times
}
