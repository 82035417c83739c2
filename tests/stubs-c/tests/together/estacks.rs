//! Procedures in C and C++ on E-stacks: one that waits for a nested call leaves its server's only
//! thread to other calls (docs/design/0027-estacks.md).
//!
//! The slow server is here. It holds each call until a test lets it, so that what is held at once
//! says how many procedures wait at once; none waits for a time.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread;
use std::time::{Duration, Instant};

use nearcall::name::Scope;
use nearcall::{CallError, Clerk, Domain, Error, ExportOptions, Ran};
use stubs_c_tests::waiting::estacks::*;

use crate::support::{
    Server, domain, import, in_both, in_both_ways, is_late, test_of, this_program, ways,
};

/// Calls at once, more than the server has threads; of as many manners, the last half alike.
const CALLS: u32 = 16;

/// Calls that are given up while all E-stacks are taken.
const GIVEN_UP: u32 = 4;

/// What is not so by then never will be.
const NEVER: Duration = Duration::from_secs(60);

/// When a call is given up that would not return.
const SOON: Duration = Duration::from_millis(50);

/// The same, of one that is to be taken before that, with what it calls; longer where it is not.
const NOT_SO_SOON: [Duration; 3] =
    [Duration::from_secs(1), Duration::from_secs(10), Duration::from_secs(60)];

const MANNERS: [Manner; 4] = [Manner::Brief, Manner::Text, Manner::PostedBrief, Manner::PostedText];

/// What is held now.
#[derive(Default)]
struct Held {
    numbers: BTreeSet<u32>,
    /// The most at once.
    most: usize,
}

/// The slow server: see the interface file.
#[derive(Clone, Default)]
struct Gate(Arc<(Mutex<Held>, Condvar)>);

impl Gate {
    fn held(&self) -> MutexGuard<'_, Held> {
        self.0.0.lock().expect("nobody panics with it")
    }

    fn wait_while(&self, is_early: impl Fn(&Held) -> bool) {
        let wait = self.0.1.wait_timeout_while(self.held(), NEVER, |held| is_early(held));
        let (held, waited) = wait.expect("nobody panics with it");
        assert!(!waited.timed_out(), "held are {:?}", held.numbers);
    }

    /// Until exactly these are.
    fn until_held(&self, numbers: impl IntoIterator<Item = u32>) {
        let numbers = numbers.into_iter().collect();
        self.wait_while(|held| held.numbers != numbers);
    }

    fn let_go(&self, number: u32) {
        assert!(self.held().numbers.remove(&number), "{number} is not held");
        self.0.1.notify_all();
    }

    fn pass(&self, number: u32) {
        let mut held = self.held();
        assert!(held.numbers.insert(number), "{number} is held already");
        held.most = held.most.max(held.numbers.len());
        drop(held);
        self.0.1.notify_all();
        self.wait_while(|held| held.numbers.contains(&number));
    }
}

impl SlowServer for Gate {
    fn hold(&self, number: u32) -> u32 {
        self.pass(number);
        number
    }

    fn hold_text(&self, text: &str) -> String {
        self.pass(text.parse().expect("a number"));
        text.to_owned()
    }
}

/// The slow server, and a client's domain.
struct Scene<'r> {
    gate: Gate,
    domain: Domain,
    runtime: &'r Path,
    _clerk: Clerk,
}

impl Scene<'_> {
    fn new(runtime: &Path) -> Scene<'_> {
        let (domain, gate) = (Domain::new().unwrap(), Gate::default());
        let mut options = ExportOptions::default();
        options.scope = Some(Scope::Directory(runtime.join("nearcall")));
        std::fs::create_dir_all(runtime.join("nearcall")).unwrap();
        let entries = SlowEntries::new(gate.clone());
        let clerk = Clerk::export_with(&domain, "slow", entries, options).unwrap();
        Scene { gate, domain, runtime, _clerk: clerk }
    }

    fn client(&self, name: &str) -> HostClient {
        HostClient::new(import(&self.domain, name, self.runtime, &HOST))
    }
}

