//! A call being made: the client's half of a stub, from claim to reply.

use std::os::fd::BorrowedFd;
use std::sync::Arc;

use nearcall_abi::head::flag;
use nearcall_abi::{AStackHead, INLINE_BYTES, MESSAGE_BYTES_MAX, RequestLine, deadline};
use nearcall_core::turn::{self, Poll};
use nearcall_core::{Mode, Sequence, TurnWord};
use nearcall_os::HeadWords;
use nearcall_os::descriptor::DescriptorKind;
use nearcall_os::processor::{self, Linger};
use nearcall_os::segment::Segment;
// Relaxed: every word stored here is made visible by the swap that posts (row O1).
use std::sync::atomic::Ordering::Relaxed;

use super::ahead::Ahead;
use super::area::Outgoing;
use super::awaiting::Awaiting;
use super::client::Client;
use super::marshal::Marshal;
use super::pending::{Pending, Posted};
use super::reply::{Read, Reply, reader};
use super::variable::{PIECE_BYTES, Rest, Variable, span_of};
use crate::client::binding::{Grip, Held};
use crate::client::deadline::{Deadline, NEVER_NS, Unposted, left_ns};
use crate::client::lead::Lead;
use crate::client::linkage::NO_PROCESSOR;
use crate::client::switching;
use crate::client::wait::{NoReply, Wait};
use crate::error::{CallError, OverBound, UsageError};
use crate::region::origin_word;

/// Polls before the waiting policy is asked: about 3 us, several transfers of a line.
const FIRST_POLLS: u32 = 96;

/// Polls with the shortest pause, and by plain loads, before the others: about 0.1 us. A near
/// server replies meanwhile, and must not lose the line while it reads the arguments. The reply of
/// a far one takes longer, and comes a third faster if the line is asked for in a state to be
/// written (MECHANISMS 9).
const BRIEF_POLLS: u32 = 5;

/// An A-stack that is being filled. Dropping it gives the A-stack back; nothing was posted. What is
/// put lives until the post, `'d`: some of it may be copied then.
///
/// After the post the A-stack is the server's, and nothing can be put into it any more.
///
/// ```
/// fn put(mut call: nearcall::raw::Call<'_, '_>) {
///     call.put_u32::<0>(7);
///     let _ = call.post(4);
/// }
/// ```
///
/// ```compile_fail,E0382
/// fn put_late(mut call: nearcall::raw::Call<'_, '_>) {
///     let _ = call.post(4);
///     call.put_u32::<0>(7);
/// }
/// ```
#[derive(Debug)]
pub struct Call<'b, 'd> {
    pub(super) held: Unposted<'b>,
    pub(super) procedure: u32,
    pub(super) deadline: Deadline,
    /// Bytes up to the end of the variable part, if there is one.
    variable_end: u32,
    out_of_line: Option<Arc<Segment>>,
    /// What is copied after the post.
    rest: Option<Rest<'d>>,
}

/// An A-stack that was claimed, before anything is put into it. Words that fit registers, as a
/// [`Call`] is none: what is awaited comes by way of memory.
#[derive(Debug)]
pub struct Claimed<'b> {
    held: Unposted<'b>,
    procedure: u32,
    deadline: Deadline,
}

/// Arguments of a posted call that are still being copied; the server copies behind.
#[derive(Debug)]
struct Unfinished<'d> {
    rest: Rest<'d>,
    segment: Arc<Segment>,
}

impl Unfinished<'_> {
    #[cold]
    #[inline(never)]
    fn finish(self, grip: Grip<'_>) {
        self.rest.finish(&self.segment, grip.astack.own_line());
    }
}

macro_rules! puts {
    ($($put:ident: $number:ty),*) => {$(
        /// Stores a scalar at byte `AT` of the fixed part.
        #[inline(always)]
        pub fn $put<const AT: usize>(&mut self, value: $number) {
            self.outgoing().$put::<AT>(value);
        }
    )*};
}

impl<'b> Claimed<'b> {
    #[inline(always)]
    pub(super) fn new(held: Held<'b>, procedure: u32, deadline: Deadline) -> Claimed<'b> {
        Claimed { held: Unposted::new(held), procedure, deadline }
    }

    /// To be filled.
    #[inline(always)]
    pub fn call<'d>(self) -> Call<'b, 'd> {
        let Claimed { held, procedure, deadline } = self;
        Call { held, procedure, deadline, variable_end: 0, out_of_line: None, rest: None }
    }

