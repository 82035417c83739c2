//! Brief calls: words and blocks go, and come back, in an A-stack that is kept for this thread. The
//! stub has all of such a call inline, from the claim to one look for the reply; whatever is not as
//! most calls find it goes on in functions of its own (design note 0026, which has the same for C).
//!
//! ```text
//!  stub                                                   apart
//!
//!  claim   kept for this thread, and free? ── no ───────▶ claim_unkept, post_unkept: as any other
//!  put
//!  post
//!          polled, weighed, elsewhere, alone? ── no ────▶ await_posted: tells, weighs, waits as
//!  linger                                                 the policy says
//!  look    returned, as long, and from there? ── no ────▶ poll_on, await_on; late: judges
//!  read
//!  release
//! ```

#[cfg(test)]
mod tests;

use std::marker::PhantomData;
use std::ptr::NonNull;

use nearcall_abi::INLINE_BYTES;
use nearcall_abi::head::flag;
use nearcall_abi::message::CLASSES_MAX;
use nearcall_core::bias::Claim;
use nearcall_core::turn;
use nearcall_core::{PeerFault, Sequence};
use nearcall_os::astack::AStack;
use nearcall_os::processor::NumberOffset;
use nearcall_os::thread_pointer::thread_pointer;
use nearcall_os::{HeadWords, fence};
// Relaxed: every word stored here is made visible by the swap that posts (row O1).
use std::sync::atomic::Ordering::Relaxed;

use super::area::{Inbound, Outgoing};
use super::call::{await_on, await_posted, begin, is_replied, note_posted, poll_on};
use super::client::Client;
use super::element::Element;
use super::malformed::Malformed;
use super::marshal::Marshal;
use super::pending::{Pending, Posted};
use super::reply::{self, RETURNED, Read, Reply};
use crate::client::binding::{ClientBinding, Grip};
use crate::client::deadline::Deadline;
use crate::client::linkage::{Linkage, ends_batch};
use crate::client::switching;
use crate::error::CallError;
use crate::region::origin_word;
use crate::server::current;

/// A brief call whose arguments are being put. Nothing can fail before its post, so that nothing
/// but that gives its A-stack back: dropped, it keeps that until its binding goes.
///
/// After the post the A-stack is the server's, and nothing can be put into it any more.
///
/// ```
/// fn put(call: nearcall::raw::BriefCall<'_, 0>) -> Result<(), nearcall::CallError> {
///     call.put_u32::<0>(7);
///     call.post::<4, 0, _, _>(|_| Ok(()))
/// }
/// ```
///
/// ```compile_fail,E0382
/// fn put_late(call: nearcall::raw::BriefCall<'_, 0>) -> Result<(), nearcall::CallError> {
///     let posted = call.post::<4, 0, _, _>(|_| Ok(()));
///     call.put_u32::<0>(7);
///     posted
/// }
/// ```
#[derive(Debug)]
#[must_use = "its A-stack is given back once it is posted and replied to"]
pub struct BriefCall<'b, const CLASS: usize> {
    grip: Grip<'b>,
    procedure: u32,
    /// The client's, which is the call's if its A-stack is kept; else its linkage record has it.
    deadline: &'b Deadline,
    /// How the thread that the A-stack is kept for knows its processor; `None`: it is kept for
    /// nobody, or the call is not as most are.
    kept: Option<NumberOffset>,
    /// What is kept for a thread must not leave it.
    stays: PhantomData<*const ()>,
}

/// The results of a brief call, or the exception that it raised, in place on the A-stack: for as
/// long as they are read.
#[derive(Clone, Copy, Debug)]
pub struct BriefResults<'r> {
    pub(super) grip: Grip<'r>,
    pub(super) procedure: u32,
    pub(super) raised: u32,
}

/// An A-stack that is kept for this thread, while its results are read. Dropping it gives it back.
#[derive(Debug)]
struct Kept<'b, const CLASS: usize>(Grip<'b>);

impl<const CLASS: usize> Drop for Kept<'_, CLASS> {
    #[inline(always)]
    fn drop(&mut self) {
        let Kept(grip) = *self;
        if let Err(bit) = grip.keep_by(&grip.binding.biases[CLASS]) {
            grip.give_back_otherwise(bit);
        }
    }
}

macro_rules! puts {
    ($($put:ident: $number:ty),*) => {$(
        /// Stores a scalar at byte `AT`.
        #[inline(always)]
        pub fn $put<const AT: usize>(&self, value: $number) {
            self.outgoing().$put::<AT>(value);
        }
    )*};
}

