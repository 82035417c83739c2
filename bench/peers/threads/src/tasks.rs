//! Tasks of tokio's runtime for one thread, without its timers and without I/O.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};
use std::time::Instant;

use tokio::runtime::{Builder, Runtime};
use tokio::sync::Notify;
use tokio::task::{JoinHandle, yield_now};

use crate::{Case, Failure, Order, TOGETHER};

/// Two tasks that wait for each other. tokio has no conditions: what signals is its `Notify`, and
/// there is no lock.
#[derive(Default)]
struct Pair {
    ours: Notify,
    theirs: Notify,
    is_over: AtomicBool,
}

/// How many tasks of a batch have ended; all on one kernel thread.
struct Ended(AtomicU32);

static ENDED: Ended = Ended(AtomicU32::new(0));

/// What all tasks run on.
pub fn runtime() -> io::Result<Runtime> {
    Builder::new_current_thread().build()
}

/// Nanoseconds of each batch. All of it is a task, too.
pub fn time(runtime: &Runtime, order: Order) -> Result<Vec<u64>, Failure> {
    Ok(runtime.block_on(async { tokio::spawn(run(order)).await })?)
}

async fn run(order: Order) -> Vec<u64> {
    let pair = Arc::new(Pair::default());
    let other = begin(order.case, Arc::clone(&pair));
    batch(order.case, order.warm_up, &pair).await;
    let mut batches_ns = Vec::with_capacity(order.batches as usize);
    for _ in 0..order.batches {
        let start = Instant::now();
        batch(order.case, order.batch, &pair).await;
        batches_ns.push(start.elapsed().as_nanos() as u64);
    }
    pair.is_over.store(true, Relaxed);
    pair.theirs.notify_one();
    other.await.expect("it does not panic");
    batches_ns
}

/// The other task of the pair.
fn begin(case: Case, pair: Arc<Pair>) -> JoinHandle<()> {
    tokio::spawn(async move {
        match case {
            Case::Fork | Case::ForkJoin => {}
            Case::Yield => {
                while !pair.is_over.load(Relaxed) {
                    yield_now().await;
                }
            }
            Case::Pingpong => loop {
                pair.theirs.notified().await;
                if pair.is_over.load(Relaxed) {
                    break;
                }
                pair.ours.notify_one();
            },
        }
    })
}

/// So many operations.
async fn batch(case: Case, count: u32, pair: &Pair) {
    match case {
        Case::Fork => {
            ENDED.0.store(0, Relaxed);
            for forked in 1..=count {
                drop(tokio::spawn(async { ENDED.count() }));
                let is_due = forked.is_multiple_of(TOGETHER) || forked == count;
                while is_due && !ENDED.are(forked) {
                    yield_now().await;
                }
            }
        }
        Case::ForkJoin => {
            for _ in 0..count {
                tokio::spawn(async {}).await.expect("it does not panic");
            }
        }
        Case::Yield => {
            for _ in 0..count / 2 {
                yield_now().await;
            }
        }
        Case::Pingpong => {
            for _ in 0..count / 2 {
                pair.theirs.notify_one();
                pair.ours.notified().await;
            }
        }
    }
}

impl Ended {
    /// One has.
    fn count(&self) {
        self.0.store(self.0.load(Relaxed) + 1, Relaxed);
    }

    /// Whether so many have.
    fn are(&self, count: u32) -> bool {
        self.0.load(Relaxed) == count
    }
}
