//! T25: clients that have results made for them and never read one. What they make the server hold
//! is what their A-stacks are charged for, and does not grow; others do not notice.

use std::path::Path;
use std::time::Duration;

use nearcall_abi::head::flag;
use nearcall_abi::message::Message;

use super::Setup;
use super::hand::{self, HandClient, SINGLE, Words};
use super::held::{Held, shared_kb};
use super::honest::Honest;
use super::player::{Player, Role, bind};
use super::report::{Report, Stopped};

const NAME: &str = "unread";

const CLIENTS: usize = 8;

/// A-stacks that results are made on, and bytes of each result.
const ASTACKS: u32 = 4;
const BYTES: u32 = 1 << 20;

/// Results that are made on each A-stack.
const ROUNDS: u32 = 50;
const ROUNDS_AT_NIGHT: u32 = 10_000;

/// More than what is charged, by this part, is a leak.
const OVER: f64 = 1.05;

const ANSWERED: Duration = Duration::from_secs(5);

/// Makes results, reads none.
pub fn run(setup: &Setup) -> Result<Report, Stopped> {
    let mut report = Report::of("results");
    let directory = tempfile::tempdir()?;
    let path = directory.path();
    let mut server = Player::start(Role::Serve, path, NAME, "")?;
    let neighbour = Honest::new(bind(path, NAME, ANSWERED)?, 0, 1);
    neighbour.client.null()?;
    let (before, held) = (shared_kb(server.pid())?, Held::by(server.pid())?);
    let start = |_| begin(path);
    let clients = (0..CLIENTS).map(start).collect::<Result<Vec<_>, _>>()?;
    let rounds = if setup.is_nightly { ROUNDS_AT_NIGHT } else { ROUNDS };
    for sequence in 1..=rounds {
        for client in &clients {
            post(client, sequence);
        }
        for client in &clients {
            for astack in astacks() {
                match client.await_reply(astack, sequence, ANSWERED) {
                    true => report.count += 1,
                    false => return Err("a call in order is not answered".into()),
                }
            }
        }
        if !neighbour.call() {
            report.violation("a neighbour's call failed");
        }
    }
    // Arguments and results, each once for each A-stack.
    let charged_kb = 2.0 * CLIENTS as f64 * f64::from(ASTACKS * (BYTES / 1024));
    let grown_kb = shared_kb(server.pid())?.saturating_sub(before) as f64;
    report.at_most("held of what is charged", grown_kb / charged_kb, OVER, "");
    drop(clients);
    if let Err(still) = held.again(server.pid(), ANSWERED) {
        report.violation(format!("of the server's afterwards {still}"));
    }
    neighbour.judge(&mut report, path);
    drop(neighbour);
    report.violations.extend(server.end()?.wrong(None));
    Ok(report)
}

fn astacks() -> std::ops::Range<u32> {
    let first = hand::astack_of("echo");
    first..first + ASTACKS
}

/// Binds, and sends a segment for arguments for each A-stack.
fn begin(path: &Path) -> Result<HandClient, Stopped> {
    let client = HandClient::bind(&hand::path_of(path, NAME))?;
    for astack in astacks() {
        let file = hand::file(BYTES.into(), BYTES.into(), SINGLE)?;
        let message = Message::OutOfLine { astack, generation: 1, bytes: BYTES.into() };
        hand::send(&client.stream, &hand::packet(&message), &[file])?;
        let mapped = hand::packet(&Message::Mapped { astack, generation: 1 });
        if hand::hear(&client.stream, ANSWERED) != hand::Heard::Packet(mapped) {
            return Err("a segment in order is not mapped".into());
        }
        let requests = client.requests.span_mut().expect("the client's to write");
        requests.store_u32(hand::extent(astack).line_offset_bytes as usize, 1);
    }
    Ok(client)
}

/// Posts an `echo` on every A-stack, whose results are as long as its arguments.
fn post(client: &HandClient, sequence: u32) {
    use std::sync::atomic::Ordering::SeqCst;
    for astack in astacks() {
        // SeqCst: by hand, nothing is to depend on a row of the table.
        client.head(astack).inline[0].store(BYTES.into(), SeqCst);
        let words = hand::words_of("echo", sequence, 8 + BYTES);
        client.post(astack, Words { origin: flag::OUT_OF_LINE, ..words });
    }
}
