//! Calls that are made on FastThreads: others run while one waits, and each gets its own outcome
//! (U5, U25; design note 0017).

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::mpsc::RecvTimeoutError;
use std::time::{Duration, Instant};

use nearcall::{CallError, NotExecuted, UsageError, WaitPolicy, WhenExhausted, urgently};
use nearcall_threads::{Forked, JoinError, Setup, fork, report, run, yield_now};
use testkit::faults::faults::FaultsClient;
use testkit::longer::{aborted, is_late, is_so_beside};
use testkit::world::{Kind, World, each_world, in_world};

const SERVER: &str = env!("CARGO_BIN_EXE_testkit-server");

/// A-stacks of the class of `work`.
const ASTACKS: u32 = 64;

/// A-stacks of the class of `doze`.
const CLASS_OF_DOZE: u32 = 5;

/// Longer than any test waits.
const LONG_MS: u32 = 600_000;

/// Longest until what is to be woken is.
const WOKEN: Duration = Duration::from_secs(30);

type Client = Arc<FaultsClient>;

/// Runs the test as a FastThread, in each world, with a client of a server.
fn check(test: impl Fn(Client) + Copy + 'static) {
    check_on(1, test);
}

/// The same, with so many processors.
fn check_on(processors: usize, test: impl Fn(Client) + Copy + 'static) {
    each_world(SERVER, |world| {
        let server = world.serve("fastthreads");
        let client = Arc::new(world.import(&server));
        Setup::default().processors(processors).run(move || test(client)).unwrap();
    });
}

/// Forks so many FastThreads that do the same, each told its number.
fn fork_each<T: Send + 'static>(
    client: &Client,
    count: u32,
    body: impl Fn(&FaultsClient, u32) -> T + Copy + Send + 'static,
) -> Vec<Forked<T>> {
    let forked = (0..count).map(|number| {
        let client = Arc::clone(client);
        fork(move || body(&client, number)).unwrap()
    });
    forked.collect()
}

fn join_all<T>(forked: Vec<Forked<T>>) -> Vec<T> {
    forked.into_iter().map(|thread| thread.join().unwrap()).collect()
}

fn work(client: &FaultsClient, number: u32, milliseconds: u32) {
    let data = [number as u8, !number as u8];
    let result = client.work(number as u8, milliseconds, &data).unwrap();
    assert_eq!(result, [number as u8, data[0], data[1]]);
}

#[test]
fn every_fastthread_gets_its_own_result() {
    check(|client| {
        let calls = |client: &FaultsClient, number| {
            for round in 0..100 {
                work(client, number * 3 + round, 0);
            }
        };
        join_all(fork_each(&client, ASTACKS, calls));
        assert_eq!(client.runs().unwrap(), u64::from(ASTACKS) * 100);
    });
}

#[test]
fn calls_of_two_processors_share_a_binding_and_its_astacks() {
    check_on(2, |client| {
        let calls = |client: &FaultsClient, number| {
            for round in 0..50 {
                work(client, number + round, 0);
            }
        };
        // Of each processor as many as there are A-stacks.
        let both = move |client: &Client| {
            let forked = fork_each(client, ASTACKS, calls);
            calls(client, 0);
            join_all(forked);
            std::thread::current().id()
        };
        let theirs = Arc::clone(&client);
        let begun = Arc::new(AtomicU32::new(0));
        let begins = Arc::clone(&begun);
        let elsewhere = fork(move || {
            begins.store(1, Relaxed);
            both(&theirs)
        });
        // Does not yield, so that it begins on the other processor.
        while begun.load(Relaxed) == 0 {
            std::hint::spin_loop();
        }
        assert_ne!(both(&client), elsewhere.unwrap().join().unwrap());
        assert_eq!(client.runs().unwrap(), u64::from(ASTACKS + 1) * 100);
    });
}

