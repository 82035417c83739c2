//! Procedures in C and C++ ask who calls, how long that one still waits, whether it has given the
//! call up, and whether their server ends.

use std::path::Path;
use std::time::{Duration, Instant};

use nearcall::{Binding, CallError, Domain};
use stubs_c_tests::lasted::lasting::*;
use stubs_c_tests::witnessed::witness::*;

use crate::support::{Server, Workshop, import, in_both, is_late, run_client, ways};

/// Longer than any call takes.
const LONG: Duration = Duration::from_secs(60);

/// When calls are given up that would never return.
const SOON: Duration = Duration::from_millis(50);

/// The same, long after it is known that they run.
const A_WHILE: Duration = Duration::from_secs(1);

fn ask(program: &Path, runtime: &Path) {
    let server = Server::start(program, "witness", runtime);
    let (domain, other) = (Domain::new().unwrap(), Domain::new().unwrap());
    let client = WitnessClient::new(import(&domain, "witness", runtime, &WITNESS));
    let own = [rustix::process::getuid().as_raw(), rustix::process::getgid().as_raw()];
    let pid = i64::from(std::process::id());
    assert_eq!(client.who().unwrap(), (own[0].into(), own[1].into(), pid));
    assert_eq!(client.giver().unwrap(), -1);
    let introduction = client.binding().introduce().unwrap();
    let introduced = Binding::import_introduced(&other, introduction, &WITNESS).unwrap();
    assert_eq!(WitnessClient::new(introduced).giver().unwrap(), pid);
    assert_eq!(client.left().unwrap(), u64::MAX);
    let left = Duration::from_nanos(client.with_deadline(LONG).left().unwrap());
    assert!(left > LONG / 2 && left <= LONG, "{left:?}");
    // Beside other work one may be given up before it was taken.
    let begin = Instant::now();
    while client.seen().unwrap() == 0 {
        assert!(begin.elapsed() < LONG, "none is seen to be given up");
        let given_up = client.with_deadline(SOON).linger().unwrap_err();
        assert!(is_late(&given_up), "{given_up}");
        while client.binding().captured_count() > 0 {
            std::thread::yield_now();
        }
    }
    assert_eq!(client.seen().unwrap(), 1);
    server.end();
}

/// A server goes while it has a call that it can only end when its caller gives it up.
fn end_meanwhile(program: &Path, runtime: &Path) {
    let server = Server::start(program, "ending", runtime);
    let domain = Domain::new().unwrap();
    let client = WitnessClient::new(import(&domain, "ending", runtime, &WITNESS));
    let hasty = client.with_deadline(A_WHILE);
    let posting = hasty.posting();
    let lingering = posting.linger().unwrap();
    // Each of these finds the call that was posted before, if nobody has yet.
    for _ in 0..100 {
        assert_eq!(client.seen().unwrap(), 0);
    }
    std::thread::scope(|scope| {
        scope.spawn(|| server.end());
        let given_up = lingering.collect().unwrap_err();
        assert!(matches!(given_up, CallError::CallAborted { .. }), "{given_up}");
    });
}

/// A server goes while it has a call that would take as long as it lives.
fn last(program: &Path, runtime: &Path) {
    let server = Server::start(program, "lasting", runtime);
    let domain = Domain::new().unwrap();
    let client = LastingClient::new(import(&domain, "lasting", runtime, &LASTING));
    let patient = client.with_deadline(LONG);
    let posting = patient.posting();
    let lasting = posting.last().unwrap();
    while client.begun().unwrap() == 0 {
        std::thread::yield_now();
    }
    server.end();
    assert_ne!(lasting.collect().unwrap(), 0);
}

/// Clients in C and C++ that give up calls by themselves.
fn give_up(server: &Path, runtime: &Path) {
    let language = if server.ends_with("onlooker_cpp") { "cpp" } else { "c" };
    let (compiler, flags) = *ways().first().expect("it has compiled the server");
    let workshop = Workshop::of(language, "witness.idl");
    for client in ["hasty", "canceller"] {
        let source = if language == "cpp" { format!("{client}_cpp") } else { client.to_owned() };
        let program = workshop.program(compiler, &source, flags);
        let server = Server::start(server, client, runtime);
        assert_eq!(run_client(&program, client, runtime), "done\n");
        server.end();
    }
}

#[test]
fn clients_give_calls_up_that_take_too_long_or_are_cancelled() {
    in_both("witness.idl", ["onlooker", "onlooker_cpp"], give_up);
}

#[test]
fn a_server_outlives_the_call_that_it_has_when_it_ends() {
    in_both("witness.idl", ["onlooker", "onlooker_cpp"], end_meanwhile);
}

#[test]
fn a_procedure_that_asks_is_told_that_its_server_ends() {
    in_both("lasting.idl", ["laster", "laster_cpp"], last);
}

#[test]
fn procedures_learn_who_calls_and_whether_that_one_still_waits() {
    in_both("witness.idl", ["onlooker", "onlooker_cpp"], ask);
}
