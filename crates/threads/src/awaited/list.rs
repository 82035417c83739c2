//! The threads of a processor that wait for something from outside.
//!
//! ```text
//!   for what comes from outside   oldest ◀─▶ … ◀─▶ newest     each is asked
//!   for what one of them has      first  ◀─▶ … ◀─▶ last       the first is asked for its queue
//!                                 first  ◀─▶ …
//! ```
//!
//! The first list is as long as there are calls under way, which A-stacks bound; nothing bounds the
//! queues. So a look costs what the list costs, and a little for each queue.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::ptr;
use std::time::Duration;

use super::{Awaited, Enders};
use crate::thread::Thread;

/// Queues that a poll looks at, in turn.
const QUEUES_PER_POLL: usize = 8;

/// Queues that may end a sleep.
const QUEUES_PER_SLEEP: usize = 64;

/// All of them.
#[derive(Debug, Default)]
pub struct AwaitedList {
    /// For what only comes from outside, in the order in which they came.
    foreign: List,
    /// Whom the next look that looks at some goes on with.
    cursor: Cell<Option<&'static Thread>>,
    /// The same for looks that look closer.
    closer: Cell<Option<&'static Thread>>,
    /// For what another one may bring about.
    queues: RefCell<BTreeMap<NonZeroUsize, List>>,
    has_queues: Cell<bool>,
    /// The queue that was looked at last.
    turn: Cell<Option<NonZeroUsize>>,
}

/// Threads, each of which knows its neighbours.
#[derive(Debug, Default)]
struct List {
    first: Cell<Option<&'static Thread>>,
    last: Cell<Option<&'static Thread>>,
    count: Cell<usize>,
}

impl List {
    fn push(&self, thread: &'static Thread) {
        self.count.set(self.count.get() + 1);
        thread.next.set(None);
        thread.before.set(self.last.get());
        match self.last.replace(Some(thread)) {
            Some(last) => last.next.set(Some(thread)),
            None => self.first.set(Some(thread)),
        }
    }

    fn has(&self, thread: &'static Thread) -> bool {
        let is_first = self.first.get().is_some_and(|first| ptr::eq(first, thread));
        is_first || thread.before.get().is_some()
    }

    /// Who was behind it.
    fn remove(&self, thread: &'static Thread) -> Option<&'static Thread> {
        self.count.set(self.count.get() - 1);
        let (before, next) = (thread.before.take(), thread.next.take());
        match before {
            Some(before) => before.next.set(next),
            None => self.first.set(next),
        }
        match next {
            Some(next) => next.before.set(before),
            None => self.last.set(before),
        }
        next
    }
}

impl AwaitedList {
    pub fn is_empty(&self) -> bool {
        self.foreign.first.get().is_none() && !self.has_queues.get()
    }

    /// How many wait for what only comes from outside.
    pub fn count(&self) -> usize {
        self.foreign.count.get()
    }

    /// Who has waited longest, for what only comes from outside if there is such a one.
    pub fn oldest(&self) -> Option<&'static Thread> {
        self.foreign.first.get().or_else(|| self.first_of_queues(1).pop())
    }

