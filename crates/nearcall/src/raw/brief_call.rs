//! Brief calls: words and blocks go, and come back, in an A-stack that is kept for this thread. The
//! stub has all of such a call inline, from the claim to one look for the reply; whatever is not as
//! most calls find it goes on in functions of its own (design note 0026, which has the same for C).
//!
//! ```text
//!  stub                                                   apart
//!
//!  claim   kept for this thread, and free? ── no ───────▶ in_full: as any other call
//!  put
//!  post
//!          polled, weighed, elsewhere, alone? ── no ────▶ late: tells, weighs, waits as the policy
//!  linger                                                       says, and judges
//!  look    returned, as long, and from there? ── no ────▶ late
//!  read
//!  release
//! ```

use std::marker::PhantomData;

use nearcall_abi::INLINE_BYTES;
use nearcall_abi::head::flag;
use nearcall_abi::message::CLASSES_MAX;
use nearcall_core::PeerFault;
use nearcall_core::bias::Claim;
use nearcall_core::turn;
use nearcall_os::astack::AStack;
use nearcall_os::processor::NumberOffset;
use nearcall_os::thread_pointer::thread_pointer;
use nearcall_os::{HeadWords, fence};
// Relaxed: every word stored here is made visible by the swap that posts (row O1).
use std::sync::atomic::Ordering::Relaxed;

use super::area::{Inbound, Outgoing};
use super::call::{await_posted, await_unkept, late_reply, poll_on};
use super::client::Client;
use super::element::Element;
use super::malformed::Malformed;
use super::marshal::Marshal;
use super::reply::{self, RETURNED};
use crate::client::binding::{ClientBinding, Grip};
use crate::client::linkage::{Linkage, ends_batch};
use crate::error::CallError;
use crate::region::origin_word;

/// A brief call whose arguments are being put. Nothing can fail before its post, so that nothing
/// but that gives its A-stack back.
#[derive(Clone, Copy, Debug)]
#[must_use = "its A-stack is given back once it is posted and replied to"]
pub struct BriefCall<'b, const CLASS: usize> {
    grip: Grip<'b>,
    procedure: u32,
    /// How the thread that the A-stack is kept for knows its processor; `None`: it is kept for
    /// nobody, or the call is not as most are, and has the deadline that its linkage record says.
    kept: Option<NumberOffset>,
    stays: PhantomData<*const ()>,
}

/// The results of a brief call, or the exception that it raised, in place on the A-stack.
#[derive(Clone, Copy, Debug)]
pub struct BriefResults<'b> {
    pub(super) grip: Grip<'b>,
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
        let (bias, bit) = (&grip.binding.biases[CLASS], grip.linkage().kept());
        if !thread_pointer().is_some_and(|thread| bias.release(thread, bit)) {
            grip.give_back_otherwise(bit);
        }
    }
}

macro_rules! puts {
    ($($put:ident: $number:ty),*) => {$(
        /// Stores a scalar at byte `AT`.
        #[inline(always)]
        pub fn $put<const AT: usize>(self, value: $number) {
            self.outgoing().$put::<AT>(value);
        }
    )*};
}

