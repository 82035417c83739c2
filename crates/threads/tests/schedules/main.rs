//! Whole runs of several processors, under many schedules that chance chooses (shuttle, PCT).
//!
//! The models (`tests/model`) try every interleaving of a few steps. Here processors fork, steal,
//! join, deliver, sleep and rest until the run is over; of its interleavings some are tried, those
//! first that a few unlucky preemptions make. A processor that nobody wakes any more fails the run,
//! which prints its schedule; the same seed makes the same schedules.
//!
//! The sources are the library's own, compiled against the `sync` of this directory.

#![allow(dead_code)]

#[path = "../../src/home.rs"]
mod home;
#[path = "../../src/inbox.rs"]
mod inbox;
#[path = "../../src/join.rs"]
mod join;
#[path = "../../src/latch.rs"]
mod latch;
#[path = "../../src/team.rs"]
mod team;
#[path = "../../src/unbegun.rs"]
mod unbegun;

mod sync;
mod world;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use crate::world::{Outcome, Play, THREADS, play};

const SCHEDULES: usize = 1_000;

/// What all runs together came to.
#[derive(Default)]
struct Sums {
    moved: AtomicUsize,
    never_begun: AtomicUsize,
    unwound: AtomicUsize,
}

/// Plays runs on three processors under many schedules, and shows `check` what each came to.
fn play_all(
    played: Play,
    check: impl Fn(&Outcome) + Send + Sync + 'static,
) -> (usize, usize, usize) {
    let sums = Arc::new(Sums::default());
    let noted = Arc::clone(&sums);
    let ran = modelkit::schedules::play(SCHEDULES, move || {
        let outcome = play(3, played);
        check(&outcome);
        noted.moved.fetch_add(outcome.moved, Relaxed);
        noted.never_begun.fetch_add(outcome.never_begun, Relaxed);
        noted.unwound.fetch_add(outcome.unwound, Relaxed);
    });
    let moved = sums.moved.load(Relaxed);
    let (never_begun, unwound) = (sums.never_begun.load(Relaxed), sums.unwound.load(Relaxed));
    println!("{ran} schedules, {moved} threads began on another processor");
    println!("{never_begun} were cancelled before they began, {unwound} in a join");
    (moved, never_begun, unwound)
}

#[test]
fn every_thread_ends_once_and_its_stack_is_given_back_once() {
    let check = |outcome: &Outcome| {
        // Nobody takes the first one's result here.
        assert_eq!((outcome.ended, outcome.given), (THREADS, THREADS - 1));
    };
    let (moved, ..) = play_all(Play::default(), check);
    assert!(moved > 0, "nothing was stolen");
}

#[test]
fn a_run_that_is_stuck_is_over_when_all_others_have_ended() {
    // The last thread of all is detached, so nobody waits for it.
    let check = |outcome: &Outcome| {
        assert_eq!((outcome.ended, outcome.given), (THREADS - 1, THREADS - 2));
    };
    let (moved, ..) = play_all(Play { is_stuck: true, ..Play::default() }, check);
    assert!(moved > 0, "nothing was stolen");
}

#[test]
fn every_thread_ends_once_whoever_is_cancelled_when() {
    let check = |outcome: &Outcome| {
        let Outcome { forked, ended, given, .. } = *outcome;
        assert_eq!((ended, given), (forked, forked - 1));
    };
    let (_, never_begun, unwound) = play_all(Play { cancels: true, ..Play::default() }, check);
    assert!(never_begun > 0 && unwound > 0, "{never_begun} before they began, {unwound} in a join");
}
