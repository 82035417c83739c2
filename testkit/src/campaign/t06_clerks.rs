//! T6: a clerk goes and comes again, over and over. Calls over bindings to another clerk of the
//! same domain do not notice; whoever binds afterwards is bound soon, and to the new life. The
//! oracle judges both: no call runs in another life than the one that its binding was to.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use nearcall::Domain;

use super::Setup;
use super::effects;
use super::honest::{Honest, SELDOM};
use super::latency::{Times, call_until};
use super::oracle::{CallName, Entry, Told, judge, unmade};
use super::player::bind;
use super::report::{Report, Stopped};

const STEADY: &str = "steady";
const RESTLESS: &str = "restless";

const RESTARTS: u64 = 200;
const RESTARTS_AT_NIGHT: u64 = 10_000;

/// Number of the client of what comes and goes, in the effects.
const RESTLESS_CLIENT: u64 = 6;

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
    let neighbour = Honest::new(bind(path, STEADY, timeout)?, 0, SELDOM);
    let is_over = AtomicBool::new(false);
    let (restarted, calls, failures) = std::thread::scope(|threads| {
        let calls = threads.spawn(|| call_until(&is_over, || neighbour.call()));
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
    neighbour.judge(&mut report, path);
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
    let (mut cannot_tell, mut history) = (0u32, Vec::new());
    for _ in 0..if setup.is_nightly { RESTARTS_AT_NIGHT } else { RESTARTS } {
        let clerk = effects::export(domain, path, RESTLESS)?;
        let begin = Instant::now();
        let client = bind(path, RESTLESS, Duration::from_secs(5))?;
        bound.push(begin.elapsed());
        let mut call = |number| {
            let call = CallName { client: RESTLESS_CLIENT, number };
            let outcome = client.effect(call.client, call.number);
            history.push(Entry::of(call, client.binding(), &outcome));
            Told::of(&outcome)
        };
        if call(2 * report.count) != Told::Returned {
            report.violation("a call to a new life failed");
        }
        if client.binding().incarnation() <= incarnation {
            report.violation("a restart has no later life");
        }
        incarnation = client.binding().incarnation();
        drop(clerk);
        match call(2 * report.count + 1) {
            Told::DidNotRun => {}
            Told::MayHaveRun => cannot_tell += 1,
            other => report.violation(format!("a call to a life that is over: {other:?}")),
        }
        report.count += 1;
        if cannot_tell == CANNOT_TELL_MAX {
            break;
        }
    }
    let what = "calls to a life that was over that might have run";
    report.at_most(what, f64::from(cannot_tell), 0.0, "");
    let written = effects::written(path);
    report.violations.extend(judge(&history, &written));
    let is_own = |call: CallName| history.iter().any(|entry| entry.call == call);
    let others = |call: CallName| call.client != RESTLESS_CLIENT;
    report.violations.extend(unmade(&written, |call| others(call) || is_own(call)));
    Ok(bound)
}