impl<'b, const CLASS: usize> BriefCall<'b, CLASS> {
    #[inline(always)]
    fn outgoing(&self) -> Outgoing<'b> {
        Outgoing { inline: self.grip.astack.inline(), block: self.grip.astack.own() }
    }

    puts!(put_u8: u8, put_u16: u16, put_u32: u32, put_u64: u64);

    /// Copies a block to byte `AT`.
    #[inline(always)]
    pub fn put_bytes<const AT: usize>(&self, value: &[u8]) {
        self.outgoing().put_block::<AT>(value);
    }

    /// Posts the call, waits for the reply, and evaluates to what `read` makes of it. Of a call
    /// that returns, the message that comes back has `REPLY` bytes.
    ///
    /// # Errors: any of a call that was posted.
    ///
    /// # Cost: two transfers of one line when the server polls; no system call, no allocation.
    #[inline(always)]
    pub fn post<const REQUEST: u32, const REPLY: u32, T, E: From<Box<CallError>>>(
        self,
        read: impl for<'r> FnOnce(BriefResults<'r>) -> Result<T, E>,
    ) -> Result<T, E> {
        let BriefCall { grip, procedure, deadline, kept, .. } = self;
        let Some(numbers) = kept else {
            if let Some(error) = post_unkept(grip, procedure, REQUEST) {
                return Err(error.into());
            }
            let words = HeadWords::load(grip.astack.head());
            return late::<REQUEST, _, _>(grip, procedure, words, read);
        };
        let (head, linkage) = (grip.astack.head(), grip.linkage());
        let processor = numbers.current() & flag::PROCESSOR;
        let flags = linkage.flags();
        let origin = processor | flags | deadline.word;
        let (sequence, seen) = post_words(grip, (procedure, REQUEST, origin));
        let may_look = turn::was_polled(seen, sequence)
            && processor != linkage.server_processor()
            && !ends_batch(sequence)
            // Else the A-stack is one of a FastThread that has waited: it lets others run instead.
            // To ask whether this is one would take thread-local storage, which is a call to
            // compilers.
            && flags == 0;
        let mut words;
        if may_look {
            linkage.until_reply().pass();
            words = HeadWords::load_at_once(head);
            if !is_usual_reply(grip, sequence, words, REPLY) {
                words = poll_on(head, sequence);
                if !is_replied(words, sequence) {
                    if let Some(error) = await_on(grip, procedure, *deadline) {
                        return Err(error.into());
                    }
                    words = HeadWords::load_at_once(head);
                }
                if !are_usual_results(grip, words, REPLY) {
                    return late::<REQUEST, _, _>(grip, procedure, words, read);
                }
            }
        } else {
            if let Some(error) = await_posted(grip, procedure, seen, *deadline) {
                return Err(error.into());
            }
            words = HeadWords::load_at_once(head);
            if !are_usual_results(grip, words, REPLY) {
                return late::<REQUEST, _, _>(grip, procedure, words, read);
            }
        }
        let _kept = Kept::<CLASS>(grip);
        let read = read(BriefResults { grip, procedure, raised: RETURNED });
        ask_for_own_block::<REQUEST>(grip);
        read
    }

    /// Posts the call and does not wait: what comes back is collected later, by `read`, which
    /// captures nothing (design note 0007). `REPLY` as in [`BriefCall::post`].
    ///
    /// # Errors: [`CallError::Peer`] if the server has written what it must not.
    ///
    /// # Cost: one swap; no system call, no allocation, but for the first one in a tenth of a
    /// second, which wakes housekeeping.
    #[inline(always)]
    pub fn post_pending<const REQUEST: u32, const REPLY: u32, T, E, F>(
        self,
        read: F,
    ) -> Result<Pending<'b, T, E>, Box<CallError>>
    where
        E: From<Box<CallError>>,
        F: for<'r> Fn(BriefResults<'r>) -> Result<T, E> + Copy,
    {
        let BriefCall { grip, procedure, deadline, kept, .. } = self;
        let mut deadline = *deadline;
        if let Some(numbers) = kept {
            let processor = numbers.current() & flag::PROCESSOR;
            // Calls that are posted ahead are found by their heads: no flag says that they come in
            // turn.
            let origin = processor | deadline.word;
            let (sequence, seen) = post_words(grip, (procedure, REQUEST, origin));
            if (!turn::was_polled(seen, sequence) || ends_batch(sequence))
                && let Some(error) = note_posted(grip, procedure, seen)
            {
                return Err(error);
            }
        } else {
            if let Some(error) = post_unkept_ahead(grip, procedure, REQUEST) {
                return Err(error);
            }
            deadline = grip.linkage().deadline();
        }
        if deadline.ns != 0 {
            begin(grip, deadline);
        }
        grip.linkage().set_outstanding(switching::caller_number());
        grip.binding.leave_unattended();
        let posted = Posted::new(grip, procedure, deadline);
        Ok(Pending::new(posted, brief_reader::<CLASS, REPLY, _, _, _>(read)))
    }
}

