//! `raw-rung`: a head on each of many pages, called in turn, so that a server cannot poll them. The
//! client posts on one and says on a line that all have in common which one it was; the server
//! polls that line alone. Two lines for each call, neither of which lay in the right cache, and
//! nothing called, judged, bound or shared with another client.

use std::sync::atomic::{AtomicU32, Ordering};

use nearcall_abi::{AStackHead, PAGE_BYTES};
use nearcall_os::{HeadWords, Segment};

use crate::child::{Failure, Link};
use crate::raw::pair::{self, Pair, poll};
use crate::statistics::{Plan, Samples};

/// The child's role.
pub const ROLE: &str = "raw-rung";

/// The bound's name.
pub const NAME: &str = "raw-rung";

/// The other process, asleep until [`Rung::measure`].
pub struct Rung(Pair);

/// The line that is polled, and the heads.
struct Lines<'s> {
    bell: &'s AtomicU32,
    heads: Vec<&'s AStackHead>,
}

impl Rung {
    /// Starts one on processor `processor`, with `count` heads.
    pub fn start(processor: u32, count: usize) -> Result<Rung, Failure> {
        // A page for each head, and one in front for the line that is polled.
        Ok(Rung(Pair::start(ROLE, processor, (count + 1) * PAGE_BYTES as usize)?))
    }

    /// What one call takes, through each head in turn.
    pub fn measure(&self, plan: Plan) -> Result<Samples, Failure> {
        let Lines { bell, heads } = lines(&self.0.segment)?;
        // Relaxed: the child is told afterwards.
        heads.iter().for_each(|head| head.turn.store(0, Ordering::Relaxed));
        self.0.tell(&[plan.calls().into()])?;
        let mut made = 0;
        plan.time(|| {
            let (index, odd) = (made % heads.len(), 2 * (made / heads.len()) as u32 + 1);
            let head = heads[index];
            head.turn.swap(odd, Ordering::AcqRel);
            bell.swap(index as u32 + 1, Ordering::AcqRel);
            poll(|| (HeadWords::load(head).turn() == odd + 1).then_some(()))?;
            made += 1;
            Ok::<(), Failure>(())
        })
    }
}

/// What the child does.
pub fn play(link: &Link, arguments: &[String]) -> Result<(), Failure> {
    let segment = pair::join(link, arguments)?;
    let Lines { bell, heads } = lines(&segment)?;
    while let Some([calls, ..]) = link.next()? {
        for _ in 0..calls {
            // Relaxed: what it says is taken by the swap.
            poll(|| (bell.load(Ordering::Relaxed) != 0).then_some(()))?;
            let index = bell.swap(0, Ordering::AcqRel) as usize - 1;
            let turn = HeadWords::load(heads[index]).turn();
            heads[index].turn.swap(turn + 1, Ordering::AcqRel);
        }
    }
    Ok(())
}

fn lines(segment: &Segment) -> Result<Lines<'_>, Failure> {
    let count = segment.bytes() / PAGE_BYTES as usize;
    let mut lines = pair::lines(segment, count, PAGE_BYTES as usize)?.into_iter();
    let bell = &lines.next().ok_or("the segment has no page")?.turn;
    Ok(Lines { bell, heads: lines.collect() })
}
