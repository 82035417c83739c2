//! What a processor does whose kernel thread has a loop of its own: see `host.rs`.

use super::{Processor, here, set_here};
use crate::place::Place;
use crate::stacks::Stacks;
use crate::thread::Thread;

impl Processor {
    /// A processor for a kernel thread that decides by itself who goes on, in a run with several.
    pub fn hosted(place: Place, stack_bytes: usize) -> &'static Processor {
        let root = Box::leak(Box::new(Thread::of_kernel_thread()));
        Box::leak(Box::new(Processor::make(root, place, stack_bytes, None, true)))
    }

    /// Lets a thread of this processor run until it waits, yields or ends; on the kernel thread
    /// that is this processor, and by its own loop.
    #[inline]
    pub fn let_run(&'static self, thread: &'static Thread) {
        assert!(here().is_none(), "a FastThread is no host's loop");
        set_here(Some(self));
        self.go_on(self.root, thread);
        set_here(None);
        self.give_left();
    }

    /// A prepared thread is one of this processor's, which begins it by [`Processor::let_run`] or
    /// has begun it.
    pub fn admit(&self, thread: &'static Thread) {
        self.number(thread);
        self.ready.settle(thread);
    }

    /// Whether the kernel thread decides who goes on.
    pub fn is_hosted(&self) -> bool {
        self.is_hosted
    }

    /// The next thread that the host is to go on with.
    pub fn pop_hosted(&self) -> Option<&'static Thread> {
        self.ready.pop_hosted()
    }

    /// Whether a thread is ready here, may begin, or was delivered.
    pub fn has_some(&self) -> bool {
        let member = self.place.member();
        !self.ready.is_empty() || member.unbegun.hint().count > 0 || member.inbox.has_some()
    }

    /// No kernel thread will be this processor any more, and all of its threads have ended: gives
    /// the stacks of those away that were to tell it of one.
    pub fn forget_told(&self, stacks: &Stacks) {
        self.accept();
        while let Some(teller) = self.ready.pop_hosted() {
            stacks.give(teller);
        }
    }

    /// Whether a thread waits for what is to be looked at: something from outside, or a time.
    pub fn waits_for_look(&self) -> bool {
        !self.awaited.is_empty()
    }
}
