//! The bell: how a client tells a server that does not poll its A-stack that there is work, and
//! how the server goes to sleep without missing it.
//!
//! One line per trust class of a server: a gate word and 448 lane bits. A lane is a binding. A
//! server processor that is awake polls the lanes: a ring is one locked operation then, and so is
//! what takes it. The gate is for who sleeps.
//!
//! ```text
//!              B2 ring                        B2 ring: wake
//!     0 ────────────────▶ RUNG       ASLEEP ────────────────▶ ASLEEP | RUNG
//!     ▲                    │            ▲                          │
//!     │      B4 open       │            │ B5 fall asleep           │
//!     ├────────────────────┴────────────┼──────────────────────────┘
//!     └─────────────────────────────────┘ (from 0 only)
//! ```
//!
//! | row | edge | by | order | makes visible | pairs with |
//! |---|---|---|---|---|---|
//! | B1 | set the lane bit, fetch_or | client | AcqRel | the posted turn | B3, B7 |
//! | B2 | gate: fetch_or RUNG; the old word says to wake | client | Release | lane bit | B4 |
//! | B3 | lane word: swap 0, if it is not 0 | server | AcqRel, Relaxed to look | B4 | B1, B7 |
//! | B4 | gate: swap 0, before the lanes are taken | server | Acquire | nothing | B2 |
//! | B5 | gate: 0 to ASLEEP, compare-and-swap | server | Relaxed | nothing | - |
//! | B6 | gate: load, to see whether a step is worth it | both | Relaxed | nothing | - |
//! | B7 | lane words: fetch_or 0; no sleep if one is not 0 | server | AcqRel | B5 | B1, B3 |
//!
//! Besides the watcher's gate there is one for each resident, a server processor that is bound to
//! one processor of the machine, without lanes of its own. A client that finds the watcher asleep
//! looks at the gate of the resident of its own processor (B6), and if that one sleeps rings there
//! (B2) and wakes it instead: cheaper than to wake a processor that is idle. Whoever of the two is
//! awake takes the lanes. A resident says ASLEEP as soon as its last procedure has returned; while
//! its gate does not say so it is not relied on.
//!
//! A client that rings a lane goes on to B2 only if the gate says that somebody sleeps (B6).
//!
//! B1 and B7 are two edges of one word, each of which writes it: if B1 comes first, B7 finds the
//! bit, and nobody sleeps; else B1 reads what B7 wrote, and so the look at the gate behind it (B6)
//! finds ASLEEP, or what a server processor that woke since has put there. B5 needs no order of its
//! own: it and B2 are two edges of one word, too, so either B2 finds ASLEEP and wakes, or B5 finds
//! RUNG and fails. Who opens the gate says so with the lanes that it takes (B3): another one that
//! finds them taken finds the gate open, and does not wait. All server processors of a gate that
//! sleep are woken together.
//!
//! Every client of the trust class can lose or forge bells here: that costs the time until the
//! caller rings again, never correctness. It does so until its call is claimed, and then wakes
//! whoever waits whatever the gate says; a server that was woken and finds no lane looks at every
//! binding of the class; and where even that does not arrive (a waiter can be moved to another
//! word), the caller says so over its binding's socket. So nobody has to wake up by himself.

use crate::sync::{AtomicU32, AtomicU64, ord};

/// A server processor waits on the gate. The word that a futex wait expects.
pub const ASLEEP: u32 = 1;

/// Someone has rung since the gate was opened.
pub const RUNG: u32 = 2;

/// Lane bits in a lane word.
const LANE_BITS: u32 = u64::BITS;

/// A binding's place in a bell line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lane {
    /// Which lane word.
    pub word: u32,
    /// Which bit of it.
    pub bit: u32,
}

/// What the gate said when it was opened. Hints: a client of the class may have written them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Opened {
    /// Someone has rung. Any word that the server does not write counts as that.
    pub is_rung: bool,
    /// Some processor of the server was, and may still be, asleep on the gate.
    pub had_sleeper: bool,
}

impl Opened {
    /// Somebody was woken, so there is a lane: if none is set, it was lost.
    pub fn wants_lane(self) -> bool {
        self.is_rung && self.had_sleeper
    }
}

impl Lane {
    /// The place of lane `lane` in a line of `lane_count` lanes; more bindings than lanes share.
    pub const fn of(lane: u32, lane_count: u32) -> Lane {
        let lane = lane % lane_count;
        Lane { word: lane / LANE_BITS, bit: lane % LANE_BITS }
    }
}

/// Rings bit `bit` of `lane_word` after a post. True: wake every waiter of the gate.
///
/// # Cost: one atomic operation; two while somebody sleeps.
#[inline]
pub fn ring(gate: &AtomicU32, lane_word: &AtomicU64, bit: u32) -> bool {
    lane_word.fetch_or(1 << (bit % LANE_BITS), ord!("B1", AcqRel));
    has_sleeper(gate) && ring_gate(gate)
}

/// Rings a gate that has no lanes, or for something that is no call. True: wake every waiter.
#[inline]
pub fn ring_gate(gate: &AtomicU32) -> bool {
    gate.fetch_or(RUNG, ord!("B2", Release)) & ASLEEP != 0
}

/// Whether there is any reason to open the gate or to take the lanes. For a processor that spins:
/// loads keep the line shared, an opening takes it.
#[inline]
pub fn is_rung(gate: &AtomicU32, lanes: &[AtomicU64]) -> bool {
    let seen = lanes.iter().fold(0, |seen, word| seen | word.load(ord!("B3", Relaxed)));
    seen != 0 || gate.load(ord!("B6", Relaxed)) != 0
}

/// Whether a server processor sleeps on the gate, or is being woken.
#[inline]
pub fn has_sleeper(gate: &AtomicU32) -> bool {
    gate.load(ord!("B6", Relaxed)) & ASLEEP != 0
}

/// Opens the gate: rings from here on are new. Before [`take_lanes`].
///
/// # Cost: one load, while it is open.
#[inline]
pub fn open_gate(gate: &AtomicU32) -> Opened {
    if gate.load(ord!("B6", Relaxed)) == 0 {
        return Opened { is_rung: false, had_sleeper: false };
    }
    let seen = gate.swap(0, ord!("B4", Acquire));
    Opened { is_rung: seen & !ASLEEP != 0, had_sleeper: seen & ASLEEP != 0 }
}

/// Takes the bits that were set in one lane word.
#[inline]
pub fn take_lanes(lane_word: &AtomicU64) -> u64 {
    if lane_word.load(ord!("B3", Relaxed)) == 0 {
        return 0;
    }
    lane_word.swap(0, ord!("B3", AcqRel))
}

/// Announces that a processor is about to wait while the gate is [`ASLEEP`]. False if someone has
/// rung since the gate was opened and the lanes were taken: then look again, and open the gate.
/// `lanes`: none, if the gate has none.
///
/// # Cost: one atomic operation, and one for each lane word.
#[inline]
pub fn fall_asleep(gate: &AtomicU32, lanes: &[AtomicU64]) -> bool {
    let marked = gate.compare_exchange(0, ASLEEP, ord!("B5", Relaxed), ord!("B5", Relaxed));
    let is_marked = marked.is_ok() || marked == Err(ASLEEP);
    is_marked && lanes.iter().all(|word| word.fetch_or(0, ord!("B7", AcqRel)) == 0)
}
