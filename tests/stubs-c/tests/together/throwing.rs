//! What a procedure in C or C++ does that its interface does not declare is a panic to its client,
//! and said on the server's standard error.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::Stdio;

use nearcall::{CallError, Domain, Error, Ran};
use stubs_c_tests::thrown::throwing::*;

use crate::support::{domain, import, in_both};

/// What the server says, in the order of the calls.
const SAID: [&str; 6] = [
    "throwing::Thrower::plain threw: nothing is plain",
    "throwing::Thrower::declared threw: beyond 3",
    "throwing::Thrower::strange threw: no std::exception",
    "throwing::Thrower::unfit returned what cannot be sent: returned: \
     the discriminator of throwing::Either is 1, which selects alternative 1, \
     and it holds alternative 2",
    "throwing::Thrower::numbers threw: no more numbers",
    "the feed of throwing::Thrower::names: results refused: \
     item has 8 bytes or elements, its limit is 4",
];

/// What of that is told whoever listens, each once.
const CALLED: [&str; 6] = [
    "Thrower::plain threw",
    "Thrower::declared threw",
    "Thrower::strange threw",
    "Thrower::unfit returned",
    "Thrower::numbers threw",
    "the feed of names",
];

/// The last of them is told by the runtime.
const NAMES: [&str; 4] = [
    "\"level\":\"WARN\"",
    "\"name\":\"throwing\"",
    "\"message\":\"a feed made an item that is refused\"",
    "\"refused\":\"item has 8 bytes or elements, its limit is 4\"",
];

fn has_panicked(error: &CallError) -> bool {
    matches!(error, CallError::Panicked { .. }) && error.ran() == Ran::Yes
}

fn call(client: &ThrowerClient) {
    assert!(has_panicked(&client.plain().unwrap_err()));
    match client.declared(false).unwrap_err() {
        Error::Call(error) => assert!(has_panicked(&error), "{error}"),
        raised => panic!("{raised}"),
    }
    assert!(has_panicked(&client.strange().unwrap_err()));
    let error = client.unfit().unwrap_err();
    assert!(matches!(error, CallError::ResultsRefused { .. }), "{error}");
    let mut numbers = client.numbers().unwrap();
    assert_eq!(numbers.next().unwrap().unwrap(), 1);
    assert!(has_panicked(&numbers.next().unwrap().unwrap_err()));
    let error = client.names().unwrap().next().unwrap().unwrap_err();
    assert!(matches!(error, CallError::ResultsRefused { .. }), "{error}");
    let want = "results of the feed of names are beyond a limit, or could not be made: its \
                server is told why";
    assert_eq!(error.to_string(), want);
    match client.declared(true).unwrap_err() {
        Error::Exception(ThrowerDeclaredException::Refused(refused)) => {
            assert_eq!(refused.code, 7);
        }
        error => panic!("{error}"),
    }
}

/// What a server has said when everything was called; with `options` beside its name.
fn said(program: &Path, runtime: &Path, options: &[&str]) -> Vec<String> {
    let mut server = domain(program, runtime)
        .arg("throwing")
        .args(options)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut line = String::new();
    BufReader::new(server.stdout.take().expect("a pipe")).read_line(&mut line).expect("it says");
    let domain = Domain::new().unwrap();
    call(&ThrowerClient::new(import(&domain, "throwing", runtime, &THROWER)));
    drop(server.stdin.take());
    let mut said = String::new();
    server.stderr.take().expect("a pipe").read_to_string(&mut said).expect("it is text");
    assert!(server.wait().expect("it ends").success(), "{said}");
    said.lines().map(str::to_owned).collect()
}

fn throw(program: &Path, runtime: &Path) {
    let lines = said(program, runtime, &[]);
    let lines = lines.iter().map(|line| line.strip_prefix("nearcall: ").unwrap_or(line));
    assert_eq!(lines.collect::<Vec<_>>(), SAID);
}

fn throw_before_a_listener(program: &Path, runtime: &Path) {
    let told = said(program, runtime, &["heard"]);
    assert_eq!(told.len(), CALLED.len(), "{told:#?}");
    for (line, called) in told.iter().zip(CALLED) {
        assert!(line.contains(called), "{line} is not of {called}");
    }
    for part in NAMES {
        assert!(told[5].contains(part), "{} has no {part}", told[5]);
    }
}

#[test]
fn what_is_not_declared_is_a_panic_and_said_in_the_server_once() {
    in_both("throwing.idl", ["thrower", "thrower_cpp"], |program, runtime| {
        throw(program, runtime);
        throw_before_a_listener(program, runtime);
    });
}
