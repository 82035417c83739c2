//! What FastThreads do in a run on three processors, and what came of it.

mod replies;
mod scopes;
mod stacks;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use crate::condition::Condition;
use crate::error::{JoinError, RunError};
use crate::fork::{Forked, fork, named};
use crate::mutex::Mutex;
use crate::processor::here_for;
use crate::rwlock::RwLock;
use crate::semaphore::Semaphore;

use self::stacks::Play;

pub use replies::{CALLS, replies};
pub use scopes::{SCOPED, scopes};

/// Threads are a tree; this many, if none is cancelled.
pub const THREADS: usize = 15;

/// Most threads of the tree yield so often before they join.
const YIELDS: usize = 3;

/// Threads that want the same locks.
pub const RIVALS: usize = 6;

/// Rivals that may be inside at once.
const PERMITS: usize = 2;

/// What became of the threads of a run.
#[derive(Debug, Default)]
pub struct Counts {
    pub forked: AtomicUsize,
    pub begun: AtomicUsize,
    /// Their closures were dropped, whether they had begun or not.
    pub ended: AtomicUsize,
    /// Those that began on another processor than they were forked on.
    pub moved: AtomicUsize,
    /// Those whose joins said that they were cancelled.
    pub cancelled: AtomicUsize,
}

fn count(number: &AtomicUsize) {
    // Relaxed: read when the run is over.
    number.fetch_add(1, Relaxed);
}

/// What a thread of the tree has with it.
struct Node {
    number: usize,
    forked_at: u16,
    cancels: bool,
    counts: Arc<Counts>,
}

impl Drop for Node {
    fn drop(&mut self) {
        count(&self.counts.ended);
    }
}

impl Node {
    fn fork(&self, number: usize) -> Forked<usize> {
        count(&self.counts.forked);
        let (counts, forked_at) = (Arc::clone(&self.counts), at());
        let node = Node { number, forked_at, cancels: self.cancels, counts };
        fork(move || node.run()).unwrap()
    }

    /// Forks two, of which it joins one.
    fn run(self) -> usize {
        count(&self.counts.begun);
        if at() != self.forked_at {
            count(&self.counts.moved);
        }
        let [joined, detached] = [2 * self.number + 1, 2 * self.number + 2];
        if joined >= THREADS {
            // So that it is waited for.
            (0..=YIELDS).for_each(|_| here_for("yield").yield_now());
            return self.number;
        }
        let child = self.fork(joined);
        drop(self.fork(detached));
        // Those of the last row but one are cancelled while they wait, if at all.
        let yields = if self.number > YIELDS { 0 } else { YIELDS };
        for step in 0..yields {
            if self.cancels && self.number + step == YIELDS {
                child.cancel().unwrap();
            }
            here_for("yield").yield_now();
        }
        match child.join() {
            Ok(number) => assert_eq!(number, joined),
            Err(JoinError::Cancelled(_)) if self.cancels => count(&self.counts.cancelled),
            Err(error) => panic!("thread {joined}: {error}"),
        }
        self.number
    }
}

/// The processor that the caller runs on.
fn at() -> u16 {
    here_for("at").place().at
}

/// A tree of threads, some of which are cancelled, sooner or later, if it `cancels`.
pub fn tree(cancels: bool) -> Arc<Counts> {
    let counts = Arc::new(Counts::default());
    count(&counts.forked);
    let first = Node { number: 0, forked_at: 0, cancels, counts: Arc::clone(&counts) };
    let play = if cancels { Play::Cancelled } else { Play::Tree };
    assert_eq!(play.run(move || first.run()).unwrap(), 0);
    counts
}

/// What rivals want.
struct Wanted {
    permits: Semaphore,
    inside: AtomicUsize,
    /// Two numbers that differ only while somebody writes.
    pair: RwLock<(usize, usize)>,
    done: Mutex<usize>,
    changed: Condition,
}

impl Wanted {
    fn rival(&self) {
        self.permits.acquire();
        // Relaxed: the semaphore's own word orders what is inside.
        let others = self.inside.fetch_add(1, Relaxed);
        assert!(others < PERMITS, "{others} others are inside");
        self.write();
        self.inside.fetch_sub(1, Relaxed);
        self.permits.release();
        let pair = self.pair.read().unwrap();
        assert_eq!(pair.0, pair.1);
        drop(pair);
        *self.done.lock().unwrap() += 1;
        self.changed.signal();
    }

    fn write(&self) {
        let mut pair = self.pair.write().unwrap();
        pair.0 += 1;
        here_for("yield").yield_now();
        pair.1 += 1;
    }
}

/// Rivals take all that there is to take; how often each was in the end.
pub fn locks() -> (usize, usize) {
    let run = Play::Locks.run(|| {
        let wanted = Arc::new(Wanted {
            permits: Semaphore::new(PERMITS),
            inside: AtomicUsize::new(0),
            pair: RwLock::new((0, 0)),
            done: Mutex::new(0),
            changed: Condition::new(),
        });
        for _ in 0..RIVALS {
            let wanted = Arc::clone(&wanted);
            drop(fork(move || wanted.rival()).unwrap());
        }
        let done = wanted.done.lock().unwrap();
        let done = *wanted.changed.wait_while(done, |done| *done < RIVALS).unwrap();
        let written = wanted.pair.read().unwrap().1;
        (done, written)
    });
    run.unwrap()
}

/// A thread waits for a signal that nobody sends, and another one for its end; who they are, as the
/// run says it.
pub fn deadlock() -> Vec<String> {
    // Those that are stuck keep their stacks.
    let run = Play::Deadlock.setup().run(|| {
        let stuck = named("stuck").fork(|| {
            let (lock, never) = (Mutex::new(()), Condition::new());
            drop(never.wait(lock.lock().unwrap()));
        });
        let others: Vec<_> = (0..3).map(|number| fork(move || number).unwrap()).collect();
        others.iter().enumerate().for_each(|(number, other)| {
            assert_eq!(other.join().unwrap(), number);
        });
        stuck.unwrap().join().unwrap();
    });
    match run {
        Err(RunError::Deadlock(report)) => {
            report.threads().iter().filter_map(|thread| thread.name.clone()).collect()
        }
        other => panic!("no deadlock: {other:?}"),
    }
}
