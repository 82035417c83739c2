//! Claiming an A-stack for a call: the one kept for this thread, one from the list, or, if there is
//! none, one that comes back or is added before the call's deadline.

use std::sync::atomic::AtomicU32;
// Relaxed: counts that say how to wait.
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use nearcall_core::astack_list::Claimer;
use nearcall_core::bias::Claim;
use nearcall_core::waiting::yield_share_ns;
use nearcall_core::{Step, Waiter};
use nearcall_os::futex::{self, Watched};
use nearcall_os::{clock, fence, processor};

#[cfg(test)]
mod tests;

use super::{ClientBinding, Held, identity, likely_identity};
use crate::binding::WhenExhausted;
use crate::client::call_all::is_full;
use crate::client::deadline::{Deadline, left_ns};
use crate::client::hasty::in_haste;
use crate::client::wait::YIELD_BAN;
use crate::client::{cancellation, hasty, interrupt, switching};
use crate::error::{CallError, NotExecuted, UsageError};

/// Longest sleep while waiting for an A-stack, before the binding is looked at again.
const CLAIM_SLICE: Duration = Duration::from_millis(20);

/// The same while some A-stacks are captured.
const REAP_SLICE: Duration = Duration::from_micros(100);

/// In place of an A-stack's index: none is there.
const NONE_LISTED: u64 = u64::MAX - 1;

/// The same: nothing may be called.
const REFUSED: u64 = u64::MAX;

/// A kernel thread that waits for an A-stack, of so many. Relaxed: it says what pays.
struct Waiting<'b> {
    all: &'b AtomicU32,
    count: u32,
}

impl<'b> Waiting<'b> {
    fn begin(all: &'b AtomicU32) -> Waiting<'b> {
        Waiting { all, count: all.fetch_add(1, Relaxed) + 1 }
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.all.fetch_sub(1, Relaxed);
    }
}

impl ClientBinding {
    /// Takes an A-stack for `procedure`, which is of class `class` (L20): without a locked
    /// operation for the thread that it is kept for, by one compare-and-swap for others.
    ///
    /// With it comes the deadline as it stands then.
    ///
    /// # Errors: `NotExecuted` if the binding is revoked, `Usage` if it is a parent's, `NoAStack`
    /// if none comes free in time.
    #[inline(always)]
    pub fn claim(
        &self,
        class: usize,
        procedure: u32,
        deadline: Deadline,
    ) -> Result<(Held<'_>, Deadline), Box<CallError>> {
        let (index, word) = match self.biases[class].claim(likely_identity()) {
            // A binding that is not open has closed its biases.
            Claim::Kept(index) => (index, deadline.word),
            claimed => self.claim_otherwise(claimed, class as u32, procedure, deadline)?,
        };
        Ok((self.grip(index).hold(), Deadline { word, ..deadline }))
    }

    /// The same without waiting: `None` if there is none.
    #[inline(always)]
    pub fn claim_at_once(
        &self,
        class: usize,
        procedure: u32,
        deadline: Deadline,
    ) -> Result<Option<(Held<'_>, Deadline)>, Box<CallError>> {
        let index = match self.biases[class].claim(likely_identity()) {
            Claim::Kept(index) => index,
            claimed => match self.claim_listed(claimed, class as u32, procedure) {
                REFUSED => return Err(Box::new(self.refusal(procedure))),
                NONE_LISTED => return self.claim_in_haste(class as u32, procedure, deadline),
                index => index as u32,
            },
        };
        Ok(Some((self.grip(index).hold(), deadline)))
    }