/// Whether the reply is there and as most are: with results, so many bytes of them, and from the
/// processor that the last one came from. Two comparisons.
#[inline(always)]
fn is_usual_reply(grip: Grip<'_>, sequence: Sequence, words: HeadWords, reply_bytes: u32) -> bool {
    words.is_returned_from(turn::first_usual_reply(sequence).0)
        && words.is_exactly(reply_bytes, grip.linkage().server_processor())
}

/// The same of a reply that is known to be there.
#[inline(always)]
fn are_usual_results(grip: Grip<'_>, words: HeadWords, reply_bytes: u32) -> bool {
    words.selector() == RETURNED && words.is_exactly(reply_bytes, grip.linkage().server_processor())
}

/// Until the next call the lines that the server has read come back.
#[inline(always)]
fn ask_for_own_block<const REQUEST: u32>(grip: Grip<'_>) {
    if REQUEST > INLINE_BYTES {
        grip.astack.ask_for_own_block(REQUEST);
    }
}

/// Fills the head's words, and posts. The number of the call, and what was found in the turn word.
#[inline(always)]
fn post_words(
    grip: Grip<'_>,
    (procedure, request_bytes, origin): (u32, u32, u32),
) -> (Sequence, u32) {
    let head = grip.astack.head();
    head.selector.store(procedure, Relaxed);
    head.message_bytes.store(request_bytes, Relaxed);
    head.origin.store(origin, Relaxed);
    let sequence = grip.linkage().count_unweighed();
    (sequence, turn::post_unjudged(&head.turn, sequence))
}

/// Posts a call on an A-stack that is kept for nobody, or whose time is not its client's, and waits
/// for the reply.
#[inline(never)]
fn post_unkept(grip: Grip<'_>, procedure: u32, request_bytes: u32) -> Option<Box<CallError>> {
    let linkage = grip.linkage();
    let deadline = linkage.deadline();
    let origin = origin_word(deadline.word | linkage.flags());
    let (_, seen) = post_words(grip, (procedure, request_bytes, origin));
    await_posted(grip, procedure, seen, deadline)
}

/// The same, and does not wait.
#[inline(never)]
fn post_unkept_ahead(grip: Grip<'_>, procedure: u32, request_bytes: u32) -> Option<Box<CallError>> {
    let origin = origin_word(grip.linkage().deadline().word);
    let (_, seen) = post_words(grip, (procedure, request_bytes, origin));
    note_posted(grip, procedure, seen)
}

/// How a stub reads the reply to a brief call that was posted and has one: as `reply::reader`.
#[inline(always)]
pub(super) fn brief_reader<'b, const CLASS: usize, const REPLY: u32, T, E, F>(
    _read: F,
) -> Read<'b, T, E>
where
    E: From<Box<CallError>>,
    F: for<'r> Fn(BriefResults<'r>) -> Result<T, E> + Copy,
{
    const { assert!(size_of::<F>() == 0, "what reads a reply captures nothing") };
    |grip, procedure, words| {
        // SAFETY: a value of no bytes may be read from any aligned address. There is one of `F`,
        // `_read`, and `F` is `Copy`, so that there may be more.
        let read = unsafe { NonNull::<F>::dangling().read() };
        if grip.linkage().kept() == 0 || !are_usual_results(grip, words, REPLY) {
            return read_late(grip, procedure, words, read);
        }
        let _kept = Kept::<CLASS>(grip);
        read(BriefResults { grip, procedure, raised: RETURNED }).map_err(Box::new)
    }
}

/// The reply has come, and is not as most are.
#[cold]
#[inline(never)]
fn read_late<T, E: From<Box<CallError>>>(
    grip: Grip<'_>,
    procedure: u32,
    words: HeadWords,
    read: impl for<'r> FnOnce(BriefResults<'r>) -> Result<T, E>,
) -> Result<T, Box<E>> {
    match Reply::new(grip, procedure, words) {
        Ok(reply) => read(reply.brief()).map_err(Box::new),
        Err(error) => Err(Box::new(error.into())),
    }
}

/// The same of a call that was waited for, and not posted ahead.
#[cold]
#[inline(never)]
fn late<const REQUEST: u32, T, E: From<Box<CallError>>>(
    grip: Grip<'_>,
    procedure: u32,
    words: HeadWords,
    read: impl for<'r> FnOnce(BriefResults<'r>) -> Result<T, E>,
) -> Result<T, E> {
    let reply = Reply::new(grip, procedure, words)?;
    let read = read(reply.brief());
    ask_for_own_block::<REQUEST>(grip);
    read
}

