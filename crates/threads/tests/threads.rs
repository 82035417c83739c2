//! What programs rely on: fork and join, locks, and what is refused. One fact a test.

mod stacks;

use std::cell::RefCell;
use std::error::Error;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::time::Duration;

use nearcall_threads::{
    Condition, ForkError, JoinError, Mutex, Once, Outside, Policy, Ready, RunError, RwLock,
    STACK_BYTES_MIN, Semaphore, Setup, Title, fork, name, named, report, run, sleep, yield_now,
};

/// Runs `main` and expects that the run comes to an end.
#[track_caller]
fn check<T: 'static>(main: impl FnOnce() -> T + 'static) -> T {
    run(main).expect("a run that ends")
}

#[test]
fn a_thread_s_result_reaches_join() {
    assert_eq!(check(|| fork(|| "result".to_owned()).unwrap().join().unwrap()), "result");
}

#[test]
fn threads_run_in_the_order_in_which_they_were_forked() {
    let order = check(|| {
        let order = Arc::new(Mutex::new(Vec::new()));
        let forked: Vec<_> = (0..100)
            .map(|number| {
                let order = Arc::clone(&order);
                fork(move || order.lock().unwrap().push(number)).unwrap()
            })
            .collect();
        forked.iter().for_each(|thread| thread.join().unwrap());
        order.lock().unwrap().clone()
    });
    assert_eq!(order, (0..100).collect::<Vec<_>>());
}

#[test]
fn a_yield_lets_the_others_run_first() {
    let order = check(|| {
        let order = Arc::new(Mutex::new(Vec::new()));
        let (one, two) = (Arc::clone(&order), Arc::clone(&order));
        let first = fork(move || {
            one.lock().unwrap().push("first begins");
            yield_now();
            one.lock().unwrap().push("first goes on");
        });
        let second = fork(move || two.lock().unwrap().push("second"));
        first.unwrap().join().unwrap();
        second.unwrap().join().unwrap();
        order.lock().unwrap().clone()
    });
    assert_eq!(order, ["first begins", "second", "first goes on"]);
}

#[test]
fn a_run_ends_when_threads_that_nobody_joins_have_ended() {
    static ENDED: AtomicU32 = AtomicU32::new(0);
    check(|| {
        for _ in 0..10 {
            drop(fork(|| {
                yield_now();
                ENDED.fetch_add(1, Relaxed);
            }));
        }
    });
    assert_eq!(ENDED.load(Relaxed), 10);
}

#[test]
fn a_panic_reaches_join_and_no_other_thread() {
    let (joined, other) = check(|| {
        let panics = fork(|| panic!("on purpose")).unwrap();
        let other = fork(|| 5).unwrap();
        (panics.join(), other.join().unwrap())
    });
    let Err(JoinError::Panicked(payload)) = joined else { panic!("{joined:?}") };
    assert_eq!((payload.message().as_deref(), other), (Some("on purpose"), 5));
    assert_eq!(payload.into_inner().downcast_ref::<&str>(), Some(&"on purpose"));
}

#[test]
fn an_error_of_a_join_names_the_thread() {
    for processors in [1, 2] {
        let joined = Setup::default().processors(processors).run(|| {
            let panics = named("reader").fork(|| -> () { panic!("on purpose") }).unwrap();
            let cancelled = named("writer").fork(|| sleep(Duration::MAX / 4)).unwrap();
            let numbers = (panics.number().unwrap(), cancelled.number().unwrap());
            cancelled.cancel().unwrap();
            // Another one may have the record by then.
            let panicked = panics.join().unwrap_err();
            drop(fork(|| ()));
            (numbers, panicked, cancelled.join().unwrap_err())
        });
        let ((reader, writer), panicked, cancelled) = joined.unwrap();
        assert_eq!(
            panicked.to_string(),
            format!("FastThread {reader} `reader` panicked: on purpose")
        );
        assert_eq!(format!("{cancelled:?}"), format!("FastThread {writer} `writer` was cancelled"));
        assert_eq!(cancelled.thread().map(Title::number), Some(writer));
    }
}

