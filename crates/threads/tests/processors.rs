//! Runs with several processors: what moves, what stays, and what goes from one to another.

use std::cell::Cell;
use std::hint::spin_loop;
use std::sync::Arc;
use std::sync::atomic::{
    AtomicBool, AtomicU32,
    Ordering::{Relaxed, SeqCst},
};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

use nearcall_threads::{
    Condition, Forked, Local, Mutex, Once, Policy, Ready, RunError, RwLock, Semaphore, Setup,
    block, fork, named, report, scope, sleep, yield_now,
};

/// Runs `main` on so many processors and expects that the run comes to an end.
#[track_caller]
fn check<T: 'static>(processors: usize, main: impl FnOnce() -> T + 'static) -> T {
    Setup::default().processors(processors).run(main).expect("a run that ends")
}

fn spin_until(flag: &AtomicBool) {
    while !flag.load(SeqCst) {
        spin_loop();
    }
}

/// Forks a thread that begins on another processor than the caller's, because the caller does not
/// yield before that.
fn fork_elsewhere<T: Send + 'static>(body: impl FnOnce() -> T + Send + 'static) -> Forked<T> {
    let begun = Arc::new(AtomicBool::new(false));
    let theirs = Arc::clone(&begun);
    let forked = named("elsewhere").fork(move || {
        theirs.store(true, SeqCst);
        body()
    });
    spin_until(&begun);
    forked.unwrap()
}

fn kernel_thread() -> ThreadId {
    thread::current().id()
}

#[test]
fn what_has_not_begun_moves_from_a_thread_that_never_yields() {
    let (ours, theirs) = check(2, || {
        let other = fork_elsewhere(kernel_thread);
        (kernel_thread(), other.join().unwrap())
    });
    assert_ne!(ours, theirs);
}

#[test]
fn a_processor_that_is_stuck_is_counted_by_who_takes_its_threads() {
    check(2, || {
        let mut late = 0;
        while late == 0 {
            // Long enough for the other processor to fall asleep.
            thread::sleep(Duration::from_millis(5));
            late = fork_elsewhere(|| report().late()).join().unwrap();
        }
    });
}

#[test]
fn what_has_begun_stays() {
    thread_local! {
        static COUNT: Cell<u32> = const { Cell::new(0) };
    }
    let moved: u32 = check(3, || {
        let stays = || {
            let begun_on = kernel_thread();
            COUNT.with(|count| {
                // Held while others run here: no other kernel thread has it.
                let ours = count.get();
                count.set(ours + 1);
                (0..100).for_each(|_| yield_now());
                assert_ne!(count.get(), ours);
            });
            u32::from(kernel_thread() != begun_on)
        };
        let threads: Vec<_> = (0..300).map(|_| fork(stays).unwrap()).collect();
        threads.iter().map(|thread| thread.join().unwrap()).sum()
    });
    assert_eq!(moved, 0);
}

#[test]
fn a_yield_lets_what_was_forked_here_run_before() {
    check(2, || {
        let order = Arc::new(Mutex::new(Vec::new()));
        // The other processor has something else to do.
        let stop = Arc::new(AtomicBool::new(false));
        let theirs = Arc::clone(&stop);
        let busy = fork_elsewhere(move || spin_until(&theirs));
        let forked = [1, 2].map(|number| {
            let order = Arc::clone(&order);
            fork(move || order.lock().unwrap().push(number)).unwrap()
        });
        yield_now();
        order.lock().unwrap().push(3);
        stop.store(true, SeqCst);
        busy.join().unwrap();
        forked.iter().for_each(|thread| thread.join().unwrap());
        assert_eq!(*order.lock().unwrap(), [1, 2, 3]);
    });
}

#[test]
fn a_mutex_admits_one_thread_of_all_processors() {
    const THREADS: u32 = 50;
    const TIMES: u32 = 200;
    let count = check(3, || {
        let count = Arc::new(Mutex::new(0));
        let adds = || {
            let count = Arc::clone(&count);
            fork(move || {
                for time in 0..TIMES {
                    let mut guard = count.lock().unwrap();
                    let before = *guard;
                    if time % 16 == 0 {
                        yield_now();
                    }
                    *guard = before + 1;
                }
            })
        };
        let threads: Vec<_> = (0..THREADS).map(|_| adds().unwrap()).collect();
        threads.iter().for_each(|thread| thread.join().unwrap());
        *count.lock().unwrap()
    });
    assert_eq!(count, THREADS * TIMES);
}

