//! Runs with several processors: threads that are at home on another one, or nowhere yet.

use std::sync::Arc;
use std::sync::atomic::{
    AtomicBool, AtomicU32,
    Ordering::{Relaxed, SeqCst},
};
use std::time::Duration;

use nearcall_threads::{
    Condition, Forked, JoinError, Mutex, Policy, Ready, Semaphore, Setup, fork, sleep, yield_now,
};

use crate::{LONG, is_joined_cancelled};

/// Runs `main` on so many processors and expects that the run comes to an end.
#[track_caller]
fn check_on(processors: usize, main: impl FnOnce() + 'static) {
    Setup::default().processors(processors).run(main).expect("a run that ends");
}

/// Forks a thread that begins on another processor, and waits there soon.
fn fork_elsewhere<T: Send + 'static>(body: impl FnOnce() -> T + Send + 'static) -> Forked<T> {
    let begun = Arc::new(AtomicU32::new(0));
    let theirs = Arc::clone(&begun);
    let forked = fork(move || {
        theirs.store(1, Relaxed);
        body()
    });
    // Does not yield, so that it begins elsewhere.
    while begun.load(Relaxed) == 0 {
        std::hint::spin_loop();
    }
    forked.unwrap()
}

#[test]
fn threads_of_another_processor_end_there() {
    static PERMITS: Semaphore = Semaphore::new(0);
    static LOCK: Mutex<u32> = Mutex::new(0);
    static TOLD: Condition = Condition::new();
    static LET_GO: Semaphore = Semaphore::new(0);
    check_on(2, || {
        let here = std::thread::current().id();
        let dropped_on = Arc::new(std::sync::Mutex::new(Vec::new()));
        struct Notes(Arc<std::sync::Mutex<Vec<std::thread::ThreadId>>>);
        impl Drop for Notes {
            fn drop(&mut self) {
                self.0.lock().unwrap().push(std::thread::current().id());
            }
        }
        let waits: [fn(); 4] = [
            || sleep(LONG),
            || PERMITS.acquire(),
            || drop(TOLD.wait(LOCK.lock().unwrap())),
            || fork(|| LET_GO.acquire()).unwrap().join().unwrap(),
        ];
        let threads = waits.map(|wait| {
            let notes = Notes(Arc::clone(&dropped_on));
            fork_elsewhere(move || {
                let _notes = notes;
                wait();
            })
        });
        // Most of them wait by then; who does not ends where it will.
        sleep(Duration::from_millis(1));
        threads.iter().for_each(|thread| thread.cancel().unwrap());
        threads.iter().for_each(is_joined_cancelled);
        LET_GO.release();
        let dropped_on = dropped_on.lock().unwrap();
        assert!(dropped_on.len() == 4 && !dropped_on.contains(&here), "{dropped_on:?}, {here:?}");
    });
}

#[test]
fn what_has_not_begun_never_begins_on_any_processor() {
    static BEGUN: AtomicU32 = AtomicU32::new(0);
    static DROPPED: AtomicU32 = AtomicU32::new(0);
    struct Counts;
    impl Drop for Counts {
        fn drop(&mut self) {
            DROPPED.fetch_add(1, Relaxed);
        }
    }
    const THREADS: u32 = 2000;
    check_on(3, || {
        let cancelled = |_| {
            let counts = Counts;
            let thread = fork(move || {
                let _counts = counts;
                BEGUN.fetch_add(1, Relaxed);
            });
            let thread = thread.unwrap();
            thread.cancel().unwrap();
            thread
        };
        let threads: Vec<_> = (0..THREADS).map(cancelled).collect();
        let ends: Vec<_> = threads.iter().map(Forked::join).collect();
        let ended = ends.iter().filter(|end| end.is_ok()).count() as u32;
        // Those that another processor was faster to begin.
        assert_eq!(ended, BEGUN.load(Relaxed));
        let rest = ends.iter().filter(|end| matches!(end, Err(JoinError::Cancelled(_))));
        assert_eq!(rest.count() as u32, THREADS - ended);
        assert!(ended < THREADS, "none was cancelled");
    });
    assert_eq!(DROPPED.load(Relaxed), THREADS);
}

