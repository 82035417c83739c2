//! Threads that borrow from the stack of who waits for them: who is waited for, and what a scope
//! says when they have ended.

use std::any::Any;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst};
use std::time::Duration;

use nearcall_threads::{
    ForkError, JoinError, Outside, Scope, ScopedForked, Semaphore, Setup, block, fork, name, named,
    report, scope, shield, sleep, yield_now,
};

/// Longer than any test takes.
const LONG: Duration = Duration::from_secs(3600);

/// Runs `main` and expects that the run comes to an end.
#[track_caller]
fn check<T: 'static>(main: impl FnOnce() -> T + 'static) -> T {
    check_on(1, main)
}

/// The same on so many processors.
#[track_caller]
fn check_on<T: 'static>(processors: usize, main: impl FnOnce() -> T + 'static) -> T {
    Setup::default().processors(processors).run(main).expect("a run that ends")
}

fn count(number: &AtomicU32) {
    number.fetch_add(1, SeqCst);
}

/// Counts where it is dropped, some time after its drop begins.
struct Counts<'n>(&'n AtomicU32);

impl Drop for Counts<'_> {
    fn drop(&mut self) {
        yield_now();
        count(self.0);
    }
}

/// What a panic says.
fn text(payload: &(dyn Any + Send)) -> &str {
    payload.downcast_ref::<&str>().expect("a text")
}

/// What a scope says that panics.
#[track_caller]
fn refusal<'env, R>(body: impl for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> R) -> String {
    let outcome = catch_unwind(AssertUnwindSafe(|| scope(body)));
    let Err(payload) = outcome else { panic!("it did not panic") };
    text(payload.as_ref()).to_owned()
}

#[test]
fn a_scope_returns_when_threads_that_write_to_what_it_borrows_have_ended() {
    for processors in [1, 3] {
        let numbers = check_on(processors, || {
            let mut numbers = [0; 100];
            scope(|scope| {
                for (index, number) in numbers.iter_mut().enumerate() {
                    let forked = scope.fork(move || {
                        yield_now();
                        *number = index;
                    });
                    drop(forked.unwrap());
                }
            });
            numbers
        });
        assert!(numbers.iter().enumerate().all(|(index, number)| index == *number));
    }
}

#[test]
fn results_that_borrow_reach_join() {
    let longest = check(|| {
        let text = "a scope of threads".to_owned();
        let longest = scope(|scope| {
            let longest = scope.fork(|| text.split(' ').max_by_key(|word| word.len()));
            longest.unwrap().join().unwrap()
        });
        longest.map(str::to_owned)
    });
    assert_eq!(longest.as_deref(), Some("threads"));
}

#[test]
fn a_thread_whose_handle_is_forgotten_is_waited_for() {
    check(|| {
        let ended = AtomicU32::new(0);
        scope(|scope| {
            let forked = scope.fork(|| {
                yield_now();
                count(&ended);
            });
            mem::forget(forked.unwrap());
        });
        assert_eq!(ended.load(SeqCst), 1);
    });
}

#[test]
fn threads_of_a_scope_fork_others_in_it_when_its_body_has_returned() {
    let ended = check(|| {
        let ended = AtomicU32::new(0);
        fn grow<'scope>(scope: &'scope Scope<'scope, '_>, ended: &'scope AtomicU32, left: u32) {
            yield_now();
            count(ended);
            for _ in 0..left {
                drop(scope.fork(move || grow(scope, ended, left - 1)).unwrap());
            }
        }
        scope(|scope| drop(scope.fork(|| grow(scope, &ended, 4)).unwrap()));
        ended.into_inner()
    });
    assert_eq!(ended, 1 + 4 + 12 + 24 + 24);
}

#[test]
fn a_panic_of_the_body_gets_out_when_all_threads_have_ended() {
    check(|| {
        let ended = AtomicU32::new(0);
        let said = refusal(|scope| {
            let forked = scope.fork(|| {
                yield_now();
                count(&ended);
            });
            drop(forked.unwrap());
            panic!("of the body");
        });
        assert_eq!((said.as_str(), ended.load(SeqCst)), ("of the body", 1));
    });
}

#[test]
fn a_panic_that_nobody_joins_is_the_scope_s_whatever_became_of_the_handle() {
    let part_with = |forked: ScopedForked<'_, ()>, way| match way {
        0 => drop(forked),
        1 => mem::forget(forked),
        _ => {
            yield_now();
            drop(forked);
        }
    };
    for (way, processors) in [(0, 1), (1, 1), (2, 1), (0, 2), (1, 2), (2, 2)] {
        check_on(processors, move || {
            let said = refusal(|scope| {
                part_with(scope.fork(|| panic!("on purpose")).unwrap(), way);
            });
            assert_eq!(said, "a FastThread of a scope panicked, and was not joined");
        });
    }
}

