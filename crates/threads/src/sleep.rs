//! Threads that wait for a time.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use crate::cancel::test_cancel;
use crate::kernel::now;
use crate::processor::{Processor, here_for};
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
#[track_caller]
pub fn sleep_until(deadline: Instant) {
    wait_until(here_for("sleep_until"), deadline);
}

fn wait_until(processor: &'static Processor, deadline: Instant) {
    test_cancel();
    if now() >= deadline {
        return processor.yield_now();
    }
    processor.sleepers.push(deadline, processor.running());
    processor.block_or_unwind(&Time(deadline));
}

/// Lets other FastThreads run for at least so long; see [`sleep_until`]. A time that is longer than
/// the clock can say does not pass.
///
/// # Panics
///
/// If the caller is no FastThread.
#[track_caller]
pub fn sleep(time: Duration) {
    wait_until(here_for("sleep"), after(time));
}

/// 136 years.
const NEVER: Duration = Duration::from_secs(1 << 32);

/// When so long has passed: never, if the clock cannot say it.
pub(crate) fn after(time: Duration) -> Instant {
    let now = now();
    now.checked_add(time).unwrap_or_else(|| now + NEVER)
}

/// A processor's threads that wait for a time.
#[derive(Debug, Default)]
pub struct Sleepers {
    by_deadline: RefCell<BTreeMap<Key, &'static Thread>>,
    /// So that those with one deadline wake in the order in which they came.
    slept: Cell<u64>,
}

/// When a thread is to wake, and which of those that are to wake then it is.
pub type Key = (Instant, u64);

/// What a sleeper waits for.
struct Time(Instant);

impl Sleepers {
    pub fn push(&self, deadline: Instant, thread: &'static Thread) {
        let key = (deadline, self.slept.get());
        self.slept.set(key.1 + 1);
        thread.sleeps.set(Some(key));
        self.by_deadline.borrow_mut().insert(key, thread);
    }

    /// It does not wait for a time any more. False: it did not.
    pub fn remove(&self, thread: &'static Thread) -> bool {
        let key = thread.sleeps.take();
        key.is_some_and(|key| self.by_deadline.borrow_mut().remove(&key).is_some())
    }

    /// When the next one is to wake.
    pub fn next(&self) -> Option<Instant> {
        self.by_deadline.borrow().first_key_value().map(|(&(deadline, _), _)| deadline)
    }

    /// The next one whose time has come.
    pub fn pop(&self, now: Instant) -> Option<&'static Thread> {
        let mut by_deadline = self.by_deadline.borrow_mut();
        let next = by_deadline.first_entry().filter(|next| next.key().0 <= now)?;
        let thread = next.remove();
        thread.sleeps.set(None);
        Some(thread)
    }
}

/// A time that a thread waits for, as a report says it.
pub(crate) fn describe_time(deadline: Instant) -> String {
    let left = deadline.saturating_duration_since(now());
    match left > NEVER / 2 {
        true => "a time that does not come".to_owned(),
        false => format!("a time in {} ms", left.as_millis()),
    }
}

impl Waited for Time {
    fn describe(&self) -> String {
        describe_time(self.0)
    }

    fn withdraw(&self, processor: &Processor, thread: &'static Thread) -> bool {
        processor.sleepers.remove(thread)
    }
}
