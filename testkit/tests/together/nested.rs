//! A calls B, which calls C, and any of them ends (L53): what the others are told.

use std::path::Path;
use std::process::{Command, Stdio};

use nearcall::{CallError, Domain};
use testkit::confined;
use testkit::contract::{self, KeeperProcess};
use testkit::signal;
use testkit::stubs::contract::ContractClient;

const KEEPER: &str = env!("CARGO_BIN_EXE_testkit-keeper");

const MINUTE_MS: u32 = 60_000;

/// What `relay` says of a nested call that may have run.
const MAYBE: u32 = 2;

/// Servers B and C, and bindings of this domain to both.
struct Chain {
    directory: tempfile::TempDir,
    b: KeeperProcess,
    c: KeeperProcess,
    to_b: ContractClient,
    to_c: ContractClient,
}

fn chain() -> Chain {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let start = |name| KeeperProcess::start(KEEPER, directory.path(), name);
    let (b, c) = (start("b"), start("c"));
    let domain = Domain::new().expect("a domain");
    let import = |name| contract::import(&domain, directory.path(), name);
    let (to_b, to_c) = (import("b"), import("c"));
    Chain { directory, b, c, to_b, to_c }
}

/// Waits until C runs a call that B has made.
fn until_c_is_reached(chain: &Chain) {
    while chain.to_c.running().expect("C lives") == 0 {
        std::thread::yield_now();
    }
}

#[test]
fn c_ends_and_b_goes_on() {
    let mut chain = chain();
    let said = std::thread::scope(|threads| {
        let call = threads.spawn(|| chain.to_b.relay("c", MINUTE_MS));
        until_c_is_reached(&chain);
        signal::kill(chain.c.pid());
        call.join().unwrap().unwrap()
    });
    chain.c.wait();
    assert_eq!(said, MAYBE, "B was told call-failed, and A has B's result");
    assert_eq!(chain.to_b.relayed().unwrap(), 1);
}

#[test]
fn b_ends_and_a_is_told_and_c_sees_that_nobody_waits() {
    let mut chain = chain();
    let error = std::thread::scope(|threads| {
        let call = threads.spawn(|| chain.to_b.relay("c", MINUTE_MS));
        until_c_is_reached(&chain);
        signal::kill(chain.b.pid());
        call.join().unwrap().unwrap_err()
    });
    chain.b.wait();
    assert!(
        matches!(error, CallError::CallFailed { procedure, .. }
            if procedure.operation() == "relay"),
        "{error}"
    );
    // C was not ended with it: it has seen that its client is gone, and returned by itself (L54).
    while chain.to_c.seen().unwrap() != (1, 1) {
        std::thread::yield_now();
    }
    // It says so before it returns.
    while chain.to_c.running().unwrap() != 0 {
        std::thread::yield_now();
    }
}

#[test]
fn a_ends_and_the_others_finish_and_serve_on() {
    let chain = chain();
    let mut a = spawn_client(chain.directory.path());
    until_c_is_reached(&chain);
    confined::kill(&mut a);
    // B's call is not ended by A's end, nor C's by that: B may be in the middle of anything. It
    // ends when C does, and its result goes nowhere.
    assert_eq!(chain.to_c.seen().unwrap(), (0, 0));
    signal::kill(chain.c.pid());
    while chain.to_b.relayed().unwrap() == 0 {
        std::thread::yield_now();
    }
    chain.to_b.null().unwrap();
}

#[test]
fn b_and_c_end_together_and_a_is_told_once() {
    let mut chain = chain();
    let error = std::thread::scope(|threads| {
        let call = threads.spawn(|| chain.to_b.relay("c", MINUTE_MS));
        until_c_is_reached(&chain);
        signal::kill(chain.c.pid());
        signal::kill(chain.b.pid());
        call.join().unwrap()
    });
    chain.b.wait();
    chain.c.wait();
    match error {
        // B had the time to say what it was told.
        Ok(said) => assert_eq!(said, MAYBE),
        Err(error) => {
            assert!(
                matches!(error, CallError::CallFailed { procedure, .. }
                    if procedure.operation() == "relay"),
                "{error}"
            );
        }
    }
    let error = chain.to_b.null().unwrap_err();
    assert!(matches!(error, CallError::NotExecuted { .. }), "{error}");
}

/// A client process that has B call C for a minute.
fn spawn_client(directory: &Path) -> std::process::Child {
    let mut command = Command::new(KEEPER);
    command.arg(directory).args(["b", "relay", "c"]);
    command.stdin(Stdio::null()).stdout(Stdio::null()).spawn().expect("the client's program")
}
