//! `raw-stream`: a long argument in shared memory, copied in by one process and out by the other at
//! the same time: the first says after each part how far it is, and the second follows. No call
//! whose server has an argument of its own can be faster between two processors; nothing is called,
//! judged or allocated.

use std::sync::atomic::Ordering;

use nearcall_abi::{AStackHead, PAGE_BYTES};
use nearcall_os::{Segment, SpanMut};

use crate::child::{Failure, Link};
use crate::raw::pair::{self, Pair, poll};
use crate::statistics::{Plan, Samples};

/// The child's role.
pub const ROLE: &str = "raw-stream";

/// The bound's name.
pub const NAME: &str = "raw-stream";

/// Bytes that are copied before the other side is told. Which is best depends on the caches.
const PARTS: [usize; 3] = [16 << 10, 64 << 10, 256 << 10];

/// Longest argument.
pub const BYTES_MAX: usize = 4 << 20;

/// Where it lies; the words have the page before.
const BEGIN: usize = PAGE_BYTES as usize;

/// Bytes of the segment: a multiple of what huge pages take.
const SEGMENT_BYTES: usize = BYTES_MAX + (2 << 20);

/// The other process, asleep until [`Streamed::measure`].
pub struct Streamed(Pair);

impl Streamed {
    /// Starts one on processor `processor`.
    pub fn start(processor: u32) -> Result<Streamed, Failure> {
        Ok(Streamed(Pair::start(ROLE, processor, SEGMENT_BYTES)?))
    }

    /// What it takes until `source` lies in the other process's own memory and that has said so,
    /// in parts of the size that is best.
    pub fn measure(&self, source: &[u8], plan: Plan) -> Result<Samples, Failure> {
        if source.len() > BYTES_MAX {
            return Err(format!("{} bytes are more than {BYTES_MAX}", source.len()).into());
        }
        pair::fastest(PARTS.map(|part| self.measure_in(part, source, plan)))
    }

    fn measure_in(&self, part: usize, source: &[u8], plan: Plan) -> Result<Samples, Failure> {
        let (head, span) = parts(&self.0.segment)?;
        // Relaxed, both: the child is told afterwards.
        head.turn.store(0, Ordering::Relaxed);
        head.selector.store(0, Ordering::Relaxed);
        self.0.tell(&[source.len() as u64, plan.calls().into()])?;
        let (mut written, mut answers) = (0_u32, 0);
        plan.time(|| {
            for (at, bytes) in source.chunks(part).enumerate() {
                span.copy_in(BEGIN + at * part, bytes);
                written = written.wrapping_add(bytes.len() as u32);
                // Release: the bytes below it are for whoever sees it.
                head.turn.store(written, Ordering::Release);
            }
            answers += 1;
            // Acquire: pairs with the answer.
            poll(|| (head.selector.load(Ordering::Acquire) == answers).then_some(()))
        })
    }
}

/// What the child does.
pub fn play(link: &Link, arguments: &[String]) -> Result<(), Failure> {
    let segment = pair::join(link, arguments)?;
    let (head, span) = parts(&segment)?;
    let mut target = vec![0; BYTES_MAX];
    while let Some([bytes, calls, ..]) = link.next()? {
        let mut begin = 0_u32;
        for answer in 1..=u32::try_from(calls)? {
            follow(head, span, &mut target[..usize::try_from(bytes)?], begin)?;
            begin = begin.wrapping_add(u32::try_from(bytes)?);
            // Release: the argument has been read.
            head.selector.store(answer, Ordering::Release);
        }
    }
    Ok(())
}

/// Copies one argument behind whoever writes it, whose count was `begin` before it.
fn follow(
    head: &AStackHead,
    span: SpanMut<'_>,
    target: &mut [u8],
    begin: u32,
) -> Result<(), Failure> {
    let mut copied = 0;
    while copied < target.len() {
        // Acquire: the bytes below it are there.
        let seen = || head.turn.load(Ordering::Acquire).wrapping_sub(begin) as usize;
        let there = poll(|| Some(seen()).filter(|&seen| seen > copied))?.min(target.len());
        span.as_span().copy_out(BEGIN + copied, &mut target[copied..there]);
        copied = there;
    }
    Ok(())
}

fn parts(segment: &Segment) -> Result<(&AStackHead, SpanMut<'_>), Failure> {
    let span = segment.span_mut().ok_or("the segment is not writable")?;
    Ok((pair::lines(segment, 1, PAGE_BYTES as usize)?[0], span))
}
