//! The turn word of an A-stack: which domain may touch the A-stack's bytes.
//!
//! `sequence << 3 | phase`. The sequence counts calls on this A-stack, modulo 2^29.
//!
//! ```text
//!                     O1 post (swap)              O3 take (load, then claim)
//!  IDLE_HOT ─┬──────────────────────▶ POSTED ──────────────────────┐
//!  IDLE_TALLY┤                         │  ▲                        │ procedure runs
//!  IDLE_BELL ┘                         │  │                        │
//!     ▲  ▲                    O2 doze  ▼  │ O7 rouse               │
//!     │  │                         POSTED_ASLEEP                   │
//!     │  │ O4 reply (swap)                                         │
//!     │  └─────────────────────────────────────────────────────────┘
//!     │                       O5 abort
//!     │       POSTED* ─────────────────────▶ ABORTED    the captured call; O4 makes it idle again
//!     │                       O6 bury
//!     │       POSTED*, ABORTED ────────────▶ DEAD       written by the client's own housekeeping
//! ```
//!
//! IDLE belongs to the client, POSTED* and ABORTED to the server, DEAD to no one.
//!
//! | row | edge | by | order | makes visible | pairs with |
//! |---|---|---|---|---|---|
//! | O1 | IDLE_x(n) to POSTED(n+1), swap | client | Release | the arguments | O3 |
//! | O2 | POSTED to POSTED_ASLEEP | client | Relaxed, Acquire on failure | nothing | O4 |
//! | O3 | load sees POSTED* or ABORTED | server | Acquire | the arguments | O1 |
//! | O4 | to IDLE_x(n), swap | server | Release | the results | O8 |
//! | O5 | POSTED* to ABORTED | client | Relaxed, Acquire on failure | nothing | O4 |
//! | O6 | POSTED* or ABORTED to DEAD | housekeeping | Relaxed | nothing | - |
//! | O7 | POSTED_ASLEEP to POSTED | client | Relaxed, Acquire on failure | nothing | O4 |
//! | O8 | load sees IDLE_x(n) | client | Acquire | the results | O4 |
//! | O9 | IDLE_HOT or IDLE_TALLY to IDLE_BELL | server | Relaxed | nothing | - |
//!
//! O2, O5, O6, O7 and O9 are compare-and-swaps. Where O2, O5 and O7 fail they acquire, because
//! they find the results there. O9 acquires nothing: a server whose demotion fails looks (O3).
//!
//! A peer may write any value here at any time. A word that is not the one an edge starts from is
//! reported with what was seen, never repaired.

use core::fmt;

use crate::fault::PeerFault;
use crate::sync::{AtomicU32, ord};

const PHASE_BITS: u32 = 3;
const PHASE_MASK: u32 = (1 << PHASE_BITS) - 1;
const SEQUENCE_MASK: u32 = u32::MAX >> PHASE_BITS;

/// How often [`bury`] tries again because the word moved under it.
const BURY_TRIES: u32 = 8;

/// The number of a call on its A-stack, modulo 2^29. Zero is "before the first call".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Sequence(u32);

/// What an A-stack is in. The two posted phases differ in one bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Phase {
    /// No call; the server does not look until it is rung for. All-zero memory is this.
    IdleBell = 0,
    /// No call; a server processor polls the word.
    IdleHot = 1,
    /// A call, whose client is awake.
    Posted = 2,
    /// A call, whose client sleeps on the word.
    PostedAsleep = 3,
    /// The client has given the call up; the server has not (L55).
    Aborted = 4,
    /// The client knows that no reply will come.
    Dead = 5,
    /// No call; a server processor polls the tally of the A-stack's class (`crate::tally`).
    IdleTally = 6,
}

/// How the server watches an idle A-stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// It looks when its bell rings.
    Bell,
    /// It polls the word.
    Hot,
    /// It polls the tally.
    Tally,
}

/// A turn word as it was seen. Any value is possible: a peer may have written it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TurnWord(pub u32);

/// What a waiting client saw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Poll {
    /// No reply yet.
    Pending,
    /// The results are there and are the client's to read.
    Replied {
        /// How the server watches the A-stack until the next post.
        mode: Mode,
    },
    /// Housekeeping buried the call: classify it (`termination`).
    Dead,
    /// A word that no edge leads to from where this call was.
    Wrong(TurnWord),
}

