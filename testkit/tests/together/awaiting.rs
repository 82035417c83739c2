//! Calls that are awaited: each evaluates to what the plain call returns, whoever polls it, and
//! however it ends (design note 0022).

mod queue;

use std::future::{Future, poll_fn};
use std::panic::resume_unwind;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread, ThreadId};
use std::time::{Duration, Instant};

use futures::future::{join, join_all, select_ok};
use nearcall::{CallError, Error, NotExecuted, Ran, UsageError, WhenExhausted};
use testkit::faults::faults::{
    FaultsClient, FaultsRefuseException, FaultsWorkException, Point, Refused, Shape,
};
use testkit::longer::{is_late, is_so_beside};
use testkit::world::{Kind, Server, World, each_world, in_world};

const SERVER: &str = env!("CARGO_BIN_EXE_testkit-server");

/// Longer than any test waits.
const LONG_MS: u32 = 600_000;

/// A-stacks of the class of `add`, `doze` and `null`.
const ASTACKS: i32 = 5;

/// In a thread of its own each time: what a thread has learned from its calls, such as that each is
/// its only one, decides when the next one is looked for.
fn check(test: impl Fn(&World) + Sync) {
    each_world(SERVER, |world| {
        let ended = thread::scope(|scope| scope.spawn(|| test(world)).join());
        ended.unwrap_or_else(|panic| resume_unwind(panic));
    });
}

/// The smallest executor: a thread that sleeps until its one task is woken.
struct Sleeper {
    thread: Thread,
    wakes: AtomicU32,
}

impl Wake for Sleeper {
    fn wake(self: Arc<Self>) {
        self.wakes.fetch_add(1, Relaxed);
        self.thread.unpark();
    }
}

impl Sleeper {
    fn new() -> Arc<Sleeper> {
        Arc::new(Sleeper { thread: std::thread::current(), wakes: AtomicU32::new(0) })
    }
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    let waker = Waker::from(Sleeper::new());
    let mut future = pin!(future);
    loop {
        if let Poll::Ready(value) = poll(future.as_mut(), &waker) {
            return value;
        }
        std::thread::park();
    }
}

fn poll<F: Future + ?Sized>(future: Pin<&mut F>, waker: &Waker) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(waker))
}

/// Calls that have every A-stack.
fn all_under_way<F: Future>(begin: impl FnMut(i32) -> F) -> Vec<Pin<Box<F>>> {
    let mut all: Vec<_> = (0..ASTACKS).map(begin).map(Box::pin).collect();
    for call in &mut all {
        assert!(poll(call.as_mut(), Waker::noop()).is_pending());
    }
    all
}

/// Polls as often as a task that wakes itself is polled; then it sleeps, unless it is over.
fn falls_asleep<F: Future + ?Sized>(mut future: Pin<&mut F>) -> bool {
    let sleeper = Sleeper::new();
    let waker = Waker::from(Arc::clone(&sleeper));
    loop {
        let wakes = sleeper.wakes.load(Relaxed);
        let is_over = poll(future.as_mut(), &waker).is_ready();
        if is_over || sleeper.wakes.load(Relaxed) == wakes {
            return !is_over;
        }
    }
}

/// Whether a task that waits for that long falls asleep so often; it is woken.
fn sleeps(client: &FaultsClient, milliseconds: u32, times: u32) -> bool {
    let calls = client.awaiting();
    let mut call = pin!(calls.doze(milliseconds));
    let is_asleep = (0..times).all(|_| falls_asleep(call.as_mut()));
    assert!(!is_asleep || block_on(call).unwrap() == client.runs().unwrap());
    is_asleep
}

fn wait_until_none_is_captured(client: &FaultsClient) {
    while client.binding().captured_count() > 0 {
        std::thread::yield_now();
    }
}

