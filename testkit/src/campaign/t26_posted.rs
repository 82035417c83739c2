//! T26: calls are posted until nothing more can be, while the server takes none. They wait in their
//! clients' own segments: the server's memory does not grow with them. One call more is refused at
//! once. Then the server goes on, and every call gets its own reply.
//!
//! What a server refuses is timed as well: a call whose arguments it has no room for, beside one
//! that returns, and an import of a user that has all binds under way that it may.

use std::path::Path;
use std::time::{Duration, Instant};

use nearcall::{Binding, CallError, Domain, ImportOptions, NotExecuted, UsageError, WhenExhausted};
use nearcall_abi::message::{Message, RefusalCode};

use super::Setup;
use super::effects;
use super::hand::{self, Heard};
use super::held::resident_kb;
use super::latency::Times;
use super::player::{Player, Role, bind_in};
use super::report::{Report, Stopped};
use crate::effects::effects::{CROWD, CrowdClient, EffectsClient};
use crate::server::import_options;
use crate::signal;

const NAME: &str = "posted";

/// Clients, and A-stacks that each has when it has as many as there may be.
const CLIENTS: u64 = 500;
const ASTACKS: u32 = 16 * 126;

/// How often all of them are filled at night; and how often those of the first client, before there
/// are others. Of these times the best counts: a round takes two milliseconds, so others are of
/// whoever else wants a processor.
const ROUNDS_AT_NIGHT: u64 = 20;
const ROUNDS_ALONE: u64 = 20;

/// How many times as long a call may take among those of all clients.
const TIMES_ALONE_MAX: f64 = 20.0;

/// How long a refusal may take, by the client's own library or by the server, and how many of the
/// former are timed for each client.
const REFUSED_US_P99: f64 = 10.0;
const REFUSALS: u32 = 100;

/// Calls that the server refuses, and the least that it maps for a client's arguments.
const REFUSED_CALLS: usize = 2_000;
const MAPPED_BYTES_MIN: usize = 64 << 10;
const TIGHT: &str = "tight";

/// How long a server may take until it has given back what is lent no longer.
const ROOM_AFTER: Duration = Duration::from_secs(5);

/// How long the server's refusal of an import may take, and how many are timed. It is no look at
/// one's own memory: it connects, wakes the server's housekeeping, and reads an answer. A refusal
/// that comes within this time comes while an importer still polls for it (design note 0009).
const NOT_BOUND_US_P99: f64 = 1000.0;
const IMPORTS: usize = 500;

/// Times that all of them are timed again, if their answers came late.
const TRIES: u32 = 4;

/// Silent importers: more than one user may have, which is half of the binds under way.
const SILENT: usize = 200;

/// Whoever hears nothing for so long was let in.
const LET_IN: Duration = Duration::from_millis(500);

/// What the server's own memory may grow by while the calls are posted, KiB.
const GROWN_KB_MAX: u64 = 256;

/// Grows, then has a server stop and go on.
pub fn run(setup: &Setup) -> Result<Report, Stopped> {
    let mut report = Report::of("calls");
    let directory = tempfile::tempdir()?;
    let mut server = Player::start(Role::Echo, directory.path(), NAME, "")?;
    let domain = Domain::new()?;
    let grown = |_| grown(&domain, directory.path());
    let mut clients = vec![grown(0)?];
    let (mut refusals, mut filled) = (Times::default(), Filled::default());
    let mut alone_us = f64::MAX;
    for _ in 0..ROUNDS_ALONE {
        let alone = fill(&mut report, &mut Times::default(), server.pid(), &clients)?;
        alone_us = alone_us.min(alone.us_a_call());
    }
    for at in 1..CLIENTS {
        clients.push(grown(at)?);
    }
    report.figure(format!("{CLIENTS} clients with {ASTACKS} A-stacks each"));
    for _ in 0..if setup.is_nightly { ROUNDS_AT_NIGHT } else { 1 } {
        filled.add(fill(&mut report, &mut refusals, server.pid(), &clients)?);
    }
    report.at_most("refused after p99", refusals.quantile_us(0.99), REFUSED_US_P99, " us");
    let us = filled.us_a_call();
    report
        .figure(format!("a call served in {us:.1} us, of one client's alone in {alone_us:.2} us"));
    report.at_most("times as long", us / alone_us, TIMES_ALONE_MAX, "");
    refuse_calls(&mut report, directory.path())?;
    refuse_imports(&mut report, directory.path())?;
    report.at_most("server grown by", filled.grown_kb as f64, GROWN_KB_MAX as f64, " KiB");
    drop(clients);
    report.violations.extend(server.end()?.wrong(None));
    Ok(report)
}

/// What came of it that A-stacks were filled.
#[derive(Clone, Copy, Debug, Default)]
struct Filled {
    calls: u64,
    /// From when the server went on until all of them were collected.
    served_in: Duration,
    /// What it had grown by while they waited, at most.
    grown_kb: u64,
}

impl Filled {
    fn add(&mut self, other: Filled) {
        self.calls += other.calls;
        self.served_in += other.served_in;
        self.grown_kb = self.grown_kb.max(other.grown_kb);
    }

    fn us_a_call(&self) -> f64 {
        self.served_in.as_secs_f64() * 1e6 / self.calls as f64
    }
}

