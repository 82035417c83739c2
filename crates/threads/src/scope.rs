//! Threads that borrow from the stack of the thread that waits for all of them.
//!
//! ```text
//!   scope ──▶ body ──▶ waits until no thread is left in it ──▶ returns, panics or unwinds
//!               │ fork                  ▲
//!               ▼                       │ the end of the last one
//!            threads, which fork others in it
//! ```
//!
//! A thread is in its scope from before it can begin until the last thing that it does with what is
//! borrowed: its closure is gone then, and so is its result if nobody wants that. A result that
//! somebody may still take is not touched after that but by who has the [`ScopedForked`], whose
//! lifetime ends within the scope; one that is dropped where the run is not is left to the scope
//! (`runs.rs`). That one drops it on its own thread before it returns; no other scope does, because
//! dropping it may wait, and its own would return meanwhile.
//!
//! So nothing depends on what becomes of those handles: one that is forgotten keeps a result, which
//! nobody looks at any more, and the stack below it.

use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;
use std::panic::AssertUnwindSafe;

use crate::cancel::{Unwind, shield};
use crate::error::{ForkError, JoinError, Outside};
use crate::fork::{Forked, Named, fork_in};
use crate::kernel::{catch_unwind, resume_unwind};
use crate::monitor::{Monitor, Words};
use crate::processor::{Processor, here, here_for, outside};
use crate::report::Waited;
use crate::runs;
use crate::thread::Thread;
use crate::whole::or_abort;

/// Runs `body`, which may fork threads that borrow what lives longer than this call, and returns
/// when all of these have ended, joined or not, as [`std::thread::scope`] does.
///
/// Waits after `body`, and lets other FastThreads run meanwhile, for as long as a thread of the
/// scope lives; also if `body` panics.
///
/// A cancel of the caller is passed on: if it has ended `body`, or comes while the scope waits,
/// whatever is left in the scope is cancelled, too, and so is what is forked in it after that; the
/// caller unwinds when all of it has ended. One that comes while `body` does not wait, and no
/// thread is left after it, has its effect where the caller waits next. In a [`shield`] nothing is
/// cancelled. A thread of another processor for which no stack is left to tell it goes on, and is
/// waited for.
///
/// # Panics
///
/// With what `body` panics with; else, if a thread of the scope has panicked and nobody has got to
/// know it by a join; and if the caller is no FastThread. In the child of a fork(2) that `body` has
/// made, at its end: the scope's threads do not go on there.
///
/// # Cost: beside a fork's, an entry in a tree for each thread, which may allocate, and a switch at
/// its end.
///
/// ```
/// use nearcall_threads::{run, scope};
/// let sum = run(|| {
///     let numbers = [1, 2, 3, 4];
///     let (left, right) = numbers.split_at(2);
///     scope(|scope| {
///         let left = scope.fork(|| left.iter().sum::<u32>()).unwrap();
///         left.join().unwrap() + right.iter().sum::<u32>()
///     })
/// });
/// assert_eq!(sum.unwrap(), 10);
/// ```
#[track_caller]
pub fn scope<'env, F, R>(body: F) -> R
where
    F: for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> R,
{
    let run = here_for("scope").run_number();
    let scope = Scope { inside: Family::new(run), scope: PhantomData, env: PhantomData };
    let outcome = catch_unwind(AssertUnwindSafe(|| body(&scope)));
    // None in the child of a fork(2).
    let processor = here_for("scope");
    let cancelled = or_abort(|| scope.inside.wait_for_all(processor));
    match (outcome, cancelled) {
        (Err(payload), _) => resume_unwind(payload),
        (Ok(_), Some(cancelled)) => cancelled.unwind(),
        (Ok(_), None) if scope.inside.has_panicked(processor) => {
            panic!("a FastThread of a scope panicked, and was not joined")
        }
        (Ok(result), None) => result,
    }
}

/// Where threads are forked that end before [`scope()`] returns.
///
/// `'scope` is what they, their results and the handles to them may last for; `'env` what they may
/// borrow from, which was there before. What `body` itself has ends before they do:
///
/// ```compile_fail,E0373
/// nearcall_threads::scope(|scope| {
///     let short = 1;
///     let _ = scope.fork(|| short + 1);
/// });
/// ```
pub struct Scope<'scope, 'env: 'scope> {
    inside: Family,
    scope: PhantomData<&'scope mut &'scope ()>,
    env: PhantomData<&'env mut &'env ()>,
}

