//! Procedures in C and C++ ask who calls, how long that one still waits, and whether it has given
//! the call up.

use std::path::Path;
use std::time::Duration;

use nearcall::name::Scope;
use nearcall::{Binding, CallError, Domain, ImportOptions};
use stubs_c_tests::witnessed::witness::*;

use crate::support::{Server, Workshop, ways};

/// Longer than any call takes.
const LONG: Duration = Duration::from_secs(60);

/// When calls are given up that would never return.
const SOON: Duration = Duration::from_millis(50);

fn ask(name: &str, runtime: &Path) {
    let domain = Domain::new().unwrap();
    let mut options = ImportOptions::default();
    options.scopes = Some(vec![Scope::Directory(runtime.join("nearcall"))]);
    let binding = Binding::import_with(&domain, name, &WITNESS, options).unwrap();
    let client = WitnessClient::new(binding);
    let own = [rustix::process::getuid().as_raw(), rustix::process::getgid().as_raw()];
    let pid = i64::from(std::process::id());
    assert_eq!(client.who().unwrap(), (own[0].into(), own[1].into(), pid));
    assert_eq!(client.left().unwrap(), u64::MAX);
    let left = Duration::from_nanos(client.with_deadline(LONG).left().unwrap());
    assert!(left > LONG / 2 && left <= LONG, "{left:?}");
    let given_up = client.with_deadline(SOON).linger().unwrap_err();
    assert!(matches!(given_up, CallError::CallAborted { .. }), "{given_up}");
    while client.seen().unwrap() == 0 {
        std::thread::yield_now();
    }
    assert_eq!(client.seen().unwrap(), 1);
}

#[test]
fn procedures_learn_who_calls_and_whether_that_one_still_waits() {
    let (ways, mut count) = (ways(), 0);
    for (compiler, flags) in &ways {
        for (language, program) in [("c", "onlooker"), ("cpp", "onlooker_cpp")] {
            let workshop = Workshop::of(language, "witness.idl");
            let program = workshop.program(compiler, program, flags);
            let server = Server::start(&program, language, workshop.path());
            ask(language, workshop.path());
            server.end();
            count += 1;
        }
    }
    println!("{count} servers");
    assert!(count == 2 * ways.len());
}
