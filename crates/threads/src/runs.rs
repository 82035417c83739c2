//! The runs of this process: which ones are not over, and what was left to them from outside.

use std::collections::BTreeMap;
use std::ptr::NonNull;
use std::sync::{MutexGuard, PoisonError};

use crate::kernel::Mutex;
use crate::latch::INSIDE;
use crate::scope::Family;
use crate::stacks::Stacks;
use crate::thread::Thread;

/// All of them.
pub struct Runs {
    last: u32,
    /// In the child of a fork(2): the last that its parent had begun.
    inherited: u32,
    /// Those that are not over, and whether each has one processor only. One that ended in a
    /// deadlock never is over: its threads are still there.
    live: BTreeMap<u32, bool>,
    /// Of those with one processor.
    orphans: Vec<Orphan>,
}

/// A thread whose `Forked` was dropped outside its run.
struct Orphan {
    run: u32,
    /// The scope that it was forked in, which is there until it has let go of the thread. Only
    /// compared.
    family: Option<NonNull<Family>>,
    thread: &'static Thread,
    detach: Detach,
}

/// Lets go of a thread that nobody joins, on its run's only processor or not.
pub type Detach = fn(&Stacks, &'static Thread, bool);

// SAFETY: only the thread's own processor takes it out of the list, or whoever finds the run over;
// and nobody looks at the family.
unsafe impl Send for Orphan {}

static RUNS: Mutex<Runs> =
    Mutex::new(Runs { last: 0, inherited: 0, live: BTreeMap::new(), orphans: Vec::new() });

impl Runs {
    /// In the child of a fork(2): none of them goes on here.
    pub fn forget(&mut self) {
        self.inherited = self.last;
    }
}

pub fn runs() -> MutexGuard<'static, Runs> {
    RUNS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A run begins, with one processor or several. Its number, from 1; no other run has it.
pub fn begin(is_alone: bool) -> u32 {
    let mut runs = runs();
    runs.last += 1;
    let run = runs.last;
    assert!(run < INSIDE, "a process has fewer than two thousand million runs");
    runs.live.insert(run, is_alone);
    run
}

/// A run is over; on the kernel thread that began it.
pub fn end(run: u32, stacks: &Stacks) {
    runs().live.remove(&run);
    let_go(run, None, stacks);
}

/// Lets go of the threads that were left to a run with one processor: of those of this scope, for
/// the scope, or of those of none, after the run. False: there were none.
///
/// Not of those of other scopes: dropping a result may wait, and what it borrows is there until its
/// own scope returns, which would not know of it.
pub fn let_go(run: u32, family: Option<&Family>, stacks: &Stacks) -> bool {
    let family = family.map(NonNull::from);
    let orphans: Vec<Orphan> = {
        let mut runs = runs();
        let is_ours = |orphan: &Orphan| (orphan.run, orphan.family) == (run, family);
        let (ours, others) = runs.orphans.drain(..).partition(is_ours);
        runs.orphans = others;
        ours
    };
    let has_some = !orphans.is_empty();
    // Dropping a result may run anything, so not under the lock.
    for orphan in orphans {
        (orphan.detach)(stacks, orphan.thread, false);
    }
    has_some
}

/// Whether a run is over: each of its threads has ended.
pub fn is_over(run: u32) -> bool {
    !runs().live.contains_key(&run)
}

/// Whether a run was not over when this process was made by a fork(2), and will never be.
pub fn is_left_behind(run: u32) -> bool {
    let runs = runs();
    run <= runs.inherited && runs.live.contains_key(&run)
}

/// A thread's `Forked` is dropped where the run is not. While a run with one processor goes on,
/// that one sees to it at the end, of the thread's scope if it is in one; after the run, the thread
/// has ended and is nobody's but the caller's. With several processors the join word says whose it
/// is, at any time.
#[cold]
pub fn detach_from_outside(
    run: u32,
    family: Option<&Family>,
    thread: &'static Thread,
    detach: Detach,
) {
    let mut runs = runs();
    if runs.live.get(&run) == Some(&true) {
        let family = family.map(NonNull::from);
        runs.orphans.push(Orphan { run, family, thread, detach });
        return;
    }
    drop(runs);
    let stacks = Stacks::new(thread.stack.bytes());
    detach(&stacks, thread, false);
    stacks.return_all();
}
