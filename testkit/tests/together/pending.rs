//! Several calls of one thread at once, in each world: every one of them gets its own outcome.

use std::time::{Duration, Instant};

use nearcall::{CallError, Error, NotExecuted, Pending, Ran, UsageError, WhenExhausted, call_all};
use testkit::faults::faults::{FaultsClient, FaultsWorkException, Refused};
use testkit::longer::{is_late, is_so_beside};
use testkit::world::{Kind, World, each_world, in_world};

const SERVER: &str = env!("CARGO_BIN_EXE_testkit-server");

/// A-stacks of the class of `work`.
const ASTACKS: u8 = 64;

/// Longer than it takes until a server has another processor, mostly.
const LONG_MS: u32 = 100;

type Work<'c> = Pending<'c, Vec<u8>, Error<FaultsWorkException>>;

fn check(test: impl Fn(&World)) {
    each_world(SERVER, test);
}

/// Posts call `number`, whose data are `bytes` long.
fn post(client: &FaultsClient, number: u8, bytes: usize) -> Work<'_> {
    client.posting().work(number, 0, &vec![!number; bytes]).unwrap()
}

#[track_caller]
fn check_result(result: Result<Vec<u8>, Error<FaultsWorkException>>, number: u8, bytes: usize) {
    let result = result.unwrap();
    assert_eq!((result[0], result.len()), (number, bytes + 1));
    assert!(result[1..].iter().all(|byte| *byte == !number), "of call {number}");
}

#[track_caller]
fn check_raised(result: Result<Vec<u8>, Error<FaultsWorkException>>, number: u8) {
    let Err(Error::Exception(FaultsWorkException::Refused(Refused { code, .. }))) = result else {
        panic!("{result:?}");
    };
    assert_eq!(code, i32::from(number));
}

/// Calls one after the other until the server has let every dropped call go.
fn wait_until_none_is_captured(client: &FaultsClient) {
    while client.binding().captured_count() > 0 {
        std::thread::yield_now();
    }
}

#[test]
fn results_come_back_in_the_order_of_the_posts() {
    check(|world| {
        let server = world.serve("pending");
        let client = world.import(&server);
        for count in [1, 8, ASTACKS, ASTACKS] {
            let pending: Vec<_> = (0..count).map(|number| post(&client, number, 5)).collect();
            for (number, pending) in (0..).zip(pending) {
                check_result(pending.collect(), number, 5);
            }
        }
        assert_eq!(client.runs().unwrap(), 1 + 8 + 2 * u64::from(ASTACKS));
    });
}

#[test]
fn results_are_collected_in_any_order() {
    check(|world| {
        let server = world.serve("pending");
        let client = world.import(&server);
        let posting = client.posting();
        let sums: Vec<_> = (0..5).map(|number| posting.add(number, 100).unwrap()).collect();
        let work = post(&client, 1, 2);
        for (number, pending) in (0..5).zip(sums).rev() {
            assert_eq!(pending.collect().unwrap(), number + 100);
        }
        check_result(work.collect(), 1, 2);
    });
}

#[test]
fn one_that_takes_long_keeps_no_other_from_being_served() {
    check(|world| {
        let server = world.serve("pending");
        let client = world.import(&server);
        let posting = client.posting();
        let is_served_meanwhile = |milliseconds| {
            let first = posting.work(1, milliseconds, &[7]).unwrap();
            let second = posting.work(2, milliseconds / 10, &[8]).unwrap();
            assert_eq!(first.collect().unwrap(), [1, 7]);
            // By another processor, though nobody has waited for it.
            let is_replied = second.is_replied();
            assert_eq!(second.collect().unwrap(), [2, 8]);
            is_replied
        };
        assert!(is_so_beside(LONG_MS, is_served_meanwhile));
    });
}

#[test]
fn plain_calls_go_on_meanwhile() {
    check(|world| {
        let server = world.serve("pending");
        let client = world.import(&server);
        let first = client.posting().add(1, 2).unwrap();
        assert_eq!(client.add(3, 4).unwrap(), 7);
        let second = client.posting().greet("you").unwrap();
        assert_eq!(client.greet("me").unwrap(), "hello, me");
        assert_eq!(first.collect().unwrap(), 3);
        assert_eq!(second.collect().unwrap(), "hello, you");
    });
}

#[test]
fn arguments_and_results_go_out_of_line() {
    check(|world| {
        let server = world.serve("pending");
        let client = world.import(&server);
        for _ in 0..2 {
            let bytes = |number: u8| [10, 1_000, 70_000, 300_000][usize::from(number % 4)];
            let pending: Vec<_> =
                (0..8).map(|number| post(&client, number, bytes(number))).collect();
            for (number, pending) in (0..).zip(pending) {
                check_result(pending.collect(), number, bytes(number));
            }
        }
    });
}

