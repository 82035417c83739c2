//! The server's half of a stub: arguments in, the procedure, results out.

use std::cell::Cell;
use std::fmt;
use std::mem::MaybeUninit;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::Arc;

use nearcall_abi::{INLINE_BYTES, InterfaceDescriptor, MESSAGE_BYTES_MAX, Status, counted};
use nearcall_os::descriptor::{DescriptorKind, WrongDescriptor};
use nearcall_os::segment::Segment;

use super::descriptors::{Passed, all_of};
use super::element::Element;
use super::incoming::Incoming;
use super::malformed::Malformed;
use super::marshal::Marshal;
use super::opaque::OpaqueOut;
use super::served::ServedCall;
use super::variable::{Variable, span_of};
use crate::batch::{Batches, Keeping};
use crate::error::{OverBound, UsageError};
use crate::passed::Due;
use crate::server::deferred::{self, Deferred};
use crate::server::exchange::calls::NextBatch;
use crate::server::feeds::{Items, Taker};
use crate::server::suspended;

/// The entry stubs of one interface, over a server's procedures.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not the entries of an interface",
    label = "no entries",
    note = "a server of `X` is exported as `XEntries::new(server)` or, of procedures that are \
            awaited, as `XAsyncEntries::new(server)`: both are of the interface's stubs"
)]
pub trait Entries: Send + Sync + 'static {
    /// What is exported.
    fn interface(&self) -> &'static InterfaceDescriptor;

    /// Enters a procedure; its index is below the interface's count.
    fn enter(&self, procedure: usize, arguments: Arguments<'_>) -> Outcome;

    /// Whether it has procedures that are awaited: see [`Arguments::run_awaited`].
    fn is_awaited(&self) -> bool {
        false
    }

    /// Whether its procedures run on E-stacks, but for its leaves.
    fn runs_on_estacks(&self) -> bool {
        false
    }

    /// Bytes of an E-stack without which a procedure of its could not even begin.
    fn estack_bytes_min(&self) -> usize {
        0
    }

    /// A procedure that runs on an E-stack is about to wait, or to go on. What its language keeps
    /// for each kernel thread, and a procedure has to find again, changes places with `kept`: zeros
    /// before the procedure waits, and again when it has gone on.
    fn change_places(&self, _kept: &Cell<OfKernelThread>) {}
}

/// What a language keeps for each kernel thread, and a procedure that has waited finds again.
pub type OfKernelThread = [u64; 2];

/// What puts the results of a procedure that was awaited in place.
pub type Finish = Box<dyn FnOnce(Arguments<'_>) -> Outcome>;

/// What an entry stub returns: two words, in registers.
pub type Outcome = Result<Replied, Box<Refusal>>;

/// A reply that is ready to be given to the client: the [`Status`] word, and in the low half the
/// bytes of the message.
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct Replied(u64);

/// Why there is no reply, for the server's log; the client learns only the class.
#[derive(Debug)]
pub enum Refusal {
    /// The arguments are not what the interface promises; the procedure did not run.
    Arguments(Malformed),
    /// The procedure ran, and its results are over a bound or out of a range.
    Results(UsageError),
    /// The procedure ran, and there is no memory for its results.
    NoMemory {
        /// Bytes asked for.
        bytes: u64,
    },
    /// The procedure ran, and one of its results is a descriptor of another kind.
    Descriptor(WrongDescriptor),
    /// The procedure ran, and its client has as many feeds open as it may.
    TooManyFeeds {
        /// How many.
        limit: u32,
    },
    /// The procedure ran, and what it has returned cannot be sent, for this reason: it names the
    /// procedure.
    Unfit(String),
    /// The procedure ran, and an item that its feed has made was refused, behind which that is
    /// over. Of that the log has told.
    Told,
    /// Nobody takes the items of this feed any more; these were not taken.
    FeedOver,
    /// Its arguments would lie here until somebody takes them, and its user has all that it may.
    Overloaded,
    /// The outlet of this feed, or what was to answer, was dropped before it was ended.
    Unended,
    /// The domain or the binding is about to end; the procedure did not run.
    Ended,
    /// It is none: the reply comes later, from whoever has the call now.
    SetAside,
    /// The procedure ran, and its descriptors could not be sent.
    NotSent(String),
}

/// The arguments of a call, on its A-stack. What is loaded is private from then on.
#[derive(Clone, Copy, Debug)]
pub struct Arguments<'a> {
    pub(super) call: &'a ServedCall<'a>,
}

