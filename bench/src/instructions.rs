//! The table `instructions`: how many a whole call takes in user space, the client's and the
//! server's together, beside other people's ways to call.
//!
//! ```text
//! client   mark ──▶ call ──▶ … reply ──▶ mark        one side is walked, the other runs
//! server   mark ──▶ reply ──▶ … next call ──▶ mark
//! ```
//!
//! Everybody is counted by the same walk (`walk`): every instruction of every thread of a side,
//! those of the C library too, between each two visits of a function that the client calls before
//! each call and the server in each procedure. The side that is not walked is a thousand times
//! faster: so what is walked finds its reply or its next call at the first look, and who polls has
//! no polls counted. Who sleeps meanwhile takes no step. Of several calls the one with the fewest
//! instructions counts: in the others somebody polled in vain while the other side had lost its
//! processor, or a thread woke that wakes now and then, which is often when a call takes so long.

#[cfg(target_arch = "x86_64")]
mod walk;
#[cfg(not(target_arch = "x86_64"))]
#[path = "instructions/elsewhere.rs"]
mod walk;

pub mod ours;
mod programs;

use std::path::Path;

use nearcall_os::processor;

use crate::child::Failure;
use crate::counts::Unstepped;
use crate::rival::Rival;
use crate::stage::Options;
use crate::statistics::extremes;
use crate::table::{Named, OURS, Table};

use ours::Ours;
use programs::Programs;
use walk::Walk;

/// The table's name.
const NAME: &str = "instructions";

/// How to read it.
const LEGEND: &str = "\
Instructions of one call in user space: of the client's process and of the server's, all threads,
libraries included, by single steps; of several calls the fewest. One side is stepped while the
other runs, so that replies and calls are there at the first look: polls for nothing do not count,
and what sleeps takes no step. An empty function that each side calls once a call does.";

/// What is called. `pfs_write` has a handle, a position there and back, a length, and four numbers.
pub const CASES: [&str; 2] = ["null", "pfs_write"];

/// The sides of a call.
const SIDES: [&str; 2] = ["client", "server"];

/// Calls before, not walked.
const WARM_UP: u32 = 1_000;

/// Calls that are walked on each side, and the fewest that have two visits between them.
const CALLS: u32 = 12;
const CALLS_MIN: u32 = 3;

/// What is counted.
const UNIT: &str = "instructions";

/// Who is walked beside ours.
const PEERS: [&str; 5] = ["iceoryx2-poll", "iceoryx2-event", "tonic-uds", "capnp-uds", OMNIORB];

/// The peer in C++, a program of its own.
const OMNIORB: &str = "omniorb-uds";

/// A process, and the function that it calls once a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Side {
    /// Its number.
    pub process: u32,
    /// The function's address.
    pub mark: u64,
}

/// A client and a server that are walked.
enum Subject {
    Ours(Ours),
    Peer(Rival),
}

/// What was counted of a subject, in the order of [`CASES`] and [`SIDES`].
struct Counted {
    named: Named,
    instructions: [[f64; SIDES.len()]; CASES.len()],
}

/// Measures the table. `compiled` is a directory with what the peers were compiled to; without it,
/// they are compiled now.
pub fn measure(options: Options, compiled: Option<&Path>) -> Result<Table, Failure> {
    let mut table = Table::explained(NAME, LEGEND);
    let processors = match (&processor::allowed()[..], options.processors) {
        ([here, there, ..], None | Some(2)) => [*here, *there],
        _ => {
            let why = "on one processor whoever polls never ends";
            names().for_each(|name| skip(&mut table, name, why));
            return Ok(table);
        }
    };
    let directory = tempfile::tempdir()?;
    let programs = Programs::find(compiled, directory.path());
    // Of its own, because it is bound to the processor of whom it walks.
    let walking = std::thread::spawn(move || {
        let count = |name| (name, Counted::of(name, &programs, processors, options));
        names().map(count).collect::<Vec<_>>()
    });
    let mut counted = Vec::new();
    for (name, counts) in walking.join().expect("a walk does not panic") {
        match counts {
            Ok(counts) => counted.push(counts),
            Err(error) => skip(&mut table, name, &error),
        }
    }
    tell(&counted, &mut table);
    Ok(table)
}

/// Ours, then all peers that are walked.
fn names() -> impl Iterator<Item = &'static str> {
    [OURS].into_iter().chain(PEERS)
}