#[test]
fn a_panic_that_somebody_joins_is_not_the_scope_s() {
    check(|| {
        let joined = scope(|scope| scope.fork(|| panic!("on purpose")).unwrap().join());
        let Err(JoinError::Panicked(payload)) = joined else { panic!("{joined:?}") };
        assert_eq!(payload.message().as_deref(), Some("on purpose"));
    });
}

#[test]
fn a_result_that_nobody_takes_is_dropped_before_the_scope_returns() {
    check(|| {
        let dropped = AtomicU32::new(0);
        scope(|scope| {
            // By the thread itself, which has ended then and waits.
            drop(scope.fork(|| Counts(&dropped)).unwrap());
        });
        assert_eq!(dropped.load(SeqCst), 1);
        scope(|scope| {
            // Where its run is not.
            let forked = scope.fork(|| Counts(&dropped)).unwrap();
            block(move || drop(forked)).unwrap();
        });
        assert_eq!(dropped.load(SeqCst), 2);
        scope(|scope| {
            let forked = scope.fork(|| Counts(&dropped)).unwrap();
            yield_now();
            block(move || drop(forked)).unwrap();
        });
        assert_eq!(dropped.load(SeqCst), 3);
    });
}

/// Leaves a result to this scope that counts there when it is dropped: its thread has ended, and
/// its handle is dropped where the run is not.
fn leave<'scope>(scope: &'scope Scope<'scope, '_>, dropped: &'scope AtomicU32) {
    let forked = scope.fork(move || Counts(dropped)).unwrap();
    yield_now();
    assert!(forked.is_finished());
    block(move || drop(forked)).unwrap();
}

#[test]
fn a_result_is_dropped_before_its_scope_returns_although_another_one_ends_before() {
    let dropped = check(|| {
        let dropped = AtomicU32::new(0);
        scope(|outer| {
            scope(|inner| {
                leave(inner, &dropped);
                drop(outer.fork(|| scope(|_| ())).unwrap());
                yield_now();
            });
            dropped.load(SeqCst)
        })
    });
    assert_eq!(dropped, 1);
}

#[test]
fn of_two_scopes_that_end_each_drops_its_own_results_before_it_returns() {
    let dropped = check(|| {
        let dropped = [const { AtomicU32::new(0) }; 2];
        let left = [const { Semaphore::new(0) }; 2];
        let end = &|ours: usize| {
            scope(|scope| {
                leave(scope, &dropped[ours]);
                left[ours].release();
                left[1 - ours].acquire();
            });
            dropped[ours].load(SeqCst)
        };
        scope(|scope| {
            let threads = [0, 1].map(|ours| scope.fork(move || end(ours)).unwrap());
            threads.map(|thread| thread.join().unwrap())
        })
    });
    assert_eq!(dropped, [1, 1]);
}

#[test]
fn another_thread_of_the_scope_may_join() {
    let sum = check_on(2, || {
        scope(|scope| {
            let one = scope.fork(|| 1).unwrap();
            let two = scope.fork(move || one.join().unwrap() + 1).unwrap();
            two.join().unwrap() + 1
        })
    });
    assert_eq!(sum, 3);
}

#[test]
fn a_thread_of_a_scope_may_have_a_name() {
    let (theirs, ours) = check(|| {
        let theirs = scope(|scope| named("reader").fork_in(scope, name).unwrap().join().unwrap());
        (theirs, name())
    });
    assert_eq!((theirs.as_deref(), ours.as_deref()), (Some("reader"), Some("main")));
}

#[test]
fn a_report_says_that_a_thread_waits_for_its_scope() {
    let waits_for = check(|| {
        let waits = fork(|| scope(|scope| drop(scope.fork(yield_now).unwrap())));
        yield_now();
        let waits_for = report().threads()[1].waits_for.clone();
        waits.unwrap().join().unwrap();
        waits_for
    });
    assert_eq!(waits_for.as_deref(), Some("the end of its scope (threads in it: 1)"));
}

#[test]
fn a_scope_is_refused_to_a_kernel_thread_and_so_is_a_fork_in_it() {
    let said = catch_unwind(|| scope(|_| ())).unwrap_err();
    let said = said.downcast_ref::<String>().expect("a text");
    assert_eq!(said, "scope: the caller is a kernel thread, not a FastThread");
    check(|| {
        scope(|scope| {
            let refused = block(|| scope.fork(|| ()).err()).unwrap();
            assert!(matches!(refused, Some(ForkError::Outside(Outside::KernelThread))));
        });
    });
}

