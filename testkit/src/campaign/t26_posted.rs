//! T26: calls are posted until nothing more can be, while the server takes none. They wait in their
//! clients' own segments: the server's memory does not grow with them. One call more is refused at
//! once. Then the server goes on, and every call gets its own reply.

use std::path::Path;
use std::time::{Duration, Instant};

use nearcall::{Binding, CallError, Domain, ImportOptions, UsageError, WhenExhausted};

use super::Setup;
use super::latency::Times;
use super::player::{Player, Role, resident_kb};
use super::report::{Report, Stopped};
use crate::effects::effects::{CROWD, CrowdClient};
use crate::server::import_options;
use crate::signal;

const NAME: &str = "posted";

/// Clients, and A-stacks that each has when it has as many as there may be.
const CLIENTS: u64 = 1_000;
const ASTACKS: u32 = 16 * 63;

/// How often all of them are filled at night.
const ROUNDS_AT_NIGHT: u64 = 20;

/// How long a refusal may take, and how many of them are timed for each client.
const REFUSED_US_P99: f64 = 10.0;
const REFUSALS: u32 = 100;

/// What the server's own memory may grow by while the calls are posted, KiB.
const GROWN_KB_MAX: u64 = 256;

/// Grows, then has a server stop and go on.
pub fn run(setup: &Setup) -> Result<Report, Stopped> {
    let mut report = Report::of("calls");
    let directory = tempfile::tempdir()?;
    let mut server = Player::start(Role::Echo, directory.path(), NAME, "")?;
    let domain = Domain::new()?;
    let grown = |_| grown(&domain, directory.path());
    let clients = (0..CLIENTS).map(grown).collect::<Result<Vec<_>, _>>()?;
    report.figure(format!("{CLIENTS} clients with {ASTACKS} A-stacks each"));
    let (mut refusals, mut grown_kb) = (Times::default(), 0);
    for _ in 0..if setup.is_nightly { ROUNDS_AT_NIGHT } else { 1 } {
        grown_kb = grown_kb.max(fill(&mut report, &mut refusals, server.pid(), &clients)?);
    }
    report.at_most("refused after p99", refusals.quantile_us(0.99), REFUSED_US_P99, " us");
    report.at_most("server grown by", grown_kb as f64, GROWN_KB_MAX as f64, " KiB");
    drop(clients);
    server.end()?;
    Ok(report)
}

/// Stops the server, posts until nothing more can be, lets it go on, and collects. What it has
/// grown by while the calls waited.
fn fill(
    report: &mut Report,
    refusals: &mut Times,
    server: u32,
    clients: &[CrowdClient],
) -> Result<u64, Stopped> {
    let before = resident_kb(server);
    signal::stop(server);
    let mut pending = Vec::new();
    for (which, client) in (0u64..).zip(clients) {
        let posting = client.posting();
        for number in which << 32.. {
            match posting.again(number) {
                Ok(posted) => pending.push((number, posted)),
                Err(error) if is_refusal(&error) => break,
                Err(error) => return Err(error.into()),
            }
        }
        for _ in 0..REFUSALS {
            let begin = Instant::now();
            let refused = posting.again(0);
            refusals.push(begin.elapsed());
            if refused.is_ok() {
                report.violation("a call was posted where none was free");
            }
        }
    }
    let during = resident_kb(server);
    signal::resume(server);
    for (number, posted) in pending {
        match posted.collect() {
            Ok(again) if again == number => report.count += 1,
            other => report.violation(format!("call {number:#x} came to {other:?}")),
        }
    }
    Ok(during.saturating_sub(before))
}

/// A client that has as many A-stacks as it may have.
fn grown(domain: &Domain, directory: &Path) -> Result<CrowdClient, Stopped> {
    let mut options: ImportOptions = import_options(directory);
    options.when_exhausted = WhenExhausted::Grow;
    options.timeout = Duration::from_secs(5);
    let client = CrowdClient::new(Binding::import_with(domain, NAME, &CROWD, options)?);
    let mut pending = Vec::new();
    let posting = client.posting();
    loop {
        match posting.again(0) {
            Ok(posted) => pending.push(posted),
            Err(error) if is_refusal(&error) => break,
            Err(error) => return Err(error.into()),
        }
    }
    for posted in pending {
        posted.collect()?;
    }
    match client.binding().astack_count() {
        ASTACKS => Ok(client),
        count => Err(format!("a binding grew to {count} A-stacks, not to {ASTACKS}").into()),
    }
}

/// This thread has every A-stack of the class outstanding.
fn is_refusal(error: &CallError) -> bool {
    matches!(error, CallError::Usage(UsageError::Outstanding { .. }))
}
