//! T2: a domain is killed at every instruction of a bind, a few calls and a teardown, on either
//! side. What the other is told must be true, and it must keep nothing.

use super::code;
use super::deaths::{Host, Life, Survivor};
use super::report::{Report, Stopped};
use super::{Setup, player::Player};

/// Of the instructions that are executed one in so many is killed at, unless it is night.
const SHARE: usize = 12;

/// Times that a life is tried whose instruction was not met: which way a domain goes depends on how
/// fast the other is.
const TRIES: u32 = 2;

/// How many instructions that one run has met may not be met again by another.
const MISSED_SHARE_MAX: f64 = 0.25;

/// Kills servers, then clients.
pub fn run(setup: &Setup) -> Result<Report, Stopped> {
    let mut report = Report::of("instructions");
    let known = code::instructions()?;
    let mut survivor = Survivor::new()?;
    let met = met_by_server(&mut survivor, &known)?;
    let mut missed = 0;
    let chosen = choose(setup, "T2 server", &met);
    for offset in &chosen {
        missed += tried(&mut report, "server", *offset, || survivor.outlive(*offset))?;
    }
    let servers = chosen.len();
    if let Some(left) = survivor.left_behind() {
        report.violation(left);
    }
    let mut host = Host::new()?;
    let met_by_clients = met_by_client(&mut host, &known)?;
    let chosen = choose(setup, "T2 client", &met_by_clients);
    for offset in &chosen {
        missed += tried(&mut report, "client", *offset, || host.outlive(Some(*offset)))?;
    }
    if let Some(left) = host.left_behind() {
        report.violation(left);
    }
    let all = met.len() + met_by_clients.len();
    report.figure(format!("{servers} in the server, of {all} executed on both sides"));
    let share = missed as f64 / (servers + chosen.len()) as f64;
    report.at_most("not met again", share, MISSED_SHARE_MAX, "");
    Ok(report)
}

/// The instructions to kill at: all, or another share for each seed.
fn choose(setup: &Setup, name: &str, met: &[u64]) -> Vec<u64> {
    let share = if setup.is_nightly { 1 } else { SHARE };
    let first = setup.chances(name).usize(..share);
    met.iter().copied().skip(first).step_by(share).collect()
}

/// Lives a life until it ends where it is to end. 1 if it did not.
pub fn tried(
    report: &mut Report,
    side: &str,
    offset: u64,
    mut live: impl FnMut() -> Result<Life, Stopped>,
) -> Result<usize, Stopped> {
    for _ in 0..TRIES {
        let life = live()?;
        for violation in life.violations {
            report.violation(format!("a {side} killed at {offset:#x}: {violation}"));
        }
        if life.was_killed {
            report.count += 1;
            return Ok(0);
        }
    }
    Ok(1)
}

/// What a server executes for a client.
pub fn met_by_server(survivor: &mut Survivor, known: &[u64]) -> Result<Vec<u64>, Stopped> {
    let mut server = survivor.server()?;
    let input = server.take_input();
    let met = code::executed(&server, known, || {
        survivor.call();
        drop(input);
    })?;
    Player::forget(server);
    Ok(met)
}

/// What a client executes.
pub fn met_by_client(host: &mut Host, known: &[u64]) -> Result<Vec<u64>, Stopped> {
    let (mut client, _) = host.client()?;
    let mut input = client.take_input();
    let met = code::executed(&client, known, || {
        use std::io::Write;
        // A client that is gone already has executed what it did.
        let _ = input.write_all(b"go\n");
    })?;
    Player::forget(client);
    Ok(met)
}
