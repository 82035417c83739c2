//! T13: bytes that one client has sent are nowhere where another can read. A client fills its calls
//! with a pattern, which goes through the server's heap and stacks; another one looks for it in
//! every byte that the server shares with it, between calls of its own whose messages have padding.
//! And bytes of a client are nowhere where a server can read to whom they were not sent. Both once
//! more with calls of every form of type.

mod forms;
mod servers;

use std::path::Path;
use std::sync::atomic::Ordering::SeqCst;
use std::time::Duration;

use nearcall_os::segment::Segment;

pub use self::forms::fill;
use super::Setup;
use super::hand::{self, HandClient};
use super::player::{Player, Role, bind};
use super::report::{Report, Stopped};
use crate::effects::effects::EffectsClient;

const NAME: &str = "secret";

/// What the first client sends, over and over.
const PATTERN: u64 = 0x5ec2_e7ca_9a21_d00d;

const CALLS: u64 = 100_000;
const CALLS_AT_NIGHT: u64 = 10_000_000;

/// Calls of the first client between two looks of the other.
const BETWEEN: u64 = 50;

const ANSWERED: Duration = Duration::from_secs(5);

/// The client that looks.
struct Reader {
    client: HandClient,
    /// Calls on the A-stacks of `add`, `effect` and `echo`.
    sequences: [u32; 3],
}

/// Sends, looks.
pub fn run(setup: &Setup) -> Result<Report, Stopped> {
    let mut report = Report::of("calls");
    let directory = tempfile::tempdir()?;
    let path = directory.path();
    let mut server = Player::start(Role::Serve, path, NAME, "")?;
    let writer = bind(path, NAME, ANSWERED)?;
    let mut reader = Reader::bind(path)?;
    if !reader.would_see() {
        report.violation("the pattern is not found where it is");
    }
    let mut looks = 0;
    for number in 0..if setup.is_nightly { CALLS_AT_NIGHT } else { CALLS } {
        send(&writer, number)?;
        report.count += 1;
        if number % BETWEEN == 0 {
            looks += 1;
            reader.call()?;
            if let Some(place) = reader.sees() {
                report.violation(format!("after {number} calls the pattern stands in {place}"));
                break;
            }
            // New bindings get new memory: what they begin with is looked at as well.
            if looks % 8 == 0 {
                reader = Reader::bind(path)?;
            }
        }
    }
    report.figure(format!("{looks} looks"));
    drop((writer, reader));
    report.violations.extend(server.end()?.wrong(None));
    servers::run(setup, &mut report)?;
    forms::run(setup, &mut report)?;
    Ok(report)
}

/// A call full of the pattern, of one length or another.
fn send(writer: &EffectsClient, number: u64) -> Result<(), Stopped> {
    let words = [1, 5, 40, 150, 1_000, 20_000][(number % 6) as usize];
    let data: Vec<u8> = std::iter::repeat_n(PATTERN.to_le_bytes(), words).flatten().collect();
    match number % 3 {
        0 => drop(writer.sum(&data)?),
        1 => writer.effect(PATTERN, PATTERN)?,
        _ => drop(writer.echo(&data)?),
    }
    Ok(())
}

impl Reader {
    fn bind(path: &Path) -> Result<Reader, Stopped> {
        let client = HandClient::bind(&hand::path_of(path, NAME))?;
        Ok(Reader { client, sequences: [0; 3] })
    }

    /// Makes a call of each kind, with lengths that leave bytes over.
    fn call(&mut self) -> Result<(), Stopped> {
        for (which, name, bytes) in [(0, "add", 8), (1, "effect", 16), (2, "echo", 8 + 3)] {
            let astack = hand::astack_of(name) + which as u32;
            self.sequences[which] += 1;
            let sequence = self.sequences[which];
            for word in &self.client.head(astack).inline {
                // SeqCst: by hand, nothing is to depend on a row of the table.
                word.store(3, SeqCst);
            }
            self.client.post(astack, hand::words_of(name, sequence, bytes));
            if !self.client.await_reply(astack, sequence, ANSWERED) {
                return Err(format!("{name} in order is not answered").into());
            }
        }
        Ok(())
    }

    /// Where the pattern stands, at any byte.
    fn sees(&self) -> Option<&'static str> {
        let HandClient { heads, requests, replies, bell, .. } = &self.client;
        let places =
            [("heads", heads), ("requests", requests), ("replies", replies), ("bell", bell)];
        places.into_iter().find(|(_, segment)| has_pattern(segment)).map(|(name, _)| name)
    }

    /// Whether the pattern would be found if it stood there.
    fn would_see(&self) -> bool {
        let requests = self.client.requests.span_mut().expect("the client's to write");
        for (at, byte) in PATTERN.to_le_bytes().into_iter().enumerate() {
            requests.store_u8(133 + at, byte);
        }
        let is_seen = self.sees() == Some("requests");
        requests.store_u8(133, 0);
        is_seen && self.sees().is_none()
    }
}

fn has_pattern(segment: &Segment) -> bool {
    let mut bytes = vec![0; segment.bytes()];
    segment.span().copy_out(0, &mut bytes);
    holds_pattern(&bytes)
}

fn holds_pattern(bytes: &[u8]) -> bool {
    memchr::memmem::find(bytes, &PATTERN.to_le_bytes()).is_some()
}