#[test]
fn a_call_evaluates_to_its_results() {
    check(|world| {
        let server = world.serve("awaiting");
        let client = world.import(&server);
        block_on(async {
            let calls = client.awaiting();
            for number in 0..100 {
                calls.null().await.unwrap();
                assert_eq!(calls.add(number, 2).await.unwrap(), number + 2);
            }
            assert_eq!(calls.greet("you").await.unwrap(), "hello, you");
            calls.set_level(7).await.unwrap();
            assert_eq!(calls.level().await.unwrap(), 7);
            let shape = |x| Shape { name: String::from("a"), points: vec![Point { x, y: 0.5 }] };
            let mirrored = calls.mirror(&[shape(1), shape(2)]).await.unwrap();
            assert_eq!((mirrored[0].points[0].x, mirrored[1].points[0].x), (-2, -1));
            calls.note().await.unwrap();
        });
        while client.runs().unwrap() == 0 {
            std::thread::yield_now();
        }
    });
}

#[test]
fn arguments_and_results_go_out_of_line_and_are_lent() {
    check(|world| {
        let server = world.serve("awaiting");
        let client = world.import(&server);
        block_on(async {
            let calls = client.awaiting();
            for bytes in [10, 1_000, 70_000, 300_000, 300_000] {
                let data = vec![bytes as u8; bytes];
                assert!(calls.echo(&data).await.unwrap() == data);
                let sum = data.iter().map(|byte| u32::from(*byte)).sum::<u32>();
                assert_eq!(calls.sum(&data).await.unwrap(), sum);
                assert!(calls.fill(bytes as u32, 3).await.unwrap() == vec![3; bytes]);
            }
        });
    });
}

#[test]
fn what_is_raised_and_what_panics_comes_back() {
    check(|world| {
        let server = world.serve("awaiting");
        let client = world.import(&server);
        block_on(async {
            let calls = client.awaiting();
            assert_eq!(calls.refuse(0).await.unwrap(), 0);
            let raised = calls.refuse(3).await.unwrap_err();
            let Error::Exception(FaultsRefuseException::Refused(Refused { code, reason })) = raised
            else {
                panic!("{raised}");
            };
            assert_eq!((code, reason.as_str()), (3, "code 3"));
            let panicked = calls.panic("planned").await.unwrap_err();
            assert!(matches!(panicked, CallError::Panicked { .. }), "{panicked}");
            calls.null().await.unwrap();
        });
    });
}

#[test]
fn a_task_that_waits_long_sleeps_and_is_woken() {
    check(|world| {
        let server = world.serve("awaiting");
        let client = world.import(&server);
        let sleeps = |milliseconds| sleeps(&client, milliseconds, 1);
        (0..3).for_each(|_| assert!(is_so_beside(50, sleeps)));
    });
}

#[test]
fn a_task_that_calls_without_end_lets_others_have_their_turn() {
    const TURNS: u32 = 100;
    // As many calls in a row look at once, and then one does not.
    const CALLS_MAX: u32 = 17;
    check(|world| {
        let server = world.serve("awaiting");
        let client = world.import(&server);
        let (turns, calls) = (AtomicU32::new(0), AtomicU32::new(0));
        let caller = async {
            while turns.load(Relaxed) < TURNS {
                client.awaiting().null().await.unwrap();
                calls.fetch_add(1, Relaxed);
            }
        };
        let other = poll_fn(|context| {
            context.waker().wake_by_ref();
            let is_over = turns.fetch_add(1, Relaxed) + 1 == TURNS;
            if is_over { Poll::Ready(()) } else { Poll::Pending }
        });
        block_on(join(caller, other));
        let calls = calls.into_inner();
        assert!((1..=TURNS * CALLS_MAX).contains(&calls), "{calls} in {TURNS} turns");
    });
}

/// Panics when another thread wakes its task.
struct Panicker {
    own: ThreadId,
    panics: AtomicU32,
}