    /// It was waited for until the A-stack was there, and the call is over then.
    #[cold]
    pub(super) fn note_wait(&mut self, until_ns: u64) {
        if until_ns == NEVER_NS {
            return;
        }
        let left = Deadline::of_ns(left_ns(until_ns));
        let ns = if self.deadline.ns == 0 { left.ns } else { self.deadline.ns };
        self.deadline = Deadline { ns, ..left };
        let linkage = self.held.linkage();
        linkage.set_until_ns(linkage.sequence().next(), until_ns);
    }
}

impl<'b, 'd> Call<'b, 'd> {
    #[inline(always)]
    fn outgoing(&self) -> Outgoing<'b> {
        Outgoing { inline: self.held.astack.inline(), block: self.held.astack.own() }
    }

    puts!(put_u8: u8, put_u16: u16, put_u32: u32, put_u64: u64);

    /// Copies a fixed block to byte `AT` of the fixed part.
    #[inline(always)]
    pub fn put_bytes<const AT: usize>(&mut self, value: &[u8]) {
        self.outgoing().put_block::<AT>(value);
    }

    /// Stores a word at byte `at` of the fixed part, over what was put there: for a stub that is
    /// interpreted.
    pub fn put_u32_at(&mut self, at: usize, value: u32) {
        self.outgoing().put_bytes(at, &value.to_le_bytes());
    }

    /// Marshals a fixed value to byte `AT` of the fixed part.
    pub fn put_image<const AT: usize, T: Marshal>(&mut self, value: &T) {
        self.outgoing().put_image(AT, value);
    }

    /// Opens the variable part, which begins at byte `AT` and takes `bytes` bytes: the sum of the
    /// payloads' lengths, each rounded up to 8. What does not fit the A-stack goes out of line
    /// (L50): the first time at the cost of a new segment, later at none.
    ///
    /// # Errors: [`CallError::Usage`] over 1 GiB or without memory for it.
    #[inline]
    pub fn variable<const AT: usize>(
        &mut self,
        bytes: u64,
    ) -> Result<Variable<'_, 'd>, Box<CallError>> {
        const { assert!(AT.is_multiple_of(8)) };
        self.variable_at(AT, bytes)
    }

    /// The same for a stub that is interpreted; `at` is a multiple of 8, and within the A-stack.
    ///
    /// # Errors: as [`Call::variable`].
    #[inline]
    pub fn variable_at(
        &mut self,
        at: usize,
        bytes: u64,
    ) -> Result<Variable<'_, 'd>, Box<CallError>> {
        let end = at as u64 + bytes;
        if end <= self.held.astack.capacity_bytes().into() {
            self.variable_end = end as u32;
            return Ok(Variable::in_place(self.outgoing(), at, end as usize));
        }
        self.move_out_of_line(at, bytes)?;
        Ok(self.variable_out_of_line(bytes as usize))
    }

    /// One word is all that comes back: what comes by way of memory keeps there what a call whose
    /// arguments lie in the A-stack has in registers.
    #[cold]
    #[inline(never)]
    fn move_out_of_line(&mut self, at: usize, bytes: u64) -> Result<(), Box<CallError>> {
        let limit = u64::from(MESSAGE_BYTES_MAX);
        if bytes > limit {
            let over = OverBound { parameter: "arguments", value: bytes, limit };
            return Err(Box::new(CallError::Usage(UsageError::OverBound(over))));
        }
        let (grip, procedure) = (*self.held, self.procedure);
        let until_ns = grip.until_ns(grip.linkage().sequence().next(), self.deadline);
        let out_of_line = grip.request_segment(bytes as usize, procedure, until_ns)?;
        let line = self.held.astack.own_line::<RequestLine>();
        line.generation.store(out_of_line.generation, Relaxed);
        self.variable_end = (at as u64 + bytes) as u32;
        self.out_of_line = Some(out_of_line.segment);
        Ok(())
    }

    #[inline]
    fn variable_out_of_line(&mut self, bytes: usize) -> Variable<'_, 'd> {
        let is_partial = bytes >= 2 * PIECE_BYTES && self.is_served_elsewhere();
        let span = span_of(&self.out_of_line);
        match is_partial {
            true => Variable::partial(span, bytes, &mut self.rest),
            false => Variable::out_of_line(span, 0, bytes),
        }
    }

    /// A server on our own processor copies nothing before we have slept.
    #[cold]
    #[inline(never)]
    fn is_served_elsewhere(&self) -> bool {
        let server = self.held.linkage().server_processor();
        server != NO_PROCESSOR && server != origin_word(0)
    }

    /// Says that descriptors come with the results: see [`Reply::descriptors`].
    pub fn expect_descriptors(&mut self) {
        self.held.expect_descriptors();
    }

    /// Sends the descriptors that go with the arguments; to be followed by the post.
    ///
    /// # Errors: [`CallError::Usage`] if one is of another kind, naming its parameter;
    /// `NotExecuted` if they could not be sent.
    pub fn put_descriptors<const N: usize>(
        &mut self,
        descriptors: [(&'static str, DescriptorKind, BorrowedFd<'_>); N],
    ) -> Result<(), Box<CallError>> {
        let passed = descriptors.map(|(parameter, kind, one)| (parameter, kind, Some(one)));
        self.put_each_descriptor(&passed)
    }

    /// Posts the call and waits for the reply.
    ///
    /// # Cost: two transfers of one line when the server polls; no system call, no allocation.
    #[inline(always)]
    pub fn post(self, fixed_bytes: u32) -> Result<Reply<'b>, Box<CallError>> {
        let deadline = self.deadline;
        let message_bytes = fixed_bytes.max(self.variable_end);
        let (grip, procedure, processor, unfinished) = self.write_words(fixed_bytes);
        let sequence = grip.linkage().count();
        let head = grip.astack.head();
        match turn::post(&head.turn, sequence) {
            Ok(Mode::Hot) => {}
            Ok(mode) => grip.tell_in_time(mode, processor),
            Err(fault) => return Err(grip.lose_to_fault(procedure, fault)),
        }
        if let Some(unfinished) = unfinished {
            unfinished.finish(grip);
        }
        let same_processor = processor == grip.linkage().server_processor();
        let words = match same_processor || switching::is_here() {
            true => None,
            false => Some(poll_for_a_while(head, grip.linkage().until_reply(), sequence)),
        };
        let words = match words {
            Some(words) if turn::is_usual_reply(TurnWord(words.turn()), sequence) => words,
            _ => match wait(grip, procedure, deadline, same_processor) {
                Some(error) => return Err(error),
                None => HeadWords::load(head),
            },
        };
        if message_bytes > INLINE_BYTES {
            // Until the next call the lines that the server has read come back.
            grip.astack.ask_for_own_block(message_bytes);
        }
        Reply::new(grip, procedure, words)
    }

    /// Posts the call and does not wait: its A-stack comes back when the server is done with it.
    #[inline]
    pub fn post_oneway(self, fixed_bytes: u32) -> Result<(), Box<CallError>> {
        let (grip, _) = self.post_alone(fixed_bytes)?;
        grip.capture(grip.linkage().sequence());
        Ok(())
    }

    /// Posts the call and does not wait: what comes back is collected later, by `read` (design
    /// note 0007).
    ///
    /// # Cost: one swap; no system call, no allocation, but for the first one in a tenth of a
    /// second, which wakes housekeeping.
    #[inline(always)]
    pub fn post_pending<T, E, F>(
        self,
        fixed_bytes: u32,
        read: F,
    ) -> Result<Pending<'b, T, E>, Box<CallError>>
    where
        E: From<Box<CallError>>,
        F: Fn(Reply<'b>) -> Result<T, E> + Copy,
    {
        let deadline = self.deadline;
        let (grip, procedure) = self.post_outstanding(fixed_bytes)?;
        grip.binding.leave_unattended();
        Ok(Pending::new(Posted::new(grip, procedure, deadline), reader(read)))
    }

    /// Posts the call and does not wait: what it evaluates to is awaited (design note 0022).
    #[inline(always)]
    pub(super) fn post_awaited<T, E>(
        self,
        fixed_bytes: u32,
        read: Read<'b, T, E>,
    ) -> Result<Awaiting<'b, T, E>, Box<CallError>> {
        let deadline = self.deadline;
        let (grip, procedure) = self.post_outstanding(fixed_bytes)?;
        Ok(Awaiting::new((grip, procedure, deadline), read))
    }

    /// Posts the call and does not wait: any thread collects it (design note 0020).
    #[inline(always)]
    pub fn post_ahead(
        self,
        fixed_bytes: u32,
        lead: Option<Lead<&'b Client>>,
    ) -> Result<Ahead<'b>, Box<CallError>> {
        let deadline = self.deadline;
        let (grip, procedure) = self.post_outstanding(fixed_bytes)?;
        grip.binding.leave_unattended();
        Ok(Ahead::new((grip, procedure, deadline), lead))
    }

    /// Posts the call, which is this thread's to collect.
    #[inline(always)]
    fn post_outstanding(self, fixed_bytes: u32) -> Result<(Grip<'b>, u32), Box<CallError>> {
        let deadline = self.deadline;
        let (grip, procedure) = self.post_alone(fixed_bytes)?;
        let linkage = grip.linkage();
        linkage.set_outstanding(switching::caller_number());
        if deadline.ns != 0 {
            begin(grip, deadline);
        }
        Ok((grip, procedure))
    }

    /// Posts the call.
    #[inline(always)]
    fn post_alone(self, fixed_bytes: u32) -> Result<(Grip<'b>, u32), Box<CallError>> {
        let (grip, procedure, processor, unfinished) = self.write_words(fixed_bytes);
        let sequence = grip.linkage().count();
        match turn::post(&grip.astack.head().turn, sequence) {
            Ok(Mode::Hot) => {}
            Ok(mode) => grip.tell(mode, processor),
            Err(fault) => return Err(grip.lose_to_fault(procedure, fault)),
        }
        if let Some(unfinished) = unfinished {
            unfinished.finish(grip);
        }
        Ok((grip, procedure))
    }

    /// Fills the head's words but for the turn; gives what is left of the call, by value, so that a
    /// stub has all of it in registers, and the processor we run on. The segment stays with the
    /// linkage.
    #[inline(always)]
    fn write_words(self, fixed_bytes: u32) -> (Grip<'b>, u32, u32, Option<Unfinished<'d>>) {
        let Call { held, procedure, deadline, variable_end, out_of_line, rest } = self;
        let grip = held.let_go();
        let mut flags = deadline.word | grip.linkage().flags();
        if out_of_line.is_some() {
            flags = left_word(grip, deadline) | grip.linkage().flags() | flag::OUT_OF_LINE;
        }
        let unfinished = rest.zip(out_of_line);
        let unfinished = unfinished.map(|(rest, segment)| Unfinished { rest, segment });
        if let Some(unfinished) = &unfinished {
            unfinished.rest.begin(grip.astack.own_line());
            flags |= flag::PARTIAL;
        }
        let origin = origin_word(flags);
        let head = grip.astack.head();
        head.selector.store(procedure, Relaxed);
        head.message_bytes.store(fixed_bytes.max(variable_end), Relaxed);
        head.origin.store(origin, Relaxed);
        (grip, procedure, origin & flag::PROCESSOR, unfinished)
    }
}

