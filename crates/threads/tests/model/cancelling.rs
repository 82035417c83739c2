//! A thread that is cancelled while another processor begins it, wakes it, or ends what it joins:
//! it ends once, and what came first counts.

use std::collections::VecDeque;

use loom::sync::Arc;
use loom::thread;

use crate::home::{Cancel, Home};
use crate::inbox::Inbox;
use crate::join::{End, JoinWord};
use crate::latch;
use crate::sync::{AtomicU32, UnsafeCell};

const RUN: u32 = 1;

/// The number of a thread that waits, in words that have other states, too.
const WAITER: usize = 64;

/// The processor that a thread begins on.
const AT: u16 = 1;

/// A thread that was forked is cancelled while a processor takes it to begin it.
pub fn begin() {
    loom::model(|| {
        let home = Arc::new(Home::new());
        home.fork();
        let theirs = Arc::clone(&home);
        let begins = thread::spawn(move || theirs.settle(RUN, AT));
        let cancelled = home.cancel();
        let never_begins = begins.join().unwrap();
        let wanted = if never_begins { Cancel::Done } else { Cancel::Tell(AT) };
        assert_eq!(cancelled, wanted, "both of them, or nobody, take it for cancelled");
        assert!(home.is(RUN, AT));
        home.leave();
        assert_eq!(home.cancel(), Cancel::Done);
    });
}

/// A record that was a thread's of this run, on a third processor, becomes one of another run's, on
/// a processor of the same number as the one that asks whether the thread is its own.
pub fn pass_on() {
    loom::model(|| {
        let home = Arc::new(Home::new());
        home.settle(RUN, AT + 1);
        let theirs = Arc::clone(&home);
        let passes = thread::spawn(move || {
            theirs.leave();
            theirs.settle(RUN + 1, AT);
        });
        assert!(!home.is(RUN, AT), "it was never on this processor");
        passes.join().unwrap();
    });
}

/// A thread of this processor that waits in a list of a monitor, and who wakes it from another one.
struct Monitor {
    latch: AtomicU32,
    waiters: UnsafeCell<VecDeque<usize>>,
    /// What the waiter is handed.
    handed: UnsafeCell<u32>,
    inbox: Inbox,
}

impl Monitor {
    fn enter<R>(&self, look: impl FnOnce(&mut VecDeque<usize>) -> R) -> R {
        latch::enter(&self.latch, RUN).expect("it is this run's");
        // SAFETY: this kernel thread is in the latch; loom checks it.
        let outcome = self.waiters.with_mut(|waiters| look(unsafe { &mut *waiters }));
        latch::leave(&self.latch, RUN);
        outcome
    }

    /// Wakes who waits. False: nobody does.
    fn wake(&self) -> bool {
        let Some(waiter) = self.enter(VecDeque::pop_front) else { return false };
        // SAFETY: the waiter has not gone on; loom checks it.
        self.handed.with_mut(|handed| unsafe { *handed = 7 });
        assert!(!self.inbox.push(waiter, |before| assert_eq!(before, 0)), "it does not sleep");
        true
    }

    /// Takes the waiter out, on its own processor.
    fn withdraw(&self) -> bool {
        self.enter(|waiters| {
            let at = waiters.iter().position(|waiter| *waiter == WAITER);
            at.and_then(|at| waiters.remove(at)).is_some()
        })
    }
}

/// A thread that waits for a permit is cancelled while it is given one.
pub fn wake() {
    loom::model(|| {
        let monitor = Arc::new(Monitor {
            latch: AtomicU32::new(RUN),
            waiters: UnsafeCell::new(VecDeque::from([WAITER])),
            handed: UnsafeCell::new(0),
            inbox: Inbox::new(),
        });
        let theirs = Arc::clone(&monitor);
        let wakes = thread::spawn(move || theirs.wake());
        let is_cancelled = monitor.withdraw();
        let is_woken = is_cancelled || monitor.inbox.take() == WAITER;
        if is_woken && !is_cancelled {
            // SAFETY: it was handed over; loom checks it.
            monitor.handed.with_mut(|handed| assert_eq!(unsafe { *handed }, 7));
        }
        assert_ne!(wakes.join().unwrap(), is_cancelled);
        let comes = is_woken || monitor.inbox.take() == WAITER;
        assert!(comes, "it is neither woken nor cancelled");
    });
}

/// A thread that joins is cancelled while the other one ends.
pub fn join() {
    loom::model(|| {
        let word = Arc::new(JoinWord::new());
        assert!(!word.join(WAITER, false));
        let theirs = Arc::clone(&word);
        let ends = thread::spawn(move || theirs.end());
        if word.withdraw(WAITER, false) {
            // What unwinds drops its half.
            let has_ended = word.detach(false);
            assert_eq!(ends.join().unwrap(), if has_ended { End::Keep } else { End::Drop });
        } else {
            assert_eq!(ends.join().unwrap(), End::Wake(WAITER));
        }
    });
}

#[test]
fn who_begins_a_thread_and_who_cancels_it_agree() {
    begin();
}

#[test]
fn who_asks_whose_a_record_is_is_told_by_one_word() {
    pass_on();
}

#[test]
fn a_waiter_is_woken_or_cancelled() {
    wake();
}

#[test]
fn a_joiner_is_woken_or_cancelled() {
    join();
}
