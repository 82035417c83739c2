//! Threads that are cancelled: where it takes effect, what it leaves, and where it does nothing.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::time::{Duration, Instant};

use nearcall_threads::{
    Awaited, Condition, ForkError, Forked, Idle, JoinError, Local, Mutex, Outside, Semaphore,
    WaitEnd, Word, at_each_switch, block, fork, is_cancelled, report, run, shield, sleep,
    test_cancel, wait_for, yield_now,
};

mod elsewhere;

/// Longer than any test takes.
const LONG: Duration = Duration::from_secs(3600);

/// Runs `main` and expects that the run comes to an end.
#[track_caller]
fn check<T: 'static>(main: impl FnOnce() -> T + 'static) -> T {
    run(main).expect("a run that ends")
}

#[track_caller]
fn is_joined_cancelled<T: std::fmt::Debug>(thread: &Forked<T>) {
    let joined = thread.join();
    assert!(matches!(joined, Err(JoinError::Cancelled(_))), "{joined:?}");
}

/// Forks a thread that does this, and never comes back from it; cancels it there. What it has is
/// dropped, and join says so.
#[track_caller]
fn ends_in(wait: impl FnOnce() + Send + 'static) {
    let shared = Arc::new(());
    let theirs = Arc::clone(&shared);
    let thread = fork(move || {
        let _theirs = theirs;
        wait();
        unreachable!("it was cancelled");
    });
    let thread = thread.unwrap();
    yield_now();
    assert_eq!(Arc::strong_count(&shared), 2);
    thread.cancel().unwrap();
    is_joined_cancelled(&thread);
    assert_eq!(Arc::strong_count(&shared), 1);
}

#[test]
fn a_sleep_ends() {
    let begin = Instant::now();
    check(|| ends_in(|| sleep(LONG)));
    assert!(begin.elapsed() < LONG);
}

#[test]
fn a_wait_for_a_permit_ends_and_the_next_one_in_line_has_it() {
    static PERMITS: Semaphore = Semaphore::new(0);
    check(|| {
        let last = |_| fork(|| PERMITS.acquire()).unwrap();
        let before = last(());
        yield_now();
        let cancelled = last(());
        yield_now();
        let after = last(());
        yield_now();
        cancelled.cancel().unwrap();
        PERMITS.release();
        PERMITS.release();
        before.join().unwrap();
        after.join().unwrap();
        is_joined_cancelled(&cancelled);
        ends_in(|| PERMITS.acquire());
    });
}

#[test]
fn a_wait_for_a_signal_ends_and_leaves_the_lock_free_and_good() {
    static LOCK: Mutex<u32> = Mutex::new(0);
    static TOLD: Condition = Condition::new();
    check(|| {
        ends_in(|| drop(TOLD.wait_while(LOCK.lock().unwrap(), |_| true)));
        let lock = LOCK.try_lock().expect("nobody has it");
        drop(lock.expect("it is not poisoned"));
    });
}

#[test]
fn a_join_ends_and_leaves_the_thread_that_was_joined() {
    static ENDED: AtomicU32 = AtomicU32::new(0);
    static GO_ON: Semaphore = Semaphore::new(0);
    check(|| {
        let joined = fork(|| {
            GO_ON.acquire();
            ENDED.fetch_add(1, Relaxed);
        });
        ends_in(move || joined.unwrap().join().unwrap());
        assert_eq!(ENDED.load(Relaxed), 0);
        GO_ON.release();
    });
    assert_eq!(ENDED.load(Relaxed), 1);
}

#[test]
fn a_join_that_was_cancelled_can_be_made_again() {
    let joined = check(|| {
        let outer = fork(|| {
            let inner = fork(|| shield(|| sleep(Duration::from_millis(1)))).unwrap();
            let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| inner.join()));
            assert!(caught.is_err());
            shield(|| inner.join())
        });
        let outer = outer.unwrap();
        yield_now();
        outer.cancel().unwrap();
        outer.join()
    });
    assert!(matches!(joined, Ok(Ok(()))), "{joined:?}");
}

