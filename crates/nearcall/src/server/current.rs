//! What the running thread is in the middle of: the call that it serves, if it is a server
//! processor. Procedures ask who calls and how long they wait; a nested call that is about to sleep
//! has its own domain watched by somebody else (L22, design note 0003).

use std::cell::{Cell, RefCell};
use std::fmt;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use nearcall_abi::head::flag;
use nearcall_core::{RevokeReason, Sequence, turn};
use nearcall_os::shown::{self, Shown};
use nearcall_os::thread_pointer::thread_pointer;
use nearcall_os::{clock, forks};

use super::binding::ServerBinding;
use super::estacks;
use super::feeds::makers::MakingTurn;
use super::importer::Importer;
use super::table::Snapshot;
use super::told::{Cancelled, Ending};
use crate::domain::DomainCore;

/// Serves no call.
pub(super) const NONE: u64 = 0;

/// The call that it serves has no deadline.
pub(super) const NEVER_NS: u64 = 0;

thread_local! {
    static DOMAIN: RefCell<Weak<DomainCore>> = const { RefCell::new(Weak::new()) };
    static SNAPSHOT: RefCell<Arc<Snapshot>> = RefCell::default();
    static NUMBER: Cell<u64> = const { Cell::new(0) };
    static HAS_ENTERED: Cell<bool> = const { Cell::new(false) };
    /// Shown to others, who ask whose calls keep processors: written as a cell would be.
    static BINDING: AtomicU64 = const { AtomicU64::new(NONE) };
    /// Of the call that it serves, if it serves one.
    static ASTACK: Cell<u32> = const { Cell::new(0) };
    /// When the client of that call stops waiting, on this domain's clock.
    static UNTIL_NS: Cell<u64> = const { Cell::new(NEVER_NS) };
}

/// How often threads are within calls whose clients wait only so long. In a line of its own: brief
/// calls look at it.
#[repr(align(64))]
struct Within(AtomicU32);

static WITHIN: Within = Within(AtomicU32::new(0));

/// What [`UNTIL_NS`] was, and is again when this is dropped; and whether that is counted.
struct Until {
    before_ns: u64,
    is_counted: bool,
}

/// A call, as the procedure that serves it sees its client. Other threads may ask it too; once the
/// call has returned it says that the call is cancelled.
#[derive(Clone)]
pub struct CurrentCall {
    pub(super) binding: Arc<ServerBinding>,
    pub(super) index: u32,
    pub(super) sequence: Sequence,
    until_ns: u64,
    pub(super) domain: Weak<DomainCore>,
    /// It is in an iterator, whose items may go to another call since.
    making: Option<MakingTurn>,
}

/// The call that this thread serves; `None` outside of a procedure.
///
/// # Cost: one look-up in a table of bindings, and one among the iterators that calls of its domain
/// are in, under a lock, if there are any; ask once a call.
pub fn current_call() -> Option<CurrentCall> {
    let binding = served_binding()?;
    let index = ASTACK.get();
    let sequence = binding.claimed(index);
    let domain = DOMAIN.with_borrow(Weak::clone);
    let making = domain.upgrade().and_then(|domain| domain.processors.makers.of_this_thread());
    Some(CurrentCall { binding, index, sequence, until_ns: UNTIL_NS.get(), domain, making })
}

impl CurrentCall {
    /// Who made it.
    pub fn importer(&self) -> &Arc<Importer> {
        &self.binding.importer
    }

    /// Who has introduced the importer, which was admitted for that; `None`: it came by the name. A
    /// server that decides itself what a user may do decides by both: a giver has others call what
    /// it gives them in their own name.
    pub fn giver(&self) -> Option<&Arc<Importer>> {
        self.binding.introducer.as_ref().map(|introducer| &introducer.giver)
    }

    /// Number of the processor that it was posted from: what its client says, a hint.
    pub fn client_processor(&self) -> u32 {
        let head = self.binding.astack(self.index).head();
        // Relaxed: a hint. What the client wrote before it posted is there to be seen.
        head.origin.load(Ordering::Relaxed) & flag::PROCESSOR
    }

    /// How long its client still waits; `None`: as long as it takes. Calls that the procedure makes
    /// have no more time than that by themselves.
    ///
    /// # Cost: a look at the clock.
    pub fn time_left(&self) -> Option<Duration> {
        let left_ns = || self.until_ns.saturating_sub(clock::now_ns());
        (self.until_ns != NEVER_NS).then(|| Duration::from_nanos(left_ns()))
    }

    /// Its client has given it up, or has gone: nobody will see its results. A procedure that takes
    /// long asks now and then, and returns early; nothing forces it to (L54). In a feed's iterator
    /// it is the feed that was given up, or the call that waits for its items now.
    ///
    /// # Cost: two loads, one of them of a line that the client may have; in an iterator a lock.
    pub fn is_cancelled(&self) -> bool {
        if let Some((making, turn)) = &self.making {
            return making.is_over(*turn) || self.is_client_gone();
        }
        let is_over = self.binding.claimed(self.index) != self.sequence;
        let astack = self.binding.astack(self.index);
        is_over || turn::is_given_up(&astack.head().turn, self.sequence) || self.is_client_gone()
    }

