//! Calls that the watcher has found and that wait for a processor, whichever is free first: so that
//! procedures that take a while run side by side (L38; design note 0003).
//!
//! ```text
//!  watcher finds 1 2 3 ── puts them in ──▶ │ 3 2 1 │ ──▶ runs what nobody else begins at once
//!                                              └──────▶ takers: reliefs, one a processor at most
//! ```
//!
//! Only while calls have taken long lately, and where that serves more: to hand one over costs more
//! than a short one takes.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, MutexGuard};

use nearcall_core::handing::WORTH_NS;
use nearcall_core::{Mode, Sequence, Step, WaitPolicy, Waiter};
use nearcall_os::forks::OwnLock;
use nearcall_os::{HeadWords, clock, futex, processor};

use super::binding::ServerBinding;
use super::{current, holding, run};
use crate::client::wait::YIELD_BAN;
use crate::domain::DomainCore;
use crate::spinning;

/// A call counts for so long at most, nanoseconds.
const COUNTED_NS_MAX: u64 = 1_000_000;

/// Of how many calls about it is the mean.
const WEIGHT: u32 = 8;

/// Calls that wait, for each processor that could run them: more would wait here for those that
/// come first, and not by whose turn it is.
const EACH_MAX: usize = 2;

/// A call that waits. Whoever takes it claims it, or finds that somebody has.
#[derive(Debug)]
pub(crate) struct Waiting {
    pub binding: Arc<ServerBinding>,
    pub index: u32,
    pub call: (Sequence, HeadWords),
}

/// The calls that wait, and who runs them.
#[derive(Debug)]
pub(crate) struct Backlog {
    calls: OwnLock<VecDeque<Waiting>>,
    /// How many there are: written under their lock.
    count: AtomicU32,
    /// How long calls took lately, nanoseconds.
    run_ns: AtomicU32,
    /// Calls that takers have run.
    taken: AtomicU32,
    /// Processors that run them beside the watcher, and how many of those look for one just now.
    takers: AtomicU32,
    idle: AtomicU32,
    /// Reliefs that are parked, and the word that they sleep on: counts how often one was called.
    parked: AtomicU32,
    called: AtomicU32,
    /// Most takers.
    takers_max: u32,
}

impl Backlog {
    /// Of a domain that has so many processors at most.
    pub fn new(processors_max: u32) -> Backlog {
        let most = (processor::count_allowed() as u32).min(processors_max);
        Backlog {
            calls: OwnLock::new(),
            count: AtomicU32::new(0),
            run_ns: AtomicU32::new(0),
            taken: AtomicU32::new(0),
            takers: AtomicU32::new(0),
            idle: AtomicU32::new(0),
            parked: AtomicU32::new(0),
            called: AtomicU32::new(0),
            takers_max: most.saturating_sub(1),
        }
    }

    /// Calls take so long that they may be handed over.
    #[inline]
    pub fn is_worth_it(&self) -> bool {
        self.run_ns() >= WORTH_NS && self.takers_max > 0
    }

    /// How long calls took lately, nanoseconds.
    #[inline]
    pub fn run_ns(&self) -> u32 {
        // Relaxed: an estimate.
        self.run_ns.load(Ordering::Relaxed)
    }

    /// Calls have taken so long each.
    pub fn told_run(&self, took_ns: u64) {
        let took_ns = took_ns.min(COUNTED_NS_MAX) as u32;
        // Relaxed, both: an estimate, of which others' parts may be lost.
        let before = self.run_ns.load(Ordering::Relaxed);
        self.run_ns.store(before - before / WEIGHT + took_ns / WEIGHT, Ordering::Relaxed);
    }

    /// Whether some wait.
    ///
    /// # Cost: one load.
    #[inline]
    pub fn is_some(&self) -> bool {
        // Relaxed: who has put one in sees it; whoever else is told takes it under the lock.
        self.count.load(Ordering::Relaxed) > 0
    }

