//! What a client keeps in private memory for each A-stack: the linkage record of LRPC (L16). The
//! server never sees it, so that no return can be forged.

use std::mem::offset_of;
use std::sync::atomic::{AtomicU16, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use nearcall_abi::head::flag;
use nearcall_core::Sequence;
use nearcall_core::linger::{BATCH_CALLS, LingerSearch};
use nearcall_os::astack::NEAR_RECORD_BYTES;
use nearcall_os::clock;
use nearcall_os::processor::Linger;
use nearcall_os::segment::Segment;

use super::deadline::Deadline;

/// Not a processor's number, and what an origin can say that has no flag: so that one which has any
/// is never taken for the last one.
pub(crate) const NO_PROCESSOR: u32 = flag::PROCESSOR;

/// No thread has a call outstanding.
pub(crate) const NOBODY: u32 = 0;

/// One A-stack's record. Whoever claimed the A-stack owns it; the atomics are there because
/// ownership passes between threads through the A-stack list, which orders it.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Linkage {
    sequence: AtomicU32,
    server_processor: AtomicU32,
    /// Number of the A-stack in its binding.
    pub index: u32,
    /// Bits of the origin of every call on it: see `AStackHead::origin`.
    flags: AtomicU32,
    /// Its bit in the bias of its class, if it is kept for a thread; 0: it is not.
    kept: AtomicU64,
    /// Cycles that a client leaves the line alone after a post.
    linger: AtomicU16,
    class: u16,
    /// Number of the thread that has posted a call and will collect it later.
    outstanding: AtomicU32,
    /// Out-of-line segment for arguments.
    pub request: Mutex<Option<OutOfLine>>,
    /// How many segments for arguments there were: a number is never used again.
    pub requests: AtomicU32,
    /// Out-of-line segment that the server sent for results.
    pub reply: Mutex<Option<OutOfLine>>,
    batch: Mutex<Batch>,
    /// When the last call with a deadline that has begun is over.
    until_ns: AtomicU64,
    /// Number of that call.
    until_sequence: AtomicU32,
    /// How long a brief call may take that is not as most are, as it crosses and in nanoseconds.
    deadline_word: AtomicU32,
    deadline_ns: AtomicU64,
}

/// Where what the call path in C uses lies: see `raw/brief.rs`.
pub(crate) const SEQUENCE_OFFSET_BYTES: usize = offset_of!(Linkage, sequence);
/// As above.
pub(crate) const PROCESSOR_OFFSET_BYTES: usize = offset_of!(Linkage, server_processor);
/// As above.
pub(crate) const KEPT_OFFSET_BYTES: usize = offset_of!(Linkage, kept);
/// As above.
pub(crate) const LINGER_OFFSET_BYTES: usize = offset_of!(Linkage, linger);
/// As above.
pub(crate) const OUTSTANDING_OFFSET_BYTES: usize = offset_of!(Linkage, outstanding);

/// No call has this number: sequences have fewer bits.
const NO_SEQUENCE: u32 = u32::MAX;

/// Calls that are weighed together, to find out how long to linger.
#[derive(Debug)]
struct Batch {
    begin_ns: u64,
    search: LingerSearch,
}

// What a call in place needs lies in the line of the A-stack's addresses.
const _: () = assert!(offset_of!(Linkage, sequence) == 0);
const _: () = assert!(offset_of!(Linkage, server_processor) == 4);
const _: () = assert!(offset_of!(Linkage, index) == 8);
const _: () = assert!(offset_of!(Linkage, flags) == 12);
const _: () = assert!(offset_of!(Linkage, kept) == 16);
const _: () = assert!(offset_of!(Linkage, linger) == 24);
const _: () = assert!(offset_of!(Linkage, class) == 26);
const _: () = assert!(offset_of!(Linkage, outstanding) == 28);
const _: () = assert!(offset_of!(Linkage, outstanding) < NEAR_RECORD_BYTES);

