//! One call, from claim to reply: judge the words, run the procedure, give the A-stack back.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
// Relaxed: the look that saw the post acquired everything behind it (row O3), and what is stored
// here is made visible by the reply (row O4).
use std::sync::atomic::Ordering::Relaxed;

use nearcall_abi::head::flag;
use nearcall_abi::{ReplyLine, RequestLine, Status};
use nearcall_core::turn::{self, Reply};
use nearcall_core::{ClaimedIndex, Mode, PeerFault, Sequence, claim};
use nearcall_os::astack::AStack;
use nearcall_os::segment::Segment;

use super::binding::{ServerBinding, wake_after};
use super::current;
use crate::raw::{Arguments, OUT_OF_LINE_END_MAX, Refusal, Replied, ReplyPlace};
use crate::region::origin_word;

/// The words of the head as the client wrote them, each loaded once.
#[derive(Clone, Copy)]
struct Claims {
    selector: u32,
    message_bytes: u32,
    origin: u32,
}

/// What a client wrote into the head, once judged.
struct Request {
    procedure: usize,
    message_bytes: u32,
    out_of_line: Option<Arc<Segment>>,
}

/// Runs call `sequence` on A-stack `index` and replies with `mode`. Returns the processor that the
/// client posted from, or `None` if another processor had claimed the call.
#[inline]
pub(crate) fn run(
    binding: &ServerBinding,
    index: u32,
    sequence: Sequence,
    mode: Mode,
) -> Option<u32> {
    let region = binding.region_of(index);
    let astack = region.region.astack(index - region.base);
    let line: &ReplyLine = astack.own_line();
    let head = astack.head();
    // Loaded before the claim, while the line is here: the client may ask for it back any time.
    let claims = Claims {
        selector: head.selector.load(Relaxed),
        message_bytes: head.message_bytes.load(Relaxed),
        origin: head.origin.load(Relaxed),
    };
    if !claim::claim(&line.claim, sequence) {
        return None;
    }
    let class = region.astacks[(index - region.base) as usize].class;
    let place = ReplyPlace::default();
    let replied = match judge(binding, astack, (index, class), claims) {
        Ok(request) => enter(binding, astack, index, &request, &place),
        Err(fault) => {
            binding.fault(fault);
            Replied::refused(Status::Malformed)
        }
    };
    let flags = match place.generation() {
        Some(generation) => {
            line.generation.store(generation, Relaxed);
            flag::OUT_OF_LINE
        }
        None => 0,
    };
    head.selector.store(replied.status.to_word(), Relaxed);
    head.message_bytes.store(replied.message_bytes, Relaxed);
    head.origin.store(origin_word(flags), Relaxed);
    let reply = turn::reply(&head.turn, sequence, mode);
    if let Reply::Wrong(seen) = reply {
        binding.fault(PeerFault::Turn { seen, sequence, wanted: "posted" });
    }
    wake_after(reply, &head.turn);
    if !binding.state.is_open() {
        binding.hang_up_when_idle();
    }
    Some(claims.origin & flag::PROCESSOR)
}

/// Lets an A-stack go whose call was given up before anyone claimed it (L55).
#[cold]
pub(crate) fn let_go(binding: &ServerBinding, index: u32, sequence: Sequence) {
    let astack = binding.astack(index);
    if claim::claim(&astack.own_line::<ReplyLine>().claim, sequence) {
        let head = astack.head();
        wake_after(turn::reply(&head.turn, sequence, Mode::Bell), &head.turn);
    }
}

/// Judges the private copies of the words that the client wrote.
#[inline]
fn judge(
    binding: &ServerBinding,
    astack: AStack<'_>,
    (index, class): (u32, u32),
    claims: Claims,
) -> Result<Request, PeerFault> {
    let procedure = ClaimedIndex(claims.selector);
    let procedures = binding.procedures;
    let procedure = procedure.check_procedure(procedures.len() as u32)?.as_u32() as usize;
    let message_bytes = claims.message_bytes;
    let wanted = u32::from(procedures[procedure].class);
    if class != wanted {
        return Err(PeerFault::ClassOfProcedure { claimed: class, wanted });
    }
    let is_out_of_line = claims.origin & flag::OUT_OF_LINE != 0;
    let limit = if is_out_of_line { OUT_OF_LINE_END_MAX } else { astack.capacity_bytes() as u32 };
    if message_bytes > limit {
        return Err(PeerFault::MessageBytes { claimed: message_bytes, limit });
    }
    let out_of_line = if is_out_of_line {
        let generation = astack.peer_line::<RequestLine>().generation();
        Some(binding.request_segment(index, generation)?)
    } else {
        None
    };
    Ok(Request { procedure, message_bytes, out_of_line })
}

#[inline]
fn enter(
    binding: &ServerBinding,
    astack: AStack<'_>,
    index: u32,
    request: &Request,
    place: &ReplyPlace,
) -> Replied {
    let arguments = Arguments::new(
        astack,
        request.message_bytes,
        request.out_of_line.as_deref(),
        (binding, index),
        place,
    );
    let before = current::enter_call(binding.key);
    // A procedure that panics has broken its own state, not ours: nothing of the runtime is
    // borrowed mutably across the call.
    let outcome =
        catch_unwind(AssertUnwindSafe(|| binding.entries.enter(request.procedure, arguments)));
    current::leave_call(before);
    match outcome {
        Ok(Ok(replied)) => replied,
        Ok(Err(refusal)) => refused(binding, request.procedure, refusal),
        Err(_) => Replied::refused(Status::Panicked),
    }
}

#[cold]
fn refused(binding: &ServerBinding, procedure: usize, refusal: Refusal) -> Replied {
    let procedure = binding.procedures[procedure].name;
    tracing::warn!(name = binding.name, procedure, %refusal, "a call was refused");
    Replied::refused(refusal.status())
}
