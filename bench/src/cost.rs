//! The table `cost`: what a Null is made of, as LRPC's Table V has it, in nanoseconds and in
//! instructions.
//!
//! ```text
//! client  stub ──post──▶│                                        │──collect──▶ return
//! server                └──to-server──▶│──run──▶│──to-client─────┘
//! ```
//!
//! | part | on | what |
//! |---|---|---|
//! | `post` | client | claim an A-stack, fill the head, swap the turn word |
//! | `to-server` | | the line's way; `take`: look, claim the call, judge, enter |
//! | `run` | server | the entry stub and the procedure |
//! | `to-client` | | `reply`: fill the head, swap the turn word; the line's way |
//! | `collect` | client | judge the reply, give the A-stack back, return |
//!
//! The times are differences of stamps of the processors' counter. The product has none: the client
//! calls by the pieces that generated stubs call, and the server's entry stubs stand in others
//! that stamp. So a stamp lies where two pieces meet, and nowhere else, which is why a line's way
//! and what comes after or before it are one part. A line's way is in `post` too: the swap waits
//! until the server has let go of the line. What a stamp costs is measured and taken off each part;
//! `stamped` is the sum of the parts, and `null` the plain call in the same round, to see what
//! stamping did to the call.
//!
//! Instructions are those of `counts`, between the same places, and of what goes on meanwhile:
//! `wait`, the client's from the post to the look that sees the reply, and `next`, the server's
//! from the reply to the next look.
//!
//! On one processor a call is two switches, which have no seams: nothing is stamped there.

use std::os::fd::AsFd;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use nearcall::raw::{Arguments, Client, Entries, Outcome, Reply};
use nearcall::{CallError, Domain, InterfaceDescriptor, WaitPolicy};
use nearcall_core::linger::LingerSearch;
use nearcall_os::clock;
use nearcall_os::processor::{self, Linger};
use nearcall_os::{Sealing, Segment};

use crate::calls::stubs::calls::{NULLS, NullsEntries};
use crate::calls::{Bound, Call, imported, served};
use crate::child::{Child, Failure, Link};
use crate::counts;
use crate::paper;
use crate::rounds::{Statistic, Tally};
use crate::scale;
use crate::stage::{Options, Stage, settle};
use crate::statistics::{Plan, Samples, median};
use crate::table::{Case, Named, OURS, Table};

/// The table's name.
const NAME: &str = "cost";

/// The server's role.
pub const ROLE: &str = "stamping-server";

/// Calls that are stamped in a measurement, after those of the warm-up.
const CALLS: u32 = 2000;

/// Calls whose stamps the segment holds: more than a measurement makes.
const RECORDS: usize = 4096;

/// Bytes of a call's stamps in the segment: at the entry stub, and after it.
const STAMPS_BYTES: usize = 16;

/// Of a measurement's calls, fewer than one in so many may have stamps that go back: a server that
/// the post reached can run before the client has stamped. Such calls are left out. Where there are
/// more, the processors' counters differ, or are so near that a stamp is longer than a line's way:
/// the parts of that round are not known.
const BACKWARD_PART: usize = 10;

/// Polls with the shortest pause between them; as many as a stub makes.
const BRIEF_POLLS: u32 = 5;

/// Stamps one after the other, to see what one costs.
const STAMPS: usize = 1000;

/// What is timed, in the order of a call, and then their sum.
const PARTS: [&str; 6] = ["post", "to-server", "run", "to-client", "collect", "stamped"];

/// The plain call.
const WHOLE: &str = "null";

/// Stamps each call on its way into the entry stub and out of it.
struct Stamping {
    entries: NullsEntries<scale::Server>,
    stamps: Segment,
    /// Calls so far.
    calls: AtomicUsize,
}

/// A stamping server and a client that stamps.
struct Stamped {
    client: Client,
    stamps: Segment,
    /// Calls so far, as the server counts them.
    calls: usize,
    until_reply: Linger,
    /// Ends last, after the binding.
    _server: Child,
}

/// A stage with its servers, and the rounds so far.
struct Set {
    stage: Stage,
    stamped: Stamped,
    plain: Bound,
    parts: Vec<Tally>,
    whole: Tally,
    /// Rounds in which too many calls had stamps that go back.
    unordered: u32,
}

