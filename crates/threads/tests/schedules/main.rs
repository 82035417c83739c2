//! Whole runs of several processors, under many schedules that chance chooses (shuttle, PCT).
//!
//! The models (`tests/model`) try every interleaving of a few steps. Here processors fork, steal,
//! join, deliver, sleep and rest until the run is over; of its interleavings some are tried, those
//! first that a few unlucky preemptions make. A processor that nobody wakes any more fails the run,
//! which prints its schedule; the same seed makes the same schedules.
//!
//! The sources are the library's own, compiled against the `sync` of this directory.

#![allow(dead_code)]

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

use shuttle::scheduler::PctScheduler;
use shuttle::{Config, Runner};

use crate::world::{Outcome, THREADS, play};

/// Says how many schedules to run: more than a test does.
const VARIABLE: &str = "NEARCALL_SCHEDULES";

const SCHEDULES: usize = 1_000;

/// Preemptions that PCT places: bugs of so many are found with a chance that can be computed.
const DEPTH: usize = 4;

const SEED: u64 = 1;

/// Plays runs on three processors under many schedules, and shows `check` what each came to. How
/// many threads moved in all of them.
fn moved_in_all(is_stuck: bool, check: impl Fn(&Outcome) + Send + Sync + 'static) -> usize {
    let wanted = std::env::var(VARIABLE).map_or(SCHEDULES, |text| text.parse().expect("a number"));
    let moved = Arc::new(AtomicUsize::new(0));
    let noted = Arc::clone(&moved);
    let mut config = Config::new();
    config.stack_size = 1 << 16;
    config.silence_warnings = true;
    let scheduler = PctScheduler::new_from_seed(SEED, DEPTH, wanted);
    let ran = Runner::new(scheduler, config).run(move || {
        let outcome = play(3, is_stuck);
        check(&outcome);
        noted.fetch_add(outcome.moved, Relaxed);
    });
    assert_eq!(ran, wanted);
    let moved = moved.load(Relaxed);
    println!("{ran} schedules, {moved} threads began on another processor");
    moved
}

#[test]
fn every_thread_ends_once_and_its_stack_is_given_back_once() {
    let check = |outcome: &Outcome| {
        // Nobody takes the first one's result here.
        assert_eq!((outcome.ended, outcome.given), (THREADS, THREADS - 1));
    };
    assert!(moved_in_all(false, check) > 0, "nothing was stolen");
}

#[test]
fn a_run_that_is_stuck_is_over_when_all_others_have_ended() {
    // The last thread of all is detached, so nobody waits for it.
    let check = |outcome: &Outcome| {
        assert_eq!((outcome.ended, outcome.given), (THREADS - 1, THREADS - 2));
    };
    assert!(moved_in_all(true, check) > 0, "nothing was stolen");
}
