//! A call that was posted and is awaited: a future for any executor (design note 0022).
//!
//! ```text
//!   post ─▶ POSTED ──▶ LOOKED ──────────▶ AWAKE ───────────────────▶ ASLEEP
//!           wakes      a few looks, and   as the policy says:        the herald wakes it
//!           itself     wakes itself       spins or yields, and
//!                                         wakes itself
//! ```
//!
//! A future that wakes itself is polled again when all that was ready has had its turn: so other
//! calls are posted before anybody spins, yields or sleeps for the first. Where that has just shown
//! that there are none, the next calls of the thread spare themselves the way, but for one in
//! [`AT_ONCE_MAX`]: others may have come, and whatever else is ready is to have its turn.

use std::cell::Cell;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use nearcall_core::turn::{self, Poll as Seen};
use nearcall_core::{Sequence, Step, Waiter, YieldBan};
use nearcall_os::{HeadWords, clock, processor};

use super::call::{is_replied, poll_for_a_while};
use super::pending::{abandon, abandon_unless_replied};
use super::reply::Read;
use crate::client::binding::{ClientBinding, Grip};
use crate::client::deadline::Deadline;
use crate::client::herald::{self, AwaitedCall, Ticket};
use crate::client::switching;
use crate::client::wait::{NoReply, Wait, YIELD_BAN};
use crate::error::CallError;
use crate::server::current;
use crate::spinning;

/// Looks, with others under way on the same thread, before the waiting policy is asked.
const LOOKS_MAX: u32 = 8;

/// Calls in a row for which a thread that had no others looks at once.
const AT_ONCE_MAX: u32 = 16;

/// Between two looks whether a server that has hung up has ended.
const PROOF_SLICE_NS: u64 = 1_000_000;

thread_local! {
    /// The A-stack of the call that this thread has polled last.
    static LATEST: Cell<usize> = const { Cell::new(0) };

    /// So many calls of this thread to come look at once.
    static AT_ONCE: Cell<u32> = const { Cell::new(0) };
}

/// A call that is under way, and evaluates to what the call returns, an error in a box so that both
/// are short. Any thread may poll it.
///
/// Dropping it gives the call up: the server sees it, and the A-stack comes back when the server is
/// done with it (L55). A deadline counts from the post.
///
/// # Cost: while the server is awake no system call, and no allocation.
#[must_use = "await it: its results are what the call was made for"]
pub struct Awaiting<'b, T, E = CallError> {
    call: UnderWay<'b>,
    read: Read<'b, T, E>,
}

/// The words of a reply, and where it lies.
pub(super) type Ended<'b> = (Grip<'b>, HeadWords);

/// A posted call.
#[derive(Debug)]
pub(super) struct UnderWay<'b> {
    binding: &'b ClientBinding,
    /// `None` once it is over.
    grip: Option<Grip<'b>>,
    procedure: u32,
    sequence: Sequence,
    deadline: Deadline,
    stage: Stage<'b>,
}

/// How it waits.
#[derive(Debug)]
enum Stage<'b> {
    /// Nobody has looked: the line is on its way.
    Posted,
    /// So many looks have found nothing.
    Looked(u32),
    Awake(Wakeful<'b>),
    Asleep(Wakeful<'b>, Ticket),
    /// The server has hung up: until then its end may be proven.
    Hung {
        until_ns: u64,
        _ticket: Option<Ticket>,
    },
}

/// A wait as the policy says.
#[derive(Clone, Copy, Debug)]
struct Wakeful<'b> {
    waiter: Waiter<'b>,
    start_ns: u64,
    spin_ns: u32,
}

impl<'b, T, E> Awaiting<'b, T, E> {
    /// The call on this A-stack was posted, and a deadline has begun.
    #[inline(always)]
    pub(super) fn new(
        posted: (Grip<'b>, u32, Deadline),
        read: Read<'b, T, E>,
    ) -> Awaiting<'b, T, E> {
        Awaiting { call: UnderWay::new(posted), read }
    }
}