    /// Waits until it is cancelled, for a procedure that is awaited and goes on with something that
    /// takes long: within 20 ms of its client's giving it up or end, or when it has returned.
    ///
    /// ```
    /// # async fn procedure() {
    /// let call = nearcall::current_call().expect("this is a procedure");
    /// call.cancelled().await;
    /// println!("nobody waits for the results any more");
    /// # }
    /// ```
    ///
    /// # Cost: a look at it every 10 ms by the thread that keeps house, which is woken by the first
    /// that waits. What is over sooner, and was not polled, costs nothing.
    pub fn cancelled(&self) -> Cancelled {
        Cancelled::of(self.clone())
    }

    /// Its server ends: the clerk that has exported its interface has gone, or its domain is being
    /// shut down. An orderly end waits for it, and its results still arrive, if its client is there
    /// to have them. A procedure that takes long asks now and then, and returns early if it can;
    /// nothing forces it to.
    ///
    /// ```
    /// # fn piece_of_work() {}
    /// # fn procedure() -> bool {
    /// let call = nearcall::current_call().expect("this is a procedure");
    /// for _ in 0..1_000 {
    ///     if call.is_cancelled() || call.is_ending() {
    ///         return false;
    ///     }
    ///     piece_of_work();
    /// }
    /// true
    /// # }
    /// ```
    ///
    /// # Cost: a load, unless its binding is revoked.
    pub fn is_ending(&self) -> bool {
        match self.binding.state.reason() {
            None => false,
            Some(RevokeReason::ShutDown) => true,
            // It was revoked for something else before.
            Some(_) => self.has_server_ended(),
        }
    }

    fn has_server_ended(&self) -> bool {
        let has_clerk = self.binding.clerk.upgrade().is_some_and(|clerk| !clerk.is_withdrawn());
        !has_clerk || self.domain.upgrade().is_none_or(|domain| domain.is_ending())
    }

    /// Waits until its server ends, for a procedure that is awaited and goes on with something that
    /// takes long.
    ///
    /// Where the domain is shut down, it is polled once more: it returns then, or is dropped at
    /// what it awaits next. One that needs longer has it while only its clerk is dropped. In a
    /// domain that has broken off ([`Domain::failure`](crate::Domain::failure)) it is dropped; in a
    /// child of fork(2) nothing is waited for.
    ///
    /// ```
    /// # async fn procedure() {
    /// let call = nearcall::current_call().expect("this is a procedure");
    /// call.ending().await;
    /// println!("the results that there are by now");
    /// # }
    /// ```
    ///
    /// # Cost: an entry in a table. Whoever ends the server wakes it. It keeps the binding, and
    /// what that has mapped and open charged to the client's user, until it is dropped: a task of
    /// a program's own that waits for it is to end with its call.
    pub fn ending(&self) -> Ending {
        Ending::of(self.clone())
    }

    /// Does `work`, whose calls have no more time than this one by themselves (L54): for who goes
    /// on with a procedure elsewhere than where it began. Brief calls of stubs in C (design note
    /// 0026) do not ask, nor is it known of other FastThreads of the same kernel thread.
    ///
    /// # Cost: while a thread is within a call whose client waits only so long, no call of a stub
    /// in Rust is brief in this process.
    pub fn within<T>(&self, work: impl FnOnce() -> T) -> T {
        let is_counted = self.until_ns != NEVER_NS;
        if is_counted {
            // Relaxed: a thread that is within sees its own count; others may see it or not.
            WITHIN.0.fetch_add(1, Ordering::Relaxed);
        }
        let _before = Until { before_ns: UNTIL_NS.replace(self.until_ns), is_counted };
        work()
    }

    /// This thread goes on with it.
    pub(super) fn enter(&self) {
        enter_call(self.binding.key, self.index);
        UNTIL_NS.set(self.until_ns);
    }

    /// Its domain, if that is there; not a parent's, whose locks may be held in a child for good.
    pub(super) fn own_domain(&self) -> Option<Arc<DomainCore>> {
        self.domain.upgrade().filter(|domain| !domain.is_forked())
    }

    /// Its client has ended, has given the binding up, or broke the protocol.
    pub fn is_client_gone(&self) -> bool {
        self.binding.state.reason().is_some_and(|reason| !reason.is_orderly())
    }
}

impl fmt::Debug for CurrentCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("CurrentCall");
        shown.field("binding", &self.binding).field("index", &self.index);
        shown.field("sequence", &self.sequence).finish_non_exhaustive()
    }
}