#[test]
fn errors_are_returned_where_any_error_is() {
    fn any() -> Result<(), Box<dyn Error + Send + Sync>> {
        run(|| {
            let child = fork(|| panic!("on purpose"))?;
            child.join()?;
            Ok(())
        })?
    }
    assert_eq!(any().unwrap_err().to_string(), "FastThread 2 panicked: on purpose");
}

#[test]
fn a_panic_of_the_first_thread_reaches_the_caller_of_run() {
    let run = catch_unwind(|| run(|| panic!("on purpose")));
    assert_eq!(run.unwrap_err().downcast_ref::<&str>(), Some(&"on purpose"));
}

#[test]
fn what_a_panicking_thread_has_is_dropped() {
    let shared = Arc::new(());
    let theirs = Arc::clone(&shared);
    check(move || {
        let joined = fork(move || {
            let _theirs = theirs;
            panic!("on purpose");
        });
        assert!(joined.unwrap().join().is_err());
    });
    assert_eq!(Arc::strong_count(&shared), 1);
}

#[test]
fn a_backtrace_ends_at_the_thread_s_first_frame() {
    let text = check(|| {
        let thread = fork(|| std::backtrace::Backtrace::force_capture().to_string());
        thread.unwrap().join().unwrap()
    });
    assert!(text.contains("nearcall_threads::fork::start"), "{text}");
    assert!(text.lines().count() < 100, "{text}");
}

#[test]
fn a_result_that_nobody_joins_is_dropped() {
    let shared = Arc::new(());
    let before = Arc::clone(&shared);
    let after = Arc::clone(&shared);
    check(move || {
        drop(fork(move || before));
        let ended = fork(move || after).unwrap();
        yield_now();
        drop(ended);
    });
    assert_eq!(Arc::strong_count(&shared), 1);
}

#[test]
fn a_second_join_is_an_error() {
    let joined = check(|| {
        let thread = fork(|| ()).unwrap();
        (thread.join(), thread.join())
    });
    assert!(matches!(joined, (Ok(()), Err(JoinError::AlreadyJoined))), "{joined:?}");
}

#[test]
fn a_join_of_oneself_is_an_error() {
    let joined = check(|| {
        let own = Arc::new(Mutex::new(None));
        let theirs = Arc::clone(&own);
        let thread = fork(move || {
            let thread: Option<nearcall_threads::Forked<()>> = theirs.lock().unwrap().take();
            JOINED.with(|joined| joined.replace(Some(thread.unwrap().join())));
        });
        *own.lock().unwrap() = Some(thread.unwrap());
        yield_now();
        JOINED.with(RefCell::take)
    });
    thread_local! {
        static JOINED: RefCell<Option<Result<(), JoinError>>> = const { RefCell::new(None) };
    }
    assert!(matches!(joined, Some(Err(JoinError::JoinsItself(_)))), "{joined:?}");
}

#[test]
fn a_thread_forked_outside_a_run_is_an_error() {
    let forked = fork(|| ());
    assert!(matches!(forked, Err(ForkError::Outside(Outside::KernelThread))), "{forked:?}");
}

#[test]
fn a_join_outside_the_run_is_an_error_and_leaves_the_thread() {
    let (thread, joined) = check(|| {
        let thread = fork(|| 5).unwrap();
        let elsewhere = std::thread::spawn(move || {
            let joined = thread.join();
            (thread, joined)
        });
        let (thread, joined) = elsewhere.join().unwrap();
        (thread.join(), joined)
    });
    assert!(matches!(joined, Err(JoinError::Outside(Outside::KernelThread))), "{joined:?}");
    assert_eq!(thread.unwrap(), 5);
}

#[test]
fn a_result_that_is_dropped_outside_the_run_is_dropped_once() {
    let shared = Arc::new(());
    let (during, after) = (Arc::clone(&shared), Arc::clone(&shared));
    let left = check(move || {
        let thread = fork(move || during).unwrap();
        std::thread::spawn(move || drop(thread)).join().unwrap();
        let left = fork(move || after).unwrap();
        yield_now();
        left
    });
    assert_eq!(Arc::strong_count(&shared), 2);
    drop(left);
    assert_eq!(Arc::strong_count(&shared), 1);
}

#[test]
fn a_run_within_a_run_is_an_error() {
    assert!(matches!(check(|| run(|| ())), Err(RunError::InsideRun)));
}

