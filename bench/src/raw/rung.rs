//! `raw-rung`: a head on each of many pages, called in turn, so that a server cannot poll them. The
//! client posts on one and says on a line that all have in common which one it was; the server
//! polls that line alone. Two lines for each call, neither of which lay in the right cache, and
//! nothing called, judged, bound or shared with another client.

use std::os::fd::AsFd;
use std::sync::atomic::{AtomicU32, Ordering};

use nearcall_abi::{AStackHead, PAGE_BYTES};
use nearcall_os::{HeadWords, Sealing, Segment, processor};

use crate::child::{Child, Failure, Link};
use crate::statistics::{Plan, Samples};

/// The child's role.
pub const ROLE: &str = "raw-rung";

/// The bound's name.
pub const NAME: &str = "raw-rung";

/// Most polls before the other side is taken for gone: many seconds.
const POLLS_MAX: u32 = 1 << 28;

/// The other process, asleep until [`Rung::measure`].
pub struct Rung {
    segment: Segment,
    count: usize,
    child: Child,
}

/// The line that is polled, and the heads.
struct Lines<'s> {
    bell: &'s AtomicU32,
    heads: Vec<&'s AStackHead>,
}

impl Rung {
    /// Starts one on processor `processor`, with `count` heads.
    pub fn start(processor: u32, count: usize) -> Result<Rung, Failure> {
        let bytes = bytes_of(count);
        let (segment, file) = Segment::create("bench-rung", bytes, Sealing::BothWrite)?;
        let arguments = [&*processor.to_string(), &*count.to_string()];
        let child = Child::start(ROLE, &arguments, &[file.as_fd()])?;
        Ok(Rung { segment, count, child })
    }

    /// What one call takes, through each head in turn.
    pub fn measure(&self, plan: Plan) -> Result<Samples, Failure> {
        let Lines { bell, heads } = lines(&self.segment, self.count)?;
        // Relaxed: the child is told afterwards.
        heads.iter().for_each(|head| head.turn.store(0, Ordering::Relaxed));
        self.child.link().tell(&[plan.calls().into()])?;
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
    let [processor, count] = arguments else {
        return Err("which processor, how many heads?".into());
    };
    processor::pin(processor.parse()?)?;
    let count = count.parse()?;
    let [file] = link.descriptors()?;
    let segment = Segment::receive(file, bytes_of(count), Sealing::BothWrite)?;
    let Lines { bell, heads } = lines(&segment, count)?;
    link.answer(0)?;
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

fn poll<T>(look: impl Fn() -> Option<T>) -> Result<T, Failure> {
    for _ in 0..POLLS_MAX {
        if let Some(seen) = look() {
            return Ok(seen);
        }
        processor::relax_briefly();
    }
    Err("the other process does not alternate".into())
}

/// A page for each head, and one in front for the line that is polled.
fn bytes_of(count: usize) -> usize {
    (count + 1) * PAGE_BYTES as usize
}

fn lines(segment: &Segment, count: usize) -> Result<Lines<'_>, Failure> {
    let span = segment.span_mut().ok_or("the segment is not writable")?;
    let line = |at: usize| span.line::<AStackHead>(at * PAGE_BYTES as usize);
    let heads = (1..=count).map(line).collect::<Option<_>>();
    let (bell, heads) = line(0).zip(heads).ok_or("the segment has too few pages")?;
    Ok(Lines { bell: &bell.turn, heads })
}
