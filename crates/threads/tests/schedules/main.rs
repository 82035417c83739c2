//! Whole runs of several processors, under many schedules that chance chooses (shuttle, PCT).
//!
//! The models (`tests/model`) try every interleaving of a few steps. Here FastThreads fork, join,
//! open scopes, lock, signal, yield and are cancelled on three processors until the run is over; of
//! its interleavings some are tried, those first that a few unlucky preemptions make. A processor
//! that nobody wakes any more fails the run, which prints its schedule; the same seed makes the
//! same schedules.
//!
//! It is the library's own scheduler, with its stacks and its switch: all of its sources, compiled
//! against the `sync` and the `kernel` of this directory.

#![allow(dead_code)]

#[path = "../../src/awaited.rs"]
mod awaited;
#[path = "../../src/block.rs"]
mod block;
#[path = "../../src/cancel.rs"]
mod cancel;
#[path = "../../src/circle.rs"]
mod circle;
#[path = "../../src/condition.rs"]
mod condition;
#[path = "../../src/error.rs"]
mod error;
#[path = "../../src/fork.rs"]
mod fork;
#[path = "../../src/fork_process.rs"]
mod fork_process;
#[path = "../../src/home.rs"]
mod home;
#[path = "../../src/host.rs"]
mod host;
#[path = "../../src/inbox.rs"]
mod inbox;
#[path = "../../src/join.rs"]
mod join;
#[path = "../../src/latch.rs"]
mod latch;
#[path = "../../src/local.rs"]
mod local;
#[path = "../../src/monitor.rs"]
mod monitor;
#[path = "../../src/mutex.rs"]
mod mutex;
#[path = "../../src/once.rs"]
mod once;
#[path = "../../src/overflow.rs"]
mod overflow;
#[path = "../../src/owned.rs"]
mod owned;
#[path = "../../src/place.rs"]
mod place;
#[path = "../../src/processor.rs"]
mod processor;
#[path = "../../src/ready.rs"]
mod ready;
#[path = "../../src/report.rs"]
mod report;
#[path = "../../src/run.rs"]
mod run;
#[path = "../../src/runs.rs"]
mod runs;
#[path = "../../src/rwlock.rs"]
mod rwlock;
#[path = "../../src/scope.rs"]
mod scope;
#[path = "../../src/semaphore.rs"]
mod semaphore;
#[path = "../../src/sleep.rs"]
mod sleep;
#[path = "../../src/stack.rs"]
mod stack;
#[path = "../../src/stacks.rs"]
mod stacks;
#[path = "../../src/switch.rs"]
mod switch;
#[path = "../../src/team.rs"]
mod team;
#[path = "../../src/thief.rs"]
mod thief;
#[path = "../../src/thread.rs"]
mod thread;
#[path = "../../src/unbegun.rs"]
mod unbegun;
#[path = "../../src/warning.rs"]
mod warning;
#[path = "../../src/watch.rs"]
mod watch;
#[path = "../../src/whole.rs"]
mod whole;

mod kernel;
mod play;
mod sync;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use crate::play::{CALLS, Counts, RIVALS, SCOPED, THREADS, deadlock, locks, replies, scopes, tree};

const SCHEDULES: usize = 1_000;

/// Plays a tree under many schedules, and shows `check` what became of each one's threads. How many
/// of all began elsewhere, and how many were cancelled.
fn play_trees(cancels: bool, check: impl Fn(&Counts) + Send + Sync + 'static) -> (usize, usize) {
    let sums = Arc::new([const { AtomicUsize::new(0) }; 2]);
    let noted = Arc::clone(&sums);
    let ran = modelkit::schedules::play(SCHEDULES, move || {
        let counts = tree(cancels);
        check(&counts);
        for (sum, count) in noted.iter().zip([&counts.moved, &counts.cancelled]) {
            // Relaxed: the run is over.
            sum.fetch_add(count.load(Relaxed), Relaxed);
        }
    });
    let [moved, cancelled] = [0, 1].map(|at: usize| sums[at].load(Relaxed));
    println!("{ran} schedules, {moved} threads began elsewhere, {cancelled} were cancelled");
    (moved, cancelled)
}

