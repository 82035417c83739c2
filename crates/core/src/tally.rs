//! The tally of a class's A-stacks: which of them a thread has posted calls on. One word, which a
//! server polls in place of their heads while many calls are under way: a head that it does not
//! look at stays with the client, from the look that finds a reply to the post of the next call
//! (L38, U5; design note 0007).
//!
//! ```text
//!  bit n of the word: whether the last call posted on A-stack n, counted from the class's first,
//!  has an odd number
//!
//!  client                                        server
//!    posts call 7 on A-stack 2     O1              has served call 6 of it
//!    bit 2 := 1                    Y1  ──────▶     word differs from what it has served   Y2
//!                                                  looks at A-stack 2                     O3
//!                                                  replies, and notes that bit 2 is 1     O4
//! ```
//!
//! | row | edge | by | order | makes visible | pairs with |
//! |---|---|---|---|---|---|
//! | Y1 | an A-stack's bit to the parity of its call, store | client | Relaxed | nothing | Y2 |
//! | Y2 | load | server | Relaxed | nothing | Y1 |
//!
//! The word lies where the client alone writes, and one thread of it: the one that the A-stacks are
//! kept for (`crate::bias`). Nothing is read through it: a bit that is seen before its post is
//! seen again, as long as the call was not served. No call depends on it either: before a server
//! sleeps it has every A-stack that it watches so ring (O9), and that fails where one was posted.
//!
//! A peer may write anything here at any time. A bit that stands for no call costs a look at a
//! head, as one that is polled does.

use crate::sync::{AtomicU64, ord};
use crate::turn::Sequence;

/// Notes that call `sequence` was posted on the A-stack of this bit.
///
/// # Cost: a load and a store of a word that the server polls; nothing waits for it.
#[inline]
pub fn note(tally: &AtomicU64, bit: u64, sequence: Sequence) {
    // Row Y1's: only this thread writes it.
    let others = tally.load(ord!("Y1", Relaxed)) & !bit;
    tally.store(others | parity(sequence) & bit, ord!("Y1", Relaxed));
}

/// What a server processor knows of the A-stacks that it watches by one tally.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tallied {
    watched: u64,
    /// The word as it would be if nothing were posted that was not served.
    served: u64,
}

impl Tallied {
    /// The A-stacks that calls were posted on, if the word is to be believed.
    #[inline(always)]
    pub fn posted(&self, tally: &AtomicU64) -> u64 {
        (tally.load(ord!("Y2", Relaxed)) ^ self.served) & self.watched
    }

    /// Call `sequence` of the A-stack of this bit was served last, and the next one is watched for.
    #[inline(always)]
    pub fn watch(&mut self, bit: u64, sequence: Sequence) {
        self.watched |= bit;
        self.served = self.served & !bit | parity(sequence) & bit;
    }

    /// The A-stack of this bit is not watched here any more. Whether it was.
    #[inline]
    pub fn forget(&mut self, bit: u64) -> bool {
        let was_watched = self.watched & bit != 0;
        self.watched &= !bit;
        was_watched
    }

    /// The A-stacks that are watched.
    #[inline]
    pub fn watched(&self) -> u64 {
        self.watched
    }
}

/// All bits or none.
#[inline(always)]
fn parity(sequence: Sequence) -> u64 {
    0u64.wrapping_sub(u64::from(sequence.as_u32() & 1))
}
