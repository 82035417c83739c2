//! Guards that are taken out of their run: who is refused until they are dropped, and where that
//! releases their locks.

mod hearing;

use std::panic::{AssertUnwindSafe, catch_unwind};

use nearcall_threads::{Guest, Hosts, Mutex, MutexGuard, RwLock, run, yield_now};

use crate::hearing::{heard, listen};

/// Runs `main` and expects that the run comes to an end.
#[track_caller]
fn check<T: 'static>(main: impl FnOnce() -> T + 'static) -> T {
    run(main).expect("a run that ends")
}

/// What a run says whose thread panics.
#[track_caller]
fn refusal(main: impl FnOnce() + 'static) -> String {
    let payload = catch_unwind(AssertUnwindSafe(|| run(main))).expect_err("a panic");
    payload.downcast_ref::<String>().expect("a text").clone()
}

const IS_LEFT: &str = "a mutex of FastThreads: a guard of it is left of a run that is over";

const IS_READ: &str = "a rwlock of FastThreads: a guard of it is left of a run that is over";

#[test]
fn a_mutex_is_free_when_its_guard_is_dropped_outside_of_every_run() {
    static COUNT: Mutex<u32> = Mutex::new(1);
    let mut guard = check(|| COUNT.lock().unwrap());
    *guard += 1;
    assert_eq!(refusal(|| drop(COUNT.lock())), IS_LEFT);
    assert_eq!(refusal(|| drop(COUNT.try_lock())), IS_LEFT);
    drop(guard);
    assert_eq!(check(|| *COUNT.lock().unwrap()), 2);
}

#[test]
fn a_mutex_is_free_when_its_guard_is_dropped_in_another_run() {
    static LOCK: Mutex<()> = Mutex::new(());
    let guard = check(|| LOCK.lock().unwrap());
    check(move || {
        drop(guard);
        drop(LOCK.lock());
    });
    check(|| drop(LOCK.lock()));
}

#[test]
fn a_lock_may_be_written_when_all_who_read_or_wrote_it_outside_have_gone() {
    static LOCK: RwLock<()> = RwLock::new(());
    let readers = check(|| [LOCK.read().unwrap(), LOCK.read().unwrap()]);
    for reader in readers {
        assert_eq!(refusal(|| drop(LOCK.read())), IS_READ);
        drop(reader);
    }
    let writer = check(|| LOCK.write().unwrap());
    assert_eq!(refusal(|| drop(LOCK.read())), IS_READ);
    drop(writer);
    check(|| drop(LOCK.write()));
}

#[test]
fn another_run_that_drops_a_guard_has_the_lock_when_the_last_one_is_dropped() {
    static LOCK: RwLock<()> = RwLock::new(());
    let [first, last] = check(|| [LOCK.read().unwrap(), LOCK.read().unwrap()]);
    let said = refusal(move || {
        drop(first);
        drop(LOCK.read());
    });
    assert_eq!(said, IS_READ);
    check(move || {
        drop(last);
        drop(LOCK.write());
    });
}

/// A guest that locks, and gives the lock to its host's loop; or locks after a yield and does not.
struct Locks {
    lock: &'static Mutex<()>,
    yields: bool,
}

impl Guest for Locks {
    type Output = Option<MutexGuard<'static, ()>>;

    fn name(&self) -> &'static str {
        "locks"
    }

    fn run(&self) -> Self::Output {
        if self.yields {
            yield_now();
        }
        let guard = self.lock.lock().unwrap();
        (!self.yields).then_some(guard)
    }

    fn resume(&self) {}

    fn suspend(&self) {}

    fn finish(&self, _: Self::Output) {}
}

#[test]
fn a_guard_that_a_loop_drops_releases_its_lock_unless_a_guest_waits_for_it_which_is_told() {
    static LOCKS: [Mutex<()>; 2] = [const { Mutex::new(()) }; 2];
    let ways: [fn(MutexGuard<'static, ()>); 2] = [drop, |guard| check(move || drop(guard))];
    listen();
    let dropped = "a guard is dropped where no FastThread of its run is";
    for (at, (lock, part_with)) in LOCKS.iter().zip(ways).enumerate() {
        let host = Hosts::new(1, 192 << 10).unwrap().enter(2).expect("there is a place");
        for _ in 0..2 {
            let guard = host.begin(Locks { lock, yields: false }).flatten();
            part_with(guard.expect("the lock is free"));
        }
        assert_eq!(heard(dropped).len(), at);
        assert!(host.begin(Locks { lock, yields: true }).is_none());
        let guard = host.begin(Locks { lock, yields: false }).flatten();
        assert!(host.run_ready(32, || true));
        part_with(guard.expect("the lock is free"));
        assert_eq!(heard(dropped).len(), at + 1);
        assert!(host.is_busy());
    }
}

#[test]
fn whoever_has_a_lock_alone_reaches_its_value_outside_of_a_run() {
    let (mut mutex, mut rwlock) = (Mutex::new(1), RwLock::new(1));
    *mutex.value_mut().unwrap() += 1;
    *rwlock.value_mut().unwrap() += 2;
    assert_eq!((mutex.into_inner().unwrap(), rwlock.into_inner().unwrap()), (2, 3));
}
