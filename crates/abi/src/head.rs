//! The three lines that every A-stack has in shared memory.
//!
//! ```text
//!  heads segment          requests segment             replies segment
//!  (both write, in turn)  (client writes)              (server writes)
//!  ┌───────────────┐      ┌───────────────┐            ┌───────────────┐
//!  │ AStackHead    │      │ RequestLine   │            │ ReplyLine     │
//!  └───────────────┘      ├───────────────┤            ├───────────────┤
//!   16 B of words,        │ request block │            │ reply block   │
//!   48 B of message       │ block_bytes   │            │ block_bytes   │
//!                         └───────────────┘            └───────────────┘
//! ```
//!
//! Byte `n` of a message lies in the head for `n < INLINE_BYTES` and at `n - INLINE_BYTES` of the
//! block from there on, so that there is no cliff between small and medium messages (L5). Results
//! overwrite arguments in the head, in place.

use core::mem::{offset_of, size_of};
use core::sync::atomic::{AtomicU32, AtomicU64};

use crate::INLINE_BYTES;

/// Head of every A-stack. One cache line, all that a Null moves.
///
/// The side whose turn it is writes the line; `turn` says whose. Anything here may be a lie: each
/// word is loaded once, into private memory, and judged there.
#[repr(C, align(64))]
#[derive(Debug, Default)]
pub struct AStackHead {
    /// Sequence number and phase. See `nearcall_core::turn`.
    pub turn: AtomicU32,
    /// Going: the procedure index, written by the client. Coming: the [`crate::Status`], written
    /// by the server.
    pub selector: AtomicU32,
    /// Bytes of the message, fixed and variable part. Written by whoever posts or replies.
    pub message_bytes: AtomicU32,
    /// Low half: the processor the writer runs on. High half: [`flag`] bits.
    pub origin: AtomicU32,
    /// The first [`INLINE_BYTES`] of the message.
    pub inline: [AtomicU64; 6],
}

const _: () = assert!(size_of::<AStackHead>() == 64);
const _: () = assert!(offset_of!(AStackHead, turn) == 0);
const _: () = assert!(offset_of!(AStackHead, selector) == 4);
const _: () = assert!(offset_of!(AStackHead, message_bytes) == 8);
const _: () = assert!(offset_of!(AStackHead, origin) == 12);
const _: () = assert!(offset_of!(AStackHead, inline) == 16);
const _: () = assert!(size_of::<[AtomicU64; 6]>() == INLINE_BYTES as usize);

/// Bits of [`AStackHead::origin`].
pub mod flag {
    /// The variable part lies in the A-stack's out-of-line segment of this direction.
    pub const OUT_OF_LINE: u32 = 1 << 16;
    /// The out-of-line variable part is still being copied: [`crate::RequestLine::progress`] says
    /// how far it is.
    pub const PARTIAL: u32 = 1 << 17;
    /// The bits that say how long the client still waits: see [`crate::deadline`].
    pub const DEADLINE: u32 = 0x1fff << 18;
    /// The client notes in the tally of the class that it posts on this A-stack, if the reply says
    /// that the server looks there.
    pub const TALLIES: u32 = 1 << 31;
    /// The bits that hold the writer's processor number.
    pub const PROCESSOR: u32 = 0xffff;
}

/// First line of a request block. Written by the client, and only when a flag says so or the server
/// has asked for it.
#[repr(C, align(64))]
#[derive(Debug, Default)]
pub struct RequestLine {
    /// Which out-of-line segment of this A-stack holds the variable part.
    pub generation: AtomicU32,
    /// Bytes of the variable part that are there, if [`flag::PARTIAL`] says that the client is
    /// still copying it. See `nearcall_core::progress`.
    pub progress: AtomicU32,
    /// In the first A-stack of a class alone: which of its A-stacks a thread has posted calls on.
    /// See `nearcall_core::tally`.
    pub tally: AtomicU64,
}

const _: () = assert!(size_of::<RequestLine>() == 64);
const _: () = assert!(offset_of!(RequestLine, generation) == 0);
const _: () = assert!(offset_of!(RequestLine, progress) == 4);
const _: () = assert!(offset_of!(RequestLine, tally) == 8);

/// First line of a reply block. Written by the server. The client reads it only after a death,
/// for an out-of-line result or where it needs a segment, so that writing it costs the server no
/// transfer.
#[repr(C, align(64))]
#[derive(Debug, Default)]
pub struct ReplyLine {
    /// Sequence number of the last call taken on this A-stack. Advanced by compare-and-swap before
    /// the procedure starts: it keeps two processors of the server from running one call, and
    /// tells, after a death, whether the procedure ran.
    pub claim: AtomicU32,
    /// Which out-of-line segment of this A-stack holds the variable part.
    pub generation: AtomicU32,
    /// In the first A-stack of the binding alone: changes when there may be room for what the
    /// server had none for. See `nearcall_core::room`.
    pub room: AtomicU32,
}

const _: () = assert!(size_of::<ReplyLine>() == 64);
const _: () = assert!(offset_of!(ReplyLine, claim) == 0);
const _: () = assert!(offset_of!(ReplyLine, generation) == 4);
const _: () = assert!(offset_of!(ReplyLine, room) == 8);
