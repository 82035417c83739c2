//! Waiting for a reply: poll, then yield or spin, then sleep (DESIGN 5). The decisions are
//! `nearcall_core::waiting`'s; here they are carried out.

use std::cell::Cell;
use std::sync::atomic::AtomicU32;
use std::time::Duration;

use nearcall_abi::ProcedureName;
use nearcall_core::termination::{Outcome, Proof, classify};
use nearcall_core::turn::{self, Poll};
use nearcall_core::waiting::yield_share_ns;
use nearcall_core::{PeerFault, Phase, RevokeReason, Sequence, Step, TurnWord, Waiter, YieldBan};
use nearcall_os::peer::Life;
use nearcall_os::{clock, futex, processor};

use super::binding::{ClientBinding, Grip, was_claimed};
use super::deadline::{Deadline, left_ns};
use super::{cancellation, interrupt, switching};
use crate::error::{CallError, NotExecuted};
use crate::server::current;
use crate::spinning::{self, Spinner};

/// After a hang-up, how long a call waits for the proof that its server has ended, unless its
/// deadline is sooner. A server that was killed ends within a millisecond, on a crowded machine
/// within tens of them.
const PROOF_TIMEOUT: Duration = Duration::from_secs(1);

thread_local! {
    pub(crate) static YIELD_BAN: Cell<YieldBan> = const { Cell::new(YieldBan::NONE) };
}

/// One wait for one reply.
pub(crate) struct Wait<'b> {
    pub grip: Grip<'b>,
    pub procedure: u32,
    pub sequence: Sequence,
    pub deadline: Deadline,
    pub same_processor: bool,
}

/// The call has no reply. Boxed, so that what comes of a wait fits into registers.
#[derive(Debug)]
pub(crate) enum NoReply {
    /// It was given up while the server may still hold the A-stack.
    Captured(Box<CallError>),
    /// The A-stack is nobody's any more: the binding is gone.
    Lost(Box<CallError>),
}

