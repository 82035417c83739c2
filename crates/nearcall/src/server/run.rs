//! One call, from claim to reply: judge the words, run the procedure, give the A-stack back.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
// Relaxed: the look that saw the post acquired everything behind it (row O3), and what is stored
// here is made visible by the reply (row O4).
use std::sync::atomic::Ordering::Relaxed;

use nearcall_abi::head::flag;
use nearcall_abi::{AStackHead, INLINE_BYTES, ReplyLine, RequestLine, Status, deadline};
use nearcall_core::claim::Taken;
use nearcall_core::length::{self, Place};
use nearcall_core::turn::{self, Reply};
use nearcall_core::{ClaimedIndex, Mode, PeerFault, Sequence, claim};
use nearcall_os::HeadWords;
use nearcall_os::astack::AStack;
use nearcall_os::segment::Segment;

use super::binding::{ServerAStack, ServerBinding, wake_after};
use super::current;
use super::estacks;
use crate::audit::Cause;
use crate::client::linkage::OutOfLine;
use crate::raw::{Arguments, Outcome, Refusal, Replied, ServedCall};
use crate::region::origin_word;

/// In place of a status: nothing is wrong, but the reply may come later.
const AWAITED: u32 = u32::MAX;

/// The same, but the procedure runs on an E-stack.
const ON_ESTACK: u32 = u32::MAX - 1;

/// Where a call was posted from and where it was run, as of the moment of each: processor numbers.
/// Short, so that it comes back in a register.
pub(crate) struct Served {
    pub client_processor: u16,
    pub own_processor: u16,
}

