//! Waiting for a word to change, and waking whoever waits.
//!
//! Shared, never private: the waiter and the waker are in two domains. The peer can move, wake or
//! lose a waiter on a word it can reach, so every wait is bounded, returns for no reason at times,
//! and proves nothing: the caller looks at the word again and decides. All waiters are woken,
//! because the first in line may be an impostor.

use std::sync::atomic::AtomicU32;
use std::time::Duration;

use rustix::io::Errno;
use rustix::thread::futex::{Flags, Wait, WaitFlags, WaitvFlags};
use rustix::time::ClockId;

use crate::clock;

/// Most words that [`wait_any`] can watch.
pub const WORDS_MAX: usize = 128;

/// How long [`wait_any`] sleeps on one word where the kernel cannot watch several (before 5.16).
const SINGLE_SLICE: Duration = Duration::from_millis(1);

/// Why a wait came back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Woken {
    /// Somebody woke the word; it may still hold what was expected.
    Woken,
    /// A word did not hold what was expected, so there was no sleep.
    Changed,
    /// The time is over.
    TimedOut,
    /// A signal came.
    Interrupted,
}

/// Sleeps while `word` holds `expected`, at most `timeout`.
///
/// # Cost: a system call, 0.3 us if the word has changed; else a sleep and its wake-up.
pub fn wait(word: &AtomicU32, expected: u32, timeout: Duration) -> Woken {
    let timeout = clock::timespec(timeout);
    let flags = Flags::empty();
    outcome(rustix::thread::futex::wait(
        word,
        flags,
        expected,
        Some(&timeout),
    ))
}

/// Wakes everybody who waits on `word`; returns how many.
///
/// # Cost: a system call, 0.3 us if nobody waits.
pub fn wake_all(word: &AtomicU32) -> usize {
    // The kernel refuses only words that are not mapped or not aligned; this one is both.
    rustix::thread::futex::wake(word, Flags::empty(), i32::MAX as u32).unwrap_or(0)
}

/// Sleeps while every word holds what is expected of it, at most `timeout`. With no word at all it
/// reports a change.
///
/// Panics over [`WORDS_MAX`] words.
pub fn wait_any(words: &[(&AtomicU32, u32)], timeout: Duration) -> Woken {
    assert!(
        words.len() <= WORDS_MAX,
        "{} words are over {WORDS_MAX}",
        words.len()
    );
    let Some((first, expected)) = words.first() else {
        return Woken::Changed;
    };
    let mut waits = [Wait::new(); WORDS_MAX];
    for (wait, (word, expected)) in waits.iter_mut().zip(words) {
        wait.val = u64::from(*expected);
        wait.uaddr = word.as_ptr().cast::<core::ffi::c_void>().into();
        wait.flags = WaitFlags::SIZE_U32;
    }
    let deadline = clock::timespec_after(timeout);
    let waits = &waits[..words.len()];
    let none = WaitvFlags::empty();
    let clock = ClockId::Monotonic;
    match rustix::thread::futex::waitv(waits, none, Some(&deadline), clock) {
        Err(Errno::NOSYS) => wait(first, *expected, timeout.min(SINGLE_SLICE)),
        result => outcome(result.map(|_| ())),
    }
}

fn outcome(result: Result<(), Errno>) -> Woken {
    match result {
        Ok(()) => Woken::Woken,
        Err(Errno::TIMEDOUT) => Woken::TimedOut,
        Err(Errno::INTR) => Woken::Interrupted,
        // AGAIN. Anything else would be a word that is not mapped, and there is none behind a
        // reference; the caller looks at its word in any case.
        Err(_) => Woken::Changed,
    }
}
