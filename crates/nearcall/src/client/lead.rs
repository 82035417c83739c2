//! The right to keep an A-stack for a batch that nobody waits for yet (design note 0020).
//!
//! A batch that is ahead of whoever it is for keeps an A-stack for as long as that one pleases. One
//! A-stack of each class is left to calls that somebody waits for: so whoever has more feeds than
//! there are A-stacks, and comes to one after the other, never waits for one of its own.

use std::ops::Deref;
// Relaxed: a count of what may be kept; nothing is read through it.
use std::sync::atomic::Ordering::Relaxed;

use crate::raw::Client;
use crate::server::current;

/// One batch may be ahead for as long as it lives: of a client that it borrows, or has a share in.
#[derive(Debug)]
#[repr(transparent)]
pub struct Lead<C: Deref<Target = Client>>(C);

impl<'b> Lead<&'b Client> {
    /// One more, for a call of `procedure`; `None`: the other A-stacks are to be left free, or this
    /// thread serves a call, whose time is not that of who will ask for the batch.
    pub fn of_procedure(client: &'b Client, procedure: u32) -> Option<Lead<&'b Client>> {
        if current::until_ns().is_some() {
            return None;
        }
        let binding = client.binding().inner();
        let class = match &binding.agreement {
            None => binding.interface.procedures[procedure as usize].class.into(),
            Some(agreement) => agreement.class(procedure)?,
        };
        Lead::take(&client, binding.classes[class as usize].count)
    }
}

impl<C: Deref<Target = Client> + Clone> Lead<C> {
    /// The same, of a class with so many A-stacks.
    pub(crate) fn take(client: &C, astack_count: u32) -> Option<Lead<C>> {
        let leads = &client.binding().inner().leads;
        let one_more = |leads| (leads + 1 < astack_count).then_some(leads + 1);
        leads.fetch_update(Relaxed, Relaxed, one_more).ok().map(|_| Lead(client.clone()))
    }
}

impl<C: Deref<Target = Client>> Drop for Lead<C> {
    fn drop(&mut self) {
        self.0.binding().inner().leads.fetch_sub(1, Relaxed);
    }
}
