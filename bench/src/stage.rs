//! Who runs where: both sides of everything on two processors, or on one; and a round there.
//!
//! ```text
//! beside_bound:   bound               subject               bound
//! beside:         place   another     subject     another   place
//! ```
//!
//! `another` is whatever the subject is compared with. Where the processors were is what the bound
//! tells, before and after; see `rounds`.

use std::time::Duration;

use nearcall_os::processor;

use crate::child::Failure;
use crate::raw::Peer;
use crate::raw::line::{self, Load, Prefetch};
use crate::raw::yielding::{self, Yield};
use crate::rounds::{Look, Placement, Round};
use crate::statistics::{Plan, Samples};

/// Calls of a batch that is timed as one, where a call takes less than a microsecond.
pub const BATCH: u32 = 64;

/// How long everybody is left alone before the next measurement: whoever spins stops after 50 us
/// without a call.
const SETTLE: Duration = Duration::from_micros(500);

/// Round trips that tell where the processors are.
const PLACE: u32 = 32 * BATCH;

/// What is asked for, of whatever table.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Rounds of each case.
    pub rounds: u32,
    /// On two processors, on one, or on both numbers in turn.
    pub processors: Option<u32>,
    /// Most calls of a measurement; `None`: as many as make it steady.
    pub calls_max: Option<u32>,
}

/// Two processors, or one for both sides, and the process that the bound alternates with.
pub struct Stage {
    /// How many.
    pub processors: u32,
    /// The client's.
    pub here: u32,
    /// The server's.
    pub there: u32,
    peer: Peer,
    calls_max: Option<u32>,
}

impl Options {
    /// Binds the calling thread to the first processor that it may run on, which is the client's
    /// in every stage; the stages that were asked for, and why one is missing.
    ///
    /// Call it before anything is made whose threads are to inherit the processor.
    pub fn stages(&self) -> Result<(Vec<Stage>, Option<&'static str>), Failure> {
        let allowed = processor::allowed();
        processor::pin(allowed[0])?;
        let wanted = |count: u32| self.processors.is_none_or(|wanted| wanted == count);
        let mut stages = Vec::new();
        let mut missing = None;
        for (processors, there) in [(2, allowed.get(1)), (1, allowed.first())] {
            match there {
                _ if !wanted(processors) => {}
                Some(there) => stages.push(self.stage(processors, allowed[0], *there)?),
                None => missing = Some("two processors are needed and one is allowed"),
            }
        }
        Ok((stages, missing))
    }

    fn stage(&self, processors: u32, here: u32, there: u32) -> Result<Stage, Failure> {
        let peer = Peer::start(there)?;
        Ok(Stage { processors, here, there, peer, calls_max: self.calls_max })
    }
}

impl Stage {
    /// `calls` calls in batches of `batch`, or fewer if the options say so.
    pub fn plan(&self, calls: u32, batch: u32) -> Plan {
        Plan::new(calls.min(self.calls_max.unwrap_or(u32::MAX)), batch)
    }

    /// How something is measured that takes less than a microsecond between two processors that
    /// spin, and about two on one.
    pub fn plan_short(&self) -> Plan {
        if self.processors == 1 { self.plan(2000, 1) } else { self.plan(200 * BATCH, BATCH) }
    }

    /// The bound's name.
    pub fn bound_name(&self) -> &'static str {
        if self.processors == 1 { yielding::NAME } else { line::NAME }
    }

    /// One round of `subject` beside the bound.
    pub fn beside_bound(
        &self,
        subject: impl FnOnce() -> Result<Samples, Failure>,
    ) -> Result<Option<Round>, Failure> {
        let rounds = self.parts_beside_bound(|| Ok(vec![subject()?]))?;
        Ok(rounds.and_then(|mut rounds| rounds.pop()))
    }

    /// One round of several subjects that are measured together, each beside the bound.
    pub fn parts_beside_bound(
        &self,
        parts: impl FnOnce() -> Result<Vec<Samples>, Failure>,
    ) -> Result<Option<Vec<Round>>, Failure> {
        let before = self.look(self.plan_short())?;
        settle();
        let parts = parts()?.into_iter();
        let after = self.look(self.plan_short())?;
        let class = |bound_ns| self.class(bound_ns);
        Ok(parts.map(|part| Round::judge(class, &before, part, &after)).collect())
    }

    /// One round of `subject` beside `another`, which is measured before and after it.
    pub fn beside(
        &self,
        subject: impl FnOnce() -> Result<Samples, Failure>,
        mut another: impl FnMut() -> Result<Samples, Failure>,
    ) -> Result<Option<Round>, Failure> {
        let before = self.place()?;
        settle();
        let first = another()?;
        settle();
        let subject = subject()?;
        settle();
        let second = another()?;
        let after = self.place()?;
        let another = Samples::together([&first, &second]);
        Ok((before == after).then(|| Round::new(before, subject, another)))
    }

    /// The bound, in every way that it can be reached.
    fn look(&self, plan: Plan) -> Result<Look, Failure> {
        let settled = |samples: fn(&Peer, Plan) -> Result<Samples, Failure>| {
            settle();
            samples(&self.peer, plan)
        };
        if self.processors == 1 {
            return Ok(vec![settled(Peer::alternate::<Yield>)?]);
        }
        Ok(vec![settled(Peer::alternate::<Load>)?, settled(Peer::alternate::<Prefetch>)?])
    }

    /// Where the processors are.
    pub fn place(&self) -> Result<Placement, Failure> {
        if self.processors == 1 {
            return Ok(Placement::One);
        }
        let look = self.look(self.plan(PLACE, BATCH))?;
        let fastest_ns = look.iter().map(Samples::p50_ns).fold(f64::INFINITY, f64::min);
        Ok(self.class(fastest_ns))
    }

    fn class(&self, bound_ns: f64) -> Placement {
        if self.processors == 1 { Placement::One } else { Placement::of_two(bound_ns) }
    }
}

/// Leaves everybody alone, until nobody spins.
pub fn settle() {
    std::thread::sleep(SETTLE);
}