impl Wake for Panicker {
    fn wake(self: Arc<Self>) {
        if std::thread::current().id() != self.own {
            self.panics.fetch_add(1, Relaxed);
            panic!("planned");
        }
    }
}

#[test]
fn a_waker_that_panics_leaves_other_tasks_awake() {
    check(|world| {
        let server = world.serve("awaiting");
        let client = world.import(&server);
        let own = std::thread::current().id();
        let panicker = Arc::new(Panicker { own, panics: AtomicU32::new(0) });
        let calls = client.awaiting();
        let is_woken_by_panicker = |milliseconds| {
            let mut call = pin!(calls.doze(milliseconds));
            let waker = Waker::from(Arc::clone(&panicker));
            if !falls_asleep(call.as_mut()) || poll(call.as_mut(), &waker).is_ready() {
                return false;
            }
            while panicker.panics.load(Relaxed) == 0 {
                std::thread::yield_now();
            }
            let other = block_on(calls.doze(50)).unwrap();
            assert_eq!(block_on(call).unwrap() + 1, other);
            true
        };
        assert!(is_so_beside(50, is_woken_by_panicker));
    });
}

/// Works for all of a thousand tasks at once, over 64 A-stacks.
async fn work(client: &FaultsClient, number: u32, milliseconds: u32) {
    let data = [number as u8, !number as u8];
    let result = client.awaiting().work(number as u8, milliseconds, &data).await.unwrap();
    assert_eq!(result, [number as u8, data[0], data[1]]);
}

#[test]
fn a_thousand_calls_are_under_way_on_one_thread() {
    check(|world| {
        let server = world.serve("awaiting");
        let client = world.import(&server);
        block_on(join_all((0..1000).map(|number| work(&client, number, 0))));
        // `add` has five A-stacks.
        let calls = client.awaiting();
        let sums = block_on(join_all((0..1000).map(|number| calls.add(number, 1))));
        assert!((1..).zip(sums).all(|(wanted, sum)| sum.unwrap() == wanted));
        assert_eq!(client.runs().unwrap(), 1000);
    });
}

#[test]
fn a_thousand_sleeping_tasks_are_woken_in_any_order() {
    check(|world| {
        let server = world.serve("awaiting");
        let mut options = world.import_options();
        options.when_exhausted = WhenExhausted::Grow;
        let client = world.import_with(&server, options);
        // The oldest ones are the last to return.
        let calls = (0..1000).map(|number| work(&client, number, u32::from(number < 20) * 300));
        block_on(join_all(calls));
        assert_eq!(client.runs().unwrap(), 1000);
    });
}

#[test]
fn tasks_of_tokio_s_current_thread_call() {
    check(|world| {
        let server = world.serve("awaiting");
        let client = Arc::new(world.import(&server));
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let tasks = (0..1000).map(|number| {
                let client = Arc::clone(&client);
                tokio::spawn(
                    async move { work(&client, number, u32::from(number % 100 == 0)).await },
                )
            });
            for task in join_all(tasks).await {
                task.unwrap();
            }
        });
        assert_eq!(client.runs().unwrap(), 1000);
    });
}

#[test]
fn tasks_that_move_between_tokio_s_threads_call() {
    check(|world| {
        let server = world.serve("awaiting");
        let client = Arc::new(world.import(&server));
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(3).build();
        runtime.unwrap().block_on(async {
            let tasks = (0..200).map(|number| {
                let client = Arc::clone(&client);
                tokio::spawn(async move {
                    for round in 0..20 {
                        let sum = client.awaiting().add(number, round).await.unwrap();
                        assert_eq!(sum, number + round);
                        tokio::task::yield_now().await;
                        work(&client, number as u32, 0).await;
                    }
                })
            });
            for task in join_all(tasks).await {
                task.unwrap();
            }
        });
        assert_eq!(client.runs().unwrap(), 4000);
    });
}

