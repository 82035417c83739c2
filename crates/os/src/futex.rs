//! Waiting for a word to change, and waking whoever waits.
//!
//! A word is shared if the waiter and the waker may be in two domains, and own if it lies where no
//! other domain reaches it: the kernel finds the waiters of an own word without looking at the
//! mapping, in half the time. Who waits and who wakes must mean the same.
//!
//! The peer can move, wake or lose a waiter on a word it can reach, so every wait for one is
//! bounded, returns for no reason at times, and proves nothing: the caller looks at the word again
//! and decides. All waiters are woken, because the first in line may be an impostor.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use arrayvec::ArrayVec;
use rustix::io::Errno;
use rustix::thread::futex::{Flags, Wait, WaitFlags, WaitvFlags};
use rustix::time::ClockId;

use crate::{clock, return_stack};

/// Most words that [`wait_any`] can watch.
pub const WORDS_MAX: usize = 128;

/// How long [`wait_for_a_slice`] sleeps.
const SINGLE_SLICE: Duration = Duration::from_millis(1);

/// Why a wait came back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Woken {
    /// Somebody woke this one of the words; it may still hold what was expected.
    Woken(usize),
    /// A word did not hold what was expected, so there was no sleep.
    Changed,
    /// The time is over.
    TimedOut,
    /// A signal came.
    Interrupted,
}

/// A word that a sleep waits for, and what it has to hold meanwhile.
#[derive(Clone, Copy, Debug)]
pub struct Watched<'w> {
    word: &'w AtomicU32,
    expected: u32,
    is_own: bool,
}