/// Something that never comes, or is there.
struct Never;

impl Awaited for Never {
    fn is_over(&self) -> bool {
        false
    }
    fn idle(&self, _idle: &Idle<'_>) {}
    fn fall_asleep(&self) -> Option<Word<'_>> {
        None
    }
    fn wake_up(&self, _is_late: bool) {}
    fn describe(&self) -> String {
        "what never comes".to_owned()
    }
}

#[test]
fn a_wait_for_something_from_outside_says_so_and_leaves_the_end_to_who_waits() {
    for until in [None, Some(Instant::now() + LONG)] {
        let (end, joined) = check(move || {
            let end = Arc::new(Mutex::new(false));
            let theirs = Arc::clone(&end);
            let thread = fork(move || {
                let ended = wait_for(&Never, until);
                if let WaitEnd::Cancelled(cancelled) = ended {
                    *theirs.lock().unwrap() = true;
                    cancelled.unwind();
                }
            });
            let thread = thread.unwrap();
            let others = [fork(is_late), fork(is_late)];
            yield_now();
            thread.cancel().unwrap();
            for other in others {
                assert!(other.unwrap().join().unwrap());
            }
            let joined = thread.join();
            (*end.lock().unwrap(), joined)
        });
        assert!(end);
        assert!(matches!(joined, Err(JoinError::Cancelled(_))), "{joined:?}");
    }
}

/// Waits for it for a while.
fn is_late() -> bool {
    wait_for(&Never, Some(Instant::now() + Duration::from_millis(5))) == WaitEnd::Late
}

#[test]
fn what_has_not_begun_never_begins_and_is_dropped() {
    static BEGUN: AtomicU32 = AtomicU32::new(0);
    let shared = Arc::new(());
    let theirs = Arc::clone(&shared);
    check(move || {
        let thread = fork(move || {
            BEGUN.fetch_add(1, Relaxed);
            drop(theirs);
        });
        let thread = thread.unwrap();
        thread.cancel().unwrap();
        is_joined_cancelled(&thread);
    });
    assert_eq!((BEGUN.load(Relaxed), Arc::strong_count(&shared)), (0, 1));
}

#[test]
fn a_thread_that_runs_ends_where_it_asks_or_waits_next() {
    check(|| {
        let asked = fork(|| {
            let mut turns = 0;
            while !is_cancelled() {
                turns += 1;
                yield_now();
            }
            assert!(turns > 0);
            test_cancel();
            unreachable!("it was cancelled");
        });
        let waits = fork(|| {
            while !is_cancelled() {
                yield_now();
            }
            sleep(Duration::ZERO);
            unreachable!("it was cancelled");
        });
        for thread in [asked.unwrap(), waits.unwrap()] {
            yield_now();
            thread.cancel().unwrap();
            is_joined_cancelled(&thread);
        }
    });
}

#[test]
fn a_thread_that_returns_first_has_its_result() {
    let joined = check(|| {
        let thread = fork(|| {
            yield_now();
            5
        });
        let thread = thread.unwrap();
        yield_now();
        thread.cancel().unwrap();
        thread.join()
    });
    assert!(matches!(joined, Ok(5)), "{joined:?}");
}

#[test]
fn a_thread_that_has_ended_is_left_alone_and_so_is_the_next_one_on_its_stack() {
    check(|| {
        let ended = fork(|| 5).unwrap();
        yield_now();
        ended.cancel().unwrap();
        assert_eq!(ended.join().unwrap(), 5);
        ended.cancel().unwrap();
        // The stack that was used last is the next one's.
        let next = fork(|| sleep(Duration::from_millis(1)));
        next.unwrap().join().unwrap();
    });
}