/// What a server saw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Look {
    /// Nothing for this processor: idle, taken by another one, or dead.
    Nothing,
    /// A call to claim and run.
    Posted(Sequence),
    /// A call that was given up before anyone claimed it: claim it and reply without running it,
    /// so that the client gets its A-stack back.
    Aborted(Sequence),
    /// A word that no edge leads to.
    Wrong(TurnWord),
}

/// What became of a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reply {
    /// The client is awake and will see it.
    ClientAwake,
    /// The client sleeps on the turn word: wake it.
    WakeClient,
    /// The client had given the call up; the A-stack is idle again.
    Aborted,
    /// The client had declared this binding dead.
    Dead,
    /// A word that no edge leads to. It was overwritten; the binding is to be revoked.
    Wrong(TurnWord),
}

/// What became of a burial.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bury {
    /// The call is marked dead, and its client, if it waits, polls.
    ClientAwake,
    /// The call is marked dead, and its client sleeps on the turn word: wake it.
    WakeClient,
    /// There was no such call outstanding any more.
    Ended(TurnWord),
}

/// Posts call `sequence`: gives the A-stack and the arguments in it to the server (L20), and says
/// how that one watches it: unless it polls the word, it is to be told.
///
/// # Errors: a [`PeerFault`] if the word was not idle at the call before; it has then been
/// overwritten, and the binding is to be revoked.
///
/// # Cost: one swap.
#[inline(always)]
pub fn post(turn: &AtomicU32, sequence: Sequence) -> Result<Mode, PeerFault> {
    judge_posted(post_unjudged(turn, sequence), sequence)
}

/// The same, for [`judge_posted`]: what it found.
#[inline(always)]
pub fn post_unjudged(turn: &AtomicU32, sequence: Sequence) -> u32 {
    turn.swap(TurnWord::new(sequence, Phase::Posted).0, ord!("O1", Release))
}

/// Whether what the post of call `sequence` found says that the server polls the word, as most do:
/// one comparison. False: [`judge_posted`] says more.
#[inline(always)]
pub fn was_polled(seen: u32, sequence: Sequence) -> bool {
    seen == TurnWord::new(sequence.previous(), Phase::IdleHot).0
}

/// What the post of call `sequence` found in the turn word, which it has overwritten.
///
/// # Errors: as [`post`].
#[inline(always)]
pub fn judge_posted(seen: u32, sequence: Sequence) -> Result<Mode, PeerFault> {
    // Most are polled: one comparison.
    let idle = |mode: Mode| TurnWord::new(sequence.previous(), mode.phase()).0;
    let modes = [Mode::Hot, Mode::Tally, Mode::Bell];
    match modes.into_iter().find(|mode| seen == idle(*mode)) {
        Some(mode) => Ok(mode),
        None => Err(TurnWord(seen).fault(sequence.previous(), "idle")),
    }
}

/// Looks whether call `sequence` has a reply. Cost: one load.
#[inline(always)]
pub fn poll(turn: &AtomicU32, sequence: Sequence) -> Poll {
    poll_word(read(turn), sequence)
}

/// The same of a word that was loaded already, with the order of row O8.
#[inline(always)]
pub fn poll_word(seen: TurnWord, sequence: Sequence) -> Poll {
    judge(seen.0, sequence)
}

/// Whether a word that was loaded already, with the order of row O8, is a reply to call `sequence`
/// as most are: by one comparison. False: [`poll_word`] says more.
#[inline(always)]
pub fn is_usual_reply(seen: TurnWord, sequence: Sequence) -> bool {
    seen.0.wrapping_sub(first_usual_reply(sequence).0) <= Phase::IdleHot as u32
}

/// The lower of the two words that most replies to call `sequence` are; the other is the next one.
#[inline(always)]
pub fn first_usual_reply(sequence: Sequence) -> TurnWord {
    const { assert!(Phase::IdleBell as u32 == 0 && Phase::IdleHot as u32 == 1) };
    TurnWord(sequence.0 << PHASE_BITS)
}

/// What the turn word says: for [`crate::termination::classify`], which is told all phases.
#[inline(always)]
pub fn read(turn: &AtomicU32) -> TurnWord {
    TurnWord(turn.load(ord!("O8", Acquire)))
}