#[test]
fn a_stack_that_is_too_small_is_an_error() {
    let error = Setup::default().stack_bytes(4096).run(|| ()).unwrap_err();
    assert_eq!(error.to_string(), "a stack has 65536 to 1099511627776 bytes, not 4096");
}

#[test]
fn a_closure_that_fills_the_stack_is_an_error() {
    let error = Setup::default().stack_bytes(STACK_BYTES_MIN).run(|| {
        let long = [7_u8; STACK_BYTES_MIN / 2];
        fork(move || long.len()).unwrap_err().to_string()
    });
    let error = error.unwrap();
    assert!(error.contains("takes 32768 bytes") && error.contains("at most 16384"), "{error}");
}

#[test]
fn names_are_the_threads_own() {
    let names = check(|| {
        let named = named("reader").fork(name).unwrap();
        let nameless = fork(name).unwrap();
        (name(), named.join().unwrap(), nameless.join().unwrap())
    });
    assert_eq!(names, (Some("main".to_owned()), Some("reader".to_owned()), None));
}

#[test]
fn a_lock_excludes_and_is_given_in_order() {
    let order = check(|| {
        let order = Arc::new(Mutex::new(Vec::new()));
        let guard = order.lock().unwrap();
        let threads: Vec<_> = (0..10)
            .map(|number| {
                let order = Arc::clone(&order);
                fork(move || order.lock().unwrap().push(number)).unwrap()
            })
            .collect();
        yield_now();
        assert!(guard.is_empty(), "a thread has locked what was locked");
        drop(guard);
        threads.iter().for_each(|thread| thread.join().unwrap());
        Arc::into_inner(order).unwrap().into_inner().unwrap()
    });
    assert_eq!(order, (0..10).collect::<Vec<_>>());
}

#[test]
fn a_lock_that_is_taken_is_not_taken_by_a_try() {
    check(|| {
        let mutex = Mutex::new(());
        let guard = mutex.lock().unwrap();
        assert!(mutex.try_lock().is_none());
        drop(guard);
        assert!(mutex.try_lock().is_some());
    });
}

#[test]
fn a_panic_under_a_lock_poisons_it_until_somebody_says_it_is_good() {
    check(|| {
        let mutex = Arc::new(Mutex::new(1));
        let theirs = Arc::clone(&mutex);
        let thread = fork(move || {
            let _guard = theirs.lock().unwrap();
            panic!("on purpose");
        });
        assert!(thread.unwrap().join().is_err());
        assert!(mutex.is_poisoned());
        assert_eq!(**mutex.lock().unwrap_err().get_ref(), 1);
        mutex.clear_poison();
        assert_eq!(*mutex.lock().unwrap(), 1);
    });
}

#[test]
fn a_lock_that_the_caller_has_is_refused() {
    let text = check(|| {
        let mutex = Mutex::new(());
        let _guard = mutex.lock().unwrap();
        let again = catch_unwind(AssertUnwindSafe(|| drop(mutex.lock())));
        again.unwrap_err().downcast_ref::<String>().cloned()
    });
    assert_eq!(text.unwrap(), "FastThread 1 `main` locks a mutex that it has already");
}

/// What `body` panics with.
fn refusal(body: impl FnOnce()) -> String {
    let panicked = catch_unwind(AssertUnwindSafe(body)).expect_err("it is refused");
    panicked.downcast_ref::<String>().cloned().expect("it says why")
}

#[test]
fn a_lock_that_the_caller_may_write_is_refused() {
    check(|| {
        let lock = RwLock::new(());
        let guard = lock.write();
        let want = "FastThread 1 `main` locks a rwlock that it may write already";
        assert_eq!(refusal(|| drop(lock.read())), want);
        assert_eq!(refusal(|| drop(lock.write())), want);
        drop(guard);
        drop(lock.read().unwrap());
    });
}

#[test]
fn a_value_that_is_made_of_itself_is_refused() {
    check(|| {
        let once = Once::new();
        let text = refusal(|| {
            once.value(|| *once.value(|| 1) + 1);
        });
        assert_eq!(text, "FastThread 1 `main` makes a value, for which it needs the value");
        assert_eq!(*once.value(|| 5), 5, "the next who asks makes it");
    });
}

