//! Either side ends: what the survivor is told (DESIGN 8).

use std::sync::atomic::Ordering::SeqCst;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use nearcall::{CallError, Domain, NotExecuted, Ran};
use nearcall_abi::Status;
use testkit::campaign::effects;
use testkit::campaign::hand::{self, HandClient};
use testkit::confined;
use testkit::faults::faults::FaultsClient;
use testkit::longer::aborted;
use testkit::world::{Kind, World, in_world};

const SERVER: &str = env!("CARGO_BIN_EXE_testkit-server");

/// Longest until what has ended is known everywhere.
const TOLD: Duration = Duration::from_secs(60);

fn check(test: impl Fn(&World)) {
    in_world(Kind::Processes, SERVER, test);
}

#[test]
fn a_server_that_dies_in_a_procedure_fails_the_call() {
    check(|world| {
        let server = world.serve("dying");
        let client = world.import(&server);
        client.null().unwrap();
        let error = client.die().unwrap_err();
        assert!(
            matches!(error, CallError::CallFailed { procedure, .. }
                if procedure.operation() == "die"),
            "{error}"
        );
        assert_eq!(error.ran(), Ran::Maybe);
        let error = client.null().unwrap_err();
        let want = NotExecuted::Revoked;
        assert!(matches!(error, CallError::NotExecuted { reason, .. } if reason == want));
    });
}

#[test]
fn a_server_that_is_killed_fails_every_call_that_it_had_taken() {
    check(|world| {
        let mut server = world.serve("killed");
        let client = world.import(&server);
        let outcomes: Vec<_> = std::thread::scope(|threads| {
            let call = || threads.spawn(|| client.doze(60_000));
            let calls: Vec<_> = (0..4).map(|_| call()).collect();
            let other = world.import(&server);
            while other.runs().unwrap() < 4 {}
            server.kill();
            calls.into_iter().map(|call| call.join().unwrap()).collect()
        });
        for outcome in outcomes {
            let error = outcome.unwrap_err();
            assert!(
                matches!(error, CallError::CallFailed { procedure, .. }
                    if procedure.operation() == "doze"),
                "{error}"
            );
        }
    });
}

#[test]
fn a_call_that_a_stopped_server_never_took_was_not_executed() {
    check(|world| {
        let mut server = world.serve("stopped");
        let client = &world.import(&server);
        client.null().unwrap();
        let pid = server.pid().unwrap();
        testkit::signal::stop(pid);
        let error = std::thread::scope(|threads| {
            let (tell, told) = mpsc::channel();
            let call = threads.spawn(move || {
                let pending = client.posting().add(1, 2).unwrap();
                tell.send(()).unwrap();
                pending.collect()
            });
            // The server sees nothing of it.
            told.recv().unwrap();
            server.kill();
            call.join().unwrap().unwrap_err()
        });
        let want = NotExecuted::ServerEnded;
        assert!(matches!(error, CallError::NotExecuted { reason, .. } if reason == want));
        assert_eq!(error.ran(), Ran::No);
    });
}

#[test]
fn a_deadline_holds_against_a_stopped_server() {
    check(|world| {
        let server = world.serve("stopped");
        let client = world.import(&server);
        client.null().unwrap();
        testkit::signal::stop(server.pid().unwrap());
        let hasty = client.with_deadline(Duration::from_millis(50));
        aborted(|| hasty.add(1, 2));
        testkit::signal::resume(server.pid().unwrap());
        // The late call is let go, and its A-stack comes back.
        while client.binding().captured_count() > 0 {
            std::thread::yield_now();
        }
        assert_eq!(client.add(1, 2).unwrap(), 3);
    });
}

#[test]
fn a_server_outlives_clients_that_are_killed_in_a_call() {
    check(|world| {
        let server = world.serve("lasting");
        let client = world.import(&server);
        for _ in 0..5 {
            let mut other = testkit::signal::spawn_dozer(SERVER, world.directory(), "lasting");
            let before = client.runs().unwrap();
            while client.runs().unwrap() == before {}
            confined::kill(&mut other);
            assert_eq!(client.add(2, 3).unwrap(), 5);
        }
    });
}

