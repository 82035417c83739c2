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

use crate::sync::{AtomicU32, light_fence, ord};
use crate::turn::Sequence;

/// What became of a processor's attempt to take a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taken {
    /// It is this processor's to run.
    Run,
    /// It is this processor's, and not to be run: the binding is revoked.
    Refuse,
    /// Another processor of the server has claimed it.
    Not,
}

/// Claims call `sequence` to run it, if its binding is open, which `is_open` says.
///
/// Looks after the claim, never before: a server that says that it takes no more calls makes the
/// other half of the fence first, and so either sees the claimed call pending, or this processor
/// sees the binding revoked (`termination`).
///
/// # Cost: that of [`claim`], and a load.
#[inline(always)]
pub fn take(claim_word: &AtomicU32, sequence: Sequence, is_open: impl FnOnce() -> bool) -> Taken {
    if !claim(claim_word, sequence) {
        return Taken::Not;
    }
    light_fence();
    if is_open() { Taken::Run } else { Taken::Refuse }
}

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