#[test]
fn a_cancel_that_had_no_effect_is_forgotten_with_its_thread() {
    check(|| {
        let cancelled = fork(yield_now).unwrap();
        yield_now();
        cancelled.cancel().unwrap();
        cancelled.join().unwrap();
        let next = fork(|| (is_cancelled(), sleep(Duration::from_millis(1))));
        assert!(!next.unwrap().join().unwrap().0);
    });
}

#[test]
fn cancelling_again_changes_nothing() {
    check(|| {
        let thread = fork(|| sleep(LONG)).unwrap();
        yield_now();
        for _ in 0..3 {
            thread.cancel().unwrap();
        }
        is_joined_cancelled(&thread);
    });
}

#[test]
fn a_thread_that_cancels_itself_ends_where_it_waits_next() {
    static CAME: AtomicU32 = AtomicU32::new(0);
    check(|| {
        let own = Arc::new(Mutex::new(None::<Forked<()>>));
        let theirs = Arc::clone(&own);
        let thread = fork(move || {
            theirs.lock().unwrap().as_ref().unwrap().cancel().unwrap();
            CAME.store(1, Relaxed);
            sleep(LONG);
            CAME.store(2, Relaxed);
        });
        *own.lock().unwrap() = Some(thread.unwrap());
        yield_now();
        is_joined_cancelled(own.lock().unwrap().as_ref().unwrap());
    });
    assert_eq!(CAME.load(Relaxed), 1);
}

#[test]
fn who_cancels_has_to_be_a_fastthread_of_the_run() {
    let thread = check(|| {
        let thread = fork(|| sleep(Duration::from_millis(20))).unwrap();
        let elsewhere = std::thread::spawn(move || {
            let cancelled = thread.cancel();
            let other = run(move || {
                let cancelled = thread.cancel();
                (thread, cancelled)
            });
            (cancelled, other.unwrap())
        });
        let (kernel, (thread, other)) = elsewhere.join().unwrap();
        assert!(matches!(kernel, Err(ForkError::Outside(Outside::KernelThread))), "{kernel:?}");
        assert!(matches!(other, Err(ForkError::Outside(Outside::OtherRun))), "{other:?}");
        thread.join()
    });
    assert!(thread.is_ok(), "{thread:?}");
}

#[test]
fn a_lock_is_waited_for_although_its_waiter_was_cancelled() {
    static LOCK: Mutex<u32> = Mutex::new(0);
    check(|| {
        let ours = LOCK.lock().unwrap();
        let waits = fork(|| {
            *LOCK.lock().unwrap() += 1;
            sleep(LONG);
        });
        let waits = waits.unwrap();
        yield_now();
        waits.cancel().unwrap();
        yield_now();
        assert_eq!(report().threads().len(), 2, "it still waits");
        drop(ours);
        is_joined_cancelled(&waits);
        assert_eq!(*LOCK.lock().unwrap(), 1);
    });
}

#[test]
fn a_lock_that_a_thread_has_is_poisoned_when_it_is_unwound() {
    static LOCK: Mutex<u32> = Mutex::new(0);
    check(|| {
        ends_in(|| {
            let _lock = LOCK.lock().unwrap();
            sleep(LONG);
        });
    });
    assert!(LOCK.is_poisoned());
}

#[test]
fn a_shield_keeps_a_cancel_off_until_the_next_wait_after_it() {
    static CAME: AtomicU32 = AtomicU32::new(0);
    check(|| {
        let thread = fork(|| {
            shield(|| {
                sleep(Duration::from_millis(1));
                shield(|| sleep(Duration::from_millis(1)));
                test_cancel();
                assert!(is_cancelled());
                sleep(Duration::from_millis(1));
                CAME.store(1, Relaxed);
            });
            CAME.store(2, Relaxed);
            sleep(LONG);
        });
        let thread = thread.unwrap();
        yield_now();
        thread.cancel().unwrap();
        is_joined_cancelled(&thread);
    });
    assert_eq!(CAME.load(Relaxed), 2);
}

/// Foreign code that calls back: it cannot be unwound.
extern "C" fn foreign(callback: extern "C" fn()) {
    callback();
}

