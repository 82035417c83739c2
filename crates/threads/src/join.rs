//! One thread's end: whether it has come, who waits for it, and who has its stack after it.
//!
//! ```text
//!             end           leave
//!  RUNNING ─────────▶ ENDED ─────▶ LEFT ── take ──▶ (pool)
//!   │   │ ▲ join       │                              ▲ ▲
//!   │   ▼ │ withdraw   │                              │ │
//!   │   the joiner     │ take                         │ │
//!   │         │        └───▶ TAKEN ──────── leave ────┘ │
//!   │         └──end──▶ ENDED or LEFT, as above         │
//!   │ detach                                            │
//!   └──────▶ DETACHED ──────────end─────────────────────┘
//! ```
//!
//! A thread that has ended is on its stack until its processor has left it. Where the run has one
//! processor nobody else does anything before that, so that a thread's end makes it LEFT at once.
//! Where it has several the result may be taken meanwhile, and the stack is given back by whoever
//! comes second: who takes the result, or the processor that leaves.
//!
//! | row | edge | by | order | makes visible | pairs with |
//! |---|---|---|---|---|---|
//! | J1 | anything to ENDED | the thread | AcqRel | the result | J2, J3 |
//! | J2 | RUNNING to joiner, DETACHED | others | Release | that the joiner waits | J1 |
//! | J3 | load | others | Acquire | the result, and that the stack is left | J1, J5 |
//! | J4 | ENDED to TAKEN, unless LEFT | who takes the result | AcqRel | that it was read | J5 |
//! | J5 | ENDED to LEFT, unless TAKEN | its processor | AcqRel | that the stack is left | J4 |
//! | J6 | joiner to RUNNING | the joiner's processor | Relaxed | nothing | - |
//!
//! With one processor all is one kernel thread's, and nothing of it needs an order or a locked
//! operation. Threads are numbers here: the model has none.

use crate::sync::{AtomicUsize, ord};

const RUNNING: usize = 0;
const ENDED: usize = 1;
const LEFT: usize = 2;
const TAKEN: usize = 3;
const DETACHED: usize = 4;

/// The word.
#[derive(Debug)]
pub struct JoinWord(AtomicUsize);

/// What the end of a thread has to do.
#[derive(Debug, PartialEq, Eq)]
pub enum End {
    /// Leave the result where it is.
    Keep,
    /// Drop it: nobody wants it.
    Drop,
    /// The same as `Keep`, and make this thread ready.
    Wake(usize),
}

fn end_of(before: usize) -> End {
    match before {
        RUNNING => End::Keep,
        DETACHED => End::Drop,
        ENDED | LEFT | TAKEN => unreachable!("a thread ends once"),
        joiner => End::Wake(joiner),
    }
}

fn has_ended(word: usize) -> bool {
    matches!(word, ENDED | LEFT)
}

impl JoinWord {
    pub fn new() -> JoinWord {
        JoinWord(AtomicUsize::new(RUNNING))
    }

    /// A thread begins, which nobody else knows of yet.
    #[inline(always)]
    pub fn begin(&self) {
        self.0.store(RUNNING, ord!("J1a", Relaxed));
    }

    /// The thread has ended, and its result is in place; in a run with one processor.
    #[inline(always)]
    pub fn end_alone(&self) -> End {
        let before = self.0.load(ord!("J1a", Relaxed));
        self.0.store(LEFT, ord!("J1a", Relaxed));
        end_of(before)
    }

    /// The thread has ended, and its result is in place.
    #[inline]
    pub fn end(&self) -> End {
        end_of(self.0.swap(ENDED, ord!("J1", AcqRel)))
    }

    /// Whether it has ended; if not, `joiner` is to be made ready when it does. Its number is that
    /// of no state: the address of a record.
    #[inline(always)]
    pub fn join(&self, joiner: usize, is_alone: bool) -> bool {
        self.await_end(joiner, is_alone)
    }

    /// Whether it has ended; if not, its result is dropped when it does.
    #[inline(always)]
    pub fn detach(&self, is_alone: bool) -> bool {
        self.await_end(DETACHED, is_alone)
    }

    #[inline(always)]
    fn await_end(&self, by: usize, is_alone: bool) -> bool {
        if self.has_ended() {
            return true;
        }
        if is_alone {
            self.0.store(by, ord!("J2a", Relaxed));
            return false;
        }
        let (order, failure) = (ord!("J2", Release), ord!("J3", Acquire));
        self.0.compare_exchange(RUNNING, by, order, failure).is_err()
    }

    /// Whether it has ended, and nobody has taken its result.
    #[inline]
    pub fn has_ended(&self) -> bool {
        has_ended(self.0.load(ord!("J3", Acquire)))
    }

    /// Who joins does not wait any more. False: the thread has ended, and makes it ready.
    pub fn withdraw(&self, joiner: usize, is_alone: bool) -> bool {
        if is_alone {
            let waits = self.0.load(ord!("J1a", Relaxed)) == joiner;
            if waits {
                self.0.store(RUNNING, ord!("J6", Relaxed));
            }
            return waits;
        }
        let order = ord!("J6", Relaxed);
        self.0.compare_exchange(joiner, RUNNING, order, order).is_ok()
    }

    /// The result was taken. True: the stack is left, and the caller gives it back.
    #[inline(always)]
    pub fn take(&self) -> bool {
        let is_left = self.0.load(ord!("J3", Acquire)) == LEFT;
        is_left || self.0.swap(TAKEN, ord!("J4", AcqRel)) == LEFT
    }

    /// The thread's processor has left its stack. True: the result was taken, and the caller gives
    /// the stack back.
    #[inline]
    pub fn leave(&self) -> bool {
        self.0.swap(LEFT, ord!("J5", AcqRel)) == TAKEN
    }
}
