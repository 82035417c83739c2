//! T1: a domain is killed at each named step, over and over again. A step is a line of the source
//! of the runtime that a bind, a few calls and a teardown go through.

use std::collections::BTreeMap;

use super::Setup;
use super::code;
use super::deaths::{Host, Life, Survivor};
use super::latency::Times;
use super::report::{Report, Stopped};
use super::t02_every_instruction::{met_by_client, met_by_server};

mod chains;
mod crowd;

/// Steps of each side, and deaths at each, in the shorter version.
const STEPS: usize = 40;
const DEATHS: usize = 100;

/// Deaths at each step at night, when every step is taken.
const DEATHS_AT_NIGHT: usize = 1_000;

/// How soon after a death survivors are to know, most of them and all of them.
const TOLD_MS_P99: f64 = 1.0;
const TOLD_MS_MAX: f64 = 100.0;

/// How many survivors there must be that were told of a death in a call or a bind.
const TOLD_MIN: f64 = 500.0;

/// Deaths of servers for which 1,000 FastThreads wait.
const CROWDS: u32 = 10;

/// Rounds that are made if survivors are told late: other work on the machine makes it later, and
/// nothing makes it earlier.
const ROUNDS: u32 = 3;

/// What survivors were told.
#[derive(Default)]
struct Notices {
    /// So long after a death.
    after: Times,
    /// How often later than most are to be, by step.
    late: BTreeMap<String, u32>,
}

/// Kills servers, then clients.
pub fn run(setup: &Setup) -> Result<Report, Stopped> {
    let mut report = Report::of("deaths");
    let known = code::instructions()?;
    // First: it counts the replies in all bindings of this process.
    let mut told_in_chains = chains::run(setup, &mut report, &known)?;
    let mut survivor = Survivor::new()?;
    let deaths = if setup.is_nightly { DEATHS_AT_NIGHT } else { DEATHS };
    let steps = choose(setup, "T1 server", code::lines_of(&met_by_server(&mut survivor, &known)?)?);
    let mut names = steps.len();
    let mut told = Notices::default();
    for _ in 0..ROUNDS {
        told = Notices::default();
        for (name, offset) in &steps {
            die(deaths, &mut report, name, &mut told, || survivor.outlive(*offset))?;
        }
        if told.after.quantile_us(0.99) / 1e3 <= TOLD_MS_P99 {
            break;
        }
    }
    let crowd_ms = outlive_in_crowds(&survivor, &mut report)?;
    report.violations.extend(survivor.left_behind());
    let mut host = Host::new()?;
    let steps = choose(setup, "T1 client", code::lines_of(&met_by_client(&mut host, &known)?)?);
    names += steps.len();
    for (name, offset) in &steps {
        die(deaths, &mut report, name, &mut told, || host.outlive(Some(*offset)))?;
    }
    report.violations.extend(host.left_behind());
    report.figure(format!("{names} named steps"));
    if names < 2 * 40 {
        report.violation(format!("{names} steps are fewer than 40 on each side"));
    }
    let [p99_ms, worst_ms] = [0.99, 1.0].map(|share| told.after.quantile_us(share) / 1e3);
    report.at_least("survivors told", told.after.count() as f64, TOLD_MIN, "");
    report.at_most("told after p99", p99_ms, TOLD_MS_P99, " ms");
    report.at_most("worst", worst_ms, TOLD_MS_MAX, " ms");
    for (name, deaths) in &told.late {
        report.figure(format!("{deaths} late at {name}"));
    }
    report.at_most("last of 1,000 FastThreads", crowd_ms, TOLD_MS_MAX, " ms");
    let [p99_ms, worst_ms] = [0.99, 1.0].map(|share| told_in_chains.quantile_us(share) / 1e3);
    // Three domains share two processors there: the p99 is of those, too.
    report.figure(format!("{} told in chains, p99 {p99_ms:.2} ms", told_in_chains.count()));
    report.at_most("worst", worst_ms, TOLD_MS_MAX, " ms");
    Ok(report)
}

/// Servers that die while 1,000 FastThreads wait for them: when the last of those was told.
fn outlive_in_crowds(survivor: &Survivor, report: &mut Report) -> Result<f64, Stopped> {
    let mut worst_ms: f64 = 0.0;
    for _ in 0..CROWDS {
        let (mut told, returned) = crowd::outlive(survivor)?;
        report.count += 1;
        if returned > 0 || told.count() != crowd::THREADS as usize {
            let count = told.count();
            report.violation(format!("of {count} calls of a stopped server {returned} returned"));
        }
        worst_ms = worst_ms.max(told.quantile_us(1.0) / 1e3);
    }
    Ok(worst_ms)
}

/// The steps to take: all, or another choice for each seed.
fn choose(setup: &Setup, name: &str, steps: BTreeMap<String, u64>) -> Vec<(String, u64)> {
    let mut steps: Vec<_> = steps.into_iter().collect();
    if !setup.is_nightly {
        setup.chances(name).shuffle(&mut steps);
        steps.truncate(STEPS);
    }
    steps
}

/// Dies at one step as often as it takes.
fn die(
    deaths: usize,
    report: &mut Report,
    name: &str,
    told: &mut Notices,
    mut live: impl FnMut() -> Result<Life, Stopped>,
) -> Result<(), Stopped> {
    for _ in 0..deaths {
        let life = live()?;
        report.count += u64::from(life.was_killed);
        if let Some(after) = life.told_after {
            told.after.push(after);
            if after.as_secs_f64() * 1e3 > TOLD_MS_P99 {
                *told.late.entry(name.to_owned()).or_default() += 1;
            }
        }
        for violation in life.violations {
            report.violation(format!("killed at {name}: {violation}"));
        }
    }
    Ok(())
}