#[test]
fn every_thread_runs_once_and_the_run_is_over() {
    let check = |counts: &Counts| {
        let Counts { forked, begun, ended, .. } = counts;
        let counts = [forked, begun, ended].map(|count| count.load(Relaxed));
        assert_eq!(counts, [THREADS; 3]);
    };
    let (moved, _) = play_trees(false, check);
    assert!(moved > 0, "nothing was stolen");
}

#[test]
fn every_thread_ends_once_whoever_is_cancelled_when() {
    let never_begun = Arc::new(AtomicUsize::new(0));
    let noted = Arc::clone(&never_begun);
    let check = move |counts: &Counts| {
        let Counts { forked, begun, ended, .. } = counts;
        let [forked, begun, ended] = [forked, begun, ended].map(|count| count.load(Relaxed));
        assert_eq!(forked, ended);
        noted.fetch_add(forked - begun, Relaxed);
    };
    let (_, cancelled) = play_trees(true, check);
    let never_begun = never_begun.load(Relaxed);
    println!("{never_begun} of them before they began");
    assert!((1..cancelled).contains(&never_begun), "{never_begun} of {cancelled}");
}

#[test]
fn locks_let_in_whom_they_say_and_forget_nobody() {
    let ran = modelkit::schedules::play(SCHEDULES, || assert_eq!(locks(), (RIVALS, RIVALS)));
    println!("{ran} schedules");
}

#[test]
fn a_run_that_is_stuck_is_over_when_all_others_have_ended() {
    let ran = modelkit::schedules::play(SCHEDULES, || assert_eq!(deadlock(), ["main", "stuck"]));
    println!("{ran} schedules");
}

#[test]
fn a_reply_reaches_who_waits_for_it_asleep_or_not() {
    let wakes = Arc::new(AtomicUsize::new(0));
    let noted = Arc::clone(&wakes);
    let ran = modelkit::schedules::play(SCHEDULES, move || {
        let (replied, woken) = replies();
        assert_eq!(replied, CALLS);
        noted.fetch_add(woken, Relaxed);
    });
    let (wakes, calls) = (wakes.load(Relaxed), ran * CALLS);
    println!("{ran} schedules, {wakes} of {calls} replies woke a processor");
    assert!((1..calls).contains(&wakes));
}

#[test]
fn a_scope_is_over_when_all_of_its_threads_are() {
    let moved = Arc::new(AtomicUsize::new(0));
    let noted = Arc::clone(&moved);
    let ran = modelkit::schedules::play(SCHEDULES, move || {
        let Counts { begun, ended, moved, .. } = scopes(false);
        assert_eq!([begun, ended].map(AtomicUsize::into_inner), [SCOPED; 2]);
        noted.fetch_add(moved.into_inner(), Relaxed);
    });
    let moved = moved.load(Relaxed);
    println!("{ran} schedules, {moved} threads began elsewhere");
    assert!(moved > 0, "nothing was stolen");
}

#[test]
fn a_scope_is_over_when_all_of_its_threads_are_whenever_it_is_cancelled() {
    let sums = Arc::new([const { AtomicUsize::new(0) }; 2]);
    let noted = Arc::clone(&sums);
    let ran = modelkit::schedules::play(SCHEDULES, move || {
        let Counts { forked, begun, cancelled, .. } = scopes(true);
        noted[0].fetch_add(cancelled.into_inner(), Relaxed);
        noted[1].fetch_add(forked.into_inner() - begun.into_inner(), Relaxed);
    });
    let [cancelled, never_begun] = [0, 1].map(|at: usize| sums[at].load(Relaxed));
    println!("{ran} schedules, {cancelled} scopes cancelled, {never_begun} threads never began");
    assert!((1..ran).contains(&cancelled) && never_begun > 0);
}