#[test]
fn a_shield_lets_foreign_frames_return() {
    static RETURNED: AtomicU32 = AtomicU32::new(0);
    extern "C" fn callback() {
        sleep(Duration::from_millis(1));
    }
    check(|| {
        let thread = fork(|| {
            shield(|| foreign(callback));
            RETURNED.store(1, Relaxed);
            test_cancel();
        });
        let thread = thread.unwrap();
        yield_now();
        thread.cancel().unwrap();
        is_joined_cancelled(&thread);
    });
    assert_eq!(RETURNED.load(Relaxed), 1);
}

#[test]
fn who_catches_the_unwinding_is_unwound_again_where_it_waits_next() {
    static CAUGHT: AtomicU32 = AtomicU32::new(0);
    check(|| {
        ends_in(|| {
            for _ in 0..3 {
                std::panic::catch_unwind(|| sleep(LONG)).unwrap_err();
                CAUGHT.fetch_add(1, Relaxed);
            }
            sleep(LONG);
        });
    });
    assert_eq!(CAUGHT.load(Relaxed), 3);
}

#[test]
fn what_blocks_elsewhere_is_waited_for() {
    static DONE: AtomicU32 = AtomicU32::new(0);
    check(|| {
        let thread = fork(|| {
            let blocks = || {
                std::thread::sleep(Duration::from_millis(5));
                DONE.fetch_add(1, Relaxed);
            };
            block(blocks).unwrap();
            block(blocks).unwrap();
        });
        let thread = thread.unwrap();
        yield_now();
        thread.cancel().unwrap();
        is_joined_cancelled(&thread);
    });
    assert_eq!(DONE.load(Relaxed), 1);
}

#[test]
fn a_thread_s_locals_may_wait_when_they_are_dropped_whatever_was_cancelled() {
    static DROPPED: AtomicU32 = AtomicU32::new(0);
    struct Waits;
    impl Drop for Waits {
        fn drop(&mut self) {
            sleep(Duration::from_millis(1));
            DROPPED.fetch_add(1, Relaxed);
        }
    }
    static LOCAL: Local<Waits> = Local::new(|| Waits);
    check(|| {
        ends_in(|| {
            LOCAL.with(|_| ());
            sleep(LONG);
        });
    });
    assert_eq!(DROPPED.load(Relaxed), 1);
}

#[test]
fn what_came_before_the_cancel_is_not_lost() {
    static PERMITS: Semaphore = Semaphore::new(0);
    check(|| {
        let permit = fork(|| PERMITS.acquire()).unwrap();
        let slept = fork(|| sleep(Duration::from_millis(1))).unwrap();
        let awaited = fork(is_late).unwrap();
        yield_now();
        std::thread::sleep(Duration::from_millis(6));
        // Has the yield look at the clock. Who yields goes on before whom it finds so.
        at_each_switch(|| false);
        yield_now();
        PERMITS.release();
        for cancelled in [permit.cancel(), slept.cancel(), awaited.cancel()] {
            cancelled.unwrap();
        }
        permit.join().unwrap();
        slept.join().unwrap();
        assert!(awaited.join().unwrap());
    });
}

#[test]
fn a_permit_of_a_thread_that_panics_or_is_cancelled_is_given_back() {
    static PERMITS: Semaphore = Semaphore::new(1);
    check(|| {
        let waits = fork(|| {
            let _permit = PERMITS.permit();
            sleep(LONG);
        });
        let waits = waits.unwrap();
        yield_now();
        assert!(!PERMITS.try_acquire());
        waits.cancel().unwrap();
        is_joined_cancelled(&waits);
        let panics = fork(|| {
            let _permit = PERMITS.permit();
            panic!("with a permit");
        });
        assert!(matches!(panics.unwrap().join(), Err(JoinError::Panicked(_))));
        drop(PERMITS.permit());
        assert!(PERMITS.try_acquire() && !PERMITS.try_acquire());
    });
}
