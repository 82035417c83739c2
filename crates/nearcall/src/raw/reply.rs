//! The client's half of a stub after the reply has come: judge the words, then copy the results
//! to where they go (L42).

use std::sync::Arc;
// Relaxed: the poll that saw the reply acquired everything behind it (row O8).
use std::sync::atomic::Ordering::Relaxed;

use nearcall_abi::head::flag;
use nearcall_abi::{ReplyLine, Status};
use nearcall_core::PeerFault;
use nearcall_os::segment::Segment;

use super::area::Inbound;
use super::element::Element;
use super::incoming::Incoming;
use super::malformed::Malformed;
use super::marshal::Marshal;
use super::variable::OUT_OF_LINE_END_MAX;
use crate::client::binding::Held;
use crate::error::{CallError, NotExecuted};

/// Results, in place on the A-stack. Dropping it gives the A-stack back.
#[derive(Debug)]
pub struct Reply<'b> {
    held: Held<'b>,
    procedure: u32,
    raised: u32,
    message_bytes: u32,
    out_of_line: Option<Arc<Segment>>,
}

macro_rules! gets {
    ($($get:ident: $number:ty),*) => {$(
        /// Loads a scalar from byte `AT` of the fixed part: one load.
        #[inline(always)]
        pub fn $get<const AT: usize>(&self) -> $number {
            self.inbound().$get::<AT>()
        }
    )*};
}

impl<'b> Reply<'b> {
    /// Each word of the head is loaded once and judged.
    #[inline(always)]
    pub(super) fn new(held: Held<'b>, procedure: u32) -> Result<Reply<'b>, CallError> {
        let head = held.astack.head();
        let status = head.selector.load(Relaxed);
        let message_bytes = head.message_bytes.load(Relaxed);
        let origin = head.origin.load(Relaxed);
        held.linkage.set_server_processor(origin & flag::PROCESSOR);
        let mut reply = Reply { held, procedure, raised: status, message_bytes, out_of_line: None };
        if status > u16::MAX.into() {
            return Err(reply.not_returned(status));
        }
        if origin & flag::OUT_OF_LINE != 0 {
            reply.fetch_out_of_line()?;
        } else if message_bytes as usize > reply.held.astack.capacity_bytes() {
            return Err(reply.too_long(reply.held.astack.capacity_bytes() as u32));
        }
        Ok(reply)
    }

    #[inline(always)]
    fn inbound(&self) -> Inbound<'b> {
        let astack = self.held.astack;
        Inbound { inline: astack.inline().as_span(), block: astack.peer() }
    }

    gets!(get_u8: u8, get_u16: u16, get_u32: u32, get_u64: u64);

    /// A fixed array of elements at byte `AT` of the fixed part, in one copy.
    #[inline(always)]
    pub fn get_element<const AT: usize, T: Element>(&self) -> T {
        self.inbound().get_element::<AT, T>()
    }

    /// A fixed value of `BYTES` bytes at byte `AT` of the fixed part, copied and then judged.
    pub fn get_image<const AT: usize, const BYTES: usize, T: Marshal>(
        &self,
    ) -> Result<T, Malformed> {
        self.inbound().get_image::<AT, BYTES, T>()
    }

    /// 0 if the procedure returned, n if it raised the n-th of its exceptions.
    #[inline(always)]
    pub fn raised(&self) -> u32 {
        self.raised
    }

    /// The variable part, which begins at byte `AT`.
    ///
    /// # Errors: [`CallError::Peer`] if the message is too short to have one.
    #[inline]
    pub fn variable<const AT: usize>(&self) -> Result<Incoming<'_>, CallError> {
        let end = self.message_bytes as usize;
        let Some(bytes) = end.checked_sub(AT) else {
            let limit = self.message_bytes.into();
            return Err(self.malformed(Malformed::Length { claimed: AT as u64, limit }));
        };
        match &self.out_of_line {
            None => Ok(Incoming::in_place(self.inbound(), AT, end)),
            Some(segment) => {
                Incoming::out_of_line(segment.span(), bytes).map_err(|bad| self.malformed(bad))
            }
        }
    }

    /// The results are not of the form that the interface promises. The binding is revoked.
    #[cold]
    pub fn malformed(&self, malformed: Malformed) -> CallError {
        let (claimed, limit) = malformed.claim_and_limit();
        self.fault(match malformed {
            Malformed::Text { at } => PeerFault::Text { valid_bytes: at as u32 },
            Malformed::Range { claimed } => PeerFault::Discriminator { claimed, count: 0 },
            _ => PeerFault::Length { claimed, limit },
        })
    }

    /// The procedure does not raise as many exceptions. The binding is revoked.
    #[cold]
    pub fn unknown_exception(&self) -> CallError {
        self.fault(PeerFault::Exception { claimed: self.raised, count: 0 })
    }

    #[cold]
    fn too_long(&self, limit: u32) -> CallError {
        self.fault(PeerFault::MessageBytes { claimed: self.message_bytes, limit })
    }

    #[cold]
    fn fault(&self, fault: PeerFault) -> CallError {
        self.held.binding.fault(self.name(), fault)
    }

    fn name(&self) -> &'static str {
        self.held.binding.procedure_name(self.procedure)
    }

    #[cold]
    fn fetch_out_of_line(&mut self) -> Result<(), CallError> {
        if self.message_bytes > OUT_OF_LINE_END_MAX {
            return Err(self.too_long(OUT_OF_LINE_END_MAX));
        }
        let generation = self.held.astack.peer_line::<ReplyLine>().generation();
        let segment = self.held.reply_segment(generation).map_err(|fault| self.fault(fault))?;
        self.out_of_line = Some(segment);
        Ok(())
    }

    #[cold]
    fn not_returned(&self, word: u32) -> CallError {
        let procedure = self.name();
        let not_executed = |reason| CallError::NotExecuted { procedure, reason };
        match Status::from_word(word) {
            Some(Status::Refused) => not_executed(NotExecuted::Refused),
            Some(Status::Malformed) => not_executed(NotExecuted::ArgumentsRefused),
            Some(Status::NoProcedure) => not_executed(NotExecuted::ArgumentsRefused),
            Some(Status::Panicked) => CallError::Panicked { procedure },
            Some(Status::ResultsRefused) => CallError::ResultsRefused { procedure },
            Some(Status::Returned | Status::Raised(_)) | None => {
                self.fault(PeerFault::Status { claimed: word })
            }
        }
    }
}
