//! T17: clients and a server as threads over one mapping, under ThreadSanitizer. What it cannot see
//! (two mappings of one segment, loads in assembly) is T8's and T14's.

use std::io;
use std::path::Path;

use nearcall::{Binding, Domain};

use super::Setup;
use super::effects;
use super::nightly;
use super::player::{Ended, Player, Program, Role};
use super::report::{Report, Stopped};
use crate::effects::effects::{EFFECTS, EffectsClient};
use crate::server::import_options;

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
    // It ends at the first race: nobody reads what it says before it has ended.
    let environment = &[("TSAN_OPTIONS", "exitcode=66 halt_on_error=1")];
    let program = Program { path, environment };
    let calls = if setup.is_nightly { CALLS_AT_NIGHT } else { CALLS };
    let rest = calls.to_string();
    let mut player = Player::start_program(&program, Role::Twins, directory.path(), NAME, &rest)?;
    player.go()?;
    let line = player.line()?;
    report.count = line.strip_suffix(" calls").and_then(|count| count.parse().ok()).unwrap_or(0);
    let Ended { status, complaints, .. } = player.end()?;
    let races = complaints.lines().filter(|line| line.contains("ThreadSanitizer: data race"));
    report.at_most("data races", races.count() as f64, 0.0, "");
    if !status.success() {
        let first: Vec<_> = complaints.lines().take(30).collect();
        report.violation(format!("the threads ended with {status}: {}", first.join("\n")));
    }
    Ok(report)
}

/// Threads that call over a twin each, and the server that they call, in one process.
pub fn twins(directory: &Path, name: &str, calls: u64) {
    println!("ready");
    io::stdin().read_line(&mut String::new()).expect("standard input");
    let (server, client) = (Domain::new().expect("a domain"), Domain::new().expect("a domain"));
    let clerk = effects::export(&server, directory, name).expect("an export");
    let made: u64 = std::thread::scope(|threads| {
        let callers: Vec<_> = (0..CALLERS)
            .map(|_| {
                let options = import_options(directory);
                let binding = Binding::import_twin(&client, &clerk, &EFFECTS, options);
                let bound = EffectsClient::new(binding.expect("a twin"));
                threads.spawn(move || {
                    (0..calls / CALLERS).filter(|call| is_answered(&bound, *call)).count()
                })
            })
            .collect();
        callers.into_iter().map(|caller| caller.join().expect("a caller") as u64).sum()
    });
    println!("{made} calls");
    drop(clerk);
    server.shut_down();
}

/// Callers of [`Role::Twins`].
const CALLERS: u64 = 4;

/// One call with short arguments, or now and then one with long ones.
fn is_answered(bound: &EffectsClient, call: u64) -> bool {
    match call % 8 {
        0 => {
            let data = [call as u8; 1000];
            bound.echo(&data).is_ok_and(|echo| echo == data)
        }
        _ => bound.add(call as i32, 1).is_ok_and(|sum| sum == (call as i32).wrapping_add(1)),
    }
}