/// The results of a call, on its A-stack, where the arguments were.
#[derive(Debug)]
pub struct Results<'a> {
    pub(super) call: &'a ServedCall<'a>,
    variable_end: u32,
    /// Keeps the segment that the variable part is written to.
    segment: Option<Arc<Segment>>,
}

macro_rules! gets {
    ($($get:ident: $number:ty),*) => {$(
        /// Loads a scalar from byte `AT` of the fixed part: one load.
        #[inline(always)]
        pub fn $get<const AT: usize>(&self) -> $number {
            self.call.inbound().$get::<AT>()
        }
    )*};
}

macro_rules! puts {
    ($($put:ident: $number:ty),*) => {$(
        /// Stores a scalar at byte `AT` of the fixed part.
        #[inline(always)]
        pub fn $put<const AT: usize>(&mut self, value: $number) {
            self.call.outgoing().$put::<AT>(value);
        }
    )*};
}

impl<'a> Arguments<'a> {
    #[inline(always)]
    pub(crate) fn new(call: &'a ServedCall<'a>) -> Arguments<'a> {
        Arguments { call }
    }

    gets!(get_u8: u8, get_u16: u16, get_u32: u32, get_u64: u64);

    /// A fixed array of elements at byte `AT` of the fixed part, in one copy.
    #[inline(always)]
    pub fn get_element<const AT: usize, T: Element>(&self) -> T {
        self.call.inbound().get_element::<AT, T>()
    }

    /// The same, in one copy to where it stays.
    #[inline(always)]
    pub fn get_element_in<'v, const AT: usize, T: Element>(
        &self,
        room: &'v mut MaybeUninit<T>,
    ) -> &'v mut T {
        self.call.inbound().get_element_in::<AT, T>(room)
    }

    /// A fixed value of `BYTES` bytes at byte `AT` of the fixed part, copied and then judged.
    pub fn get_image<const AT: usize, const BYTES: usize, T: Marshal>(
        &self,
    ) -> Result<T, Malformed> {
        self.call.inbound().get_image::<AT, BYTES, T>()
    }

    /// Copies the first bytes of the fixed part, for a stub that is interpreted.
    ///
    /// # Panics
    ///
    /// Past the A-stack's end.
    #[inline]
    pub fn copy_fixed(&self, target: &mut [u8]) {
        self.call.inbound().copy_out(0, target);
    }

    /// What its interface is exported as, for the server's log.
    pub fn exported_as(&self) -> &'a str {
        &self.call.binding.name
    }

    /// Runs a procedure that may have to wait; the processor takes other calls while it does.
    ///
    /// # Errors: [`Refusal`] if the domain or the binding is about to end.
    ///
    /// # Cost: an allocation for what it keeps meanwhile, and one for its waker.
    pub fn run_awaited(self, procedure: impl Future<Output = Finish> + Send + 'static) -> Outcome {
        suspended::begin(self.call, Box::pin(procedure))
    }

    /// Sets the call aside for `keep`, which replies whenever it wants, on any thread; the
    /// processor takes other calls meanwhile. Its variable part begins at byte `variable_at`, if it
    /// has one.
    ///
    /// # Errors: [`Refusal`] if the domain or the binding is about to end, or if the client has
    /// stopped in the middle of its arguments.
    ///
    /// # Cost: the call's binding is looked up, and counted.
    pub fn defer(self, variable_at: Option<usize>, keep: impl FnOnce(Deferred)) -> Outcome {
        deferred::set_aside(self.call, variable_at, keep)
    }

    /// Opens a feed of what `items` makes; its number.
    ///
    /// # Errors: [`Refusal`] if the client has too many open.
    pub fn open_source<T, E>(&self, items: Items<Result<T, E>>) -> Result<u64, Box<Refusal>>
    where
        T: Send + 'static,
        E: Send + 'static,
    {
        self.call.open_source(items)
    }

    /// Opens a feed into `taker`; its number.
    ///
    /// # Errors: as [`Arguments::open_source`].
    pub fn open_taker<T, R, E>(&self, taker: Taker<T, R, E>) -> Result<u64, Box<Refusal>>
    where
        T: 'static,
        R: 'static,
        E: 'static,
    {
        self.call.open_taker(taker)
    }

    /// Batch `number` of a feed, and whether it is the last. Its items are judged here, as they are
    /// made. Within: what making the items raised.
    ///
    /// # Errors: it is not due; an item is refused, behind those that came before; or
    /// [`Refusal::SetAside`], which the stub returns as it is: this call, or the next one, has the
    /// items when there are some (design note 0020).
    pub fn next_judged<T, E>(
        &self,
        feed: u64,
        number: u32,
        batches: Batches,
        keeping: Keeping<T>,
    ) -> NextBatch<T, E>
    where
        T: Send + 'static,
        E: Send + 'static,
    {
        self.call.next_judged((feed, number), batches, keeping)
    }

    /// The same of items that their stub has judged: at most so many.
    ///
    /// # Errors: as [`Arguments::next_judged`], but for items that are refused.
    pub fn next_of_feed<T, E>(&self, feed: u64, number: u32, limit: u32) -> NextBatch<T, E>
    where
        T: Send + 'static,
        E: Send + 'static,
    {
        self.call.next_of_feed((feed, number), limit)
    }

    /// Gives batch `number` of a feed to its taker.
    ///
    /// # Errors: it is not due. Within: what the taker raised.
    pub fn put_to_feed<T: 'static, R: 'static, E: 'static>(
        &self,
        feed: u64,
        number: u32,
        items: Vec<T>,
    ) -> Result<Result<(), E>, Malformed> {
        self.call.binding.feeds.put::<T, R, E>((feed, number), items)
    }

    /// Ends a feed into a taker.
    ///
    /// # Errors: it is not open. Within: what the taker raised.
    pub fn end_of_feed<T: 'static, R: 'static, E: 'static>(
        &self,
        feed: u64,
    ) -> Result<Result<R, E>, Malformed> {
        self.call.binding.feeds.end::<T, R, E>(feed)
    }

    /// The descriptors that came with the call, in the order of the parameters.
    ///
    /// # Errors: not as many, or not of these kinds; what came is closed.
    pub fn descriptors<const N: usize>(
        &self,
        kinds: [DescriptorKind; N],
    ) -> Result<[OwnedFd; N], Malformed> {
        let (came, _) = self.call.take_descriptors(Due { kinds: &kinds, optional: &[] })?;
        Ok(all_of(came))
    }

    /// The same where some may be absent: those that may, in their order, each with the byte of
    /// the message that says whether it is there.
    ///
    /// # Errors: also if a byte is neither 0 nor 1.
    pub fn optional_descriptors<const N: usize, const M: usize>(
        &self,
        kinds: [DescriptorKind; N],
        optional: [(DescriptorKind, u8); M],
    ) -> Result<Passed<N, M>, Malformed> {
        let (came, present) = self.each_descriptor(&kinds, &optional)?;
        Ok((all_of(came), all_of(present)))
    }

    /// The variable part, which begins at byte `AT`.
    #[inline]
    pub fn variable<const AT: usize>(&self) -> Result<Incoming<'a>, Malformed> {
        self.variable_at(AT)
    }

    /// The same for a stub that is interpreted.
    #[inline]
    pub fn variable_at(&self, at: usize) -> Result<Incoming<'a>, Malformed> {
        let end = self.call.message_bytes as usize;
        let Some(bytes) = end.checked_sub(at) else {
            return Err(Malformed::Length { claimed: at as u64, limit: end as u64 });
        };
        let Some(segment) = self.call.request() else {
            return Ok(Incoming::in_place(self.call.inbound(), at, end).of_call(self.call));
        };
        let incoming = Incoming::out_of_line(segment.span(), bytes)?;
        if let Some(behind) = self.call.behind() {
            behind.set_end(bytes);
        }
        Ok(incoming.of_call(self.call))
    }

    /// Room for what the procedure puts into its `@opaque` out parameter, at the beginning of the
    /// results' variable part, which begins at byte `AT`, in the block.
    #[inline]
    pub fn lent_results<const AT: usize>(&mut self, bound: u32) -> OpaqueOut<'a> {
        const { assert!(AT.is_multiple_of(8) && AT >= INLINE_BYTES as usize) };
        self.lent_results_at(AT, bound)
    }

    /// The same for a stub that is interpreted.
    ///
    /// # Panics
    ///
    /// If `at` lies in the head line, or past the A-stack's end.
    #[inline]
    pub fn lent_results_at(&mut self, at: usize, bound: u32) -> OpaqueOut<'a> {
        let offset = at.checked_sub(INLINE_BYTES as usize);
        let offset = offset.expect("lent results lie in the block");
        let block = self.call.outgoing().block;
        let room = block.bytes().checked_sub(offset).and_then(|rest| block.slice(offset, rest));
        let room = room.expect("the fixed part fits its block");
        self.call.set_lent(at, 0);
        OpaqueOut::new(room, at, bound.min(MESSAGE_BYTES_MAX), self.call)
    }

    /// The procedure has raised: from here on the A-stack holds the exception's members, and what
    /// was put into lent results is forgotten.
    pub fn exception(self) -> Results<'a> {
        self.call.forget_results();
        self.results()
    }

    /// The procedure has run: from here on the A-stack holds results.
    #[inline(always)]
    pub fn results(self) -> Results<'a> {
        Results { call: self.call, variable_end: 0, segment: None }
    }
}

