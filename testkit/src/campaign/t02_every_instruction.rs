//! T2: a domain is killed at every instruction of a bind, a few calls and a teardown, on either
//! side. What the other is told must be true, and it must keep nothing.

use std::time::{Duration, Instant};

use super::code;
use super::deaths::{Answers, Host, Life, Survivor};
use super::report::{Report, Stopped};
use super::{Setup, player::Player};

/// Of the instructions that are executed one in so many is killed at, unless it is night.
const SHARE: usize = 6;

/// Times that a life is tried whose instruction was not met: which way a domain goes depends on how
/// fast the other is.
const TRIES: u32 = 2;

/// How many instructions that one run has met may not be met again by another.
const MISSED_SHARE_MAX: f64 = 0.25;

/// Instructions that were met, in a server and in a client.
#[derive(Debug, Default)]
struct Met {
    server: Vec<u64>,
    client: Vec<u64>,
}

/// Those that were killed at.
#[derive(Debug, Default)]
struct Killed {
    servers: usize,
    clients: usize,
    /// That were not met again.
    missed: usize,
    /// How long they lived, all together.
    lived: Duration,
}

/// Kills at what short calls execute; at night at what a call of 4 KiB executes beside it.
pub fn run(setup: &Setup) -> Result<Report, Stopped> {
    let mut report = Report::of("instructions");
    let known = code::instructions()?;
    let mut killed = Killed::default();
    let short = kill(setup, &mut report, &known, &mut killed, None)?;
    let mut all = short.server.len() + short.client.len();
    if setup.is_nightly {
        let long = kill(setup, &mut report, &known, &mut killed, Some(&short))?;
        let more = long.server.len() + long.client.len();
        report.figure(format!("{more} of a call of 4 KiB alone"));
        all += more;
    }
    let Killed { servers, clients, missed, lived } = killed;
    let life_ms = lived.as_secs_f64() * 1e3 / (servers + clients + missed) as f64;
    report.figure(format!("{servers} in the server, of {all} executed on both sides"));
    report.figure(format!("{life_ms:.1} ms a life"));
    let share = missed as f64 / (servers + clients) as f64;
    report.at_most("not met again", share, MISSED_SHARE_MAX, "");
    Ok(report)
}

/// Kills servers, then clients, at instructions that are not `but` these. Those that were met.
fn kill(
    setup: &Setup,
    report: &mut Report,
    known: &[u64],
    killed: &mut Killed,
    but: Option<&Met>,
) -> Result<Met, Stopped> {
    let mut survivor = Survivor::new()?;
    survivor.is_long = but.is_some();
    let server = others(met_by_server(&mut survivor, known)?, but.map(|met| &*met.server));
    let begin = Instant::now();
    for offset in choose(setup, "T2 server", &server) {
        killed.missed += tried(report, "server", offset, || survivor.outlive(offset))?;
        killed.servers += 1;
    }
    killed.lived += begin.elapsed();
    report.violations.extend(survivor.left_behind());
    let mut host = Host::new()?;
    host.is_long = but.is_some();
    let client = others(met_by_client(&mut host, known)?, but.map(|met| &*met.client));
    let begin = Instant::now();
    for offset in choose(setup, "T2 client", &client) {
        killed.missed += tried(report, "client", offset, || host.outlive(Some(offset)))?;
        killed.clients += 1;
    }
    killed.lived += begin.elapsed();
    report.violations.extend(host.left_behind());
    Ok(Met { server, client })
}

fn others(met: Vec<u64>, but: Option<&[u64]>) -> Vec<u64> {
    let but = but.unwrap_or_default();
    // Both are in order.
    met.into_iter().filter(|offset| but.binary_search(offset).is_err()).collect()
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
    let mut answers = None;
    let met = code::executed(&server, known, || {
        answers = Some(survivor.call());
        drop(input);
    })?;
    Player::forget(server);
    match answers.filter(Answers::are_all) {
        Some(_) => Ok(met),
        None => Err("not every call of a server that was looked at returned".into()),
    }
}

/// What a client executes.
pub fn met_by_client(host: &mut Host, known: &[u64]) -> Result<Vec<u64>, Stopped> {
    let (mut client, number) = host.client()?;
    let mut input = client.take_input();
    let met = code::executed(&client, known, || {
        use std::io::Write;
        // A client that is gone already has executed what it did.
        let _ = input.write_all(b"go\n");
    })?;
    // Whoever looked has waited for it.
    let said = client.said()?;
    Player::forget(client);
    match host.is_whole(number, &said) {
        true => Ok(met),
        false => Err(format!("a client that was looked at said {said:?}").into()),
    }
}