impl Drop for Until {
    fn drop(&mut self) {
        UNTIL_NS.set(self.before_ns);
        if self.is_counted {
            // Relaxed: as where it was counted.
            WITHIN.0.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

/// This thread is a processor of `domain` from now on, by this number; 0: it never watches. What
/// clients keep for a thread that had its thread pointer before, they keep no more: biases know a
/// processor by another number.
pub(crate) fn enter_domain(domain: Weak<DomainCore>, number: u64) {
    DOMAIN.set(domain);
    NUMBER.set(number);
    HAS_ENTERED.set(true);
    // Last: what is told may run anybody's code, or end a domain, as a processor does.
    thread_pointer().into_iter().for_each(forks::disinherit);
}

/// Does `work`, whatever a processor does, and shows meanwhile whose call that is.
pub(crate) fn shown<T>(told: impl FnOnce(Shown), work: impl FnOnce() -> T) -> T {
    shown::show(&BINDING, told, work)
}

#[inline]
fn served_key() -> u64 {
    // Relaxed: this thread's own.
    BINDING.with(|key| key.load(Ordering::Relaxed))
}

#[inline]
fn set_served(key: u64) {
    // Relaxed: as above; to others it is a hint.
    BINDING.with(|served| served.store(key, Ordering::Relaxed));
}

/// By which number this thread is a processor of its domain.
pub(crate) fn number() -> u64 {
    NUMBER.get()
}

/// The binding whose call this thread serves.
pub(crate) fn served_binding() -> Option<Arc<ServerBinding>> {
    let key = served_key();
    let found = SNAPSHOT.with_borrow(|snapshot| snapshot.binding(key).cloned());
    found.or_else(|| estacks::served_binding(key))
}

/// This thread runs calls of the bindings in `snapshot` from now on, also of one that has gone
/// since.
pub(crate) fn serve_from(snapshot: &Arc<Snapshot>) {
    SNAPSHOT.set(Arc::clone(snapshot));
}

/// This thread runs a call of the binding with this key, on A-stack `index`.
#[inline]
pub(crate) fn enter_call(key: u64, index: u32) {
    ASTACK.set(index);
    set_served(key);
}

/// The call that this thread is about to run has a deadline.
pub(crate) fn set_time_left(left_ns: u64) {
    UNTIL_NS.set(clock::now_ns().saturating_add(left_ns));
}

/// The client of the call that this thread goes on with stops waiting then.
pub(crate) fn set_until(until_ns: Option<u64>) {
    UNTIL_NS.set(until_ns.unwrap_or(NEVER_NS));
}

/// This thread has run it.
#[inline]
pub(crate) fn leave_call() {
    set_served(NONE);
    UNTIL_NS.set(NEVER_NS);
}

/// The same of a call that had no deadline.
#[inline]
pub(crate) fn leave_usual_call() {
    set_served(NONE);
}

/// When the client of the call that this thread serves stops waiting; `None`: never, or it serves
/// none.
///
/// # Cost: one load.
#[inline(always)]
pub(crate) fn until_ns() -> Option<u64> {
    let until_ns = UNTIL_NS.get();
    (until_ns != NEVER_NS).then_some(until_ns)
}

/// The same for a call that may have another time to look at, `passed_ns`: some time if there is
/// either, and which is for the caller to say.
///
/// # Cost: one load, and one instruction more.
#[inline(always)]
pub(crate) fn until_ns_or(passed_ns: u64) -> Option<u64> {
    let until_ns = UNTIL_NS.get() | passed_ns;
    (until_ns != NEVER_NS).then_some(until_ns)
}

/// Whether any thread of this process may be [within](CurrentCall::within) a call whose client
/// waits only so long: the calls that it makes have its time.
///
/// # Cost: one load of a line that only those write.
#[inline(always)]
pub(crate) fn is_anybody_within() -> bool {
    // Relaxed: as where it is counted.
    WITHIN.0.load(Ordering::Relaxed) != 0
}

/// If this thread runs a call, it is about to sleep in it: somebody else is to watch.
pub(crate) fn call_for_relief() {
    if served_key() != NONE
        && let Some(domain) = domain()
    {
        domain.processors.announce();
    }
}

/// Housekeeping is to look at what was read from the socket of the binding with this token.
pub(crate) fn have_attended(token: u64) {
    if let Some(domain) = domain() {
        domain.housekeeping.attend_again(token);
    }
}

/// Whether this thread is a server processor, or was one of a domain that has gone.
pub(crate) fn has_entered_domain() -> bool {
    HAS_ENTERED.get()
}

/// Whether this thread is a server processor.
pub(crate) fn is_processor() -> bool {
    DOMAIN.with_borrow(|domain| domain.strong_count() > 0)
}

/// The domain that this thread is a processor of.
pub(crate) fn domain() -> Option<Arc<DomainCore>> {
    DOMAIN.with_borrow(Weak::upgrade)
}