/// Runs call `sequence` on an A-stack of `binding`, whose head says `words`, and replies with
/// `mode`. `None` if another processor had claimed the call, or it was refused. `own_processor`
/// asks where this is; `before_reply` comes when the procedure has returned and its caller does not
/// know yet.
#[inline(always)]
pub(crate) fn run(
    own_processor: impl Fn() -> u32,
    (binding, astack): (&ServerBinding, AStack<'_, ServerAStack>),
    (sequence, words): (Sequence, HeadWords),
    mode: Mode,
    before_reply: impl FnOnce(),
) -> Option<Served> {
    let line: &ReplyLine = astack.own_line();
    let head = astack.head();
    if words.message_bytes() > INLINE_BYTES {
        // They travel while the call is claimed and judged.
        astack.ask_for_peer_block(words.message_bytes());
        astack.ask_for_own_block(astack.record().replied_bytes.load(Relaxed));
    }
    match claim::take(&line.claim, sequence, || binding.state.is_open()) {
        Taken::Run => {}
        Taken::Refuse => {
            binding.refuse_claimed(astack, sequence);
            return None;
        }
        Taken::Not => return None,
    }
    let is_plain = words.is_within(astack.capacity_bytes(), flag::OUT_OF_LINE | flag::DEADLINE);
    let (record, selector) = (astack.record(), words.selector());
    if !is_plain || !(record.is_usual(selector) || binding.finds_usual(record, selector)) {
        return run_unusual((binding, astack), sequence, words, mode, before_reply);
    }
    let call = ServedCall::new(binding, astack, words.message_bytes());
    let replied = enter_and(&call, words.selector() as usize, current::leave_usual_call);
    let own_processor = own_processor() & flag::PROCESSOR;
    write_words(line, head, call.into_reply(), replied, own_processor);
    before_reply();
    end(binding, turn::reply(&head.turn, sequence, mode), astack, sequence);
    Some(served(words, own_processor))
}

/// Goes on with a claimed call that is not as most are: it is refused, or entered after a closer
/// look. Apart to its end, so that others carry nothing of it along.
#[cold]
#[inline(never)]
fn run_unusual(
    (binding, astack): (&ServerBinding, AStack<'_, ServerAStack>),
    sequence: Sequence,
    words: HeadWords,
    mode: Mode,
    before_reply: impl FnOnce(),
) -> Option<Served> {
    let call = ServedCall::new(binding, astack, words.message_bytes());
    let replied = answer_unusual(&call, words);
    let own_processor = origin_word(0);
    let Some(replied) = replied else {
        before_reply();
        return Some(served(words, own_processor));
    };
    let (line, head) = (astack.own_line::<ReplyLine>(), astack.head());
    write_words(line, head, call.into_reply(), replied, own_processor);
    before_reply();
    end(binding, turn::reply(&head.turn, sequence, mode), astack, sequence);
    Some(served(words, own_processor))
}

/// Of a call whose head said `words`, and that was run on this processor.
#[inline(always)]
fn served(words: HeadWords, processor: u32) -> Served {
    const { assert!(flag::PROCESSOR == u16::MAX as u32) };
    Served { client_processor: words.origin() as u16, own_processor: processor as u16 }
}

/// Fills the head's words but for the turn.
#[inline(always)]
fn write_words(
    line: &ReplyLine,
    head: &AStackHead,
    out_of_line: Option<OutOfLine>,
    replied: Replied,
    own_processor: u32,
) {
    let flags = match out_of_line {
        Some(reply) => {
            line.generation.store(reply.generation, Relaxed);
            flag::OUT_OF_LINE
        }
        None => 0,
    };
    head.selector.store(replied.status_word(), Relaxed);
    head.message_bytes.store(replied.message_bytes(), Relaxed);
    head.origin.store(own_processor | flags, Relaxed);
}

/// Refuses it, or enters it. `None`: the reply comes later.
fn answer_unusual(call: &ServedCall<'_>, words: HeadWords) -> Option<Replied> {
    let procedure = words.selector() as usize;
    let record = call.astack.record();
    let replied = match judge(call, words) {
        0 => enter(call, procedure),
        AWAITED => {
            record.awaited_procedure.store(words.selector(), Relaxed);
            enter(call, procedure)
        }
        ON_ESTACK => {
            record.awaited_procedure.store(words.selector(), Relaxed);
            estacks::begin(call, procedure, words)?
        }
        word => Replied::refused(Status::from_word(word).unwrap_or(Status::Malformed)),
    };
    (!replied.is_later()).then_some(replied)
}

/// Replies to a call that was suspended or set aside, with what `finish` puts in place; without it
/// the procedure has panicked.
pub(crate) fn reply_later(
    call: ServedCall<'_>,
    sequence: Sequence,
    finish: Option<impl FnOnce(Arguments<'_>) -> Outcome>,
) {
    let (binding, record) = (call.binding, call.astack.record());
    let (index, procedure) = (record.index, record.awaited_procedure.load(Relaxed) as usize);
    let results = || finish.map(|finish| finish(Arguments::new(&call)));
    let replied = match catch_unwind(AssertUnwindSafe(results)) {
        Ok(Some(Ok(replied))) => replied,
        Ok(Some(Err(refusal))) => refused(binding, procedure, &refusal),
        Ok(None) | Err(_) => Replied::refused(Status::Panicked),
    };
    if !replied.is_later() {
        publish(binding, index, sequence, (replied, call.into_reply()));
    }
}

/// Replies to a call whose procedure has waited. From here on its client rings: nobody may be
/// polling the A-stack any more.
pub(super) fn publish(
    binding: &ServerBinding,
    index: u32,
    sequence: Sequence,
    (replied, out_of_line): (Replied, Option<OutOfLine>),
) {
    let astack = binding.astack(index);
    let (line, head) = (astack.own_line::<ReplyLine>(), astack.head());
    write_words(line, head, out_of_line, replied, origin_word(0));
    end(binding, turn::reply(&head.turn, sequence, Mode::Bell), astack, sequence);
}

/// The reply is out: who must hear of it.
#[inline(always)]
fn end(
    binding: &ServerBinding,
    reply: Reply,
    astack: AStack<'_, ServerAStack>,
    sequence: Sequence,
) {
    if reply != Reply::ClientAwake {
        end_unusually(binding, reply, astack, sequence);
    }
    if !binding.state.is_open() {
        binding.hang_up_when_idle();
    }
}

#[cold]
#[inline(never)]
fn end_unusually(
    binding: &ServerBinding,
    reply: Reply,
    astack: AStack<'_, ServerAStack>,
    sequence: Sequence,
) {
    match reply {
        Reply::Wrong(seen) => binding.fault(PeerFault::Turn { seen, sequence, wanted: "posted" }),
        Reply::Aborted | Reply::Dead => {
            binding.feeds.close_opened_by((astack.record().index, sequence))
        }
        Reply::ClientAwake | Reply::WakeClient => {}
    }
    wake_after(reply, &astack.head().turn);
}

/// Lets an A-stack go whose call was given up before anyone claimed it (L55).
#[cold]
pub(crate) fn let_go(binding: &ServerBinding, index: u32, sequence: Sequence) {
    let astack = binding.astack(index);
    if claim::claim(&astack.own_line::<ReplyLine>().claim, sequence) {
        binding.forget_descriptors(index);
        let head = astack.head();
        wake_after(turn::reply(&head.turn, sequence, Mode::Bell), &head.turn);
    }
}

/// Judges the words of a call that is not as most are: its arguments lie out of line, it has a
/// deadline, its client may not call everything, or its procedure may wait. The word of the status
/// that the call is refused with, [`AWAITED`], [`ON_ESTACK`], or 0.
fn judge(call: &ServedCall<'_>, words: HeadWords) -> u32 {
    let (binding, astack) = (call.binding, call.astack);
    match find_arguments(binding, astack, words) {
        Ok(None) => {}
        Ok(Some(segment)) => call.set_request(segment, words),
        Err(fault) => {
            binding.fault(fault);
            return Status::Malformed.to_word();
        }
    }
    if !binding.permits(words.selector()) {
        binding.forget_descriptors(astack.record().index);
        binding.note_not_permitted(words.selector());
        return Status::NotPermitted.to_word();
    }
    if let Some(left_ns) = deadline::from_word(words.origin()) {
        current::set_time_left(left_ns);
    }
    match () {
        () if binding.entries.is_awaited() => AWAITED,
        () if binding.runs_on_estack(words.selector()) => ON_ESTACK,
        () if binding.brings_items(words.selector()) => AWAITED,
        () => 0,
    }
}

fn find_arguments(
    binding: &ServerBinding,
    astack: AStack<'_, ServerAStack>,
    words: HeadWords,
) -> Result<Option<Arc<Segment>>, PeerFault> {
    let procedures = binding.all_procedures();
    let count = procedures.len() as u32;
    let procedure = ClaimedIndex(words.selector()).check_procedure(count)?.as_u32() as usize;
    let class = astack.record().class;
    let wanted = u32::from(procedures[procedure].class);
    if class != wanted {
        return Err(PeerFault::ClassOfProcedure { claimed: class, wanted });
    }
    match length::judge(words.message_bytes(), words.origin(), astack.capacity_bytes())? {
        Place::InPlace => Ok(None),
        Place::OutOfLine => {
            let generation = astack.peer_line::<RequestLine>().generation();
            astack.record().request_segment(generation).map(Some)
        }
    }
}

/// Enters the procedure of a call that may have a deadline.
pub(super) fn enter(call: &ServedCall<'_>, procedure: usize) -> Replied {
    enter_and(call, procedure, current::leave_call)
}

#[inline(always)]
fn enter_and(call: &ServedCall<'_>, procedure: usize, leave_call: impl FnOnce()) -> Replied {
    let binding = call.binding;
    current::enter_call(binding.key, call.astack.record().index);
    // A procedure that panics has broken its own state, not ours: nothing of the runtime is
    // borrowed mutably across the call.
    let outcome =
        catch_unwind(AssertUnwindSafe(|| binding.entries.enter(procedure, Arguments::new(call))));
    leave_call();
    match outcome {
        Ok(Ok(replied)) => replied,
        Ok(Err(refusal)) => refused(binding, procedure, &refusal),
        Err(_) => Replied::refused(Status::Panicked),
    }
}

#[cold]
#[inline(never)]
fn refused(binding: &ServerBinding, procedure: usize, refusal: &Refusal) -> Replied {
    if matches!(refusal, Refusal::SetAside) {
        return Replied::LATER;
    }
    // Of an item the log told when it was made, and of a share when it was asked for; what is over
    // was ended by either side.
    let is_told =
        matches!(refusal, Refusal::Told | Refusal::Overloaded | Refusal::FeedOver | Refusal::Ended);
    if !is_told && let Some(unsaid) = binding.may_warn(cause(refusal)) {
        let (name, procedure) = (&binding.name, binding.all_procedures()[procedure].told());
        tracing::warn!(name, %procedure, %refusal, unsaid, "a call was refused");
    }
    Replied::refused(refusal.status())
}

/// Whose doing it is that a call was refused.
fn cause(refusal: &Refusal) -> Cause {
    match refusal {
        Refusal::Results(_)
        | Refusal::NoMemory { .. }
        | Refusal::Descriptor(_)
        | Refusal::Unfit(_)
        | Refusal::NotSent(_)
        | Refusal::Unended => Cause::Server,
        _ => Cause::Client,
    }
}
