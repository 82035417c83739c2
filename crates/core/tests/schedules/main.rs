//! Whole clients and a whole server, under many schedules that chance chooses (shuttle, PCT).
//!
//! The models (`tests/model`) try every interleaving of a few steps. Here two clients call, doze,
//! give up and are hung up on, a watcher and a resident serve, fall asleep and are rung for, and a
//! clerk withdraws, all in one run; of its interleavings some are tried, those first that a few
//! unlucky preemptions make. A thread that nobody wakes any more fails the run.
//!
//! The sources are the library's own, compiled against the `sync` of this directory.

#![allow(dead_code)]

extern crate alloc;

#[path = "../../src/bell.rs"]
mod bell;
#[path = "../../src/claim.rs"]
mod claim;
#[path = "../../src/fault.rs"]
mod fault;
#[path = "../../src/termination.rs"]
mod termination;
#[path = "../../src/turn.rs"]
mod turn;

mod client;
mod server;
mod sync;
mod world;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::world::{Told, World};

const SCHEDULES: usize = 4_000;

/// What the calls of all schedules came to.
#[derive(Default)]
struct Counts {
    returned: AtomicU64,
    did_not_run: AtomicU64,
    given_up: AtomicU64,
}

impl Counts {
    fn note(&self, told: &[Told]) {
        for told in told {
            let count = match told {
                Told::Returned => &self.returned,
                Told::DidNotRun => &self.did_not_run,
                Told::GivenUp => &self.given_up,
            };
            // Relaxed: a counter that orders nothing.
            count.fetch_add(1, Ordering::Relaxed);
        }
    }
}

#[test]
fn every_schedule_ends_every_call_as_its_client_was_told() {
    let counts = Arc::new(Counts::default());
    let noted = Arc::clone(&counts);
    let ran = modelkit::schedules::play(SCHEDULES, move || noted.note(&World::play()));
    // Relaxed: all threads have ended.
    let [returned, did_not_run, given_up] =
        [&counts.returned, &counts.did_not_run, &counts.given_up]
            .map(|count| count.load(Ordering::Relaxed));
    println!(
        "{ran} schedules, calls: {returned} returned, {did_not_run} not run, {given_up} given up"
    );
    assert!(returned > 0 && did_not_run > 0 && given_up > 0, "nothing happened");
}