#[test]
fn lent_bytes_come_back_as_a_value() {
    check(|world| {
        let server = world.serve("pending");
        let client = world.import(&server);
        let posting = client.posting();
        let (short, long) = (posting.fill(9, 1).unwrap(), posting.fill(100_000, 2).unwrap());
        let sum = posting.sum(&[1, 2, 3]).unwrap();
        assert!(short.collect().unwrap() == [1; 9]);
        assert!(long.collect().unwrap() == [2; 100_000]);
        assert_eq!(sum.collect().unwrap(), 6);
    });
}

#[test]
fn one_that_raises_leaves_the_others_alone() {
    check(|world| {
        let server = world.serve("pending");
        let client = world.import(&server);
        let bytes = |number: u8| if number == 3 { 0 } else { 7 };
        let pending: Vec<_> = (0..8).map(|number| post(&client, number, bytes(number))).collect();
        let panicking = client.posting().panic("planned").unwrap();
        for (number, pending) in (0..).zip(pending) {
            match number {
                3 => check_raised(pending.collect(), number),
                _ => check_result(pending.collect(), number, 7),
            }
        }
        assert!(matches!(panicking.collect(), Err(CallError::Panicked { procedure })
                if procedure.operation() == "panic"));
    });
}

#[test]
fn a_deadline_aborts_one_and_leaves_the_others_alone() {
    check(|world| {
        let server = world.serve("pending");
        let client = world.import(&server);
        let hasty = client.with_deadline(Duration::from_millis(30));
        // No longer captured is one that has returned before we look.
        let is_aborted_and_captured = |milliseconds| {
            let before = post(&client, 1, 9);
            let slow = hasty.posting().work(2, milliseconds, &[5]);
            let after: Vec<_> = (3..8).map(|number| post(&client, number, 9)).collect();
            check_result(before.collect(), 1, 9);
            let slow = slow.map_err(Error::Call).and_then(Pending::collect);
            for (number, pending) in (3..).zip(after) {
                check_result(pending.collect(), number, 9);
            }
            let is_captured = client.binding().captured_count() == 1;
            wait_until_none_is_captured(&client);
            let Err(Error::Call(error)) = slow else { return false };
            let CallError::CallAborted { procedure, deadline, .. } = error else {
                assert!(is_late(&error), "{error}");
                return false;
            };
            assert_eq!((procedure.operation(), deadline), ("work", Duration::from_millis(30)));
            is_captured
        };
        assert!(is_so_beside(150, is_aborted_and_captured));
    });
}

#[test]
fn a_reply_that_is_there_is_collected_after_the_deadline() {
    check(|world| {
        let server = world.serve("pending");
        let deadline = Duration::from_millis(200);
        let client = world.import(&server).with_deadline(deadline);
        let replied = || {
            let begin = Instant::now();
            let pending = client.posting().work(1, 0, &[!1; 9]).ok()?;
            while !pending.is_replied() && begin.elapsed() < deadline {}
            // On a loaded machine the deadline may pass before it is served.
            (begin.elapsed() < deadline).then_some(pending)
        };
        let pending = (0..100).find_map(|_| replied()).expect("it is served in time");
        std::thread::sleep(deadline);
        check_result(pending.collect(), 1, 9);
    });
}

#[test]
fn a_thread_that_has_every_astack_outstanding_is_told_so() {
    check(|world| {
        let server = world.serve("pending");
        let client = world.import(&server);
        let mut pending: Vec<_> = (0..ASTACKS).map(|number| post(&client, number, 3)).collect();
        let error = client.posting().work(0, 0, &[1]).unwrap_err();
        assert_eq!(error.ran(), Ran::No);
        assert!(
            matches!(
                error,
                CallError::Usage(UsageError::Outstanding { procedure, limit: 64 })
                    if procedure.operation() == "work"
            ),
            "{error}"
        );
        assert!(matches!(client.work(0, 0, &[1]), Err(Error::Call(CallError::Usage(_)))));
        // Another class, and another thread that waits its turn.
        assert_eq!(client.add(1, 2).unwrap(), 3);
        std::thread::scope(|threads| {
            let other = threads.spawn(|| client.work(200, 0, &[1]));
            std::thread::sleep(Duration::from_millis(5));
            check_result(pending.remove(0).collect(), 0, 3);
            assert!(other.join().unwrap().unwrap() == [200, 1]);
        });
        pending.push(post(&client, 0, 3));
        for (number, pending) in (1..ASTACKS).chain([0]).zip(pending) {
            check_result(pending.collect(), number, 3);
        }
    });
}

