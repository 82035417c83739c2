//! T21: many client processes, killed all at once.

use std::time::{Duration, Instant};

use super::Setup;
use super::player::{Held, Player, Role, allow_descriptors, bind, resident_kb};
use super::report::{Report, Stopped};

const NAME: &str = "crowded";

const CLIENTS: usize = 2_000;
const CLIENTS_AT_NIGHT: usize = 9_000;

/// How soon after the deaths nothing of the dead may be left.
const CLEAN_S_MAX: f64 = 1.0;

/// What a server may hold of one client. The table wants one descriptor and five mappings: a
/// process file descriptor each, kept open to prove a death, is a second.
const DESCRIPTORS_MAX: f64 = 2.0;
const SEGMENTS_MAX: f64 = 5.0;

/// Starts them, looks, kills them.
pub fn run(setup: &Setup) -> Result<Report, Stopped> {
    allow_descriptors();
    let wanted = if setup.is_nightly { CLIENTS_AT_NIGHT } else { CLIENTS };
    let mut report = Report::of("clients");
    let directory = tempfile::tempdir()?;
    let mut server = Player::start(Role::Serve, directory.path(), NAME, "")?;
    let pid = server.pid();
    let neighbour = bind(directory.path(), NAME, Duration::from_secs(5))?;
    neighbour.null()?;
    let before = Held::by(pid);
    let memory_before = resident_kb(pid);
    let start = |_| Player::start(Role::Hold, directory.path(), NAME, "");
    let mut clients = (0..wanted).map(start).collect::<Result<Vec<_>, _>>()?;
    report.count = clients.len() as u64;
    let full = Held::by(pid);
    // Less what was made ready for the next client, perhaps.
    let each = |more: usize, less: usize| (more - less - 1) as f64 / wanted as f64;
    let descriptors = each(full.descriptors, before.descriptors);
    report.at_most("descriptors each", descriptors, DESCRIPTORS_MAX, "");
    report.at_most("mappings each", each(full.segments, before.segments), SEGMENTS_MAX, "");
    for client in &mut clients {
        client.signal_kill()?;
    }
    let begin = Instant::now();
    if let Err(still) = before.again(pid, Duration::from_secs(10)) {
        report
            .violation(format!("the server holds {still:?} ten seconds later, {before:?} before"));
    }
    report.at_most("clean after", begin.elapsed().as_secs_f64(), CLEAN_S_MAX, " s");
    drop(clients);
    neighbour.null()?;
    let grown = resident_kb(pid).saturating_sub(memory_before);
    report.figure(format!("resident memory {grown} KiB more than before"));
    drop(neighbour);
    let status = server.end()?;
    let (_, complaints) = server.said()?;
    if !status.success() || complaints.contains("panicked") {
        report.violation(format!("the server ended with {status}: {complaints}"));
    }
    Ok(report)
}