    /// Somebody looks for a call just now.
    #[inline]
    pub fn has_idle_taker(&self) -> bool {
        // Relaxed: a hint.
        self.idle.load(Ordering::Relaxed) > 0
    }

    /// The next look of a watcher may find this call again.
    pub fn has(&self, key: u64, index: u32) -> bool {
        self.is_some()
            && self.calls().iter().any(|each| each.binding.key == key && each.index == index)
    }

    /// How many takers have run.
    pub fn taken_count(&self) -> u32 {
        // Relaxed: an estimate.
        self.taken.load(Ordering::Relaxed)
    }

    /// Puts a call in. False: as many wait as may.
    pub fn put(&self, waiting: Waiting) -> bool {
        let mut calls = self.calls();
        if calls.len() >= EACH_MAX * (self.takers_max as usize + 1) {
            return false;
        }
        calls.push_back(waiting);
        self.note(&calls);
        true
    }

    /// The one that has waited longest.
    pub fn take(&self) -> Option<Waiting> {
        let mut calls = self.calls();
        let taken = calls.pop_front();
        self.note(&calls);
        taken
    }

    /// The same for the watcher: what takers begin at once is left to them.
    pub fn take_left(&self) -> Option<Waiting> {
        let mut calls = self.calls();
        // Under the lock, which a taker takes once more when it is idle no more: it has either
        // taken the call, or is not counted (Relaxed).
        if calls.len() <= self.idle.load(Ordering::Relaxed) as usize {
            return None;
        }
        let taken = calls.pop_front();
        self.note(&calls);
        taken
    }

    /// Wakes a relief, if the watcher and whoever is idle leave something.
    ///
    /// # Cost: a system call, while a relief is parked that is not needed elsewhere.
    pub fn call_taker(&self) {
        // Relaxed, all of them: hints. One that is about to park looks first, and what nobody is
        // called for the watcher runs itself.
        let left = self.count.load(Ordering::Relaxed);
        // Relaxed: as above.
        let is_enough = left <= self.idle.load(Ordering::Relaxed) + 1;
        // Relaxed: as above.
        let has_most = self.takers.load(Ordering::Relaxed) >= self.takers_max;
        // Relaxed: as above.
        if is_enough || has_most || self.parked.load(Ordering::Relaxed) == 0 {
            return;
        }
        // Release: what was put in is seen by who sees the count.
        self.called.fetch_add(1, Ordering::Release);
        futex::wake_first_own(&self.called);
    }

    /// What a relief sleeps on, and how often it was called so far.
    pub fn call_word(&self) -> (&AtomicU32, u32) {
        // Acquire: as in `call_taker`.
        (&self.called, self.called.load(Ordering::Acquire))
    }

    /// A relief is parked while `sleep` runs.
    pub fn parked<T>(&self, sleep: impl FnOnce() -> T) -> T {
        // Relaxed, both: hints, as in `call_taker`.
        self.parked.fetch_add(1, Ordering::Relaxed);
        let slept = sleep();
        // Relaxed: as above.
        self.parked.fetch_sub(1, Ordering::Relaxed);
        slept
    }

