//! Whether it is worth while to ask a server again that had no room for a client's memory.
//!
//! One word a binding, in the reply line of its first A-stack, which the server alone writes. Who
//! was refused asks again once it has changed; until then it refuses by itself what the server
//! would, without a message (RELIABILITY section 5: a typed refusal in microseconds).
//!
//! ```text
//!  client                                         server
//!    the word is 7                      Q2
//!    asks over its socket for 64 KiB  ─────────▶    over its user's share: notes whom it refuses
//!    "no room"  ◀──────────────────────────────
//!    notes: not 64 KiB, nor more, at 7
//!    the word is 7: refuses by itself   Q2
//!                                                   somebody gives something back: it is 8   Q1
//!    the word is 8: asks again          Q2
//! ```
//!
//! | row | edge | by | order | makes visible | pairs with |
//! |---|---|---|---|---|---|
//! | Q1 | to the next number, add | server | Relaxed | nothing | Q2 |
//! | Q2 | load | client | Relaxed | nothing | Q1 |
//!
//! Nothing is read through the word. It is looked at before the message is sent, and the server
//! notes whom it refuses under the lock that what is given back takes: so what is given back after
//! a refusal changes the word to one that its client has not seen. A client that sees an older
//! number asks once too often. A server that never changes it refuses, which it may.

use crate::sync::{AtomicU32, ord};

/// Tells the client of this word that there may be room now.
#[inline]
pub fn tell(room: &AtomicU32) {
    room.fetch_add(1, ord!("Q1", Relaxed));
}

/// The word, to be looked at before the server is asked.
#[inline]
pub fn look(room: &AtomicU32) -> u32 {
    room.load(ord!("Q2", Relaxed))
}

/// What a client knows to be too much.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NoRoom {
    /// The word, and the least that was refused while it was this one.
    refused: Option<(u32, u64)>,
}

impl NoRoom {
    /// Whether the server would refuse so many bytes, the word being `room`.
    #[inline]
    pub fn is_known(&self, room: u32, bytes: u64) -> bool {
        self.refused.is_some_and(|(at, least)| at == room && least <= bytes)
    }

    /// The server has refused so many bytes, and the word was `room` before it was asked.
    pub fn note(&mut self, room: u32, bytes: u64) {
        let least = match self.refused {
            Some((at, least)) if at == room => least.min(bytes),
            _ => bytes,
        };
        self.refused = Some((room, least));
    }
}
