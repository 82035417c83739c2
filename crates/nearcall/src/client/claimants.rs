//! Tasks that wait for an A-stack of a class that has none free, in the order in which they came
//! (design note 0022). Kernel threads sleep for one on the word of the class's list instead.
//!
//! ```text
//!   claim: none free ──▶ queue, and the list is marked: someone waits
//!   release: the list was marked ──▶ the first is woken ──▶ it looks: claims or waits on
//!                                        ▲                        │
//!                                        └─ more are free ────────┴─ none is: mark the list again
//! ```
//!
//! Only one is woken at a time: a list does not say how many it has, and a thousand that look for
//! one A-stack would look a million times. Who is woken keeps its place until it has one: somebody
//! else may have been faster.
//!
//! An A-stack that was captured comes back without a word (L55): while there are such, and somebody
//! waits, the herald looks after them. One that is captured later counts as well, so it is the
//! queue that has the herald do so, and not who waits.
//!
//! Who is woken may never look: its task may wait for something else first, even for one of those
//! behind it. So as long as somebody is behind it the herald comes by now and then, and one that
//! has not looked since it came last is passed by.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Wake, Waker};

use nearcall_core::astack_list::Claimer;
use nearcall_os::clock;

use super::binding::ClientBinding;
use super::herald::{self, Ticket};

/// How often the herald comes by.
const ROUND_NS: u64 = 20_000_000;

/// How often the herald looks whether a captured A-stack has come back.
const REAP_NS: u64 = 1_000_000;

/// The queues of a binding, one a class.
#[derive(Debug)]
pub(crate) struct Claimants {
    queues: Box<[Mutex<Queue>]>,
}

#[derive(Debug, Default)]
struct Queue {
    /// In the order of their numbers.
    waiting: VecDeque<Claimant>,
    next: u64,
    /// Who was woken and has not looked yet.
    woken: Option<u64>,
    /// Who that was when the herald came by last.
    woken_before: Option<u64>,
    /// The herald comes by.
    round: Option<Ticket>,
    /// The herald looks for captured A-stacks.
    reaping: Option<Ticket>,
}

#[derive(Debug)]
struct Claimant {
    number: u64,
    waker: Waker,
    /// It was woken, and has not looked for a round.
    is_passed_by: bool,
}

/// What the herald does for a queue, once.
struct Errand {
    binding: Weak<ClientBinding>,
    class: u32,
    run: fn(&Claimants, &ClientBinding, u32),
}

/// A place in a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    class: u32,
    number: u64,
}

impl Claimants {
    /// Nobody waits.
    pub fn new(class_count: usize) -> Claimants {
        Claimants { queues: (0..class_count).map(|_| Mutex::default()).collect() }
    }

    fn queue(&self, class: u32) -> MutexGuard<'_, Queue> {
        self.queues[class as usize].lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits in the queue of `class`, or goes on waiting at its `place`. False: an A-stack is free
    /// now, or the binding is gone: look again.
    pub fn wait(
        &self,
        binding: &ClientBinding,
        class: u32,
        place: &mut Option<Place>,
        waker: &Waker,
    ) -> bool {
        let mut queue = self.queue(class);
        let before = match *place {
            Some(Place { number, .. }) => queue.go_on(number, waker.clone()),
            None => {
                *place = Some(Place { class, number: queue.enter(waker.clone()) });
                None
            }
        };
        // Marked after it can be found: whoever releases from now on wakes somebody.
        let is_marked = binding.lists.prepare_wait(class, Claimer::Task).is_some();
        queue.have_round(binding, class);
        let is_looked_after = queue.have_reaping(binding, class);
        drop(queue);
        // After the lock: its drop is anybody's code.
        drop(before);
        if !is_looked_after {
            waker.wake_by_ref();
        }
        // After it can be found: who revokes from now on wakes it, and who has was seen to.
        is_marked && binding.state.is_open()
    }

    /// One of `class` was captured: who waits may be waiting for that one.
    pub fn note_captured(&self, binding: &ClientBinding, class: u32) {
        let is_looked_after = self.queue(class).have_reaping(binding, class);
        if !is_looked_after {
            self.tell(class);
        }
    }

    /// Leaves the queue, with an A-stack or without.
    pub fn leave(&self, binding: &ClientBinding, place: Place) {
        let left = self.queue(place.class).leave(place.number);
        self.told(binding, place.class);
        drop(left);
    }

