//! T8: clients that write noise into every byte that they can write, as fast as they can, while
//! they call; beside them an honest client. The server runs under AddressSanitizer.

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use super::Setup;
use super::hand::{self, HandClient};
use super::nightly;
use super::player::{Player, Program, Role, bind};
use super::report::{Report, Stopped};

const NAME: &str = "scribbled";

/// Honest calls that are made meanwhile.
const CALLS: u64 = 1_000_000;
const CALLS_AT_NIGHT: u64 = 100_000_000;

/// Words written between two calls of a scribbler, and calls before it binds anew.
const WORDS: u32 = 24;
const CALLS_OF_ONE: u32 = 200;

/// Calls that one scribbler must have got answers to, so that what it does is no noise alone.
const ANSWERED_MIN: u64 = 200;

/// Builds, scribbles, calls.
pub fn run(setup: &Setup) -> Result<Report, Stopped> {
    let program = nightly::campaign(setup, "address", "cargo", &[])?;
    let mut report = Report::of("honest calls");
    let directory = tempfile::tempdir()?;
    let path = directory.path();
    let sanitized = Program {
        path: program,
        // What the server keeps to its end is no leak.
        environment: &[("ASAN_OPTIONS", "detect_leaks=0:abort_on_error=0")],
    };
    let mut server = Player::start_program(&sanitized, Role::Serve, path, NAME, "")?;
    let neighbour = bind(path, NAME, Duration::from_secs(5))?;
    let calls = if setup.is_nightly { CALLS_AT_NIGHT } else { CALLS };
    let (is_over, answered) = (AtomicBool::new(false), AtomicU64::new(0));
    std::thread::scope(|threads| {
        let chances = setup.chances("T8");
        threads.spawn(|| scribble(path, chances, &is_over, &answered));
        for number in 0..calls {
            let data = number.to_le_bytes();
            let (sum, echo) = (neighbour.add(number as i32, 1), neighbour.echo(&data));
            let is_right = matches!(sum, Ok(sum) if sum == (number as i32).wrapping_add(1))
                && matches!(&echo, Ok(echo) if *echo == data);
            if !is_right {
                report.violation(format!("call {number} came to {sum:?} and {echo:?}"));
                break;
            }
            report.count += 1;
        }
        // Relaxed: a flag that orders nothing.
        is_over.store(true, Ordering::Relaxed);
    });
    // Relaxed: its thread has ended.
    let answered = answered.load(Ordering::Relaxed);
    report.at_least("calls of scribblers answered", answered as f64, ANSWERED_MIN as f64, "");
    drop(neighbour);
    let ended = server.end()?;
    report.violations.extend(ended.wrong(None));
    if ended.complaints.contains("AddressSanitizer") {
        report.violation(format!("the server complains: {}", ended.complaints));
    }
    Ok(report)
}

/// Binds, calls and scribbles, again and again.
fn scribble(
    directory: &Path,
    mut chances: fastrand::Rng,
    is_over: &AtomicBool,
    answered: &AtomicU64,
) {
    // Relaxed: a flag that orders nothing.
    while !is_over.load(Ordering::Relaxed) {
        // Refused while its user has too many bindings that are being ended.
        let Ok(client) = HandClient::bind(&hand::path_of(directory, NAME)) else {
            continue;
        };
        for sequence in 1..=CALLS_OF_ONE {
            let name = ["echo", "sum", "add"][chances.usize(..3)];
            let astack = hand::astack_of(name);
            for _ in 0..WORDS {
                write_one(&client, &mut chances);
            }
            // The words of the call itself are right more often than not: it is to be run.
            client.post(astack, hand::words_of(name, sequence, chances.u32(..80)));
            for _ in 0..chances.u32(..WORDS) {
                write_one(&client, &mut chances);
            }
            if !client.await_reply(astack, sequence, Duration::from_millis(1)) {
                break;
            }
            // Relaxed: a counter that orders nothing.
            answered.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// Writes one word of noise somewhere where the client may.
fn write_one(client: &HandClient, chances: &mut fastrand::Rng) {
    let spans = [&client.heads, &client.requests, &client.bell];
    let span = spans[chances.usize(..3)].span_mut().expect("the client's to write");
    let word = if chances.bool() { chances.u32(..) } else { chances.u32(..64) };
    span.store_u32(chances.usize(..span.as_span().bytes() / 4) * 4, word);
}
