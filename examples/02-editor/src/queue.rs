//! What one FastThread leaves for another to do.

use std::collections::VecDeque;
use std::sync::PoisonError;

use nearcall_threads::{Condition, Mutex};

/// A queue with an end.
#[derive(Debug)]
pub struct Queue<T> {
    waiting: Mutex<Waiting<T>>,
    has_some: Condition,
}

#[derive(Debug)]
struct Waiting<T> {
    things: VecDeque<T>,
    is_over: bool,
}

impl<T> Queue<T> {
    /// Nothing is to be done.
    pub fn new() -> Queue<T> {
        let waiting = Mutex::new(Waiting { things: VecDeque::new(), is_over: false });
        Queue { waiting, has_some: Condition::new() }
    }

    /// Leaves something.
    pub fn push(&self, thing: T) {
        self.change(|waiting| waiting.things.push_back(thing));
    }

    /// Nothing more is left after this.
    pub fn end(&self) {
        self.change(|waiting| waiting.is_over = true);
    }

    fn change(&self, change: impl FnOnce(&mut Waiting<T>)) {
        // A thread that panicked has left a whole queue.
        change(&mut self.waiting.lock().unwrap_or_else(PoisonError::into_inner));
        self.has_some.signal();
    }

    /// Waits for the next; `None`: it is over.
    pub fn pop(&self) -> Option<T> {
        let waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let is_empty = |waiting: &mut Waiting<T>| waiting.things.is_empty() && !waiting.is_over;
        let waiting = self.has_some.wait_while(waiting, is_empty);
        waiting.unwrap_or_else(PoisonError::into_inner).things.pop_front()
    }
}