    /// An A-stack of `class` may have come back.
    #[cold]
    pub fn told(&self, binding: &ClientBinding, class: u32) {
        let next = {
            let mut queue = self.queue(class);
            // Who was woken already does the same when it has looked.
            let is_due = queue.woken.is_none() && !queue.waiting.is_empty();
            let next = match is_due && binding.lists.pass_on(class, Claimer::Task) {
                true => queue.wake_first(),
                false => None,
            };
            queue.have_round(binding, class);
            next
        };
        if let Some(waker) = next {
            wake(waker);
        }
    }

    /// The herald comes by.
    fn end_round(&self, binding: &ClientBinding, class: u32) {
        {
            let mut queue = self.queue(class);
            queue.round = None;
            queue.pass_by();
        }
        self.told(binding, class);
    }

    /// The herald looks for captured A-stacks; whoever gets one back tells who waits for it.
    fn end_reaping(&self, binding: &ClientBinding, class: u32) {
        self.queue(class).reaping = None;
        binding.reap();
        self.note_captured(binding, class);
    }

    /// The binding is gone: there is nothing to wait for.
    pub fn tell_all(&self) {
        (0..self.queues.len() as u32).for_each(|class| self.tell(class));
    }

    fn tell(&self, class: u32) {
        let wakers: Vec<Waker> =
            self.queue(class).waiting.iter().map(|claimant| claimant.waker.clone()).collect();
        wakers.into_iter().for_each(wake);
    }
}

/// Runs anybody's code, on a thread of the runtime's, too. What panics there has broken its own
/// executor; all other tasks are woken.
fn wake(waker: Waker) {
    let _ = catch_unwind(AssertUnwindSafe(|| waker.wake()));
}

impl Queue {
    fn enter(&mut self, waker: Waker) -> u64 {
        self.next += 1;
        self.waiting.push_back(Claimant { number: self.next, waker, is_passed_by: false });
        self.next
    }

    /// It has looked and waits on; who is woken until then.
    fn go_on(&mut self, number: u64, waker: Waker) -> Option<Waker> {
        self.has_looked(number);
        let at = self.find(number)?;
        let claimant = &mut self.waiting[at];
        claimant.is_passed_by = false;
        Some(std::mem::replace(&mut claimant.waker, waker))
    }

    fn leave(&mut self, number: u64) -> Option<Claimant> {
        self.has_looked(number);
        self.waiting.remove(self.find(number)?)
    }

    fn wake_first(&mut self) -> Option<Waker> {
        let first = self.waiting.iter().find(|claimant| !claimant.is_passed_by)?;
        self.woken = Some(first.number);
        Some(first.waker.clone())
    }

    /// Has the herald come by once if somebody waits behind one that was woken.
    fn have_round(&mut self, binding: &ClientBinding, class: u32) {
        if self.round.is_none() && self.has_one_behind() {
            self.round = Errand::after(ROUND_NS, binding, class, Claimants::end_round);
        }
    }

    /// Has the herald look for captured A-stacks once, if somebody waits and there are such. False:
    /// there is nobody who would.
    fn have_reaping(&mut self, binding: &ClientBinding, class: u32) -> bool {
        if self.waiting.is_empty() || !binding.has_captured() {
            return true;
        }
        if self.reaping.is_none() {
            self.reaping = Errand::after(REAP_NS, binding, class, Claimants::end_reaping);
        }
        self.reaping.is_some()
    }

    /// Whether anybody waits to be woken when the one that was woken has looked.
    fn has_one_behind(&self) -> bool {
        let mut waiting = self.waiting.iter().filter(|claimant| !claimant.is_passed_by);
        self.woken.is_some() && waiting.nth(1).is_some()
    }

    /// Whoever was woken before the last round has not looked since then: the next one may.
    fn pass_by(&mut self) {
        let late = self.woken.filter(|_| self.woken == self.woken_before);
        if let Some(at) = late.and_then(|number| self.find(number)) {
            self.waiting[at].is_passed_by = true;
            self.woken = None;
        }
        self.woken_before = self.woken;
    }

    fn has_looked(&mut self, number: u64) {
        self.woken = self.woken.filter(|woken| *woken != number);
    }

    fn find(&self, number: u64) -> Option<usize> {
        self.waiting.binary_search_by_key(&number, |claimant| claimant.number).ok()
    }
}

impl Errand {
    fn after(
        ns: u64,
        binding: &ClientBinding,
        class: u32,
        run: fn(&Claimants, &ClientBinding, u32),
    ) -> Option<Ticket> {
        let errand = Arc::new(Errand { binding: binding.downgraded(), class, run });
        herald::wake(&Waker::from(errand), None, clock::now_ns() + ns)
    }
}

impl Wake for Errand {
    fn wake(self: Arc<Self>) {
        if let Some(binding) = self.binding.upgrade() {
            (self.run)(&binding.claimants, &binding, self.class);
        }
    }
}
