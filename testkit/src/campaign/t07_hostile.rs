//! T7: hostile peers. Each script does one thing that no honest library does, and says what must
//! come of it; meanwhile an honest neighbour calls, whose calls may not fail and not slow down,
//! and are judged by the oracle.
//!
//! A peer that burns processor time burns its own, and wakes whoever serves it (G5): the neighbour
//! of such a script is compared with the neighbour of one that does the same to another server.

mod binds;
mod files;
mod floods;
mod messages;
mod processes;
mod servers;
mod words;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::Setup;
use super::hand;
use super::held::Held;
use super::honest::{Honest, SELDOM};
use super::latency::{Times, call_until};
use super::player::{Player, Role, bind};
use super::report::{Report, Stopped};

pub use processes::bequeath;

/// How long the neighbour is watched for comparison.
const ALONE: Duration = Duration::from_millis(400);

/// How long a script that burns goes on.
const BURNING: Duration = Duration::from_millis(300);

/// How long a peer that broke the protocol may stay bound.
const POISONED_MS_MAX: f64 = 10.0;

/// How much slower than without hostile peers honest calls may be.
const SLOWED_MAX: f64 = 2.0;

/// How long a call may take whose bell another client of the same user has spoilt: its caller rings
/// again after 200 us, then over its socket, and somebody has to be woken for it.
const RUNG_AGAIN_US_MAX: f64 = 1000.0;

/// Times that a script is tried whose answer came late or that slowed others down: other work on
/// the machine makes it worse, and nothing makes it better.
const TRIES: u32 = 4;

/// In which a server must have let go of everything that hostile clients left.
const SETTLED: Duration = Duration::from_secs(3);

/// What a script found: how long the server took to end the binding, if it was to do that; or what
/// it did that it must not.
type Found = Result<Option<Duration>, String>;

/// A hostile client.
pub struct Script {
    name: &'static str,
    run: fn(&Target) -> Found,
}

/// The server that is attacked.
pub struct Target {
    directory: PathBuf,
    name: &'static str,
    pid: u32,
}

const NAME: &str = "target";

/// The server that scripts are played against for comparison.
const OTHER: &str = "other";

impl Target {
    fn path(&self) -> PathBuf {
        hand::path_of(&self.directory, self.name)
    }

    fn directory(&self) -> &Path {
        &self.directory
    }
}

/// Attacks a server and its clerk, then clients.
pub fn run(setup: &Setup) -> Result<Report, Stopped> {
    let mut report = Report::of("scripts");
    let directory = tempfile::tempdir()?;
    let mut server = Player::start(Role::Serve, directory.path(), NAME, "")?;
    let mut other = Player::start(Role::Serve, directory.path(), OTHER, "")?;
    let target = |name, pid| Target { directory: directory.path().to_owned(), name, pid };
    let (target, elsewhere) = (target(NAME, server.pid()), target(OTHER, other.pid()));
    let neighbour = bind(directory.path(), NAME, Duration::from_secs(5))?;
    let neighbour = Honest::new(neighbour, 0, SELDOM);
    neighbour.client.add(2, 3)?;
    let held = Held::by(target.pid)?;

    let mut scripts: Vec<_> =
        [binds::SCRIPTS, messages::SCRIPTS, words::SCRIPTS, processes::SCRIPTS].concat();
    match files::obstacle() {
        None => scripts.extend(files::SCRIPTS),
        Some(error) => {
            report.lacks("the right to mount a file system");
            report.figure(format!("no file system in user space here: {error}"));
        }
    }
    match processes::obstacle() {
        None => scripts.extend(processes::OF_ANOTHER_TIME),
        Some(error) => {
            report.lacks("a time namespace");
            report.figure(format!("no time namespace here: {error}"));
        }
    }
    setup.chances("T7").shuffle(&mut scripts);
    attack(&mut report, setup, &neighbour, &mut server, &target, &scripts)?;
    burn(&mut report, setup, &neighbour, &mut server, [&target, &elsewhere])?;
    report.violations.extend(other.end()?.wrong(None));

    if let Err(still) = held.again(target.pid, SETTLED) {
        report.violation(format!("of the server's after the attacks {still}"));
    }
    neighbour.judge(&mut report, directory.path());
    drop(neighbour);
    report.violations.extend(server.end()?.wrong(None));
    servers::run(&mut report, directory.path())?;
    Ok(report)
}