/// Tells the server that the client is about to sleep on the word, while it is
/// `TurnWord::new(sequence, PostedAsleep)`.
///
/// # Errors: what was there instead. `Replied` is a reply that came meanwhile.
#[inline]
pub fn doze(turn: &AtomicU32, sequence: Sequence) -> Result<(), Poll> {
    let from = TurnWord::new(sequence, Phase::Posted).0;
    let to = TurnWord::new(sequence, Phase::PostedAsleep).0;
    match turn.compare_exchange(from, to, ord!("O2", Relaxed), ord!("O2", Acquire)) {
        Ok(_) => Ok(()),
        Err(seen) => Err(ended(seen, sequence)),
    }
}

/// Tells the server that the client no longer sleeps on the word.
///
/// # Errors: what was there instead. `Replied` is a reply that came meanwhile.
#[inline]
pub fn rouse(turn: &AtomicU32, sequence: Sequence) -> Result<(), Poll> {
    let from = TurnWord::new(sequence, Phase::PostedAsleep).0;
    let to = TurnWord::new(sequence, Phase::Posted).0;
    match turn.compare_exchange(from, to, ord!("O7", Relaxed), ord!("O7", Acquire)) {
        Ok(_) => Ok(()),
        Err(seen) => Err(ended(seen, sequence)),
    }
}

/// Gives call `sequence` up (L55). The A-stack is captured until [`is_idle`] says otherwise.
///
/// # Errors: what was there instead. `Replied` is a reply that came meanwhile: the call was not
/// aborted.
pub fn abort(turn: &AtomicU32, sequence: Sequence) -> Result<(), Poll> {
    let to = TurnWord::new(sequence, Phase::Aborted).0;
    let asleep = TurnWord::new(sequence, Phase::PostedAsleep).0;
    let awake = TurnWord::new(sequence, Phase::Posted).0;
    match turn.compare_exchange(asleep, to, ord!("O5", Relaxed), ord!("O5", Acquire)) {
        Ok(_) => return Ok(()),
        Err(seen) if seen != awake => return Err(ended(seen, sequence)),
        Err(_) => {}
    }
    match turn.compare_exchange(awake, to, ord!("O5", Relaxed), ord!("O5", Acquire)) {
        Ok(_) => Ok(()),
        Err(seen) => Err(ended(seen, sequence)),
    }
}

/// Whether the captured A-stack of call `sequence` has come back.
#[inline]
pub fn is_idle(turn: &AtomicU32, sequence: Sequence) -> bool {
    matches!(poll(turn, sequence), Poll::Replied { .. })
}

/// Marks call `sequence` dead, so that its client stops waiting. For the client's housekeeping,
/// once no reply can come any more; a reply that came before stays (L51).
pub fn bury(turn: &AtomicU32, sequence: Sequence) -> Bury {
    let to = TurnWord::new(sequence, Phase::Dead).0;
    let mut seen = turn.load(ord!("O6", Relaxed));
    for _ in 0..BURY_TRIES {
        let outcome = match TurnWord(seen).phase_at(sequence) {
            Some(Phase::Posted | Phase::Aborted) => Bury::ClientAwake,
            Some(Phase::PostedAsleep) => Bury::WakeClient,
            _ => return Bury::Ended(TurnWord(seen)),
        };
        match turn.compare_exchange(seen, to, ord!("O6", Relaxed), ord!("O6", Relaxed)) {
            Ok(_) => return outcome,
            Err(moved) => seen = moved,
        }
    }
    Bury::Ended(TurnWord(seen))
}

/// Whether the A-stack holds a call without a reply, claimed or not.
pub fn is_pending(turn: &AtomicU32) -> bool {
    TurnWord(turn.load(ord!("O3", Acquire))).is_pending()
}

/// Whether a call runs or may come to run, as the client says: one without a reply, the one that
/// was claimed last or the next one. Another is a lie, for which nobody waits. `claim` is the
/// A-stack's claim word, loaded after the turn as in [`look`].
pub fn may_run(turn: &AtomicU32, claim: &AtomicU32) -> bool {
    let seen = TurnWord(turn.load(ord!("O3", Acquire)));
    let ahead = || seen.sequence().ahead_of(crate::claim::claimed(claim));
    seen.is_pending() && matches!(ahead(), 0 | 1)
}

/// Whether the client does not wait for call `sequence` any more, which the server runs.
pub fn is_given_up(turn: &AtomicU32, sequence: Sequence) -> bool {
    let phase = TurnWord(turn.load(ord!("O3", Acquire))).phase_at(sequence);
    !matches!(phase, Some(Phase::Posted | Phase::PostedAsleep))
}

