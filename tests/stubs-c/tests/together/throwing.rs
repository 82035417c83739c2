//! What a procedure in C or C++ does that its interface does not declare is a panic to its client,
//! and said on the server's standard error.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::Stdio;

use nearcall::{CallError, Domain, Error, Ran};
use stubs_c_tests::thrown::throwing::*;

use crate::support::{domain, import, in_both};

/// What the server says, in the order of the calls, but of `left`.
const SAID: [&str; 6] = [
    "throwing::Thrower::plain, exported as \"throwing\", panicked: threw: nothing is plain",
    "throwing::Thrower::declared, exported as \"throwing\", panicked: threw: beyond 3",
    "throwing::Thrower::strange, exported as \"throwing\", panicked: threw: no std::exception",
    UNFIT,
    "the feed of throwing::Thrower::numbers, exported as \"throwing\", panicked: \
     threw: no more numbers",
    "the feed of throwing::Thrower::names: results refused: \
     item has 8 bytes or elements, its limit is 4",
];

const UNFIT: &str = "throwing::Thrower::unfit returned what cannot be sent: returned: \
                     the discriminator of throwing::Either is 1, which selects alternative 1, \
                     and it holds alternative 2";

/// What a procedure in C leaves in its environment, and how that is called.
const LEFT: [(i32, &str); 4] = [
    (1, "NEARCALL_RAISED"),
    (4, "NEARCALL_NOT_EXECUTED"),
    (8, "NEARCALL_RESULTS_REFUSED"),
    (99, "99"),
];

/// What of that is told whoever listens, each once; again but of `left`.
const CALLED: [&str; 6] = [
    "\"procedure\":\"plain\",\"why\":\"threw: nothing is plain\"",
    "\"procedure\":\"declared\",\"why\":\"threw: beyond 3\"",
    "\"procedure\":\"strange\",\"why\":\"threw: no std::exception\"",
    "\"procedure\":\"unfit\"",
    "\"procedure\":\"the feed of numbers\",\"why\":\"threw: no more numbers\"",
    "\"procedure\":\"the feed of names\"",
];

/// What whoever listens is told of panics, and of what is refused.
const PANICKED: [&str; 2] = ["\"level\":\"ERROR\"", "\"message\":\"a procedure panicked\""];
const REFUSED: [&str; 1] = ["\"level\":\"WARN\""];

/// Calls that have the server return what cannot be sent, one after the other.
const UNFIT_CALLS: usize = 200;

fn is_cpp(program: &Path) -> bool {
    program.file_name().is_some_and(|name| name == "thrower_cpp")
}

/// Where it is said among the others, and what.
fn with_left(others: [&str; 6], of_left: Vec<String>) -> Vec<String> {
    let mut all = others.map(str::to_owned).to_vec();
    all.splice(4..4, of_left);
    all
}

fn has_panicked(error: &CallError) -> bool {
    matches!(error, CallError::Panicked { .. }) && error.ran() == Ran::Yes
}

fn call(client: &ThrowerClient, is_cpp: bool) {
    assert!(has_panicked(&client.plain().unwrap_err()));
    match client.declared(false).unwrap_err() {
        Error::Call(error) => assert!(has_panicked(&error), "{error}"),
        raised => panic!("{raised}"),
    }
    assert!(has_panicked(&client.strange().unwrap_err()));
    let error = client.unfit().unwrap_err();
    assert!(matches!(error, CallError::ResultsRefused { .. }), "{error}");
    if is_cpp {
        assert!(has_panicked(&client.left(4).unwrap_err()));
    } else {
        for (outcome, _) in LEFT {
            let error = client.left(outcome).unwrap_err();
            assert!(matches!(error, CallError::ResultsRefused { .. }), "{error}");
        }
    }
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

/// What a server has said when everything was called, and `unfit` so many times more; with
/// `options` beside its name.
fn said(program: &Path, runtime: &Path, options: &[&str], unfit_calls: usize) -> Vec<String> {
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
    let client = ThrowerClient::new(import(&domain, "throwing", runtime, &THROWER));
    call(&client, is_cpp(program));
    for _ in 0..unfit_calls {
        client.unfit().unwrap_err();
    }
    drop(server.stdin.take());
    let mut said = String::new();
    server.stderr.take().expect("a pipe").read_to_string(&mut said).expect("it is text");
    assert!(server.wait().expect("it ends").success(), "{said}");
    said.lines().map(str::to_owned).collect()
}

fn throw(program: &Path, runtime: &Path) {
    let lines = said(program, runtime, &[], 1);
    let lines = lines.iter().map(|line| line.strip_prefix("nearcall: ").unwrap_or(line));
    let of_left = match is_cpp(program) {
        true => vec![String::from(
            "throwing::Thrower::left, exported as \"throwing\", panicked: \
             threw: a call of its own",
        )],
        false => LEFT.map(|(_, outcome)| refused_for(outcome)).to_vec(),
    };
    let mut want = with_left(SAID, of_left);
    want.push(UNFIT.to_owned());
    assert_eq!(lines.collect::<Vec<_>>(), want);
}

fn refused_for(outcome: &str) -> String {
    format!(
        "throwing::Thrower::left: results refused: outcome is {outcome}, \
         allowed is NEARCALL_RETURNED or an exception that the procedure raises"
    )
}

fn throw_before_a_listener(program: &Path, runtime: &Path) {
    let told = said(program, runtime, &["heard"], UNFIT_CALLS);
    let of_left = match is_cpp(program) {
        true => vec![String::from("\"procedure\":\"left\",\"why\":\"threw: a call of its own\"")],
        false => LEFT.map(|(_, outcome)| format!("outcome is {outcome}, allowed")).to_vec(),
    };
    let want = with_left(CALLED, of_left);
    let (once, again) = told.split_at(want.len());
    for (line, called) in once.iter().zip(&want) {
        assert!(line.contains(called), "{line} is not of {called}");
        let kind = if called.contains("threw: ") { &PANICKED[..] } else { &REFUSED };
        let server = "\"name\":\"throwing\"";
        assert!(line.contains(server) && kind.iter().all(|part| line.contains(part)), "{line}");
    }
    assert!(told[3].contains(&format!("\"refusal\":\"{UNFIT}\"")), "{}", told[3]);
    let names = &once[want.len() - 1];
    assert!(names.contains("\"refused\":\"item has 8 bytes or elements, its limit is 4\""));
    // However often a client asks for it.
    assert!((1..UNFIT_CALLS).contains(&again.len()), "{} of {UNFIT_CALLS}", again.len());
    assert!(again.iter().all(|line| line.contains(UNFIT)), "{again:#?}");
}

#[test]
fn what_is_not_declared_is_a_panic_and_said_in_the_server_once() {
    in_both("throwing.idl", ["thrower", "thrower_cpp"], |program, runtime| {
        throw(program, runtime);
        throw_before_a_listener(program, runtime);
    });
}
