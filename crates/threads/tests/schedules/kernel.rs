//! The library's `kernel`, of kernel threads that shuttle switches: which one goes on is chance. A
//! sleep that nobody ends never ends, so that a wake which is lost fails the run.

use std::any::Any;
use std::cell::Cell;
use std::panic::UnwindSafe;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{LazyLock, LockResult, MutexGuard, TryLockError};
use std::time::{Duration, Instant};
use std::{io, thread};

use shuttle::sync::{Condvar, Mutex as Queue};

use crate::sync::{AtomicU32, pause};

pub use shuttle::thread_local;

thread_local! {
    /// How many panics unwind: std counts those of all of these threads as one's.
    static PANICS: Cell<usize> = const { Cell::new(0) };
}

/// Whether this thread unwinds.
pub fn panicking() -> bool {
    PANICS.with(Cell::get) > 0
}

/// Begins to unwind it.
pub fn resume_unwind(payload: Box<dyn Any + Send>) -> ! {
    PANICS.with(|panics| panics.set(panics.get() + 1));
    std::panic::resume_unwind(payload)
}

/// Ends what [`resume_unwind`] has begun.
pub fn catch_unwind<R>(body: impl FnOnce() -> R + UnwindSafe) -> thread::Result<R> {
    let outcome = std::panic::catch_unwind(body);
    if outcome.is_err() {
        PANICS.with(|panics| panics.set(panics.get().saturating_sub(1)));
    }
    outcome
}

/// The library's are held across words that others look at.
pub struct Mutex<T>(std::sync::Mutex<T>);

impl<T> Mutex<T> {
    pub const fn new(value: T) -> Mutex<T> {
        Mutex(std::sync::Mutex::new(value))
    }

    pub fn lock(&self) -> LockResult<MutexGuard<'_, T>> {
        loop {
            match self.0.try_lock() {
                Ok(guard) => return Ok(guard),
                Err(TryLockError::Poisoned(error)) => return Err(error),
                Err(TryLockError::WouldBlock) => pause(0),
            }
        }
    }
}

/// Makes a thread.
pub struct Builder(shuttle::thread::Builder);

impl Builder {
    pub fn new() -> Builder {
        Builder(shuttle::thread::Builder::new())
    }

    pub fn name(self, name: String) -> Builder {
        Builder(self.0.name(name))
    }

    pub fn spawn<T: Send + 'static>(
        self,
        body: impl FnOnce() -> T + Send + 'static,
    ) -> io::Result<JoinHandle<T>> {
        self.0.spawn(body).map(JoinHandle)
    }
}

pub struct JoinHandle<T>(shuttle::thread::JoinHandle<T>);

impl<T> JoinHandle<T> {
    pub fn join(self) -> thread::Result<T> {
        self.0.join()
    }
}

/// A time that passes by being asked for: the same in each run of a schedule.
pub fn now() -> Instant {
    static FIRST: LazyLock<Instant> = LazyLock::new(Instant::now);
    static ASKED: AtomicU64 = AtomicU64::new(0);
    *FIRST + Duration::from_micros(ASKED.fetch_add(1, Relaxed))
}

shuttle::lazy_static! {
    /// Who sleeps, on whichever word.
    static ref QUEUE: Queue<()> = Queue::new(());
    static ref WOKEN: Condvar = Condvar::new();
}

/// FUTEX_WAIT, as if there were no times: whoever waits for one of the processors' own would never
/// be waited for here.
pub fn wait(word: &AtomicU32, expected: u32, _longest: Duration) {
    wait_any(&[(word, expected)]);
}

/// The same for several words: until one of them changes.
pub fn wait_any(words: &[(&AtomicU32, u32)]) {
    let mut queue = QUEUE.lock().unwrap();
    while words.iter().all(|(word, expected)| word.peek() == *expected) {
        queue = WOKEN.wait(queue).unwrap();
    }
}

/// FUTEX_WAKE, of all who sleep: each looks at its own word again.
pub fn wake(_word: &AtomicU32) {
    let _queue = QUEUE.lock().unwrap();
    WOKEN.notify_all();
}