/// The deadline of a call that was posted begins, which nobody waits for yet.
#[cold]
#[inline(never)]
pub(super) fn begin(grip: Grip<'_>, deadline: Deadline) {
    grip.until_ns(grip.linkage().sequence(), deadline);
}

/// Out-of-line arguments may have taken some of the time.
#[cold]
#[inline(never)]
fn left_word(grip: Grip<'_>, deadline: Deadline) -> u32 {
    match deadline.ns {
        0 => 0,
        _ => {
            let until_ns = grip.until_ns(grip.linkage().sequence().next(), deadline);
            deadline::to_word(left_ns(until_ns))
        }
    }
}

#[inline(always)]
pub(super) fn is_replied(words: HeadWords, sequence: Sequence) -> bool {
    matches!(turn::poll_word(TurnWord(words.turn()), sequence), Poll::Replied { .. })
}

/// Polls for a few microseconds, but not before a reply can be there. The last words that were
/// seen. Calls nothing, so that it saves no register.
#[inline(never)]
pub(super) fn poll_for_a_while(
    head: &AStackHead,
    until_reply: Linger,
    sequence: Sequence,
) -> HeadWords {
    until_reply.pass();
    if !HeadWords::is_at_once() {
        return poll_by_parts(head, sequence);
    }
    poll_by(HeadWords::load_at_once, head, sequence)
}