/// Measures the table. Who runs where: see `paper`.
pub fn measure(options: Options) -> Result<Table, Failure> {
    let mut table = Table::new(NAME);
    if options.processors == Some(1) {
        skip(&mut table, "on one processor a call is two switches, which have no seams");
        return Ok(table);
    }
    // Before this thread is bound to one processor.
    count_instructions(&mut table)?;
    let (stages, missing) = Options { processors: Some(2), ..options }.stages()?;
    if let Some(why) = missing {
        skip(&mut table, why);
    }
    let domain = Domain::new()?;
    let directory = tempfile::tempdir()?;
    let stamp_ticks = stamp_ticks();
    let mut sets = Vec::new();
    for stage in stages {
        let stamped = Stamped::start(&domain, &directory.path().join("stamped"), stage.there)?;
        let plain = Bound::start(&domain, &directory.path().join("plain"), stage.there)?;
        let parts = vec![Tally::default(); PARTS.len()];
        sets.push(Set { stage, stamped, plain, parts, whole: Tally::default(), unordered: 0 });
    }
    for _ in 0..options.rounds {
        sets.iter_mut().try_for_each(|set| set.round(stamp_ticks))?;
    }
    sets.iter().for_each(|set| set.tell(&mut table));
    if !sets.is_empty() {
        table.count("stamp", &Named::bound("counter"), "ns", clock::ticks_ns(stamp_ticks) as f64);
    }
    Ok(table)
}

fn skip(table: &mut Table, why: &str) {
    PARTS.into_iter().chain([WHOLE]).for_each(|part| table.skip(part, OURS, why));
}

/// The instructions of each part, if this machine lets a process be stepped.
fn count_instructions(table: &mut Table) -> Result<(), Failure> {
    match counts::step_null(counts::CLIENT)? {
        Ok(stepped) => {
            for (part, count) in stepped.parts() {
                table.count(part, &Named::ours(), "instructions", count as f64);
            }
        }
        Err(why) => table.skip("instructions", OURS, why),
    }
    Ok(())
}

/// The processor's counter, when all that comes before has been done.
#[inline(always)]
fn stamp() -> u64 {
    Linger::of_cycles(1).pass();
    clock::ticks()
}

/// From one stamp to the next, with nothing in between.
fn stamp_ticks() -> u64 {
    let pair = |_| {
        let begin = stamp();
        (stamp() - begin) as f64
    };
    median(&(0..STAMPS).map(pair).collect::<Vec<_>>()) as u64
}

impl Entries for Stamping {
    fn interface(&self) -> &'static InterfaceDescriptor {
        self.entries.interface()
    }

    fn enter(&self, procedure: usize, arguments: Arguments<'_>) -> Outcome {
        let entered = stamp();
        let outcome = self.entries.enter(procedure, arguments);
        let left = stamp();
        // Relaxed: one call after the other, each ordered by its turns.
        let call = self.calls.load(Ordering::Relaxed);
        self.calls.store(call + 1, Ordering::Relaxed);
        let span = self.stamps.span_mut().expect("received to be written");
        let at = call % RECORDS * STAMPS_BYTES;
        span.store_u64(at, entered);
        span.store_u64(at + 8, left);
        outcome
    }
}

/// What the server's process does.
pub fn play(link: &Link, arguments: &[String]) -> Result<(), Failure> {
    let [file] = link.descriptors()?;
    let stamps = Segment::receive(file, RECORDS * STAMPS_BYTES, Sealing::BothWrite)?;
    let entries = NullsEntries::new(scale::Server);
    served(Stamping { entries, stamps, calls: AtomicUsize::new(0) }, link, arguments)
}

/// What a stub makes of the reply to a Null.
fn read(reply: Reply<'_>) -> Result<(), CallError> {
    if reply.raised() == 0 { Ok(()) } else { Err(reply.unknown_exception()) }
}

impl Stamped {
    fn start(domain: &Domain, directory: &Path, processor: u32) -> Result<Stamped, Failure> {
        let bytes = RECORDS * STAMPS_BYTES;
        let (stamps, file) = Segment::create("bench-stamps", bytes, Sealing::BothWrite)?;
        let name = directory.to_str().ok_or("the directory has no name in Unicode")?;
        let server = Child::start(ROLE, &[name, &processor.to_string()], &[file.as_fd()])?;
        let client = Client::new(imported(domain, directory, &NULLS)?, &NULLS);
        // Where a client's search begins, so that every round does the same.
        let search = LingerSearch::of_client(WaitPolicy::default().linger_cycles_max);
        let until_reply = Linger::of_cycles(search.cycles());
        Ok(Stamped { client, stamps, calls: 0, until_reply, _server: server })
    }

