//! One deadline bounds a whole call, and the server sees what is left of it (DESIGN 8).

use std::future::Future;
use std::path::Path;
use std::pin::pin;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use lacking::lacking;
use nearcall::{Binding, CallError, Domain, NotExecuted, Ran, WhenExhausted};
use nearcall_threads::JoinError;
use testkit::contract::{self, KeeperProcess, import_options};
use testkit::longer::{aborted, in_time, is_late};
use testkit::signal;
use testkit::stubs::contract::{CONTRACT, ContractClient};

const KEEPER: &str = env!("CARGO_BIN_EXE_testkit-keeper");

/// A directory for names, a keeper's process there, and a client of it.
struct Scene {
    directory: tempfile::TempDir,
    keeper: KeeperProcess,
    client: ContractClient,
    domain: Domain,
}

fn scene() -> Scene {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let keeper = KeeperProcess::start(KEEPER, directory.path(), "keeper");
    let domain = Domain::new().expect("a domain");
    let client = contract::import(&domain, directory.path(), "keeper");
    Scene { directory, keeper, client, domain }
}

impl Scene {
    fn path(&self) -> &Path {
        self.directory.path()
    }
}

/// A client of a keeper over a heap twin.
fn twin() -> (Domain, tempfile::TempDir, nearcall::Clerk, ContractClient) {
    let domain = Domain::new().expect("a domain");
    let directory = tempfile::tempdir().expect("a temporary directory");
    let clerk = contract::export(&domain, directory.path(), "keeper").expect("an export");
    let options = import_options(directory.path());
    let binding = Binding::import_twin(&domain, &clerk, &CONTRACT, options).expect("a twin");
    (domain, directory, clerk, ContractClient::new(binding))
}

const SECOND: Duration = Duration::from_secs(1);

/// Nanoseconds left are some of these, and less than one in two hundred was lost on the way.
#[track_caller]
fn check_left(left_ns: i64, deadline: Duration, elapsed: Duration) {
    let most = deadline.as_nanos() as i64;
    let least = most - most / 200 - elapsed.as_nanos() as i64;
    assert!(left_ns <= most && left_ns >= least, "{left_ns} of {most}, after {elapsed:?}");
}

/// The same of a call of this client's that has this deadline.
#[track_caller]
fn check_time_left(client: &ContractClient, deadline: Duration) {
    let (left_ns, elapsed) = in_time(|| {
        let begin = Instant::now();
        let left_ns = client.with_deadline(deadline).time_left()?;
        Ok((left_ns, begin.elapsed()))
    });
    check_left(left_ns, deadline, elapsed);
}

#[test]
fn a_procedure_sees_what_is_left_of_its_deadline() {
    let scene = scene();
    let (_domain, _directory, _clerk, over_twin) = twin();
    for client in [&scene.client, &over_twin] {
        assert_eq!(client.time_left().unwrap(), -1);
        for deadline in [SECOND, 70 * SECOND, 100_000 * SECOND] {
            check_time_left(client, deadline);
        }
        // It is not the next call's.
        assert_eq!(client.time_left().unwrap(), -1);
    }
    assert!(nearcall::current_call().is_none());
}

/// Calls with that deadline until the server has seen that a call was given up: beside other work
/// one may be before it was taken.
#[track_caller]
fn give_up(client: &ContractClient, deadline: Duration) {
    let (hasty, begin, mut least) = (client.with_deadline(deadline), Instant::now(), Duration::MAX);
    while client.seen().unwrap() == (0, 0) {
        assert!(begin.elapsed() < 60 * SECOND, "none is seen to be given up");
        let mut called = begin;
        let error = aborted(|| {
            called = Instant::now();
            hasty.work_until_cancelled(60_000)
        });
        least = least.min(called.elapsed());
        assert!(error.to_string().contains(" did not return within "), "{error}");
        assert!(called.elapsed() >= deadline);
        while client.binding().captured_count() > 0 {
            std::thread::yield_now();
        }
    }
    // Bounded by the deadline and not by the procedure; the machine may hold any of them up.
    assert!(least < 10 * SECOND, "{least:?}");
    assert_eq!(client.seen().unwrap(), (1, 0));
}

