//! The client's free A-stacks: one LIFO per class (L20, L34), in private memory.
//!
//! A list is a word that holds the newest free A-stack, a tag that changes with every edge, and
//! who waits; each A-stack has one link to the next. LIFO, so that the A-stack in use is the one
//! whose lines are still near.
//!
//! ```text
//!  top    │ tag : 30 │ waiting : 2 │ index + 1 : 32 │  0 in the low half: none is free
//!  links  │ 0 │ 1 │ 2 │ …                             index + 1 of the next, by A-stack
//!  wakes  how often threads were woken: the word that they sleep on
//!
//!                release: marked ──▶ no mark, wake one ──▶ it looks: has one, or gives up
//!  wait: mark ──▶                                            │ others may wait still
//!                 one is free: wake one ◀── pass on ◀────────┘
//!                 none is: mark, for the next release
//! ```
//!
//! A release wakes one of those who wait, and who was woken passes it on: of a hundred that wait
//! for one A-stack, each in vain but one, a call that wakes all is a hundred switches long.
//!
//! | row | edge | by | order | makes visible | pairs with |
//! |---|---|---|---|---|---|
//! | A1 | top: (x, w) to (index, 0) | releaser | Release, Relaxed to look | link, A-stack | A2 |
//! | A2 | top: load, again when it moved | claimer | Acquire | nothing | A1 |
//! | A3 | top: (none, w) to (none, w and its own) | waiter | Relaxed | nothing | - |
//! | A4 | wakes: load | waiter | Acquire | nothing | A5 |
//! | A5 | wakes: add 1, after an A1 that found threads waiting | releaser | Release | its A1 | A4 |
//! | A6 | top: (index, w) to (next, w) | claimer | Relaxed | nothing | - |
//! | A7 | link: store, before A1 | releaser | Relaxed | nothing | - |
//! | A8 | link: load, after A2 | claimer | Relaxed | nothing | - |
//!
//! A1, A3 and A6 are compare-and-swaps. What A1 looks at first is only what it compares with. A6
//! needs no order: the tag makes it the edge after the very one that A2 saw. A link that A8 loads
//! is stale only if the tag has changed, and then A6 fails.
//!
//! A waiter reads `wakes` (A4) and then finds the mark in `top` (A3's load); it sleeps while
//! `wakes` is what it read. If it read what an A5 wrote, it sees the A1 before that, so that the
//! mark it found is a later one; if it did not, that A5 is still to come, and changes the word.

use alloc::boxed::Box;

use crate::sync::{AtomicU32, AtomicU64, ord};

const NONE: u64 = 0;
const INDEX_MASK: u64 = u32::MAX as u64;
const THREADS: u64 = 1 << 32;
const TASKS: u64 = 1 << 33;
const TAG: u64 = 1 << 34;

/// Who waits for an A-stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub enum Claimer {
    /// A kernel thread, which sleeps on [`AStackLists::wakes`].
    Thread = THREADS,
    /// A task, which is woken as its executor has it.
    Task = TASKS,
}

/// Who is to be told that an A-stack is free: one of each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub struct Waiting {
    /// One of the threads that sleep.
    pub threads: bool,
    /// One of the tasks that wait.
    pub tasks: bool,
}

impl Waiting {
    /// Nobody.
    pub const NOBODY: Waiting = Waiting { threads: false, tasks: false };
}

/// The free A-stacks of a binding, by class. See the module.
#[derive(Debug)]
pub struct AStackLists {
    lists: Box<[List]>,
    links: Box<[AtomicU32]>,
}

/// One class. A line of its own, so that two classes do not share one.
#[derive(Debug)]
#[repr(align(64))]
struct List {
    top: AtomicU64,
    wakes: AtomicU32,
}

