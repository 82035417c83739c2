//! What kernel threads are to a run: who runs its processors, unwinds, sleeps and tells the time.
//! Apart, because the schedules (`tests/schedules`) compile the scheduler against threads that they
//! switch themselves.

use std::time::{Duration, Instant};

use rustix::thread::futex;

use crate::sync::AtomicU32;

pub use std::panic::{catch_unwind, resume_unwind};
pub use std::sync::Mutex;
pub use std::thread::{Builder, JoinHandle, panicking};
pub use std::thread_local;

/// The time.
pub fn now() -> Instant {
    Instant::now()
}

/// Sleeps while the word holds that, at most so long. May wake for nothing.
pub fn wait(word: &AtomicU32, expected: u32, longest: Duration) {
    let Ok(longest) = longest.try_into() else { return };
    // Whatever it says, the caller looks again.
    let _ = futex::wait(word, futex::Flags::PRIVATE, expected, Some(&longest));
}

/// Wakes a kernel thread that sleeps on this word.
pub fn wake(word: &AtomicU32) {
    // Refused only for words that are not mapped or not aligned.
    let _ = futex::wake(word, futex::Flags::PRIVATE, 1);
}
