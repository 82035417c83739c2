//! T23: clients that offer segments which are larger than the server may be, and have not paid for
//! them. Whoever reads such a page is charged for it; a server that took them would be ended by the
//! system for having too much memory.

use std::time::Duration;

use nearcall_abi::message::Message;

use super::Setup;
use super::hand::{self, HandClient, SINGLE};
use super::honest::Honest;
use super::memory::MemoryGroup;
use super::player::{Player, Role, bind};
use super::report::{Report, Stopped};

const NAME: &str = "charged";

const CLIENTS: u64 = 100;

/// What each offers, and what the server may have.
const OFFERED: u64 = 128 << 20;
const ALLOWED: u64 = 64 << 20;

const ANSWERED: Duration = Duration::from_secs(2);

/// Offers, and looks whether the server lives.
pub fn run(_: &Setup) -> Result<Report, Stopped> {
    let lacking = || Stopped::Lacking("a memory control group".to_owned());
    let group = MemoryGroup::of(NAME)?.ok_or_else(lacking)?;
    group.limit(ALLOWED)?;
    let mut report = Report::of("offers");
    let directory = tempfile::tempdir()?;
    let mut server = Player::start(Role::Serve, directory.path(), NAME, "")?;
    group.take(server.pid())?;
    let neighbour = bind(directory.path(), NAME, Duration::from_secs(5))?;
    let neighbour = Honest::new(neighbour, 0, 1);
    let astack = hand::astack_of("echo");
    for _ in 0..CLIENTS {
        let client = HandClient::bind(&hand::path_of(directory.path(), NAME))?;
        let sparse = hand::file(OFFERED, 0, SINGLE)?;
        let message = Message::OutOfLine { astack, generation: 1, bytes: OFFERED };
        hand::send(&client.stream, &hand::packet(&message), &[sparse])?;
        if hand::await_hang_up(&client.stream, ANSWERED).is_none() {
            report.violation("a segment that nobody has paid for is taken");
        }
        report.count += 1;
        if !neighbour.call() {
            report.violation("a neighbour's call failed");
            break;
        }
    }
    let most = group.read("memory.max_usage_in_bytes")? >> 20;
    report.figure(format!("{most} MiB at most of {}", ALLOWED >> 20));
    neighbour.judge(&mut report, directory.path());
    drop(neighbour);
    report.violations.extend(server.end()?.wrong(None));
    Ok(report)
}
