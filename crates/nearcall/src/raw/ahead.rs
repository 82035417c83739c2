//! A call that was posted ahead of whoever will ask what came of it: any thread, and not always the
//! one that has posted it (design note 0020).
//!
//! ```text
//!   Call ──post_ahead──▶ Ahead ──collect──▶ Reply
//!                          │
//!                          ├──drop──▶ the A-stack comes back when the server is done with it
//!                          └──cancel─▶ the same, and the server sees it
//! ```
//!
//! As [`super::pending::Pending`], which stays with its thread and so knows at once that what is
//! kept for a thread is its own; and as [`super::awaiting::Awaiting`], whose caller does not wait.
//! Here a thread waits, and an A-stack that was kept for another one goes to the list after it.

use std::mem::{ManuallyDrop, offset_of};

use nearcall_core::turn::{self, Poll};
use nearcall_os::HeadWords;

use super::call::is_replied;
use super::client::Client;
use super::pending::{abandon, let_come_back, wait};
use super::reply::Reply;
use crate::client::binding::Grip;
use crate::client::deadline::Deadline;
use crate::client::lead::Lead;
use crate::error::CallError;

/// A call that is under way. Any thread may collect it. Dropping it collects nothing, and waits for
/// nothing. A deadline counts from the post.
///
/// ```
/// fn send(ahead: nearcall::raw::Ahead<'static>) {
///     std::thread::spawn(move || ahead.collect().map(drop));
/// }
/// ```
#[derive(Debug)]
#[must_use = "collect it: its results are what the call was made for"]
#[repr(C)]
pub struct Ahead<'b> {
    pub(super) grip: Grip<'b>,
    pub(super) procedure: u32,
    pub(super) deadline: Deadline,
    /// The right to be so for as long as it likes; none: somebody is about to collect it.
    pub(super) lead: Option<Lead<&'b Client>>,
}

/// Where what C notes of a call lies that it has posted by itself: see `brief.rs`.
pub const AHEAD_LAYOUT: &[(&str, &str, usize)] = &[
    ("nearcall_ahead", "binding", offset_of!(Ahead<'_>, grip) + offset_of!(Grip<'_>, binding)),
    ("nearcall_ahead", "astack", offset_of!(Ahead<'_>, grip) + offset_of!(Grip<'_>, astack)),
    ("nearcall_ahead", "procedure", offset_of!(Ahead<'_>, procedure)),
    ("nearcall_ahead", "deadline_ns", offset_of!(Ahead<'_>, deadline) + offset_of!(Deadline, ns)),
    (
        "nearcall_ahead",
        "deadline_word",
        offset_of!(Ahead<'_>, deadline) + offset_of!(Deadline, word),
    ),
    ("nearcall_ahead", "lead", offset_of!(Ahead<'_>, lead)),
];

impl<'b> Ahead<'b> {
    /// The call on this A-stack was posted, and a deadline has begun.
    #[inline(always)]
    pub(super) fn new(
        (grip, procedure, deadline): (Grip<'b>, u32, Deadline),
        lead: Option<Lead<&'b Client>>,
    ) -> Ahead<'b> {
        Ahead { grip, procedure, deadline, lead }
    }

    /// Waits for the reply.
    ///
    /// # Errors: those of the plain call. `CallAborted` without a reply at the deadline; a reply
    /// that is there already is returned, however late.
    #[inline(always)]
    pub fn collect(self) -> Result<Reply<'b>, Box<CallError>> {
        let mut ahead = ManuallyDrop::new(self);
        drop(ahead.lead.take());
        let Ahead { grip, procedure, deadline, .. } = *ahead;
        grip.settle_here();
        let words = HeadWords::load(grip.astack.head());
        let words = match is_replied(words, grip.linkage().sequence()) {
            true => words,
            false => wait(grip, procedure, deadline)?,
        };
        Reply::new(grip, procedure, words)
    }

    /// Whether [`Ahead::collect`] will not wait.
    ///
    /// # Cost: one load.
    pub fn is_replied(&self) -> bool {
        let (head, sequence) = (self.grip.astack.head(), self.grip.linkage().sequence());
        turn::poll(&head.turn, sequence) != Poll::Pending
    }

    /// Gives the call up: the server sees it, and does not run it if it has not begun to (L55).
    /// Does not wait. The A-stack comes back when the server is done with it.
    pub fn cancel(self) {
        let mut ahead = ManuallyDrop::new(self);
        drop(ahead.lead.take());
        abandon(ahead.grip);
    }
}

impl Drop for Ahead<'_> {
    fn drop(&mut self) {
        let_come_back(self.grip);
    }
}
