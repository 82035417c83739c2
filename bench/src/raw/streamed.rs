//! `raw-stream`: a long argument in shared memory, copied in by one process and out by the other at
//! the same time: the first says after each part how far it is, and the second follows. No call
//! whose server has an argument of its own can be faster between two processors; nothing is called,
//! judged or allocated.

use std::os::fd::AsFd;
use std::sync::atomic::Ordering;

use nearcall_abi::{AStackHead, PAGE_BYTES};
use nearcall_os::{Sealing, Segment, SpanMut, processor};

use crate::child::{Child, Failure, Link};
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

/// Most polls before the other side is taken for gone: many seconds.
const POLLS_MAX: u32 = 1 << 28;

/// The other process, asleep until [`Streamed::measure`].
pub struct Streamed {
    segment: Segment,
    child: Child,
}

impl Streamed {
    /// Starts one on processor `processor`.
    pub fn start(processor: u32) -> Result<Streamed, Failure> {
        let (segment, file) = Segment::create("bench-stream", SEGMENT_BYTES, Sealing::BothWrite)?;
        let child = Child::start(ROLE, &[&processor.to_string()], &[file.as_fd()])?;
        Ok(Streamed { segment, child })
    }

    /// What it takes until `source` lies in the other process's own memory and that has said so,
    /// in parts of the size that is best.
    pub fn measure(&self, source: &[u8], plan: Plan) -> Result<Samples, Failure> {
        if source.len() > BYTES_MAX {
            return Err(format!("{} bytes are more than {BYTES_MAX}", source.len()).into());
        }
        let mut best: Option<Samples> = None;
        for part in PARTS {
            let samples = self.measure_in(part, source, plan)?;
            if best.as_ref().is_none_or(|best| samples.p50_ns() < best.p50_ns()) {
                best = Some(samples);
            }
        }
        best.ok_or_else(|| "no size of parts was tried".into())
    }

    fn measure_in(&self, part: usize, source: &[u8], plan: Plan) -> Result<Samples, Failure> {
        let (head, span) = parts(&self.segment)?;
        // Relaxed, both: the child is told afterwards.
        head.turn.store(0, Ordering::Relaxed);
        head.selector.store(0, Ordering::Relaxed);
        self.child.link().tell(&[source.len() as u64, plan.calls().into()])?;
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
            poll(|| head.selector.load(Ordering::Acquire) == answers)
        })
    }
}

/// What the child does.
pub fn play(link: &Link, arguments: &[String]) -> Result<(), Failure> {
    let processor = arguments.first().ok_or("which processor?")?;
    processor::pin(processor.parse()?)?;
    let [file] = link.descriptors()?;
    let segment = Segment::receive(file, SEGMENT_BYTES, Sealing::BothWrite)?;
    let (head, span) = parts(&segment)?;
    let mut target = vec![0; BYTES_MAX];
    link.answer(0)?;
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
        poll(|| seen() > copied)?;
        let there = seen().min(target.len());
        span.as_span().copy_out(BEGIN + copied, &mut target[copied..there]);
        copied = there;
    }
    Ok(())
}

fn poll(is_there: impl Fn() -> bool) -> Result<(), Failure> {
    for _ in 0..POLLS_MAX {
        if is_there() {
            return Ok(());
        }
        processor::relax_briefly();
    }
    Err("the other process does not go on".into())
}

fn parts(segment: &Segment) -> Result<(&AStackHead, SpanMut<'_>), Failure> {
    let span = segment.span_mut().ok_or("the segment is not writable")?;
    Ok((span.line(0).ok_or("the segment has no line")?, span))
}