/// The server with these arguments, whose standard error is kept.
fn start(program: &Path, arguments: &[&str], runtime: &Path) -> (Child, String) {
    let mut server = domain(program, runtime)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut line = String::new();
    BufReader::new(server.stdout.take().expect("a pipe")).read_line(&mut line).expect("it says");
    (server, line)
}

/// Makes all these calls at once, and does something when all of them are held.
fn calls_at_once<T: Send>(
    scene: &Scene<'_>,
    numbers: impl Iterator<Item = u32> + Clone,
    call: impl Fn(u32) -> T + Sync,
    meanwhile: impl FnOnce(),
) -> Vec<T> {
    thread::scope(|threads| {
        let call = &call;
        let calls: Vec<_> =
            numbers.clone().map(|number| threads.spawn(move || call(number))).collect();
        scene.gate.until_held(numbers);
        meanwhile();
        calls.into_iter().map(|call| call.join().expect("it returns")).collect()
    })
}

fn wait_in_every_manner(program: &Path, runtime: &Path) {
    let scene = Scene::new(runtime);
    let server = Server::start(program, "patient", runtime);
    let client = scene.client("patient");
    let ask = |number| client.ask(MANNERS[number as usize % MANNERS.len()], number);
    let asked = calls_at_once(&scene, 0..CALLS, ask, || {
        // Its one thread takes calls of both kinds meanwhile.
        assert_eq!(client.add(3, 4).unwrap(), 7);
        assert_eq!(client.outlived().unwrap(), 0);
        // In an order that is neither theirs nor its reverse.
        (0..CALLS).map(|at| at * 5 % CALLS).for_each(|number| scene.gate.let_go(number));
    });
    let asked: Vec<u32> = asked.into_iter().map(Result::unwrap).collect();
    assert_eq!(asked, (0..CALLS).collect::<Vec<u32>>());
    server.end();
}

fn find_again(program: &Path, runtime: &Path) {
    let scene = Scene::new(runtime);
    let server = Server::start(program, "patient", runtime);
    let client = scene.client("patient");
    let keep = |number| client.keep(number).unwrap();
    let kept: Vec<_> = thread::scope(|threads| {
        // One after the other, so that it is known who was the last to write.
        let start = |number| {
            let call = threads.spawn(move || keep(number));
            scene.gate.until_held(0..=number);
            call
        };
        let calls: Vec<_> = (0..CALLS).map(start).collect();
        (0..CALLS).map(|at| at * 5 % CALLS).for_each(|number| scene.gate.let_go(number));
        calls.into_iter().map(|call| call.join().expect("it returns")).collect()
    });
    // Each has its own exception, and all have one variable, as they have one thread.
    let want: Vec<_> = (0..CALLS).map(|number| (number, CALLS - 1)).collect();
    assert_eq!(kept, want);
    server.end();
}

fn fail_later(program: &Path, runtime: &Path) {
    let scene = Scene::new(runtime);
    let (mut server, ready) = start(program, &["patient"], runtime);
    assert_eq!(ready, "ready\n");
    let client = scene.client("patient");
    let fail = |number| client.fail(number, number % 2 == 0).unwrap_err();
    let failed = calls_at_once(&scene, 0..CALLS, fail, || {
        (0..CALLS).map(|at| at * 5 % CALLS).for_each(|number| scene.gate.let_go(number));
    });
    for (number, error) in (0..CALLS).zip(failed) {
        match error {
            Error::Exception(HostFailException::Refused(refused)) if number % 2 == 0 => {
                assert_eq!(refused.number, number);
            }
            Error::Call(error @ CallError::Panicked { .. }) if number % 2 == 1 => {
                assert_eq!(error.ran(), Ran::Yes);
            }
            error => panic!("{number}: {error}"),
        }
    }
    // It goes on.
    assert_eq!(client.add(3, 4).unwrap(), 7);
    drop(server.stdin.take());
    let mut said = String::new();
    server.stderr.take().expect("a pipe").read_to_string(&mut said).expect("it is text");
    assert!(server.wait().expect("it ends").success(), "{said}");
    assert_eq!(said.matches("held for too long").count(), CALLS as usize / 2, "{said}");
}

