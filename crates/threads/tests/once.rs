//! Values that are made once, or were made already.

use std::cell::Cell;
use std::sync::Arc;

use nearcall_threads::{Once, fork, run, yield_now};

/// Runs `main` and expects that the run comes to an end.
#[track_caller]
fn check<T: 'static>(main: impl FnOnce() -> T + 'static) -> T {
    run(main).expect("a run that ends")
}

#[test]
fn a_value_is_made_once_even_if_its_first_maker_panics() {
    thread_local! {
        static MADE: Cell<u32> = const { Cell::new(0) };
    }
    check(|| {
        let once = Arc::new(Once::new());
        let theirs = Arc::clone(&once);
        let panics = fork(move || {
            theirs.value(|| {
                yield_now();
                panic!("on purpose")
            });
        });
        let threads: Vec<_> = (0..3)
            .map(|_| {
                let once = Arc::clone(&once);
                fork(move || {
                    *once.value(|| {
                        MADE.set(MADE.get() + 1);
                        yield_now();
                        7
                    })
                })
            })
            .collect();
        assert!(panics.unwrap().join().is_err());
        let sum: i32 = threads.into_iter().map(|thread| thread.unwrap().join().unwrap()).sum();
        assert_eq!((sum, MADE.get(), once.made()), (21, 1, Some(&7)));
    });
}

#[test]
fn a_value_that_is_given_waits_for_one_that_is_made() {
    let (refused, once) = check(|| {
        let once = Arc::new(Once::new());
        let theirs = Arc::clone(&once);
        let makes = fork(move || {
            theirs.value(|| {
                yield_now();
                1
            });
        });
        yield_now();
        let refused = once.set(2);
        makes.unwrap().join().unwrap();
        (refused, once)
    });
    assert_eq!((refused, once.made()), (Err(2), Some(&1)));
}

#[test]
fn a_value_is_taken_out_of_what_was_made_already() {
    let mut once = Once::from(1);
    assert_eq!(once.set(2), Err(2));
    let copy = once.clone();
    *once.made_mut().unwrap() += 1;
    assert_eq!((once.take(), once.made_mut()), (Some(2), None));
    assert_eq!((copy.clone().into_inner(), Once::<u32>::new().into_inner()), (Some(1), None));
    assert!(copy == Once::from(1) && copy != once && once.clone() == Once::default());
}
