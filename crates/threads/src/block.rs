//! Calls that block a kernel thread, made on one that may: FastThreads go on meanwhile (T8).

use std::any::Any;
use std::collections::VecDeque;
use std::io;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use crate::cancel::test_cancel;
use crate::place::Place;
use crate::processor::here_for;
use crate::report::Waited;
use crate::thread::Thread;

/// Most kernel threads that stand in for blocked ones; further calls wait for one of them.
const STANDINS_MAX: usize = 64;

/// One that has nothing to do for so long ends.
const STANDIN_IDLE: Duration = Duration::from_secs(5);

/// Runs `body`, which may block, on another kernel thread, and waits for its result. Other
/// FastThreads run meanwhile. A cancel of the caller has no effect before it has returned.
///
/// `body` is no FastThread: it cannot use what only FastThreads can. At most 64 of those of a
/// process run at once, further ones when one of them is done: they may not wait for each other
/// where there may be more.
///
/// # Errors: no kernel thread could be made for it, and there is none; `body` was not run.
///
/// # Panics
///
/// With what `body` panics with; and if the caller is no FastThread.
///
/// # Cost: two wakes of kernel threads; a new one if all that there are have something to do.
///
/// ```
/// let text = nearcall_threads::run(|| nearcall_threads::block(|| std::fs::read("/dev/null")));
/// assert!(text.unwrap().unwrap().unwrap().is_empty());
/// ```
#[track_caller]
pub fn block<T: Send>(body: impl FnOnce() -> T + Send) -> io::Result<T> {
    let processor = here_for("block");
    test_cancel();
    let mut outcome: Option<Result<T, Box<dyn Any + Send>>> = None;
    let place = Out(&mut outcome);
    let caller = Caller { place: processor.place(), thread: processor.running() };
    let job: Box<dyn FnOnce() -> Caller + Send + '_> = Box::new(move || {
        let Out(outcome) = place;
        *outcome = Some(catch_unwind(AssertUnwindSafe(body)));
        caller
    });
    // SAFETY: only the lifetime changes. This thread waits until it is woken, which comes after the
    // job; and if that is not taken, it is dropped below.
    let job: Job = unsafe { mem::transmute::<Box<dyn FnOnce() -> Caller + Send + '_>, Job>(job) };
    give(job)?;
    processor.block_outside(&Call);
    match outcome.expect("the caller is woken when there is an outcome") {
        Ok(result) => Ok(result),
        Err(payload) => resume_unwind(payload),
    }
}

/// Says who is to be woken.
type Job = Box<dyn FnOnce() -> Caller + Send>;

/// Where the outcome goes.
struct Out<'o, T>(&'o mut Option<Result<T, Box<dyn Any + Send>>>);

/// Who waits for it.
struct Caller {
    place: Place,
    thread: &'static Thread,
}

// SAFETY: `wake` uses the processor's inbox, which is for all, and the thread's link, which is the
// waker's while the thread is blocked.
unsafe impl Send for Caller {}

impl Caller {
    fn wake(self) {
        self.place.deliver(self.thread);
    }
}

/// The kernel threads, and what they are to do.
pub struct Standins {
    jobs: VecDeque<Job>,
    count: usize,
    idle: usize,
}

impl Standins {
    const fn new() -> Standins {
        Standins { jobs: VecDeque::new(), count: 0, idle: 0 }
    }

    /// In the child of a fork(2), which has none of them. What they were to do is the parent's.
    pub fn forget(&mut self) {
        mem::forget(mem::replace(self, Standins::new()));
    }
}

static STANDINS: Mutex<Standins> = Mutex::new(Standins::new());

static WORK: Condvar = Condvar::new();

pub(crate) fn standins() -> MutexGuard<'static, Standins> {
    STANDINS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// All threads of a run have ended: waits until nobody is in the middle of waking one of them, and
/// looks at the processor that it was on.
pub(crate) fn end_run() {
    drop(standins());
}

/// Has a kernel thread do it, a new one if none is idle.
fn give(job: Job) -> io::Result<()> {
    let mut standins = standins();
    if standins.idle <= standins.jobs.len() && standins.count < STANDINS_MAX {
        let name = "fastthreads-block".to_owned();
        match thread::Builder::new().name(name).spawn(stand_in) {
            Ok(_) => standins.count += 1,
            Err(error) if standins.count == 0 => return Err(error),
            // One of the others does it when it can.
            Err(_) => {}
        }
    }
    standins.jobs.push_back(job);
    WORK.notify_one();
    Ok(())
}

fn stand_in() {
    let mut standins = standins();
    loop {
        while let Some(job) = standins.jobs.pop_front() {
            drop(standins);
            let caller = job();
            standins = self::standins();
            // While it has the lock: see `end_run`.
            caller.wake();
        }
        standins.idle += 1;
        let waited = WORK.wait_timeout(standins, STANDIN_IDLE);
        let (now, timed_out) = waited.unwrap_or_else(PoisonError::into_inner);
        standins = now;
        standins.idle -= 1;
        if timed_out.timed_out() && standins.jobs.is_empty() {
            standins.count -= 1;
            return;
        }
    }
}

/// What the caller waits for.
struct Call;

impl Waited for Call {
    fn describe(&self) -> String {
        "a call that blocks".to_owned()
    }
}