/// An out-of-line segment and which one it is (L50).
#[derive(Clone, Debug)]
pub(crate) struct OutOfLine {
    pub generation: u32,
    pub segment: Arc<Segment>,
}

/// Whether call `sequence` is the last one of a batch.
#[inline(always)]
pub(crate) fn ends_batch(sequence: Sequence) -> bool {
    sequence.as_u32().is_multiple_of(BATCH_CALLS)
}

impl Linkage {
    pub fn new(index: u32, class: u32) -> Linkage {
        Linkage {
            sequence: AtomicU32::new(Sequence::ZERO.as_u32()),
            server_processor: AtomicU32::new(NO_PROCESSOR),
            index,
            flags: AtomicU32::new(0),
            kept: AtomicU64::new(0),
            linger: AtomicU16::new(0),
            class: u16::try_from(class).expect("an interface has a few classes"),
            outstanding: AtomicU32::new(NOBODY),
            request: Mutex::new(None),
            requests: AtomicU32::new(0),
            reply: Mutex::new(None),
            batch: Mutex::new(Batch { begin_ns: 0, search: LingerSearch::of_client(0) }),
            until_ns: AtomicU64::new(0),
            until_sequence: AtomicU32::new(NO_SEQUENCE),
            deadline_word: AtomicU32::new(0),
            deadline_ns: AtomicU64::new(0),
        }
    }

    /// Its bit in the bias of its class, which keeps it for a thread; 0: it does not.
    #[inline(always)]
    pub fn kept(&self) -> u64 {
        // Relaxed: written by whoever has the A-stack; its way to others orders it.
        self.kept.load(Ordering::Relaxed)
    }

    pub fn set_kept(&self, bit: u64) {
        // Relaxed: as above.
        self.kept.store(bit, Ordering::Relaxed);
        // Relaxed: as above.
        self.flags.store(0, Ordering::Relaxed);
    }

    /// Its class.
    #[inline(always)]
    pub fn class(&self) -> u32 {
        self.class.into()
    }

    /// Bits of the origin of calls on it that are waited for.
    #[inline(always)]
    pub fn flags(&self) -> u32 {
        // Relaxed: as above.
        self.flags.load(Ordering::Relaxed)
    }

    /// Its caller is one of several that call in turn: from now on the server may watch it by its
    /// tally, if it is kept, so that there is a bit for it.
    #[cfg(feature = "threads")]
    #[inline]
    pub fn allow_tally(&self) {
        if self.kept() != 0 {
            // Relaxed: as above.
            self.flags.store(flag::TALLIES, Ordering::Relaxed);
        }
    }

    /// Its caller waits by itself.
    #[inline]
    pub fn forbid_tally(&self) {
        // Relaxed: as above.
        self.flags.store(0, Ordering::Relaxed);
    }

    /// The thread that will collect the call on it, by the low half of its number.
    pub fn outstanding(&self) -> u32 {
        // Relaxed: a thread that looks for itself finds what it wrote itself.
        self.outstanding.load(Ordering::Relaxed)
    }

    #[inline(always)]
    pub fn set_outstanding(&self, thread: u32) {
        // Relaxed: as above.
        self.outstanding.store(thread, Ordering::Relaxed);
    }

    /// From now on the client searches for how long to linger, up to `cycles_max`.
    pub fn search_linger(&self, cycles_max: u32) {
        // What two bytes hold, which is far over what makes sense.
        let search = LingerSearch::of_client(cycles_max.min(u16::MAX.into()));
        // Relaxed: as above.
        self.linger.store(search.cycles() as u16, Ordering::Relaxed);
        self.batch().search = search;
    }

    fn batch(&self) -> MutexGuard<'_, Batch> {
        self.batch.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The last call posted.
    #[inline(always)]
    pub fn sequence(&self) -> Sequence {
        // Relaxed: the list that handed the A-stack over has ordered it.
        Sequence::from_u32(self.sequence.load(Ordering::Relaxed))
    }