/// Until so many calls have found out that nobody waits for them.
fn until_outlived(client: &HostClient, count: u32) {
    let begun = Instant::now();
    while client.outlived().unwrap() < count && begun.elapsed() < NEVER {
        thread::yield_now();
    }
    assert_eq!(client.outlived().unwrap(), count);
}

fn outlive_callers(program: &Path, runtime: &Path) {
    let scene = Scene::new(runtime);
    let server = Server::start(program, "patient", runtime);
    let client = scene.client("patient");
    let is_outlived = |deadline| {
        let given_up = client.with_deadline(deadline).outlive(1).unwrap_err();
        assert!(is_late(&given_up), "{given_up}");
        while client.binding().captured_count() > 0 {
            thread::yield_now();
        }
        client.outlived().unwrap() == 1
    };
    assert!(NOT_SO_SOON.into_iter().any(is_outlived));
    // Its nested call, which was given up as well, is held until here.
    scene.gate.let_go(1);

    let mut caller = this_program(runtime)
        .args([&*test_of(module_path!(), "call_for_long"), "--exact"])
        .env("LONG_CALLS_RUNTIME", runtime)
        .stdout(Stdio::null())
        .spawn()
        .expect("it starts");
    scene.gate.until_held([2]);
    assert_eq!(client.add(3, 4).unwrap(), 7);
    caller.kill().expect("it is there");
    caller.wait().expect("it has ended");
    assert_eq!(client.outlived().unwrap(), 1);
    scene.gate.let_go(2);
    until_outlived(&client, 2);
    server.end();
}

fn end_meanwhile(program: &Path, runtime: &Path) {
    let scene = Scene::new(runtime);
    let server = Server::start(program, "patient", runtime);
    let client = scene.client("patient");
    let ask = |number| client.ask(MANNERS[number as usize % MANNERS.len()], number);
    thread::scope(|threads| {
        let mut ending = Some(server);
        let asked = calls_at_once(&scene, 0..CALLS, ask, || {
            let server = ending.take().expect("it is ended once");
            threads.spawn(move || server.end());
            // From when it ends on it takes none.
            let hasty = client.with_deadline(SOON);
            let is_left = |error| matches!(error, CallError::NoAStack { .. }) || !is_late(&error);
            while !hasty.add(3, 4).is_err_and(is_left) {}
            (0..CALLS).for_each(|number| scene.gate.let_go(number));
        });
        let asked: Vec<u32> = asked.into_iter().map(Result::unwrap).collect();
        assert_eq!(asked, (0..CALLS).collect::<Vec<u32>>());
    });
}

fn have_few(program: &Path, runtime: &Path) {
    let scene = Scene::new(runtime);
    let (mut server, ready) = start(program, &["patient", "2"], runtime);
    assert_eq!(ready, "ready\n");
    let client = scene.client("patient");
    thread::scope(|threads| {
        let ask = |number| {
            threads.spawn({
                let client = &client;
                move || client.ask(Manner::Brief, number).unwrap()
            })
        };
        let first = [ask(0), ask(1)];
        scene.gate.until_held(0..2);
        // They wait for an E-stack before the others, and are not to begin when there is one.
        for number in CALLS..CALLS + GIVEN_UP {
            let queued = client.with_deadline(SOON).outlive(number).unwrap_err();
            assert!(is_late(&queued), "{queued}");
        }
        let others = [ask(2), ask(3)];
        assert_eq!(client.add(3, 4).unwrap(), 7);
        (0..2).for_each(|number| scene.gate.let_go(number));
        scene.gate.until_held(2..4);
        (2..4).for_each(|number| scene.gate.let_go(number));
        let all = first.into_iter().chain(others).map(|call| call.join().unwrap());
        assert_eq!(all.collect::<Vec<u32>>(), [0, 1, 2, 3]);
    });
    assert_eq!(scene.gate.held().most, 2);
    assert_eq!(client.outlived().unwrap(), 0);
    drop(server.stdin.take());
    assert!(server.wait().expect("it ends").success());
}

