//! T17: clients and a server as threads over one mapping, under ThreadSanitizer. What it cannot see
//! (two mappings of one segment, loads in assembly) is T8's and T14's.

use super::Setup;
use super::nightly;
use super::player::{Player, Program, Role};
use super::report::{Report, Stopped};

const NAME: &str = "raced";

const CALLS: u64 = 1_000_000;
const CALLS_AT_NIGHT: u64 = 100_000_000;

/// Builds, and has threads call.
pub fn run(setup: &Setup) -> Result<Report, Stopped> {
    // The library's locks have to be instrumented, too.
    let more = ["-Zbuild-std"];
    let path = nightly::campaign(setup, "thread", "rust-src", &more)?;
    let mut report = Report::of("calls");
    let directory = tempfile::tempdir()?;
    let program = Program { path, environment: &[("TSAN_OPTIONS", "exitcode=66")] };
    let calls = if setup.is_nightly { CALLS_AT_NIGHT } else { CALLS };
    let rest = calls.to_string();
    let mut player = Player::start_program(&program, Role::Twins, directory.path(), NAME, &rest)?;
    player.go()?;
    let line = player.line()?;
    report.count = line.strip_suffix(" calls").and_then(|count| count.parse().ok()).unwrap_or(0);
    let status = player.end()?;
    let (_, complaints) = player.said()?;
    let races = complaints.lines().filter(|line| line.contains("ThreadSanitizer: data race"));
    report.at_most("data races", races.count() as f64, 0.0, "");
    if !status.success() {
        let first: Vec<_> = complaints.lines().take(30).collect();
        report.violation(format!("the threads ended with {status}: {}", first.join("\n")));
    }
    Ok(report)
}
