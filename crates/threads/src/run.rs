//! A run: a kernel thread becomes a processor until no FastThread is left.

use std::fmt;

use crate::error::RunError;
use crate::fork::fork_on;
use crate::fork_process;
use crate::overflow;
use crate::processor::{Processor, here};
use crate::ready::Policy;
use crate::runs;
use crate::stack::{STACK_BYTES_MAX, STACK_BYTES_MIN, STACK_BYTES_STEP};

/// How a run is to be.
pub struct Setup {
    stack_bytes: usize,
    policy: Option<Box<dyn Policy>>,
}

/// Runs `main` as a FastThread, on the caller's kernel thread. Returns when it and all threads that
/// it has forked, and theirs, have ended.
///
/// # Errors: see [`RunError`].
///
/// # Panics
///
/// With what `main` panics with, when all others have ended.
///
/// ```
/// assert_eq!(nearcall_threads::run(|| 7).unwrap(), 7);
/// ```
pub fn run<T: 'static>(main: impl FnOnce() -> T + 'static) -> Result<T, RunError> {
    Setup::default().run(main)
}

impl fmt::Debug for Setup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let has_policy = self.policy.is_some();
        let mut setup = f.debug_struct("Setup");
        setup.field("stack_bytes", &self.stack_bytes).field("has_policy", &has_policy).finish()
    }
}

impl Default for Setup {
    /// Stacks of 192 KiB, of which only what is touched takes memory.
    fn default() -> Setup {
        Setup { stack_bytes: 192 << 10, policy: None }
    }
}

impl Setup {
    /// Bytes of each thread's stack, in address space; memory is taken as it is touched.
    #[must_use]
    pub fn stack_bytes(self, bytes: usize) -> Setup {
        Setup { stack_bytes: bytes, ..self }
    }

    /// Has the application decide which thread runs next, instead of the order in which they became
    /// ready.
    #[must_use]
    pub fn policy(self, policy: impl Policy + 'static) -> Setup {
        Setup { policy: Some(Box::new(policy)), ..self }
    }

    /// See [`run`].
    ///
    /// # Errors: see [`RunError`].
    ///
    /// # Panics
    ///
    /// With what `main` panics with.
    pub fn run<T: 'static>(self, main: impl FnOnce() -> T + 'static) -> Result<T, RunError> {
        if here().is_some() {
            return Err(RunError::InsideRun);
        }
        if !(STACK_BYTES_MIN..=STACK_BYTES_MAX).contains(&self.stack_bytes) {
            return Err(RunError::StackBytes(self.stack_bytes));
        }
        fork_process::watch();
        let _overflow = overflow::watch();
        let stack_bytes = self.stack_bytes.next_multiple_of(STACK_BYTES_STEP);
        let run = runs::begin();
        let processor = Processor::new(run, stack_bytes, self.policy);
        let first = fork_on(processor, Some("main"), main);
        let is_over = processor.run();
        if !is_over {
            return Err(RunError::Deadlock(processor.report()));
        }
        let outcome = first.map(|first| first.take_ended(processor));
        runs::end(run, &processor.stacks);
        processor.stacks.return_all();
        match outcome.map_err(RunError::Fork)? {
            Ok(result) => Ok(result),
            Err(payload) => std::panic::resume_unwind(payload),
        }
    }
}