impl Wait<'_> {
    /// Waits until the reply is there.
    #[inline]
    pub fn finish(&self) -> Result<(), NoReply> {
        if let Some(outcome) = switching::finish(self) {
            return outcome;
        }
        if self.same_processor && self.is_replied_here() {
            return Ok(());
        }
        self.finish_alone()
    }

    /// The same for a kernel thread. Apart, because a FastThread that waits has all its frames in
    /// nobody's cache when it goes on: the fewer lines of stack, the better.
    #[cold]
    #[inline(never)]
    fn finish_alone(&self) -> Result<(), NoReply> {
        let binding = self.grip.binding;
        let mut ban = YIELD_BAN.get();
        let start = clock::ticks();
        let mut spinner = (!self.same_processor).then(spinning::begin).flatten();
        let spin_ns = binding.spin_ns(self.procedure);
        let may_spin_ns = if spinner.is_some() { spin_ns } else { 0 };
        let mut waiter = Waiter::new(&binding.policy, &mut ban, may_spin_ns);
        if self.deadline.ns != 0 {
            waiter = waiter.until(self.grip.until_ns(self.sequence, self.deadline));
        }
        let mut slices = 0u32;
        let mut now = start;
        let outcome = loop {
            match waiter.next(clock::now_ns, self.same_processor) {
                Step::Spin { polls } => {
                    self.spin(spinning::share(polls, &mut waiter, &mut ban));
                }
                Step::Yield => {
                    processor::yield_now();
                    let after = clock::ticks();
                    let took_ns = clock::ticks_ns(after.saturating_sub(now));
                    waiter.told_yield(&mut ban, self.yield_share_ns(took_ns));
                    now = after;
                }
                Step::Sleep { slice_ns } => {
                    end_spinning(&mut spinner, || clock::ns_since(start), &waiter);
                    if cancellation::is_cancelled() {
                        break self.give_up_cancelled(clock::ns_since(start));
                    }
                    self.call_for_relief(slices);
                    slices = slices.saturating_add(1);
                    self.sleep(slice_ns);
                    if turn::poll(self.turn(), self.sequence) == Poll::Pending
                        && let Some(ended) = self.look_whether_ended()
                    {
                        break ended;
                    }
                    if interrupt::is_interrupted() {
                        break self.give_up_cancelled(clock::ns_since(start));
                    }
                }
                Step::GiveUp => break self.give_up_late(),
            }
            match turn::poll(self.turn(), self.sequence) {
                Poll::Pending => {}
                Poll::Replied { .. } => break Ok(()),
                Poll::Dead if self.grip.binding.state.is_open() => {
                    break Err(self.wrong(turn::read(self.turn())));
                }
                Poll::Dead => break self.classify(),
                Poll::Wrong(seen) => break Err(self.wrong(seen)),
            }
        };
        YIELD_BAN.set(ban);
        if !self.same_processor {
            let waited_ns = clock::ns_since(start);
            end_spinning(&mut spinner, || waited_ns, &waiter);
            binding.told_wait(self.procedure, spin_ns, waited_ns);
        }
        outcome
    }

    /// On the server's processor: the reply is there, or comes with one yield that is not timed.
    /// Apart from what waits on, which has much to save first.
    #[inline]
    fn is_replied_here(&self) -> bool {
        let mut ban = YIELD_BAN.get();
        // Whom the ring has woken may have had the processor in the middle of it.
        if self.is_replied() {
            ban.pass();
            YIELD_BAN.set(ban);
            return true;
        }
        let may_yield = ban.may_yield_untimed(&self.grip.binding.policy);
        YIELD_BAN.set(ban);
        if !may_yield {
            return false;
        }
        processor::yield_now();
        self.is_replied()
    }

    #[inline]
    fn is_replied(&self) -> bool {
        matches!(turn::poll(self.turn(), self.sequence), Poll::Replied { .. })
    }

    /// What a yield counts for that took so long: others may call beside this thread, by turns.
    fn yield_share_ns(&self, took_ns: u64) -> u64 {
        match took_ns > self.grip.binding.policy.yield_ns_max.into() {
            true => yield_share_ns(took_ns, self.most_callers()),
            false => took_ns,
        }
    }

    /// How many have called over this binding at once, at most: lists are last in, first out, so
    /// that no more of a class's A-stacks were ever used.
    #[cold]
    fn most_callers(&self) -> u32 {
        let regions = self.grip.binding.regions();
        let astacks = regions.flat_map(|region| region.region.astacks());
        astacks.filter(|astack| astack.record().sequence() != Sequence::ZERO).count() as u32
    }

    pub fn turn(&self) -> &AtomicU32 {
        &self.grip.astack.head().turn
    }

    pub fn spin(&self, polls: u32) {
        for _ in 0..polls {
            if turn::poll(self.turn(), self.sequence) != Poll::Pending {
                return;
            }
            processor::relax();
        }
    }

    /// About to sleep for the n-th time. At first only because we ourselves may be the processor
    /// that another caller waits for; after a slice in which nobody took the call, because the
    /// server may be stuck in a procedure, or our bell may have been lost. The procedure that it is
    /// stuck in may be this call's, and then it is others of its binding that nobody takes, and
    /// nobody waits for.
    fn call_for_relief(&self, slices: u32) {
        if slices == 0 {
            current::call_for_relief();
        } else if !self.was_claimed() || self.grip.binding.has_unclaimed() {
            self.grip.binding.ring_again(slices);
        }
    }

    fn sleep(&self, slice_ns: u64) {
        if turn::doze(self.turn(), self.sequence).is_err() {
            return;
        }
        let asleep = TurnWord::new(self.sequence, Phase::PostedAsleep).0;
        let slice = cancellation::slice(Duration::from_nanos(slice_ns));
        futex::wait(self.turn(), asleep, slice);
        // Whatever is there instead is seen by the poll that follows.
        let _ = turn::rouse(self.turn(), self.sequence);
    }

    /// After a slice of sleep: housekeeping buries outstanding calls when the server ends, but a
    /// call posted after that is buried here.
    pub(super) fn look_whether_ended(&self) -> Option<Result<(), NoReply>> {
        if !self.grip.binding.has_ended() {
            return None;
        }
        // As in `revoke`: before anything is buried.
        self.grip.binding.control.hang_up();
        turn::bury(self.turn(), self.sequence);
        match turn::poll(self.turn(), self.sequence) {
            Poll::Replied { .. } => Some(Ok(())),
            _ => Some(self.classify()),
        }
    }

    /// Aborts the call, whose deadline has passed.
    pub fn give_up_late(&self) -> Result<(), NoReply> {
        self.give_up(self.deadline.ns, false)
    }

    /// Aborts the call, which was waited for so long until it was cancelled.
    pub fn give_up_cancelled(&self, waited_ns: u64) -> Result<(), NoReply> {
        self.give_up(waited_ns, true)
    }

    fn give_up(&self, waited_ns: u64, was_cancelled: bool) -> Result<(), NoReply> {
        match turn::abort(self.turn(), self.sequence) {
            Ok(()) => {
                // If nobody has claimed it yet, the server is to look, so that we get it back.
                self.grip.binding.ring();
                let deadline = Duration::from_nanos(waited_ns);
                let procedure = self.name();
                let incarnation = self.grip.binding.incarnation;
                let error =
                    CallError::CallAborted { procedure, deadline, was_cancelled, incarnation };
                Err(NoReply::Captured(Box::new(error)))
            }
            Err(Poll::Replied { .. }) => Ok(()),
            Err(Poll::Dead) => self.classify(),
            Err(Poll::Wrong(seen)) => Err(self.wrong(seen)),
            Err(Poll::Pending) => unreachable!("a pending call can be aborted"),
        }
    }

    /// The call is buried: whether it ran is what the server has said, or what the claim word says
    /// (DESIGN 8).
    pub(super) fn classify(&self) -> Result<(), NoReply> {
        let timeout = Duration::from_nanos(self.proof_ns());
        let binding = self.grip.binding;
        let is_told = binding.was_revoked_by_peer(timeout);
        Err(self.classify_by(!is_told && switching::wait_exit(&binding.process, timeout)))
    }

    /// How long the proof of the server's end may take.
    pub fn proof_ns(&self) -> u64 {
        let left_ns = left_ns(self.grip.until_ns(self.sequence, self.deadline));
        left_ns.min(PROOF_TIMEOUT.as_nanos() as u64)
    }

    /// The same, when it is known whether the server has ended.
    pub fn classify_by(&self, has_ended: bool) -> NoReply {
        let procedure = self.name();
        let proof = match has_ended {
            _ if self.grip.binding.was_revoked_by_peer(Duration::ZERO) => Proof::Revoked,
            true => Proof::Died,
            false => Proof::HungUp,
        };
        // Read after the proof: a dead server claims nothing more.
        let was_claimed = self.was_claimed();
        let dead = TurnWord::new(self.sequence, Phase::Dead);
        NoReply::Lost(Box::new(match classify(dead, self.sequence, was_claimed, proof) {
            Outcome::NotExecuted => {
                let reason = match proof {
                    Proof::Revoked => NotExecuted::Revoked,
                    Proof::Died | Proof::HungUp => NotExecuted::ServerEnded,
                };
                CallError::NotExecuted { procedure, reason }
            }
            _ => {
                let incarnation = self.grip.binding.incarnation;
                CallError::CallFailed { procedure, incarnation }
            }
        }))
    }

    /// The turn word says that the client sleeps.
    pub fn is_dozing(&self) -> bool {
        turn::read(self.turn()) == TurnWord::new(self.sequence, Phase::PostedAsleep)
    }

    /// Of the procedure, for errors.
    fn name(&self) -> ProcedureName<'static> {
        self.grip.binding.procedure_name(self.procedure)
    }

    pub(super) fn was_claimed(&self) -> bool {
        was_claimed(self.grip.astack, self.sequence)
    }

    pub fn wrong(&self, seen: TurnWord) -> NoReply {
        let fault = PeerFault::Turn { seen, sequence: self.sequence, wanted: "posted or idle" };
        NoReply::Lost(Box::new(self.grip.binding.fault(self.name(), fault)))
    }
}

