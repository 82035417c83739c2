//! T21: many client processes, killed all at once.
//!
//! That the server's memory comes back is judged by what it has of its heap, counted at each
//! allocation, and by what it has outside of the C library's heaps: those may keep what was freed.

use std::io;
use std::time::{Duration, Instant};

use rustix::process::Signal;

use super::Setup;
use super::effects;
use super::held::{Held, resident_kb};
use super::memory::{MemoryGroup, outside_heaps_kb};
use super::oracle::{CallName, Entry, Told, judge_all};
use super::player::{HOLDERS_CALL, Player, Role, allow_descriptors, bind};
use super::report::{Report, Stopped};

const NAME: &str = "crowded";

const CLIENTS: usize = 2_000;
const CLIENTS_AT_NIGHT: usize = 6_000;

/// How soon after the deaths nothing of the dead may be left.
const CLEAN_S_MAX: f64 = 1.0;

/// What a server may hold of one client.
const DESCRIPTORS_MAX: f64 = 1.0;
const SEGMENTS_MAX: f64 = 5.0;

/// What the kernel may have in memory for each client that the server is charged with, KiB.
const KERNEL_KB_MAX: f64 = 16.0;

/// How much more memory the server may have when its clients have gone, of either kind, KiB.
const KEPT_KB_MAX: f64 = 1024.0;

/// What the kernel has in memory for what is in a group.
const KERNEL: &str = "memory.kmem.usage_in_bytes";

/// Memory of a server, KiB.
struct Memory {
    heap: f64,
    outside: f64,
    resident: u64,
}

/// Starts them, looks, kills them.
pub fn run(setup: &Setup) -> Result<Report, Stopped> {
    allow_descriptors();
    let wanted = if setup.is_nightly { CLIENTS_AT_NIGHT } else { CLIENTS };
    let mut report = Report::of("clients");
    let directory = tempfile::tempdir()?;
    let mut server = Player::start(Role::Serve, directory.path(), NAME, "")?;
    let pid = server.pid();
    let group = MemoryGroup::of(NAME)?;
    group.as_ref().map_or(Ok(()), |group| group.take(pid))?;
    let kernel_kb =
        || group.as_ref().and_then(|group| Some(group.read(KERNEL).ok()? as f64 / 1024.0));
    let neighbour = bind(directory.path(), NAME, Duration::from_secs(5))?;
    neighbour.null()?;
    let before = Held::by(pid)?;
    let (memory_before, kernel_before) = (Memory::of(&mut server)?, kernel_kb());
    let start =
        |which: usize| Player::start(Role::Hold, directory.path(), NAME, &which.to_string());
    let mut clients = (0..wanted).map(start).collect::<Result<Vec<_>, _>>()?;
    report.count = clients.len() as u64;
    // None is ready before its call has returned.
    let call = |which| CallName { client: which as u64, number: HOLDERS_CALL };
    let history: Vec<_> =
        (0..wanted).map(|which| Entry::told(call(which), Told::Returned)).collect();
    let full = Held::by(pid)?;
    // Less what was made ready for the next client, perhaps.
    let each = |more: usize, less: usize| (more - less - 1) as f64 / wanted as f64;
    let descriptors = each(full.descriptors, before.descriptors);
    report.at_most("descriptors each", descriptors, DESCRIPTORS_MAX, "");
    report.at_most("mappings each", each(full.segments, before.segments), SEGMENTS_MAX, "");
    match (kernel_before, kernel_kb()) {
        (Some(before), Some(now)) => {
            let each = (now - before) / wanted as f64;
            report.at_most("kernel memory each", each, KERNEL_KB_MAX, " KiB");
        }
        _ => report.lacks("a memory control group"),
    }
    for client in &mut clients {
        client.signal_kill()?;
    }
    let begin = Instant::now();
    if let Err(still) = before.again(pid, Duration::from_secs(10)) {
        report.violation(format!("of the server's ten seconds later {still}"));
    }
    report.at_most("clean after", begin.elapsed().as_secs_f64(), CLEAN_S_MAX, " s");
    for mut client in clients {
        report.violations.extend(client.wait()?.wrong(Some(Signal::KILL)));
    }
    neighbour.null()?;
    // Once each, and not again by those who have died.
    report.violations.extend(judge_all(&history, &effects::written(directory.path())));
    Memory::of(&mut server)?.judge(&mut report, &memory_before);
    drop(neighbour);
    report.violations.extend(server.end()?.wrong(None));
    Ok(report)
}

impl Memory {
    fn of(server: &mut Player) -> io::Result<Memory> {
        let pid = server.pid();
        Ok(Memory {
            heap: server.heap_bytes()? as f64 / 1024.0,
            outside: outside_heaps_kb(pid)? as f64,
            resident: resident_kb(pid)?,
        })
    }

    fn judge(&self, report: &mut Report, before: &Memory) {
        let heap = (self.heap - before.heap).abs();
        report.at_most("heap kept", heap, KEPT_KB_MAX, " KiB");
        let outside = (self.outside - before.outside).abs();
        report.at_most("kept outside", outside, KEPT_KB_MAX, " KiB");
        let resident = self.resident.saturating_sub(before.resident);
        report.figure(format!("{resident} KiB more resident, with what malloc keeps"));
    }
}