#[test]
fn calls_go_on_while_another_fastthread_waits_long() {
    static ENDED: AtomicU32 = AtomicU32::new(0);
    let go_on = |client: &Client, milliseconds| {
        ENDED.store(0, Relaxed);
        let long = fork_each(client, 1, move |client, _| {
            client.doze(milliseconds).unwrap();
            ENDED.store(1, Relaxed);
        });
        let short = fork_each(client, 8, |client, number| {
            for _ in 0..20 {
                assert_eq!(client.add(number as i32, 1).unwrap(), number as i32 + 1);
            }
            ENDED.load(Relaxed)
        });
        let seen = join_all(short);
        join_all(long);
        seen == [0; 8]
    };
    check(move |client| {
        let go_on = |milliseconds| go_on(&client, milliseconds);
        assert!(is_so_beside(200, go_on), "the short ones have waited for the long one");
    });
}

#[test]
fn a_reply_is_seen_among_fastthreads_that_are_always_ready() {
    check(|client| {
        let call = fork_each(&client, 1, |client, _| client.add(1, 2).unwrap());
        let ended = Arc::new(AtomicU32::new(0));
        let theirs = Arc::clone(&ended);
        let waiter = fork(move || {
            let sum = join_all(call);
            theirs.store(1, Relaxed);
            sum
        });
        while ended.load(Relaxed) == 0 {
            yield_now();
        }
        assert_eq!(waiter.unwrap().join().unwrap(), [3]);
    });
}

/// Waits that nothing but a wake ends: no spin, no yield, and slices longer than any test.
fn only_woken() -> WaitPolicy {
    WaitPolicy {
        spin_ns_max: 0,
        spin_ns_min: 0,
        yields_max: 0,
        sleep_slice_ns_min: u64::from(LONG_MS) * 1_000_000,
        sleep_slice_ns_max: u64::from(LONG_MS) * 1_000_000,
        ..WaitPolicy::default()
    }
}

/// The same as `check`, for a client that only wakes bring back; fails if one does not come.
fn check_woken(test: impl Fn(Client) + Copy + Send + 'static) {
    let (ended, end) = std::sync::mpsc::channel();
    let tested = std::thread::spawn(move || {
        each_world(SERVER, |world| {
            let server = world.serve("waking");
            let mut options = world.import_options();
            options.wait = Some(only_woken());
            let client = Arc::new(world.import_with(&server, options));
            run(move || test(client)).unwrap();
        });
        // Who listens has given up otherwise.
        let _ = ended.send(());
    });
    let is_late = end.recv_timeout(WOKEN) == Err(RecvTimeoutError::Timeout);
    assert!(!is_late, "nobody woke a FastThread's processor");
    tested.join().unwrap();
}

#[test]
fn a_processor_that_sleeps_is_woken_by_any_reply() {
    check_woken(|client| {
        // The first of them is the last to return.
        let threads = fork_each(&client, 4, |client, number| {
            let begin = Instant::now();
            work(client, number, 80 - 20 * number);
            begin.elapsed()
        });
        let elapsed = join_all(threads);
        assert!(elapsed[0] >= Duration::from_millis(80), "{elapsed:?}");
    });
}

/// Waits for A-stacks have slices of their own, many times as long as the calls: they would end the
/// sleeps as well.
#[test]
fn a_reply_wakes_fastthreads_that_wait_for_its_astack() {
    const CALLS: u32 = 48;
    check_woken(|client| {
        let calls_by = |threads: u32| {
            let begin = Instant::now();
            let dozing = move |client: &FaultsClient, _| {
                (0..CALLS / threads).for_each(|_| client.doze_alone(1, &[]).unwrap());
            };
            join_all(fork_each(&client, threads, dozing));
            begin.elapsed()
        };
        // The best counts: a round that another process interrupts takes long.
        let mut rounds = Vec::new();
        let is_woken = (0..8).any(|_| {
            let (alone, shared) = (calls_by(1), calls_by(2));
            rounds.push((alone, shared));
            shared < alone * 3
        });
        assert!(is_woken, "{CALLS} calls, alone and by two: {rounds:?}");
    });
}

#[test]
fn fastthreads_wait_for_an_astack_that_another_one_has() {
    check(|client| {
        // `add` is of a class with five A-stacks.
        let sums = fork_each(&client, 100, |client, number| {
            (0..20).map(|round| client.add(number as i32, round).unwrap()).sum::<i32>()
        });
        let wanted: Vec<i32> = (0..100).map(|number| number * 20 + 190).collect();
        assert_eq!(join_all(sums), wanted);
    });
}

