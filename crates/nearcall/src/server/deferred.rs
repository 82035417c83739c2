//! Calls that are set aside (design note 0022): whoever holds one reads its arguments and replies,
//! on any thread. For servers whose procedures are awaited by what is no executor of Rust's, and
//! for calls for batches whose iterator another call is in (design note 0020).
//!
//! ```text
//!   take ─▶ entry stub: Arguments::defer ─▶ the processor takes other calls
//!                            │
//!                            ▼ Deferred
//!           an event loop ── read: arguments ── … ── reply: results, the A-stack is the client's
//! ```
//!
//! To its client such a call is one that was claimed and takes long, as a suspended one is.

use std::cell::Cell;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use nearcall_os::segment::Segment;

use super::current::{self, CurrentCall, current_call};
use super::feeds::source::Asker;
use super::run;
use crate::raw::{Arguments, Malformed, Outcome, Refusal, Replied, ServedCall};

/// Not the number of a feed.
const NO_FEED: u64 = 0;

thread_local! {
    /// This thread enters the procedure of a call again that was set aside for this feed's batch.
    static AGAIN_FOR: Cell<u64> = const { Cell::new(NO_FEED) };
}

/// A call that was set aside. Dropped without a reply, it is to its client what a procedure is that
/// has panicked.
pub struct Deferred {
    call: CurrentCall,
    message_bytes: u32,
    /// The feed whose batch it waits for, or none.
    feed: u64,
    /// The segment that its arguments lie in, if they are out of line.
    request: Option<Arc<Segment>>,
    is_replied: bool,
}

/// Sets `call` aside, and gives it to `keep`. Its variable part begins at byte `variable_at`, if it
/// has one; what of it the client has not copied yet is waited for, so that nobody waits later.
pub(crate) fn set_aside(
    call: &ServedCall<'_>,
    variable_at: Option<usize>,
    keep: impl FnOnce(Deferred),
) -> Outcome {
    if let Some(at) = variable_at {
        wait_for_all(call, at).map_err(Box::<Refusal>::from)?;
    }
    keep(Deferred::new(call, NO_FEED)?);
    Ok(Replied::LATER)
}

/// Waits until the client has copied all of its arguments.
fn wait_for_all(call: &ServedCall<'_>, at: usize) -> Result<(), Malformed> {
    let arguments = Arguments::new(call);
    arguments.variable_at(at)?.wait_for_all()
}

/// A batch of `feed` is asked for on this thread.
///
/// # Errors: the call was set aside for another one's.
pub(super) fn expect_same(feed: u64) -> Result<(), Box<Refusal>> {
    match AGAIN_FOR.get() {
        NO_FEED => Ok(()),
        again_for if again_for == feed => Ok(()),
        // As it is from here on: its call is refused.
        _ => Err(Box::new(Refusal::FeedOver)),
    }
}

/// What a call is told on this thread that asks for a batch of `feed`, which is not open.
pub(super) fn not_open(feed: u64) -> Box<Refusal> {
    match AGAIN_FOR.get() {
        NO_FEED => Malformed::Feed { feed }.into(),
        // It was open when the call came.
        _ => Box::new(Refusal::FeedOver),
    }
}

impl Deferred {
    /// `call`, which this thread serves, and which may wait for a batch of `feed`. All of its
    /// arguments are there.
    ///
    /// # Errors: its binding is over; or it was set aside before.
    pub(super) fn new(call: &ServedCall<'_>, feed: u64) -> Result<Deferred, Box<Refusal>> {
        if AGAIN_FOR.get() != NO_FEED {
            return Err(Box::new(Refusal::FeedOver));
        }
        let current = current_call().ok_or_else(|| Box::new(Refusal::Ended))?;
        let (message_bytes, request) = (call.message_bytes, call.request().cloned());
        Ok(Deferred { call: current, message_bytes, feed, request, is_replied: false })
    }

    /// Enters its procedure again, on this thread, which serves no call. It finds items, or that
    /// there are no more, unless its client has changed its message, or has posted another call on
    /// its A-stack. That one is not begun here, where nobody judges whether its user may keep one
    /// more processor (design note 0016), and nobody will ask for the items.
    pub(super) fn run_again(self) {
        let (call, feed) = (self.call.clone(), self.feed);
        // Relaxed: the call was set aside before it came here.
        let procedure = self.served().astack.record().awaited_procedure.load(Relaxed);
        call.enter();
        AGAIN_FOR.set(feed);
        self.reply(|arguments| {
            let entered = match call.binding.brings_items(procedure) {
                true => call.binding.entries.enter(procedure as usize, arguments),
                false => Err(Box::new(Refusal::FeedOver)),
            };
            entered.inspect_err(|_| call.binding.feeds.close(feed))
        });
        AGAIN_FOR.set(NO_FEED);
        current::leave_call();
    }

    /// Reads its arguments; once, as what is read twice may have changed.
    pub fn read<T>(&self, read: impl FnOnce(Arguments<'_>) -> T) -> T {
        read(Arguments::new(&self.served()))
    }

    /// Replies with what `finish` puts in place. In the child of a fork(2) to nobody.
    ///
    /// # Cost: one futex wake if the client sleeps.
    pub fn reply(mut self, finish: impl FnOnce(Arguments<'_>) -> Outcome) {
        self.is_replied = true;
        self.end(Some(finish));
    }

    /// What there is to know of it.
    pub fn current(&self) -> &CurrentCall {
        &self.call
    }

    fn served(&self) -> ServedCall<'_> {
        let binding = &*self.call.binding;
        let call = ServedCall::new(binding, binding.astack(self.call.index), self.message_bytes);
        if let Some(segment) = &self.request {
            call.set_whole_request(Arc::clone(segment));
        }
        call
    }

    fn end(&self, finish: Option<impl FnOnce(Arguments<'_>) -> Outcome>) {
        let domain = self.call.domain.upgrade();
        if domain.as_ref().is_some_and(|domain| domain.is_forked()) {
            // The reply is the parent's, whose locks may be held here for good.
            return;
        }
        run::reply_later(self.served(), self.call.sequence, finish);
        let binding = &self.call.binding;
        // Opening a feed may have read from the socket what is housekeeping's: a thread that is no
        // processor of the domain's has told nobody.
        if let Some(domain) = domain.filter(|_| binding.has_queued()) {
            domain.housekeeping.attend_again(binding.token);
        }
    }
}

/// A call for a batch, that another one than who runs it may answer.
impl Asker for Deferred {
    fn enter_again(self: Box<Self>) {
        if let Some(domain) = self.call.domain.upgrade() {
            domain.processors.have_again(*self);
        }
    }

    fn end(self: Box<Self>) {
        let refusal = self.call.binding.feeds.or_over(Box::new(Refusal::FeedOver));
        self.reply(|_| Err(refusal));
    }

    fn leave(mut self: Box<Self>) {
        self.is_replied = true;
    }

    fn is_cancelled(&self) -> bool {
        self.call.is_cancelled()
    }
}

impl Drop for Deferred {
    fn drop(&mut self) {
        if !self.is_replied {
            self.end(None::<fn(Arguments<'_>) -> Outcome>);
        }
    }
}

impl fmt::Debug for Deferred {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Deferred").field("call", &self.call).finish_non_exhaustive()
    }
}
