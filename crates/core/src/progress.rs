//! How far the client has come with arguments that it goes on copying after the post, while the
//! server copies behind it.
//!
//! The word lies in the request line, which the client alone writes: bytes of the out-of-line
//! variable part that are there. It is there before the post, and grows from then on.
//!
//! ```text
//!  post          P1            P1                  P1
//!  first ─────────────▶ more ─────────▶ … ────────────────▶ end
//!                       P2 the server looks, and copies what is there
//! ```
//!
//! | row | edge | by | order | makes visible | pairs with |
//! |---|---|---|---|---|---|
//! | P1 | to a larger count, store | client | Release | the bytes below it | P2 |
//! | P2 | load | server | Acquire | the bytes below it | P1 |
//!
//! A peer may write anything here. A count past the end or below one that was seen is a fault; a
//! count that stands still is nobody's fault, and ends the wait after a while.

use crate::fault::PeerFault;
use crate::sync::{AtomicU32, ord};

/// Tells that `bytes` bytes are there.
#[inline]
pub fn advance(progress: &AtomicU32, bytes: u32) {
    progress.store(bytes, ord!("P1", Release));
}

/// How many bytes are there: as many as were `seen`, or more, up to `end`.
///
/// # Errors: [`PeerFault::Progress`] for any other count.
#[inline]
pub fn look(progress: &AtomicU32, seen: u32, end: u32) -> Result<u32, PeerFault> {
    let claimed = progress.load(ord!("P2", Acquire));
    if claimed < seen || claimed > end {
        return Err(PeerFault::Progress { claimed, seen, end });
    }
    Ok(claimed)
}