/// The same, where the line was left alone for as long already. A FastThread lets others run
/// instead.
#[inline(never)]
pub(super) fn poll_on(head: &AStackHead, sequence: Sequence) -> HeadWords {
    match switching::is_here() {
        true => HeadWords::load(head),
        false => poll_for_a_while(head, Linger::of_cycles(0), sequence),
    }
}

#[cold]
#[inline(never)]
fn poll_by_parts(head: &AStackHead, sequence: Sequence) -> HeadWords {
    poll_by(HeadWords::load, head, sequence)
}

#[inline(always)]
fn poll_by(
    load: impl Fn(&AStackHead) -> HeadWords,
    head: &AStackHead,
    sequence: Sequence,
) -> HeadWords {
    let mut polls = 0;
    loop {
        let words = load(head);
        let is_pending = turn::poll_word(TurnWord(words.turn()), sequence) == Poll::Pending;
        if !is_pending || polls == FIRST_POLLS {
            return words;
        }
        if polls < BRIEF_POLLS {
            processor::relax_briefly();
        } else {
            processor::relax();
            processor::prefetch_write(head);
        }
        polls += 1;
    }
}

/// A stub has posted a call by itself that nobody waits for yet, and that is not as most are. After
/// an error the A-stack is lost, with its binding.
#[cold]
#[inline(never)]
pub(super) fn note_posted(grip: Grip<'_>, procedure: u32, seen: u32) -> Option<Box<CallError>> {
    let linkage = grip.linkage();
    let sequence = linkage.sequence();
    match turn::judge_posted(seen, sequence) {
        Ok(Mode::Hot) => {}
        Ok(mode) => grip.tell(mode, origin_word(0)),
        Err(fault) => return Some(grip.lose_to_fault(procedure, fault)),
    }
    linkage.weigh_if_last(sequence);
    None
}

