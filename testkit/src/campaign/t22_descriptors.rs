//! T22: a server that has no descriptor left. Whoever is bound does not notice, the clerk does not
//! spin over importers that it cannot let in, and as soon as descriptors are free it binds again.
//!
//! And users who take what they can get, of descriptors and of mappings: they are refused, as what
//! may be tried again, while there is room for others.

mod shares;

use std::fs::File;
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::io::{FdFlags, fcntl_setfd};

use super::Setup;
use super::held::Run;
use super::honest::Honest;
use super::player::{Player, Role, bind};
use super::report::{Report, Stopped};

const NAME: &str = "narrow";

/// How many descriptors the server may have.
const STARTER: [&str; 2] = ["prlimit", "--nofile=64:64"];

/// How many of them it is born with: they are its own, and its importers' share knows nothing of
/// them, so that the table is full before anybody has that.
const INHERITED: usize = 40;

/// More importers than that is enough for.
const IMPORTERS: usize = 64;

/// How long an importer waits that is not let in.
const PATIENCE: Duration = Duration::from_millis(100);

/// How long the server is watched while importers wait that it cannot let in, and the share of a
/// processor that this may take.
const WATCHED: Duration = Duration::from_millis(500);
const BUSY_PERCENT_MAX: f64 = 1.0;

/// How soon it binds again.
const RECOVERED_MS_MAX: f64 = 100.0;

/// Fills, watches, empties.
pub fn run(_: &Setup) -> Result<Report, Stopped> {
    if std::process::Command::new("prlimit").arg("--version").output().is_err() {
        return Err(Stopped::Lacking("the program prlimit".to_owned()));
    }
    let mut report = Report::of("things asked for");
    let directory = tempfile::tempdir()?;
    let path = directory.path();
    let mut server = start_narrow(path)?;
    let neighbour = Honest::new(bind(path, NAME, Duration::from_secs(5))?, 0, 1);
    let (mut bound, mut refused) = (Vec::new(), 0);
    for _ in 0..IMPORTERS {
        match bind(path, NAME, PATIENCE) {
            Ok(client) => bound.push(client),
            Err(_) => refused += 1,
        }
        // Two that wait are as good as all.
        if refused == 2 {
            break;
        }
        report.count += 1;
    }
    report.figure(format!("{} bound", bound.len()));
    if refused == 0 || bound.is_empty() {
        report.violation(format!("{} were bound and {refused} were not", bound.len()));
    }
    let percent = std::thread::scope(|threads| {
        // It waits in the clerk's queue, and is not let in.
        let waits = threads.spawn(|| bind(path, NAME, 2 * WATCHED).is_ok());
        let (begin, before) = (Instant::now(), Run::of(server.pid())?);
        std::thread::sleep(WATCHED);
        let spent = Run::of(server.pid())?.ns_since(&before);
        let percent = spent as f64 * 100.0 / begin.elapsed().as_nanos() as f64;
        let is_bound = waits.join().expect("an importer");
        if is_bound {
            report.violation("an importer was bound without a descriptor");
        }
        io::Result::Ok(percent)
    })?;
    report.at_most("busy with those outside", percent, BUSY_PERCENT_MAX, " % of a processor");
    let failed = (0..1_000).filter(|_| !neighbour.call()).count();
    if failed > 0 {
        report.violation(format!("{failed} calls of a neighbour failed"));
    }
    neighbour.judge(&mut report, path);
    drop(bound);
    let begin = Instant::now();
    while bind(path, NAME, PATIENCE).is_err() {
        if begin.elapsed() > Duration::from_secs(5) {
            return Err("nobody is bound any more".into());
        }
    }
    report.at_most(
        "bound again after",
        begin.elapsed().as_secs_f64() * 1e3,
        RECOVERED_MS_MAX,
        " ms",
    );
    drop(neighbour);
    report.violations.extend(server.end()?.wrong(None));
    shares::run(&mut report)?;
    Ok(report)
}

/// A server whose table is nearly full.
fn start_narrow(path: &Path) -> Result<Player, Stopped> {
    let inherited: Result<Vec<_>, _> = (0..INHERITED).map(|_| File::open("/dev/null")).collect();
    let inherited = inherited?;
    for file in &inherited {
        fcntl_setfd(file, FdFlags::empty())?;
    }
    Ok(Player::start_under(&STARTER, Role::Serve, path, NAME, "")?)
}
