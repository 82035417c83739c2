//! Oracle O: what may have become of a call, given what it left behind.
//!
//! A history has one entry a call: over a binding to which life of the server it was made, and what
//! its client was told. The effects are what the procedure wrote down, with the life that it ran
//! in, which outlives every domain. Nothing else is believed.

use std::collections::{HashMap, HashSet};

use nearcall::{Binding, CallError, Ran};

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

/// In which lives of its server each call ran; as often as it ran.
pub type Effects = HashMap<CallName, Vec<u64>>;

/// What became of one call, as its client says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Which call.
    pub call: CallName,
    /// What its client was told.
    pub told: Told,
    /// The life of the server that its binding was to; `None`: nobody is left who knows.
    pub life: Option<u64>,
    /// The life that its error names, if it names one.
    pub blamed: Option<u64>,
}

impl Entry {
    /// Of a call over this binding.
    pub fn of<T>(call: CallName, binding: &Binding, outcome: &Result<T, CallError>) -> Entry {
        let blamed = match outcome {
            Err(CallError::CallFailed { incarnation, .. })
            | Err(CallError::CallAborted { incarnation, .. }) => Some(*incarnation),
            _ => None,
        };
        let life = Some(binding.incarnation());
        Entry { call, told: Told::of(outcome), life, blamed }
    }

    /// Of a call of which this alone is known.
    pub fn told(call: CallName, told: Told) -> Entry {
        Entry { call, told, life: None, blamed: None }
    }
}

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

/// What is wrong with a history of some of the calls that were made.
pub fn judge(history: &[Entry], effects: &Effects) -> Vec<String> {
    let faults = history.iter().flat_map(|entry| {
        let lives = effects.get(&entry.call).map_or(&[][..], |lives| lives);
        let CallName { client, number } = entry.call;
        faults(entry, lives)
            .map(move |fault| format!("call {number} of client {client} {fault} ({lives:?})"))
    });
    faults.collect()
}

/// What is wrong with effects: those of calls that nobody has made.
pub fn unmade(effects: &Effects, was_made: impl Fn(CallName) -> bool) -> Vec<String> {
    let nobodys = effects.iter().filter(|(call, _)| !was_made(**call));
    let fault = |(CallName { client, number }, lives): (&CallName, &Vec<u64>)| {
        format!("call {number} of client {client} was never made, and ran ({lives:?})")
    };
    nobodys.map(fault).collect()
}

/// What is wrong with a history of all calls that were made, whoever made them.
pub fn judge_all(history: &[Entry], effects: &Effects) -> Vec<String> {
    let made: HashSet<CallName> = history.iter().map(|entry| entry.call).collect();
    let mut wrong = judge(history, effects);
    wrong.extend(unmade(effects, |call| made.contains(&call)));
    wrong
}

/// What is wrong with a call that ran in these lives.
fn faults(entry: &Entry, lives: &[u64]) -> impl Iterator<Item = String> {
    let fault = match (entry.told, lives.len()) {
        (_, 2..) => Some("ran more than once"),
        (Told::Returned, 0) => Some("returned and has not run"),
        (Told::DidNotRun, 1) => Some("is said not to have run, and has"),
        _ => None,
    };
    let is_not = |life: &u64| entry.life.is_some_and(|expected| expected != *life);
    let elsewhere = lives.iter().find(|life| is_not(life));
    let blamed = entry.blamed.filter(is_not);
    let expected = entry.life.unwrap_or(0);
    let elsewhere = elsewhere.map(|life| format!("was made to life {expected}, and ran in {life}"));
    let blamed =
        blamed.map(|life| format!("was made to life {expected}, and its error says {life}"));
    fault.map(str::to_owned).into_iter().chain(elsewhere).chain(blamed)
}

#[cfg(test)]
mod tests {
    use super::*;

    const CALL: CallName = CallName { client: 1, number: 2 };

    /// A call over a binding to life 5.
    fn check(told: Told, lives: &[u64], is_right: bool) {
        let entry = Entry { life: Some(5), ..Entry::told(CALL, told) };
        let wrong = judge(&[entry], &Effects::from([(CALL, lives.to_vec())]));
        assert_eq!(wrong.is_empty(), is_right, "{told:?} {lives:?}: {wrong:?}");
    }

    #[test]
    fn a_call_runs_once_at_most_whatever_its_client_was_told() {
        for told in [Told::Returned, Told::DidNotRun, Told::MayHaveRun, Told::Nothing] {
            check(told, &[5, 5], false);
        }
    }

    #[test]
    fn what_returned_has_run_and_what_did_not_run_has_no_effect() {
        check(Told::Returned, &[5], true);
        check(Told::Returned, &[], false);
        check(Told::DidNotRun, &[], true);
        check(Told::DidNotRun, &[5], false);
    }

    #[test]
    fn what_nobody_has_called_does_not_run() {
        let entry = Entry::told(CALL, Told::Returned);
        let another = CallName { number: 3, ..CALL };
        let effects = Effects::from([(CALL, vec![5]), (another, vec![5])]);
        assert!(judge(&[entry], &effects).is_empty());
        let wrong = ["call 3 of client 1 was never made, and ran ([5])"];
        assert_eq!(judge_all(&[entry], &effects), wrong);
        assert_eq!(unmade(&effects, |call| call == CALL), wrong);
        assert!(judge_all(&[entry, Entry::told(another, Told::Returned)], &effects).is_empty());
    }

    #[test]
    fn who_cannot_tell_is_right_either_way() {
        for told in [Told::MayHaveRun, Told::Nothing] {
            check(told, &[], true);
            check(told, &[5], true);
        }
    }

    #[test]
    fn a_call_runs_in_the_life_that_its_binding_was_to() {
        for told in [Told::Returned, Told::MayHaveRun, Told::Nothing] {
            check(told, &[6], false);
        }
        // Of one whose client has died nobody knows which that was.
        let entry = Entry::told(CALL, Told::Nothing);
        assert!(judge(&[entry], &Effects::from([(CALL, vec![6])])).is_empty());
    }

    #[test]
    fn an_error_names_the_life_that_the_binding_was_to() {
        for (blamed, is_right) in [(None, true), (Some(5), true), (Some(6), false)] {
            let entry = Entry { life: Some(5), blamed, ..Entry::told(CALL, Told::MayHaveRun) };
            assert_eq!(judge(&[entry], &Effects::new()).is_empty(), is_right, "{blamed:?}");
        }
    }
}
