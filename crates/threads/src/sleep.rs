//! Threads that wait for a time.

use std::cell::{Cell, RefCell};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::{Duration, Instant};

use crate::processor::here_for;
use crate::report::Waited;
use crate::thread::Thread;

/// Lets other FastThreads run, at least until `deadline`. A thread that is ready then goes first,
/// and so does one that does not yield.
///
/// # Panics
///
/// If the caller is no FastThread.
///
/// # Cost: two readings of the clock and two switches. The processor sleeps if no thread is ready.
pub fn sleep_until(deadline: Instant) {
    let processor = here_for("sleep_until");
    if Instant::now() >= deadline {
        return processor.yield_now();
    }
    processor.sleepers.push(deadline, processor.running());
    processor.block(&Time(deadline));
}

/// Lets other FastThreads run for at least so long; see [`sleep_until`].
///
/// # Panics
///
/// If the caller is no FastThread, or the time is past what the clock can say.
pub fn sleep(time: Duration) {
    sleep_until(Instant::now() + time);
}

/// A processor's threads that wait for a time.
#[derive(Debug, Default)]
pub struct Sleepers {
    by_deadline: RefCell<BinaryHeap<Reverse<Sleeper>>>,
    /// So that those with one deadline wake in the order in which they came.
    slept: Cell<u64>,
}

#[derive(Debug)]
struct Sleeper {
    deadline: Instant,
    order: u64,
    thread: &'static Thread,
}

/// What a sleeper waits for.
struct Time(Instant);

impl Sleepers {
    fn push(&self, deadline: Instant, thread: &'static Thread) {
        let order = self.slept.get();
        self.slept.set(order + 1);
        self.by_deadline.borrow_mut().push(Reverse(Sleeper { deadline, order, thread }));
    }

    /// When the next one is to wake.
    pub fn next(&self) -> Option<Instant> {
        self.by_deadline.borrow().peek().map(|Reverse(sleeper)| sleeper.deadline)
    }

    /// The next one whose time has come.
    pub fn pop(&self, now: Instant) -> Option<&'static Thread> {
        if self.next()? > now {
            return None;
        }
        self.by_deadline.borrow_mut().pop().map(|Reverse(sleeper)| sleeper.thread)
    }
}

impl Sleeper {
    fn key(&self) -> (Instant, u64) {
        (self.deadline, self.order)
    }
}

impl PartialEq for Sleeper {
    fn eq(&self, other: &Sleeper) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Sleeper {}

impl PartialOrd for Sleeper {
    fn partial_cmp(&self, other: &Sleeper) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Sleeper {
    fn cmp(&self, other: &Sleeper) -> std::cmp::Ordering {
        self.key().cmp(&other.key())
    }
}

impl Waited for Time {
    fn describe(&self) -> String {
        let left = self.0.saturating_duration_since(Instant::now());
        format!("a time in {} ms", left.as_millis())
    }
}
