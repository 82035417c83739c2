//! A call that was posted and is collected later (design note 0007).

use std::fmt;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;

use nearcall_abi::ProcedureName;
use nearcall_core::turn::{self, Poll};
use nearcall_os::HeadWords;
use nearcall_os::processor::{self, Linger};

use super::call::{is_replied, poll_for_a_while};
use super::reply::Read;
use crate::client::binding::Grip;
use crate::client::deadline::Deadline;
use crate::client::linkage::NOBODY;
use crate::client::switching;
use crate::client::wait::{NoReply, Wait};
use crate::error::CallError;

/// A call that is under way, and evaluates to a `T`. A thread may have several under way, each on
/// an A-stack of its own; they are collected in any order, but fastest in that of the posts.
///
/// Dropping it does not wait: its results are dropped, and its A-stack comes back when the server
/// is done with it. A deadline counts from the post.
///
/// It stays on its thread, which the A-stack is kept for; what is collected may leave it.
///
/// ```
/// fn send(pending: nearcall::Pending<'static, u32>) {
///     let collected = pending.collect();
///     std::thread::spawn(move || collected);
/// }
/// ```
///
/// ```compile_fail,E0277
/// fn send(pending: nearcall::Pending<'static, u32>) {
///     std::thread::spawn(move || pending.collect());
/// }
/// ```
#[must_use = "collect it: its results are what the call was made for"]
pub struct Pending<'b, T, E = CallError> {
    posted: Posted<'b>,
    read: Read<'b, T, E>,
}

/// An A-stack with a call that was posted. Dropping it collects nothing, and waits for nothing.
#[derive(Debug)]
pub(super) struct Posted<'b> {
    grip: Grip<'b>,
    procedure: u32,
    deadline: Deadline,
    /// What is kept for a thread must not leave it.
    stays: PhantomData<*const ()>,
}

impl<'b, T, E> Pending<'b, T, E> {
    #[inline(always)]
    pub(super) fn new(posted: Posted<'b>, read: Read<'b, T, E>) -> Pending<'b, T, E> {
        Pending { posted, read }
    }

    /// Whether [`Pending::collect`] will not wait.
    ///
    /// # Cost: one load.
    #[inline]
    pub fn is_replied(&self) -> bool {
        let grip = self.posted.grip;
        turn::poll(&grip.astack.head().turn, grip.linkage().sequence()) != Poll::Pending
    }

    /// How many A-stacks there are for procedures like this one: as many calls may be under way.
    pub(crate) fn astack_count(&self) -> u32 {
        let grip = self.posted.grip;
        grip.binding.count_of_class(grip.linkage().class())
    }
}

impl<T, E> Pending<'_, T, E> {
    /// Of the procedure that is called.
    pub(crate) fn procedure_name(&self) -> ProcedureName<'static> {
        self.posted.grip.binding.procedure_name(self.posted.procedure)
    }
}

impl<T, E: From<Box<CallError>>> Pending<'_, T, E> {
    /// Waits for the reply, and returns what the call returns.
    ///
    /// # Errors: those of the plain call. `CallAborted` without a reply at the deadline; a reply
    /// that is there already is returned, however late.
    #[inline(always)]
    pub fn collect(self) -> Result<T, E> {
        let (posted, read) = (ManuallyDrop::new(self.posted), self.read);
        let Posted { grip, procedure, deadline, .. } = *posted;
        grip.linkage().set_outstanding(NOBODY);
        let words = HeadWords::load(grip.astack.head());
        let words = match is_replied(words, grip.linkage().sequence()) {
            true => words,
            false => wait(grip, procedure, deadline)?,
        };
        read(grip, procedure, words).map_err(|error| *error)
    }
}

impl<T, E> Pending<'_, T, E> {
    /// Gives the call up: the server sees it, and does not run it if it has not begun to (L55).
    /// Does not wait. The A-stack comes back when the server is done with it.
    pub fn cancel(self) {
        abandon(ManuallyDrop::new(self.posted).grip);
    }
}

impl<'b> Posted<'b> {
    /// The call on this A-stack was posted, and a deadline has begun.
    #[inline(always)]
    pub fn new(grip: Grip<'b>, procedure: u32, deadline: Deadline) -> Posted<'b> {
        Posted { grip, procedure, deadline, stays: PhantomData }
    }
}

impl Drop for Posted<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        let_come_back(self.grip);
    }
}

/// The reply was not there at the first look: waits for it. Its words.
#[cold]
#[inline(never)]
pub(super) fn wait(
    grip: Grip<'_>,
    procedure: u32,
    deadline: Deadline,
) -> Result<HeadWords, Box<CallError>> {
    let (head, sequence) = (grip.astack.head(), grip.linkage().sequence());
    let same_processor = processor::current() == grip.linkage().server_processor();
    if !same_processor && !switching::is_here() {
        let words = poll_for_a_while(head, Linger::of_cycles(0), sequence);
        if is_replied(words, sequence) {
            return Ok(words);
        }
    }
    let wait = Wait { grip, procedure, sequence, deadline, same_processor };
    let error = match wait.finish() {
        Ok(()) => return Ok(HeadWords::load(head)),
        Err(NoReply::Captured(error)) => {
            grip.capture(sequence);
            error
        }
        Err(NoReply::Lost(error)) => error,
    };
    Err(error)
}

/// Gives the call on an A-stack up, and lets the server see it.
#[cold]
#[inline(never)]
pub(super) fn abandon(grip: Grip<'_>) {
    if abandon_unless_replied(grip) {
        let_come_back(grip);
    }
}

/// The same; true: the reply is there, and the A-stack is the caller's still.
pub(super) fn abandon_unless_replied(grip: Grip<'_>) -> bool {
    if grip.binding.domain.core().is_forked() {
        return false;
    }
    match turn::abort(&grip.astack.head().turn, grip.linkage().sequence()) {
        // If it does not look by itself, it is to see it.
        Ok(()) => {
            grip.binding.ring();
        }
        Err(Poll::Replied { .. }) => return true,
        Err(_) => {}
    }
    let_come_back(grip);
    false
}

/// Nobody will collect: the A-stack is released if the reply is there, else captured as after a
/// oneway call.
#[cold]
#[inline(never)]
pub(super) fn let_come_back(grip: Grip<'_>) {
    if grip.binding.domain.core().is_forked() {
        return;
    }
    grip.settle_here();
    let sequence = grip.linkage().sequence();
    match turn::is_idle(&grip.astack.head().turn, sequence) {
        true => {
            grip.binding.disclaim_descriptors(grip.linkage().index);
            drop(grip.hold());
        }
        false => grip.capture(sequence),
    }
}

impl<T, E> fmt::Debug for Pending<'_, T, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pending").field("posted", &self.posted).finish_non_exhaustive()
    }
}