impl<T, E> Awaiting<'_, T, E> {
    /// How many A-stacks there are for procedures like this one; 0: the call has ended.
    pub(crate) fn astack_count(&self) -> u32 {
        let class = self.call.grip.map(|grip| grip.linkage().class());
        class.map_or(0, |class| self.call.binding.count_of_class(class))
    }

    /// Gives the call up, as dropping it does; what it has evaluated to, if its reply is there.
    pub(crate) fn give_up(mut self) -> Option<Result<T, Box<E>>> {
        let grip = self.call.grip.take()?;
        if !abandon_unless_replied(grip) {
            return None;
        }
        grip.settle_here();
        let words = HeadWords::load(grip.astack.head());
        Some((self.read)(grip, self.call.procedure, words))
    }
}

impl<T, E: From<Box<CallError>>> Future for Awaiting<'_, T, E> {
    type Output = Result<T, Box<E>>;

    #[inline]
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<T, Box<E>>> {
        match self.call.poll(context.waker()) {
            Poll::Pending => Poll::Pending,
            Poll::Ready(Ok((grip, words))) => {
                Poll::Ready((self.read)(grip, self.call.procedure, words))
            }
            Poll::Ready(Err(error)) => Poll::Ready(Err(Box::new(error.into()))),
        }
    }
}

impl<'b> UnderWay<'b> {
    /// The call on this A-stack was posted, and a deadline has begun.
    #[inline(always)]
    pub fn new((grip, procedure, deadline): (Grip<'b>, u32, Deadline)) -> UnderWay<'b> {
        let (binding, sequence) = (grip.binding, grip.linkage().sequence());
        let (grip, stage) = (Some(grip), Stage::Posted);
        UnderWay { binding, grip, procedure, sequence, deadline, stage }
    }

    /// Of what was posted.
    pub fn procedure(&self) -> u32 {
        self.procedure
    }

    /// Of what was posted.
    pub fn deadline(&self) -> Deadline {
        self.deadline
    }

    /// Looks for the reply, and goes on with the wait for it. Not once it has come.
    #[inline(always)]
    pub fn poll(&mut self, waker: &Waker) -> Poll<Result<Ended<'b>, Box<CallError>>> {
        let grip = self.grip.expect("a future is not polled after it was ready");
        let is_alone = self.note_poll();
        let (head, linkage) = (grip.astack.head(), grip.linkage());
        let words = match self.stage {
            Stage::Posted => {
                self.stage = Stage::Looked(0);
                if is_here(grip) || !looks_at_once() {
                    waker.wake_by_ref();
                    return Poll::Pending;
                }
                poll_for_a_while(head, linkage.until_reply(), self.sequence)
            }
            Stage::Looked(0) if is_alone && !is_here(grip) => {
                AT_ONCE.set(AT_ONCE_MAX);
                poll_for_a_while(head, linkage.until_reply(), self.sequence)
            }
            _ => {
                AT_ONCE.set(0);
                HeadWords::load(head)
            }
        };
        let words = match is_replied(words, self.sequence) {
            true => words,
            false => match self.wait(grip, is_alone, waker) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(Some(error)) => return Poll::Ready(Err(error)),
                Poll::Ready(None) => HeadWords::load(head),
            },
        };
        Poll::Ready(Ok(self.end(grip, words)))
    }

    /// Whether no other call was polled on this thread since this one was.
    #[inline]
    fn note_poll(&self) -> bool {
        let own = self.grip.map_or(0, |grip| std::ptr::from_ref(grip.linkage()).addr());
        LATEST.replace(own) == own
    }