/// Starts a program whose monotonic clock is eleven days ahead of ours, and ends with it.
const AHEAD: [&str; 6] = ["unshare", "--time", "--monotonic", "1000000", "--fork", "--kill-child"];

/// In shared memory a time of one clock would be one of another (T7): what crosses is how much is
/// left.
#[test]
fn a_deadline_is_the_same_where_the_clock_is_another() {
    let command = || {
        let mut command = Command::new(AHEAD[0]);
        command.args(&AHEAD[1..]);
        command
    };
    let tried = command().arg("true").stderr(Stdio::null()).status();
    if !tried.is_ok_and(|status| status.success()) {
        return lacking("a time namespace");
    }
    let directory = tempfile::tempdir().expect("a temporary directory");
    let mut command = command();
    command.arg(KEEPER);
    let _keeper = KeeperProcess::start_as(command, directory.path(), "keeper");
    let domain = Domain::new().expect("a domain");
    let client = contract::import(&domain, directory.path(), "keeper");
    for deadline in [SECOND, 70 * SECOND] {
        check_time_left(&client, deadline);
    }
    // Given up, as its server sees it, and asleep long enough to be woken.
    give_up(&client, Duration::from_millis(50));
    assert!(!client.work_until_cancelled(20).unwrap());
}

#[test]
fn a_nested_call_has_what_its_own_call_has_left() {
    let scene = scene();
    let _next = KeeperProcess::start(KEEPER, scene.path(), "next");
    assert_eq!(scene.client.time_left_of("next", 0).unwrap(), -1);
    let deadline = 20 * SECOND;
    let begin = Instant::now();
    let left_ns = scene.client.with_deadline(deadline).time_left_of("next", 100).unwrap();
    check_left(left_ns, deadline - Duration::from_millis(100), begin.elapsed());
}

/// How a call ended that was not even posted.
#[track_caller]
fn check_late<T: std::fmt::Debug>(outcome: Result<T, CallError>) {
    let error = outcome.unwrap_err();
    let is_late =
        matches!(error, CallError::NotExecuted { reason: NotExecuted::DeadlinePassed, .. });
    assert!(is_late && error.ran() == Ran::No, "{error}");
}

#[test]
fn a_deadline_of_no_time_posts_nothing() {
    let scene = scene();
    let late = scene.client.with_deadline(Duration::ZERO);
    check_late(late.time_left());
    check_late(late.posting().time_left());
    let calls = late.awaiting();
    let awaited = pin!(calls.time_left());
    match awaited.poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(outcome) => check_late(outcome),
        Poll::Pending => panic!("it waits"),
    }
    assert_eq!(scene.client.binding().captured_count(), 0);
    // A deadline of its own is another thing.
    check_time_left(&late, SECOND);
}

#[test]
fn a_deadline_that_has_passed_posts_no_nested_call() {
    let scene = scene();
    let (next, client) = (KeeperProcess::start(KEEPER, scene.path(), "next"), &scene.client);
    let hasty = client.with_deadline(Duration::from_millis(20));
    aborted(|| hasty.time_left_of("next", 200));
    while client.binding().captured_count() > 0 {
        std::thread::yield_now();
    }
    // It was refused where it was made, and the server that it was for lives and was not asked.
    assert_eq!(client.time_left().unwrap(), -1);
    drop(next);
}