#[test]
fn tasks_of_smol_call() {
    check(|world| {
        let server = world.serve("awaiting");
        let client = Arc::new(world.import(&server));
        let executor = smol::Executor::new();
        let tasks = (0..1000).map(|number| {
            let client = Arc::clone(&client);
            executor.spawn(async move { work(&client, number, u32::from(number % 100 == 0)).await })
        });
        let tasks: Vec<_> = tasks.collect();
        smol::block_on(executor.run(join_all(tasks)));
        assert_eq!(client.runs().unwrap(), 1000);
    });
}

#[test]
fn a_call_is_begun_on_one_thread_and_ended_on_another() {
    check(|world| {
        let server = world.serve("awaiting");
        let client = world.import(&server);
        for number in 0..200 {
            // A-stacks are kept for this thread.
            client.null().unwrap();
            let calls = client.awaiting();
            let mut call = Box::pin(calls.add(number, 1));
            assert!(poll(call.as_mut(), Waker::noop()).is_pending());
            let sum = std::thread::scope(|threads| {
                threads.spawn(|| block_on(call).unwrap()).join().unwrap()
            });
            assert_eq!(sum, number + 1);
        }
        // None of them was lost.
        let calls = client.awaiting();
        let mut all = Vec::new();
        for number in 0..ASTACKS {
            let mut call = Box::pin(calls.add(number, 1));
            assert!(poll(call.as_mut(), Waker::noop()).is_pending());
            all.push(call);
        }
        for (number, call) in (0..).zip(all) {
            assert_eq!(block_on(call).unwrap(), number + 1);
        }
    });
}

#[test]
fn a_task_that_is_polled_for_no_reason_goes_on_sleeping() {
    check(|world| {
        let server = world.serve("awaiting");
        let client = world.import(&server);
        assert!(is_so_beside(100, |milliseconds| sleeps(&client, milliseconds, 101)));
    });
}

#[test]
fn one_that_is_never_polled_again_holds_up_nobody_and_gives_its_astack_back() {
    check(|world| {
        let server = world.serve("awaiting");
        let client = world.import(&server);
        let calls = client.awaiting();
        let all_sleep = |milliseconds| {
            let mut forgotten =
                [(); ASTACKS as usize - 1].map(|()| Box::pin(calls.doze(milliseconds)));
            let all_sleep = forgotten.iter_mut().all(|call| falls_asleep(call.as_mut()));
            for number in 0..100 {
                assert_eq!(client.add(number, 1).unwrap(), number + 1);
            }
            drop(forgotten);
            wait_until_none_is_captured(&client);
            assert!(block_on(join_all((0..5).map(|_| calls.doze(1)))).iter().all(Result::is_ok));
            all_sleep
        };
        assert!(is_so_beside(50, all_sleep));
    });
}

#[test]
fn a_blocking_call_is_refused_an_astack_that_tasks_of_its_thread_have() {
    check(|world| {
        let server = world.serve("awaiting");
        let client = world.import(&server);
        let calls = client.awaiting();
        let all = all_under_way(|number| calls.add(number, 1));
        let refused = client.null().unwrap_err();
        let is_named = matches!(refused, CallError::Usage(UsageError::Outstanding { .. }));
        assert!(is_named, "{refused}");
        let mut other = pin!(calls.null());
        assert!(falls_asleep(other.as_mut()));
        assert!(block_on(join_all(all)).into_iter().all(|sum| sum.is_ok()));
        block_on(other).unwrap();
    });
}

#[test]
fn a_dropped_call_is_captured_until_the_server_lets_go() {
    check(|world| {
        let server = world.serve("awaiting");
        let client = world.import(&server);
        let calls = client.awaiting();
        for is_asleep in [false, true] {
            let is_dropped_before_its_reply = |milliseconds| {
                let mut call = Box::pin(calls.doze(milliseconds));
                let is_pending = poll(call.as_mut(), Waker::noop()).is_pending()
                    && (!is_asleep || falls_asleep(call.as_mut()));
                drop(call);
                wait_until_none_is_captured(&client);
                is_pending
            };
            assert!(is_so_beside(30, is_dropped_before_its_reply));
        }
        assert!(block_on(join_all((0..ASTACKS).map(|_| calls.doze(1)))).iter().all(Result::is_ok));
    });
}