/// Waits for the reply to a call that a stub has posted by itself (see `brief.rs` and
/// `brief_call.rs`), and that is not as most are: `seen` is what its post found. After an error the
/// A-stack is no longer ours.
#[inline(never)]
pub(super) fn await_posted(
    grip: Grip<'_>,
    procedure: u32,
    seen: u32,
    deadline: Deadline,
) -> Option<Box<CallError>> {
    let (head, linkage) = (grip.astack.head(), grip.linkage());
    let (sequence, processor) = (linkage.sequence(), origin_word(0));
    match turn::judge_posted(seen, sequence) {
        Ok(Mode::Hot) => {}
        Ok(mode) => grip.tell_in_time(mode, processor),
        Err(fault) => return Some(grip.lose_to_fault(procedure, fault)),
    }
    linkage.weigh_if_last(sequence);
    if switching::is_here() {
        return switch_until_reply(grip, procedure, deadline);
    }
    linkage.forbid_tally();
    let same_processor = processor == linkage.server_processor();
    if !same_processor
        && is_replied(poll_for_a_while(head, linkage.until_reply(), sequence), sequence)
    {
        return None;
    }
    wait(grip, procedure, deadline, same_processor)
}

/// The same of a call that was polled for.
#[cold]
#[inline(never)]
pub(super) fn await_on(
    grip: Grip<'_>,
    procedure: u32,
    deadline: Deadline,
) -> Option<Box<CallError>> {
    wait(grip, procedure, deadline, origin_word(0) == grip.linkage().server_processor())
}

/// Waits as the policy says. After an error the A-stack is no longer ours.
#[cold]
#[inline(never)]
fn wait(
    grip: Grip<'_>,
    procedure: u32,
    deadline: Deadline,
    same_processor: bool,
) -> Option<Box<CallError>> {
    let sequence = grip.linkage().sequence();
    let wait = Wait { grip, procedure, sequence, deadline, same_processor };
    wait.finish().err().map(|no_reply| give_up(grip, sequence, no_reply))
}

/// The same of a FastThread, in one frame: what it has on its stack while others run is in nobody's
/// cache when it goes on.
#[inline(never)]
fn switch_until_reply(
    grip: Grip<'_>,
    procedure: u32,
    deadline: Deadline,
) -> Option<Box<CallError>> {
    let sequence = grip.linkage().sequence();
    let wait = Wait { grip, procedure, sequence, deadline, same_processor: false };
    let outcome = switching::finish_here(&wait);
    outcome.err().map(|no_reply| give_up(grip, sequence, no_reply))
}

/// A wait has ended without a reply.
#[cold]
fn give_up(grip: Grip<'_>, sequence: Sequence, no_reply: NoReply) -> Box<CallError> {
    match no_reply {
        NoReply::Captured(error) => {
            grip.capture(sequence);
            error
        }
        NoReply::Lost(error) => error,
    }
}
