//! A processor's inbox: threads that other kernel threads have made ready, and whether the
//! processor sleeps until one is.
//!
//! ```text
//!           fall asleep           push: wake it
//!   EMPTY ─────────────▶ ASLEEP ────────────────▶ the thread that came last ◀─┐ push
//!    ▲ ▲                   │                        │ take all           └────┘
//!    │ └─────── wake up ───┘                        │
//!    └──────────────────────────────────────────────┘
//! ```
//!
//! | row | edge | by | order | makes visible | pairs with |
//! |---|---|---|---|---|---|
//! | N1 | anything to a thread | others | Release | what was done for it, and its link | N2 |
//! | N2 | threads to EMPTY | the processor | Acquire | what was done, and the links | N1 |
//! | N3 | EMPTY to ASLEEP | the processor | Relaxed | nothing | - |
//! | N4 | ASLEEP to EMPTY | the processor | Relaxed | nothing | - |
//!
//! Who pushes onto ASLEEP wakes the processor, which looks at the word again before it sleeps
//! again; so nothing is lost. Threads are numbers here: the model has none.

use crate::sync::{AtomicUsize, ord};

const EMPTY: usize = 0;
const ASLEEP: usize = 1;

/// The word.
#[derive(Debug)]
pub struct Inbox(AtomicUsize);

impl Inbox {
    /// Nothing is in it.
    pub fn new() -> Inbox {
        Inbox(AtomicUsize::new(EMPTY))
    }

    /// Puts in a thread: its address, which is neither 0 nor 1. `link` is told which thread came
    /// before, 0 if none. True: the processor sleeps, and the caller is to wake it.
    #[must_use]
    pub fn push(&self, thread: usize, link: impl Fn(usize)) -> bool {
        // Row N1's failure: only tells what to try next.
        let mut seen = self.0.load(ord!("N1a", Relaxed));
        loop {
            link(if seen == ASLEEP { EMPTY } else { seen });
            let (order, failure) = (ord!("N1", Release), ord!("N1a", Relaxed));
            match self.0.compare_exchange(seen, thread, order, failure) {
                Ok(_) => return seen == ASLEEP,
                Err(now) => seen = now,
            }
        }
    }

    /// Takes all threads out: the one that came last, which links to the others; 0 if there is
    /// none. The processor is awake.
    pub fn take(&self) -> usize {
        if self.0.load(ord!("N2a", Relaxed)) == EMPTY {
            return EMPTY;
        }
        self.0.swap(EMPTY, ord!("N2", Acquire))
    }

    /// The processor is about to sleep. False: something is in it.
    #[must_use]
    pub fn fall_asleep(&self) -> bool {
        let order = ord!("N3", Relaxed);
        self.0.compare_exchange(EMPTY, ASLEEP, order, order).is_ok()
    }

    /// Whether nothing has come since the processor fell asleep.
    pub fn is_asleep(&self) -> bool {
        self.0.load(ord!("N2a", Relaxed)) == ASLEEP
    }

    /// The processor does not sleep any more.
    pub fn wake_up(&self) {
        let order = ord!("N4", Relaxed);
        // It fails if something has come, which is as good.
        let _ = self.0.compare_exchange(ASLEEP, EMPTY, order, order);
    }
}