/// Stops the server, posts until nothing more can be, lets it go on, and collects.
fn fill(
    report: &mut Report,
    refusals: &mut Times,
    server: u32,
    clients: &[CrowdClient],
) -> Result<Filled, Stopped> {
    let before = resident_kb(server)?;
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
    let grown_kb = resident_kb(server)?.saturating_sub(before);
    let (calls, begin) = (pending.len() as u64, Instant::now());
    signal::resume(server);
    for (number, posted) in pending {
        match posted.collect() {
            Ok(again) if again == number => report.count += 1,
            other => report.violation(format!("call {number:#x} came to {other:?}")),
        }
    }
    Ok(Filled { calls, served_in: begin.elapsed(), grown_kb })
}

/// Times calls that a server refuses because it maps no more of this user's memory, again if other
/// work on the machine may have made them late; beside each a call that returns.
fn refuse_calls(report: &mut Report, directory: &Path) -> Result<(), Stopped> {
    let mut server = Player::start(Role::Tight, directory, TIGHT, "")?;
    let client = bind_in(&Domain::new()?, directory, TIGHT, Duration::from_secs(5))?;
    let lend = || client.binding().lend(MAPPED_BYTES_MIN).ok();
    let lent: Vec<_> = std::iter::from_fn(lend).collect();
    let (mut p50_us, mut p99_us, mut null_us) = (f64::MAX, f64::MAX, f64::MAX);
    let mut count = 0;
    for _ in 0..TRIES {
        let (mut refused, mut returned) = (Times::default(), Times::default());
        while refused.count() < REFUSED_CALLS {
            let begin = Instant::now();
            let outcome = effects::call_long(&client);
            refused.push(begin.elapsed());
            if !outcome.as_ref().is_err_and(is_servers_refusal) {
                return Err(format!("a call that was to be refused came to {outcome:?}").into());
            }
            let begin = Instant::now();
            client.null()?;
            returned.push(begin.elapsed());
        }
        count += refused.count();
        p50_us = p50_us.min(refused.quantile_us(0.5));
        p99_us = p99_us.min(refused.quantile_us(0.99));
        null_us = null_us.min(returned.quantile_us(0.5));
        if p99_us <= REFUSED_US_P99 {
            break;
        }
    }
    refuse_while_stopped(report, server.pid(), &client);
    drop(lent);
    await_room(&client)?;
    let beside = format!("of a Null beside them {null_us:.2} us");
    report.figure(format!("{count} calls refused by a server, p50 {p50_us:.1} us, {beside}"));
    report.at_most("refused by a server after p99", p99_us, REFUSED_US_P99, " us");
    drop(client);
    report.violations.extend(server.end()?.wrong(None));
    Ok(())
}

/// A client knows by itself that there is no more room than there was: its server is stopped.
fn refuse_while_stopped(report: &mut Report, server: u32, client: &EffectsClient) {
    signal::stop(server);
    let outcome = effects::call_long(client);
    signal::resume(server);
    if !outcome.as_ref().is_err_and(is_servers_refusal) {
        report.violation(format!("while its server was stopped a call came to {outcome:?}"));
    }
}

/// Calls until one returns, now that nothing is lent any more.
fn await_room(client: &EffectsClient) -> Result<(), Stopped> {
    let begin = Instant::now();
    while let Err(error) = effects::call_long(client) {
        if !is_servers_refusal(&error) || begin.elapsed() > ROOM_AFTER {
            return Err(format!("with nothing lent any more a call came to {error:?}").into());
        }
    }
    Ok(())
}

/// Times refused imports, again if other work on the machine may have made them late.
fn refuse_imports(report: &mut Report, directory: &Path) -> Result<(), Stopped> {
    let path = hand::path_of(directory, NAME);
    let (mut p50_us, mut p99_us) = (f64::MAX, f64::MAX);
    for _ in 0..TRIES {
        let mut times = refused_imports(&path)?;
        p50_us = p50_us.min(times.quantile_us(0.5));
        p99_us = p99_us.min(times.quantile_us(0.99));
        if p99_us <= NOT_BOUND_US_P99 {
            break;
        }
    }
    report.figure(format!("import refused after p50 {p50_us:.0} us"));
    report.at_most("import refused after p99", p99_us, NOT_BOUND_US_P99, " us");
    Ok(())
}

/// Has as many binds under way as one user may, and times how the next ones are refused.
fn refused_imports(path: &Path) -> Result<Times, Stopped> {
    let mut times = Times::default();
    while times.count() < IMPORTS {
        // They are thrown out after a second.
        let silent = (0..SILENT).map(|_| hand::connect(path)).collect::<Result<Vec<_>, _>>()?;
        // What is refused behind all of them waits for them.
        let mut is_full = import_refused(path)?.is_some();
        while is_full && times.count() < IMPORTS {
            let took = import_refused(path)?;
            took.into_iter().for_each(|took| times.push(took));
            is_full = took.is_some();
        }
        drop(silent);
    }
    Ok(times)
}

/// How long an importer waits for its refusal; `None`: it was let in.
fn import_refused(path: &Path) -> Result<Option<Duration>, Stopped> {
    let begin = Instant::now();
    let stream = hand::connect(path)?;
    match hand::hear(&stream, LET_IN) {
        Heard::Packet(packet) if is_overloaded(&packet) => Ok(Some(begin.elapsed())),
        Heard::Nothing => Ok(None),
        other => Err(format!("an importer heard {other:?}").into()),
    }
}

fn is_overloaded(packet: &[u8]) -> bool {
    let overloaded = RefusalCode::Overloaded;
    matches!(Message::decode(packet), Ok(Message::Refused { code, .. }) if code == overloaded)
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

/// The server has no room for the arguments.
fn is_servers_refusal(error: &CallError) -> bool {
    matches!(error, CallError::NotExecuted { reason: NotExecuted::Overloaded, .. })
}
