//! Arguments lent in place (L43; design note 0008): a call with any number of bytes that the server
//! sees already, beside one with 4 KiB. Rows of the table `size`.
//!
//! Nothing is copied, so that the bytes are not in the time: the memory is made once, before.

use std::hint::black_box;
use std::path::Path;

use nearcall::{Domain, Lent, Opaque, OpaqueIn};

use crate::calls::stubs::calls::{MOVES, MovesClient, MovesEntries, MovesServer};
use crate::calls::{self, imported, served};
use crate::child::{Child, Failure, Link};
use crate::machine;
use crate::rounds::{Statistic, Tally};
use crate::stage::Stage;
use crate::statistics::{Plan, Samples};
use crate::table::{Case, Named, OURS, Table};

/// The server's role.
pub const ROLE: &str = "moves-server";

/// What the others are compared with.
const SHORT: &str = "lent-4k";
const SHORT_BYTES: usize = 4 << 10;

/// Those that are compared.
const LENT: [(&str, usize); 3] =
    [("lent-1m", 1 << 20), ("lent-64m", 64 << 20), ("lent-1g", 1 << 30)];

/// How much longer the longest may take.
const LIMIT: f64 = 1.2;

/// Only says how many bytes came.
pub struct Mover;

impl MovesServer for Mover {
    fn take(&self, data: Opaque<'_>) {
        black_box(data.len());
    }
}

/// What the server's process does.
pub fn play(link: &Link, arguments: &[String]) -> Result<(), Failure> {
    served(MovesEntries::new(Mover), link, arguments)
}

/// Adds the rows of a stage.
pub fn measure(
    stage: &Stage,
    (domain, directory): (&Domain, &Path),
    rounds: u32,
    table: &mut Table,
) -> Result<(), Failure> {
    let server: Child = calls::start(ROLE, directory, stage.there)?;
    let client = MovesClient::new(imported(domain, directory, &MOVES)?);
    let plan = stage.plan_short();
    let short = client.binding().lend(SHORT_BYTES)?;
    for (name, bytes) in LENT {
        let available = machine::memory_available_bytes().unwrap_or(u64::MAX);
        if bytes as u64 > available {
            table.skip(name, OURS, format!("{bytes} bytes are needed and {available} available"));
            continue;
        }
        let long = client.binding().lend(bytes)?;
        let mut tally = Tally::default();
        for _ in 0..rounds {
            let take = |lent| take(&client, lent, plan);
            tally.add(stage.beside(|| take(&long), || take(&short))?);
        }
        let mut case = Case::new(name, stage, plan).within(LIMIT);
        case.bytes = Some(bytes as u64);
        table.tell(&case, &Named::ours(), &Named::bound(SHORT), &tally, Statistic::P50);
    }
    drop((client, server));
    Ok(())
}

fn take(client: &MovesClient, lent: &Lent, plan: Plan) -> Result<Samples, Failure> {
    Ok(plan.time(|| client.take(OpaqueIn::from(lent)))?)
}
