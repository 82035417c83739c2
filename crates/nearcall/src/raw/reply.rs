//! The client's half of a stub after the reply has come: judge the words, then copy the results
//! to where they go (L42).

use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::os::fd::OwnedFd;
use std::ptr::NonNull;
use std::sync::Arc;

use nearcall_abi::head::flag;
use nearcall_abi::{ReplyLine, Status};
use nearcall_core::{PeerFault, length};
use nearcall_os::HeadWords;
use nearcall_os::descriptor::DescriptorKind;
use nearcall_os::segment::Segment;

use super::area::Inbound;
use super::brief_call::BriefResults;
use super::descriptors::{Passed, all_of};
use super::element::Element;
use super::incoming::Incoming;
use super::malformed::Malformed;
use super::marshal::Marshal;
use crate::client::binding::Grip;
use crate::client::control::NoResults;
use crate::error::{CallError, NotExecuted};
use crate::passed::Due;

/// What [`Reply::raised`] says of a procedure that returned.
pub(super) const RETURNED: u32 = 0;

/// Results, in place on the A-stack. Dropping it gives the A-stack back.
///
/// Whatever is unlikely is a function of its own that is given words, never a reference to this:
/// so a stub has it in registers.
#[derive(Debug)]
pub struct Reply<'b> {
    pub(super) grip: Grip<'b>,
    pub(super) procedure: u32,
    raised: u32,
    message_bytes: u32,
    /// Ended by hand: what a compiler does for it once more keeps the end of a call from being in
    /// line.
    out_of_line: ManuallyDrop<Option<Arc<Segment>>>,
    /// What is kept for a thread must not leave it.
    stays: PhantomData<*const ()>,
}

impl Drop for Reply<'_> {
    /// One unlikely call in all: with two of them it is not inlined where a stub ends.
    #[inline(always)]
    fn drop(&mut self) {
        let kept = self.grip.keep();
        if kept.is_err() || self.out_of_line.is_some() {
            end_otherwise(self.grip, kept, self.out_of_line.take());
        }
    }
}

#[cold]
#[inline(never)]
fn end_otherwise(grip: Grip<'_>, kept: Result<(), u64>, _results: Option<Arc<Segment>>) {
    if let Err(bit) = kept {
        grip.give_back_otherwise(bit);
    }
}

/// How a stub reads a reply that has come and says these words. Judging them and reading the
/// results are one function, so that the reply lies in its registers and not in memory, from which
/// what was stored in pieces comes back late. So does an error, which is long, with the results
/// beside it: it comes in a box.
pub(super) type Read<'b, T, E> = fn(Grip<'b>, u32, HeadWords) -> Result<T, Box<E>>;

