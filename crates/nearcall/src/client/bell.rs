//! Ringing: how a client tells a server that does not poll its A-stack that there is work, and who
//! of the server's processors is woken (design notes 0001 and 0003).

use std::sync::atomic::AtomicU32;

use nearcall_abi::BellLine;
use nearcall_abi::bell::{GateLine, LANES, RELIEF_OFFSET_BYTES, ResidentGate, WATCH_OFFSET_BYTES};
use nearcall_core::bell::{self, Lane};
use nearcall_os::{SpanMut, futex, processor};

use super::binding::ClientBinding;

/// Rings after which a call that nobody claims is told of over the binding's socket as well.
const RINGS_MAX: u32 = 3;

/// Who was rung for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rung {
    /// A server processor that gets ours as soon as we give it away.
    Here,
    /// One that is awake, or that was woken wherever it is.
    Elsewhere,
}

impl ClientBinding {
    /// Rings for a server that does not poll our A-stack.
    #[cold]
    #[inline(never)]
    pub fn ring(&self) -> Rung {
        let line = self.bell_line(WATCH_OFFSET_BYTES);
        if !self.ring_lane(line) {
            return Rung::Elsewhere;
        }
        // The watcher sleeps, and waking its processor may take ten times as long as having ours
        // serve the call.
        let resident = self.resident(processor::current());
        if bell::has_sleeper(resident) && bell::ring_gate(resident) {
            futex::wake_all(resident);
            return Rung::Here;
        }
        futex::wake_all(&line.gate);
        Rung::Elsewhere
    }

    /// The same for a client that needs its processor.
    #[cfg(feature = "threads")]
    pub fn ring_elsewhere(&self) {
        let line = self.bell_line(WATCH_OFFSET_BYTES);
        if self.ring_lane(line) {
            futex::wake_all(&line.gate);
        }
    }

    /// Rings as well, of a server that another binding's ring wakes: for both.
    #[cfg(feature = "threads")]
    pub fn ring_beside(&self) {
        self.ring_lane(self.bell_line(WATCH_OFFSET_BYTES));
    }

    /// True: the watcher sleeps, and somebody is to be woken.
    fn ring_lane(&self, line: &BellLine) -> bool {
        let lane = Lane::of(self.lane, LANES);
        bell::ring(&line.gate, &line.lanes[lane.word as usize], lane.bit)
    }

    /// Whether a ring from `processor` has the server run there: a resident of it sleeps there, or
    /// it replied from there last. A hint.
    #[cfg(feature = "threads")]
    pub fn would_be_served_on(&self, processor: u32, replied_from: u32) -> bool {
        bell::has_sleeper(&self.bell_line(WATCH_OFFSET_BYTES).gate)
            && (replied_from == processor || bell::has_sleeper(self.resident(processor)))
    }

    /// Where the bell is mapped: the same for all bindings of a domain to one server, in one trust
    /// class. Another server's may lie there once nobody rings this one any more.
    #[cfg(feature = "threads")]
    pub fn bell_address(&self) -> usize {
        std::sync::Arc::as_ptr(&self.bell).addr()
    }

    fn resident(&self, processor: u32) -> &AtomicU32 {
        let gate = ResidentGate::of(processor);
        let gates: &GateLine =
            self.bell_span().line(gate.line_offset).expect("a bell segment holds its gates");
        &gates.gates[gate.index]
    }

    /// Rings again, for the n-th time, for a call that nobody has claimed: the processor that
    /// watches may be stuck, or a client of our class may have lost our bell.
    #[cold]
    pub fn ring_again(&self, times: u32) {
        let (watch, relief) =
            (self.bell_line(WATCH_OFFSET_BYTES), self.bell_line(RELIEF_OFFSET_BYTES));
        self.ring_lane(watch);
        for gate in [&watch.gate, &relief.gate] {
            // Whatever the gate said: another client of the class may have written it.
            bell::ring_gate(gate);
            futex::wake_all(gate);
        }
        if times >= RINGS_MAX {
            self.control.ask_to_look();
        }
    }

    fn bell_line(&self, offset: usize) -> &BellLine {
        self.bell_span().line(offset).expect("a bell segment holds its lines")
    }

    fn bell_span(&self) -> SpanMut<'_> {
        self.bell.span_mut().expect("the bell is mapped writable")
    }
}
