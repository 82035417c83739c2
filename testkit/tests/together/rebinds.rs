//! A server ends and another takes its name: who is bound to which of them, and what is called
//! again (DESIGN 8).

use std::path::Path;
use std::time::Duration;

use nearcall::{BindError, Binding, CallError, Domain, Ran, Rebind};
use testkit::contract::{KeeperProcess, import_options};
use testkit::signal;
use testkit::stubs::contract::{CONTRACT, ContractClient};

const KEEPER: &str = env!("CARGO_BIN_EXE_testkit-keeper");

const PATIENT: Rebind = Rebind::WaitForReady(Duration::from_secs(60));

/// A keeper exported as `keeper`, and a client of it.
fn bound(directory: &Path, rebind: Rebind) -> (KeeperProcess, ContractClient) {
    let keeper = KeeperProcess::start(KEEPER, directory, "keeper");
    let domain = Domain::new().expect("a domain");
    let mut options = import_options(directory);
    options.rebind = rebind;
    let binding = Binding::import_with(&domain, "keeper", &CONTRACT, options).unwrap();
    (keeper, ContractClient::new(binding))
}

fn file_in(directory: &Path) -> String {
    directory.join("ended").to_str().expect("a path in UTF-8").to_owned()
}

#[test]
fn an_idempotent_call_is_made_once_more_in_the_next_life() {
    let directory = tempfile::tempdir().unwrap();
    let (mut keeper, client) = bound(directory.path(), PATIENT);
    let before = client.binding().incarnation();
    let file = file_in(directory.path());
    let (pid, next) = std::thread::scope(|threads| {
        let call = threads.spawn(|| client.end_once(&file));
        keeper.wait();
        let next = KeeperProcess::start(KEEPER, directory.path(), "keeper");
        (call.join().unwrap().unwrap(), next)
    });
    assert_eq!(pid, next.pid());
    // The old binding stays what it was; what replaces it is shared, and bound to the next life.
    assert!(client.binding().is_revoked());
    assert_eq!(client.binding().incarnation(), before);
    let renewed = client.binding().rebind().unwrap();
    assert!(renewed.incarnation() > before);
    assert_eq!(client.binding().rebind().unwrap().incarnation(), renewed.incarnation());
    let client = ContractClient::new(renewed);
    client.null().unwrap();
    assert_eq!(client.pid().unwrap(), next.pid());
}

#[test]
fn a_call_that_may_not_run_twice_fails_and_says_in_which_life() {
    let directory = tempfile::tempdir().unwrap();
    let (mut keeper, client) = bound(directory.path(), PATIENT);
    let error = client.end_once_for_good(&file_in(directory.path())).unwrap_err();
    keeper.wait();
    let _next = KeeperProcess::start(KEEPER, directory.path(), "keeper");
    let CallError::CallFailed { procedure, incarnation } = error else { panic!("{error}") };
    assert_eq!(
        (procedure.operation(), incarnation),
        ("end_once_for_good", client.binding().incarnation())
    );
    // Nothing rebinds behind the back of one that is not idempotent.
    let error = client.null().unwrap_err();
    assert_eq!(error.ran(), Ran::No);
    assert!(client.time_left().is_err());
}

#[test]
fn without_a_next_life_the_first_failure_is_what_is_told() {
    let directory = tempfile::tempdir().unwrap();
    let (mut keeper, client) = bound(directory.path(), Rebind::FailFast);
    let error = client.end_once(&file_in(directory.path())).unwrap_err();
    assert!(
        matches!(error, CallError::CallFailed { procedure, .. }
            if procedure.operation() == "end_once"),
        "{error}"
    );
    keeper.wait();
    let refused = client.binding().rebind().unwrap_err();
    assert!(matches!(refused, BindError::NoSuchName { .. }), "{refused}");
}

#[test]
fn waiting_in_vain_says_for_what_and_how_long() {
    let directory = tempfile::tempdir().unwrap();
    let limit = Duration::from_millis(50);
    let (mut keeper, client) = bound(directory.path(), Rebind::WaitForReady(limit));
    keeper.kill();
    // Whoever asks for the next life knows that this one is over, if nobody else has noticed yet.
    let error = client.binding().rebind().unwrap_err();
    let said = error.to_string();
    assert!(said.starts_with("\"keeper\" was not ready within 50ms: "), "{said}");
    let BindError::NotReady { last, .. } = &error else { panic!("{error}") };
    assert!(matches!(**last, BindError::NoSuchName { .. }), "{last}");
}

#[test]
fn waiting_for_the_next_life_ends_with_the_deadline() {
    let directory = tempfile::tempdir().unwrap();
    let (mut keeper, client) = bound(directory.path(), PATIENT);
    keeper.kill();
    let hasty = client.with_deadline(Duration::from_millis(50));
    // It would wait for a minute else.
    let error = hasty.pid().unwrap_err();
    assert_eq!(error.ran(), Ran::No, "{error}");
}

#[test]
fn many_calls_at_once_share_one_new_binding() {
    let directory = tempfile::tempdir().unwrap();
    let (mut keeper, client) = bound(directory.path(), PATIENT);
    client.null().unwrap();
    keeper.kill();
    let next = std::thread::scope(|threads| {
        let calls: Vec<_> = (0..8).map(|_| threads.spawn(|| client.pid().unwrap())).collect();
        let next = KeeperProcess::start(KEEPER, directory.path(), "keeper");
        for call in calls {
            assert_eq!(call.join().unwrap(), next.pid());
        }
        next
    });
    let one = client.binding().rebind().unwrap();
    let other = client.binding().rebind().unwrap();
    signal::kill(next.pid());
    // One and the same: what ends one, ends the other.
    while !one.is_revoked() {
        std::thread::yield_now();
    }
    assert!(other.is_revoked());
}

#[test]
fn a_renewal_that_has_ended_is_renewed_in_turn() {
    let directory = tempfile::tempdir().unwrap();
    let (mut keeper, client) = bound(directory.path(), PATIENT);
    keeper.kill();
    let mut next = KeeperProcess::start(KEEPER, directory.path(), "keeper");
    assert_eq!(client.pid().unwrap(), next.pid());
    let second = client.binding().rebind().unwrap();
    next.kill();
    while !second.is_revoked() {
        std::thread::yield_now();
    }
    let last = KeeperProcess::start(KEEPER, directory.path(), "keeper");
    assert_eq!(client.pid().unwrap(), last.pid());
}

#[test]
fn a_binding_that_holds_is_its_own_renewal() {
    let directory = tempfile::tempdir().unwrap();
    let (_keeper, client) = bound(directory.path(), Rebind::FailFast);
    let same = client.binding().rebind().unwrap();
    assert_eq!(same.incarnation(), client.binding().incarnation());
}
