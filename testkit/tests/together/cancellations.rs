//! Calls that one thread makes and another cancels (design note 0015): they end as those do whose
//! deadline has passed.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use nearcall::{
    BindError, Binding, CallError, Cancellation, Domain, NotExecuted, Ran, Rebind, WaitPolicy,
    WhenExhausted,
};
use nearcall_threads::{fork, run};
use rustix::net::{AddressFamily, SocketAddrUnix, SocketType};
use testkit::campaign::hand::path_of;
use testkit::contract::{self, KeeperProcess, import_options};
use testkit::faults::faults::{FAULTS, FaultsClient};
use testkit::longer::{aborted, is_so_beside};
use testkit::signal;
use testkit::stubs::contract::{CONTRACT, ContractClient};
use testkit::world::{World, each_world};

const SERVER: &str = env!("CARGO_BIN_EXE_testkit-server");
const KEEPER: &str = env!("CARGO_BIN_EXE_testkit-keeper");

/// Longer than any test waits.
const LONG_MS: u32 = 60_000;

/// Longer than a thread that runs is mostly kept from it, so that it looks before it has its reply.
const SLOW_MS: u32 = 1_000;

/// How often that is tried.
const TRIES: usize = 10;

/// A-stacks of the class of `doze`.
const CLASS_OF_DOZE: usize = 5;

fn check(test: impl Fn(&World, &FaultsClient)) {
    each_world(SERVER, |world| {
        let server = world.serve("cancelled");
        test(world, &world.import(&server));
    });
}

/// What becomes of `work` in a cancellation that another thread cancels after this wait.
fn cancelled_after<T>(wait: impl FnOnce() + Send, work: impl FnOnce() -> T) -> T {
    let cancellation = Cancellation::new();
    std::thread::scope(|threads| {
        threads.spawn(|| {
            wait();
            cancellation.cancel();
        });
        cancellation.run(work)
    })
}

/// What becomes of it in one that was cancelled before.
fn cancelled<T>(work: impl FnOnce() -> T) -> T {
    let cancellation = Cancellation::new();
    cancellation.cancel();
    cancellation.run(work)
}

/// A call that is cancelled. One that looks late may find its reply.
#[track_caller]
fn expect_aborted<T>(call: impl FnMut() -> Result<T, CallError>) {
    let outcomes = std::iter::repeat_with(call).take(TRIES);
    check_aborted(&outcomes.flat_map(Result::err).next().expect("it is cancelled"));
}

#[track_caller]
fn check_aborted(error: &CallError) {
    assert!(matches!(error, CallError::CallAborted { was_cancelled: true, .. }), "{error}");
    assert!(error.to_string().contains(" was cancelled after "), "{error}");
    assert_eq!(error.ran(), Ran::Maybe);
}

#[track_caller]
fn expect_no_astack<T: std::fmt::Debug>(outcome: Result<T, CallError>) {
    let error = outcome.unwrap_err();
    assert!(matches!(error, CallError::NoAStack { .. }), "{error}");
}

/// Most likely the other thread sleeps by now; if not, what is tested is what it does then.
fn a_while() {
    std::thread::sleep(Duration::from_millis(50));
}

