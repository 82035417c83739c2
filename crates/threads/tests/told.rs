//! What users of FastThreads are told: by refusals, by reports, and by `Debug`.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use nearcall_threads::{
    Condition, ForkError, Forked, Local, Mutex, Once, Outside, Policy, Ready, RunError, RwLock,
    Semaphore, Setup, fork, named, number, report, run, scope, sleep, yield_now,
};

/// Runs `main` and expects that the run comes to an end.
#[track_caller]
fn check<T: 'static>(main: impl FnOnce() -> T + 'static) -> T {
    run(main).expect("a run that ends")
}

/// What the run says whose threads all wait.
#[track_caller]
fn deadlock(setup: Setup, main: impl FnOnce() + 'static) -> String {
    let outcome = setup.run(main);
    assert!(matches!(outcome, Err(RunError::Deadlock(_))), "{outcome:?}");
    outcome.unwrap_err().to_string()
}

/// What a run says whose thread panics.
#[track_caller]
fn refusal(main: impl FnOnce() + 'static) -> String {
    let payload = catch_unwind(AssertUnwindSafe(|| run(main))).expect_err("a panic");
    payload.downcast_ref::<String>().expect("a text").clone()
}

#[test]
fn who_uses_what_is_another_runs_is_told_which_kind_of_thing_it_is() {
    static MUTEX: Mutex<()> = Mutex::new(());
    static RWLOCK: RwLock<()> = RwLock::new(());
    static CONDITION: Condition = Condition::new();
    static SEMAPHORE: Semaphore = Semaphore::new(1);
    static ONCE: Once<u8> = Once::new();
    let (used, is_used) = channel();
    let (end, ends) = channel::<()>();
    let other = thread::spawn(move || {
        run(move || {
            drop((MUTEX.lock(), RWLOCK.read()));
            CONDITION.signal();
            SEMAPHORE.acquire();
            let made = catch_unwind(|| ONCE.value(|| panic!("not this time")));
            assert!(made.is_err());
            used.send(()).unwrap();
            // The run goes on until nobody sends any more.
            let _ = ends.recv();
        })
    });
    is_used.recv().unwrap();
    let told = [
        refusal(|| drop(MUTEX.lock())),
        refusal(|| drop(RWLOCK.write())),
        refusal(|| CONDITION.signal()),
        refusal(|| SEMAPHORE.release()),
        refusal(|| {
            ONCE.value(|| 1);
        }),
    ];
    drop(end);
    other.join().unwrap().unwrap();
    let kinds = ["mutex", "rwlock", "condition", "semaphore", "value that is made once"];
    let want = kinds.map(|kind| format!("a {kind} of FastThreads: {}", Outside::OtherRun));
    assert_eq!(told, want);
}

/// First come, first served, but for threads of the name `lost`.
#[derive(Default)]
struct Loses(std::collections::VecDeque<Ready>);

impl Policy for Loses {
    fn add(&mut self, thread: Ready) {
        if thread.name().as_deref() != Some("lost") {
            self.0.push_back(thread);
        }
    }

    fn next(&mut self) -> Option<Ready> {
        self.0.pop_front()
    }
}

#[test]
fn a_run_whose_policy_loses_a_thread_says_so_and_names_it() {
    let told = deadlock(Setup::default().policy(Loses::default), || {
        let lost = named("lost").fork(|| ()).unwrap();
        fork(|| ()).unwrap().join().unwrap();
        lost.join().unwrap();
    });
    let want = "a policy has not given back what was ready, and nothing else goes on\n\
                FastThread 1 `main` waits for the end of FastThread 2 `lost`\n\
                FastThread 2 `lost` runs or is ready\n";
    assert_eq!(told, want);
}

#[test]
fn a_report_of_many_threads_counts_those_that_wait_for_the_same() {
    static PERMITS: Semaphore = Semaphore::new(0);
    let told = deadlock(Setup::default(), || {
        for _ in 0..1_000 {
            drop(fork(|| PERMITS.acquire()).unwrap());
        }
        let lock = Mutex::new(());
        scope(|scope| {
            let _guard = lock.lock();
            for _ in 0..20 {
                drop(scope.fork(|| drop(lock.lock())).unwrap());
            }
            yield_now();
            PERMITS.acquire();
        });
    });
    let lines: Vec<_> = told.lines().collect();
    assert_eq!(lines.len(), 1 + 64 + 2, "{told}");
    assert_eq!(lines[64], "FastThread 64 waits for a permit of a semaphore");
    let want = [
        "937 more wait for a permit of a semaphore",
        "20 more wait for a mutex that FastThread 1 `main` has",
    ];
    assert_eq!(lines[65..], want);
}

