//! A run: a kernel thread becomes a processor until no FastThread is left, and others with it.

use std::fmt;
use std::sync::Arc;

use crate::block;
use crate::error::{RunError, Unwound};
use crate::fork::fork_on;
use crate::fork_process;
use crate::kernel::{Builder, JoinHandle, resume_unwind};
use crate::overflow;
use crate::owned::Owned;
use crate::place::Place;
use crate::processor::{Processor, Tally, here};
use crate::ready::Policy;
use crate::runs;
use crate::stack::{STACK_BYTES_MAX, STACK_BYTES_MIN, STACK_BYTES_STEP};
use crate::team::Team;
use crate::thread::{NotBegun, Thread};
use crate::whole::or_abort;

/// Most processors of a run.
pub const PROCESSORS_MAX: usize = 1024;

/// How a run is to be.
#[derive(Clone)]
pub struct Setup {
    stack_bytes: usize,
    processors: usize,
    policy: Option<Arc<MakePolicy>>,
}

/// Makes a processor's policy, on its kernel thread.
type MakePolicy = dyn Fn() -> Box<dyn Policy> + Send + Sync;

/// Runs `main` as a FastThread, on the caller's kernel thread. Returns when it and all threads that
/// it has forked, and theirs, have ended. Another kernel thread, one for all such runs of the
/// process, looks meanwhile whether a thread that does not yield keeps others waiting: see
/// [`crate::Report::late`].
///
/// # Errors: see [`RunError`]. After a deadlock the run's memory is never given back.
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
        setup.field("stack_bytes", &self.stack_bytes).field("processors", &self.processors);
        setup.field("has_policy", &has_policy).finish()
    }
}

impl Default for Setup {
    /// One processor, and stacks of 192 KiB, of which only what is touched takes memory.
    fn default() -> Setup {
        Setup { stack_bytes: 192 << 10, processors: 1, policy: None }
    }
}

impl Setup {
    /// Bytes of each thread's stack, in address space; memory is taken as it is touched.
    #[must_use]
    pub fn stack_bytes(self, bytes: usize) -> Setup {
        Setup { stack_bytes: bytes, ..self }
    }

    /// So many processors: the caller's kernel thread, and new ones beside it.
    ///
    /// A thread begins on the processor that forked it, or on one that has nothing else to do;
    /// there it stays. The first thread stays with the caller's kernel thread. A processor that is
    /// idle polls for some 20 us, and then sleeps, but looks a hundred times a second whether
    /// another one is stuck in a thread that does not yield; where there are more than 16, as much
    /// more seldom.
    ///
    /// Locks, joins and forks take locked operations then, which they do not on one processor.
    ///
    /// ```
    /// use nearcall_threads::{Setup, fork};
    /// let sum = Setup::default().processors(2).run(|| {
    ///     let threads: Vec<_> = (0..100_u32).map(|n| fork(move || n * n).unwrap()).collect();
    ///     threads.iter().map(|thread| thread.join().unwrap()).sum::<u32>()
    /// });
    /// assert_eq!(sum.unwrap(), 328_350);
    /// ```
    #[must_use]
    pub fn processors(self, processors: usize) -> Setup {
        Setup { processors, ..self }
    }