    /// The reply is there.
    #[inline(always)]
    fn end(&mut self, grip: Grip<'b>, words: HeadWords) -> Ended<'b> {
        self.grip = None;
        if let Stage::Awake(wakeful) | Stage::Asleep(wakeful, _) = &self.stage
            && !is_here(grip)
        {
            let waited_ns = clock::now_ns() - wakeful.start_ns;
            self.binding.told_wait(self.procedure, wakeful.spin_ns, waited_ns);
        }
        // A ticket is given up.
        self.stage = Stage::Looked(0);
        grip.settle_here();
        (grip, words)
    }

    /// There is no reply yet, or there will be none: why; `None`: it is there.
    #[cold]
    #[inline(never)]
    fn wait(
        &mut self,
        grip: Grip<'b>,
        is_alone: bool,
        waker: &Waker,
    ) -> Poll<Option<Box<CallError>>> {
        // A blocking call of this thread must not wait for an A-stack that only it could give back.
        grip.linkage().set_outstanding(switching::caller_number());
        let wait = self.as_wait(grip);
        let mut has_stepped = false;
        loop {
            match (turn::poll(wait.turn(), self.sequence), self.binding.state.is_open()) {
                (Seen::Replied { .. }, _) => return Poll::Ready(None),
                (Seen::Pending, true) => {}
                (Seen::Pending | Seen::Dead, false) => return self.prove(&wait, waker),
                (Seen::Dead, true) => return self.fail(grip, wait.wrong(turn::read(wait.turn()))),
                (Seen::Wrong(seen), _) => return self.fail(grip, wait.wrong(seen)),
            }
            if let Stage::Asleep(wakeful, ticket) = &self.stage {
                if ticket.is_valid_for(waker) {
                    return Poll::Pending;
                }
                self.stage = Stage::Awake(*wakeful);
            }
            if has_stepped {
                waker.wake_by_ref();
                return Poll::Pending;
            }
            has_stepped = true;
            match self.step(&wait, is_alone, waker) {
                // What it was done for may be there now.
                Next::Look => {}
                Next::Wait => return Poll::Pending,
                Next::GiveUp => {
                    if let Err(no_reply) = wait.give_up_late() {
                        return self.fail(grip, no_reply);
                    }
                }
            }
        }
    }

    /// Does what the policy says.
    fn step(&mut self, wait: &Wait<'b>, is_alone: bool, waker: &Waker) -> Next {
        if let Stage::Looked(looks) = &mut self.stage
            && !is_alone
            && !wait.same_processor
            && *looks < LOOKS_MAX
        {
            *looks += 1;
            waker.wake_by_ref();
            return Next::Wait;
        }
        let now_ns = clock::now_ns();
        let mut ban = YIELD_BAN.get();
        let mut wakeful = match &self.stage {
            Stage::Awake(wakeful) => *wakeful,
            _ => self.begin(wait, now_ns, &mut ban),
        };
        let shared_ns = wakeful.waiter.shared_ns();
        let step = wakeful.waiter.next(|| now_ns, wait.same_processor);
        let next = match step {
            Step::Spin { polls } => match spinning::begin() {
                Some(spinner) => {
                    if is_alone {
                        let waiter = &mut wakeful.waiter;
                        wait.spin(spinning::share(polls, waiter, &mut ban));
                    }
                    let shared_ns = wakeful.waiter.shared_ns() - shared_ns;
                    spinner.end((clock::now_ns() - now_ns).saturating_sub(shared_ns));
                    Next::Look
                }
                None => Next::Wait,
            },
            Step::Yield => {
                processor::yield_now();
                wakeful.waiter.told_yield(&mut ban, clock::now_ns() - now_ns);
                Next::Look
            }
            Step::Sleep { .. } => Next::Wait,
            Step::GiveUp => Next::GiveUp,
        };
        YIELD_BAN.set(ban);
        self.stage = Stage::Awake(wakeful);
        match next {
            Next::Wait => self.sleep(wait, wakeful, waker),
            next => next,
        }
    }

    fn begin(&self, wait: &Wait<'b>, now_ns: u64, ban: &mut YieldBan) -> Wakeful<'b> {
        let spin_ns = self.binding.spin_ns(self.procedure);
        let mut waiter = Waiter::new(&self.binding.policy, ban, spin_ns);
        if self.deadline.ns != 0 {
            waiter = waiter.until(wait.grip.until_ns(self.sequence, self.deadline));
        }
        Wakeful { waiter, start_ns: now_ns, spin_ns }
    }

    /// Has the herald wake it.
    fn sleep(&mut self, wait: &Wait<'b>, wakeful: Wakeful<'b>, waker: &Waker) -> Next {
        if !wait.is_dozing() && turn::doze(wait.turn(), self.sequence).is_err() {
            return Next::Look;
        }
        current::call_for_relief();
        let index = wait.grip.linkage().index;
        let binding = self.binding.downgraded().upgrade().expect("what is borrowed is there");
        let call = AwaitedCall::new(binding, index, self.sequence);
        let until_ns = wait.grip.until_ns(self.sequence, self.deadline);
        match herald::wake(waker, Some(call), until_ns) {
            Some(ticket) => self.stage = Stage::Asleep(wakeful, ticket),
            None => return Next::Look,
        }
        Next::Wait
    }

    /// The server has hung up. What became of the call is known once it is known whether the server
    /// has ended, and nobody waits for that here.
    fn prove(&mut self, wait: &Wait<'b>, waker: &Waker) -> Poll<Option<Box<CallError>>> {
        // As in `revoke`: before anything is buried.
        self.binding.control.hang_up();
        turn::bury(wait.turn(), self.sequence);
        if let Seen::Replied { .. } = turn::poll(wait.turn(), self.sequence) {
            return Poll::Ready(None);
        }
        let now_ns = clock::now_ns();
        let until_ns = match self.stage {
            Stage::Hung { until_ns, .. } => until_ns,
            _ => now_ns.saturating_add(wait.proof_ns()),
        };
        let has_ended = self.binding.process.has_exited();
        let is_told = self.binding.was_revoked_by_peer(Duration::ZERO);
        if has_ended || is_told || until_ns <= now_ns {
            return self.fail(wait.grip, wait.classify_by(has_ended));
        }
        let ticket = herald::wake(waker, None, until_ns.min(now_ns + PROOF_SLICE_NS));
        if ticket.is_none() {
            waker.wake_by_ref();
        }
        self.stage = Stage::Hung { until_ns, _ticket: ticket };
        Poll::Pending
    }

    fn fail(&mut self, grip: Grip<'b>, no_reply: NoReply) -> Poll<Option<Box<CallError>>> {
        self.grip = None;
        self.stage = Stage::Looked(0);
        Poll::Ready(Some(match no_reply {
            NoReply::Captured(error) => {
                grip.capture(self.sequence);
                error
            }
            NoReply::Lost(error) => error,
        }))
    }

    fn as_wait(&self, grip: Grip<'b>) -> Wait<'b> {
        let (procedure, sequence, deadline) = (self.procedure, self.sequence, self.deadline);
        Wait { grip, procedure, sequence, deadline, same_processor: is_here(grip) }
    }
}

/// Whether a call that was just posted is most likely the only one of this thread.
#[inline]
fn looks_at_once() -> bool {
    let left = AT_ONCE.get();
    AT_ONCE.set(left.saturating_sub(1));
    left > 0
}

/// What to do after a step.
enum Next {
    Look,
    Wait,
    GiveUp,
}

/// The server has replied from this processor.
#[inline(always)]
fn is_here(grip: Grip<'_>) -> bool {
    processor::current() == grip.linkage().server_processor()
}

impl Drop for UnderWay<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        if let Some(grip) = self.grip.take() {
            // The ticket first: nobody is to be told of what is given up.
            self.stage = Stage::Looked(0);
            abandon(grip);
        }
    }
}

impl<T, E> fmt::Debug for Awaiting<'_, T, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Awaiting").field("call", &self.call).finish_non_exhaustive()
    }
}
