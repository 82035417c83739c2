//! Runs after which every stack is free again, and free once.

use std::collections::HashSet;
use std::ptr;

use crate::error::RunError;
use crate::run::Setup;
use crate::stack::{STACK_BYTES_MIN, STACK_BYTES_STEP};
use crate::stacks::{Stacks, for_each};
use crate::thread::Thread;

/// A play's stacks. Plays at once share the pool, which keeps a list for each number of bytes: each
/// play has its own number.
#[derive(Clone, Copy)]
pub enum Play {
    Tree,
    Cancelled,
    Locks,
    Deadlock,
    Replies,
    Scopes,
    CancelledScopes,
}

impl Play {
    fn stack_bytes(self) -> usize {
        STACK_BYTES_MIN + self as usize * STACK_BYTES_STEP
    }

    /// A run on three processors.
    pub fn setup(self) -> Setup {
        Setup::default().processors(3).stack_bytes(self.stack_bytes())
    }

    /// Runs `body` and whatever it forks.
    ///
    /// # Panics: if a stack is not free when the run is over, or in two lists.
    pub fn run<T: Send + 'static>(
        self,
        body: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, RunError> {
        let result = self.setup().run(body);
        self.check_free();
        result
    }

    /// Takes as many as there are from the pool: all of them are there only if that maps no more.
    fn check_free(self) {
        let mapped = self.mapped();
        let stacks = Stacks::new(self.stack_bytes());
        let taken: Vec<&Thread> = (0..mapped).map(|_| stacks.take().unwrap()).collect();
        let different: HashSet<*const Thread> = taken.iter().copied().map(ptr::from_ref).collect();
        assert!(mapped > 0);
        assert_eq!((different.len(), self.mapped()), (mapped, mapped), "stacks that are free");
        taken.into_iter().for_each(|thread| stacks.give(thread));
        stacks.return_all();
    }

    /// How many stacks there are, whoever has them.
    fn mapped(self) -> usize {
        let mut mapped = 0;
        for_each(|thread| mapped += usize::from(thread.stack.bytes() == self.stack_bytes()));
        mapped
    }
}