/// A FastThread that was forked in a scope. Dropping it lets the thread go on alone, until the
/// scope's end at most.
///
/// Can be given to another FastThread of the scope, and be joined there. One that is forgotten
/// ([`std::mem::forget`]) keeps its thread's stack for good.
pub struct ScopedForked<'scope, T> {
    forked: Forked<T>,
    inside: &'scope Family,
}

impl<'scope> Scope<'scope, '_> {
    /// Forks a thread in this scope; else as [`crate::fork()`]. Other threads of the scope may do
    /// so, too.
    ///
    /// # Errors: see [`ForkError`]. Nothing is left behind.
    ///
    /// # Cost: see [`scope()`].
    pub fn fork<F, T>(&'scope self, body: F) -> Result<ScopedForked<'scope, T>, ForkError>
    where
        F: FnOnce() -> T + Send + 'scope,
        T: Send + 'scope,
    {
        self.fork_as(None, body)
    }

    fn fork_as<F, T>(
        &'scope self,
        name: Option<&str>,
        body: F,
    ) -> Result<ScopedForked<'scope, T>, ForkError>
    where
        F: FnOnce() -> T + Send + 'scope,
        T: Send + 'scope,
    {
        let inside = &self.inside;
        let processor = here().ok_or_else(|| ForkError::Outside(outside()))?;
        if processor.run_number() != inside.run {
            return Err(ForkError::Outside(Outside::OtherRun));
        }
        // SAFETY: S1: `scope`, whose `inside` is, comes to an end only when no thread is left in
        // it, and nobody who has what lasts for `'scope`, as the caller has, goes on after that.
        // S2: the handle below lasts no longer than `'scope`, and is dropped by `drop_in`; before
        // the end of that `scope` itself lets go of what was left to it, and nobody else does.
        let forked = unsafe { fork_in(processor, name, inside, body) }?;
        Ok(ScopedForked { forked, inside })
    }
}

impl Named<'_> {
    /// The same in a scope; see [`Scope::fork`].
    ///
    /// # Errors: see [`ForkError`].
    ///
    /// ```
    /// use nearcall_threads::{name, named, run, scope};
    /// let name = run(|| {
    ///     scope(|scope| named("reader").fork_in(scope, name).unwrap().join().unwrap())
    /// });
    /// assert_eq!(name.unwrap().as_deref(), Some("reader"));
    /// ```
    pub fn fork_in<'scope, F, T>(
        self,
        scope: &'scope Scope<'scope, '_>,
        body: F,
    ) -> Result<ScopedForked<'scope, T>, ForkError>
    where
        F: FnOnce() -> T + Send + 'scope,
        T: Send + 'scope,
    {
        scope.fork_as(Some(self.0), body)
    }
}

impl<T> ScopedForked<'_, T> {
    /// Waits until the thread has ended, and takes its result; see [`Forked::join`].
    ///
    /// # Errors: its panic, of which the scope says nothing then, or why it cannot be joined; see
    /// [`JoinError`].
    pub fn join(&self) -> Result<T, JoinError> {
        let joined = self.forked.join();
        if let (Err(JoinError::Panicked(_)), Some(processor)) = (&joined, here()) {
            self.inside.forgive(processor);
        }
        joined
    }

    /// Whether the thread has ended; see [`Forked::is_finished`]. The scope may wait for it yet.
    pub fn is_finished(&self) -> bool {
        self.forked.is_finished()
    }

    /// The thread's number; see [`Forked::number`].
    pub fn number(&self) -> Option<u64> {
        self.forked.number()
    }

    /// Asks the thread to end; see [`Forked::cancel`].
    ///
    /// # Errors: as there.
    pub fn cancel(&self) -> Result<(), ForkError> {
        self.forked.cancel()
    }
}

/// The threads that are in a scope.
#[derive(Debug)]
pub struct Family {
    run: u32,
    monitor: Monitor<Members>,
}

/// What only one of them sees at a time.
#[derive(Debug)]
struct Members {
    /// Those that have not left, by their numbers.
    threads: BTreeMap<u64, &'static Thread>,
    /// How many have panicked, and were not joined.
    panics: usize,
    /// Whoever comes is cancelled.
    is_cancelled: bool,
}

impl Words for Members {
    const KIND: &'static str = "scope";
}

