//! Threads that wait for each other in a circle while others go on: debug builds tell of them.

#![cfg(debug_assertions)]

mod hearing;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::time::Duration;

use nearcall_threads::{
    Condition, JoinError, Mutex, Once, RunError, RwLock, Setup, named, run, scope, sleep, yield_now,
};

use crate::hearing::{heard, listen};

/// Runs `main`, which ends with two threads in a circle, among others that go on until it has been
/// told: what was said of it, once. Those two have no others of their names.
#[track_caller]
fn check(setup: Setup, name: &'static str, main: impl FnOnce() + 'static) -> Vec<String> {
    listen();
    let outcome = setup.run(move || {
        main();
        // A run that stands still is another matter: this one sleeps.
        while heard(name).is_empty() {
            sleep(Duration::from_millis(1));
        }
    });
    assert!(matches!(outcome, Err(RunError::Deadlock(_))), "the two are left: {outcome:?}");
    heard(name)
}

/// Two threads that lock two locks each in the other's order.
fn cross(names: [&'static str; 2]) {
    let locks = Arc::new([Mutex::new(()), Mutex::new(())]);
    let has = Arc::new([const { AtomicBool::new(false) }; 2]);
    for (at, name) in names.into_iter().enumerate() {
        let (locks, has) = (Arc::clone(&locks), Arc::clone(&has));
        let locks = move || {
            let _own = locks[at].lock().unwrap();
            has[at].store(true, SeqCst);
            while !has[1 - at].load(SeqCst) {
                yield_now();
            }
            drop(locks[1 - at].lock());
        };
        drop(named(name).fork(locks).unwrap());
    }
}

#[test]
fn two_threads_in_a_circle_of_locks_are_told_of_while_another_one_sleeps() {
    let told = check(Setup::default(), "`anna`", || cross(["anna", "bert"]));
    let want = "FastThreads wait for each other in a circle and will not go on\n\
                FastThread 2 `anna` waits for a mutex that FastThread 3 `bert` has\n\
                FastThread 3 `bert` waits for a mutex that FastThread 2 `anna` has";
    assert_eq!(told, [want]);
}

#[test]
fn threads_of_several_processors_are_told_of_by_whoever_closes_the_circle() {
    let told = check(Setup::default().processors(3), "`carl`", || cross(["carl", "dora"]));
    assert_eq!(told.len(), 1, "{told:#?}");
    assert!(told[0].contains("`dora` waits for a mutex that FastThread"), "{told:#?}");
}

#[test]
fn a_join_a_writer_and_the_maker_of_a_value_are_parts_of_a_circle() {
    let told = check(Setup::default(), "`emil`", || {
        let shared = Arc::new((RwLock::new(()), Once::new()));
        let [ours, theirs] = [0, 1].map(|_| Arc::clone(&shared));
        let writes = move || {
            let _written = ours.0.write().unwrap();
            yield_now();
            ours.1.value(|| 1);
        };
        let makes = move || {
            theirs.1.value(|| {
                yield_now();
                let reads = move || drop(shared.0.read());
                named("fritz").fork(reads).unwrap().join().unwrap();
                2
            });
        };
        drop(named("emil").fork(writes).unwrap());
        drop(named("greta").fork(makes).unwrap());
    });
    let want = "FastThreads wait for each other in a circle and will not go on\n\
                FastThread 4 `fritz` waits for a rwlock that FastThread 2 `emil` writes\n\
                FastThread 2 `emil` waits for a value that FastThread 3 `greta` makes\n\
                FastThread 3 `greta` waits for the end of FastThread 4 `fritz`";
    assert_eq!(told, [want]);
}

#[test]
fn a_scope_with_one_thread_left_in_it_is_part_of_a_circle() {
    let told = check(Setup::default(), "`lena`", || {
        let waits = || {
            let lock = Mutex::new(());
            let held = lock.lock().unwrap();
            scope(|scope| {
                let locks = || drop(lock.lock());
                drop(named("max").fork_in(scope, locks).unwrap());
            });
            drop(held);
        };
        drop(named("lena").fork(waits).unwrap());
    });
    let want = "FastThreads wait for each other in a circle and will not go on\n\
                FastThread 3 `max` waits for a mutex that FastThread 2 `lena` has\n\
                FastThread 2 `lena` waits for the end of its scope (threads in it: 1)";
    assert_eq!(told, [want]);
}

#[test]
fn who_waits_for_a_circle_of_others_is_none_of_it() {
    let told = check(Setup::default(), "`hans`", || {
        let gate = Arc::new(Mutex::new(()));
        let theirs = Arc::clone(&gate);
        let joined = named("hans").fork(move || {
            let held = gate.lock().unwrap();
            cross(["ida", "jan"]);
            while heard("`ida`").is_empty() {
                yield_now();
            }
            // Closes a circle of its own, so that the test ends; the waiter is in none.
            let waits = named("klaus").fork(move || drop(theirs.lock()));
            waits.unwrap().join().unwrap();
            drop(held);
        });
        drop(named("waiter").fork(move || joined.unwrap().join().unwrap()).unwrap());
    });
    assert_eq!((told.len(), heard("`waiter`").len()), (1, 0), "{told:#?}");
    assert_eq!(heard("`ida`").len(), 1);
}

#[test]
fn a_lock_that_is_held_long_is_no_circle() {
    listen();
    let sum = run(|| {
        let lock = Arc::new(Mutex::new(0));
        let adds = |number: u32| {
            let lock = Arc::clone(&lock);
            let adds = move || {
                let mut sum = lock.lock().unwrap();
                sleep(Duration::from_millis(3));
                *sum += number;
            };
            named("patient").fork(adds).unwrap()
        };
        let threads: Vec<_> = (0..20).map(adds).collect();
        threads.iter().for_each(|thread| thread.join().unwrap());
        *lock.lock().unwrap()
    });
    assert_eq!((sum.unwrap(), heard("`patient`").len()), (190, 0));
}

#[test]
fn a_join_that_is_cancelled_closes_no_circle() {
    listen();
    run(|| {
        let lock = Arc::new(Mutex::new(()));
        let opens = Arc::new((Mutex::new(false), Condition::new()));
        let (theirs, waits) = (Arc::clone(&lock), Arc::clone(&opens));
        let locks = named("quick").fork(move || {
            let open = waits.0.lock().unwrap();
            drop(waits.1.wait_while(open, |is_open| !*is_open));
            drop(theirs.lock());
        });
        let joins = named("quicker").fork(move || {
            let _held = lock.lock().unwrap();
            locks.unwrap().join().unwrap();
        });
        let joins = joins.unwrap();
        yield_now();
        *opens.0.lock().unwrap() = true;
        opens.1.signal();
        // Both are ready now: the one that has the lock unwinds after the other one wants it.
        joins.cancel().unwrap();
        assert!(matches!(joins.join(), Err(JoinError::Cancelled(_))));
    })
    .unwrap();
    assert_eq!(heard("`quick`"), Vec::<String>::new());
}