#[test]
fn signals_go_to_threads_of_other_processors() {
    const TURNS: u32 = 500;
    check(2, || {
        let shared = Arc::new((Mutex::new(0_u32), Condition::new()));
        let theirs = Arc::clone(&shared);
        let take_turns = |shared: &(Mutex<u32>, Condition), parity| {
            for _ in 0..TURNS {
                let turn = shared.0.lock().unwrap();
                let mut turn = shared.1.wait_while(turn, |turn| *turn % 2 != parity).unwrap();
                *turn += 1;
                shared.1.broadcast();
            }
        };
        let other = fork_elsewhere(move || take_turns(&theirs, 1));
        take_turns(&shared, 0);
        other.join().unwrap();
        assert_eq!(*shared.0.lock().unwrap(), 2 * TURNS);
    });
}

#[test]
fn permits_turns_to_read_and_values_go_between_processors() {
    static MADE: AtomicU32 = AtomicU32::new(0);
    let sum: u32 = check(3, || {
        let shared = Arc::new((Semaphore::new(2), RwLock::new(0_u32), Once::new()));
        let uses = || {
            let shared = Arc::clone(&shared);
            fork(move || {
                let (permits, lock, once) = &*shared;
                let made = *once.value(|| {
                    yield_now();
                    MADE.fetch_add(1, SeqCst) + 1
                });
                permits.acquire();
                *lock.write().unwrap() += made;
                yield_now();
                permits.release();
                assert!(*lock.read().unwrap() >= made);
            })
        };
        let threads: Vec<_> = (0..200).map(|_| uses().unwrap()).collect();
        threads.iter().for_each(|thread| thread.join().unwrap());
        *shared.1.read().unwrap()
    });
    assert_eq!((sum, MADE.load(SeqCst)), (200, 1));
}

#[test]
fn results_and_panics_come_from_other_processors_and_what_nobody_wants_is_dropped() {
    static DROPPED: AtomicU32 = AtomicU32::new(0);
    struct Counts;
    impl Drop for Counts {
        fn drop(&mut self) {
            DROPPED.fetch_add(1, SeqCst);
        }
    }
    check(2, || {
        let text = fork_elsewhere(|| "result".to_owned());
        assert_eq!(text.join().unwrap(), "result");
        let panics = fork_elsewhere(|| panic!("on purpose"));
        let want =
            format!("FastThread {} `elsewhere` panicked: on purpose", panics.number().unwrap());
        assert_eq!(panics.join().unwrap_err().to_string(), want);
        for _ in 0..100 {
            drop(fork(|| Counts).unwrap());
            drop(fork_elsewhere(|| Counts));
        }
    });
    assert_eq!(DROPPED.load(SeqCst), 200);
}

#[test]
fn what_a_thread_of_another_processor_has_done_is_there_when_it_is_finished() {
    check(2, || {
        let (go_on, done) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
        let (wanted, theirs) = (Arc::clone(&go_on), Arc::clone(&done));
        let thread = fork_elsewhere(move || {
            spin_until(&wanted);
            // Relaxed: being finished says that it is there.
            theirs.store(true, Relaxed);
        });
        assert!(!thread.is_finished());
        go_on.store(true, SeqCst);
        while !thread.is_finished() {
            spin_loop();
        }
        assert!(done.load(Relaxed));
    });
}

#[test]
fn any_processor_s_thread_joins() {
    fn sum(levels: u32) -> u32 {
        if levels == 0 {
            return 1;
        }
        let halves =
            [fork(move || sum(levels - 1)).unwrap(), fork(move || sum(levels - 1)).unwrap()];
        halves.iter().map(|half| half.join().unwrap()).sum()
    }
    assert_eq!(check(4, || sum(10)), 1024);
}

#[test]
fn threads_of_every_processor_sleep_block_and_have_locals() {
    static NUMBER: Local<Cell<u32>> = Local::new(|| Cell::new(0));
    let begin = Instant::now();
    let sum: u32 = check(3, || {
        let waits = |number: u32| {
            move || {
                NUMBER.with(|local| local.set(number));
                sleep(Duration::from_millis(u64::from(number % 5)));
                block(|| thread::sleep(Duration::from_millis(1))).unwrap();
                NUMBER.with(Cell::get)
            }
        };
        let threads: Vec<_> = (0..60).map(|number| fork(waits(number)).unwrap()).collect();
        threads.iter().map(|thread| thread.join().unwrap()).sum()
    });
    assert_eq!(sum, 59 * 60 / 2);
    assert!(begin.elapsed() >= Duration::from_millis(5));
}

#[test]
fn a_run_lasts_until_the_threads_of_every_processor_have_ended() {
    static ENDED: AtomicU32 = AtomicU32::new(0);
    for ends in 1..=50 {
        check(2, || {
            drop(fork_elsewhere(|| {
                sleep(Duration::from_micros(300));
                drop(fork(|| ENDED.fetch_add(1, SeqCst)));
            }));
        });
        assert_eq!(ENDED.load(SeqCst), ends);
    }
}

