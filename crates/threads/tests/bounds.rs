//! What may be shared, given away, and used across `catch_unwind`, as a user of `std`'s expects.

use std::cell::Cell;
use std::panic::{RefUnwindSafe, UnwindSafe, catch_unwind};

use nearcall_threads::{
    Condition, Forked, Mutex, MutexGuard, Once, Permit, ReadGuard, RwLock, ScopedForked, Semaphore,
    Setup, WriteGuard, fork, run, scope,
};

fn is_send<T: Send + ?Sized>() {}
fn is_sync<T: Sync + ?Sized>() {}
fn is_unwind_safe<T: UnwindSafe + RefUnwindSafe + ?Sized>() {}

#[test]
fn what_threads_share_is_shared_as_std_s_is() {
    is_sync::<Mutex<Cell<u8>>>();
    is_sync::<RwLock<[u8]>>();
    is_sync::<Once<u8>>();
    is_sync::<Condition>();
    is_sync::<Semaphore>();
    is_send::<Forked<Cell<u8>>>();
    is_send::<ScopedForked<'_, Cell<u8>>>();
    is_sync::<MutexGuard<'_, u8>>();
    is_sync::<ReadGuard<'_, u8>>();
    is_sync::<WriteGuard<'_, u8>>();
}

#[test]
fn what_threads_share_may_be_used_where_a_panic_is_caught() {
    is_unwind_safe::<Mutex<Cell<u8>>>();
    is_unwind_safe::<RwLock<Cell<u8>>>();
    is_unwind_safe::<Once<u8>>();
    is_unwind_safe::<Condition>();
    is_unwind_safe::<Semaphore>();
    is_unwind_safe::<Permit<'_>>();
    is_unwind_safe::<Forked<Cell<u8>>>();
    is_unwind_safe::<ScopedForked<'_, Cell<u8>>>();
    let poisoned = run(|| {
        let lock = Mutex::new(0);
        let caught = catch_unwind(|| {
            let _guard = lock.lock();
            panic!("while it has the lock");
        });
        caught.is_err() && lock.is_poisoned()
    });
    assert!(poisoned.unwrap());
}

#[test]
fn threads_of_a_scope_see_what_a_guard_is_of() {
    let sum = Setup::default().processors(2).run(|| {
        let lock = Mutex::new([1, 2, 3]);
        let guard = lock.lock().unwrap();
        scope(|scope| {
            let threads = [0, 1, 2].map(|at| {
                let guard = &guard;
                scope.fork(move || guard[at]).unwrap()
            });
            threads.iter().map(|thread| thread.join().unwrap()).sum::<i32>()
        })
    });
    assert_eq!(sum.unwrap(), 6);
}

#[test]
fn a_setup_may_be_used_again() {
    let setup = Setup::default().processors(2);
    let first = setup.clone().run(|| fork(|| 1).unwrap().join().unwrap());
    assert_eq!((first.unwrap(), setup.run(|| 2).unwrap()), (1, 2));
}