/// Scripts that do one thing each.
fn attack(
    report: &mut Report,
    setup: &Setup,
    neighbour: &Honest,
    server: &mut Player,
    target: &Target,
    scripts: &[&Script],
) -> Result<(), Stopped> {
    let rounds = if setup.is_nightly { 100 } else { 1 };
    let (mut ratio, mut slowest) = (f64::MAX, Duration::ZERO);
    for _ in 0..TRIES {
        let (mut alone, _) = beside(neighbour, || std::thread::sleep(ALONE));
        let mut times = Times::default();
        for script in (0..rounds).flat_map(|_| scripts) {
            let (more, failures) = beside(neighbour, || match played(script, target, setup) {
                Ok(took) => slowest = slowest.max(took),
                Err(fault) => report.violation(format!("{}: {fault}", script.name)),
            });
            times.extend([more]);
            if failures > 0 {
                report.violation(format!("{}: {failures} honest calls failed", script.name));
            }
            if let Some(status) = server.ended()? {
                return Err(format!("{}: the server ended with {status}", script.name).into());
            }
        }
        ratio = ratio.min(times.quantile_us(0.99) / alone.quantile_us(0.99));
        if ratio <= setup.most(SLOWED_MAX) || !report.violations.is_empty() {
            break;
        }
    }
    report.count += scripts.len() as u64;
    let slowest_ms = slowest.as_secs_f64() * 1e3;
    report.at_most("poisoned after", slowest_ms, setup.most(POISONED_MS_MAX), " ms");
    report.at_most("honest p99", ratio, setup.most(SLOWED_MAX), " of that alone");
    Ok(())
}

/// Plays a script until its answer is in time, or has come late too often.
fn played(script: &Script, target: &Target, setup: &Setup) -> Result<Duration, String> {
    let mut took = Duration::ZERO;
    for _ in 0..TRIES {
        took = (script.run)(target)?.unwrap_or_default();
        if took.as_secs_f64() * 1e3 <= setup.most(POISONED_MS_MAX) {
            break;
        }
    }
    Ok(took)
}

/// Scripts that go on and on. Who is of the same trust class shares a bell with them, and may have
/// to ring twice; everybody else may not even be slowed down.
fn burn(
    report: &mut Report,
    setup: &Setup,
    neighbour: &Honest,
    server: &mut Player,
    targets: [&Target; 2],
) -> Result<(), Stopped> {
    let (mut worst, mut slowest_us) = ((0.0, ""), 0.0f64);
    for script in [floods::ELSEWHERE, floods::AT_THE_BELL].concat() {
        let is_at_bell = floods::AT_THE_BELL.iter().any(|other| other.name == script.name);
        let (mut ratio, mut p99_us) = (f64::MAX, f64::MAX);
        let (mut here, mut elsewhere) = (Vec::new(), Vec::new());
        for _ in 0..TRIES {
            let [at_ours, at_other] =
                targets.map(|target| burnt(report, neighbour, target, script));
            here.push(at_ours);
            elsewhere.push(at_other);
            p99_us = p99_us.min(at_ours);
            ratio = median(&mut here) / median(&mut elsewhere);
            if ratio <= setup.most(SLOWED_MAX) || is_at_bell && p99_us <= RUNG_AGAIN_US_MAX {
                break;
            }
        }
        if is_at_bell {
            slowest_us = slowest_us.max(p99_us);
        } else if ratio > worst.0 {
            worst = (ratio, script.name);
        }
        report.count += 1;
        if let Some(status) = server.ended()? {
            return Err(format!("{}: the server ended with {status}", script.name).into());
        }
    }
    let (ratio, script) = worst;
    let what = format!("p99 beside {script}");
    let limit = setup.most(SLOWED_MAX);
    report.at_most(&what, ratio, limit, " of that beside the same at another server");
    report.at_most("p99 behind an abused bell", slowest_us, setup.most(RUNG_AGAIN_US_MAX), " us");
    Ok(())
}

/// The p99 of the neighbour's calls while a script is played against `target`, microseconds.
fn burnt(report: &mut Report, neighbour: &Honest, target: &Target, script: &Script) -> f64 {
    let (mut times, failures) = beside(neighbour, || {
        if let Err(fault) = (script.run)(target) {
            report.violation(format!("{}: {fault}", script.name));
        }
    });
    if failures > 0 {
        report.violation(format!("{}: {failures} honest calls failed", script.name));
    }
    times.quantile_us(0.99)
}

/// The middle one, or the lower of the two in the middle.
fn median(figures: &mut [f64]) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures[(figures.len() - 1) / 2]
}

/// What the neighbour's calls take while something is done, and how many of them fail.
fn beside(neighbour: &Honest, work: impl FnOnce()) -> (Times, u64) {
    let is_over = AtomicBool::new(false);
    std::thread::scope(|threads| {
        let calls = threads.spawn(|| call_until(&is_over, || neighbour.call()));
        work();
        // Relaxed: a flag that orders nothing.
        is_over.store(true, Ordering::Relaxed);
        calls.join().expect("the neighbour")
    })
}