/// A thread opens a scope, in which `body` does something after two threads were forked that sleep;
/// what its join says when it is cancelled, and how many of the two have dropped what they have.
fn cancelled(processors: usize, body: fn()) -> (Result<(), JoinError>, u32) {
    check_on(processors, move || {
        let (begun, ended) = (Semaphore::new(0), Semaphore::new(0));
        let waits = || {
            let _ends = Ends(&ended);
            begun.release();
            sleep(LONG);
        };
        scope(|outer| {
            let forked = outer.fork(|| {
                scope(|inner| {
                    (0..2).for_each(|_| drop(inner.fork(waits).unwrap()));
                    body();
                });
            });
            let forked = forked.unwrap();
            (0..2).for_each(|_| begun.acquire());
            forked.cancel().unwrap();
            let joined = forked.join();
            (joined, (0..3).filter(|_| ended.try_acquire()).count() as u32)
        })
    })
}

/// Tells when it is dropped.
struct Ends<'s>(&'s Semaphore);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.release();
    }
}

#[test]
fn who_is_cancelled_while_its_scope_waits_unwinds_when_all_in_it_have() {
    for processors in [1, 3] {
        let (joined, ended) = cancelled(processors, || ());
        assert!(
            matches!((&joined, ended), (Err(JoinError::Cancelled(_)), 2)),
            "{joined:?}, {ended}"
        );
    }
}

#[test]
fn who_is_cancelled_in_the_body_of_its_scope_unwinds_when_all_in_it_have() {
    for processors in [1, 3] {
        let (joined, ended) = cancelled(processors, || sleep(LONG));
        assert!(
            matches!((&joined, ended), (Err(JoinError::Cancelled(_)), 2)),
            "{joined:?}, {ended}"
        );
    }
}

#[test]
fn what_is_forked_in_a_scope_whose_caller_was_cancelled_never_begins() {
    static BEGUN: AtomicBool = AtomicBool::new(false);
    let joined = check(|| {
        let forked = fork(|| {
            scope(|scope| {
                let forks_late = scope.fork(|| {
                    let late = shield(|| {
                        sleep(Duration::from_millis(1));
                        scope.fork(|| BEGUN.store(true, SeqCst)).unwrap()
                    });
                    drop(late);
                });
                drop(forks_late.unwrap());
            });
        });
        let forked = forked.unwrap();
        yield_now();
        yield_now();
        forked.cancel().unwrap();
        forked.join()
    });
    assert!(matches!(joined, Err(JoinError::Cancelled(_))), "{joined:?}");
    assert!(!BEGUN.load(SeqCst));
}

#[test]
fn a_scope_in_a_shield_waits_for_threads_that_go_on() {
    let (joined, done) = check(|| {
        let done = AtomicU32::new(0);
        let joined = scope(|outer| {
            let forked = outer.fork(|| {
                shield(|| {
                    scope(|scope| {
                        let works = scope.fork(|| {
                            sleep(Duration::from_millis(1));
                            count(&done);
                        });
                        drop(works.unwrap());
                    });
                });
            });
            let forked = forked.unwrap();
            yield_now();
            yield_now();
            forked.cancel().unwrap();
            forked.join()
        });
        (joined, done.into_inner())
    });
    assert!(matches!((&joined, done), (Ok(()), 1)), "{joined:?}, {done}");
}

#[test]
fn a_cancel_of_one_thread_of_a_scope_is_no_panic_of_the_scope_s() {
    let ended = check(|| {
        let ended = AtomicU32::new(0);
        scope(|scope| {
            let sleeps = scope.fork(|| {
                let _counts = Counts(&ended);
                sleep(LONG);
            });
            let sleeps = sleeps.unwrap();
            yield_now();
            sleeps.cancel().unwrap();
        });
        ended.into_inner()
    });
    assert_eq!(ended, 1);
}

#[test]
fn scopes_on_several_processors_end_when_the_last_thread_has() {
    let sum = check_on(3, || {
        let mut sum = 0;
        for round in 0..200 {
            let parts = [const { AtomicU32::new(0) }; 8];
            scope(|scope| {
                for part in &parts {
                    drop(scope.fork(move || part.store(round, SeqCst)).unwrap());
                }
            });
            sum += parts.into_iter().map(AtomicU32::into_inner).sum::<u32>();
        }
        sum
    });
    assert_eq!(sum, 8 * (0..200).sum::<u32>());
}