#[test]
fn a_permit_that_cannot_be_counted_is_refused_and_none_is_lost() {
    check(|| {
        let semaphore = Semaphore::new(usize::MAX);
        let text = refusal(|| semaphore.release());
        assert!(text.contains(&format!("{} permits left", usize::MAX)), "{text}");
        assert!(semaphore.try_acquire());
    });
}

#[test]
fn a_lock_is_refused_to_kernel_threads_and_to_other_runs() {
    static MUTEX: Mutex<()> = Mutex::new(());
    let elsewhere = |what: fn()| {
        let outcome = std::thread::spawn(move || catch_unwind(what)).join().unwrap();
        outcome.unwrap_err().downcast_ref::<String>().cloned().unwrap()
    };
    check(move || {
        drop(MUTEX.lock());
        let text = elsewhere(|| drop(MUTEX.lock()));
        assert!(text.contains("is a kernel thread"), "{text}");
        let text = elsewhere(|| drop(run(|| drop(MUTEX.lock()))));
        assert!(text.contains("of another run"), "{text}");
    });
    check(|| drop(MUTEX.lock()));
}

#[test]
fn a_signal_wakes_one_and_a_broadcast_all() {
    check(|| {
        let shared = Arc::new((Mutex::new(0), Condition::new()));
        let threads: Vec<_> = (0..3)
            .map(|_| {
                let shared = Arc::clone(&shared);
                fork(move || {
                    let guard = shared.1.wait(shared.0.lock().unwrap());
                    *guard.unwrap() += 1;
                })
            })
            .collect();
        let woken = || {
            yield_now();
            *shared.0.lock().unwrap()
        };
        assert_eq!(woken(), 0);
        shared.1.signal();
        assert_eq!(woken(), 1);
        shared.1.broadcast();
        assert_eq!(woken(), 3);
        threads.into_iter().for_each(|thread| thread.unwrap().join().unwrap());
    });
}

#[test]
fn a_semaphore_gives_as_many_permits_as_it_has() {
    check(|| {
        let semaphore = Arc::new(Semaphore::new(2));
        assert!(semaphore.try_acquire() && semaphore.try_acquire());
        assert!(!semaphore.try_acquire());
        let theirs = Arc::clone(&semaphore);
        let thread = fork(move || theirs.acquire()).unwrap();
        yield_now();
        semaphore.release();
        // It went to the thread that waited.
        assert!(!semaphore.try_acquire());
        thread.join().unwrap();
    });
}

#[test]
fn readers_share_and_a_writer_is_alone_and_first_come_is_first_served() {
    let order = check(|| {
        let lock = Arc::new(RwLock::new(Vec::new()));
        let reader = lock.read().unwrap();
        let second_reader = lock.read().unwrap();
        let theirs = Arc::clone(&lock);
        let writer = fork(move || theirs.write().unwrap().push("writer")).unwrap();
        yield_now();
        let theirs = Arc::clone(&lock);
        let late_reader = fork(move || theirs.read().unwrap().clone()).unwrap();
        yield_now();
        drop((reader, second_reader));
        writer.join().unwrap();
        late_reader.join().unwrap()
    });
    assert_eq!(order, ["writer"]);
}

#[test]
fn a_panic_while_writing_poisons_and_one_while_reading_does_not() {
    check(|| {
        let lock = Arc::new(RwLock::new(1));
        let theirs = Arc::clone(&lock);
        let reads = fork(move || {
            let _guard = theirs.read().unwrap();
            panic!("on purpose");
        });
        assert!(reads.unwrap().join().is_err() && lock.read().is_ok());
        let theirs = Arc::clone(&lock);
        let writes = fork(move || {
            let _guard = theirs.write().unwrap();
            panic!("on purpose");
        });
        assert!(writes.unwrap().join().is_err() && lock.read().is_err() && lock.is_poisoned());
        lock.clear_poison();
        assert!(lock.read().is_ok() && lock.try_write().unwrap().is_ok());
        assert_eq!(Arc::into_inner(lock).unwrap().into_inner().unwrap(), 1);
    });
}