    /// A Null as its stub makes it: stamps at its begin, after the post, when the reply was seen,
    /// and at its end.
    #[inline(always)]
    fn null(&self) -> Result<[u64; 4], CallError> {
        let begin = stamp();
        let pending = self.client.claim::<0>(0)?.post_pending(0, read)?;
        let posted = stamp();
        self.until_reply.pass();
        let mut polls = 0;
        while !pending.is_replied() {
            if polls < BRIEF_POLLS {
                processor::relax_briefly();
            } else {
                processor::relax();
            }
            polls += 1;
        }
        let seen = stamp();
        pending.collect()?;
        Ok([begin, posted, seen, stamp()])
    }

    /// Makes calls; the times of each part, in the order of [`PARTS`]. Empty if too many stamps go
    /// back ([`BACKWARD_PART`]).
    fn measure(&mut self, plan: Plan, stamp_ticks: u64) -> Result<Vec<Samples>, Failure> {
        let first = self.calls;
        let ours = (0..plan.calls()).map(|_| self.null());
        let ours = ours.collect::<Result<Vec<_>, _>>()?;
        self.calls += ours.len();
        let span = self.stamps.span();
        let mut parts = vec![Vec::with_capacity(ours.len()); PARTS.len()];
        let mut backward = 0;
        let timed = ours.into_iter().enumerate().skip(plan.warm_up as usize);
        for (index, [begin, posted, seen, end]) in timed {
            let at = (first + index) % RECORDS * STAMPS_BYTES;
            let (entered, left) = (span.load_u64(at), span.load_u64(at + 8));
            let is_stamped = entered > 0 && entered <= left;
            if !is_stamped || ![begin, posted, seen, end].is_sorted() {
                let call = first + index;
                return Err(format!("call {call} has stamps {entered} and {left}").into());
            }
            let stamps = [begin, posted, entered, left, seen, end];
            if !stamps.is_sorted() {
                backward += 1;
                continue;
            }
            let times_ns = stamps
                .windows(2)
                .map(|pair| clock::ticks_ns((pair[1] - pair[0]).saturating_sub(stamp_ticks)));
            let mut sum_ns = 0;
            for (part, time_ns) in parts.iter_mut().zip(times_ns) {
                sum_ns += time_ns;
                part.push(time_ns);
            }
            parts[PARTS.len() - 1].push(sum_ns);
        }
        if backward > parts[0].len() / BACKWARD_PART {
            return Ok(Vec::new());
        }
        Ok(parts.into_iter().map(|part| Samples::new(1, part)).collect())
    }
}

impl Set {
    fn round(&mut self, stamp_ticks: u64) -> Result<(), Failure> {
        let Set { stage, stamped, plain, .. } = self;
        let rounds = stage.parts_beside_bound(|| {
            let mut parts = stamped.measure(stage.plan(CALLS, 1), stamp_ticks)?;
            settle();
            parts.push(plain.measure(Call::Null, paper::plan(stage, Call::Null))?);
            Ok(parts)
        })?;
        let counts = rounds.is_some();
        let mut rounds = rounds.unwrap_or_default();
        self.whole.add(rounds.pop());
        self.unordered += u32::from(counts && rounds.is_empty());
        let mut rounds = rounds.into_iter();
        self.parts.iter_mut().for_each(|tally| tally.add(rounds.next()));
        Ok(())
    }

    fn tell(&self, table: &mut Table) {
        let stage = &self.stage;
        let bound = Named::bound(stage.bound_name());
        let plan = stage.plan(CALLS, 1);
        for (part, tally) in PARTS.into_iter().zip(&self.parts) {
            if self.unordered > 0 && tally.verdicts(Statistic::P50).is_empty() {
                let (unordered, rounds) = (self.unordered, tally.thrown());
                let why = format!("in {unordered} of {rounds} rounds stamps went back in time");
                table.skip(part, OURS, why);
                continue;
            }
            let case = Case::new(part, stage, plan);
            table.tell(&case, &Named::ours(), &bound, tally, Statistic::P50);
        }
        let case = Case::new(WHOLE, stage, paper::plan(stage, Call::Null));
        table.tell(&case, &Named::ours(), &bound, &self.whole, Statistic::P50);
    }
}
