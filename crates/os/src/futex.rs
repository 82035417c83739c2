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
    outcome(rustix::thread::futex::wait(word, flags, expected, Some(&timeout)))
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
    assert!(words.len() <= WORDS_MAX, "{} words are over {WORDS_MAX}", words.len());
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

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering;

    use nearcall_abi::BellLine;

    use super::*;
    use crate::segment::{Sealing, Segment};

    /// Long enough that a test that needs it has failed.
    const FOREVER: Duration = Duration::from_secs(600);

    /// Wakes until somebody was there to be woken.
    fn wake_one(word: &AtomicU32) {
        while wake_all(word) == 0 {
            crate::processor::yield_now();
        }
    }

    #[test]
    fn a_word_that_has_changed_is_not_waited_for() {
        let word = AtomicU32::new(1);
        assert_eq!(wait(&word, 0, FOREVER), Woken::Changed);
        assert_eq!(wait_any(&[(&word, 1), (&word, 0)], FOREVER), Woken::Changed);
    }

    #[test]
    fn a_wait_ends_with_its_time() {
        let word = AtomicU32::new(0);
        assert_eq!(wait(&word, 0, Duration::ZERO), Woken::TimedOut);
        assert_eq!(wait_any(&[(&word, 0)], Duration::ZERO), Woken::TimedOut);
    }

    #[test]
    fn a_time_past_the_kernel_s_range_is_no_error() {
        let word = AtomicU32::new(1);
        assert_eq!(wait(&word, 0, Duration::MAX), Woken::Changed);
        assert_eq!(wait_any(&[(&word, 0)], Duration::MAX), Woken::Changed);
        std::thread::scope(|scope| {
            let waiter = scope.spawn(|| wait_any(&[(&word, 1)], Duration::MAX));
            wake_one(&word);
            assert_eq!(waiter.join().unwrap(), Woken::Woken);
        });
    }

    #[test]
    fn waking_nobody_wakes_nobody() {
        assert_eq!(wake_all(&AtomicU32::new(0)), 0);
    }

    #[test]
    fn a_waiter_is_woken_through_another_mapping_of_the_segment() {
        let (creator, file) = Segment::create("futex", 4096, Sealing::BothWrite).unwrap();
        let receiver = Segment::receive(file, 4096, Sealing::BothWrite).unwrap();
        let here = creator.span_mut().unwrap().line::<BellLine>(0).unwrap();
        let there = receiver.span_mut().unwrap().line::<BellLine>(0).unwrap();
        std::thread::scope(|scope| {
            let waiter = scope.spawn(|| wait(&there.gate, 0, FOREVER));
            wake_one(&here.gate);
            assert_eq!(waiter.join().unwrap(), Woken::Woken);
        });
    }

    #[test]
    fn all_who_wait_are_woken() {
        let word = AtomicU32::new(0);
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| while wait(&word, 0, FOREVER) != Woken::Changed {});
            }
            wake_one(&word);
            // Relaxed: the word stands for itself.
            word.store(1, Ordering::Relaxed);
            wake_all(&word);
        });
    }

    #[test]
    fn any_of_the_words_wakes() {
        let words = [const { AtomicU32::new(0) }; WORDS_MAX];
        let watched = words.each_ref().map(|word| (word, 0));
        std::thread::scope(|scope| {
            let waiter = scope.spawn(|| wait_any(&watched, FOREVER));
            wake_one(&words[WORDS_MAX - 1]);
            assert_eq!(waiter.join().unwrap(), Woken::Woken);
        });
    }

    #[test]
    fn no_word_is_no_wait() {
        assert_eq!(wait_any(&[], FOREVER), Woken::Changed);
    }

    #[test]
    #[should_panic(expected = "129 words are over 128")]
    fn more_words_than_the_kernel_watches_panic() {
        let word = AtomicU32::new(0);
        wait_any(&[(&word, 0); WORDS_MAX + 1], Duration::ZERO);
    }
}