#[test]
fn the_losers_of_a_race_are_cancelled() {
    check(|world| {
        let server = world.serve("awaiting");
        let client = world.import(&server);
        let calls = client.awaiting();
        let are_captured = |long| {
            let racers = [1, long, long].map(|milliseconds| Box::pin(calls.doze(milliseconds)));
            drop(block_on(select_ok(racers)).unwrap());
            let are_captured = client.binding().captured_count() > 0;
            wait_until_none_is_captured(&client);
            client.null().unwrap();
            are_captured
        };
        assert!(is_so_beside(200, are_captured));
    });
}

/// Runs the test with a client of a server's process that it may end.
fn check_ending(test: impl Fn(FaultsClient, Server)) {
    in_world(Kind::Processes, SERVER, |world: &World| {
        let server = world.serve("awaiting");
        let mut options = world.import_options();
        options.when_exhausted = WhenExhausted::Grow;
        test(world.import_with(&server, options), server);
    });
}

#[test]
fn each_deadline_ends_its_own_call() {
    let all_were_posted = |milliseconds: u32| {
        let posted = AtomicU32::new(0);
        check_ending(|client, _server| {
            // Fewer than the server has processors.
            let calls = join_all((0..40).map(async |number| {
                let deadline = Duration::from_millis(u64::from(milliseconds + number % 3));
                let hasty = client.with_deadline(deadline);
                let begin = Instant::now();
                let error = hasty.awaiting().doze(LONG_MS).await.unwrap_err();
                assert!(begin.elapsed() >= deadline);
                assert!(is_late(&error), "{error}");
                posted.fetch_add((error.ran() == Ran::Maybe).into(), Relaxed);
            }));
            block_on(calls);
            client.null().unwrap();
        });
        posted.into_inner() == 40
    };
    assert!(is_so_beside(20, all_were_posted));
}

/// What a thousand tasks are told whose server ends while they wait.
fn outcomes_of_1000(end: impl Fn(&mut Server)) {
    check_ending(|client, mut server| {
        let calls = client.awaiting();
        let mut all: Vec<_> =
            (0..1000).map(|number| Box::pin(calls.work(number as u8, LONG_MS, &[0]))).collect();
        all.iter_mut().for_each(|call| assert!(falls_asleep(call.as_mut())));
        // The server has begun some of them; no processor of it may be left.
        let deadline = Duration::from_secs(2);
        while client.with_deadline(deadline).runs().is_ok_and(|runs| runs < 8) {}
        let begin = Instant::now();
        end(&mut server);
        let mut failed = 0;
        for outcome in block_on(join_all(all)) {
            match outcome.unwrap_err() {
                Error::Call(CallError::CallFailed { procedure, .. })
                    if procedure.operation() == "work" =>
                {
                    failed += 1
                }
                Error::Call(CallError::NotExecuted { procedure, reason })
                    if procedure.operation() == "work" =>
                {
                    assert!(matches!(reason, NotExecuted::ServerEnded | NotExecuted::Revoked));
                }
                Error::<FaultsWorkException>::Call(other) => panic!("{other}"),
                Error::Exception(raised) => panic!("{raised}"),
            }
        }
        println!("{failed} of 1000 had begun; all were told in {:?}", begin.elapsed());
        assert!((8..1000).contains(&failed), "{failed}");
        let revoked = block_on(calls.null()).unwrap_err();
        assert!(matches!(revoked, CallError::NotExecuted { .. }), "{revoked}");
    });
}

#[test]
fn a_thousand_tasks_are_told_that_their_server_was_killed() {
    outcomes_of_1000(Server::kill);
}
