//! Oracle O: what may have become of a call, given what it left behind.
//!
//! A history has one entry a call, with what its client was told. The effects are what the
//! procedure wrote down, which outlives every domain. Nothing else is believed.

use std::collections::HashMap;

use nearcall::{CallError, Ran};

/// One call, as its client knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CallName {
    /// Who called.
    pub client: u64,
    /// Its how many-th call it was.
    pub number: u64,
}

/// What the client of a call was told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Told {
    /// It has its results.
    Returned,
    /// It did not run.
    DidNotRun,
    /// Nobody can tell.
    MayHaveRun,
    /// Nothing: the client died first.
    Nothing,
}

/// How often each call ran.
pub type Effects = HashMap<CallName, u64>;

impl Told {
    /// Of a call's outcome.
    pub fn of<T>(outcome: &Result<T, CallError>) -> Told {
        match outcome.as_ref().map_err(CallError::ran) {
            Ok(_) | Err(Ran::Yes) => Told::Returned,
            Err(Ran::No) => Told::DidNotRun,
            Err(Ran::Maybe) => Told::MayHaveRun,
        }
    }

    /// As a number, for those to whom it is passed on.
    pub fn word(self) -> u32 {
        match self {
            Told::Returned => 0,
            Told::DidNotRun => 1,
            Told::MayHaveRun => 2,
            Told::Nothing => 3,
        }
    }

    /// What a number stands for.
    pub fn from_word(word: u32) -> Option<Told> {
        use Told::{DidNotRun, MayHaveRun, Nothing, Returned};
        [Returned, DidNotRun, MayHaveRun, Nothing].into_iter().find(|told| told.word() == word)
    }
}

/// What is wrong with a history.
pub fn judge(history: &[(CallName, Told)], effects: &Effects) -> Vec<String> {
    let mut wrong = Vec::new();
    for (call, told) in history {
        let runs = effects.get(call).copied().unwrap_or(0);
        let fault = match (told, runs) {
            (_, 2..) => "ran more than once",
            (Told::Returned, 0) => "returned and has not run",
            (Told::DidNotRun, 1) => "is said not to have run, and has",
            _ => continue,
        };
        let CallName { client, number } = call;
        wrong.push(format!("call {number} of client {client} {fault} ({runs} effects)"));
    }
    wrong
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(told: Told, runs: u64, is_right: bool) {
        let call = CallName { client: 1, number: 2 };
        let wrong = judge(&[(call, told)], &Effects::from([(call, runs)]));
        assert_eq!(wrong.is_empty(), is_right, "{told:?} {runs}: {wrong:?}");
    }

    #[test]
    fn a_call_runs_once_at_most_whatever_its_client_was_told() {
        for told in [Told::Returned, Told::DidNotRun, Told::MayHaveRun, Told::Nothing] {
            check(told, 2, false);
        }
    }

    #[test]
    fn what_returned_has_run_and_what_did_not_run_has_no_effect() {
        check(Told::Returned, 1, true);
        check(Told::Returned, 0, false);
        check(Told::DidNotRun, 0, true);
        check(Told::DidNotRun, 1, false);
    }

    #[test]
    fn who_cannot_tell_is_right_either_way() {
        for told in [Told::MayHaveRun, Told::Nothing] {
            check(told, 0, true);
            check(told, 1, true);
        }
    }
}