impl AStackLists {
    /// Lists of `class_count` classes, all empty, for A-stacks numbered below `astack_count_max`.
    /// Those of an extent that is added later (L49) are pushed then.
    pub fn new(class_count: u32, astack_count_max: u32) -> AStackLists {
        let list = |_| List { top: AtomicU64::new(NONE), wakes: AtomicU32::new(0) };
        AStackLists {
            lists: (0..class_count).map(list).collect(),
            links: (0..astack_count_max).map(|_| AtomicU32::new(0)).collect(),
        }
    }

    /// Takes the A-stack of `class` that was used last; `None` if none is free.
    ///
    /// # Panics: on a class that there is not.
    ///
    /// # Cost: one load, one compare-and-swap (L34); no lock.
    #[inline]
    pub fn pop(&self, class: u32) -> Option<u32> {
        let top = &self.lists[class as usize].top;
        let mut seen = top.load(ord!("A2", Acquire));
        loop {
            let index = (seen & INDEX_MASK).checked_sub(1)? as u32;
            let next = self.links[index as usize].load(ord!("A8", Relaxed));
            let to = ((seen & !INDEX_MASK) | u64::from(next)).wrapping_add(TAG);
            match top.compare_exchange_weak(seen, to, ord!("A6", Relaxed), ord!("A2", Acquire)) {
                Ok(_) => return Some(index),
                Err(moved) => seen = moved,
            }
        }
    }

    /// Gives A-stack `index` back to `class`: whom to wake. Who is woken is to
    /// [`AStackLists::pass_on`] that, when it has an A-stack or wants none any more.
    ///
    /// # Panics: on a class or an index that there is not.
    ///
    /// # Cost: one load, one store, one compare-and-swap (L34); no lock.
    #[inline]
    pub fn push(&self, class: u32, index: u32) -> Waiting {
        let list = &self.lists[class as usize];
        let link = &self.links[index as usize];
        let mut seen = list.top.load(ord!("A1", Relaxed));
        loop {
            link.store((seen & INDEX_MASK) as u32, ord!("A7", Relaxed));
            let tag = (seen & !(INDEX_MASK | THREADS | TASKS)).wrapping_add(TAG);
            let to = tag | (u64::from(index) + 1);
            match list.top.compare_exchange_weak(seen, to, ord!("A1", Release), ord!("A1", Relaxed))
            {
                Ok(_) => break,
                Err(moved) => seen = moved,
            }
        }
        if seen & (THREADS | TASKS) == 0 {
            return Waiting::NOBODY;
        }
        let waiting = Waiting { threads: seen & THREADS != 0, tasks: seen & TASKS != 0 };
        if waiting.threads {
            list.wakes.fetch_add(1, ord!("A5", Release));
        }
        waiting
    }

    /// Announces that `claimer` is about to wait for an A-stack of `class`. The answer is what
    /// [`AStackLists::wakes`] must still be for a thread's wait to begin; `None`: one is free, pop
    /// again.
    pub fn prepare_wait(&self, class: u32, claimer: Claimer) -> Option<u32> {
        let list = &self.lists[class as usize];
        loop {
            let expected = list.wakes.load(ord!("A4", Acquire));
            let seen = list.top.load(ord!("A3", Relaxed));
            if seen & INDEX_MASK != NONE {
                return None;
            }
            if seen & claimer as u64 != 0 {
                return Some(expected);
            }
            // Whether it succeeds or not, what counts is what the next look finds.
            let marked = (seen | claimer as u64).wrapping_add(TAG);
            let _ =
                list.top.compare_exchange(seen, marked, ord!("A3", Relaxed), ord!("A3", Relaxed));
        }
    }

    /// Who was woken, like this `claimer`, has an A-stack of `class` or wants none any more. True:
    /// one is free, wake the next; else a release will.
    pub fn pass_on(&self, class: u32, claimer: Claimer) -> bool {
        self.prepare_wait(class, claimer).is_none()
    }

    /// The word that threads sleep on that wait for an A-stack of `class`. Private to this process.
    pub fn wakes(&self, class: u32) -> &AtomicU32 {
        &self.lists[class as usize].wakes
    }
}
