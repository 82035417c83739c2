//! What programs rely on: threads that sleep, that block elsewhere, and their own values.

use std::cell::Cell;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use nearcall_threads::{
    Awaited, Condition, ForkError, Idle, JoinError, Local, LocalError, Mutex, Outside, Semaphore,
    WaitEnd, Word, at_each_switch, block, fork, report, run, sleep, sleep_until, wait_for,
    yield_now,
};

/// Runs `main` and expects that the run comes to an end.
#[track_caller]
fn check<T: 'static>(main: impl FnOnce() -> T + 'static) -> T {
    run(main).expect("a run that ends")
}

#[test]
fn sleepers_wake_by_their_deadlines_and_not_before() {
    let (order, elapsed) = check(|| {
        let order = Arc::new(Mutex::new(Vec::new()));
        let begin = Instant::now();
        let threads: Vec<_> = [3_u64, 1, 2]
            .map(|step| {
                let order = Arc::clone(&order);
                fork(move || {
                    sleep_until(begin + Duration::from_millis(20 * step));
                    order.lock().unwrap().push(step);
                })
            })
            .into();
        threads.into_iter().for_each(|thread| thread.unwrap().join().unwrap());
        (order.lock().unwrap().clone(), begin.elapsed())
    });
    assert_eq!(order, [1, 2, 3]);
    assert!(elapsed >= Duration::from_millis(60), "{elapsed:?}");
}

#[test]
fn a_sleeper_wakes_among_threads_that_are_always_ready() {
    check(|| {
        let sleeper = fork(|| {
            sleep(Duration::from_millis(1));
            AWAKE.store(1, Relaxed);
        });
        while AWAKE.load(Relaxed) == 0 {
            yield_now();
        }
        sleeper.unwrap().join().unwrap();
    });
    static AWAKE: AtomicU32 = AtomicU32::new(0);
}

#[test]
fn threads_run_while_one_of_them_blocks() {
    let received = check(|| {
        let (sender, receiver) = mpsc::channel();
        let blocked = fork(move || block(move || receiver.recv().unwrap()).unwrap()).unwrap();
        yield_now();
        // It would wait for ever if its processor were blocked.
        sender.send(5).unwrap();
        blocked.join().unwrap()
    });
    assert_eq!(received, 5);
}

#[test]
fn what_blocks_may_borrow_and_its_panic_comes_back() {
    check(|| {
        let mut text = String::new();
        block(|| text.push_str("borrowed")).unwrap();
        assert_eq!(text, "borrowed");
        let panics = fork(|| block(|| -> u32 { panic!("on purpose") }).unwrap());
        let joined = panics.unwrap().join();
        assert_eq!(joined.unwrap_err().to_string(), "FastThread 2 panicked: on purpose");
    });
}

#[test]
fn more_threads_block_than_there_are_kernel_threads_for_them() {
    let sum: u32 = check(|| {
        let forked = (0..200_u32).map(|number| fork(move || block(move || number).unwrap()));
        let threads: Vec<_> = forked.collect();
        threads.into_iter().map(|thread| thread.unwrap().join().unwrap()).sum()
    });
    assert_eq!(sum, 199 * 200 / 2);
}

#[test]
fn what_blocks_is_no_fastthread() {
    let forked = check(|| block(|| fork(|| ()).map(drop)).unwrap());
    assert!(matches!(forked, Err(ForkError::Outside(Outside::KernelThread))), "{forked:?}");
}

#[test]
fn a_local_is_the_thread_s_own_and_dropped_at_its_end() {
    static DROPPED: AtomicU32 = AtomicU32::new(0);
    struct Counts(Cell<u32>);
    impl Drop for Counts {
        fn drop(&mut self) {
            DROPPED.fetch_add(1, Relaxed);
        }
    }
    static COUNT: Local<Counts> = Local::new(|| Counts(Cell::new(0)));
    let count = || {
        COUNT.with(|count| {
            count.0.set(count.0.get() + 1);
            yield_now();
            count.0.get()
        })
    };
    check(move || {
        let threads = [fork(count).unwrap(), fork(count).unwrap()];
        for thread in threads {
            assert_eq!(thread.join().unwrap(), 1);
        }
        assert_eq!(DROPPED.load(Relaxed), 2);
        assert_eq!((count(), count()), (1, 2));
    });
    assert_eq!(DROPPED.load(Relaxed), 3);
}

