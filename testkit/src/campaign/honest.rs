//! An honest client beside whatever goes on. One of so many of its calls writes down that it ran,
//! so that the oracle has something to judge; the others are the shortest that check a result.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use super::effects;
use super::oracle::{CallName, Entry, Told, judge, unmade};
use super::report::Report;
use crate::effects::effects::EffectsClient;

/// One of so many is judged where calls are timed: fewer than a p99 looks at.
pub const SELDOM: u64 = 256;

/// Numbers of honest clients among the effects, from here on.
const FIRST: u64 = 1 << 32;

/// A client whose calls are all to return.
#[derive(Debug)]
pub struct Honest {
    /// What it calls.
    pub client: EffectsClient,
    number: u64,
    calls: AtomicU64,
    share: u64,
    history: Mutex<Vec<Entry>>,
}

impl Honest {
    /// The `which`-th, one of `share` of whose calls is judged.
    pub fn new(client: EffectsClient, which: u64, share: u64) -> Honest {
        let (calls, history) = (AtomicU64::new(0), Mutex::default());
        Honest { client, number: FIRST + which, calls, share, history }
    }

    /// Makes one call. Whether it returned what it is to return.
    pub fn call(&self) -> bool {
        // Relaxed: a number for each call, which orders nothing.
        let number = self.calls.fetch_add(1, Ordering::Relaxed);
        if !number.is_multiple_of(self.share) {
            return matches!(self.client.add(2, 3), Ok(5));
        }
        let outcome = self.client.effect(self.number, number);
        let call = CallName { client: self.number, number };
        let entry = Entry::of(call, self.client.binding(), &outcome);
        self.history.lock().unwrap_or_else(PoisonError::into_inner).push(entry);
        outcome.is_ok()
    }

    /// Whether a call is none of those that it has made, and is said to be its own.
    fn disowns(&self, CallName { client, number }: CallName) -> bool {
        // Relaxed: as above.
        let is_past = number >= self.calls.load(Ordering::Relaxed);
        client == self.number && (is_past || !number.is_multiple_of(self.share))
    }

    /// Has the oracle judge its calls by what was written down in `directory`.
    pub fn judge(&self, report: &mut Report, directory: &Path) {
        judge_all(report, [self], directory);
    }
}

/// The same of several.
pub fn judge_all<'h>(
    report: &mut Report,
    all: impl IntoIterator<Item = &'h Honest>,
    directory: &Path,
) {
    let effects = effects::written(directory);
    let mut returned = 0;
    for honest in all {
        let history = honest.history.lock().unwrap_or_else(PoisonError::into_inner);
        report.violations.extend(judge(&history, &effects));
        // Those of others are not its to know.
        report.violations.extend(unmade(&effects, |call| !honest.disowns(call)));
        returned += history.iter().filter(|entry| entry.told == Told::Returned).count();
    }
    report.at_least("calls judged", returned as f64, 1.0, "");
}