/// Looks whether an A-stack holds a call that nobody has claimed. `claim` is its claim word.
///
/// The claim is loaded after the turn: so it is never older than the turn that was seen, and a
/// turn that another processor finished meanwhile is "nothing", not a fault.
///
/// # Cost: one load while the A-stack is idle, two when it is not.
#[inline(always)]
pub fn look(turn: &AtomicU32, claim: &AtomicU32) -> Look {
    look_word(TurnWord(turn.load(ord!("O3", Acquire))), || claim)
}

/// Whether nothing is posted, so that a look finds nothing: so it is of most A-stacks. What a tally
/// watches is not said to be.
///
/// # Cost: one load.
#[inline(always)]
pub fn is_at_rest(turn: &AtomicU32) -> bool {
    rests(TurnWord(turn.load(ord!("O3", Acquire))))
}

#[inline(always)]
fn rests(seen: TurnWord) -> bool {
    seen.0 & PHASE_MASK <= Phase::IdleHot as u32
}

/// [`look`] of a word that was loaded already, with the order of row O3 and before `claim` is,
/// which is asked for beside a call only.
#[inline(always)]
pub fn look_word<'c>(seen: TurnWord, claim: impl FnOnce() -> &'c AtomicU32) -> Look {
    if rests(seen) {
        return Look::Nothing;
    }
    let sequence = crate::claim::claimed(claim()).next();
    // Most are the call after the last one claimed: two comparisons.
    let awake = TurnWord::new(sequence, Phase::Posted).0;
    if seen.0 == awake || seen.0 == awake + 1 {
        return Look::Posted(sequence);
    }
    look_closer(seen, sequence)
}

/// What a word is about that is neither idle nor the call `due`.
#[cold]
fn look_closer(seen: TurnWord, due: Sequence) -> Look {
    match (seen.phase(), seen.sequence().ahead_of(due)) {
        (Some(_), ahead) if ahead < 0 => Look::Nothing,
        (Some(Phase::Aborted), 0) => Look::Aborted(due),
        (Some(Phase::Dead), 0) => Look::Nothing,
        _ => Look::Wrong(seen),
    }
}

/// Gives the A-stack and the results in it back to the client, and says how the server will watch
/// it next. Only for the processor that claimed call `sequence` (L24).
///
/// # Cost: one swap.
#[inline(always)]
pub fn reply(turn: &AtomicU32, sequence: Sequence, mode: Mode) -> Reply {
    let idle = TurnWord::new(sequence, mode.phase()).0;
    let seen = TurnWord(turn.swap(idle, ord!("O4", Release)));
    if seen == TurnWord::new(sequence, Phase::Posted) {
        return Reply::ClientAwake;
    }
    replied_otherwise(seen, sequence)
}

/// What the reply to a client found that was not awake.
#[cold]
fn replied_otherwise(seen: TurnWord, sequence: Sequence) -> Reply {
    match seen.phase_at(sequence) {
        Some(Phase::Posted) => Reply::ClientAwake,
        Some(Phase::PostedAsleep) => Reply::WakeClient,
        Some(Phase::Aborted) => Reply::Aborted,
        Some(Phase::Dead) => Reply::Dead,
        _ => Reply::Wrong(seen),
    }
}

/// Stops watching an A-stack by `mode` that is idle after call `sequence`: from here on its client
/// rings. False if the word was anything else: then look, for a call may have come.
#[inline]
pub fn demote(turn: &AtomicU32, sequence: Sequence, mode: Mode) -> bool {
    let from = TurnWord::new(sequence, mode.phase()).0;
    let to = TurnWord::new(sequence, Phase::IdleBell).0;
    turn.compare_exchange(from, to, ord!("O9", Relaxed), ord!("O9", Relaxed)).is_ok()
}

#[inline(always)]
fn judge(seen: u32, sequence: Sequence) -> Poll {
    const IDLE_BELL: u32 = Phase::IdleBell as u32;
    const IDLE_HOT: u32 = Phase::IdleHot as u32;
    const POSTED: u32 = Phase::Posted as u32;
    const POSTED_ASLEEP: u32 = Phase::PostedAsleep as u32;
    const DEAD: u32 = Phase::Dead as u32;
    const IDLE_TALLY: u32 = Phase::IdleTally as u32;
    // The phase if the word is about this call, and no phase if it is about another: one
    // subtraction for each poll.
    match seen.wrapping_sub(sequence.0 << PHASE_BITS) {
        IDLE_BELL => Poll::Replied { mode: Mode::Bell },
        IDLE_HOT => Poll::Replied { mode: Mode::Hot },
        POSTED | POSTED_ASLEEP => Poll::Pending,
        IDLE_TALLY => Poll::Replied { mode: Mode::Tally },
        DEAD => Poll::Dead,
        _ => Poll::Wrong(TurnWord(seen)),
    }
}