impl Family {
    fn new(run: u32) -> Family {
        let threads = BTreeMap::new();
        Family { run, monitor: Monitor::new(Members { threads, panics: 0, is_cancelled: false }) }
    }

    /// A thread is in it, which has its number, and has not begun.
    pub fn add(&self, processor: &Processor, thread: &'static Thread) {
        self.monitor.enter(processor, |inside| {
            inside.state.threads.insert(thread.number.get(), thread);
        });
    }

    /// Whether a thread that may begin is to be cancelled: nobody has done that who came before it
    /// could.
    pub fn is_cancelled(&self, processor: &Processor) -> bool {
        self.monitor.enter(processor, |inside| inside.state.is_cancelled)
    }

    /// A thread that is in it has panicked; before anybody can have joined it.
    pub fn note_panic(&self, processor: &Processor) {
        self.monitor.enter(processor, |inside| inside.state.panics += 1);
    }

    /// Who has joined it knows.
    fn forgive(&self, processor: &Processor) {
        self.monitor.enter(processor, |inside| inside.state.panics -= 1);
    }

    fn has_panicked(&self, processor: &Processor) -> bool {
        self.monitor.enter(processor, |inside| inside.state.panics > 0)
    }

    /// A thread has ended, and touches nothing any more that is borrowed. This may be gone when it
    /// returns.
    pub fn leave(&self, processor: &Processor, thread: &Thread) {
        let waiter = self.monitor.enter(processor, |inside| {
            inside.state.threads.remove(&thread.number.get());
            if inside.state.threads.is_empty() { inside.waiters.pop() } else { None }
        });
        if let Some(waiter) = waiter {
            processor.wake(waiter);
        }
    }

    /// Returns when no thread is in it, and all results are dropped whose handles were dropped
    /// where the run is not; if the caller was cancelled before that, by what it is to unwind.
    fn wait_for_all(&self, processor: &'static Processor) -> Option<Unwind> {
        let mut cancelled = None;
        loop {
            cancelled = cancelled.or(self.wait(processor).err());
            // Whatever is dropped there may fork others.
            if !processor.is_alone() || !runs::let_go(self.run, Some(self), &processor.stacks) {
                return cancelled;
            }
        }
    }

    /// Waits until no thread is in it.
    ///
    /// # Errors: the caller was cancelled before that, and all of them with it.
    fn wait(&self, processor: &'static Processor) -> Result<(), Unwind> {
        let is_empty = self.monitor.enter(processor, |inside| {
            let is_empty = inside.state.threads.is_empty();
            if !is_empty {
                inside.waiters.push(processor.running());
            }
            is_empty
        });
        if is_empty {
            return Ok(());
        }
        let outcome = processor.block_unless_cancelled(&self.monitor);
        if outcome.is_err() {
            self.cancel_all(processor);
            // In the shield it is not cancelled.
            shield(|| self.wait(processor))?;
        }
        outcome
    }

    fn cancel_all(&self, processor: &'static Processor) {
        let targets: Vec<_> = self.monitor.enter(processor, |inside| {
            inside.state.is_cancelled = true;
            // Those that have not left have their records.
            let threads = inside.state.threads.iter();
            threads.filter_map(|(&number, thread)| processor.aim_at(thread, number)).collect()
        });
        for target in targets {
            // One that nobody can tell goes on.
            let _ = processor.cancel_target(target);
        }
    }
}

impl Waited for Monitor<Members> {
    fn describe(&self) -> String {
        let count = self.seen(|inside| inside.state.threads.len());
        format!("the end of its scope (threads in it: {count})")
    }

    fn holder(&self) -> Option<usize> {
        self.seen(|inside| {
            let mut threads = inside.state.threads.values();
            let first = threads.next()?;
            threads.next().is_none().then(|| first.address())
        })
    }

    fn withdraw(&self, processor: &Processor, thread: &'static Thread) -> bool {
        Monitor::withdraw(self, processor, thread)
    }
}

impl<T> Drop for ScopedForked<'_, T> {
    fn drop(&mut self) {
        self.forked.drop_in(self.inside);
    }
}

impl fmt::Debug for Scope<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scope").field("run", &self.inside.run).finish_non_exhaustive()
    }
}

impl<T> fmt::Debug for ScopedForked<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ScopedForked").field(&self.forked).finish()
    }
}