/// A thread of the other processor that waits for a permit, and how many this one has checked.
struct Race {
    waits: std::sync::Mutex<Option<Forked<()>>>,
    checked: AtomicU32,
    is_over: AtomicBool,
}

static RACE: Race = Race {
    waits: std::sync::Mutex::new(None),
    checked: AtomicU32::new(0),
    is_over: AtomicBool::new(false),
};

static RACED_FOR: Semaphore = Semaphore::new(0);

/// Has a thread wait for a permit in each round.
fn wait_in_rounds() {
    for round in 0.. {
        let waits = fork(|| RACED_FOR.acquire()).unwrap();
        yield_now();
        *RACE.waits.lock().unwrap() = Some(waits);
        while RACE.checked.load(SeqCst) == round {
            yield_now();
        }
        if RACE.is_over.load(SeqCst) {
            return;
        }
    }
}

/// What comes first of a cancel and a permit.
#[derive(Clone, Copy, Debug)]
enum First {
    Cancel,
    Permit,
    /// Nobody knows: the permit comes so many turns after the cancel was sent.
    Either(u32),
}

/// Has the other processor cancel that thread, and gives it a permit: it has that, or has left it.
fn cancel_and_release(first: First) -> bool {
    let waits = loop {
        let waits = RACE.waits.lock().unwrap().take();
        match waits {
            Some(waits) => break waits,
            None => yield_now(),
        }
    };
    if let First::Permit = first {
        RACED_FOR.release();
    }
    waits.cancel().unwrap();
    if let First::Either(turns) = first {
        (0..turns).for_each(|_| std::hint::spin_loop());
        RACED_FOR.release();
    }
    let joined = waits.join();
    if let First::Cancel = first {
        RACED_FOR.release();
    }
    let is_cancelled = matches!(joined, Err(JoinError::Cancelled(_)));
    assert!(is_cancelled || joined.is_ok(), "{joined:?}");
    assert_eq!(RACED_FOR.try_acquire(), is_cancelled, "a permit is lost or was given twice");
    is_cancelled
}

/// If the test fails, the other processor's threads are to end, too.
struct EndsRounds;

impl Drop for EndsRounds {
    fn drop(&mut self) {
        if std::thread::panicking() {
            RACE.is_over.store(true, SeqCst);
            RACED_FOR.release();
            RACE.checked.fetch_add(1, SeqCst);
        }
    }
}

#[test]
fn a_permit_is_neither_lost_nor_given_twice_when_a_cancel_races_it() {
    const ROUNDS: u32 = 6_000;
    check_on(2, || {
        let _ends = EndsRounds;
        let waits = fork_elsewhere(wait_in_rounds);
        let mut cancelled = 0;
        for round in 1..=ROUNDS {
            let first = match round % 100 {
                0 => First::Cancel,
                1 => First::Permit,
                turns => First::Either(turns % 64 * 4),
            };
            let is_cancelled = cancel_and_release(first);
            match first {
                First::Cancel => assert!(is_cancelled),
                First::Permit => assert!(!is_cancelled),
                First::Either(_) => cancelled += u32::from(is_cancelled),
            }
            RACE.is_over.store(round == ROUNDS, SeqCst);
            RACE.checked.fetch_add(1, SeqCst);
        }
        waits.join().unwrap();
        println!("of {ROUNDS} races the cancel came first in {cancelled}");
    });
}

#[test]
fn a_policy_is_not_asked_about_what_tells_its_processor_of_a_cancel() {
    #[derive(Default)]
    struct InOrder(std::collections::VecDeque<Ready>);
    impl Policy for InOrder {
        fn add(&mut self, thread: Ready) {
            self.0.push_back(thread);
        }
        fn next(&mut self) -> Option<Ready> {
            self.0.pop_front()
        }
    }
    let outcome = Setup::default().processors(2).policy(InOrder::default).run(|| {
        let threads = [(); 4].map(|()| fork_elsewhere(|| sleep(LONG)));
        for thread in threads {
            thread.cancel().unwrap();
            is_joined_cancelled(&thread);
        }
    });
    outcome.expect("a run that ends");
}