/// Why a client's edge was not taken. Only the client moves a word between the phases that are
/// pending, so finding it in another of them is the peer's doing.
fn ended(seen: u32, sequence: Sequence) -> Poll {
    match judge(seen, sequence) {
        Poll::Pending => Poll::Wrong(TurnWord(seen)),
        outcome => outcome,
    }
}

impl Sequence {
    /// Before the first call: what all-zero memory says.
    pub const ZERO: Sequence = Sequence(0);

    /// The low 29 bits of `number`.
    #[inline]
    pub const fn from_u32(number: u32) -> Sequence {
        Sequence(number & SEQUENCE_MASK)
    }

    /// The sequence as a number below 2^29.
    #[inline]
    pub const fn as_u32(self) -> u32 {
        self.0
    }

    /// The call after this one.
    #[inline]
    pub const fn next(self) -> Sequence {
        Sequence((self.0 + 1) & SEQUENCE_MASK)
    }

    /// The call before this one.
    #[inline]
    pub const fn previous(self) -> Sequence {
        Sequence(self.0.wrapping_sub(1) & SEQUENCE_MASK)
    }

    /// How many calls this one is ahead of `other`, negative if it is behind.
    #[inline]
    pub const fn ahead_of(self, other: Sequence) -> i32 {
        (self.0.wrapping_sub(other.0) << PHASE_BITS) as i32 >> PHASE_BITS
    }
}

impl Mode {
    const fn phase(self) -> Phase {
        match self {
            Mode::Bell => Phase::IdleBell,
            Mode::Hot => Phase::IdleHot,
            Mode::Tally => Phase::IdleTally,
        }
    }
}

impl TurnWord {
    /// The word for `sequence` in `phase`.
    #[inline]
    pub const fn new(sequence: Sequence, phase: Phase) -> TurnWord {
        TurnWord(sequence.0 << PHASE_BITS | phase as u32)
    }

    /// The call that the word is about.
    #[inline]
    pub const fn sequence(self) -> Sequence {
        Sequence(self.0 >> PHASE_BITS)
    }

    /// The phase; `None` if it is none of ours.
    #[inline]
    pub const fn phase(self) -> Option<Phase> {
        Some(match self.0 & PHASE_MASK {
            0 => Phase::IdleBell,
            1 => Phase::IdleHot,
            2 => Phase::Posted,
            3 => Phase::PostedAsleep,
            4 => Phase::Aborted,
            5 => Phase::Dead,
            6 => Phase::IdleTally,
            _ => return None,
        })
    }

    /// Whether it is about a call without a reply.
    const fn is_pending(self) -> bool {
        matches!(self.phase(), Some(Phase::Posted | Phase::PostedAsleep | Phase::Aborted))
    }

    /// The fault of a peer that wrote this word where call `sequence` was due to be `wanted`.
    #[cold]
    pub const fn fault(self, sequence: Sequence, wanted: &'static str) -> PeerFault {
        PeerFault::Turn { seen: self, sequence, wanted }
    }

    /// The phase, if the word is about call `sequence`.
    #[inline]
    const fn phase_at(self, sequence: Sequence) -> Option<Phase> {
        if self.sequence().0 == sequence.0 { self.phase() } else { None }
    }
}

impl fmt::Display for Sequence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl fmt::Display for TurnWord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let phase = match self.phase() {
            Some(Phase::IdleBell) => "idle",
            Some(Phase::IdleHot) => "idle and polled",
            Some(Phase::IdleTally) => "idle and tallied",
            Some(Phase::Posted) => "posted",
            Some(Phase::PostedAsleep) => "posted, client asleep",
            Some(Phase::Aborted) => "aborted",
            Some(Phase::Dead) => "dead",
            None => return write!(f, "call {}, phase {}", self.sequence(), self.0 & PHASE_MASK),
        };
        write!(f, "call {} {phase}", self.sequence())
    }
}
