//! The cases of `threads` over FastThreads. Each measurement is a run of its own.

use std::convert::Infallible;
use std::sync::Arc;

use nearcall_threads::{Condition, Mutex, fork as fork_thread, run, yield_now};

use crate::child::Failure;
use crate::stage::BATCH;
use crate::statistics::{Plan, Samples};

/// Has the plan's operations made on a FastThread.
fn time(plan: Plan, operation: impl FnMut() + 'static) -> Result<Samples, Failure> {
    time_beside(plan, || {}, operation)
}

/// The same, with something done there before that is not timed.
fn time_beside(
    plan: Plan,
    before: impl FnOnce() + 'static,
    mut operation: impl FnMut() + 'static,
) -> Result<Samples, Failure> {
    let timed = run(move || {
        before();
        plan.time(|| {
            operation();
            Ok::<(), Infallible>(())
        })
    });
    let Ok(samples) = timed?;
    Ok(samples)
}

/// Forks threads, and lets each [`BATCH`] of them run.
pub fn fork(plan: Plan) -> Result<Samples, Failure> {
    let mut forked = 0;
    time(plan, move || {
        drop(fork_thread(|| ()).expect("there is memory for as many threads as a batch has"));
        forked += 1;
        if forked % BATCH == 0 {
            yield_now();
        }
    })
}

pub fn fork_join(plan: Plan) -> Result<Samples, Failure> {
    time(plan, || {
        let thread = fork_thread(|| ()).expect("there is memory for one thread");
        thread.join().expect("it does not panic");
    })
}

/// Two threads that yield to each other; every second yield is this one's, and they are told apart
/// by nothing but the time of both.
pub fn yields(plan: Plan) -> Result<Samples, Failure> {
    let other = move || {
        let yields = move || (0..plan.calls()).for_each(|_| yield_now());
        drop(fork_thread(yields).expect("there is memory for one thread"));
    };
    let mut is_ours = false;
    time_beside(plan, other, move || {
        is_ours = !is_ours;
        if is_ours {
            yield_now();
        }
    })
}

pub fn lock(plan: Plan) -> Result<Samples, Failure> {
    let mutex = Mutex::new(0_u32);
    time(plan, move || *mutex.lock().expect("nobody panics") += 1)
}

/// Whose turn it is, and where both wait for theirs.
struct Table {
    is_ours: Mutex<bool>,
    ours: Condition,
    theirs: Condition,
}

/// A round trip is two operations, so every second one is nothing.
pub fn pingpong(plan: Plan) -> Result<Samples, Failure> {
    let (ours, theirs) = (Condition::new(), Condition::new());
    let table = Arc::new(Table { is_ours: Mutex::new(true), ours, theirs });
    let other = Arc::clone(&table);
    let before = move || {
        let returns = move || {
            for _ in 0..plan.calls().div_ceil(2) {
                let guard = other.is_ours.lock().expect("nobody panics");
                let guard = other.theirs.wait_while(guard, |is_ours| *is_ours);
                *guard.expect("nobody panics") = true;
                other.ours.signal();
            }
        };
        drop(fork_thread(returns).expect("there is memory for one thread"));
    };
    let mut is_second = true;
    time_beside(plan, before, move || {
        is_second = !is_second;
        if !is_second {
            let mut guard = table.is_ours.lock().expect("nobody panics");
            *guard = false;
            table.theirs.signal();
            drop(table.ours.wait_while(guard, |is_ours| !*is_ours));
        }
    })
}
