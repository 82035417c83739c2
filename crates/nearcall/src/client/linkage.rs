//! What a client keeps in private memory for each A-stack: the linkage record of LRPC (L16). The
//! server never sees it, so that no return can be forged.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use nearcall_core::Sequence;
use nearcall_os::segment::Segment;

/// Not a processor number.
pub(crate) const NO_PROCESSOR: u32 = u32::MAX;

/// One A-stack's record. Whoever claimed the A-stack owns it; the atomics are there because
/// ownership passes between threads through the A-stack list, which orders it.
#[derive(Debug)]
pub(crate) struct Linkage {
    sequence: AtomicU32,
    server_processor: AtomicU32,
    /// Class of the A-stack.
    pub class: u32,
    /// Out-of-line segment for arguments.
    pub request: Mutex<Option<OutOfLine>>,
    /// How many segments for arguments there were: a number is never used again.
    pub requests: AtomicU32,
    /// Out-of-line segment that the server sent for results.
    pub reply: Mutex<Option<OutOfLine>>,
}

/// An out-of-line segment and which one it is (L50).
#[derive(Clone, Debug)]
pub(crate) struct OutOfLine {
    pub generation: u32,
    pub segment: Arc<Segment>,
}

impl Linkage {
    pub fn new(class: u32) -> Linkage {
        Linkage {
            sequence: AtomicU32::new(Sequence::ZERO.as_u32()),
            server_processor: AtomicU32::new(NO_PROCESSOR),
            class,
            request: Mutex::new(None),
            requests: AtomicU32::new(0),
            reply: Mutex::new(None),
        }
    }

    /// The last call posted.
    #[inline]
    pub fn sequence(&self) -> Sequence {
        // Relaxed: the list that handed the A-stack over has ordered it.
        Sequence::from_u32(self.sequence.load(Ordering::Relaxed))
    }

    /// Counts a call.
    #[inline]
    pub fn set_sequence(&self, sequence: Sequence) {
        // Relaxed: as above.
        self.sequence.store(sequence.as_u32(), Ordering::Relaxed);
    }

    /// The processor that the last reply came from: a hint.
    #[inline]
    pub fn server_processor(&self) -> u32 {
        // Relaxed: a hint about waiting, nothing depends on it.
        self.server_processor.load(Ordering::Relaxed)
    }

    #[inline]
    pub fn set_server_processor(&self, processor: u32) {
        // Relaxed: as above.
        self.server_processor.store(processor, Ordering::Relaxed);
    }
}
