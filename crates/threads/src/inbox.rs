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
//! | N3 | EMPTY to ASLEEP | the processor | Release | what it has told others | N7 |
//! | N4 | ASLEEP to EMPTY | the processor | Relaxed | nothing | - |
//! | N5 | wakes: add 1, after an N1 or N8 that found ASLEEP | others | Release | that one | N6 |
//! | N6 | wakes: load, after N3 | the processor | Acquire | nothing | N5 |
//! | N7 | load: ASLEEP | others | Acquire | what it has told others | N3 |
//! | N8 | ASLEEP to EMPTY | others | Relaxed | nothing | - |
//!
//! The processor sleeps while `wakes` is what it read, if the word still says ASLEEP after that. If
//! it read what an N5 wrote, it sees the N1 before that; if it did not, that N5 is still to come,
//! and changes `wakes`. So nothing is lost. Who was told to go on (N8) goes on
//! likewise. What a processor has told others (N3, N7) is for `team.rs`. Threads are numbers here:
//! the model has none.

use crate::sync::{AtomicU32, AtomicUsize, ord};

const EMPTY: usize = 0;
const ASLEEP: usize = 1;

/// The word, and how often its processor was woken.
#[derive(Debug)]
pub struct Inbox {
    word: AtomicUsize,
    wakes: AtomicU32,
}

impl Inbox {
    /// Nothing is in it.
    pub fn new() -> Inbox {
        Inbox { word: AtomicUsize::new(EMPTY), wakes: AtomicU32::new(0) }
    }

    /// Puts in a thread: its address, which is neither 0 nor 1. `link` is told which thread came
    /// before, 0 if none. True: the processor sleeps, and the caller is to wake [`Inbox::wakes`].
    #[must_use]
    pub fn push(&self, thread: usize, link: impl Fn(usize)) -> bool {
        // Row N1's failure: only tells what to try next.
        let mut seen = self.word.load(ord!("N1a", Relaxed));
        loop {
            link(if seen == ASLEEP { EMPTY } else { seen });
            let (order, failure) = (ord!("N1", Release), ord!("N1a", Relaxed));
            match self.word.compare_exchange(seen, thread, order, failure) {
                Ok(_) => break,
                Err(now) => seen = now,
            }
        }
        if seen == ASLEEP {
            self.wakes.fetch_add(1, ord!("N5", Release));
        }
        seen == ASLEEP
    }

    /// Takes all threads out: the one that came last, which links to the others; 0 if there is
    /// none. The processor is awake.
    pub fn take(&self) -> usize {
        if self.word.load(ord!("N2a", Relaxed)) == EMPTY {
            return EMPTY;
        }
        self.word.swap(EMPTY, ord!("N2", Acquire))
    }

    /// Whether there is something to take.
    pub fn has_some(&self) -> bool {
        self.word.load(ord!("N2a", Relaxed)) > ASLEEP
    }

    /// The processor is about to sleep. False: something is in it.
    #[must_use]
    pub fn fall_asleep(&self) -> bool {
        let (order, failure) = (ord!("N3", Release), ord!("N3a", Relaxed));
        self.word.compare_exchange(EMPTY, ASLEEP, order, failure).is_ok()
    }

    /// Whether the processor sleeps, or is about to, and nobody has woken it.
    pub fn is_asleep(&self) -> bool {
        self.word.load(ord!("N7", Acquire)) == ASLEEP
    }

    /// Has the processor go on although nothing is in it. True: it sleeps, and the caller is to
    /// wake [`Inbox::wakes`].
    #[must_use]
    pub fn rouse(&self) -> bool {
        let order = ord!("N8", Relaxed);
        let is_roused = self.word.compare_exchange(ASLEEP, EMPTY, order, order).is_ok();
        if is_roused {
            self.wakes.fetch_add(1, ord!("N5", Release));
        }
        is_roused
    }

    /// What [`Inbox::wakes`] has to be for the processor to sleep, once it has fallen asleep.
    /// `None`: something has come since.
    pub fn prepare_wait(&self) -> Option<u32> {
        let expected = self.wakes.load(ord!("N6", Acquire));
        (self.word.load(ord!("N2a", Relaxed)) == ASLEEP).then_some(expected)
    }

    /// The word that the processor sleeps on. Private to this process.
    pub fn wakes(&self) -> &AtomicU32 {
        &self.wakes
    }

    /// The processor does not sleep any more.
    pub fn wake_up(&self) {
        let order = ord!("N4", Relaxed);
        // It fails if something has come, which is as good.
        let _ = self.word.compare_exchange(ASLEEP, EMPTY, order, order);
    }
}