fn skip(table: &mut Table, name: &str, why: &str) {
    CASES.into_iter().for_each(|case| table.skip(case, name, why));
}

/// Each side, their sum, and how many times ours that is; and the best peer's once more.
fn tell(counted: &[Counted], table: &mut Table) {
    let ours = counted.iter().find(|counts| counts.named.name == OURS);
    for (index, case) in CASES.into_iter().enumerate() {
        for counts in counted {
            for (side, count) in SIDES.into_iter().zip(counts.instructions[index]) {
                table.count(&format!("{case}-{side}"), &counts.named, UNIT, count);
            }
            table.count(case, &counts.named, UNIT, counts.sum(index));
        }
        let Some(ours) = ours else { continue };
        let peers = counted.iter().filter(|counts| counts.named.name != OURS);
        let best = peers.min_by(|a, b| a.sum(index).total_cmp(&b.sum(index)));
        if let Some(best) = best {
            let times = (best.sum(index) / ours.sum(index) * 100.0).round() / 100.0;
            table.count(&format!("{case}-best"), &best.named, "times as many as nearcall", times);
        }
    }
}

impl Counted {
    /// Counts both sides of every case, in processes of their own each round. Why not, for people.
    fn of(
        name: &str,
        programs: &Programs,
        processors: [u32; 2],
        options: Options,
    ) -> Result<Counted, String> {
        let calls = options.calls_max.map_or(CALLS, |calls| calls.clamp(CALLS_MIN, CALLS));
        let mut named = Named::ours();
        let mut rounds: [[Vec<f64>; SIDES.len()]; CASES.len()] = Default::default();
        for _ in 0..options.rounds {
            let start = Subject::start(name, programs, processors);
            let (started, mut subject) = start.map_err(|error| error.to_string())?;
            named = started;
            for (case, sides) in rounds.iter_mut().enumerate() {
                for (side, counts) in sides.iter_mut().enumerate() {
                    // The other side has its own processor to itself.
                    processor::pin(processors[side]).map_err(|error| error.to_string())?;
                    let count = subject.walk(case, side, calls);
                    counts.push(count.map_err(|error| error.to_string())?);
                }
            }
        }
        let instructions = rounds.map(|sides| sides.map(|counts| extremes(&counts).0));
        Ok(Counted { named, instructions })
    }

    /// Of a case, by its index.
    fn sum(&self, case: usize) -> f64 {
        self.instructions[case].iter().sum()
    }
}

impl Subject {
    fn start(
        name: &str,
        programs: &Programs,
        [here, there]: [u32; 2],
    ) -> Result<(Named, Subject), Failure> {
        if name == OURS {
            return Ok((Named::ours(), Subject::Ours(Ours::start(here, there)?)));
        }
        let rival = Rival::start(programs.of(name)?, name, here, there)?;
        let named = Named { name: name.to_owned(), version: rival.version().to_owned() };
        Ok((named, Subject::Peer(rival)))
    }

    /// Walks a side through calls, after others that nobody walks; how many instructions one takes.
    fn walk(&mut self, case: usize, side: usize, calls: u32) -> Result<f64, Unstepped> {
        let walked = self.sides()?[side];
        self.begin(case, WARM_UP)?;
        self.end()?;
        let mut walk = Walk::stop(walked.process)?;
        self.begin(case, calls)?;
        let between = walk.between(walked.mark, calls as usize)?;
        drop(walk);
        self.end()?;
        Ok(between.into_iter().min().ok_or("its mark was not visited")? as f64)
    }

    fn sides(&mut self) -> Result<[Side; 2], Failure> {
        match self {
            Subject::Ours(ours) => ours.sides(),
            Subject::Peer(rival) => rival.sides(),
        }
    }

    /// Has the client make so many calls.
    fn begin(&mut self, case: usize, calls: u32) -> Result<(), Failure> {
        match self {
            Subject::Ours(ours) => ours.begin(case, calls),
            Subject::Peer(rival) => rival.begin_calls(CASES[case], calls),
        }
    }

    /// Waits until it has made them.
    fn end(&mut self) -> Result<(), Failure> {
        match self {
            Subject::Ours(ours) => ours.end(),
            Subject::Peer(rival) => rival.end_calls(),
        }
    }
}