impl<'a> Results<'a> {
    puts!(put_u8: u8, put_u16: u16, put_u32: u32, put_u64: u64);

    /// Copies a fixed block to byte `AT` of the fixed part.
    #[inline(always)]
    pub fn put_bytes<const AT: usize>(&mut self, value: &[u8]) {
        self.call.outgoing().put_block::<AT>(value);
    }

    /// Marshals a fixed value to byte `AT` of the fixed part.
    pub fn put_image<const AT: usize, T: Marshal>(&mut self, value: &T) {
        self.call.outgoing().put_image(AT, value);
    }

    /// Sends the descriptors that go with the results.
    ///
    /// # Errors: [`Refusal`] if one is of another kind, or the client takes no more.
    pub fn put_descriptors<const N: usize>(
        &mut self,
        descriptors: [(DescriptorKind, BorrowedFd<'_>); N],
    ) -> Result<(), Box<Refusal>> {
        self.put_each_descriptor(&descriptors.map(|(kind, descriptor)| (kind, Some(descriptor))))
    }

    /// Bytes that the procedure put into its lent results.
    #[inline]
    pub fn lent_bytes(&self) -> u32 {
        self.call.lent_bytes()
    }

    /// Opens the variable part, which begins at byte `AT`; `bytes` is the sum of the payloads'
    /// lengths, each rounded up to 8, less the lent results', which come first. What does not fit
    /// the A-stack goes out of line (L50).
    ///
    /// # Errors: [`Refusal`] over 1 GiB or without memory for it.
    #[inline]
    pub fn variable<const AT: usize>(
        &mut self,
        bytes: u64,
    ) -> Result<Variable<'_, '_>, Box<Refusal>> {
        const { assert!(AT.is_multiple_of(8)) };
        self.variable_at(AT, bytes)
    }

    /// The same for a stub that is interpreted; `at` is a multiple of 8, and within the A-stack.
    ///
    /// # Errors: as [`Results::variable`].
    #[inline]
    pub fn variable_at(&mut self, at: usize, bytes: u64) -> Result<Variable<'_, '_>, Box<Refusal>> {
        let lent = u64::from(self.lent_bytes()).next_multiple_of(8);
        let end = at as u64 + lent + bytes;
        if !self.call.replies_out_of_line() && end <= self.call.astack.capacity_bytes().into() {
            self.variable_end = end as u32;
            let outgoing = self.call.outgoing();
            return Ok(Variable::in_place(outgoing, at + lent as usize, end as usize));
        }
        self.move_out_of_line(at, lent + bytes)?;
        let total = (lent + bytes) as usize;
        Ok(Variable::out_of_line(span_of(&self.segment), lent as usize, total))
    }

    /// One word is all that comes back, as of a client's.
    #[cold]
    #[inline(never)]
    fn move_out_of_line(&mut self, at: usize, total: u64) -> Result<(), Box<Refusal>> {
        let moved = self.call.move_out_of_line(self.call.outgoing(), at, total)?;
        self.variable_end = (at as u64 + total) as u32;
        self.segment = Some(moved);
        Ok(())
    }

    /// The procedure returned.
    #[inline(always)]
    pub fn reply(self, fixed_bytes: u32) -> Outcome {
        let own_bytes = fixed_bytes.max(self.variable_end);
        let message_bytes = own_bytes.max(self.call.lent_end());
        if own_bytes > INLINE_BYTES {
            self.call.note_reply(own_bytes);
        }
        Ok(Replied::new(Status::Returned, message_bytes))
    }

    /// The procedure raised its exception `number`, counted from 1.
    pub fn raise(self, number: u16, fixed_bytes: u32) -> Outcome {
        let message_bytes = fixed_bytes.max(self.variable_end);
        Ok(Replied::new(Status::Raised(number), message_bytes))
    }
}

impl Replied {
    #[inline(always)]
    fn new(status: Status, message_bytes: u32) -> Replied {
        Replied(u64::from(status.to_word()) << 32 | u64::from(message_bytes))
    }

    /// There is none yet.
    pub(crate) const LATER: Replied = Replied(u64::MAX);

    /// It comes later.
    pub(crate) fn is_later(self) -> bool {
        self.0 == Replied::LATER.0
    }

    /// A reply without results.
    pub(crate) fn refused(status: Status) -> Replied {
        Replied::new(status, 0)
    }

    /// The word of the [`Status`].
    #[inline(always)]
    pub(crate) fn status_word(self) -> u32 {
        (self.0 >> 32) as u32
    }

    /// Bytes of results.
    #[inline(always)]
    pub(crate) fn message_bytes(self) -> u32 {
        self.0 as u32
    }
}

impl Refusal {
    #[cold]
    pub(crate) fn results(breach: UsageError) -> Refusal {
        Refusal::Results(breach)
    }

    #[cold]
    pub(crate) fn over_bound(parameter: &'static str, value: u64, limit: u64) -> Refusal {
        Refusal::results(UsageError::OverBound(OverBound { parameter, value, limit }))
    }

    /// What the client is told.
    pub(crate) fn status(&self) -> Status {
        match self {
            Refusal::Arguments(_) => Status::Malformed,
            Refusal::FeedOver => Status::FeedOver,
            Refusal::Overloaded => Status::Overloaded,
            Refusal::Ended | Refusal::SetAside => Status::Refused,
            Refusal::Unended => Status::Panicked,
            Refusal::Results(_)
            | Refusal::NoMemory { .. }
            | Refusal::Descriptor(_)
            | Refusal::TooManyFeeds { .. }
            | Refusal::Unfit(_)
            | Refusal::Told
            | Refusal::NotSent(_) => Status::ResultsRefused,
        }
    }
}

impl From<Malformed> for Box<Refusal> {
    #[cold]
    fn from(malformed: Malformed) -> Box<Refusal> {
        Box::new(Refusal::Arguments(malformed))
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::Arguments(malformed) => write!(f, "arguments refused: {malformed}"),
            Refusal::Results(breach) => write!(f, "results refused: {breach}"),
            Refusal::NoMemory { bytes } => {
                write!(f, "no memory for {} of results", counted(*bytes, "byte"))
            }
            Refusal::Descriptor(wrong) => write!(f, "results refused: {wrong}"),
            Refusal::TooManyFeeds { limit } => {
                write!(f, "its client has {limit} feeds open, which is the limit")
            }
            Refusal::Unfit(why) => f.write_str(why),
            Refusal::Told => f.write_str("results were refused, which was told"),
            Refusal::FeedOver => f.write_str("nobody takes the items of its feed any more"),
            Refusal::Overloaded => f.write_str("its user has all that it may have here"),
            Refusal::Unended => {
                f.write_str("its outlet, or its answer, was dropped before it was ended or given")
            }
            Refusal::Ended => f.write_str("the binding is about to end"),
            Refusal::SetAside => f.write_str("its reply comes later"),
            Refusal::NotSent(reason) => write!(f, "descriptors were not sent: {reason}"),
        }
    }
}