#[test]
fn a_chore_is_done_at_each_switch_until_it_is_over() {
    static DONE: AtomicU32 = AtomicU32::new(0);
    fn chore() -> bool {
        DONE.fetch_add(1, Relaxed) + 1 < 3
    }
    check(|| {
        at_each_switch(chore);
        for switches in 1..=40 {
            yield_now();
            assert_eq!(DONE.load(Relaxed), switches.min(3));
        }
    });
}

#[test]
fn a_local_that_a_result_makes_while_it_is_dropped_is_not_the_next_thread_s() {
    static COUNT: Local<Counts> = Local::new(|| Counts(Cell::new(0)));
    static DROPPED: AtomicU32 = AtomicU32::new(0);
    struct Counts(Cell<u32>);
    impl Drop for Counts {
        fn drop(&mut self) {
            DROPPED.fetch_add(1, Relaxed);
        }
    }
    struct Uses;
    impl Drop for Uses {
        fn drop(&mut self) {
            COUNT.with(|count| count.0.set(5));
        }
    }
    for panics in [false, true] {
        check(move || {
            let result = move || match panics {
                true => std::panic::resume_unwind(Box::new(Uses)),
                false => Uses,
            };
            drop(fork(result));
            yield_now();
            assert_eq!(DROPPED.swap(0, Relaxed), 1);
            // The stack that was used last is the next one's.
            let next = fork(|| COUNT.with(|count| count.0.get()));
            assert_eq!(next.unwrap().join().unwrap(), 0);
            DROPPED.store(0, Relaxed);
        });
    }
}

/// Tokens that threads put back themselves, and how often somebody was asked for one.
#[derive(Clone, Copy)]
struct Token;

static TOKENS: AtomicU32 = AtomicU32::new(0);
static ASKED: AtomicU32 = AtomicU32::new(0);

impl Awaited for Token {
    fn is_over(&self) -> bool {
        ASKED.fetch_add(1, Relaxed);
        let take = |tokens: u32| tokens.checked_sub(1);
        TOKENS.fetch_update(Relaxed, Relaxed, take).is_ok()
    }

    fn queue(&self) -> Option<NonZeroUsize> {
        NonZeroUsize::new(1)
    }

    fn idle(&self, idle: &Idle<'_>) {
        idle.look();
    }

    fn fall_asleep(&self) -> Option<Word<'_>> {
        None
    }

    fn wake_up(&self, _is_late: bool) {}

    fn describe(&self) -> String {
        "a token".to_owned()
    }
}

#[test]
fn a_queue_for_what_threads_have_themselves_costs_one_question_a_look() {
    const THREADS: u32 = 10_000;
    check(|| {
        let order = Arc::new(Mutex::new(Vec::new()));
        let threads: Vec<_> = (0..THREADS)
            .map(|number| {
                let order = Arc::clone(&order);
                fork(move || {
                    assert_eq!(wait_for(&Token, None), WaitEnd::Over);
                    order.lock().unwrap().push(number);
                    TOKENS.fetch_add(1, Relaxed);
                })
            })
            .collect();
        yield_now();
        TOKENS.store(3, Relaxed);
        threads.into_iter().for_each(|thread| thread.unwrap().join().unwrap());
        assert!(order.lock().unwrap().is_sorted(), "first come, first served");
    });
    // One that is found, and for each look, of which there is one for some of those, one that is
    // not; with a list of all, each look would have asked thousands.
    let asked = ASKED.load(Relaxed);
    assert!(asked < 4 * THREADS, "{asked} times");
}

