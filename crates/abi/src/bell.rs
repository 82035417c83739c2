//! The doorbell of a server: how a client tells a server that does not poll the A-stack in
//! question that there is work.

use core::mem::{offset_of, size_of};
use core::sync::atomic::{AtomicU32, AtomicU64};

/// Lanes of one bell line: each binding of a trust class rings its own bit. More bindings than
/// lanes share lanes.
pub const LANES: u32 = 448;

/// Byte offset, in a bell segment, of the line that the watching processor waits on.
pub const WATCH_OFFSET_BYTES: usize = 0;

/// Byte offset of the line that a relief processor waits on; its lanes are unused.
pub const RELIEF_OFFSET_BYTES: usize = 64;

/// Byte offset of the first line of gates that residents wait on: one gate a processor of the
/// machine, up to the end of the segment.
pub const RESIDENTS_OFFSET_BYTES: usize = 128;

/// Size of a bell segment.
pub const SEGMENT_BYTES: usize = crate::PAGE_BYTES as usize;

/// Gates in a line of them.
const LINE_GATES: usize = 16;

/// Where the gate of a resident lies: processors past the last gate share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResidentGate {
    /// Byte offset of its line in the segment.
    pub line_offset: usize,
    /// Which one of the line.
    pub index: usize,
}

impl ResidentGate {
    /// The gate of the resident of processor number `processor`.
    #[inline]
    pub const fn of(processor: u32) -> ResidentGate {
        let gates = (SEGMENT_BYTES - RESIDENTS_OFFSET_BYTES) / size_of::<AtomicU32>();
        let number = processor as usize % gates;
        let line_offset = RESIDENTS_OFFSET_BYTES + number / LINE_GATES * size_of::<GateLine>();
        ResidentGate { line_offset, index: number % LINE_GATES }
    }
}

/// One line per trust class of a server, written by every client of the class and by the server.
///
/// A client of the class can lose or forge bells here; that costs time, never correctness: the
/// turn word alone says whether an A-stack is posted.
#[repr(C, align(64))]
#[derive(Debug, Default)]
pub struct BellLine {
    /// The word that a parked server processor waits on. See `nearcall_core::bell`.
    pub gate: AtomicU32,
    /// 0.
    pub reserved: AtomicU32,
    /// One bit a lane.
    pub lanes: [AtomicU64; 7],
}

/// Gates of residents, of several processors. Written by the clients of the class and the server,
/// as a bell line is; who forges one costs time, never correctness.
#[repr(C, align(64))]
#[derive(Debug, Default)]
pub struct GateLine {
    /// The words that residents wait on.
    pub gates: [AtomicU32; LINE_GATES],
}

const _: () = assert!(size_of::<GateLine>() == 64);
const _: () = assert!(size_of::<BellLine>() == 64);
const _: () = assert!(offset_of!(BellLine, gate) == 0);
const _: () = assert!(offset_of!(BellLine, lanes) == 8);
const _: () = assert!(LANES == 7 * u64::BITS);

#[cfg(test)]
mod tests {
    use super::*;

    /// Byte offset of the gate of `processor`.
    fn offset(processor: u32) -> usize {
        let gate = ResidentGate::of(processor);
        gate.line_offset + gate.index * size_of::<AtomicU32>()
    }

    #[test]
    fn every_processor_has_a_gate_behind_the_bell_lines_and_within_the_segment() {
        let gates = ((SEGMENT_BYTES - RESIDENTS_OFFSET_BYTES) / size_of::<AtomicU32>()) as u32;
        for processor in 0..gates {
            assert_eq!(offset(processor), RESIDENTS_OFFSET_BYTES + processor as usize * 4);
            assert!(ResidentGate::of(processor).line_offset.is_multiple_of(64));
        }
        assert_eq!(offset(gates - 1) + 4, SEGMENT_BYTES);
        assert_eq!(offset(gates), offset(0));
        assert!(offset(u32::MAX) < SEGMENT_BYTES);
    }
}
