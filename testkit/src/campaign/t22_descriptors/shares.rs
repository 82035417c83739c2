//! Of what a process may have one user gets its share, and whoever comes next finds room.

use std::fs::{self, Permissions};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::{Duration, Instant};

use nearcall_abi::LENT_COUNT_MAX;
use nearcall_abi::message::Message;
use nearcall_os::limits;

use super::super::hand::{self, HandClient, Heard, SINGLE};
use super::super::player::{Player, Role, bind};
use super::super::report::{Report, Stopped};
use super::super::t29_policy::Part;
use crate::users::{ANOTHER_USER, as_user};

/// What a policy of T29 is exported under that admits everybody.
const NAME: &str = "anybody";

/// The greedy user; the others are root's.
const GREEDY: u32 = 1001;

/// How many descriptors the server may have that a user wants to have all of, and how many
/// bindings that user must get at least: half of what the server does not keep, two each.
const STARTER: [&str; 2] = ["prlimit", "--nofile=1024:1024"];
const BINDINGS_MIN: usize = 200;

/// The part of all mappings that a user must be able to have, and may not be able to: percent.
const MAPPINGS_PERCENT_MIN: u64 = 30;
const MAPPINGS_PERCENT_MAX: u64 = 60;

/// How long an answer may take: its user has to pause now and then.
const ANSWERED: Duration = Duration::from_secs(5);

/// How soon there is room again.
const RECOVERED: Duration = Duration::from_secs(10);

/// What a greedy user was given before it was refused.
struct Taken {
    clients: Vec<HandClient>,
    /// Segments that the server has mapped beside those of the bindings.
    segments: u64,
}

/// Asks for everything, of one thing and of the other.
pub fn run(report: &mut Report) -> Result<(), Stopped> {
    let had = as_user(GREEDY, || ());
    if had.is_none() {
        report.lacks(ANOTHER_USER);
        return Ok(());
    }
    descriptors(report)?;
    mappings(report)
}

fn descriptors(report: &mut Report) -> Result<(), Stopped> {
    let (directory, mut server) = serve(&STARTER)?;
    let path = directory.path();
    let taken = taken_by_greedy(path, |_| Ok(0))?;
    let count = taken.clients.len();
    report.figure(format!("{count} bindings of a user under 1,024 descriptors"));
    if count < BINDINGS_MIN {
        report.violation(format!("a user has {count} bindings under 1,024 descriptors"));
    }
    report.count += count as u64;
    others_are_served(report, path, "descriptors");
    drop(taken);
    recovers(report, path, "descriptors");
    report.violations.extend(server.end()?.wrong(None));
    Ok(())
}

fn mappings(report: &mut Report) -> Result<(), Stopped> {
    let (directory, mut server) = serve(&[])?;
    let path = directory.path();
    // One page, mapped again and again.
    let page =
        hand::file(nearcall_abi::PAGE_BYTES.into(), nearcall_abi::PAGE_BYTES.into(), SINGLE)?;
    let taken = taken_by_greedy(path, |client| lend_all(client, &page))?;
    let maps = fs::read_to_string(format!("/proc/{}/maps", server.pid()))?;
    let percent = maps.lines().count() as u64 * 100 / limits::mappings();
    let (bindings, segments) = (taken.clients.len(), taken.segments);
    report.figure(format!("{bindings} bindings with {segments} segments of a user"));
    if !(MAPPINGS_PERCENT_MIN..=MAPPINGS_PERCENT_MAX).contains(&percent) {
        report.violation(format!("a user has {percent} % of the mappings of a process"));
    }
    report.count += segments;
    others_are_served(report, path, "mappings");
    drop(taken);
    recovers(report, path, "mappings");
    report.violations.extend(server.end()?.wrong(None));
    Ok(())
}

/// A server that admits everybody.
fn serve(starter: &[&str]) -> Result<(tempfile::TempDir, Player), Stopped> {
    let directory = tempfile::tempdir()?;
    fs::set_permissions(directory.path(), Permissions::from_mode(0o755))?;
    let server =
        Player::start_under(starter, Role::Policy(Part::Judge), directory.path(), "policies", "")?;
    Ok((directory, server))
}

/// Binds until that is refused, in words that say "try again", and does `more` on each binding: how
/// many segments that got it.
fn taken_by_greedy(
    directory: &Path,
    more: impl Fn(&HandClient) -> io::Result<u64> + Sync,
) -> Result<Taken, Stopped> {
    let path = hand::path_of(directory, NAME);
    let taken = as_user(GREEDY, || {
        let mut taken = Taken { clients: Vec::new(), segments: 0 };
        loop {
            let client = match HandClient::bind(&path) {
                Ok(client) => client,
                Err(error) if error.to_string().contains("Overloaded") => return Ok(taken),
                Err(error) => return Err(error),
            };
            taken.segments += more(&client)?;
            taken.clients.push(client);
        }
    });
    Ok(taken.expect("it was asked before")?)
}

/// Lends the same page as often as a binding may, or until it is refused.
fn lend_all(client: &HandClient, page: &OwnedFd) -> io::Result<u64> {
    let bytes = nearcall_abi::PAGE_BYTES.into();
    for number in 0..LENT_COUNT_MAX {
        let packet = hand::packet(&Message::Lend { number, bytes });
        hand::send(&client.stream, &packet, &[page.try_clone()?])?;
        let lent = hand::packet(&Message::Lent { number });
        match hand::hear(&client.stream, ANSWERED) {
            Heard::Packet(packet) if packet == lent => {}
            Heard::Packet(packet) if packet == hand::packet(&Message::NotLent { number }) => {
                return Ok(number.into());
            }
            other => return Err(io::Error::other(format!("a loan was answered with {other:?}"))),
        }
    }
    Ok(LENT_COUNT_MAX.into())
}

/// Whoever comes next finds room, for a binding and for arguments out of line.
fn others_are_served(report: &mut Report, directory: &Path, what: &str) {
    let data = vec![7; 200_000];
    let outcome = bind(directory, NAME, ANSWERED).map(|client| client.echo(&data));
    match outcome {
        Ok(Ok(echo)) if echo == data => report.count += 1,
        Ok(Ok(_)) => report.violation(format!("another answer beside a user with all {what}")),
        Ok(Err(error)) => report.violation(format!("beside a user with all {what}: {error}")),
        Err(error) => report.violation(format!("no bind beside a user with all {what}: {error}")),
    }
}

/// The user may bind again once it has let go.
fn recovers(report: &mut Report, directory: &Path, what: &str) {
    let path = hand::path_of(directory, NAME);
    let begin = Instant::now();
    while as_user(GREEDY, || HandClient::bind(&path).is_err()) == Some(true) {
        if begin.elapsed() > RECOVERED {
            report.violation(format!("a user that has let go of its {what} is not bound"));
            return;
        }
    }
}
