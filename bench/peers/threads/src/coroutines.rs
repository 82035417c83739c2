//! Coroutines of `may`, on one worker.

use std::sync::Arc;
use std::time::Instant;

use may::coroutine::{JoinHandle, yield_now};
use may::sync::{Condvar, Mutex, Semphore};
use may::{config, go};

use crate::{Case, Failure, Order, TOGETHER};

/// Two coroutines that wait for each other.
struct Pair {
    turn: Mutex<Turn>,
    ours: Condvar,
    theirs: Condvar,
    begun: Semphore,
}

#[derive(Default)]
struct Turn {
    is_theirs: bool,
    is_over: bool,
}

/// Nanoseconds of each batch. All of it is a coroutine, too.
pub fn time(order: Order) -> Result<Vec<u64>, Failure> {
    config().set_workers(1);
    let timed = go!(move || run(order));
    timed.join().map_err(|_| "a coroutine panicked".into())
}

fn run(order: Order) -> Vec<u64> {
    let turn = Mutex::new(Turn::default());
    let (ours, theirs, begun) = (Condvar::new(), Condvar::new(), Semphore::new(0));
    let pair = Arc::new(Pair { turn, ours, theirs, begun });
    let other = begin(order.case, Arc::clone(&pair));
    pair.begun.wait();
    batch(order.case, order.warm_up, &pair);
    let mut batches_ns = Vec::with_capacity(order.batches as usize);
    for _ in 0..order.batches {
        let start = Instant::now();
        batch(order.case, order.batch, &pair);
        batches_ns.push(start.elapsed().as_nanos() as u64);
    }
    pair.turn.lock().expect("nobody panics").is_over = true;
    pair.theirs.notify_one();
    other.join().expect("it does not panic");
    batches_ns
}

/// The other coroutine of the pair.
fn begin(case: Case, pair: Arc<Pair>) -> JoinHandle<()> {
    go!(move || {
        pair.begun.post();
        match case {
            Case::Fork | Case::ForkJoin => {}
            Case::Yield => {
                while !pair.turn.lock().expect("nobody panics").is_over {
                    // As many yields as make the look at the lock nothing.
                    (0..TOGETHER).for_each(|_| yield_now());
                }
            }
            Case::Pingpong => return_signals(&pair),
        }
    })
}

fn return_signals(pair: &Pair) {
    let mut turn = pair.turn.lock().expect("nobody panics");
    while !turn.is_over {
        if turn.is_theirs {
            turn.is_theirs = false;
            pair.ours.notify_one();
        }
        turn = pair.theirs.wait(turn).expect("nobody panics");
    }
}

/// So many operations.
fn batch(case: Case, count: u32, pair: &Pair) {
    match case {
        Case::Fork => {
            // A yield would come back before any that has not begun, for ever.
            let ended = Arc::new(Semphore::new(0));
            for forked in 1..=count {
                let last = forked.is_multiple_of(TOGETHER).then(|| Arc::clone(&ended));
                let is_last = last.is_some();
                drop(go!(move || last.iter().for_each(|ended| ended.post())));
                if is_last {
                    ended.wait();
                }
            }
        }
        Case::ForkJoin => {
            (0..count).for_each(|_| go!(|| ()).join().expect("it does not panic"));
        }
        Case::Yield => (0..count / 2).for_each(|_| yield_now()),
        Case::Pingpong => {
            let mut turn = pair.turn.lock().expect("nobody panics");
            for _ in 0..count / 2 {
                turn.is_theirs = true;
                pair.theirs.notify_one();
                while turn.is_theirs {
                    turn = pair.ours.wait(turn).expect("nobody panics");
                }
            }
        }
    }
}
