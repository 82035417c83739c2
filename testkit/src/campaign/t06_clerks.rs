//! T6: a clerk goes and comes again, over and over. Calls over bindings to another clerk of the
//! same domain do not notice; whoever binds afterwards is bound soon, and to the new life.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use nearcall::{Domain, Ran};

use super::Setup;
use super::effects;
use super::latency::{Times, call_until};
use super::player::bind;
use super::report::{Report, Stopped};

const STEADY: &str = "steady";
const RESTLESS: &str = "restless";

const RESTARTS: u64 = 200;
const RESTARTS_AT_NIGHT: u64 = 10_000;

/// Calls that might have run before it is enough: each takes a second.
const CANNOT_TELL_MAX: u32 = 5;

/// How soon after a restart an importer is to be bound, always.
const BOUND_MS_MAX: f64 = 200.0;

/// Withdraws, exports, binds.
pub fn run(setup: &Setup) -> Result<Report, Stopped> {
    let mut report = Report::of("restarts");
    let directory = tempfile::tempdir()?;
    let (path, timeout) = (directory.path(), Duration::from_secs(5));
    let domain = Domain::new()?;
    let _steady = effects::export(&domain, path, STEADY)?;
    let neighbour = bind(path, STEADY, timeout)?;
    let is_over = AtomicBool::new(false);
    let call = || matches!(neighbour.add(2, 3), Ok(5));
    let (restarted, calls, failures) = std::thread::scope(|threads| {
        let calls = threads.spawn(|| call_until(&is_over, call));
        let restarted = restart(setup, &mut report, &domain, path);
        // Relaxed: a flag that orders nothing.
        is_over.store(true, Ordering::Relaxed);
        let (times, failures) = calls.join().expect("the neighbour");
        (restarted, times.count(), failures)
    });
    let mut bound = restarted?;
    if failures > 0 || calls == 0 {
        report.violation(format!("{failures} of {calls} calls of the other clerk's failed"));
    }
    report.figure(format!("{calls} calls meanwhile"));
    report.at_most("bound after", bound.quantile_us(1.0) / 1e3, BOUND_MS_MAX, " ms");
    Ok(report)
}

/// Restarts a clerk again and again. How long it takes to be bound to each life.
fn restart(
    setup: &Setup,
    report: &mut Report,
    domain: &Domain,
    path: &std::path::Path,
) -> Result<Times, Stopped> {
    let (mut bound, mut incarnation) = (Times::default(), 0);
    let mut cannot_tell = 0u32;
    for _ in 0..if setup.is_nightly { RESTARTS_AT_NIGHT } else { RESTARTS } {
        let clerk = effects::export(domain, path, RESTLESS)?;
        let begin = Instant::now();
        let client = bind(path, RESTLESS, Duration::from_secs(5))?;
        bound.push(begin.elapsed());
        if !matches!(client.add(2, 3), Ok(5)) {
            report.violation("a call to a new life failed");
        }
        if client.binding().incarnation() <= incarnation {
            report.violation("a restart has no later life");
        }
        incarnation = client.binding().incarnation();
        drop(clerk);
        match client.add(2, 3).map_err(|error| error.ran()) {
            Err(Ran::No) => {}
            Err(Ran::Maybe) => cannot_tell += 1,
            other => report.violation(format!("a call to a life that is over: {other:?}")),
        }
        report.count += 1;
        if cannot_tell == CANNOT_TELL_MAX {
            break;
        }
    }
    let what = "calls to a life that was over that might have run";
    report.at_most(what, f64::from(cannot_tell), 0.0, "");
    Ok(bound)
}
