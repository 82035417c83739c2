//! T27: a server with many bindings that does nothing costs nothing, one that sleeps hears of a
//! call at once, a client that sleeps hears of its reply at once; and clients that wake the server
//! without end, at every gate of their bell, beside honest ones of the same user.

use std::path::Path;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::sync::atomic::{AtomicBool, AtomicU32};
use std::time::{Duration, Instant};

use nearcall::Domain;
use nearcall_abi::BellLine;
use nearcall_abi::bell::{GateLine, RELIEF_OFFSET_BYTES, ResidentGate};
use nearcall_abi::message::Message;
use nearcall_core::bell::RUNG;
use nearcall_os::{futex, processor};

use super::Setup;
use super::hand::{self, HandClient};
use super::held::Run;
use super::honest::{Honest, SELDOM};
use super::latency::Times;
use super::player::{Player, Role, bind_in};
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

/// Share of a processor that the server may spend on one user that wakes it for nothing.
const FLOOD_PERCENT_MAX: f64 = 5.0;

/// How much slower than beside a process that only burns as much honest calls may be.
const SLOWED_MAX: f64 = 2.0;

/// How late a call of the same user may be found that comes now and then: its caller rings again,
/// and says so over its socket after 1.4 ms.
const FOUND_MS_MAX: f64 = 20.0;

/// How long it leaves the server alone between two calls.
const NOW_AND_THEN: Duration = Duration::from_millis(4);

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
    let honest = Honest::new(bind(BINDINGS)?, 0, SELDOM);
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
    ring_in_vain(&mut report, &server, directory.path(), &honest)?;
    honest.judge(&mut report, directory.path());
    drop(honest);
    let look = hand::packet(&Message::Look);
    let ask = |client: &HandClient| {
        // What it has no room for is not sent.
        let _ = client.stream.send(&look, &[], Duration::ZERO);
    };
    let percent = used(server.pid(), || flood(directory.path(), ask))?;
    report.at_most("flood of looks", percent, FLOOD_PERCENT_MAX, " % of a processor");
    if let Err(error) = bound[0].add(2, 3) {
        report.violation(format!("a call after the flood failed: {error}"));
    }
    drop(bound);
    report.violations.extend(server.end()?.wrong(None));
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

/// A way to wake a server for nothing.
type Flood = (&'static str, fn(&HandClient));

/// All of them that are tried.
const FLOODS: &[Flood] = &[
    ("bells", HandClient::ring),
    ("bells that wake nobody", |client| ring_gate(&client.bell_line().gate)),
    ("wakes without bells", |client| wake_gate(&client.bell_line().gate)),
    ("bells without lanes", |client| ring_and_wake(&client.bell_line().gate)),
    ("lanes of everybody without bells", set_lanes),
    ("bells of everybody", ring_for_everybody),
    ("bells at every gate", ring_everywhere),
];

/// What floods of bells cost the server, and honest clients of the same user.
fn ring_in_vain(
    report: &mut Report,
    server: &Player,
    directory: &Path,
    client: &Honest,
) -> Result<(), Stopped> {
    for (name, act) in FLOODS {
        let percent = used(server.pid(), || flood(directory, act))?;
        report.at_most(&format!("flood of {name}"), percent, FLOOD_PERCENT_MAX, " %");
    }
    let (mut ratio, mut found_ms) = (f64::MAX, f64::MAX);
    for _ in 0..TRIES {
        let p99 = |report: &mut Report, work, pause| -> Result<f64, Stopped> {
            let (mut times, failures) = beside(client, work, pause)?;
            if failures > 0 {
                report.violation(format!("{failures} honest calls failed beside a flood"));
            }
            Ok(times.quantile_us(0.99))
        };
        let ring = || flood(directory, HandClient::ring);
        ratio = ratio.min(p99(report, &ring, Duration::ZERO)? / p99(report, &hog, Duration::ZERO)?);
        found_ms = found_ms.min(p99(report, &ring, NOW_AND_THEN)? / 1e3);
        if ratio <= SLOWED_MAX && found_ms <= FOUND_MS_MAX {
            break;
        }
    }
    report.at_most("honest p99", ratio, SLOWED_MAX, " of that beside a hog");
    report.at_most("p99 of calls now and then", found_ms, FOUND_MS_MAX, " ms");
    Ok(())
}

/// What a client's calls take while something is done, and how many fail.
fn beside(
    client: &Honest,
    work: &(dyn Fn() -> Result<(), Stopped> + Sync),
    pause: Duration,
) -> Result<(Times, u64), Stopped> {
    let is_over = &AtomicBool::new(false);
    std::thread::scope(|threads| {
        let calls = threads.spawn(move || {
            let mut had = (Times::default(), 0);
            // Relaxed: a flag that orders nothing.
            while !is_over.load(Relaxed) {
                let begin = Instant::now();
                had.1 += u64::from(!client.call());
                had.0.push(begin.elapsed());
                if pause > Duration::ZERO {
                    std::thread::sleep(pause);
                }
            }
            had
        });
        let worked = work();
        // Relaxed: as above.
        is_over.store(true, Relaxed);
        let had = calls.join().expect("an honest client");
        worked.map(|()| had)
    })
}

/// Burns processor time and does nothing else.
fn hog() -> Result<(), Stopped> {
    let begin = Instant::now();
    while begin.elapsed() < FLOOD {
        std::hint::spin_loop();
    }
    Ok(())
}

fn ring_gate(gate: &AtomicU32) {
    // SeqCst: by hand, nothing is to depend on a row of the table.
    gate.fetch_or(RUNG, SeqCst);
}

fn wake_gate(gate: &AtomicU32) {
    futex::wake_all(gate);
}

fn ring_and_wake(gate: &AtomicU32) {
    ring_gate(gate);
    wake_gate(gate);
}

/// Has the server look at every binding of the user.
fn ring_for_everybody(client: &HandClient) {
    set_lanes(client);
    ring_and_wake(&client.bell_line().gate);
}

/// What is polled while the server is awake.
fn set_lanes(client: &HandClient) {
    // SeqCst: as above.
    client.bell_line().lanes.iter().for_each(|lanes| lanes.store(u64::MAX, SeqCst));
}

/// Rings for the watcher, for reliefs and for the residents of all processors.
fn ring_everywhere(client: &HandClient) {
    client.ring();
    let bell = client.bell.span_mut().expect("both write the bell");
    let relief: &BellLine = bell.line(RELIEF_OFFSET_BYTES).expect("a line of the segment");
    ring_and_wake(&relief.gate);
    for number in processor::allowed() {
        let resident = ResidentGate::of(number);
        let line: &GateLine = bell.line(resident.line_offset).expect("a line of the segment");
        ring_and_wake(&line.gates[resident.index]);
    }
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
    let (begin, before) = (Instant::now(), Run::of(pid)?);
    work()?;
    let spent = Run::of(pid)?.ns_since(&before);
    Ok(spent as f64 * 100.0 / begin.elapsed().as_nanos() as f64)
}
