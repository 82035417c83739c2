//! What bare processes over one segment have in common: one makes the segment and starts the other,
//! which maps it, on a processor of its own; both look at lines in it, and every poll ends.

use std::os::fd::AsFd;

use nearcall_abi::AStackHead;
use nearcall_os::{Sealing, Segment, processor};

use crate::child::{Child, Failure, Link};
use crate::statistics::Samples;

/// Most polls before the other side is taken for gone: many seconds.
pub const POLLS_MAX: u32 = 1 << 28;

/// The segment, and the other process, asleep until it is told something.
pub struct Pair {
    pub segment: Segment,
    child: Child,
}

impl Pair {
    /// Starts a child of this role on processor `processor`, with a segment of so many bytes.
    pub fn start(role: &str, processor: u32, bytes: usize) -> Result<Pair, Failure> {
        let (segment, file) = Segment::create(role, bytes, Sealing::BothWrite)?;
        let arguments = [processor.to_string(), bytes.to_string()];
        let child = Child::start(role, &arguments.each_ref().map(String::as_str), &[file.as_fd()])?;
        Ok(Pair { segment, child })
    }

    /// Tells the child what comes next.
    pub fn tell(&self, words: &[u64]) -> Result<(), Failure> {
        self.child.link().tell(words)
    }
}

/// The child's half of [`Pair::start`].
pub fn join(link: &Link, arguments: &[String]) -> Result<Segment, Failure> {
    let [processor, bytes] = arguments else {
        return Err("which processor, how many bytes?".into());
    };
    processor::pin(processor.parse()?)?;
    let [file] = link.descriptors()?;
    let segment = Segment::receive(file, bytes.parse()?, Sealing::BothWrite)?;
    link.answer(0)?;
    Ok(segment)
}

/// The segment's first `count` lines, so many bytes apart.
pub fn lines(
    segment: &Segment,
    count: usize,
    apart_bytes: usize,
) -> Result<Vec<&AStackHead>, Failure> {
    let span = segment.span_mut().ok_or("the segment is not writable")?;
    let lines = (0..count).map(|at| span.line(at * apart_bytes)).collect::<Option<Vec<_>>>();
    lines.filter(|lines| !lines.is_empty()).ok_or_else(|| {
        let bytes = segment.bytes();
        format!(
            "{bytes} bytes do not have {count} lines, each {apart_bytes} apart, or that is none"
        )
        .into()
    })
}

/// Polls until there is something to see.
#[inline]
pub fn poll<T>(look: impl Fn() -> Option<T>) -> Result<T, Failure> {
    for _ in 0..POLLS_MAX {
        if let Some(seen) = look() {
            return Ok(seen);
        }
        processor::relax_briefly();
    }
    Err("the other process does not go on".into())
}

/// What was fastest of what was tried, by its median.
pub fn fastest(
    tried: impl IntoIterator<Item = Result<Samples, Failure>>,
) -> Result<Samples, Failure> {
    let mut best: Option<Samples> = None;
    for samples in tried {
        let samples = samples?;
        if best.as_ref().is_none_or(|best| samples.p50_ns() < best.p50_ns()) {
            best = Some(samples);
        }
    }
    best.ok_or_else(|| "nothing was tried".into())
}