/// That function, of a stub that reads replies by `read`, which captures nothing.
#[inline(always)]
pub(super) fn reader<'b, T, E, F>(_read: F) -> Read<'b, T, E>
where
    E: From<Box<CallError>>,
    F: Fn(Reply<'b>) -> Result<T, E> + Copy,
{
    const { assert!(size_of::<F>() == 0, "what reads a reply captures nothing") };
    |grip, procedure, words| {
        // SAFETY: a value of no bytes may be read from any aligned address. There is one of `F`,
        // `_read`, and `F` is `Copy`, so that there may be more.
        let read = unsafe { NonNull::<F>::dangling().read() };
        match Reply::new(grip, procedure, words) {
            Ok(reply) => read(reply).map_err(Box::new),
            Err(error) => Err(Box::new(error.into())),
        }
    }
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
    /// Judges the words of the head, which were loaded once.
    #[inline(always)]
    pub(super) fn new(
        grip: Grip<'b>,
        procedure: u32,
        words: HeadWords,
    ) -> Result<Reply<'b>, Box<CallError>> {
        grip.linkage().set_server_processor(words.origin());
        let has_returned = words.selector() <= u16::MAX.into();
        let is_in_place = words.origin() & flag::OUT_OF_LINE == 0;
        let fits = words.message_bytes() <= grip.astack.capacity_bytes();
        let out_of_line = if has_returned && is_in_place && fits {
            None
        } else {
            Some(judge(grip, procedure, words)?)
        };
        let (raised, message_bytes) = (words.selector(), words.message_bytes());
        let stays = PhantomData;
        let out_of_line = ManuallyDrop::new(out_of_line);
        Ok(Reply { grip, procedure, raised, message_bytes, out_of_line, stays })
    }

    #[inline(always)]
    fn inbound(&self) -> Inbound<'b> {
        let astack = self.grip.astack;
        Inbound { inline: astack.inline().as_span(), block: astack.peer() }
    }

    /// What came back of a brief call.
    #[inline(always)]
    pub(super) fn brief(&self) -> BriefResults<'b> {
        BriefResults { grip: self.grip, procedure: self.procedure, raised: self.raised }
    }

    gets!(get_u8: u8, get_u16: u16, get_u32: u32, get_u64: u64);

    /// A fixed array of elements at byte `AT` of the fixed part, in one copy.
    #[inline(always)]
    pub fn get_element<const AT: usize, T: Element>(&self) -> T {
        self.inbound().get_element::<AT, T>()
    }

    /// The same, in one copy over what the caller has there.
    #[inline(always)]
    pub fn get_element_to<const AT: usize, T: Element>(&self, target: &mut T) {
        self.inbound().get_element_to::<AT, T>(target);
    }

    /// A fixed value of `BYTES` bytes at byte `AT` of the fixed part, copied and then judged.
    pub fn get_image<const AT: usize, const BYTES: usize, T: Marshal>(
        &self,
    ) -> Result<T, Malformed> {
        self.inbound().get_image::<AT, BYTES, T>()
    }

    /// Copies the first bytes of the fixed part, for a stub that is interpreted.
    ///
    /// # Panics
    ///
    /// Past the A-stack's end.
    #[inline]
    pub fn copy_fixed(&self, target: &mut [u8]) {
        self.inbound().copy_out(0, target);
    }

    /// The descriptors that came with the reply, in the order of the results.
    ///
    /// # Errors: [`CallError::Peer`] if they are not as many, or not of these kinds.
    pub fn descriptors<const N: usize>(
        &self,
        kinds: [DescriptorKind; N],
    ) -> Result<[OwnedFd; N], Box<CallError>> {
        let due = Due { kinds: &kinds, optional: &[] };
        let (came, _) = self.grip.take_descriptors(self.procedure, due)?;
        Ok(all_of(came))
    }

    /// The same where some may be absent: those that may, in their order, each with the byte of
    /// the message that says whether it is there.
    ///
    /// # Errors: [`CallError::Peer`] also if a byte is neither 0 nor 1.
    pub fn optional_descriptors<const N: usize, const M: usize>(
        &self,
        kinds: [DescriptorKind; N],
        optional: [(DescriptorKind, u8); M],
    ) -> Result<Passed<N, M>, Box<CallError>> {
        let (came, present) = self.each_descriptor(&kinds, &optional)?;
        Ok((all_of(came), all_of(present)))
    }

    /// 0 if the procedure returned, n if it raised the n-th of its exceptions.
    #[inline(always)]
    pub fn raised(&self) -> u32 {
        self.raised
    }

    /// The variable part, which begins at byte `AT`.
    ///
    /// # Errors: [`CallError::Peer`] if the message is too short to have one.
    #[inline(always)]
    pub fn variable<const AT: usize>(&self) -> Result<Incoming<'_>, Box<CallError>> {
        self.variable_at(AT)
    }

    /// The same for a stub that is interpreted.
    ///
    /// # Errors: as [`Reply::variable`].
    #[inline(always)]
    pub fn variable_at(&self, at: usize) -> Result<Incoming<'_>, Box<CallError>> {
        let end = self.message_bytes as usize;
        let Some(bytes) = end.checked_sub(at) else {
            let limit = self.message_bytes.into();
            return Err(Box::new(self.malformed(Malformed::Length { claimed: at as u64, limit })));
        };
        match &*self.out_of_line {
            None => Ok(Incoming::in_place(self.inbound(), at, end)),
            Some(segment) => Incoming::out_of_line(segment.span(), bytes)
                .map_err(|malformed| Box::new(self.malformed(malformed))),
        }
    }

    /// The results are not of the form that the interface promises. The binding is revoked.
    #[inline(always)]
    pub fn malformed(&self, malformed: Malformed) -> CallError {
        fault(self.grip, self.procedure, malformed.into())
    }

    /// The procedure does not raise as many exceptions. The binding is revoked.
    #[inline(always)]
    pub fn unknown_exception(self) -> CallError {
        let mut reply = ManuallyDrop::new(self);
        let results = reply.out_of_line.take();
        unknown_exception(reply.grip, reply.procedure, reply.raised, results)
    }
}

