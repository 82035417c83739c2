//! What a procedure that is awaited waits for beside what it does: that its call is cancelled
//! (design note 0022), that its server ends (0015).

use std::pin::Pin;
use std::task::{Context, Poll};

use super::current::CurrentCall;

/// What a procedure may want to be told of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Concern {
    /// [`CurrentCall::is_cancelled`].
    Cancelled,
    /// [`CurrentCall::is_ending`].
    Ending,
}

/// Waits until a call is cancelled: see [`CurrentCall::cancelled`].
#[derive(Debug)]
#[must_use = "it does nothing unless it is awaited"]
pub struct Cancelled(Told);

/// Waits until a call's server ends: see [`CurrentCall::ending`].
#[derive(Debug)]
#[must_use = "it does nothing unless it is awaited"]
pub struct Ending(Told);

#[derive(Debug)]
struct Told {
    call: CurrentCall,
    concern: Concern,
    /// What housekeeping knows it by, once it has waited.
    number: Option<u64>,
}

impl Cancelled {
    pub(super) fn of(call: CurrentCall) -> Cancelled {
        Cancelled(Told { call, concern: Concern::Cancelled, number: None })
    }
}

impl Ending {
    pub(super) fn of(call: CurrentCall) -> Ending {
        Ending(Told { call, concern: Concern::Ending, number: None })
    }
}

impl Told {
    fn has_come(&self) -> bool {
        match self.concern {
            Concern::Cancelled => self.call.is_cancelled(),
            Concern::Ending => self.call.is_ending(),
        }
    }

    fn poll(&mut self, context: &Context<'_>) -> Poll<()> {
        let Some(domain) = self.call.own_domain().filter(|_| !self.has_come()) else {
            return Poll::Ready(());
        };
        let number = *self.number.get_or_insert_with(|| domain.next_number());
        domain.housekeeping.tell_when(self.concern, number, &self.call, context.waker());
        // Behind that: who tells may have told before it knew, and may have ended.
        match domain.tells_nobody() || self.has_come() {
            true => Poll::Ready(()),
            false => Poll::Pending,
        }
    }
}

impl Future for Cancelled {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        self.get_mut().0.poll(context)
    }
}

impl Future for Ending {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        self.get_mut().0.poll(context)
    }
}

impl Drop for Told {
    fn drop(&mut self) {
        if let Some((number, domain)) = self.number.zip(self.call.own_domain()) {
            domain.housekeeping.forget_concern(self.concern, number);
        }
    }
}

#[cfg(test)]
mod tests;
