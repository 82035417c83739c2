//! Players that are told to go: a client that calls, and says what it was told; how that is read
//! again; and a server that exports.
//!
//! They hear and speak by system calls that the runtime makes none of (`readv`, `writev`), so that
//! row T3 disturbs the runtime's alone.

use std::io::{self, IoSlice, IoSliceMut};
use std::path::Path;
use std::time::Duration;

use nearcall::Domain;
use rustix::io::{readv, retry_on_intr, writev};
use rustix::process::{PTracer, set_ptracer};

use super::effects;
use super::oracle::{CallName, Entry, Told};
use super::player::bind;
use crate::feeding;

/// Calls that a caller makes, beside a `null`.
pub const EFFECTS_OF_A_CALLER: u64 = 2;

/// What one lends: as much as has huge pages.
const LENT_BYTES: usize = 2 << 20;

/// Told to go, binds, calls, and says what came of each call.
pub fn call(directory: &Path, name: &str, rest: &str) {
    let client = rest.trim_end_matches(['+', '*', '>']).parse().expect("the number of a client");
    await_go();
    match bind(directory, name, Duration::from_secs(5)) {
        Ok(bound) => {
            if rest.ends_with('*') {
                // What it lends it may not get, and calls without.
                let _ = bound.binding().lend(LENT_BYTES);
            }
            if rest.ends_with(['+', '*']) {
                match effects::call_long(&bound) {
                    Ok(()) => speak(LONG_RETURNED),
                    Err(error) => speak(&format!("long call: {error}")),
                }
            }
            for number in 1..=EFFECTS_OF_A_CALLER {
                let outcome = match rest.ends_with('>') {
                    true => bound.relay(client, number).map(drop),
                    false => bound.effect(client, number),
                };
                say(&Entry::of(CallName { client, number }, bound.binding(), &outcome));
            }
        }
        Err(error) => speak(&format!("no binding: {error}")),
    }
}

/// What a caller says whose long call returned.
pub const LONG_RETURNED: &str = "long call: returned";

/// What a server says that was told to go, and exports.
pub const EXPORTED: &str = "exported";

/// Told to go, exports `Effects` and `Feeding`, says how that went, and serves until its input
/// ends.
pub fn export(directory: &Path, name: &str) {
    await_go();
    let exported = Domain::new().map_err(|error| error.to_string()).and_then(|domain| {
        let effects = effects::export(&domain, directory, name);
        let clerks =
            effects.and_then(|clerk| Ok([clerk, feeding::export(&domain, directory, name)?]));
        Ok((domain, clerks.map_err(|error| error.to_string())?))
    });
    match exported {
        Ok((domain, clerks)) => {
            speak(EXPORTED);
            while hear() > 0 {}
            drop(clerks);
            domain.shut_down();
        }
        Err(error) => speak(&format!("not exported: {error}")),
    }
}

fn await_go() {
    // Where nobody is kept from being traced, there is nothing to allow.
    let _ = set_ptracer(PTracer::Any);
    speak("ready");
    hear();
}

/// How many bytes the next words have; none at their end.
fn hear() -> usize {
    let mut words = [0; 64];
    let input = &mut [IoSliceMut::new(&mut words)];
    retry_on_intr(|| readv(io::stdin(), input)).expect("standard input")
}

fn speak(line: &str) {
    let line = format!("{line}\n");
    let said = retry_on_intr(|| writev(io::stdout(), &[IoSlice::new(line.as_bytes())]));
    assert_eq!(said.expect("standard output"), line.len());
}

fn say(entry: &Entry) {
    let word = match entry.told {
        Told::Returned => "returned",
        Told::DidNotRun => "did-not-run",
        Told::MayHaveRun => "may-have-run",
        Told::Nothing => unreachable!("whoever says something was told something"),
    };
    let lives = [entry.life, entry.blamed].into_iter().flatten();
    let lives: String = lives.map(|life| format!(" {life}")).collect();
    speak(&format!("{} {word}{lives}", entry.call.number));
}

/// What a caller's lines say that its calls were told.
pub fn heard(client: u64, lines: &str) -> Vec<Entry> {
    let entry = |number: u64| {
        let words = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let mut lines = lines.lines().map(words);
        let words = lines.find(|words| words[0] == number.to_string()).unwrap_or_default();
        let told = match words.get(1).map(String::as_str) {
            Some("returned") => Told::Returned,
            Some("did-not-run") => Told::DidNotRun,
            Some("may-have-run") => Told::MayHaveRun,
            _ => Told::Nothing,
        };
        let life = |at: usize| words.get(at)?.parse().ok();
        Entry { call: CallName { client, number }, told, life: life(2), blamed: life(3) }
    };
    (1..=EFFECTS_OF_A_CALLER).map(entry).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_caller_says_is_what_it_was_told() {
        let call = |number| CallName { client: 7, number };
        let returned = Entry { life: Some(50), ..Entry::told(call(1), Told::Returned) };
        let nothing = Entry::told(call(2), Told::Nothing);
        assert_eq!(heard(7, "1 returned 50\n"), [returned, nothing]);
        let failed = Entry { life: Some(50), blamed: Some(51), told: Told::MayHaveRun, ..nothing };
        assert_eq!(heard(7, "1 returned 50\n2 may-have-run 50 51\n"), [returned, failed]);
    }
}