#[test]
fn a_deadlock_of_threads_of_two_processors_is_reported() {
    let outcome = Setup::default().processors(2).run(|| {
        let locks = Arc::new((Mutex::new(()), Mutex::new(())));
        let theirs = Arc::clone(&locks);
        let first = locks.0.lock().unwrap();
        let has_second = Arc::new(AtomicBool::new(false));
        let tells = Arc::clone(&has_second);
        let other = fork_elsewhere(move || {
            let _second = theirs.1.lock().unwrap();
            tells.store(true, SeqCst);
            drop(theirs.0.lock());
        });
        spin_until(&has_second);
        let second = locks.1.lock().unwrap();
        drop((first, second));
        other.join().unwrap();
    });
    let Err(RunError::Deadlock(report)) = outcome else { panic!("{outcome:?}") };
    let want = "FastThread 1 `main` waits for a mutex that FastThread 3 `elsewhere` has\n\
                FastThread 3 `elsewhere` waits for a mutex that FastThread 1 `main` has\n";
    assert_eq!(report.to_string(), want);
}

#[test]
fn each_processor_has_a_policy_of_its_own() {
    static MADE: AtomicU32 = AtomicU32::new(0);
    struct Last(Vec<Ready>);
    impl Policy for Last {
        fn add(&mut self, thread: Ready) {
            self.0.push(thread);
        }
        fn next(&mut self) -> Option<Ready> {
            self.0.pop()
        }
    }
    let make = || {
        MADE.fetch_add(1, SeqCst);
        Last(Vec::new())
    };
    let setup = Setup::default().processors(2).policy(make);
    let sum = setup.run(|| {
        let elsewhere = fork_elsewhere(|| {
            let threads: Vec<_> = (0..10_u32).map(|number| fork(move || number).unwrap()).collect();
            threads.iter().map(|thread| thread.join().unwrap()).sum::<u32>()
        });
        elsewhere.join().unwrap()
    });
    assert_eq!((sum.unwrap(), MADE.load(SeqCst)), (45, 2));
}

#[test]
fn a_run_has_a_processor_and_not_too_many() {
    for processors in [0, 1025] {
        let error = Setup::default().processors(processors).run(|| ()).unwrap_err();
        let want = format!("{processors} processors are not between 1 and 1024");
        assert_eq!(error.to_string(), want);
    }
}

#[test]
fn signals_and_times_meet_on_two_processors_and_each_wait_ends_by_one_of_them() {
    const WAITS: u32 = 2_000;
    /// Waits that have ended, and signals.
    #[derive(Default)]
    struct Counts {
        waits: u32,
        signals: u32,
    }
    let ended = check(2, || {
        let shared = Arc::new((Mutex::new(Counts::default()), Condition::new()));
        let theirs = Arc::clone(&shared);
        // Some of them come in time. With the lock, so that who waits sees each counted.
        let signals = fork_elsewhere(move || {
            loop {
                let mut counts = theirs.0.lock().unwrap();
                if counts.waits == WAITS {
                    break;
                }
                counts.signals += 1;
                theirs.1.signal();
                drop(counts);
                spin_loop();
            }
        });
        let mut ended = 0;
        for number in 0..WAITS {
            let timeout = Duration::from_nanos(u64::from(number % 64) * 100);
            let counts = shared.0.lock().unwrap();
            let (before, begin) = (counts.signals, Instant::now());
            let (mut counts, result) = shared.1.wait_timeout(counts, timeout).unwrap();
            // Not by a signal, or a time, of a wait before it.
            ended += u32::from(match result.timed_out() {
                true => begin.elapsed() >= timeout,
                false => counts.signals > before,
            });
            counts.waits += 1;
        }
        signals.join().unwrap();
        ended
    });
    assert_eq!(ended, WAITS);
}

#[test]
fn permits_and_times_meet_on_two_processors_and_each_permit_is_had_or_left() {
    const WAITS: u32 = 1_000;
    let had = check(2, || {
        let (permits, asked, given) = (Semaphore::new(0), AtomicU32::new(0), AtomicU32::new(0));
        let give = |number| {
            while asked.load(SeqCst) != number {
                spin_loop();
            }
            (0..number * 37 % 64 * 16).for_each(|_| spin_loop());
            permits.release();
            given.store(number, SeqCst);
        };
        scope(|scope| {
            drop(scope.fork(|| (1..=WAITS).for_each(give)).unwrap());
            let mut had = 0;
            for number in 1..=WAITS {
                asked.store(number, SeqCst);
                // Does not yield before the first, so that those are given elsewhere.
                while number == 1 && given.load(SeqCst) == 0 {
                    spin_loop();
                }
                let timeout = Duration::from_nanos(u64::from(number % 64) * 100);
                let is_ours = permits.acquire_timeout(timeout);
                while given.load(SeqCst) != number {
                    spin_loop();
                }
                assert_eq!(permits.try_acquire(), !is_ours, "a permit is lost or was given twice");
                had += u32::from(is_ours);
            }
            had
        })
    });
    assert!((1..WAITS).contains(&had), "{had} of {WAITS} permits were had in time");
}