fn overflow(program: &Path, runtime: &Path) {
    let scene = Scene::new(runtime);
    let (mut server, ready) = start(program, &["patient"], runtime);
    assert_eq!(ready, "ready\n");
    let client = scene.client("patient");
    assert_eq!(client.dive(8).unwrap(), 8);
    let error = client.dive(1_000_000).unwrap_err();
    assert!(matches!(error, CallError::CallFailed { .. }), "{error}");
    let mut said = String::new();
    server.stderr.take().expect("a pipe").read_to_string(&mut said).expect("it is text");
    assert!(!server.wait().expect("it ends").success());
    let want = ", which runs `dive`, has overflowed its stack of 196608 bytes: aborting";
    assert!(said.contains(want), "{said}");
}

fn refuse_options(program: &Path, runtime: &Path) {
    let _scene = Scene::new(runtime);
    for (options, why) in [
        (["0", "196608"], "estacks_max is 0, and its least is 1"),
        (["1", "65535"], "estack_bytes is 65535, and its least for this interface is 65746"),
    ] {
        let (mut server, said) = start(program, &["patient", options[0], options[1]], runtime);
        assert!(said.contains(why), "{said}");
        assert!(server.wait().expect("it ends").success());
    }
}

/// Ways whose sanitizer, if any, knows of several stacks a thread where something is thrown.
fn plain_ways() -> Vec<(&'static str, &'static [&'static str])> {
    ways().into_iter().take(1).collect()
}

const PROGRAMS: [&str; 2] = ["patient", "patient_cpp"];

#[test]
fn procedures_that_wait_leave_their_only_thread_to_others() {
    in_both("estacks.idl", PROGRAMS, wait_in_every_manner);
}

#[test]
fn a_procedure_finds_its_exception_again_and_its_threads_variable_as_others_left_it() {
    in_both_ways(&plain_ways(), "estacks.idl", PROGRAMS, find_again);
}

#[test]
fn a_procedure_that_has_waited_panics_or_raises() {
    in_both_ways(&plain_ways(), "estacks.idl", PROGRAMS, fail_later);
}

#[test]
fn a_procedure_that_waits_outlives_its_callers_patience_and_its_caller() {
    in_both_ways(&plain_ways(), "estacks.idl", PROGRAMS, outlive_callers);
}

#[test]
fn a_server_that_ends_has_procedures_that_wait_reply() {
    in_both("estacks.idl", PROGRAMS, end_meanwhile);
}

#[test]
fn calls_without_an_estack_wait_for_one() {
    in_both_ways(&plain_ways(), "estacks.idl", PROGRAMS, have_few);
}

#[test]
fn who_overflows_its_estack_is_named() {
    in_both_ways(&plain_ways(), "estacks.idl", PROGRAMS, overflow);
}

#[test]
fn estacks_that_are_none_are_refused() {
    in_both_ways(&plain_ways(), "estacks.idl", PROGRAMS, refuse_options);
}

/// A caller that is killed: this test by itself does nothing.
#[test]
fn call_for_long() {
    let Some(runtime) = std::env::var_os("LONG_CALLS_RUNTIME") else { return };
    let domain = Domain::new().unwrap();
    let client = HostClient::new(import(&domain, "patient", Path::new(&runtime), &HOST));
    let _ = client.outlive(2);
}
