//! Trust classes: importers that could interfere with each other anyway share one bell.
//!
//! A client can lose or forge bells of its own class, so there is a class per uid, and one for
//! importers whose uid the system does not tell. What that costs is time, never correctness.

use std::os::fd::OwnedFd;
use std::sync::atomic::AtomicU32;
use std::sync::{Mutex, MutexGuard, PoisonError};

use nearcall_abi::BellLine;
use nearcall_abi::bell::{
    GateLine, RELIEF_OFFSET_BYTES, ResidentGate, SEGMENT_BYTES, WATCH_OFFSET_BYTES,
};
use nearcall_core::quota::Pace;
use nearcall_os::segment::{Sealing, Segment, SegmentError};

/// One class: its bell, and what new members are given.
#[derive(Debug)]
pub(crate) struct TrustClass {
    /// `None`: the system does not tell.
    pub uid: Option<u32>,
    bell: Segment,
    /// Passed to each importer of the class.
    pub bell_descriptor: OwnedFd,
    /// How fast its members' requests to housekeeping are answered.
    pace: Mutex<Pace>,
    /// What its bells have cost that rang for nothing.
    rings: Mutex<Pace>,
}

impl TrustClass {
    /// A class without members.
    pub fn new(uid: Option<u32>) -> Result<TrustClass, SegmentError> {
        let (bell, bell_descriptor) =
            Segment::create("nearcall-bell", SEGMENT_BYTES, Sealing::BothWrite)?;
        let (pace, rings) = (Mutex::new(Pace::REQUESTS), Mutex::new(Pace::RINGS));
        Ok(TrustClass { uid, bell, bell_descriptor, pace, rings })
    }

    /// How fast its members' requests to housekeeping are answered.
    pub fn pace(&self) -> MutexGuard<'_, Pace> {
        self.pace.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Its bells rang for nothing, and that took `spent_ns` up to `now_ns`. How long they are not
    /// to be heard.
    pub fn charge_rings(&self, spent_ns: u64, now_ns: u64) -> u64 {
        let mut rings = self.rings.lock().unwrap_or_else(PoisonError::into_inner);
        rings.spend(spent_ns, now_ns);
        rings.pause_ns(now_ns)
    }

    /// The line that the watching processor waits on, with the lanes.
    #[inline]
    pub fn watch(&self) -> &BellLine {
        self.line(WATCH_OFFSET_BYTES)
    }

    /// The line that relief processors wait on.
    pub fn relief(&self) -> &BellLine {
        self.line(RELIEF_OFFSET_BYTES)
    }

    /// The gate that the resident of this processor waits on.
    pub fn resident(&self, processor: u32) -> &AtomicU32 {
        let gate = ResidentGate::of(processor);
        let span = self.bell.span_mut().expect("the bell is mapped writable");
        let line: &GateLine = span.line(gate.line_offset).expect("a bell segment holds its gates");
        &line.gates[gate.index]
    }

    #[inline]
    fn line(&self, offset: usize) -> &BellLine {
        let span = self.bell.span_mut().expect("the bell is mapped writable");
        span.line(offset).expect("a bell segment holds its lines")
    }
}