macro_rules! gets {
    ($($get:ident: $number:ty),*) => {$(
        /// Loads a scalar from byte `AT`: one load.
        #[inline(always)]
        pub fn $get<const AT: usize>(self) -> $number {
            self.inbound().$get::<AT>()
        }
    )*};
}

impl<'b> BriefResults<'b> {
    #[inline(always)]
    fn inbound(self) -> Inbound<'b> {
        let astack = self.grip.astack;
        Inbound { inline: astack.inline().as_span(), block: astack.peer() }
    }

    gets!(get_u8: u8, get_u16: u16, get_u32: u32, get_u64: u64);

    /// A fixed array of elements at byte `AT`, in one copy.
    #[inline(always)]
    pub fn get_element<const AT: usize, T: Element>(self) -> T {
        self.inbound().get_element::<AT, T>()
    }

    /// The same, in one copy over what the caller has there.
    #[inline(always)]
    pub fn get_element_to<const AT: usize, T: Element>(self, target: &mut T) {
        self.inbound().get_element_to::<AT, T>(target);
    }

    /// A fixed value of `BYTES` bytes at byte `AT`, copied and then judged.
    pub fn get_image<const AT: usize, const BYTES: usize, T: Marshal>(
        self,
    ) -> Result<T, Malformed> {
        self.inbound().get_image::<AT, BYTES, T>()
    }

    /// 0 if the procedure returned, n if it raised the n-th of its exceptions.
    #[inline(always)]
    pub fn raised(self) -> u32 {
        self.raised
    }

    /// The results are not of the form that the interface promises. The binding is revoked.
    #[inline(always)]
    pub fn malformed(self, malformed: Malformed) -> CallError {
        reply::fault(self.grip, self.procedure, malformed.into())
    }

    /// The procedure does not raise as many exceptions. The binding is revoked.
    pub fn unknown_exception(self) -> CallError {
        let fault = PeerFault::Exception { claimed: self.raised, count: 0 };
        reply::fault(self.grip, self.procedure, fault)
    }
}

impl Client {
    /// Takes an A-stack of class `CLASS` for a brief call of `procedure`, which is of that class
    /// (L20): one that is kept for this thread, unless there is something to ask that a stub has
    /// no room for; else as [`Client::claim`].
    ///
    /// Of the call that this thread serves, whose time its calls have, nothing is asked: a server
    /// processor is known to biases by something else than its thread pointer, and what is kept
    /// for that is kept no more when one begins. Where other threads go on with a procedure
    /// ([`CurrentCall::within`](crate::CurrentCall::within)) whose client waits only so long, no
    /// call of a stub in Rust is brief in the process.
    ///
    /// # Errors: as those of [`Client::claim`].
    #[inline(always)]
    pub fn claim_brief<const CLASS: usize>(
        &self,
        procedure: u32,
    ) -> Result<BriefCall<'_, CLASS>, Box<CallError>> {
        const { assert!(CLASS < CLASSES_MAX) };
        let binding = self.binding().inner();
        let (grip, kept) = match self.claim_kept(CLASS) {
            Some(grip) => (grip, self.numbers),
            None => (Grip { binding, astack: self.claim_unkept(CLASS, procedure)? }, None),
        };
        let (deadline, stays) = (&self.deadline, PhantomData);
        Ok(BriefCall { grip, procedure, deadline, kept, stays })
    }

    #[inline(always)]
    fn claim_kept(&self, class: usize) -> Option<Grip<'_>> {
        self.numbers?;
        if current::is_anybody_within() {
            return None;
        }
        let binding = self.binding().inner();
        match binding.biases[class].claim(thread_pointer()?) {
            Claim::Kept(index) => Some(binding.grip(index)),
            Claim::Plain(index) => {
                binding.give_up(index);
                None
            }
            Claim::Nothing => None,
        }
    }

    /// One word, which a stub has in a register; the deadline stays with the linkage record.
    #[inline(never)]
    fn claim_unkept(
        &self,
        class: usize,
        procedure: u32,
    ) -> Result<AStack<'_, Linkage>, Box<CallError>> {
        let deadline = self.deadline_now(procedure)?;
        let (held, deadline) = self.binding().inner().claim(class, procedure, deadline)?;
        let grip = held.let_go();
        grip.linkage().set_deadline(deadline);
        Ok(grip.astack)
    }
}

/// How the clients of a binding know their processor, if their calls may be brief.
pub(super) fn numbers(binding: &ClientBinding) -> Option<NumberOffset> {
    let is_possible = fence::is_available() && HeadWords::can_be_at_once();
    (is_possible && binding.agreement.is_none()).then(NumberOffset::find).flatten()
}
