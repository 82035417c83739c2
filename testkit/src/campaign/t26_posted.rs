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
use crate::faults::faults::{FAULTS, FaultsClient};
use crate::server::import_options;
use crate::signal;

const NAME: &str = "posted";

const CLIENTS: usize = 40;
const CLIENTS_AT_NIGHT: usize = 1_000;

/// Extensions that each client asks for before.
const EXTENSIONS: u32 = 15;

/// How long a refusal may take, and how many of them are timed for each client.
const REFUSED_US_P99: f64 = 10.0;
const REFUSALS: u32 = 100;

/// What the server's own memory may grow by while the calls are posted, KiB.
const GROWN_KB_MAX: u64 = 256;

/// Grows, stops the server, posts, lets it go on.
pub fn run(setup: &Setup) -> Result<Report, Stopped> {
    let mut report = Report::of("calls");
    let directory = tempfile::tempdir()?;
    let mut server = Player::start(Role::Test, directory.path(), NAME, "")?;
    let domain = Domain::new()?;
    let wanted = if setup.is_nightly { CLIENTS_AT_NIGHT } else { CLIENTS };
    let grown = |_| grown(&domain, directory.path());
    let clients = (0..wanted).map(grown).collect::<Result<Vec<_>, _>>()?;
    let before = resident_kb(server.pid());
    signal::stop(server.pid());
    let (mut refusals, mut pending) = (Times::default(), Vec::new());
    for client in &clients {
        let posting = client.posting();
        for number in 0u32.. {
            let data = number.to_le_bytes();
            match posting.work(number as u8, 0, &data) {
                Ok(posted) => pending.push((number, posted)),
                Err(error) if is_refusal(&error) => break,
                Err(error) => return Err(error.into()),
            }
        }
        for _ in 0..REFUSALS {
            let begin = Instant::now();
            let refused = posting.work(0, 0, &[]);
            refusals.push(begin.elapsed());
            if refused.is_ok() {
                report.violation("a call was posted where none was free");
            }
        }
    }
    let during = resident_kb(server.pid());
    signal::resume(server.pid());
    report.figure(format!("{} clients", clients.len()));
    for (number, posted) in pending {
        let is_own =
            |result: &Vec<u8>| result[0] == number as u8 && result[1..] == number.to_le_bytes();
        match posted.collect() {
            Ok(result) if is_own(&result) => report.count += 1,
            other => report.violation(format!("call {number} came to {other:?}")),
        }
    }
    report.at_most("refused after p99", refusals.quantile_us(0.99), REFUSED_US_P99, " us");
    let grown = during.saturating_sub(before);
    report.at_most("server grown by", grown as f64, GROWN_KB_MAX as f64, " KiB");
    drop(clients);
    server.end()?;
    Ok(report)
}

/// A client that has as many A-stacks as it may have.
fn grown(domain: &Domain, directory: &Path) -> Result<FaultsClient, Stopped> {
    let mut options: ImportOptions = import_options(directory);
    options.when_exhausted = WhenExhausted::Grow;
    options.timeout = Duration::from_secs(5);
    let client = FaultsClient::new(Binding::import_with(domain, NAME, &FAULTS, options)?);
    let at_first = client.binding().astack_count();
    let mut pending = Vec::new();
    let posting = client.posting();
    loop {
        match posting.work(0, 0, &[1]) {
            Ok(posted) => pending.push(posted),
            Err(error) if is_refusal(&error) => break,
            Err(error) => return Err(error.into()),
        }
    }
    for posted in pending {
        posted.collect()?;
    }
    let count = client.binding().astack_count();
    match count > at_first * EXTENSIONS / 2 {
        true => Ok(client),
        false => Err(format!("{at_first} A-stacks grew to {count} only").into()),
    }
}

/// This thread has every A-stack of the class outstanding.
fn is_refusal(error: &CallError) -> bool {
    matches!(error, CallError::Usage(UsageError::Outstanding { .. }))
}