#[test]
fn a_stopped_server_does_not_keep_a_call_that_goes_out_of_line() {
    let scene = scene();
    scene.client.null().unwrap();
    signal::stop(scene.keeper.pid());
    let hasty = scene.client.with_deadline(Duration::from_millis(50));
    let data = vec![7; 1 << 20];
    let times = [(); 3].map(|()| {
        let begin = Instant::now();
        let error = hasty.echo(&data).unwrap_err();
        let want = NotExecuted::DeadlinePassed;
        assert!(matches!(error, CallError::NotExecuted { reason, .. } if reason == want));
        begin.elapsed()
    });
    // Bounded by the deadline and not by the time that an exchange may take; the machine may hold
    // any of them up.
    assert!(times.iter().any(|time| *time < 4 * SECOND), "{times:?}");
    signal::resume(scene.keeper.pid());
    // The binding lives, and what came late is in nobody's way.
    assert_eq!(scene.client.echo(&data).unwrap(), data);
}

#[test]
fn growth_that_a_deadline_cut_short_is_taken_up_by_the_next_call() {
    let scene = scene();
    let mut options = import_options(scene.path());
    options.when_exhausted = WhenExhausted::Grow;
    let binding = Binding::import_with(&scene.domain, "keeper", &CONTRACT, options).unwrap();
    let client = ContractClient::new(binding);
    client.null().unwrap();
    let count = client.binding().astack_count();
    signal::stop(scene.keeper.pid());
    let hasty = client.with_deadline(Duration::from_millis(20));
    // Each leaves an A-stack captured; from some call on there is none, and growth has to be asked
    // for, which nobody answers.
    let mut unposted = 0;
    while unposted < 3 {
        match hasty.null().unwrap_err() {
            CallError::CallAborted { .. } => {}
            CallError::NoAStack { .. } => unposted += 1,
            other => assert!(is_late(&other), "{other}"),
        }
    }
    assert_eq!(client.binding().astack_count(), count);
    signal::resume(scene.keeper.pid());
    std::thread::scope(|threads| {
        for _ in 0..2 * count {
            threads.spawn(|| client.work_until_cancelled(50).unwrap());
        }
    });
    assert!(client.binding().astack_count() > count);
    assert!(!client.binding().is_revoked());
}

#[test]
fn a_call_that_is_given_up_is_seen_to_be() {
    let scene = scene();
    let client = &scene.client;
    assert!(!client.work_until_cancelled(5).unwrap());
    give_up(client, Duration::from_millis(20));
}

#[test]
fn a_pending_call_that_is_cancelled_is_seen_to_be() {
    let scene = scene();
    let client = &scene.client;
    let pending = client.posting().work_until_cancelled(60_000).unwrap();
    while client.running().unwrap() == 0 {
        std::thread::yield_now();
    }
    pending.cancel();
    while client.binding().captured_count() > 0 {
        std::thread::yield_now();
    }
    assert_eq!(client.seen().unwrap(), (1, 0));
}

#[test]
fn the_call_of_a_fastthread_that_is_cancelled_is_seen_to_be_and_the_thread_unwinds() {
    let scene = scene();
    let client = Arc::new(scene.client);
    let joined = nearcall_threads::run(move || {
        let theirs = Arc::clone(&client);
        let calls = nearcall_threads::fork(move || theirs.work_until_cancelled(60_000));
        let calls = calls.unwrap();
        while client.running().unwrap() == 0 {
            nearcall_threads::yield_now();
        }
        calls.cancel().unwrap();
        let joined = calls.join();
        while client.binding().captured_count() > 0 {
            std::thread::yield_now();
        }
        assert_eq!(client.seen().unwrap(), (1, 0));
        joined
    });
    assert!(matches!(joined.unwrap(), Err(JoinError::Cancelled(_))));
}

#[test]
fn a_pending_call_that_is_cancelled_before_it_is_taken_does_not_run() {
    let scene = scene();
    let client = &scene.client;
    client.null().unwrap();
    signal::stop(scene.keeper.pid());
    client.posting().work_until_cancelled(60_000).unwrap().cancel();
    signal::resume(scene.keeper.pid());
    while client.binding().captured_count() > 0 {
        std::thread::yield_now();
    }
    assert_eq!(client.seen().unwrap(), (0, 0));
}
