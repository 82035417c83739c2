//! `raw-bind`: what a bind cannot do without, and nothing else. A connection, one packet each way
//! with two descriptors, the three segments of a binding, each made by one process and mapped by
//! both.
//!
//! ```text
//! importer                                        child
//! make two segments
//! connect ──────────────────────────────────────▶ accept
//! send, with both ──────────────────────────────▶ receive, map both, make one
//! receive, map ◀───────────────────────────────── send, with it and the bell
//! ```
//!
//! Nobody is asked who it is, nothing is watched, nothing is noted, no call follows; the importer
//! polls for the answer and yields between polls, as an import does.

use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::time::Duration;

use nearcall_abi::PAGE_BYTES;
use nearcall_os::clock;
use nearcall_os::descriptor::PeerDescriptor;
use nearcall_os::processor;
use nearcall_os::segment::{Sealing, Segment};
use nearcall_os::socket::{Listener, Stream};
use rustix::event::{PollFd, PollFlags};

use crate::child::{Child, Failure, Link};
use crate::statistics::Samples;

/// The child's role, and the subject's name.
pub const ROLE: &str = "raw-bind";

/// Bytes of each segment: those of a binding to an interface of a few small procedures.
const BYTES: usize = PAGE_BYTES as usize;

/// A side that does not answer for so long is taken for stuck.
const TIMEOUT: Duration = Duration::from_secs(30);

/// The other process, asleep until somebody connects.
pub struct RawBind {
    path: PathBuf,
    _child: Child,
}

/// What one side has of a binding. Dropping it unmaps it.
pub type Bound = [Segment; 4];

impl RawBind {
    /// Starts one on processor `processor` that listens in `directory`.
    pub fn start(directory: &Path, processor: u32) -> Result<RawBind, Failure> {
        let path = directory.join(ROLE);
        let name = path.to_str().ok_or("the directory has no name in Unicode")?;
        let _child = Child::start(ROLE, &[name, &processor.to_string()], &[])?;
        Ok(RawBind { path, _child })
    }

    /// Times `count` of them, one after the other; what was bound stays until all are.
    pub fn measure(&self, count: usize) -> Result<Samples, Failure> {
        let (mut times_ns, mut bound) = (Vec::with_capacity(count), Vec::with_capacity(count));
        for _ in 0..count {
            let begin_ns = clock::now_ns();
            bound.push(self.once()?);
            times_ns.push(clock::now_ns() - begin_ns);
        }
        Ok(Samples::new(1, times_ns))
    }

    fn once(&self) -> Result<(Stream, Bound), Failure> {
        let (heads, heads_file) = Segment::create("raw-heads", BYTES, Sealing::BothWrite)?;
        let (own, own_file) = Segment::create("raw-requests", BYTES, Sealing::SingleWriter)?;
        let stream = Stream::connect(&self.path)?;
        stream.send(&[0], &[heads_file.as_fd(), own_file.as_fd()], TIMEOUT)?;
        let received = loop {
            if let Some(received) = stream.try_receive(&mut [0; 1], 2)? {
                break received;
            }
            processor::yield_now();
        };
        let [peer, bell] = two(received.descriptors)?;
        let peer = Segment::receive(peer, BYTES, Sealing::SingleWriter)?;
        let bell = Segment::receive(bell, BYTES, Sealing::BothWrite)?;
        Ok((stream, [heads, own, peer, bell]))
    }
}

/// What the child does: answers importers one after the other until the link ends.
pub fn play(link: &Link, arguments: &[String]) -> Result<(), Failure> {
    let [path, processor] = arguments else {
        return Err("which path, which processor?".into());
    };
    processor::pin(processor.parse()?)?;
    let listener = Listener::bind(Path::new(path))?;
    let (_bell, bell_file) = Segment::create("raw-bell", BYTES, Sealing::BothWrite)?;
    link.answer(0)?;
    let mut bound = Vec::new();
    loop {
        let mut polled = [PollFd::new(&listener, PollFlags::IN), PollFd::new(link, PollFlags::IN)];
        rustix::event::poll(&mut polled, None)?;
        if !polled[1].revents().is_empty() {
            return Ok(());
        }
        let Some(stream) = listener.accept()? else { continue };
        let received = stream.receive(&mut [0; 1], 2, TIMEOUT)?;
        let [heads, peer] = two(received.descriptors)?;
        let heads = Segment::receive(heads, BYTES, Sealing::BothWrite)?;
        let peer = Segment::receive(peer, BYTES, Sealing::SingleWriter)?;
        let (own, own_file) = Segment::create("raw-replies", BYTES, Sealing::SingleWriter)?;
        stream.send(&[0], &[own_file.as_fd(), bell_file.as_fd()], TIMEOUT)?;
        bound.push((stream, [heads, own, peer]));
    }
}

fn two(descriptors: Vec<PeerDescriptor>) -> Result<[PeerDescriptor; 2], Failure> {
    descriptors.try_into().map_err(|_| "a descriptor is missing".into())
}