    /// Has the application decide which thread runs next, instead of the order in which they became
    /// ready. Each processor has a policy of its own, for the threads that are ready there; what it
    /// has been given begins there, too. It is dropped when the run is over.
    ///
    /// `make` is called on each processor's kernel thread. If it panics on the caller's, so does
    /// the run, of which nothing is left; on another one that ends the process.
    #[must_use]
    pub fn policy<P: Policy + 'static>(
        self,
        make: impl Fn() -> P + Send + Sync + 'static,
    ) -> Setup {
        Setup { policy: Some(Arc::new(move || Box::new(make()))), ..self }
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
        if !(1..=PROCESSORS_MAX).contains(&self.processors) {
            return Err(RunError::Processors(self.processors));
        }
        fork_process::watch();
        let _overflow = overflow::watch();
        // Before there is a run: it may panic.
        let policy = self.make_policy();
        let run = runs::begin(self.processors == 1);
        let team: Owned<Team<NotBegun>> = Owned::new(Team::new(run, self.processors));
        let own = self.processor(Place { team: team.shared(), at: 0 }, policy);
        let processor = own.processor.shared();
        let watching = processor.watch();
        let (others, outcome) = self.begin_others(team.shared());
        let first = outcome
            .and_then(|()| fork_on(processor, Some("main"), true, main).map_err(RunError::Fork));
        let tally = processor.run();
        let others: Vec<Ended> = others.into_iter().map(join).collect();
        let tally = others.iter().map(|other| other.tally).fold(tally, Tally::add);
        drop(watching);
        if tally.forked != tally.ended {
            return Err(RunError::Deadlock(processor.report(tally.late)));
        }
        let outcome = first.map(|first| first.take_ended(processor));
        runs::end(run, &processor.stacks);
        processor.stacks.return_all();
        processor.drop_policy();
        block::end_run();
        for own in others.into_iter().map(|other| other.own).chain([own]) {
            // SAFETY: S1, as below.
            unsafe { own.free() };
        }
        // SAFETY: S1: every thread of the run has ended, and so has every kernel thread of it but
        // this one, which is no processor any more. Others reach processors by what they watch or
        // wake, and nobody does after the two ends above.
        unsafe { team.free() };
        match outcome? {
            Ok(result) => Ok(result),
            Err(payload) => resume_unwind(Unwound::of(payload).payload),
        }
    }

    fn make_policy(&self) -> Option<Box<dyn Policy>> {
        self.policy.as_ref().map(|make| make())
    }

    /// A processor at this place, on its kernel thread.
    fn processor(&self, place: Place, policy: Option<Box<dyn Policy>>) -> Own {
        let stack_bytes = self.stack_bytes.next_multiple_of(STACK_BYTES_STEP);
        let root = Owned::new(Thread::of_kernel_thread());
        let processor = Processor::new(root.shared(), place, stack_bytes, policy);
        Own { root, processor: Owned::new(processor) }
    }

    /// Begins all processors but the first. If one cannot be made, it and those after it rest.
    fn begin_others(
        self,
        team: &'static Team<NotBegun>,
    ) -> (Vec<JoinHandle<Ended>>, Result<(), RunError>) {
        let (mut others, setup) = (Vec::new(), Arc::new(self));
        for at in 1..setup.processors {
            let (place, setup) = (Place { team, at: at as u16 }, Arc::clone(&setup));
            let name = format!("fastthreads-{}", at + 1);
            match Builder::new().name(name).spawn(move || setup.run_other(place)) {
                Ok(other) => others.push(other),
                Err(source) => {
                    (at..team.members().len()).for_each(|at| team.retire(at));
                    return (others, Err(RunError::NoProcessor { number: at + 1, source }));
                }
            }
        }
        (others, Ok(()))
    }

    fn run_other(&self, place: Place) -> Ended {
        let _overflow = overflow::watch();
        or_abort(|| {
            let own = self.processor(place, self.make_policy());
            let processor = own.processor.shared();
            let tally = processor.run();
            processor.stacks.return_all();
            processor.drop_policy();
            Ended { tally, own }
        })
    }
}

/// What a processor is made of.
struct Own {
    root: Owned<Thread>,
    processor: Owned<Processor>,
}

impl Own {
    /// # Safety
    ///
    /// - S1 unused: nobody uses either any more.
    unsafe fn free(self) {
        // SAFETY: S1.
        unsafe { self.processor.free() };
        // SAFETY: S1, and the processor, which has it, is gone.
        unsafe { self.root.free() };
    }
}

/// A processor of a run that is over.
struct Ended {
    tally: Tally,
    own: Own,
}

// SAFETY: its kernel thread ends with it, so that whoever has it is alone with what there is, of
// which the policy, all that may be anybody's, is dropped. It is freed, and nothing else.
unsafe impl Send for Ended {}

/// What another processor of the run has done, when it is over.
fn join(other: JoinHandle<Ended>) -> Ended {
    other.join().expect("a processor that panics ends the process")
}