    /// Counts a call, and weighs the last batch if it was the last of one.
    #[inline(always)]
    pub fn count(&self) -> Sequence {
        let sequence = self.count_unweighed();
        self.weigh_if_last(sequence);
        sequence
    }

    /// Counts a call that is [weighed](Linkage::weigh_if_last) later.
    #[inline(always)]
    pub fn count_unweighed(&self) -> Sequence {
        let sequence = self.sequence().next();
        // Relaxed: as above.
        self.sequence.store(sequence.as_u32(), Ordering::Relaxed);
        sequence
    }

    /// Weighs the last batch, if call `sequence` was the last of one.
    #[inline(always)]
    pub fn weigh_if_last(&self, sequence: Sequence) {
        if ends_batch(sequence) {
            self.weigh();
        }
    }

    #[cold]
    #[inline(never)]
    fn weigh(&self) {
        let now_ns = clock::now_ns();
        let mut batch = self.batch();
        let batch_ns = now_ns - batch.begin_ns;
        let cycles = batch.search.told(batch_ns);
        batch.begin_ns = now_ns;
        // Relaxed: as for the sequence. Two bytes hold it: see `search_linger`.
        self.linger.store(cycles as u16, Ordering::Relaxed);
        if self.until_ns(self.sequence()).is_none() {
            // Long before a call could have that number again.
            self.forget_until();
        }
    }

    /// When call `sequence` is over; `None`: it has no deadline, or that has not begun.
    pub fn until_ns(&self, sequence: Sequence) -> Option<u64> {
        // Relaxed: as for the sequence.
        let has_begun = self.until_sequence.load(Ordering::Relaxed) == sequence.as_u32();
        // Relaxed: as above.
        has_begun.then(|| self.until_ns.load(Ordering::Relaxed))
    }

    /// The deadline of call `sequence` has begun.
    pub fn set_until_ns(&self, sequence: Sequence, until_ns: u64) {
        // Relaxed: as above.
        self.until_ns.store(until_ns, Ordering::Relaxed);
        // Relaxed: as above.
        self.until_sequence.store(sequence.as_u32(), Ordering::Relaxed);
    }

    /// Of the brief call that is about to be posted.
    pub fn deadline(&self) -> Deadline {
        // Relaxed: as above.
        let (ns, word) = (self.deadline_ns.load(Ordering::Relaxed), &self.deadline_word);
        // Relaxed: as above.
        Deadline { ns, word: word.load(Ordering::Relaxed) }
    }

    pub fn set_deadline(&self, deadline: Deadline) {
        // Relaxed: as above.
        self.deadline_ns.store(deadline.ns, Ordering::Relaxed);
        // Relaxed: as above.
        self.deadline_word.store(deadline.word, Ordering::Relaxed);
    }

    /// No call with a deadline has begun.
    pub fn forget_until(&self) {
        // Relaxed: as above.
        self.until_sequence.store(NO_SEQUENCE, Ordering::Relaxed);
    }

    /// How long to leave the line alone after a post.
    #[inline(always)]
    pub fn until_reply(&self) -> Linger {
        // Relaxed: as for the sequence.
        Linger::of_cycles(self.linger.load(Ordering::Relaxed).into())
    }

    /// The processor that the last reply came from: a hint.
    #[inline(always)]
    pub fn server_processor(&self) -> u32 {
        // Relaxed: a hint about waiting, nothing depends on it.
        self.server_processor.load(Ordering::Relaxed)
    }

    #[inline(always)]
    pub fn set_server_processor(&self, processor: u32) {
        // What a peer says: with a flag beside it, it could be taken for an origin that has one.
        let processor = processor & flag::PROCESSOR;
        // Relaxed: as above.
        self.server_processor.store(processor, Ordering::Relaxed);
    }
}