#[test]
fn only_who_has_all_astacks_outstanding_itself_is_refused_another() {
    check(|client| {
        let posting = client.posting();
        let all: Vec<_> = (0..ASTACKS).map(|_| posting.work(1, 5, &[2]).unwrap()).collect();
        let refused = posting.work(1, 0, &[2]).unwrap_err();
        let refused_by = matches!(refused, CallError::Usage(UsageError::Outstanding { .. }));
        assert!(refused_by, "{refused}");
        let other = fork_each(&client, 1, |client, _| work(client, 7, 0));
        yield_now();
        for pending in all {
            assert_eq!(pending.collect().unwrap(), [1, 2]);
        }
        join_all(other);
    });
}

#[test]
fn a_call_is_made_by_what_is_dropped_while_a_fastthread_unwinds() {
    struct Calls(Client);
    impl Drop for Calls {
        fn drop(&mut self) {
            assert_eq!(self.0.add(1, 2).unwrap(), 3);
        }
    }
    check(|client| {
        let calls = Calls(Arc::clone(&client));
        let panics = fork(move || -> u32 {
            let _calls = calls;
            panic!("on purpose")
        });
        assert!(panics.unwrap().join().is_err());
        assert_eq!(client.add(3, 4).unwrap(), 7);
    });
}

/// Those that have the A-stacks could run only once it has unwound: it must not wait for one.
#[test]
fn a_fastthread_that_unwinds_is_refused_an_astack_that_others_have() {
    struct Calls(Client, Arc<AtomicU32>);
    impl Drop for Calls {
        fn drop(&mut self) {
            let refused = self.0.doze(0).unwrap_err();
            let is_refused = matches!(refused, CallError::NoAStack { .. });
            self.1.store(u32::from(is_refused), Relaxed);
        }
    }
    check(|client| {
        let waiting = fork_each(&client, CLASS_OF_DOZE, |client, _| client.doze(20).unwrap());
        yield_now();
        let is_refused = Arc::new(AtomicU32::new(0));
        let calls = Calls(Arc::clone(&client), Arc::clone(&is_refused));
        let panics = fork(move || -> u32 {
            let _calls = calls;
            panic!("on purpose")
        });
        assert!(panics.unwrap().join().is_err());
        join_all(waiting);
        assert_eq!(is_refused.load(Relaxed), 1);
    });
}

#[test]
fn a_call_of_a_cancelled_fastthread_leaves_its_astack_captured_until_the_server_lets_go() {
    check(|client| {
        let calls = fork_each(&client, 1, |client, _| client.doze(3000).unwrap());
        // One that was not begun comes back as soon as the server looks.
        while client.runs().unwrap() == 0 {}
        calls[0].cancel().unwrap();
        let joined = calls[0].join();
        assert!(matches!(joined, Err(JoinError::Cancelled(_))), "{joined:?}");
        assert_eq!(client.binding().captured_count(), 1);
        client.null().unwrap();
        while client.binding().captured_count() > 0 {
            yield_now();
        }
        // All of its class are free again.
        join_all(fork_each(&client, CLASS_OF_DOZE, |client, _| client.doze(1).unwrap()));
    });
}

#[test]
fn a_wait_for_an_astack_ends_when_its_fastthread_is_cancelled_and_nothing_is_posted() {
    // Whoever has the A-stack by then has posted, or has its result.
    let is_cancelled_unposted = |client: &Client, milliseconds| {
        let holds = move |client: &FaultsClient, _| client.doze_alone(milliseconds, &[]).unwrap();
        let holds = fork_each(client, 1, holds);
        yield_now();
        let waits = fork_each(client, 2, |client, _| client.doze_alone(0, &[]).unwrap());
        yield_now();
        waits[0].cancel().unwrap();
        let joined = waits[0].join();
        let is_unposted = client.binding().captured_count() == 0;
        holds[0].join().unwrap();
        waits[1].join().unwrap();
        match joined {
            Ok(()) => false,
            Err(JoinError::Cancelled(_)) => is_unposted,
            Err(error) => panic!("{error}"),
        }
    };
    check(move |client| {
        assert!(is_so_beside(20, |milliseconds| is_cancelled_unposted(&client, milliseconds)));
    });
}

