//! What FastThreads are compared with in `threads`.

use std::convert::Infallible;
use std::hint::black_box;
use std::sync::{Arc, Condvar, Mutex};
use std::thread;

use corosensei::{Coroutine, CoroutineResult};

use crate::child::Failure;
use crate::statistics::{Plan, Samples};

fn time(plan: Plan, mut operation: impl FnMut()) -> Result<Samples, Failure> {
    let Ok(samples) = plan.time(|| {
        operation();
        Ok::<(), Infallible>(())
    });
    Ok(samples)
}

#[inline(never)]
fn procedure() {
    black_box(());
}

/// A call of an empty procedure whose address the compiler does not know.
pub fn procedure_call(plan: Plan) -> Result<Samples, Failure> {
    let called: fn() = black_box(procedure);
    time(plan, called)
}

pub fn std_thread(plan: Plan) -> Result<Samples, Failure> {
    time(plan, || thread::spawn(|| ()).join().expect("it does not panic"))
}

pub fn std_mutex(plan: Plan) -> Result<Samples, Failure> {
    let mutex = Mutex::new(0_u32);
    time(plan, || *black_box(&mutex).lock().expect("nobody panics") += 1)
}

/// Two switches, there and back, are two operations, so every second one is nothing.
pub fn corosensei_switch(plan: Plan) -> Result<Samples, Failure> {
    let mut coroutine = Coroutine::new(|yielder, ()| {
        loop {
            yielder.suspend(());
        }
    });
    let mut is_second = true;
    let samples = time(plan, || {
        is_second = !is_second;
        if !is_second {
            let CoroutineResult::<(), Infallible>::Yield(()) = coroutine.resume(());
        }
    });
    coroutine.force_unwind();
    samples
}

/// Two kernel threads that yield to each other; what one of them measures is both.
pub fn sched_yield(plan: Plan) -> Result<Samples, Failure> {
    let calls = plan.calls();
    let other = thread::spawn(move || (0..calls).for_each(|_| thread::yield_now()));
    let mut is_second = true;
    let samples = time(plan, || {
        is_second = !is_second;
        if !is_second {
            thread::yield_now();
        }
    });
    other.join().expect("it does not panic");
    samples
}

/// As FastThreads do it; see `fast::pingpong`.
pub fn std_condvar(plan: Plan) -> Result<Samples, Failure> {
    let table = Arc::new((Mutex::new(true), Condvar::new(), Condvar::new()));
    let theirs = Arc::clone(&table);
    let trips = plan.calls();
    let other = thread::spawn(move || {
        for _ in 0..trips {
            let guard = theirs.0.lock().expect("nobody panics");
            let guard = theirs.2.wait_while(guard, |is_ours| *is_ours);
            *guard.expect("nobody panics") = true;
            theirs.1.notify_one();
        }
    });
    let samples = time(plan, || {
        let mut guard = table.0.lock().expect("nobody panics");
        *guard = false;
        table.2.notify_one();
        drop(table.1.wait_while(guard, |is_ours| !*is_ours));
    });
    other.join().expect("it does not panic");
    samples
}
