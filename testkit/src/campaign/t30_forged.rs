//! T30: a client names what is not its own: segments that another client has lent, under every
//! number that they have there, and under any other. Nothing of it is believed, and what is another
//! client's stays as it is.

use std::path::Path;
use std::time::Duration;

use nearcall::raw::Client;
use nearcall::{Binding, CallError, Domain, NotExecuted};
use nearcall_abi::LENGTH_LENT;

use super::Setup;
use super::player::{Player, Role};
use super::report::{Report, Stopped};
use crate::effects::effects::{EFFECTS, EffectsClient};
use crate::server::import_options;

const NAME: &str = "forged";

const GUESSES: u64 = 1_000_000;
const GUESSES_AT_NIGHT: u64 = 100_000_000;

/// What the other client lends, and what it puts there.
const LENT: usize = 8;
const BYTES: usize = 4096;
const SECRET: u8 = 0xa5;

/// Where the compiler puts `sum`, its class and its variable part.
const SUM: u32 = 4;
const SUM_CLASS: usize = 1;
const SUM_VARIABLE: usize = 48;

/// Guesses.
pub fn run(setup: &Setup) -> Result<Report, Stopped> {
    let mut report = Report::of("guesses");
    let procedure = &EFFECTS.procedures[SUM as usize];
    assert_eq!((procedure.name, usize::from(procedure.class)), ("sum", SUM_CLASS));
    let directory = tempfile::tempdir()?;
    let mut server = Player::start(Role::Serve, directory.path(), NAME, "")?;
    let victim = EffectsClient::new(import(directory.path())?);
    let mut lent = Vec::new();
    for _ in 0..LENT {
        let mut segment = victim.binding().lend(BYTES)?;
        segment.fill(SECRET);
        lent.push(segment);
    }
    let thief = import(directory.path())?;
    let raw = Client::new(thief.clone(), &EFFECTS);
    let mut chances = setup.chances("T30");
    let guesses = if setup.is_nightly { GUESSES_AT_NIGHT } else { GUESSES };
    for guess in 0..guesses {
        let number = match guess % 4 {
            0 => guess / 4 % (2 * LENT as u64),
            1 => u64::from(chances.u32(..)),
            2 => chances.u64(..),
            _ => 1 << chances.u32(..64),
        };
        match steal(&raw, number) {
            Err(CallError::NotExecuted { reason: NotExecuted::ArgumentsRefused, .. }) => {
                report.count += 1;
            }
            other => report.violation(format!("segment {number} of another came to {other:?}")),
        }
    }
    let sum = BYTES as u32 * u32::from(SECRET);
    for segment in &lent {
        match victim.sum(segment) {
            Ok(found) if found == sum => {}
            other => report.violation(format!("what was lent sums up to {other:?}")),
        }
    }
    if thief.is_revoked() {
        report.violation("to guess ended the binding");
    }
    drop((lent, victim, raw, thief));
    report.violations.extend(server.end()?.wrong(None));
    Ok(report)
}

fn import(directory: &Path) -> Result<Binding, Stopped> {
    let mut options = import_options(directory);
    options.timeout = Duration::from_secs(5);
    Ok(Binding::import_with(&Domain::new()?, NAME, &EFFECTS, options)?)
}

/// Has the server sum up the first byte of lent segment `number`.
fn steal(raw: &Client, number: u64) -> Result<u32, CallError> {
    let mut call = raw.claim::<SUM_CLASS>(SUM).map_err(|error| *error)?;
    call.put_u32::<0>(LENGTH_LENT | 1);
    let bytes = number.to_le_bytes();
    call.variable::<SUM_VARIABLE>(8).map_err(|error| *error)?.put(&bytes);
    let reply = call.post(4).map_err(|error| *error)?;
    Ok(reply.get_u32::<0>())
}