impl<'w> Watched<'w> {
    /// A word that another domain may wake.
    pub fn shared(word: &'w AtomicU32, expected: u32) -> Watched<'w> {
        Watched { word, expected, is_own: false }
    }

    /// A word that no other domain reaches.
    pub fn own(word: &'w AtomicU32, expected: u32) -> Watched<'w> {
        Watched { word, expected, is_own: true }
    }

    /// Sleeps while the word holds what is expected, at most `timeout`.
    ///
    /// # Cost: a system call, 0.3 us if the word has changed; else a sleep and its wake-up. If the
    /// end of `timeout` is the next thing that the processor has to wake up for, 1 to 2 us more on
    /// virtual machines: its timer is set and set back.
    pub fn wait(self, timeout: Duration) -> Woken {
        let timeout = clock::timespec(timeout);
        let flags = flags(self.is_own);
        let result = rustix::thread::futex::wait(self.word, flags, self.expected, Some(&timeout));
        return_stack::refill();
        outcome(result.map(|()| 0))
    }

    fn among_others(self) -> Wait {
        let own = if self.is_own { WaitFlags::PRIVATE } else { WaitFlags::empty() };
        let mut wait = Wait::new();
        wait.val = u64::from(self.expected);
        wait.uaddr = self.word.as_ptr().cast::<core::ffi::c_void>().into();
        wait.flags = WaitFlags::SIZE_U32 | own;
        wait
    }
}

/// Sleeps while shared `word` holds `expected`, at most `timeout`: [`Watched::wait`].
pub fn wait(word: &AtomicU32, expected: u32, timeout: Duration) -> Woken {
    Watched::shared(word, expected).wait(timeout)
}

/// Wakes everybody who waits on shared `word`; returns how many.
///
/// # Cost: a system call, 0.3 us if nobody waits.
pub fn wake_all(word: &AtomicU32) -> usize {
    wake(word, i32::MAX as u32, false)
}

/// Wakes everybody who waits on own `word`; returns how many.
///
/// # Cost: a system call, 0.2 us if nobody waits.
pub fn wake_own(word: &AtomicU32) -> usize {
    wake(word, i32::MAX as u32, true)
}

/// Wakes who has waited longest on own `word`; returns whether somebody did.
///
/// # Cost: a system call, 0.2 us if nobody waits.
pub fn wake_first_own(word: &AtomicU32) -> bool {
    wake(word, 1, true) > 0
}

fn wake(word: &AtomicU32, most: u32, is_own: bool) -> usize {
    // The kernel refuses only words that are not mapped or not aligned; this one is both.
    rustix::thread::futex::wake(word, flags(is_own), most).unwrap_or(0)
}

fn flags(is_own: bool) -> Flags {
    if is_own { Flags::PRIVATE } else { Flags::empty() }
}

/// Sleeps while every word holds what is expected of it, at most `timeout`; `None`: without end.
/// With no word at all it reports a change, and before Linux 5.16 once a millisecond, whoever was
/// woken.
///
/// Panics over [`WORDS_MAX`] words.
///
/// # Cost: as [`Watched::wait`], and 0.5 us for each shared word more, half that for an own one.
pub fn wait_any(words: &[Watched<'_>], timeout: Option<Duration>) -> Woken {
    assert!(words.len() <= WORDS_MAX, "{} words are over {WORDS_MAX}", words.len());
    let Some(first) = words.first() else {
        return Woken::Changed;
    };
    let mut waits = ArrayVec::<Wait, WORDS_MAX>::new();
    waits.extend(words.iter().copied().map(Watched::among_others));
    let deadline = timeout.map(clock::timespec_after);
    let none = WaitvFlags::empty();
    let clock = ClockId::Monotonic;
    let result = rustix::thread::futex::waitv(&waits, none, deadline.as_ref(), clock);
    return_stack::refill();
    match result {
        Err(Errno::NOSYS) => wait_for_a_slice(words, *first, timeout),
        result => outcome(result),
    }
}

/// [`wait_any`] where the kernel cannot watch several words (before 5.16): the first is slept on,
/// for a short time, and then all are to be looked at.
#[cold]
fn wait_for_a_slice(words: &[Watched<'_>], first: Watched<'_>, timeout: Option<Duration>) -> Woken {
    // Relaxed: as the kernel reads a word that it watches; who is told of a change reads it anew.
    if words.iter().any(|watched| watched.word.load(Ordering::Relaxed) != watched.expected) {
        return Woken::Changed;
    }
    match timeout.filter(|timeout| *timeout <= SINGLE_SLICE) {
        Some(timeout) => first.wait(timeout),
        None => match first.wait(SINGLE_SLICE) {
            Woken::TimedOut => Woken::Changed,
            woken => woken,
        },
    }
}

fn outcome(result: Result<usize, Errno>) -> Woken {
    match result {
        Ok(at) => Woken::Woken(at),
        Err(Errno::TIMEDOUT) => Woken::TimedOut,
        Err(Errno::INTR) => Woken::Interrupted,
        // AGAIN. Anything else would be a word that is not mapped, and there is none behind a
        // reference; the caller looks at its word in any case.
        Err(_) => Woken::Changed,
    }
}

#[cfg(test)]
mod tests {
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
        assert_eq!(
            wait_any(&[Watched::own(&word, 1), Watched::own(&word, 0)], None),
            Woken::Changed
        );
    }

    #[test]
    fn a_wait_ends_with_its_time() {
        let word = AtomicU32::new(0);
        assert_eq!(wait(&word, 0, Duration::ZERO), Woken::TimedOut);
        assert_eq!(wait_any(&[Watched::own(&word, 0)], Some(Duration::ZERO)), Woken::TimedOut);
    }

    #[test]
    fn a_time_past_the_kernel_s_range_is_no_error() {
        let word = AtomicU32::new(1);
        assert_eq!(wait(&word, 0, Duration::MAX), Woken::Changed);
        assert_eq!(wait_any(&[Watched::own(&word, 0)], Some(Duration::MAX)), Woken::Changed);
        if !watches_several() {
            return;
        }
        std::thread::scope(|scope| {
            let waiter =
                scope.spawn(|| wait_any(&[Watched::shared(&word, 1)], Some(Duration::MAX)));
            wake_one(&word);
            assert_eq!(waiter.join().unwrap(), Woken::Woken(0));
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
            assert_eq!(waiter.join().unwrap(), Woken::Woken(0));
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
    fn where_one_word_alone_can_be_watched_a_slice_ends_as_a_change() {
        let (word, other) = (AtomicU32::new(0), AtomicU32::new(0));
        let words = [&word, &other].map(|word| Watched::own(word, 0));
        let sleep = |timeout| wait_for_a_slice(&words, words[0], timeout);
        assert_eq!(sleep(None), Woken::Changed);
        assert_eq!(sleep(Some(Duration::MAX)), Woken::Changed);
        assert_eq!(sleep(Some(Duration::ZERO)), Woken::TimedOut);
        // Relaxed: one thread's.
        other.store(1, Ordering::Relaxed);
        assert_eq!(sleep(Some(Duration::ZERO)), Woken::Changed);
    }

    /// Whether this kernel watches several words, which a test says that needs one that does.
    fn watches_several() -> bool {
        let is_old = lacking::kernel_is_before(5, 16);
        if is_old {
            lacking::lacking("futex_waitv, of Linux 5.16");
        }
        !is_old
    }

    #[test]
    fn any_of_the_words_wakes() {
        if !watches_several() {
            return;
        }
        let words = [const { AtomicU32::new(0) }; WORDS_MAX];
        let watched = words.each_ref().map(|word| Watched::shared(word, 0));
        std::thread::scope(|scope| {
            let waiter = scope.spawn(|| wait_any(&watched, None));
            wake_one(&words[WORDS_MAX - 1]);
            assert_eq!(waiter.join().unwrap(), Woken::Woken(WORDS_MAX - 1));
        });
    }

    #[test]
    fn an_own_word_wakes_one_by_one_and_among_others() {
        if !watches_several() {
            return;
        }
        let (word, other) = (AtomicU32::new(0), AtomicU32::new(0));
        let among = [Watched::shared(&other, 0), Watched::own(&word, 0)];
        std::thread::scope(|scope| {
            let alone = scope.spawn(|| Watched::own(&word, 0).wait(FOREVER));
            let all = scope.spawn(|| wait_any(&among, None));
            let mut woken = 0;
            while woken < 2 {
                woken += wake_own(&word);
                crate::processor::yield_now();
            }
            assert_eq!(alone.join().unwrap(), Woken::Woken(0));
            assert_eq!(all.join().unwrap(), Woken::Woken(1));
        });
    }

    #[test]
    fn no_word_is_no_wait() {
        assert_eq!(wait_any(&[], None), Woken::Changed);
    }

    #[test]
    #[should_panic(expected = "129 words are over 128")]
    fn more_words_than_the_kernel_watches_panic() {
        let word = AtomicU32::new(0);
        wait_any(&[Watched::own(&word, 0); WORDS_MAX + 1], None);
    }
}
