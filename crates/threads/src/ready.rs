//! The ready list: in the order in which threads became ready, or as the application says (U27).

use std::cell::{Cell, RefCell};
use std::fmt;

use crate::thread::{Fifo, Thread};

/// Which thread runs next, decided by the application.
///
/// Is asked between two threads, on the stack of one of them: it should decide soon, and must not
/// itself yield or wait.
///
/// ```
/// use nearcall_threads::{Policy, Ready, Setup, fork};
/// /// The thread that became ready last runs first.
/// #[derive(Default)]
/// struct Last(Vec<Ready>);
/// impl Policy for Last {
///     fn add(&mut self, thread: Ready) {
///         self.0.push(thread);
///     }
///     fn next(&mut self) -> Option<Ready> {
///         self.0.pop()
///     }
/// }
/// let setup = Setup::default().policy(Last::default());
/// assert_eq!(setup.run(|| fork(|| 3).unwrap().join().unwrap()).unwrap(), 3);
/// ```
pub trait Policy {
    /// A thread is ready.
    fn add(&mut self, thread: Ready);

    /// Gives the thread that is to run next; none only if it has none.
    fn next(&mut self) -> Option<Ready>;
}

/// A thread that is ready. Whoever drops it never runs the thread, and the run ends in a deadlock.
#[derive(Debug)]
#[must_use = "the thread runs when a policy gives this back, and never else"]
pub struct Ready(&'static Thread);

impl Ready {
    /// Its number: 1 is the first of a run.
    pub fn number(&self) -> u64 {
        self.0.number.get()
    }

    /// Its name, if it has one.
    pub fn name(&self) -> Option<String> {
        self.0.rare.borrow().name.as_deref().map(str::to_owned)
    }
}

/// The ready list of a processor.
#[derive(Default)]
pub struct ReadyList {
    fifo: Fifo,
    /// The threads are in `policy` instead.
    has_policy: Cell<bool>,
    /// Whether that may have some.
    may_have: Cell<bool>,
    policy: RefCell<Option<Box<dyn Policy>>>,
}

impl ReadyList {
    /// A list with that policy, or first come, first served.
    pub fn new(policy: Option<Box<dyn Policy>>) -> ReadyList {
        let has_policy = Cell::new(policy.is_some());
        let may_have = Cell::new(false);
        ReadyList { fifo: Fifo::new(), has_policy, may_have, policy: RefCell::new(policy) }
    }

    /// Whether no thread is ready.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.fifo.is_empty() && !self.may_have.get()
    }

    /// A thread is ready.
    #[inline(always)]
    pub fn push(&self, thread: &'static Thread) {
        if self.has_policy.get() { self.add(thread) } else { self.fifo.push(thread) }
    }

    /// Takes the next thread out.
    #[inline(always)]
    pub fn pop(&self) -> Option<&'static Thread> {
        if self.has_policy.get() { self.next() } else { self.fifo.pop() }
    }

    #[cold]
    fn add(&self, thread: &'static Thread) {
        if let Some(policy) = &mut *self.policy.borrow_mut() {
            policy.add(Ready(thread));
            self.may_have.set(true);
        }
    }

    #[cold]
    fn next(&self) -> Option<&'static Thread> {
        let next = self.policy.borrow_mut().as_mut()?.next();
        self.may_have.set(next.is_some());
        next.map(|Ready(thread)| thread)
    }
}

impl fmt::Debug for ReadyList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReadyList").field("fifo", &self.fifo).finish_non_exhaustive()
    }
}
