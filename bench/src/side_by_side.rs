//! Calls that take a while, many under way from one thread, to a server that may have both
//! processors: each beside the same call made alone (L38).
//!
//! A ratio of one says that they run one after the other, of a half that two processors share them.

use std::path::Path;
use std::time::Instant;

use nearcall::Domain;

use crate::calls::stubs::calls::{LASTING, LastingClient, LastingEntries, LastingServer};
use crate::calls::{self, imported, served};
use crate::child::{Child, Failure, Link};
use crate::outstanding::always;
use crate::rounds::{Statistic, Tally};
use crate::stage::Stage;
use crate::table::{Case, Named, OURS, Table};

/// Calls under way; the interface has as many A-stacks.
const UNDER_WAY: usize = 16;

/// What a call computes for, nanoseconds, and the case's name.
const CASES: [(u32, &str); 4] = [
    (2_000, "side-by-side-2us"),
    (5_000, "side-by-side-5us"),
    (8_000, "side-by-side-8us"),
    (20_000, "side-by-side-20us"),
];

/// Calls that are timed together. Those that come before the search has found its way are less than
/// half of all, so that the median is of what it has found.
const BATCH: u32 = 4 * UNDER_WAY as u32;

/// Calls of a measurement.
const CALLS: u32 = 400 * BATCH;

/// The server's role.
pub const ROLE: &str = "lasting-server";

/// Computes, and waits for nothing.
pub struct Server;

impl LastingServer for Server {
    fn compute(&self, nanoseconds: u32) {
        let begin = Instant::now();
        while begin.elapsed().as_nanos() < nanoseconds.into() {
            std::hint::spin_loop();
        }
    }
}

/// What the server's process does.
pub fn play(link: &Link, arguments: &[String]) -> Result<(), Failure> {
    served(LastingEntries::new(Server), link, arguments)
}

/// They cannot run.
pub fn skip(table: &mut Table, why: &str) {
    CASES.iter().for_each(|(_, name)| table.skip(name, OURS, why));
}

/// Measures all cases. On one processor there is nothing to share.
pub fn measure(
    stage: &Stage,
    domain: &Domain,
    directory: &Path,
    rounds: u32,
    table: &mut Table,
) -> Result<(), Failure> {
    // Ends last, after the binding.
    let _server: Child = calls::start_on(ROLE, directory, &[stage.here, stage.there])?;
    let client = LastingClient::new(imported(domain, directory, &LASTING)?);
    let (plan, ours) = (stage.plan(CALLS, BATCH), Named::ours());
    for (nanoseconds, name) in CASES {
        let posting = client.posting();
        let mut tally = Tally::default();
        for _ in 0..rounds {
            tally.add(stage.beside(
                || Ok(always(UNDER_WAY, plan, || posting.compute(nanoseconds))?),
                || Ok(plan.time(|| client.compute(nanoseconds))?),
            )?);
        }
        table.tell(&Case::new(name, stage, plan), &ours, &ours, &tally, Statistic::P50);
    }
    Ok(())
}