/// By value, and gives the A-stack back itself: see [`Reply`].
#[cold]
#[inline(never)]
fn unknown_exception(
    grip: Grip<'_>,
    procedure: u32,
    claimed: u32,
    _results: Option<Arc<Segment>>,
) -> CallError {
    let _held = grip.hold();
    fault(grip, procedure, PeerFault::Exception { claimed, count: 0 })
}

/// The reply is not one that came back in place, as most do. Without results the A-stack is given
/// back.
#[cold]
#[inline(never)]
fn judge(grip: Grip<'_>, procedure: u32, words: HeadWords) -> Result<Arc<Segment>, Box<CallError>> {
    let held = grip.hold();
    let segment = find_results(grip, procedure, words)?;
    held.let_go();
    Ok(segment)
}

fn find_results(
    grip: Grip<'_>,
    procedure: u32,
    words: HeadWords,
) -> Result<Arc<Segment>, Box<CallError>> {
    let (status, message_bytes) = (words.selector(), words.message_bytes());
    let fault = |peer_fault| Box::new(fault(grip, procedure, peer_fault));
    if status > u16::MAX.into() {
        return Err(Box::new(not_returned(grip, procedure, status)));
    }
    length::judge(message_bytes, words.origin(), grip.astack.capacity_bytes()).map_err(fault)?;
    let generation = grip.astack.peer_line::<ReplyLine>().generation();
    grip.reply_segment(generation).map_err(|none| match none {
        NoResults::Fault(peer_fault) => fault(peer_fault),
        NoResults::NoRoom(reason) => {
            let name = grip.binding.procedure_name(procedure);
            Box::new(grip.binding.no_room(name, &reason))
        }
    })
}

fn not_returned(grip: Grip<'_>, procedure: u32, word: u32) -> CallError {
    let name = grip.binding.procedure_name(procedure);
    let not_executed = |reason| CallError::NotExecuted { procedure: name, reason };
    match Status::from_word(word) {
        Some(Status::Refused) => {
            grip.binding.renewal.be_due();
            not_executed(NotExecuted::Refused)
        }
        Some(Status::Malformed) => not_executed(NotExecuted::ArgumentsRefused),
        Some(Status::NoProcedure) => not_executed(NotExecuted::ArgumentsRefused),
        Some(Status::NotPermitted) => not_executed(NotExecuted::NotPermitted),
        Some(Status::FeedOver) => not_executed(NotExecuted::FeedOver),
        Some(Status::Overloaded) => not_executed(NotExecuted::Overloaded),
        Some(Status::Panicked) => CallError::Panicked { procedure: name },
        Some(Status::ResultsRefused) => CallError::ResultsRefused { procedure: name },
        Some(Status::Returned | Status::Raised(_)) | None => {
            fault(grip, procedure, PeerFault::Status { claimed: word })
        }
    }
}

#[cold]
#[inline(never)]
pub(super) fn fault(grip: Grip<'_>, procedure: u32, fault: PeerFault) -> CallError {
    grip.binding.fault(grip.binding.procedure_name(procedure), fault)
}
