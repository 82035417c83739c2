//! A processor's place among those of its run, and the wakes that go from one to another.

use crate::kernel::wake;
use crate::team::{Member, Team};
use crate::thread::{NotBegun, Thread};
use crate::unbegun::Entry;

/// Which processor of which run.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    pub team: &'static Team<NotBegun>,
    pub at: u16,
}

impl Place {
    /// Whether the run has no other processor.
    pub fn is_alone(&self) -> bool {
        self.team.members().len() == 1
    }

    /// What others see of it.
    #[inline]
    pub fn member(&self) -> &'static Member<NotBegun> {
        &self.team.members()[usize::from(self.at)]
    }

    /// Makes a thread of this processor ready that waits; from any kernel thread.
    pub fn deliver(&self, thread: &'static Thread) {
        let link = |before: usize| {
            // SAFETY: S1: 0, or a thread that was delivered here, by its address.
            thread.next.set(unsafe { Thread::at(before) });
        };
        self.team.deliver(self.at.into(), thread.address(), link).map(wake);
    }

    /// Takes what was delivered, on this processor: the first one, which links to the next.
    pub fn take_delivered(&self) -> Option<&'static Thread> {
        // SAFETY: S1: 0, or a thread that was delivered here, by its address.
        let mut last = unsafe { Thread::at(self.member().inbox.take()) };
        let mut first = None;
        while let Some(thread) = last {
            last = thread.next.replace(first);
            first = Some(thread);
        }
        first
    }

    /// A thread is to begin on this processor or another one.
    pub fn fork(&self, entry: Entry<NotBegun>) {
        self.team.fork(self.at.into(), entry).map(wake);
    }

    /// Wakes all other processors, for there is nothing left to do.
    pub fn wake_all(&self) {
        let asleep = self.team.members().iter().filter(|member| member.inbox.rouse());
        asleep.for_each(|member| wake(member.inbox.wakes()));
    }
}