#[test]
fn a_report_of_many_threads_that_wait_for_much_says_how_many_it_does_not_say() {
    let told = deadlock(Setup::default(), || {
        let mut last: Option<Forked<()>> = None;
        let locks: &'static [Mutex<()>] = Vec::leak((0..90).map(|_| Mutex::new(())).collect());
        let _guards: Vec<_> = locks.iter().map(Mutex::lock).collect();
        for lock in locks {
            let before = last.take();
            let waits = move || before.map_or_else(|| drop(lock.lock()), |it| it.join().unwrap());
            last = Some(fork(waits).unwrap());
        }
        last.unwrap().join().unwrap();
    });
    let lines: Vec<_> = told.lines().collect();
    assert_eq!(lines.len(), 1 + 64 + 16 + 1, "{told}");
    assert_eq!(lines[81], "11 more wait for something else each");
}

#[test]
fn a_time_that_does_not_come_is_told_as_such() {
    let told = check(|| {
        let sleeper = fork(|| sleep(Duration::MAX)).unwrap();
        yield_now();
        let told = report().to_string();
        sleeper.cancel().unwrap();
        told
    });
    assert!(told.ends_with("FastThread 2 waits for a time that does not come\n"), "{told}");
}

#[test]
fn who_forks_knows_the_number_that_a_policy_and_a_report_know() {
    assert_eq!(number(), None);
    check(|| {
        let child = fork(number).unwrap();
        let told = child.number();
        assert_eq!((number(), told), (Some(1), Some(2)));
        assert_eq!(report().threads()[1].number, 2);
        assert_eq!(child.join().unwrap(), told);
        assert_eq!(child.number(), None);
        assert_eq!(scope(|scope| scope.fork(|| ()).unwrap().number()), Some(3));
    });
}

#[test]
fn locks_are_made_of_what_they_hold_or_of_nothing() {
    assert_eq!(Mutex::from(3).into_inner().unwrap(), 3);
    assert_eq!(Mutex::<String>::default().into_inner().unwrap(), "");
    assert_eq!(RwLock::from(3).into_inner().unwrap(), 3);
    assert_eq!(RwLock::<String>::default().into_inner().unwrap(), "");
}

#[test]
fn debug_shows_what_a_lock_holds_and_waits_for_nobody() {
    let unseen = "Mutex { value: <locked, or not of this run>, is_poisoned: false }";
    assert_eq!(format!("{:?}", Mutex::new(5)), unseen);
    check(move || {
        let mutex = Mutex::new(5);
        assert_eq!(format!("{mutex:?}"), unseen, "it is no run's yet, nor by this");
        let guard = mutex.lock().unwrap();
        assert_eq!((format!("{mutex:?}"), format!("{guard:?}")), (unseen.into(), "5".into()));
        drop(guard);
        assert_eq!(format!("{mutex:?}"), "Mutex { value: 5, is_poisoned: false }");
        assert!(mutex.try_lock().is_some());

        let rwlock: Box<RwLock<[u8]>> = Box::new(RwLock::new([1, 2]));
        let read = rwlock.read().unwrap();
        assert_eq!(format!("{rwlock:?}"), "RwLock { value: [1, 2], is_poisoned: false }");
        drop(read);
        let written = rwlock.write().unwrap();
        assert!(format!("{rwlock:?}").contains("<locked"));
        drop(written);
    });
}

#[test]
fn debug_shows_of_a_thread_what_the_thread_does_not_write() {
    static LOCAL: Local<u8> = Local::new(|| 1);
    assert_eq!(format!("{LOCAL:?}"), "Local { .. }");
    check(|| {
        let child = fork(|| ()).unwrap();
        assert_eq!(format!("{child:?}"), "Forked { number: Some(2), is_finished: false }");
        child.join().unwrap();
        assert_eq!(format!("{child:?}"), "Forked { number: None, is_finished: true }");
    });
}

#[test]
fn a_fork_that_is_unwrapped_says_what_to_do() {
    check(|| {
        let long = [0_u64; 9_000];
        let error = fork(move || long[0]).expect_err("longer than a quarter of a stack");
        assert!(matches!(error, ForkError::TooLong { bytes: 72_000, bytes_max: 49_152 }));
        assert!(format!("{error:?}").ends_with("put it into a box"), "{error:?}");
    });
}
