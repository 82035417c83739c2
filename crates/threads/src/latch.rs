//! A latch: one word that says whose something is, and whether a processor is at it just now.
//!
//! ```text
//!             enter                      leave             enter
//!   another's ◀───▶ another's, INSIDE ────────▶ the run's ◀───▶ the run's, INSIDE
//!             leave                                       leave
//! ```
//!
//! | row | edge | by | order | makes visible | pairs with |
//! |---|---|---|---|---|---|
//! | H1 | a run's to INSIDE | its processors | Acquire | what was done inside before | H2 |
//! | H2 | INSIDE to a run's | who is inside | Release | what it did inside | H1 |
//!
//! Of a run that is over, as one that enters for it knows with all that was done, nobody is left to
//! enter: the latch is another run's if who has entered so leaves it to that one (`monitor.rs`).
//!
//! Who is inside makes some loads and stores and leaves again; it never waits there. So who finds
//! somebody inside tries again, and after a while lets the kernel run who may have been interrupted
//! there. A run with one processor never enters: see `monitor.rs`.

use crate::sync::{AtomicU32, ord, pause};

/// Somebody is inside; the rest of the word is the run's number.
pub const INSIDE: u32 = 1 << 31;

/// No word of a latch is this.
pub const NOBODY: u32 = u32::MAX;

/// Whose it is.
#[inline(always)]
pub fn owner(word: &AtomicU32) -> u32 {
    word.load(ord!("H1a", Relaxed))
}

/// Enters, if it is this run's and nobody is inside.
///
/// # Errors: what the word is.
#[inline]
pub fn try_enter(word: &AtomicU32, run: u32) -> Result<(), u32> {
    let (order, failure) = (ord!("H1", Acquire), ord!("H1a", Relaxed));
    word.compare_exchange(run, run | INSIDE, order, failure).map(drop)
}

/// Enters when nobody is inside.
///
/// # Errors: it is not this run's.
#[inline]
pub fn enter(word: &AtomicU32, run: u32) -> Result<(), u32> {
    let mut turns = 0;
    loop {
        match try_enter(word, run) {
            Err(seen) if seen == run | INSIDE => pause(turns),
            outcome => return outcome,
        }
        turns += 1;
    }
}

/// Who is inside leaves; it is this run's then.
#[inline]
pub fn leave(word: &AtomicU32, run: u32) {
    word.store(run, ord!("H2", Release));
}
