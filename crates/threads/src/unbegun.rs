//! A processor's threads that have not begun, in a run with several processors. They are nobody's
//! yet, so that a processor that has nothing to do takes some of another's.
//!
//! ```text
//!   fork ──▶ ┌ newest … oldest ┐ ──▶ its own processor, in turn with those that have begun
//!            └─────────────────┘ ──▶ another processor that is idle: half, the oldest
//! ```
//!
//! Both take the oldest: it has waited longest, it forks most itself, and the newest one's closure
//! is still near its own processor. Who is idle looks at two numbers first, which only hint; then
//! it enters the latch (`latch.rs`), or goes elsewhere if somebody is inside (U23).
//!
//! | row | edge | by | order | makes visible | pairs with |
//! |---|---|---|---|---|---|
//! | P1 | count and oldest: store | who is inside | Relaxed | nothing: hints | - |
//! | P2 | count and oldest: load | any processor | Relaxed | nothing: hints | - |

use std::collections::VecDeque;

use crate::latch;
use crate::sync::{AtomicU32, AtomicU64, AtomicUsize, UnsafeCell, ord};

/// Most that are taken from another processor at once: it waits meanwhile.
pub const LOOT_MAX: usize = 32;

/// With so many, one of them will wait for sure, and others should come and take some. A single one
/// is most often begun within nanoseconds, by a join.
pub const PLENTY: usize = 2;

/// A list of things that have not begun, each with its turn among its processor's ready threads.
#[derive(Debug)]
#[repr(align(64))]
pub struct Unbegun<T> {
    run: u32,
    latch: AtomicU32,
    list: UnsafeCell<VecDeque<Entry<T>>>,
    count: AtomicUsize,
    oldest: AtomicU64,
}

/// One of them.
#[derive(Clone, Copy, Debug)]
pub struct Entry<T> {
    /// Its turn, which only its own processor understands; from 1.
    pub turn: u64,
    /// What is to begin.
    pub thread: T,
}

/// What a look from outside tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hint {
    /// How many there are.
    pub count: usize,
    /// The turn of the oldest.
    pub oldest: u64,
}

// SAFETY: who touches the list is in the latch.
unsafe impl<T: Send> Sync for Unbegun<T> {}

impl<T> Unbegun<T> {
    /// Of a processor of this run; none yet.
    pub fn new(run: u32) -> Unbegun<T> {
        Unbegun {
            run,
            latch: AtomicU32::new(run),
            list: UnsafeCell::new(VecDeque::new()),
            count: AtomicUsize::new(0),
            oldest: AtomicU64::new(0),
        }
    }

    /// Adds one. `look` is told how many there are now, inside the latch: what it reads there is
    /// no older than what a processor stored before it found less than that inside.
    #[inline]
    pub fn push<R>(&self, entry: Entry<T>, look: impl FnOnce(usize) -> R) -> R {
        self.enter(|list| {
            list.push_back(entry);
            look(list.len())
        })
    }

    /// The oldest, if about now there is one whose turn is before this. On its own processor.
    #[inline]
    pub fn pop_before(&self, turn: u64) -> Option<T> {
        let hint = self.hint();
        if hint.count == 0 || hint.oldest >= turn {
            return None;
        }
        self.enter(VecDeque::pop_front).map(|entry| entry.thread)
    }

    /// Takes the older half out, at most so many as there is room for in `loot`. If somebody else
    /// is at it, none.
    pub fn steal(&self, loot: &mut Vec<Entry<T>>) {
        if latch::try_enter(&self.latch, self.run).is_err() {
            return;
        }
        let room = loot.capacity() - loot.len();
        self.look_and_leave(|list| {
            let half = list.len().div_ceil(2).min(room);
            loot.extend(list.drain(..half));
        });
    }

    /// How many there are, and the oldest's turn, as of about now.
    #[inline]
    pub fn hint(&self) -> Hint {
        let count = self.count.load(ord!("P2", Relaxed));
        Hint { count, oldest: self.oldest.load(ord!("P2", Relaxed)) }
    }

    /// How many there are. What was stored before this is seen by who adds one after it.
    pub fn count(&self) -> usize {
        self.enter(|list| list.len())
    }

    #[inline]
    fn enter<R>(&self, look: impl FnOnce(&mut VecDeque<Entry<T>>) -> R) -> R {
        let entered = latch::enter(&self.latch, self.run);
        assert!(entered.is_ok(), "the latch is this run's from the beginning");
        self.look_and_leave(look)
    }

    /// Shows the list to who has entered, says what there is after that, and leaves.
    #[inline]
    fn look_and_leave<R>(&self, look: impl FnOnce(&mut VecDeque<Entry<T>>) -> R) -> R {
        let outcome = self.list.with_mut(|list| {
            // SAFETY: this kernel thread is in the latch, and has no other reference to it.
            let list = unsafe { &mut *list };
            let outcome = look(list);
            let oldest = list.front().map_or(0, |entry| entry.turn);
            self.count.store(list.len(), ord!("P1", Relaxed));
            self.oldest.store(oldest, ord!("P1", Relaxed));
            outcome
        });
        latch::leave(&self.latch, self.run);
        outcome
    }
}
