//! Where a thread is at home, in a run with several processors: the one that it began on. Whoever
//! cancels a thread that has not begun comes before or after the processor that begins it.
//!
//! ```text
//!   fork         begin                end
//!  ─────▶ UNBEGUN ────▶ a processor ─────▶ ENDED
//!            │ cancel        ▲
//!            └──▶ CANCELLED ─┘ begin: it is told, and runs nothing
//! ```
//!
//! | row | edge | by | order | makes visible | pairs with |
//! |---|---|---|---|---|---|
//! | Q1 | ENDED to UNBEGUN | who forks | Relaxed | nothing: its list's latch does | - |
//! | Q2 | UNBEGUN to CANCELLED | who cancels | Relaxed | nothing | - |
//! | Q3 | anything to a processor | who begins | Relaxed | nothing | - |
//! | Q4 | a processor to ENDED | that processor | Relaxed | nothing | - |
//! | Q5 | load | any processor | Relaxed | nothing | - |
//!
//! A processor is said by its run and its place there: a record may pass to another run between
//! two looks at it. So who finds itself there knows that the thread is its own, until it ends. The
//! word tells no more than that: who cancels and finds a processor there tells that one by its
//! inbox (N1).

use crate::sync::{AtomicU64, ord};

const UNBEGUN: u64 = u64::MAX;
const CANCELLED: u64 = u64::MAX - 1;
const ENDED: u64 = u64::MAX - 2;

/// No run's number is so high that this were one of the others.
fn processor(run: u32, at: u16) -> u64 {
    u64::from(run) << 32 | u64::from(at)
}

/// The word.
#[derive(Debug)]
pub struct Home(AtomicU64);

/// What whoever cancels a thread has to do yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cancel {
    /// Nothing: it has ended, or will not begin.
    Done,
    /// To tell the processor that it is at home on.
    Tell(u16),
}

impl Home {
    /// Of a thread that there is not yet.
    pub fn new() -> Home {
        Home(AtomicU64::new(ENDED))
    }

    /// A thread is forked, of which nobody else knows yet.
    pub fn fork(&self) {
        self.0.store(UNBEGUN, ord!("Q1", Relaxed));
    }

    /// It is cancelled, by who knows that its record is no other thread's.
    pub fn cancel(&self) -> Cancel {
        let order = ord!("Q2", Relaxed);
        match self.0.compare_exchange(UNBEGUN, CANCELLED, order, order) {
            Ok(_) | Err(CANCELLED | ENDED) => Cancel::Done,
            Err(processor) => Cancel::Tell(processor as u16),
        }
    }

    /// It begins on this processor, and stays there. True: it was cancelled before.
    pub fn settle(&self, run: u32, at: u16) -> bool {
        self.0.swap(processor(run, at), ord!("Q3", Relaxed)) == CANCELLED
    }

    /// It has ended.
    pub fn leave(&self) {
        self.0.store(ENDED, ord!("Q4", Relaxed));
    }

    /// Whether it has begun on this processor, and not ended.
    pub fn is(&self, run: u32, at: u16) -> bool {
        self.0.load(ord!("Q5", Relaxed)) == processor(run, at)
    }

    /// The processor of a thread that has begun and not ended.
    pub fn at(&self) -> u16 {
        self.0.load(ord!("Q5", Relaxed)) as u16
    }
}