#[test]
fn an_orderly_end_finishes_what_runs_and_refuses_what_waits() {
    check(|world| {
        let mut server = world.serve("closing");
        let client = world.import(&server);
        let outcome = std::thread::scope(|threads| {
            let call = threads.spawn(|| client.doze(300));
            let other = world.import(&server);
            while other.runs().unwrap() == 0 {}
            server.shut_down();
            call.join().unwrap()
        });
        match outcome {
            Ok(runs) => assert_eq!(runs, 1),
            Err(error) => panic!("a call that ran to its end was lost: {error}"),
        }
    });
}

/// Its server sleeps and has heard nothing of it: only the end meets it.
#[test]
fn an_orderly_end_says_of_a_call_that_nobody_took_that_it_did_not_run() {
    let directory = tempfile::tempdir().unwrap();
    let domain = Domain::new().unwrap();
    let said = |round| {
        let name = format!("refusing-{round}");
        let clerk = effects::export(&domain, directory.path(), &name).unwrap();
        let client = HandClient::bind(&hand::path_of(directory.path(), &name)).unwrap();
        let astack = hand::astack_of("add");
        client.write(astack, hand::words_of("add", 1, 8));
        drop(clerk);
        assert!(client.await_reply(astack, 1, TOLD));
        // SeqCst: as whatever is done by hand.
        Status::from_word(client.head(astack).selector.load(SeqCst))
    };
    // A processor that the bind had awake may look late, and take it.
    let said = (0..100).map(said).find(|said| *said != Some(Status::Returned));
    assert_eq!(said, Some(Some(Status::Refused)));
}

#[test]
fn an_orderly_end_under_load_ends_every_call() {
    check(|world| {
        for _ in 0..10 {
            let mut server = world.serve("loaded");
            let clients: Vec<_> = (0..3).map(|_| world.import(&server)).collect();
            let call_until_refused = |client: &FaultsClient| {
                let mut calls = 0u64;
                loop {
                    match client.add(1, 2) {
                        Ok(sum) => assert_eq!(sum, 3),
                        Err(error) => return (calls, error),
                    }
                    calls += 1;
                }
            };
            std::thread::scope(|threads| {
                let call = |client| threads.spawn(move || call_until_refused(client));
                let calls: Vec<_> = clients.iter().map(call).collect();
                std::thread::sleep(Duration::from_millis(5));
                server.shut_down();
                for call in calls {
                    let (_, error) = call.join().unwrap();
                    assert!(error.ran() != Ran::Yes, "{error}");
                }
            });
        }
    });
}

/// How many of our segments a process has mapped.
fn segments(pid: u32) -> usize {
    let maps = std::fs::read_to_string(format!("/proc/{pid}/maps")).unwrap();
    maps.lines().filter(|line| line.contains("memfd:nearcall")).count()
}

#[test]
fn a_server_that_sleeps_lets_go_of_clients_that_have_gone() {
    check(|world| {
        let server = world.serve("sleeping");
        let pid = server.pid().unwrap();
        let client = world.import(&server);
        client.null().unwrap();
        let before = segments(pid);
        let others: Vec<_> = (0..20).map(|_| world.import(&server)).collect();
        for other in &others {
            other.null().unwrap();
        }
        // One that was ready for the next client may have been taken.
        assert!(segments(pid) + 1 >= before + 20 * 3);
        drop(others);
        // Nobody calls: what the sleeping processors know must go all the same.
        let begin = Instant::now();
        while segments(pid) > before + 1 {
            assert!(begin.elapsed() < TOLD, "segments of clients that have gone are held");
            std::thread::sleep(Duration::from_millis(1));
        }
    });
}
