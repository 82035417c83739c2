//! The claim word of an A-stack: which call the server took last.
//!
//! It lies in the reply line, which only the server writes, and which the client does not poll.
//!
//! ```text
//!              C1 claim
//!   n - 1 ──────────────────▶ n      before the procedure's first effect
//!              C2 after a death: n or n - 1?
//! ```
//!
//! | row | edge | by | order | makes visible | pairs with |
//! |---|---|---|---|---|---|
//! | C1 | n-1 to n, compare-and-swap | server | Relaxed | nothing | - |
//! | C2 | load | client | Relaxed | nothing | - |
//! | C3 | load, after O3 | server | Relaxed | nothing | - |
//!
//! Nothing is read through this word. The arguments come with O3, which every processor of the
//! server that looks does for itself; that one of them alone wins is the compare-and-swap, whatever
//! its order. C2 is read once the server's death is proven, and the kernel's notice of it is later
//! than everything that the server did. C3 comes after O3 in its own processor, so that it sees at
//! least the claim of the call before the posted one.

use crate::sync::{AtomicU32, ord};
use crate::turn::Sequence;

/// Claims call `sequence`. False if another processor of the server has.
///
/// # Cost: one compare-and-swap, in a line that stays with the server.
#[inline]
pub fn claim(claim: &AtomicU32, sequence: Sequence) -> bool {
    let (from, to) = (sequence.previous().as_u32(), sequence.as_u32());
    claim.compare_exchange(from, to, ord!("C1", Relaxed), ord!("C1", Relaxed)).is_ok()
}

/// Whether call `sequence` was taken. True for a word that is neither this call nor the one before:
/// a server that wrote such a word has proven nothing.
#[inline]
pub fn was_claimed(claim: &AtomicU32, sequence: Sequence) -> bool {
    claim.load(ord!("C2", Relaxed)) != sequence.previous().as_u32()
}

/// The call that the server took last, as the server reads it.
#[inline]
pub fn claimed(claim: &AtomicU32) -> Sequence {
    Sequence::from_u32(claim.load(ord!("C3", Relaxed)))
}