#[test]
fn a_try_reads_beside_readers_and_goes_before_nobody_who_waits() {
    check(|| {
        let lock = Arc::new(RwLock::new(0));
        let reader = lock.read().unwrap();
        assert!(lock.try_read().is_some() && lock.try_write().is_none());
        let theirs = Arc::clone(&lock);
        let writer = fork(move || *theirs.write().unwrap() += 1).unwrap();
        yield_now();
        assert!(lock.try_read().is_none(), "a writer waits");
        drop(reader);
        assert!(lock.try_write().is_none(), "it is the writer's now");
        writer.join().unwrap();
        assert_eq!(*lock.try_write().unwrap().unwrap(), 1);
    });
}

#[test]
fn a_report_says_what_each_thread_waits_for() {
    let report = check(|| {
        let mutex = Arc::new(Mutex::new(()));
        let guard = mutex.lock().unwrap();
        let theirs = Arc::clone(&mutex);
        let thread = named("waiter").fork(move || drop(theirs.lock())).unwrap();
        yield_now();
        let report = report();
        drop(guard);
        thread.join().unwrap();
        report.to_string()
    });
    let want = "FastThread 1 `main` runs or is ready\n\
                FastThread 2 `waiter` waits for a mutex that FastThread 1 `main` has\n";
    assert_eq!(report, want);
}

#[test]
fn a_deadlock_is_reported_with_names_and_what_each_waits_for() {
    let outcome = run(|| {
        let locks = Arc::new((Mutex::new(()), Mutex::new(())));
        let theirs = Arc::clone(&locks);
        let first = locks.0.lock().unwrap();
        let other = named("other").fork(move || {
            let _second = theirs.1.lock().unwrap();
            drop(theirs.0.lock());
        });
        yield_now();
        let second = locks.1.lock().unwrap();
        drop((first, second));
        other.unwrap().join().unwrap();
    });
    let shown = format!("{outcome:?}");
    let Err(RunError::Deadlock(report)) = outcome else { panic!("{shown}") };
    let want = "FastThread 1 `main` waits for a mutex that FastThread 2 `other` has\n\
                FastThread 2 `other` waits for a mutex that FastThread 1 `main` has\n";
    assert_eq!(report.to_string(), want);
    assert!(shown.contains(want), "{shown}");
}

#[test]
fn a_hundred_thousand_threads_wait_and_are_woken() {
    let count = stacks::at_most(100_000);
    let woken = Setup::default().stack_bytes(STACK_BYTES_MIN).run(move || {
        let shared = Arc::new((Mutex::new(0), Condition::new()));
        let threads: Vec<_> = (0..count)
            .map(|_| {
                let shared = Arc::clone(&shared);
                fork(move || *shared.1.wait(shared.0.lock().unwrap()).unwrap() += 1).unwrap()
            })
            .collect();
        yield_now();
        shared.1.broadcast();
        threads.iter().for_each(|thread| thread.join().unwrap());
        *shared.0.lock().unwrap()
    });
    assert_eq!(woken.unwrap(), count);
}

#[test]
fn the_application_may_decide_who_runs_next() {
    /// Names in their order, and nameless threads after them.
    #[derive(Default)]
    struct ByName(Vec<Ready>);
    impl Policy for ByName {
        fn add(&mut self, thread: Ready) {
            self.0.push(thread);
            self.0.sort_by_key(|thread| std::cmp::Reverse((thread.name(), thread.number())));
        }
        fn next(&mut self) -> Option<Ready> {
            self.0.pop()
        }
    }
    let order = Setup::default().policy(ByName::default).run(|| {
        let order = Arc::new(Mutex::new(String::new()));
        let threads = ["c", "a", "d", "b"].map(|name| {
            let order = Arc::clone(&order);
            named(name).fork(move || order.lock().unwrap().push_str(name)).unwrap()
        });
        threads.iter().for_each(|thread| thread.join().unwrap());
        order.lock().unwrap().clone()
    });
    assert_eq!(order.unwrap(), "abcd");
}

#[test]
fn who_waits_for_readers_is_told_how_many_they_are() {
    for (count, says) in [(1, "a rwlock with one reader"), (2, "a rwlock with 2 readers")] {
        let outcome = run(move || {
            let lock = RwLock::new(());
            let read: Vec<_> = (0..count).map(|_| lock.read().unwrap()).collect();
            drop((lock.write(), read));
        });
        let Err(RunError::Deadlock(report)) = outcome else { panic!("{outcome:?}") };
        assert!(report.to_string().contains(says), "{report}");
    }
}