#[test]
fn a_reply_that_is_there_before_the_cancel_is_the_thread_s() {
    check(|client| {
        let is_replied_first = |pause_ms| {
            let calls = fork_each(&client, 1, |client, _| urgently(|| client.add(1, 2).unwrap()));
            yield_now();
            // Nobody looks for its reply meanwhile.
            std::thread::sleep(Duration::from_millis(pause_ms));
            calls[0].cancel().unwrap();
            match calls[0].join() {
                Ok(sum) => sum == 3,
                Err(JoinError::Cancelled(_)) => false,
                Err(error) => panic!("{error}"),
            }
        };
        // One of them is as long as the call takes, whatever else the machine does.
        assert!((0..100).any(is_replied_first), "no reply was there before the cancel");
    });
}

#[test]
fn reports_say_which_reply_a_fastthread_waits_for() {
    check(|client| {
        let waits = fork_each(&client, 1, |client, _| client.doze(20).unwrap());
        yield_now();
        let report = report().to_string();
        assert!(report.contains("waits for the reply of `doze` of `fastthreads`"), "{report}");
        join_all(waits);
    });
}

/// Runs the test as a FastThread, with a client of a server's process that it may end.
fn check_ending(test: impl FnOnce(Client, testkit::world::Server) + Copy + 'static) {
    in_world(Kind::Processes, SERVER, |world: &World| {
        let server = world.serve("fastthreads");
        let mut options = world.import_options();
        options.when_exhausted = WhenExhausted::Grow;
        let client = Arc::new(world.import_with(&server, options));
        run(move || test(client, server)).unwrap();
    });
}

#[test]
fn each_deadline_ends_its_own_call() {
    check_ending(|client, _server| {
        // Fewer than the server has processors.
        let threads = fork_each(&client, 40, |client, number| {
            let deadline = Duration::from_millis(20 + u64::from(number % 3));
            let begin = Instant::now();
            let error = client.with_deadline(deadline).doze(LONG_MS).unwrap_err();
            assert!(begin.elapsed() >= deadline);
            error
        });
        for error in join_all(threads) {
            assert!(is_late(&error), "{error}");
        }
        client.null().unwrap();
    });
}

#[test]
fn a_deadline_passes_among_fastthreads_that_are_always_ready() {
    check_ending(|client, _server| {
        let ended = Arc::new(AtomicU32::new(0));
        let theirs = Arc::clone(&ended);
        let call = fork(move || {
            let hasty = client.with_deadline(Duration::from_millis(5));
            aborted(|| hasty.doze(LONG_MS));
            theirs.store(1, Relaxed);
        });
        while ended.load(Relaxed) == 0 {
            yield_now();
        }
        call.unwrap().join().unwrap();
    });
}

/// What a thousand FastThreads are told whose server ends while they wait.
fn outcomes_of_1000(end: impl FnOnce(&mut testkit::world::Server) + Copy + 'static) {
    check_ending(move |client, mut server| {
        let threads = fork_each(&client, 1000, |client, number| {
            client.work(number as u8, LONG_MS, &[0]).unwrap_err()
        });
        // All have posted, and the server has begun some of them: no processor of it may be left.
        let deadline = Duration::from_secs(2);
        while client.with_deadline(deadline).runs().is_ok_and(|runs| runs < 8) {}
        assert_eq!(report().threads().len(), 1001);
        let begin = Instant::now();
        end(&mut server);
        let mut failed = 0;
        for error in join_all(threads) {
            match error {
                nearcall::Error::Call(CallError::CallFailed { procedure, .. })
                    if procedure.operation() == "work" =>
                {
                    failed += 1
                }
                nearcall::Error::Call(CallError::NotExecuted { procedure, reason })
                    if procedure.operation() == "work" =>
                {
                    assert!(matches!(reason, NotExecuted::ServerEnded | NotExecuted::Revoked));
                }
                other => panic!("{other:?}"),
            }
        }
        println!("{failed} of 1000 had begun; all were told in {:?}", begin.elapsed());
        assert!((8..1000).contains(&failed), "{failed}");
    });
}

#[test]
fn a_thousand_fastthreads_are_told_that_their_server_was_killed() {
    outcomes_of_1000(testkit::world::Server::kill);
}