    /// Those who may end a sleep. Who came last is the newest of those who wait for what only comes
    /// from outside, if there is such a one.
    pub fn enders(&self, enders: Enders) -> Vec<&'static Thread> {
        let Enders::Oldest(count_max) = enders else {
            let newest = self.foreign.last.get();
            return newest.or_else(|| self.first_of_queues(1).pop()).into_iter().collect();
        };
        let reserved = self.count().min(count_max.div_ceil(2));
        let mut threads = self.first_of_queues(QUEUES_PER_SLEEP.min(count_max - reserved));
        let foreign = std::iter::successors(self.foreign.first.get(), |thread| thread.next.get());
        threads.extend(foreign.take(count_max - threads.len()));
        threads
    }

    /// After so long the queues are to be looked at again.
    pub fn look_again_in(&self) -> Option<Duration> {
        let firsts = self.first_of_queues(QUEUES_PER_SLEEP);
        firsts.into_iter().filter_map(|first| first.awaited()?.look_again_in()).min()
    }

    fn first_of_queues(&self, count_max: usize) -> Vec<&'static Thread> {
        if !self.has_queues.get() {
            return Vec::new();
        }
        let queues = self.queues.borrow();
        queues.values().filter_map(|queue| queue.first.get()).take(count_max).collect()
    }

    /// Adds a thread that is in no list, and awaits something.
    pub fn push(&self, thread: &'static Thread) {
        let queue = thread.awaited().and_then(Awaited::queue);
        thread.queue.set(queue);
        let Some(queue) = queue else { return self.foreign.push(thread) };
        self.queues.borrow_mut().entry(queue).or_default().push(thread);
        self.has_queues.set(true);
    }

    /// Whether a thread is in it that is in no other list but those of ready ones.
    pub fn has(&self, thread: &'static Thread) -> bool {
        match thread.queue.get() {
            None => self.foreign.has(thread),
            Some(queue) => self.queues.borrow().get(&queue).is_some_and(|queue| queue.has(thread)),
        }
    }

    /// Takes a thread out that is in it.
    pub fn remove(&self, thread: &'static Thread) {
        match thread.queue.get() {
            None => self.remove_foreign(thread),
            Some(queue) => self.remove_queued(thread, queue),
        }
    }

    #[inline(always)]
    fn remove_foreign(&self, thread: &'static Thread) {
        let next = self.foreign.remove(thread);
        for cursor in [&self.cursor, &self.closer] {
            if cursor.get().is_some_and(|cursor| ptr::eq(cursor, thread)) {
                cursor.set(next);
            }
        }
    }

    #[cold]
    fn remove_queued(&self, thread: &'static Thread, queue: NonZeroUsize) {
        let mut queues = self.queues.borrow_mut();
        let list = queues.get(&queue).expect("a thread that waits in a queue is in it");
        list.remove(thread);
        if list.first.get().is_none() {
            queues.remove(&queue);
            self.has_queues.set(!queues.is_empty());
        }
    }

    /// Has so many looked at more closely, all of them in turn.
    pub fn look_closer(&self, count_max: usize) {
        let mut next = self.closer.get().or(self.foreign.first.get());
        for _ in 0..count_max {
            let Some(thread) = next else { break };
            next = thread.next.get();
            thread.awaited().inspect(|awaited| awaited.look_closer());
        }
        self.closer.set(next);
    }

    /// Calls `is_over` for the threads from `first` on, of those that wait for what only comes from
    /// outside, and `wake` for those for which it says so, when they are out of the list; ends
    /// after so many for which it does not.
    #[inline]
    fn sweep_from(
        &self,
        first: Option<&'static Thread>,
        misses_max: usize,
        wake: &impl Fn(&'static Thread),
    ) -> Option<&'static Thread> {
        let mut next = first;
        let mut misses = 0;
        while let Some(thread) = next {
            if misses == misses_max {
                break;
            }
            next = thread.next.get();
            if thread.is_awaited_over() {
                self.remove_foreign(thread);
                wake(thread);
            } else {
                misses += 1;
            }
        }
        next
    }

    /// Looks at the oldest ones, and at some queues.
    #[inline]
    pub fn sweep(&self, misses_max: usize, wake: impl Fn(&'static Thread)) {
        self.sweep_from(self.foreign.first.get(), misses_max, &wake);
        if self.has_queues.get() {
            self.sweep_queues(misses_max.max(QUEUES_PER_POLL), &wake);
        }
    }

    /// Goes on where the last such look ended, so that all are looked at in turn.
    pub fn sweep_some(&self, misses_max: usize, wake: impl Fn(&'static Thread)) {
        let first = self.cursor.get().or(self.foreign.first.get());
        let next = self.sweep_from(first, misses_max, &wake);
        self.cursor.set(next);
    }

    /// Wakes those at the head of so many queues, in turn, for whom it is there. Without a borrow
    /// while anybody is asked.
    #[cold]
    fn sweep_queues(&self, count_max: usize, wake: &impl Fn(&'static Thread)) {
        let count = self.queues.borrow().len().min(count_max);
        for _ in 0..count {
            let Some(queue) = self.queue_after(self.turn.get()) else { break };
            self.turn.set(Some(queue));
            while let Some(first) = self.first_of(queue)
                && first.is_awaited_over()
            {
                self.remove(first);
                wake(first);
            }
        }
    }

    fn first_of(&self, queue: NonZeroUsize) -> Option<&'static Thread> {
        self.queues.borrow().get(&queue)?.first.get()
    }

    /// The next one, after the last the first.
    fn queue_after(&self, queue: Option<NonZeroUsize>) -> Option<NonZeroUsize> {
        let queues = self.queues.borrow();
        let after = queue.and_then(|queue| {
            let after = queue.checked_add(1)?;
            queues.range(after..).next().map(|(queue, _)| *queue)
        });
        after.or_else(|| queues.keys().next().copied())
    }
}
