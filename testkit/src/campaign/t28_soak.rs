//! T28: binds and unbinds, orderly and by death, until whatever leaks would show.

use std::collections::BTreeSet;
use std::io;
use std::path::PathBuf;
use std::thread::available_parallelism;
use std::time::Duration;

use nearcall::Domain;
use rustix::process::Signal;

use super::Setup;
use super::deaths::Host;
use super::held::{Held, resident_kb, shared_kb};
use super::maps::{Kind, Maps};
use super::player::{Player, Role, bind_in};
use super::report::{Report, Stopped};
use super::told::heard;

const NAME: &str = "soaked";

const BINDS: u64 = 100_000;
const BINDS_AT_NIGHT: u64 = 1_000_000;

/// What the server's own memory may grow by meanwhile, KiB: less than one byte a bind at night.
const GROWN_KB_MAX: f64 = 512.0;

/// The same of the memory that it shares.
const SHARED_GROWN_KB_MAX: f64 = 128.0;

/// Threads that the server may have at once beside its main one and its residents, of which there
/// is one a processor: housekeeping, the watcher, two reliefs that are parked and one that is about
/// to park or to end, a thread that closes and one that is about to end. When they begin is up to
/// the kernel: a relief when the watcher is found stuck, a resident when it is asleep.
const THREADS_MAX: u64 = 7;

/// Clients that die instead of unbinding: one for so many that unbind.
const DEATHS_SHARE: u64 = 200;

/// How often one looks for a moment at which no thread begins or ends.
const TRIES: u32 = 1000;

/// Binds, calls, unbinds.
pub fn run(setup: &Setup) -> Result<Report, Stopped> {
    let mut report = Report::of("binds");
    let files = files();
    let binds = if setup.is_nightly { BINDS_AT_NIGHT } else { BINDS };
    soak(&mut report, binds)?;
    let (mut host, mut history) = (Host::new()?, Vec::new());
    for _ in 0..binds / DEATHS_SHARE {
        let (mut client, number) = host.client()?;
        client.go()?;
        let ended = client.end_by_kill()?;
        report.violations.extend(ended.wrong(Some(Signal::KILL)));
        history.extend(heard(number, &ended.said));
        report.count += 1;
    }
    report.violations.extend(host.left_behind());
    report.violations.extend(host.judge(&history));
    drop(host);
    let more: Vec<_> = self::files().difference(&files).cloned().collect();
    if !more.is_empty() {
        report.violation(format!("files are left behind: {more:?}"));
    }
    Ok(report)
}

fn soak(report: &mut Report, binds: u64) -> Result<(), Stopped> {
    let directory = tempfile::tempdir()?;
    let mut server = Player::start(Role::Serve, directory.path(), NAME, "")?;
    let domain = Domain::new()?;
    // No effect: a server whose calls wait for a file has threads that come and go.
    let once = || -> Result<(), Stopped> {
        let bound = bind_in(&domain, directory.path(), NAME, Duration::from_secs(5))?;
        bound.null()?;
        Ok(())
    };
    (0..50).try_for_each(|_| once())?;
    let longest = Duration::from_secs(2);
    std::thread::sleep(Duration::from_millis(200));
    let (ours, theirs) = (Held::by(std::process::id())?, Held::by(server.pid())?);
    let before = memory_kb(server.pid())?;
    let maps = Maps::of(server.pid())?;
    for _ in 0..binds {
        once()?;
        report.count += 1;
    }
    for (held, pid) in [(ours, std::process::id()), (theirs, server.pid())] {
        if let Err(still) = held.again(pid, longest) {
            report.violation(format!("after {binds} binds {still}"));
        }
    }
    let after = memory_kb(server.pid())?;
    let grown = |at: usize| after[at].saturating_sub(before[at]) as f64;
    report.at_most("server grown by", grown(0), GROWN_KB_MAX, " KiB");
    report.at_most("its shared memory by", grown(1), SHARED_GROWN_KB_MAX, " KiB");
    judge_maps(report, server.pid(), &maps)?;
    report.violations.extend(server.end()?.wrong(None));
    let left: Vec<_> = std::fs::read_dir(directory.path())?.flatten().collect();
    if let Some(socket) =
        left.iter().find(|entry| entry.path().extension() == Some("socket".as_ref()))
    {
        report.violation(format!("{:?} is left behind", socket.path()));
    }
    Ok(())
}

/// Memory of a process that is its own, and that it shares.
fn memory_kb(pid: u32) -> io::Result<[u64; 2]> {
    Ok([resident_kb(pid)?, shared_kb(pid)?])
}

/// What the server has mapped more than before, by what it is for. Segments were counted already.
fn judge_maps(report: &mut Report, server: u32, before: &Maps) -> Result<(), Stopped> {
    let (mut tries, mut seen) = (0, Seen::of(server)?);
    // A thread that is just beginning or ending has one of the two.
    while seen.signal_stacks() != seen.threads && tries < TRIES {
        std::thread::sleep(Duration::from_millis(1));
        (tries, seen) = (tries + 1, Seen::of(server)?);
    }
    let stacks_max = THREADS_MAX + available_parallelism()?.get() as u64;
    let (stacks, arenas) = (seen.maps.count(&Kind::Stack), seen.maps.count(&Kind::Arena));
    // The C library keeps those of threads that have ended, for the next ones.
    report.at_most("its stacks", stacks as f64, stacks_max as f64, "");
    report.at_most("its heaps for threads", arenas as f64, stacks_max as f64, "");
    if seen.signal_stacks() != seen.threads {
        let (found, threads) = (seen.signal_stacks(), seen.threads);
        report.violation(format!("{found} signal stacks are left to {threads} threads"));
    }
    let more = seen.maps.more_than(before);
    let of_threads = [Kind::Segment, Kind::Stack, Kind::SignalStack, Kind::Arena];
    let told: Vec<_> = more.iter().map(|(kind, count)| format!("{kind} +{count}")).collect();
    report.figure(format!("mapped more: {}", told.join(", ")));
    for (kind, count) in more.iter().filter(|(kind, _)| !of_threads.contains(kind)) {
        report.violation(format!("{count} more of this are mapped than before: {kind}"));
    }
    Ok(())
}

/// What a process has at one moment.
struct Seen {
    maps: Maps,
    threads: u64,
}

impl Seen {
    fn of(pid: u32) -> Result<Seen, Stopped> {
        let threads = std::fs::read_dir(format!("/proc/{pid}/task"))?.count() as u64;
        Ok(Seen { maps: Maps::of(pid)?, threads })
    }

    fn signal_stacks(&self) -> u64 {
        self.maps.count(&Kind::SignalStack)
    }
}

/// Files of ours where files are left behind.
fn files() -> BTreeSet<PathBuf> {
    let places = [PathBuf::from("/dev/shm"), PathBuf::from("/run/nearcall"), std::env::temp_dir()];
    let entries = places.iter().flat_map(|place| std::fs::read_dir(place).into_iter().flatten());
    let names = entries.flatten().map(|entry| entry.path());
    names.filter(|path| path.to_string_lossy().contains("nearcall")).collect()
}