impl<'b, const CLASS: usize> BriefCall<'b, CLASS> {
    #[inline(always)]
    fn outgoing(self) -> Outgoing<'b> {
        Outgoing { inline: self.grip.astack.inline(), block: self.grip.astack.own() }
    }

    puts!(put_u8: u8, put_u16: u16, put_u32: u32, put_u64: u64);

    /// Copies a block to byte `AT`.
    #[inline(always)]
    pub fn put_bytes<const AT: usize>(self, value: &[u8]) {
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
        read: impl FnOnce(BriefResults<'b>) -> Result<T, E>,
    ) -> Result<T, E> {
        let BriefCall { grip, procedure, kept, .. } = self;
        let Some(numbers) = kept else {
            return match post_unkept(grip, procedure, REQUEST) {
                Some(error) => Err(error.into()),
                None => late::<REQUEST, _, _>(grip, procedure, read),
            };
        };
        let (head, linkage) = (grip.astack.head(), grip.linkage());
        let processor = numbers.current() & flag::PROCESSOR;
        let origin = processor | linkage.flags();
        write_words(grip, (procedure, REQUEST, origin));
        let sequence = linkage.count_unweighed();
        let seen = turn::post_unjudged(&head.turn, sequence);
        let may_look = turn::was_polled(seen, sequence)
            && processor != linkage.server_processor()
            && !ends_batch(sequence)
            // The A-stack of a FastThread that has waited: it lets others run instead. To ask
            // whether this is one would take thread-local storage, which is a call to compilers.
            && origin == processor;
        let first = turn::first_usual_reply(sequence).0;
        let words = if may_look {
            linkage.until_reply().pass();
            let words = HeadWords::load_at_once(head);
            if words.is_returned_from(first) { words } else { poll_on(head, sequence) }
        } else {
            if let Some(error) = await_posted(grip, procedure, seen) {
                return Err(error.into());
            }
            HeadWords::load_at_once(head)
        };
        if !(words.is_returned_from(first) && words.is_exactly(REPLY, linkage.server_processor())) {
            return late::<REQUEST, _, _>(grip, procedure, read);
        }
        let _kept = Kept::<CLASS>(grip);
        let read = read(BriefResults { grip, procedure, raised: RETURNED });
        ask_for_own_block::<REQUEST>(grip);
        read
    }
}

/// Until the next call the lines that the server has read come back.
#[inline(always)]
fn ask_for_own_block<const REQUEST: u32>(grip: Grip<'_>) {
    if REQUEST > INLINE_BYTES {
        grip.astack.ask_for_own_block(REQUEST);
    }
}

#[inline(always)]
fn write_words(grip: Grip<'_>, (procedure, request_bytes, origin): (u32, u32, u32)) {
    let head = grip.astack.head();
    head.selector.store(procedure, Relaxed);
    head.message_bytes.store(request_bytes, Relaxed);
    head.origin.store(origin, Relaxed);
}

/// Posts a call on an A-stack that is kept for nobody, or with a deadline, and waits for it.
#[inline(never)]
fn post_unkept(grip: Grip<'_>, procedure: u32, request_bytes: u32) -> Option<Box<CallError>> {
    let linkage = grip.linkage();
    let deadline = linkage.deadline();
    write_words(grip, (procedure, request_bytes, origin_word(deadline.word | linkage.flags())));
    let seen = turn::post_unjudged(&grip.astack.head().turn, linkage.count_unweighed());
    await_unkept(grip, procedure, seen, deadline)
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
    /// (L20): one that is kept for this thread, if nothing is asked of the call, as a deadline or
    /// an agreement between versions; else as [`Client::claim`]. A server
    /// processor is known to biases by something else than its thread pointer, so that calls
    /// within procedures, whose time may be short, are never of the first kind.
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
        Ok(BriefCall { grip, procedure, kept, stays: PhantomData })
    }

    #[inline(always)]
    fn claim_kept(&self, class: usize) -> Option<Grip<'_>> {
        self.numbers?;
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

/// The reply is not as most are, or is not there yet.
#[cold]
#[inline(never)]
fn late<'b, const REQUEST: u32, T, E: From<Box<CallError>>>(
    grip: Grip<'b>,
    procedure: u32,
    read: impl FnOnce(BriefResults<'b>) -> Result<T, E>,
) -> Result<T, E> {
    let reply = late_reply(grip, procedure)?;
    let read = read(reply.brief());
    ask_for_own_block::<REQUEST>(grip);
    read
}

/// How the clients of a binding know their processor, if their calls may be brief.
pub(super) fn numbers(binding: &ClientBinding) -> Option<NumberOffset> {
    let is_possible = fence::is_available() && HeadWords::can_be_at_once();
    (is_possible && binding.is_of_one_version()).then(NumberOffset::find).flatten()
}
