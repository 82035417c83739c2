//! T27: a server with many bindings that does nothing costs nothing, one that sleeps hears of a
//! call at once, a client that sleeps hears of its reply at once; and one client that wakes the
//! server without end.

use std::path::Path;
use std::time::{Duration, Instant};

use nearcall::Domain;
use nearcall_abi::message::Message;

use super::Setup;
use super::hand::{self, HandClient};
use super::latency::Times;
use super::player::{Player, Role, bind_in, run_ns};
use super::report::{Report, Stopped};
use crate::effects::effects::EffectsClient;

const NAME: &str = "idle";

/// Bindings that nobody calls over.
const BINDINGS: usize = 1_000;

/// How long the server is watched.
const WATCHED: Duration = Duration::from_secs(2);

/// Share of a processor that an idle server may take, per cent.
const IDLE_PERCENT_MAX: f64 = 0.1;

/// How long a call takes whose client sleeps meanwhile.
const DOZE: Duration = Duration::from_millis(20);

/// How long a server is left alone that is to fall asleep.
const ASLEEP: Duration = Duration::from_millis(5);

const SLEEPERS: usize = 60;

/// How late a sleeper may wake, in the median. A lost wake-up shows as a slice of milliseconds on
/// the client's side, and of 200 us on the server's.
const CLIENT_LATE_US_MAX: f64 = 3_000.0;
const SERVER_LATE_US_MAX: f64 = 180.0;

/// Times that waking is measured: other work on the machine makes it slower, and nothing faster.
const TRIES: u32 = 5;

/// Share of a processor that the server may spend on one user that asks it to look without end.
const LOOKS_PERCENT_MAX: f64 = 30.0;

/// How long one client floods.
const FLOOD: Duration = Duration::from_secs(1);

/// Watches, wakes, floods.
pub fn run(_: &Setup) -> Result<Report, Stopped> {
    let mut report = Report::of("bindings");
    let directory = tempfile::tempdir()?;
    let mut server = Player::start(Role::Serve, directory.path(), NAME, "")?;
    let domain = Domain::new()?;
    let bind = |_| bind_in(&domain, directory.path(), NAME, Duration::from_secs(5));
    let bound = (0..BINDINGS).map(bind).collect::<Result<Vec<_>, _>>()?;
    let called = bound.iter().filter(|client| client.null().is_ok());
    report.count = called.count() as u64;
    // What binds leave to be done is no idling.
    std::thread::sleep(Duration::from_millis(300));
    let idle = || {
        std::thread::sleep(WATCHED);
        Ok(())
    };
    let percent = used(server.pid(), idle)?;
    report.at_most("idle", percent, IDLE_PERCENT_MAX, " % of a processor");
    wake(&mut report, &bound[0]);
    let percent = used(server.pid(), || flood(directory.path(), HandClient::ring))?;
    report.figure(format!("{percent:.1} % of a processor under a flood of wakes (wanted 5 %)"));
    let look = hand::packet(&Message::Look);
    let ask = |client: &HandClient| {
        // What it has no room for is not sent.
        let _ = client.stream.send(&look, &[], Duration::ZERO);
    };
    let percent = used(server.pid(), || flood(directory.path(), ask))?;
    report.at_most("flood of looks", percent, LOOKS_PERCENT_MAX, " % of a processor");
    if let Err(error) = bound[0].add(2, 3) {
        report.violation(format!("a call after the flood failed: {error}"));
    }
    drop(bound);
    server.end()?;
    Ok(report)
}

/// How late sleepers are told.
fn wake(report: &mut Report, client: &EffectsClient) {
    let (mut client_late, mut server_late) = (f64::MAX, f64::MAX);
    for _ in 0..TRIES {
        let (mut of_client, mut of_server) = (Times::default(), Times::default());
        for _ in 0..SLEEPERS {
            let begin = Instant::now();
            if let Err(error) = client.doze(DOZE.as_millis() as u32) {
                report.violation(format!("a call that dozes failed: {error}"));
            }
            of_client.push(begin.elapsed().saturating_sub(DOZE));
            std::thread::sleep(ASLEEP);
            let begin = Instant::now();
            if let Err(error) = client.null() {
                report.violation(format!("a call to a sleeping server failed: {error}"));
            }
            of_server.push(begin.elapsed());
        }
        client_late = client_late.min(of_client.quantile_us(0.5));
        server_late = server_late.min(of_server.quantile_us(0.5));
        if client_late <= CLIENT_LATE_US_MAX && server_late <= SERVER_LATE_US_MAX {
            break;
        }
    }
    report.at_most("sleeping client told after", client_late, CLIENT_LATE_US_MAX, " us");
    report.at_most("sleeping server answers after", server_late, SERVER_LATE_US_MAX, " us");
}

/// Does something that wakes the server as fast as it can.
fn flood(directory: &Path, act: impl Fn(&HandClient)) -> Result<(), Stopped> {
    let client = HandClient::bind(&hand::path_of(directory, NAME))?;
    let begin = Instant::now();
    while begin.elapsed() < FLOOD {
        act(&client);
    }
    Ok(())
}

/// Per cent of a processor that a process takes while something is done.
fn used(pid: u32, work: impl FnOnce() -> Result<(), Stopped>) -> Result<f64, Stopped> {
    let (begin, before) = (Instant::now(), run_ns(pid));
    work()?;
    let spent = run_ns(pid).saturating_sub(before);
    Ok(spent as f64 * 100.0 / begin.elapsed().as_nanos() as f64)
}