    /// None is listed: one that has come back, or that the server adds.
    #[cold]
    #[inline(never)]
    fn claim_in_haste(
        &self,
        class: u32,
        procedure: u32,
        deadline: Deadline,
    ) -> Result<Option<(Held<'_>, Deadline)>, Box<CallError>> {
        match in_haste(|| self.claim_unlisted(class, procedure, deadline)) {
            Ok((index, word)) => Ok(Some((self.grip(index).hold(), Deadline { word, ..deadline }))),
            Err(error) if is_full(&error) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The index of an A-stack, and the deadline as it crosses.
    #[inline(never)]
    fn claim_otherwise(
        &self,
        claimed: Claim,
        class: u32,
        procedure: u32,
        deadline: Deadline,
    ) -> Result<(u32, u32), Box<CallError>> {
        match self.claim_listed(claimed, class, procedure) {
            REFUSED => Err(Box::new(self.refusal(procedure))),
            NONE_LISTED => self.claim_unlisted(class, procedure, deadline),
            index => Ok((index as u32, deadline.word)),
        }
    }

    /// The index of an A-stack that is there, or [`NONE_LISTED`], or [`REFUSED`]: in a register, as
    /// this is the way of all calls of a binding that keeps A-stacks for nobody.
    #[inline(never)]
    fn claim_listed(&self, claimed: Claim, class: u32, procedure: u32) -> u64 {
        let claimed = match claimed {
            Claim::Nothing => self.biases[class as usize].claim(identity()),
            claimed => claimed,
        };
        if let Claim::Kept(index) = claimed {
            return index.into();
        }
        if !self.state.is_open() {
            if let Claim::Plain(index) = claimed {
                self.release(index);
            }
            return REFUSED;
        }
        if let Claim::Plain(index) = claimed {
            self.linkage(index).set_kept(0);
            return index.into();
        }
        let Some(listed) = self.class_of_lists(class, procedure) else { return REFUSED };
        match self.lists.pop(listed) {
            Some(index) => self.kept_if_may_be(class, index).into(),
            None => NONE_LISTED,
        }
    }

    /// The same of one that is not there yet.
    fn claim_unlisted(
        &self,
        class: u32,
        procedure: u32,
        deadline: Deadline,
    ) -> Result<(u32, u32), Box<CallError>> {
        let Some(listed) = self.class_of_lists(class, procedure) else {
            return Err(Box::new(self.not_provided(procedure)));
        };
        let (index, word) = self.claim_another(procedure, listed, deadline)?;
        match self.linkage(index).kept() {
            0 => Ok((self.kept_if_may_be(class, index), word)),
            // Another FastThread of this thread had it.
            _ => Ok((index, word)),
        }
    }

    /// The server's class for what is the stubs' `class`; `None`: it does not have the procedure.
    #[inline]
    fn class_of_lists(&self, class: u32, procedure: u32) -> Option<u32> {
        self.agreement.as_ref().map_or(Some(class), |agreement| agreement.class(procedure))
    }

    /// Why [`ClientBinding::claim_listed`] has refused a call.
    #[cold]
    #[inline(never)]
    fn refusal(&self, procedure: u32) -> CallError {
        match self.state.is_open() {
            true => self.not_provided(procedure),
            false => self.closed(procedure),
        }
    }

    /// An A-stack from a list, which is kept for this thread from now on if it may be.
    #[inline]
    fn kept_if_may_be(&self, class: u32, index: u32) -> u32 {
        let bias = &self.biases[class as usize];
        // An A-stack that a look-up of the first region finds, and of the class that stubs name:
        // between two versions every claim comes this way, so that exact ones need not ask.
        let may_be_kept = self.agreement.is_none()
            && index < self.first.region.count()
            && bias.may_keep(identity(), index);
        if may_be_kept && fence::is_available() && bias.establish(identity(), index) {
            self.linkage(index).set_kept(bias.bit(index));
        }
        index
    }

    /// One that is there: kept for this thread, or in the list.
    #[cfg(feature = "threads")]
    pub fn claim_free(&self, class: u32) -> Option<u32> {
        match self.biases[class as usize].claim(identity()) {
            Claim::Kept(index) => Some(index),
            Claim::Plain(index) => {
                self.linkage(index).set_kept(0);
                Some(index)
            }
            Claim::Nothing => self.lists.pop(class),
        }
    }

    /// Waits for an A-stack, or has the server add some (L49).
    #[cold]
    #[inline(never)]
    fn claim_another(
        &self,
        procedure: u32,
        class: u32,
        deadline: Deadline,
    ) -> Result<(u32, u32), Box<CallError>> {
        let until_ns = deadline.until_ns();
        let mut has_slept = false;
        let found = self.wait_for_another(procedure, class, until_ns, &mut has_slept);
        if has_slept {
            self.pass_wake_on(class);
        }
        let index = found?;
        if deadline.ns == 0 {
            return Ok((index, 0));
        }
        let linkage = self.linkage(index);
        linkage.set_until_ns(linkage.sequence().next(), until_ns);
        Ok((index, Deadline::of_ns(left_ns(until_ns)).word))
    }

    fn wait_for_another(
        &self,
        procedure: u32,
        class: u32,
        until_ns: u64,
        has_slept: &mut bool,
    ) -> Result<u32, Box<CallError>> {
        loop {
            self.reap();
            // Before any look at what others have, of which there may be thousands.
            if let Some(index) = self.lists.pop(class) {
                return Ok(index);
            }
            // What this thread has itself no revocation brings back.
            let all_are_ours = self.are_all_outstanding_here(class);
            // What is kept for it comes back to it, whichever of its FastThreads has it now.
            let is_kept_here = switching::is_here() && self.is_biased_here(class);
            if !all_are_ours && !is_kept_here {
                self.revoke_bias(class);
            }
            let known_count = self.astack_count();
            if let Some(index) = self.lists.pop(class) {
                return Ok(index);
            }
            let may_grow = self.options.when_exhausted == WhenExhausted::Grow;
            if may_grow && self.grow(class, known_count, until_ns) {
                continue;
            }
            // Others of its processor may have them all, and cannot run before it has unwound.
            if all_are_ours || hasty::is_hasty() || switching::is_unwinding() {
                return Err(Box::new(self.full(procedure, class, all_are_ours)));
            }
            let left_ns = left_ns(until_ns);
            if left_ns == 0 || interrupt::is_interrupted() {
                let procedure = self.procedure_name(procedure);
                return Err(Box::new(CallError::NoAStack { procedure }));
            }
            let left = cancellation::slice(Duration::from_nanos(left_ns));
            if switching::is_here() {
                if let Some(index) = switching::wait_for_astack(self, class, left) {
                    return Ok(index);
                }
            } else if let Some(index) = self.wait_in_turn(class, until_ns, has_slept) {
                return Ok(index);
            }
            if !self.state.is_open() {
                return Err(Box::new(self.closed(procedure)));
            }
        }
    }

    /// Waits for a while, as a kernel thread does. Whoever has an A-stack gets on with it, on a
    /// processor that the server has, too, when this thread lets it: so one may come back without a
    /// sleep and a wake-up. Unless more wait than there are A-stacks: their turns would take longer
    /// than that, and who sleeps would get none. Who was woken in vain yields again, too: while
    /// some sleep, each release costs a wake-up, most of which are in vain.
    #[cold]
    fn wait_in_turn(&self, class: u32, until_ns: u64, has_slept: &mut bool) -> Option<u32> {
        let waiting = Waiting::begin(&self.claiming);
        let first = self.linkage(self.biases[class as usize].first());
        let is_here = first.server_processor() == processor::current();
        let astacks = self.count_of_class(class);
        if is_here
            && waiting.count <= astacks
            && let Some(index) = self.yield_until_listed(class, waiting.count + astacks)
        {
            return Some(index);
        }
        if let Some(expected) = self.lists.prepare_wait(class, Claimer::Thread) {
            let left = cancellation::slice(Duration::from_nanos(left_ns(until_ns)));
            let slice = self.claim_slice().min(left);
            Watched::own(self.lists.wakes(class), expected).wait(slice);
            *has_slept = true;
        }
        None
    }

    /// So many `callers` take turns.
    fn yield_until_listed(&self, class: u32, callers: u32) -> Option<u32> {
        let mut ban = YIELD_BAN.get();
        let mut waiter = Waiter::new(&self.policy, &mut ban, 0);
        let mut found = None;
        while found.is_none() && waiter.next(clock::now_ns, true) == Step::Yield {
            let before = clock::ticks();
            processor::yield_now();
            let took_ns = clock::ns_since(before);
            waiter.told_yield(&mut ban, yield_share_ns(took_ns, callers));
            self.reap();
            found = self.lists.pop(class);
        }
        YIELD_BAN.set(ban);
        found
    }

    /// Whoever was woken for an A-stack, and has one or wants none any more, wakes who comes next,
    /// or leaves that to the next release.
    #[cold]
    pub fn pass_wake_on(&self, class: u32) {
        if self.lists.pass_on(class, Claimer::Thread) {
            futex::wake_first_own(self.lists.wakes(class));
        }
    }

    /// Whether A-stacks of a class are kept for this thread.
    fn is_biased_here(&self, class: u32) -> bool {
        self.biases[class as usize].is_towards(identity())
    }

    /// How long to sleep for an A-stack before the next look: one that comes back from a oneway or
    /// an aborted call wakes nobody.
    pub fn claim_slice(&self) -> Duration {
        // Relaxed: see `reap`.
        match self.captured_count.load(Relaxed) {
            0 => CLAIM_SLICE,
            _ => REAP_SLICE,
        }
    }

    /// Waiting for an A-stack would be for ever, or is not wanted.
    #[cold]
    fn full(&self, procedure: u32, class: u32, all_are_ours: bool) -> CallError {
        let procedure = self.procedure_name(procedure);
        if !all_are_ours {
            return CallError::NoAStack { procedure };
        }
        let limit = self.count_of_class(class);
        CallError::Usage(UsageError::Outstanding { procedure, limit })
    }

    /// It is not open: why.
    #[cold]
    pub fn closed(&self, procedure: u32) -> CallError {
        if self.state.is_parents() {
            return self.forked();
        }
        let procedure = self.procedure_name(procedure);
        CallError::NotExecuted { procedure, reason: NotExecuted::Revoked }
    }

    /// What a child is told that uses its parent's binding.
    #[cold]
    pub fn forked(&self) -> CallError {
        let (name, importer) = (self.name.clone(), self.domain.core().process_id);
        CallError::Usage(UsageError::Forked { name, importer })
    }

    /// The server has an older version.
    #[cold]
    fn not_provided(&self, procedure: u32) -> CallError {
        let procedure = self.procedure_name(procedure);
        CallError::NotExecuted { procedure, reason: NotExecuted::NotProvided }
    }

    /// The server has no room for the arguments.
    #[cold]
    pub fn overloaded(&self, procedure: u32) -> CallError {
        let procedure = self.procedure_name(procedure);
        CallError::NotExecuted { procedure, reason: NotExecuted::Overloaded }
    }

    /// The deadline passed before there was a post.
    #[cold]
    pub fn late(&self, procedure: u32) -> CallError {
        let procedure = self.procedure_name(procedure);
        CallError::NotExecuted { procedure, reason: NotExecuted::DeadlinePassed }
    }
}