#[test]
fn values_that_use_each_other_as_they_are_dropped_are_dropped_once() {
    struct Uses(&'static Local<Uses>);
    impl Drop for Uses {
        fn drop(&mut self) {
            DROPPED.fetch_add(1, Relaxed);
            self.0.with(|_| ());
        }
    }
    static DROPPED: AtomicU32 = AtomicU32::new(0);
    static ONE: Local<Uses> = Local::new(|| Uses(&OTHER));
    static OTHER: Local<Uses> = Local::new(|| Uses(&ONE));
    // The one makes the other, which finds that the one is gone.
    let joined = check(|| fork(|| ONE.with(|_| 5)).unwrap().join());
    assert_eq!((joined.unwrap(), DROPPED.load(Relaxed)), (5, 2));
}

#[test]
fn a_value_whose_drop_has_begun_is_tried_in_vain_and_others_are_not() {
    struct Tries;
    impl Drop for Tries {
        fn drop(&mut self) {
            let tried = (OWN.try_with(|_| ()), OTHER.try_with(|number| *number));
            *TRIED.lock().unwrap() = Some(tried);
        }
    }
    type Tried = (Result<(), LocalError>, Result<u32, LocalError>);
    static TRIED: std::sync::Mutex<Option<Tried>> = std::sync::Mutex::new(None);
    static OWN: Local<Tries> = Local::new(|| Tries);
    static OTHER: Local<u32> = Local::new(|| 7);
    let before = check(|| fork(|| OWN.try_with(|_| 5)).unwrap().join().unwrap());
    assert_eq!(before, Ok(5));
    assert_eq!(*TRIED.lock().unwrap(), Some((Err(LocalError::Dropped), Ok(7))));
}

#[test]
fn a_thread_is_finished_when_a_join_would_not_wait() {
    check(|| {
        let thread = fork(yield_now).unwrap();
        assert!(!thread.is_finished());
        yield_now();
        assert!(!thread.is_finished());
        yield_now();
        assert!(thread.is_finished());
        thread.join().unwrap();
        assert!(thread.is_finished());
    });
    // Where its run is not, it can be asked, too.
    assert!(check(|| fork(|| 1).unwrap()).is_finished());
}

#[test]
fn a_sleep_longer_than_the_clock_can_say_does_not_pass() {
    let joined = check(|| {
        let sleeper = fork(|| sleep(Duration::MAX)).unwrap();
        yield_now();
        sleeper.cancel().unwrap();
        sleeper.join()
    });
    assert!(matches!(joined, Err(JoinError::Cancelled(_))), "{joined:?}");
}

#[test]
fn a_wait_for_a_signal_ends_by_its_time_with_the_lock_and_leaves_signals_to_others() {
    let late = check(|| {
        let shared = Arc::new((Mutex::new(0), Condition::new()));
        let waiter = |timeout: Duration| {
            let shared = Arc::clone(&shared);
            fork(move || {
                let waited = shared.1.wait_timeout(shared.0.lock().unwrap(), timeout);
                let (mut count, result) = waited.unwrap();
                *count += 1;
                result.timed_out()
            })
            .unwrap()
        };
        let threads = [Duration::ZERO, Duration::from_millis(1), Duration::MAX].map(waiter);
        while *shared.0.lock().unwrap() < 2 {
            yield_now();
        }
        shared.1.signal();
        threads.map(|thread| thread.join().unwrap())
    });
    assert_eq!(late, [true, true, false]);
}

/// Times that something is to come in; the longer ones where the machine stood still.
const SOON_OR_LATER: [Duration; 3] =
    [Duration::from_millis(300), Duration::from_secs(3), Duration::from_secs(20)];

#[test]
fn a_thread_that_was_signalled_in_time_is_not_late_when_it_goes_on_late() {
    let is_not_late = |time: Duration| {
        let (result, turns) = check(move || {
            let turns = Arc::new(AtomicU32::new(0));
            let shared = Arc::new((Mutex::new(()), Condition::new()));
            let theirs = (Arc::clone(&shared), Arc::clone(&turns));
            let waiter = fork(move || {
                let (shared, turns) = theirs;
                let waited = shared.1.wait_timeout(shared.0.lock().unwrap(), time);
                let result = waited.unwrap().1;
                // What it is in no list for any more does not make it ready once more.
                turns.fetch_add(1, Relaxed);
                sleep(2 * time);
                turns.fetch_add(1, Relaxed);
                result
            });
            yield_now();
            let begin = Instant::now();
            shared.1.signal();
            while begin.elapsed() < 2 * time {}
            // It is ready, and its time has come: both are seen before it goes on.
            at_each_switch(|| false);
            yield_now();
            (waiter.unwrap().join().unwrap(), turns.load(Relaxed))
        });
        assert_eq!(turns, 2);
        !result.timed_out()
    };
    assert!(SOON_OR_LATER.into_iter().any(is_not_late));
}

#[test]
fn a_wait_for_a_signal_that_is_cancelled_leaves_no_time_behind() {
    let joined = check(|| {
        let waiter = fork(|| {
            let (lock, never) = (Mutex::new(()), Condition::new());
            drop(never.wait_timeout(lock.lock().unwrap(), Duration::MAX));
        });
        let waiter = waiter.unwrap();
        yield_now();
        let waits_for = report().threads()[1].waits_for.clone();
        assert!(waits_for.unwrap().starts_with("the signal of a condition, or a time that"));
        waiter.cancel().unwrap();
        // The run ends: the processor sleeps for nobody.
        waiter.join()
    });
    assert!(matches!(joined, Err(JoinError::Cancelled(_))), "{joined:?}");
}

#[test]
fn a_wait_for_a_permit_ends_by_its_time_and_leaves_permits_to_others() {
    let (ours, is_left) = check(|| {
        let permits = Arc::new(Semaphore::new(0));
        let waiter = |timeout: Duration| {
            let permits = Arc::clone(&permits);
            fork(move || permits.acquire_timeout(timeout)).unwrap()
        };
        let threads = [Duration::ZERO, Duration::from_millis(1), Duration::MAX].map(waiter);
        while !(threads[0].is_finished() && threads[1].is_finished()) {
            yield_now();
        }
        permits.release();
        (threads.map(|thread| thread.join().unwrap()), permits.try_acquire())
    });
    assert_eq!((ours, is_left), ([false, false, true], false));
}

#[test]
fn a_permit_that_was_given_in_time_is_there_for_who_goes_on_late() {
    let is_had = |time: Duration| {
        let (is_ours, is_left) = check(move || {
            let permits = Arc::new(Semaphore::new(0));
            let theirs = Arc::clone(&permits);
            let waiter = fork(move || theirs.acquire_timeout(time));
            yield_now();
            let begin = Instant::now();
            permits.release();
            while begin.elapsed() < 2 * time {}
            // It is ready, and its time has come: both are seen before it goes on.
            at_each_switch(|| false);
            (waiter.unwrap().join().unwrap(), permits.try_acquire())
        });
        assert_ne!(is_ours, is_left);
        is_ours
    };
    assert!(SOON_OR_LATER.into_iter().any(is_had));
}

#[test]
fn a_wait_for_a_permit_that_is_cancelled_leaves_no_time_behind() {
    let joined = check(|| {
        let waiter = fork(|| Semaphore::new(0).acquire_timeout(Duration::MAX)).unwrap();
        yield_now();
        let waits_for = report().threads()[1].waits_for.clone();
        assert!(waits_for.unwrap().starts_with("a permit of a semaphore, or a time that"));
        waiter.cancel().unwrap();
        // The run ends: the processor sleeps for nobody.
        waiter.join()
    });
    assert!(matches!(joined, Err(JoinError::Cancelled(_))), "{joined:?}");
}

#[test]
fn a_wait_while_something_holds_ends_when_it_does_not_or_late() {
    check(|| {
        let shared = Arc::new((Mutex::new(0), Condition::new()));
        let theirs = Arc::clone(&shared);
        let counts = fork(move || {
            for _ in 0..3 {
                *theirs.0.lock().unwrap() += 1;
                theirs.1.signal();
                yield_now();
            }
        });
        let wait = |until: u32, timeout| {
            let is_so = |count: &mut u32| *count < until;
            let waited = shared.1.wait_timeout_while(shared.0.lock().unwrap(), timeout, is_so);
            let (count, result) = waited.unwrap();
            (*count, result.timed_out())
        };
        assert_eq!(wait(3, Duration::MAX), (3, false));
        assert_eq!(wait(3, Duration::ZERO), (3, false), "what does not hold is not waited for");
        assert_eq!(wait(4, Duration::from_millis(1)), (3, true));
        counts.unwrap().join().unwrap();
    });
}
