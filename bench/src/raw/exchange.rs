//! `raw-futex`, `raw-eventfd`, `raw-pipe`, `raw-uds`: bytes to another process and bytes back, over
//! what the kernel has for it, without a word more than it takes to know how many.
//!
//! Both sides sleep until they are woken, always: what it costs is what the kernel can do for two
//! processes that do not share a processor's time by spinning. And `raw-copy`, for which they do
//! spin, on two processors: what it costs to copy bytes in on one and out on the other.

use std::os::fd::{AsFd, OwnedFd};

use crate::calls::Call;
use crate::child::{Child, Failure, Link};
use crate::raw::shared::{Bell, Eventfd, Futex, Shared, Spin};
use crate::raw::stream::{self, Pipe, Uds};
use crate::statistics::{Plan, Samples};

/// The child's role.
pub const ROLE: &str = "raw-exchange";

/// Longest that goes either way.
pub const BYTES_MAX: usize = 1 << 20;

/// How the bytes go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// Shared memory, and a futex on each side.
    Futex,
    /// Shared memory, and an eventfd on each side.
    Eventfd,
    /// Two pipes.
    Pipe,
    /// A pair of connected Unix stream sockets.
    Uds,
    /// Shared memory, polled by both sides.
    Spin,
}

/// The other process, asleep until something comes.
pub struct Exchange {
    /// Dropped first: the child ends with it.
    carrier: Box<dyn Carrier>,
    arguments: Vec<u8>,
    results: Vec<u8>,
    _child: Child,
}

/// One side of a way, the client's.
pub trait Carrier {
    /// Sends `arguments` and waits until `results` are there.
    fn exchange(&mut self, arguments: &[u8], results: &mut [u8]) -> Result<(), Failure>;
}

impl Way {
    /// Those of the kernel.
    pub const ASLEEP: [Way; 4] = [Way::Futex, Way::Eventfd, Way::Pipe, Way::Uds];

    /// The subject's name.
    pub fn name(self) -> &'static str {
        match self {
            Way::Futex => "raw-futex",
            Way::Eventfd => "raw-eventfd",
            Way::Pipe => "raw-pipe",
            Way::Uds => "raw-uds",
            Way::Spin => "raw-copy",
        }
    }

    fn of_name(name: &str) -> Option<Way> {
        Way::ASLEEP.into_iter().chain([Way::Spin]).find(|way| way.name() == name)
    }
}

impl Exchange {
    /// Starts one on processor `processor`.
    pub fn start(way: Way, processor: u32) -> Result<Exchange, Failure> {
        let (carrier, theirs): (Box<dyn Carrier>, Vec<OwnedFd>) = match way {
            Way::Futex => Shared::<Futex>::client()?,
            Way::Eventfd => Shared::<Eventfd>::client()?,
            Way::Pipe => Pipe::client()?,
            Way::Uds => Uds::client()?,
            Way::Spin => Shared::<Spin>::client()?,
        };
        let descriptors: Vec<_> = theirs.iter().map(AsFd::as_fd).collect();
        let arguments = [way.name(), &processor.to_string()];
        let child = Child::start(ROLE, &arguments, &descriptors)?;
        let bytes = vec![7; BYTES_MAX];
        let mut exchange =
            Exchange { carrier, arguments: bytes, results: Vec::new(), _child: child };
        exchange.check()?;
        Ok(exchange)
    }

    /// What comes back is what was sent, before anybody asks how fast.
    fn check(&mut self) -> Result<(), Failure> {
        self.once(200, 200)?;
        let is_right = self.results == self.arguments[..200];
        if is_right { Ok(()) } else { Err("an exchange came back wrong".into()) }
    }

    /// Once, so many bytes out and so many in.
    pub fn once(&mut self, out: usize, back: usize) -> Result<(), Failure> {
        self.results.resize(back, 0);
        self.carrier.exchange(&self.arguments[..out], &mut self.results)
    }

    /// Times what moves the bytes of a call.
    pub fn measure(&mut self, call: Call, plan: Plan) -> Result<Samples, Failure> {
        let (out, back) = call.bytes();
        plan.time(|| self.once(out, back))
    }
}

/// What the child does: sends back the first of the bytes that it gets.
pub fn play(link: &Link, arguments: &[String]) -> Result<(), Failure> {
    let [way, processor] = arguments else {
        return Err("which way, which processor?".into());
    };
    nearcall_os::processor::pin(processor.parse()?)?;
    match Way::of_name(way).ok_or("there is no such way")? {
        Way::Futex => Futex::serve(link),
        Way::Eventfd => Eventfd::serve(link),
        Way::Pipe => stream::serve_pipe(link),
        Way::Uds => stream::serve_uds(link),
        Way::Spin => Spin::serve(link),
    }
}
