//! Threads that leave a list of many that wait, by a cancel or by their times: each at once,
//! however many are before it. Were the list gone through, these would take quadratic time.

mod stacks;

use std::time::Duration;

use nearcall_threads::{
    Condition, JoinError, Mutex, STACK_BYTES_MIN, Semaphore, Setup, fork, sleep, yield_now,
};

/// Enough that half as many steps for each would take minutes.
fn threads() -> u32 {
    stacks::at_most(100_000)
}

fn setup(processors: usize) -> Setup {
    Setup::default().stack_bytes(STACK_BYTES_MIN).processors(processors)
}

#[test]
fn many_that_wait_for_one_condition_are_cancelled_the_last_first() {
    static LOCK: Mutex<u32> = Mutex::new(0);
    static NEVER: Condition = Condition::new();
    let count = threads();
    let cancelled = setup(1).run(move || {
        let waits = || drop(NEVER.wait(LOCK.lock().unwrap()));
        let threads: Vec<_> = (0..count).map(|_| fork(waits).unwrap()).collect();
        yield_now();
        threads.iter().rev().for_each(|thread| thread.cancel().unwrap());
        let is_cancelled = |joined| matches!(joined, Err(JoinError::Cancelled(_)));
        threads.iter().filter(|thread| is_cancelled(thread.join())).count()
    });
    assert_eq!(cancelled.unwrap(), count as usize);
}

#[test]
fn many_that_wait_for_permits_are_late_the_last_first() {
    static NONE: Semaphore = Semaphore::new(0);
    let count = threads();
    for processors in [1, 2] {
        let late = setup(processors).run(move || {
            let waits = |time| move || !NONE.acquire_timeout(Duration::from_nanos(time));
            let times = (0..count).map(|at| u64::from(count - at) * 1_000);
            let threads: Vec<_> = times.map(|time| fork(waits(time)).unwrap()).collect();
            threads.iter().filter(|thread| thread.join().unwrap()).count()
        });
        assert_eq!(late.unwrap(), count as usize);
    }
}

#[test]
fn a_broadcast_and_times_and_cancels_take_each_thread_once() {
    static LOCK: Mutex<u32> = Mutex::new(0);
    static TOLD: Condition = Condition::new();
    const WAITERS: u32 = 300;
    for processors in [1, 2, 3] {
        let ends = setup(processors).run(|| {
            let waits = |at: u32| {
                move || {
                    let time = Duration::from_micros(u64::from(at % 7) * 50);
                    let (guard, result) = TOLD.wait_timeout(LOCK.lock().unwrap(), time).unwrap();
                    drop(guard);
                    result.timed_out()
                }
            };
            let ended = |joined| matches!(joined, Ok(_) | Err(JoinError::Cancelled(_)));
            let mut ends = 0;
            for round in 0..20 {
                let threads: Vec<_> = (0..WAITERS).map(|at| fork(waits(at)).unwrap()).collect();
                sleep(Duration::from_micros(round * 20));
                TOLD.broadcast();
                threads.iter().rev().step_by(3).for_each(|thread| thread.cancel().unwrap());
                ends += threads.iter().filter(|thread| ended(thread.join())).count();
            }
            ends
        });
        assert_eq!(ends.unwrap(), 20 * WAITERS as usize);
    }
}