    /// Whether a relief is to be a taker. It is one then, until [`Backlog::leave`].
    pub fn join(&self) -> bool {
        if !self.is_some() {
            return false;
        }
        let more = |takers| (takers < self.takers_max).then_some(takers + 1);
        // Relaxed: a count that orders nothing.
        self.takers.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).is_ok()
    }

    /// It is one no more.
    pub fn leave(&self) {
        // Relaxed: as in `join`.
        self.takers.fetch_sub(1, Ordering::Relaxed);
    }

    /// Takes a call, or looks for one for a while: `None` if none came.
    pub fn take_soon(&self, policy: &WaitPolicy) -> Option<Waiting> {
        self.take().or_else(|| {
            let spinner = spinning::begin()?;
            // Relaxed, both: see `take_left`.
            self.idle.fetch_add(1, Ordering::Relaxed);
            let mut ban = YIELD_BAN.get();
            let mut waiter = Waiter::new(policy, &mut ban, policy.spin_ns_max);
            let begin = clock::ticks();
            while !self.is_some()
                && let Step::Spin { polls } = waiter.next(clock::now_ns, false)
            {
                let polls = spinning::share(polls, &mut waiter, &mut ban);
                (0..polls).take_while(|_| !self.is_some()).for_each(|_| processor::relax());
            }
            YIELD_BAN.set(ban);
            spinner.end(clock::ns_since(begin).saturating_sub(waiter.shared_ns()));
            // Relaxed: as above.
            self.idle.fetch_sub(1, Ordering::Relaxed);
            self.take()
        })
    }

    fn calls(&self) -> MutexGuard<'_, VecDeque<Waiting>> {
        self.calls.lock()
    }

    fn note(&self, calls: &VecDeque<Waiting>) {
        // Relaxed: see `is_some`.
        self.count.store(calls.len() as u32, Ordering::Relaxed);
    }
}

/// Runs calls that the watcher hands over, until none has come for a while: what a relief does that
/// has joined.
pub(crate) fn take_calls(core: &Arc<DomainCore>) {
    let backlog = &core.processors.backlog;
    // Calls keep a processor more.
    holding::judge(core);
    let mut snapshot = core.table.load();
    current::serve_from(&snapshot);
    while let Some(waiting) = backlog.take_soon(&core.options.wait) {
        if snapshot.epoch != core.table.epoch() {
            snapshot = core.table.load();
            current::serve_from(&snapshot);
        }
        run_taken(core, waiting);
        if core.has_come_back_forked() {
            return;
        }
    }
    backlog.leave();
    holding::judge_again(core);
}

/// Runs one, on another processor than the watcher's. Its client rings for the next.
fn run_taken(core: &DomainCore, Waiting { binding, index, call }: Waiting) {
    if core.processors.holding.holds(binding.class.user()) {
        // Its client rings again, as for a bell that was lost.
        return;
    }
    let begin = clock::ticks();
    let astack = (&*binding, binding.astack(index));
    if run::run(processor::current, astack, call, Mode::Bell, || {}).is_some() {
        let backlog = &core.processors.backlog;
        backlog.told_run(clock::ns_since(begin));
        // Relaxed: see `taken_count`.
        backlog.taken.fetch_add(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROCESSORS: u32 = 4;

    /// Where calls take as long as this has been told.
    fn backlog(took_ns: u64) -> Backlog {
        let backlog = Backlog { takers_max: PROCESSORS - 1, ..Backlog::new(PROCESSORS) };
        (0..64).for_each(|_| backlog.told_run(took_ns));
        backlog
    }

    #[test]
    fn it_is_worth_it_where_calls_take_long_and_there_is_another_processor() {
        assert!(backlog(20_000).is_worth_it());
        assert!(!backlog(1_000).is_worth_it());
        assert!(!Backlog { takers_max: 0, ..backlog(20_000) }.is_worth_it());
        assert_eq!(Backlog::new(1).takers_max, 0);
    }

    #[test]
    fn one_call_that_took_for_ever_counts_as_one() {
        let backlog = backlog(200);
        backlog.told_run(u64::MAX);
        assert!(backlog.is_worth_it());
        (0..40).for_each(|_| backlog.told_run(200));
        assert!(!backlog.is_worth_it());
    }

    #[test]
    fn there_are_fewer_takers_than_processors_and_none_for_nothing() {
        let backlog = backlog(20_000);
        assert!(!backlog.join(), "nothing waits");
        // Relaxed: this test's own.
        backlog.count.store(1, Ordering::Relaxed);
        let joined = (0..2 * PROCESSORS).filter(|_| backlog.join()).count();
        assert_eq!(joined as u32, PROCESSORS - 1);
        backlog.leave();
        assert!(backlog.join());
    }
}
