//! A posted call of which somebody is told when it can be collected (design note 0014): for event
//! loops in languages that know no futures.
//!
//! ```text
//!   Ahead ──attend──▶ Attended ──poll… ready──▶ Ahead ──collect──▶ Reply, and does not wait
//!                        └── drop ──▶ given up: the server sees it
//! ```
//!
//! It is polled as [`super::awaiting::Awaiting`] is, and waits as that does; but for what its reply
//! says, which is left to whoever collects. Who polls it is taken for who collects it: a post of
//! that thread's does not wait for its A-stack.

use std::mem::ManuallyDrop;
use std::task::{Poll, Waker};

use super::ahead::Ahead;
use super::awaiting::UnderWay;
use crate::client::switching;
use crate::error::CallError;

/// A call that is under way, and evaluates to itself when its reply is there. Any thread may poll
/// it. Dropping it gives the call up.
///
/// ```
/// fn send(attended: nearcall::raw::Attended<'static>) {
///     std::thread::spawn(move || drop(attended));
/// }
/// ```
#[derive(Debug)]
pub struct Attended<'b>(UnderWay<'b>);

impl<'b> Ahead<'b> {
    /// Has it be polled until it can be collected.
    pub fn attend(self) -> Attended<'b> {
        let mut ahead = ManuallyDrop::new(self);
        drop(ahead.lead.take());
        let Ahead { grip, procedure, deadline, .. } = *ahead;
        Attended(UnderWay::new((grip, procedure, deadline)))
    }
}

impl<'b> Attended<'b> {
    /// Goes on as far as it can without sleeping, and has `waker` woken when to poll it again. Not
    /// once it was ready.
    ///
    /// # Errors: those of [`Ahead::collect`], but for what its reply says.
    ///
    /// # Cost: while the server is awake no system call; it spins for 4 us at most.
    pub fn poll(&mut self, waker: &Waker) -> Poll<Result<Ahead<'b>, Box<CallError>>> {
        let (procedure, deadline) = (self.0.procedure(), self.0.deadline());
        self.0.poll(waker).map_ok(|(grip, _)| {
            grip.linkage().set_outstanding(switching::caller_number());
            Ahead::new((grip, procedure, deadline), None)
        })
    }
}