#[test]
fn more_astacks_are_added_to_a_binding_that_grows() {
    check(|world| {
        let server = world.serve("pending");
        let mut options = world.import_options();
        options.when_exhausted = WhenExhausted::Grow;
        let client = world.import_with(&server, options);
        let pending: Vec<_> = (0..150).map(|number| post(&client, number, 3)).collect();
        for (number, pending) in (0..).zip(pending) {
            check_result(pending.collect(), number, 3);
        }
    });
}

#[test]
fn the_astacks_of_dropped_calls_come_back() {
    check(|world| {
        let server = world.serve("pending");
        let client = world.import(&server);
        for round in 1..4u64 {
            let dropped: Vec<_> = (0..ASTACKS).map(|number| post(&client, number, 3)).collect();
            drop(dropped);
            wait_until_none_is_captured(&client);
            assert_eq!(client.runs().unwrap(), round * u64::from(ASTACKS));
        }
        let pending: Vec<_> = (0..ASTACKS).map(|number| post(&client, number, 3)).collect();
        for (number, pending) in (0..).zip(pending) {
            check_result(pending.collect(), number, 3);
        }
    });
}

#[test]
fn a_call_that_is_dropped_while_it_runs_is_not_waited_for() {
    check(|world| {
        let server = world.serve("pending");
        let client = world.import(&server);
        drop(client.posting().work(1, 200, &[1]).unwrap());
        assert_eq!(client.binding().captured_count(), 1);
        assert_eq!(client.add(1, 2).unwrap(), 3);
        wait_until_none_is_captured(&client);
        assert_eq!(client.runs().unwrap(), 1);
    });
}

#[test]
fn call_all_has_more_calls_than_astacks() {
    check(|world| {
        let server = world.serve("pending");
        let client = world.import(&server);
        let posting = client.posting();
        let data = |number: u8| if number == 77 { vec![] } else { vec![!number; 4] };
        let results = call_all(0..=255, |&number| posting.work(number, 0, &data(number)));
        assert_eq!(results.len(), 256);
        for (number, result) in (0..=255).zip(results) {
            match number {
                77 => check_raised(result, number),
                _ => check_result(result, number, 4),
            }
        }
        assert!(call_all(0..0, |&number| posting.add(number, 1)).is_empty());
    });
}

#[test]
fn threads_that_call_all_at_once_wait_for_each_other_but_not_for_ever() {
    check(|world| {
        let server = world.serve("pending");
        let client = world.import(&server);
        std::thread::scope(|threads| {
            for thread in 0..4 {
                let posting = client.posting();
                threads.spawn(move || {
                    let sums = call_all(0..2_000, |&number| posting.add(number, thread));
                    for (number, sum) in (0..).zip(sums) {
                        assert_eq!(sum.unwrap(), number + thread);
                    }
                });
            }
        });
    });
}

#[test]
fn every_call_of_a_killed_server_gets_its_own_outcome() {
    in_world(Kind::Processes, SERVER, |world| {
        let mut server = world.serve("pending");
        let client = world.import(&server);
        let replied = post(&client, 1, 9);
        while !replied.is_replied() {}
        let taken: Vec<_> =
            (2..4).map(|number| client.posting().work(number, 60_000, &[1]).unwrap()).collect();
        let other = world.import(&server);
        while other.runs().unwrap() < 3 {}
        testkit::signal::stop(server.pid().unwrap());
        let posted: Vec<_> = (4..12).map(|number| post(&client, number, 9)).collect();
        server.kill();
        check_result(replied.collect(), 1, 9);
        for taken in taken {
            let Err(Error::Call(error)) = taken.collect() else { panic!("its server is dead") };
            assert!(
                matches!(error, CallError::CallFailed { procedure, .. }
                    if procedure.operation() == "work"),
                "{error}"
            );
            assert_eq!(error.ran(), Ran::Maybe);
        }
        for posted in posted {
            let Err(Error::Call(error)) = posted.collect() else { panic!("its server is dead") };
            let want = NotExecuted::ServerEnded;
            assert!(matches!(error, CallError::NotExecuted { reason, .. } if reason == want));
        }
        let results = call_all(0..3, |&number| client.posting().add(number, 1));
        let want = NotExecuted::Revoked;
        for result in results {
            assert!(matches!(result, Err(CallError::NotExecuted { reason, .. }) if reason == want));
        }
    });
}
