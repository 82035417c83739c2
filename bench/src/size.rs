//! The table `size`: one call with 0 B to 256 MiB in, beside one `memcpy` of as many bytes in the
//! same round. The server copies what it gets, as one that looks at it has to.
//!
//! Beside them, in `lent`, what is lent in place.
//!
//! All sizes go through the same procedure, whose A-stack holds 1,500 bytes: longer ones go out of
//! line. (The cases of these names in `paper` have A-stacks that hold them.)

use std::hint::black_box;

use nearcall::Domain;

use crate::calls::Bound;
use crate::child::Failure;
use crate::lent;
use crate::machine;
use crate::rounds::{Statistic, Tally};
use crate::stage::{BATCH, Options, Stage};
use crate::statistics::{Plan, Samples};
use crate::table::{Case, Named, OURS, Table};

/// The table's name.
const NAME: &str = "size";

/// What Nearcall is compared with: one copy, within the client's private memory.
pub const AGAINST: &str = "memcpy";

/// Bytes that a measurement moves, about; fewer calls of longer ones.
const MEASUREMENT_BYTES: u64 = 64 << 20;

/// Most calls of a measurement.
const CALLS_MAX: u64 = 200 * BATCH as u64;

/// Fewest.
const CALLS_MIN: u64 = 3;

/// A call of more bytes is timed by itself.
const SHORT_BYTES: u64 = 16 << 10;

/// Times that the bytes of a call are in memory: the argument, the segment, the server's copy, and
/// the target of `memcpy`.
const COPIES: u64 = 4;

const SIZES: [(&str, u64); 12] = [
    ("0", 0),
    ("64", 64),
    ("200", 200),
    ("1k", 1 << 10),
    ("4k", 4 << 10),
    ("16k", 16 << 10),
    ("64k", 64 << 10),
    ("256k", 256 << 10),
    ("1m", 1 << 20),
    ("4m", 4 << 20),
    ("32m", 32 << 20),
    ("256m", 256 << 20),
];

/// Measures the table. Who runs where: see `paper`.
pub fn measure(options: Options) -> Result<Table, Failure> {
    let mut table = Table::new(NAME);
    let (stages, missing) = options.stages()?;
    if let Some(why) = missing {
        SIZES.iter().for_each(|(name, _)| table.skip(name, OURS, why));
    }
    let domain = Domain::new()?;
    let directory = tempfile::tempdir()?;
    // Written, so that no page of them is touched for the first time while it is timed.
    let sizes = sizes_that_fit(&mut table);
    let longest = sizes.iter().map(|(_, bytes)| *bytes).max().unwrap_or(0) as usize;
    let source = vec![7; longest];
    let mut target = vec![8; longest];
    for stage in &stages {
        let directory = directory.path().join(stage.processors.to_string());
        let server = Bound::start(&domain, &directory, stage.there)?;
        let mut tallies = vec![Tally::default(); sizes.len()];
        for _ in 0..options.rounds {
            for ((_, bytes), tally) in sizes.iter().zip(&mut tallies) {
                let (plan, bytes) = (plan(stage, *bytes), *bytes as usize);
                tally.add(stage.beside(
                    || Ok(server.measure_in(&source[..bytes], plan)?),
                    || Ok(copy(&source[..bytes], &mut target[..bytes], plan)),
                )?);
            }
        }
        for ((name, bytes), tally) in sizes.iter().zip(&tallies) {
            let mut case = Case::new(*name, stage, plan(stage, *bytes));
            case.bytes = Some(*bytes);
            let against = Named::bound(AGAINST);
            table.tell(&case, &Named::ours(), &against, tally, Statistic::P50);
        }
        lent::measure(stage, (&domain, &directory.join("lent")), options.rounds, &mut table)?;
    }
    Ok(table)
}

/// Those that there is memory for; the others are skipped.
fn sizes_that_fit(table: &mut Table) -> &'static [(&'static str, u64)] {
    let available = machine::memory_available_bytes().unwrap_or(u64::MAX);
    let fit = SIZES.iter().take_while(|(_, bytes)| COPIES * bytes < available).count();
    for (name, bytes) in &SIZES[fit..] {
        let wanted = COPIES * bytes;
        table.skip(name, OURS, format!("{wanted} bytes are needed and {available} available"));
    }
    &SIZES[..fit]
}

/// One `memcpy` after the other.
pub fn copy(source: &[u8], target: &mut [u8], plan: Plan) -> Samples {
    let samples = plan.time(|| {
        black_box(&mut *target).copy_from_slice(black_box(source));
        Ok::<(), std::convert::Infallible>(())
    });
    let Ok(samples) = samples;
    samples
}

/// A few calls of long arguments, many of short ones.
pub fn plan(stage: &Stage, bytes: u64) -> Plan {
    let calls = (MEASUREMENT_BYTES / bytes.max(1)).clamp(CALLS_MIN, CALLS_MAX) as u32;
    if bytes <= SHORT_BYTES && stage.processors == 2 {
        return stage.plan(calls, BATCH);
    }
    let plan = stage.plan(calls.min(2000), 1);
    // One call makes the segments out of line; long ones need no more of them to be warm.
    Plan { warm_up: plan.warm_up.min(plan.batches), ..plan }
}
