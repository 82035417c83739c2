//! Guards that are taken out of their run: who is refused until they are dropped, and where that
//! releases their locks.

mod hearing;

use std::panic::catch_unwind;

use nearcall_threads::{Guest, Hosts, Mutex, MutexGuard, RwLock, run, yield_now};

use crate::hearing::{heard, listen};

/// Runs `main` and expects that the run comes to an end.
#[track_caller]
fn check<T: 'static>(main: impl FnOnce() -> T + 'static) -> T {
    run(main).expect("a run that ends")
}

/// What a run says whose thread panics.
#[track_caller]
fn refusal(main: fn()) -> String {
    let payload = catch_unwind(|| run(main)).expect_err("a panic");
    payload.downcast_ref::<&str>().expect("a text").to_string()
}

const IS_LEFT: &str = "a lock of FastThreads: a guard of it is left of a run that is over";

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
        assert_eq!(refusal(|| drop(LOCK.read())), IS_LEFT);
        drop(reader);
    }
    let writer = check(|| LOCK.write().unwrap());
    assert_eq!(refusal(|| drop(LOCK.read())), IS_LEFT);
    drop(writer);
    check(|| drop(LOCK.write()));
}

static HOSTED: Mutex<()> = Mutex::new(());

/// A guest that locks, and gives the lock to its host's loop or not.
enum Locks {
    AtOnce,
    AfterAYield,
}

impl Guest for Locks {
    type Output = Option<MutexGuard<'static, ()>>;

    fn name(&self) -> &'static str {
        "locks"
    }

    fn run(&self) -> Self::Output {
        match self {
            Locks::AtOnce => Some(HOSTED.lock().unwrap()),
            Locks::AfterAYield => {
                yield_now();
                drop(HOSTED.lock());
                None
            }
        }
    }

    fn resume(&self) {}

    fn suspend(&self) {}

    fn finish(&self, _: Self::Output) {}
}

#[test]
fn a_guard_that_a_loop_drops_releases_its_lock_unless_a_guest_waits_for_it_which_is_told() {
    listen();
    let dropped = "a guard is dropped where no FastThread is";
    let host = Hosts::new(1, 192 << 10).unwrap().enter(2).expect("there is a place");
    for _ in 0..2 {
        let guard = host.begin(Locks::AtOnce).flatten();
        drop(guard.expect("the lock is free"));
    }
    assert_eq!(heard(dropped), Vec::<String>::new());
    assert!(host.begin(Locks::AfterAYield).is_none());
    let guard = host.begin(Locks::AtOnce).flatten();
    assert!(host.run_ready(32, || true));
    drop(guard.expect("the lock is free"));
    assert_eq!(heard(dropped).len(), 1);
    assert!(host.is_busy());
}