/// Waits until that is so.
fn until(is_so: impl Fn() -> bool) {
    while !is_so() {
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn the_server_sees_that_a_call_was_cancelled() {
    let directory = tempfile::tempdir().unwrap();
    let (domain, name) = (Domain::new().unwrap(), "keeper");
    let check = |client: &ContractClient| {
        let runs = || until(|| client.running().unwrap() == 1);
        expect_aborted(|| cancelled_after(runs, || client.work_until_cancelled(LONG_MS)));
        until(|| client.seen().unwrap() == (1, 0));
        until(|| client.binding().captured_count() == 0);
        assert!(!client.work_until_cancelled(1).unwrap());
    };
    let clerk = contract::export(&domain, directory.path(), "twin").unwrap();
    let options = import_options(directory.path());
    let twin = Binding::import_twin(&domain, &clerk, &CONTRACT, options).unwrap();
    check(&ContractClient::new(twin));
    let _keeper = KeeperProcess::start(KEEPER, directory.path(), name);
    check(&contract::import(&domain, directory.path(), name));
}

#[test]
fn a_call_that_is_cancelled_before_does_not_wait_and_others_are_as_ever() {
    check(|_, client| {
        expect_aborted(|| cancelled(|| client.doze(SLOW_MS)));
        assert!(client.doze(30).unwrap() > 0);
        // Nor is it anybody else's.
        cancelled(|| {
            std::thread::scope(|threads| {
                assert!(threads.spawn(|| client.doze(30)).join().unwrap().is_ok());
            });
        });
    });
}

/// A keeper's process, and a client of it that sleeps for so long at once.
fn sleeping(directory: &Path, slice: Duration) -> (KeeperProcess, ContractClient) {
    let keeper = KeeperProcess::start(KEEPER, directory, "keeper");
    let mut options = import_options(directory);
    let slice_ns = slice.as_nanos() as u64;
    let (sleep_slice_ns_min, sleep_slice_ns_max) = (slice_ns, slice_ns);
    let policy = WaitPolicy::default();
    options.wait = Some(WaitPolicy { sleep_slice_ns_min, sleep_slice_ns_max, ..policy });
    let binding = Binding::import_with(&Domain::new().unwrap(), "keeper", &CONTRACT, options);
    (keeper, ContractClient::new(binding.unwrap()))
}

#[test]
fn a_call_that_is_cancelled_before_does_not_sleep() {
    let directory = tempfile::tempdir().unwrap();
    let (_keeper, client) = sleeping(directory.path(), Duration::from_millis(20));
    // It has its reply before it would look again; so may one that does not run meanwhile.
    expect_aborted(|| cancelled(|| client.work_until_cancelled(10)));
}

#[test]
fn a_wait_that_sleeps_long_at_once_is_cancelled_meanwhile() {
    let directory = tempfile::tempdir().unwrap();
    let (_keeper, client) = sleeping(directory.path(), Duration::from_millis(LONG_MS.into()));
    let other = contract::import(&Domain::new().unwrap(), directory.path(), "keeper");
    let sleeps = || {
        until(|| other.running().unwrap() == 1);
        a_while();
    };
    expect_aborted(|| cancelled_after(sleeps, || client.work_until_cancelled(LONG_MS / 6)));
}

#[test]
fn a_call_that_waits_for_an_astack_is_not_posted() {
    check(|_, client| {
        let long = Duration::from_millis(LONG_MS.into());
        let waiting = client.with_deadline(long);
        // All that there are, until they are collected.
        let all = [(); CLASS_OF_DOZE].map(|()| client.posting().doze(1).unwrap());
        std::thread::scope(|threads| {
            let waits = threads.spawn(|| {
                let begin = Instant::now();
                expect_no_astack(cancelled(|| waiting.doze(0)));
                expect_no_astack(cancelled_after(|| {}, || waiting.doze(0)));
                // What its deadline ends is told the same.
                assert!(begin.elapsed() < long, "none was cancelled");
            });
            waits.join().unwrap();
        });
        all.into_iter().for_each(|doze| assert!(doze.collect().is_ok()));
    });
}

#[test]
fn an_outer_cancellation_ends_what_runs_in_an_inner_one_and_not_the_other_way() {
    check(|_, client| {
        let outer = Cancellation::new();
        outer.run(|| {
            expect_aborted(|| cancelled(|| client.doze(SLOW_MS)));
            assert!(client.doze(30).is_ok());
            outer.cancel();
            Cancellation::new().run(|| expect_aborted(|| client.doze(SLOW_MS)));
            expect_aborted(|| client.doze(SLOW_MS));
        });
        assert!(client.doze(30).is_ok());
    });
}

#[test]
fn one_cancellation_ends_the_calls_of_several_threads_for_good() {
    check(|_, client| {
        let are_all_cancelled = |milliseconds| {
            let cancellation = Cancellation::new();
            let runs = client.runs().unwrap();
            let outcomes = std::thread::scope(|threads| {
                let call = || cancellation.run(|| client.doze(milliseconds));
                let calls = [(); 3].map(|()| threads.spawn(call));
                until(|| client.runs().unwrap() == runs + 3);
                cancellation.cancel();
                calls.map(|call| call.join().unwrap())
            });
            assert!(cancellation.is_cancelled());
            expect_aborted(|| cancellation.run(|| client.doze(milliseconds)));
            outcomes.iter().flat_map(|outcome| outcome.as_ref().err()).for_each(check_aborted);
            outcomes.iter().all(Result::is_err)
        };
        assert!(is_so_beside(SLOW_MS, are_all_cancelled));
    });
}

#[test]
fn calls_that_were_posted_before_are_cancelled_where_they_are_collected() {
    check(|_, client| {
        let posting = client.posting();
        expect_aborted(|| {
            let (slow, kept) = (posting.doze(SLOW_MS).unwrap(), posting.doze(SLOW_MS).unwrap());
            let outcome = cancelled(|| slow.collect());
            assert!(kept.collect().is_ok());
            outcome
        });
    });
}

#[test]
fn a_cancelled_wait_for_a_batch_ends_its_feed() {
    check(|world, _| {
        let server = world.serve("feeding");
        let client = world.import_feeding(&server);
        expect_aborted(|| {
            let mut feed = client.numbers(2, SLOW_MS).unwrap();
            let outcome = cancelled(|| feed.next().unwrap());
            assert!(outcome.is_ok() || feed.next().is_none());
            outcome
        });
        let mut sink = client.sum(300_000).unwrap();
        sink.put(1).unwrap();
        check_aborted(&cancelled(|| sink.end()).unwrap_err());
        until(|| client.open().unwrap() == 0);
    });
}

/// The same by FastThreads.
fn check_in_run(test: fn(Arc<FaultsClient>)) {
    each_world(SERVER, |world| {
        let server = world.serve("fastthreads");
        let client = Arc::new(world.import(&server));
        run(move || test(client)).unwrap();
    });
}

#[test]
fn fastthreads_are_cancelled_each_for_itself() {
    check_in_run(|client| {
        let are_cancelled = |milliseconds| {
            let call = |cancellation: Option<Cancellation>| {
                let client = Arc::clone(&client);
                let doze = move || client.doze(milliseconds);
                let doze = move || cancellation.map_or_else(&doze, |inside| inside.run(&doze));
                fork(doze).unwrap()
            };
            let (cancelled, later) = (Cancellation::new(), Cancellation::new());
            cancelled.cancel();
            let (first, second) = (call(Some(cancelled.clone())), call(None));
            let third = call(Some(later.clone()));
            // Once they wait, from another kernel thread.
            let cancels = std::thread::spawn(move || {
                std::thread::sleep(Duration::from_millis(30));
                later.cancel();
            });
            let errors = [first, third].map(|call| call.join().unwrap().err());
            assert!(second.join().unwrap().is_ok());
            cancels.join().unwrap();
            errors.iter().flatten().for_each(check_aborted);
            errors.iter().all(Option::is_some)
        };
        assert!(is_so_beside(SLOW_MS, are_cancelled));
        // Where it may be cancelled and is not, what comes is had, and a deadline holds.
        let uncancelled = Cancellation::new();
        assert!(uncancelled.run(|| client.doze(50)).is_ok());
        let hasty = client.with_deadline(Duration::from_millis(50));
        aborted(|| uncancelled.run(|| hasty.doze(SLOW_MS)));
    });
}

#[test]
fn fastthreads_that_wait_for_an_astack_are_cancelled() {
    check_in_run(|client| {
        let is_cancelled = |milliseconds| {
            let dozes = (0..CLASS_OF_DOZE).map(|_| {
                let client = Arc::clone(&client);
                fork(move || client.doze(milliseconds).unwrap()).unwrap()
            });
            let dozes: Vec<_> = dozes.collect();
            nearcall_threads::yield_now();
            let later = Cancellation::new();
            let theirs = later.clone();
            let cancels = std::thread::spawn(move || theirs.cancel());
            let outcome = later.run(|| client.doze(0));
            cancels.join().unwrap();
            dozes.into_iter().for_each(|doze| assert!(doze.join().is_ok()));
            let is_cancelled = outcome.is_err();
            if is_cancelled {
                expect_no_astack(outcome);
            }
            is_cancelled
        };
        assert!(is_so_beside(SLOW_MS, is_cancelled));
    });
}

#[test]
fn an_import_from_a_server_that_says_nothing_is_cancelled() {
    let directory = tempfile::tempdir().unwrap();
    let socket = rustix::net::socket(AddressFamily::UNIX, SocketType::SEQPACKET, None).unwrap();
    let path = path_of(directory.path(), "silent");
    rustix::net::bind(&socket, &SocketAddrUnix::new(&path).unwrap()).unwrap();
    rustix::net::listen(&socket, 8).unwrap();
    let domain = Domain::new().unwrap();
    let mut options = testkit::server::import_options(directory.path());
    options.timeout = Duration::from_millis(LONG_MS.into());
    let import = || Binding::import_with(&domain, "silent", &FAULTS, options);
    let error = cancelled_after(|| {}, import).unwrap_err();
    assert!(matches!(error, BindError::TimedOut { .. }), "{error}");
}

#[test]
fn what_is_waited_for_before_the_post_is_cancelled_and_goes_on_later() {
    let directory = tempfile::tempdir().unwrap();
    let domain = Domain::new().unwrap();
    let keeper = KeeperProcess::start(KEEPER, directory.path(), "keeper");
    let mut options = import_options(directory.path());
    options.when_exhausted = WhenExhausted::Grow;
    let binding = Binding::import_with(&domain, "keeper", &CONTRACT, options).unwrap();
    let client = ContractClient::new(binding);
    client.null().unwrap();
    signal::stop(keeper.pid());
    // A segment that is mapped long after the cancel.
    let long = vec![7; 1 << 20];
    std::thread::scope(|threads| {
        let (tell, told) = std::sync::mpsc::channel::<()>();
        let keeper = &keeper;
        threads.spawn(move || {
            // The call is over; if not, it goes on.
            let _ = told.recv_timeout(Duration::from_millis(LONG_MS.into()));
            signal::resume(keeper.pid());
        });
        let error = cancelled_after(a_while, || client.echo(&long)).unwrap_err();
        drop(tell);
        let late = NotExecuted::DeadlinePassed;
        let is_late = matches!(&error, CallError::NotExecuted { reason, .. } if *reason == late);
        assert!(is_late, "{error}");
    });
    signal::stop(keeper.pid());
    // Growth that nobody grants, once all A-stacks are captured.
    let mut unposted = std::iter::repeat_with(|| cancelled(|| client.null()).unwrap_err());
    let unposted = unposted.find(|error| !matches!(error, CallError::CallAborted { .. }));
    expect_no_astack(Err::<(), _>(unposted.unwrap()));
    signal::resume(keeper.pid());
    assert_eq!(client.echo(&long).unwrap(), long);
    client.null().unwrap();
    assert!(!client.binding().is_revoked());
}

#[test]
fn a_rebind_that_waits_for_the_next_life_is_cancelled() {
    let directory = tempfile::tempdir().unwrap();
    let domain = Domain::new().unwrap();
    let mut keeper = KeeperProcess::start(KEEPER, directory.path(), "keeper");
    let mut options = import_options(directory.path());
    options.rebind = Rebind::WaitForReady(Duration::from_millis(LONG_MS.into()));
    let binding = Binding::import_with(&domain, "keeper", &CONTRACT, options).unwrap();
    keeper.kill();
    until(|| binding.is_revoked());
    let error = cancelled_after(|| {}, || binding.rebind()).unwrap_err();
    assert!(matches!(error, BindError::NotReady { .. }), "{error}");
}