/// Lets another thread spin, after so long a wait. The first time counts.
pub(super) fn end_spinning(
    spinner: &mut Option<Spinner<'static>>,
    waited_ns: impl FnOnce() -> u64,
    waiter: &Waiter<'_>,
) {
    if let Some(spinner) = spinner.take() {
        spinner.end(waited_ns().saturating_sub(waiter.shared_ns()));
    }
}

impl ClientBinding {
    /// Whether the binding is revoked, or would be if somebody had noticed the server's end yet.
    pub fn has_ended(&self) -> bool {
        if self.state.is_open() {
            self.note_end();
        }
        !self.state.is_open()
    }

    /// Revokes the binding if its server has ended. Likewise if nobody could tell that any more, or
    /// that it has hung up, since this program has closed descriptors that are not its own: what
    /// has their numbers is not asked, and nothing is done to it.
    pub fn note_end(&self) {
        let life = match self.control.socket().is_held() {
            true => self.process.life(),
            false => Life::Untold,
        };
        match life {
            Life::Lasts => {}
            Life::Over => self.revoke(RevokeReason::PeerDied),
            Life::Untold if self.state.is_open() => {
                tracing::error!(name = self.name, "the program has closed a binding's descriptors");
                self.revoke(RevokeReason::PeerHungUp);
            }
            Life::Untold => {}
        }
    }

    /// Revokes the binding because the server broke the protocol; unless it is a parent's, whose
    /// memory this process does not have.
    #[cold]
    pub fn fault(&self, procedure: ProcedureName<'static>, fault: PeerFault) -> CallError {
        if self.state.is_parents() {
            return self.forked();
        }
        self.revoke(RevokeReason::Fault);
        tracing::warn!(name = self.name, %procedure, %fault, "the server broke the protocol");
        CallError::Peer { procedure, fault }
    }

    /// Gives the binding up because there is no room here for results that have come: the server
    /// sends their segment once.
    #[cold]
    pub fn no_room(&self, procedure: ProcedureName<'static>, reason: &str) -> CallError {
        if self.state.is_parents() {
            return self.forked();
        }
        self.revoke(RevokeReason::Released);
        tracing::error!(name = self.name, %procedure, %reason, "no room for a call's results");
        CallError::ResultsRefused { procedure }
    }
}
