//! iceoryx2 request-response, twice: both sides polling, and each woken by an event of the other.
//!
//! A request is bytes, and a word beside them that says which call it is. The server looks at the
//! bytes where they lie, as everybody who uses iceoryx2 does.

use std::hint::black_box;
use std::time::{Duration, Instant};

use crate::processor;
use iceoryx2::port::client::Client as Requests;
use iceoryx2::port::listener::{Listener, ListenerWaitError};
use iceoryx2::port::notifier::Notifier;
use iceoryx2::port::server::Server as Served;
use iceoryx2::prelude::{
    AllocationStrategy, Config, FileName, Node, NodeBuilder, SemanticString, ServiceName, ipc,
};
use iceoryx2::service::port_factory::request_response::PortFactory;

use crate::call::{self, BYTES_MAX, Call, Failure};
use crate::client;
use crate::server::ready;
use crate::walked;

/// Of iceoryx2.
pub const VERSION: &str = env!("ICEORYX2_VERSION");

/// Bytes of a result that is none: there is no empty response.
const NOTHING: [u8; 1] = [0];

/// Bytes of a write of four numbers, and of three words before them.
const WRITE_BYTES: usize = 28;

/// Polls between two looks at the clock, which would take as long as a poll.
const POLLS_PER_LOOK: u32 = 1 << 16;

/// How long the other side may be silent.
const PATIENCE: Duration = Duration::from_secs(20);

/// Which call a request is.
mod selector {
    pub const NULL: u32 = 0;
    pub const ADD: u32 = 1;
    pub const BYTES_IN: u32 = 2;
    pub const BIG_IN_OUT: u32 = 3;
    pub const PFS_WRITE: u32 = 5;
    /// The server is to stop polling.
    pub const REST: u32 = 4;
}

type RequestPort = Requests<ipc::Service, [u8], u32, [u8], ()>;
type ServerPort = Served<ipc::Service, [u8], u32, [u8], ()>;

/// How one side waits for the other, and wakes it.
enum Waiting {
    Polling {
        /// Both sides are on one processor: between two polls it goes to the other.
        is_shared: bool,
    },
    Events(Box<Events>),
}

/// What this side sleeps on, and what it wakes the other with.
struct Events {
    ours: Listener<ipc::Service>,
    theirs: Notifier<ipc::Service>,
}

/// Whoever polls for a process that has ended would poll for ever.
#[derive(Default)]
struct Patience {
    polls: u32,
    since: Option<Instant>,
}

impl Patience {
    /// One more poll for nothing.
    fn poll(&mut self) -> Result<(), Failure> {
        self.polls = self.polls.wrapping_add(1);
        if !self.polls.is_multiple_of(POLLS_PER_LOOK) {
            return Ok(());
        }
        let since = *self.since.get_or_insert_with(Instant::now);
        if since.elapsed() < PATIENCE { Ok(()) } else { Err("the other side is gone".into()) }
    }
}

/// The client's side.
pub struct Client {
    requests: RequestPort,
    waiting: Waiting,
    _node: Node<ipc::Service>,
}

impl Waiting {
    /// Waits until there may be something; may return for nothing.
    fn wait(&self) -> Result<(), Failure> {
        match self {
            Waiting::Polling { is_shared: true } => processor::yield_now(),
            Waiting::Polling { is_shared: false } => processor::relax(),
            Waiting::Events(events) => {
                match events.ours.blocking_wait(|_| ()) {
                    // Nothing, but that it was looked at from outside (`walked`).
                    Ok(_) | Err(ListenerWaitError::InterruptSignal) => {}
                    Err(error) => return Err(format!("{error:?}").into()),
                }
            }
        }
        Ok(())
    }

    fn wake(&self) -> Result<(), Failure> {
        if let Waiting::Events(events) = self {
            events.theirs.notify().map_err(|error| format!("{error:?}"))?;
        }
        Ok(())
    }

    /// `sides` are the events of this side and of the other.
    fn events(
        node: &Node<ipc::Service>,
        address: &str,
        sides: [&str; 2],
    ) -> Result<Waiting, Failure> {
        let [ours, theirs] = sides.map(|side| -> Result<_, Failure> {
            Ok(node.service_builder(&name(address, side)?).event().open_or_create()?)
        });
        let ours = ours?.listener_builder().create()?;
        let theirs = theirs?.notifier_builder().create()?;
        Ok(Waiting::Events(Box::new(Events { ours, theirs })))
    }
}

/// A node of the benchmark's own, which meets nobody else's.
fn node() -> Result<Node<ipc::Service>, Failure> {
    let mut config = Config::default();
    config.global.prefix = FileName::new(b"nearcall_bench_")?;
    Ok(NodeBuilder::new().config(&config).create::<ipc::Service>()?)
}

/// A name of this run's.
fn name(address: &str, what: &str) -> Result<ServiceName, Failure> {
    Ok(format!("{address}/{what}").as_str().try_into()?)
}

type Calls = PortFactory<ipc::Service, [u8], u32, [u8], ()>;

fn calls(node: &Node<ipc::Service>, address: &str) -> Result<Calls, Failure> {
    let builder = node.service_builder(&name(address, "calls")?).request_response::<[u8], [u8]>();
    Ok(builder.request_user_header::<u32>().open_or_create()?)
}

fn client(node: Node<ipc::Service>, address: &str, waiting: Waiting) -> Result<Client, Failure> {
    let calls = calls(&node, address)?;
    let builder = calls.client_builder().initial_max_slice_len(BYTES_MAX);
    let requests = builder.allocation_strategy(AllocationStrategy::Static).create()?;
    Ok(Client { requests, waiting, _node: node })
}

/// A client that polls.
pub fn polling(address: &str, is_shared: bool) -> Result<Client, Failure> {
    client(node()?, address, Waiting::Polling { is_shared })
}

/// A client that sleeps until its event comes.
pub fn event_driven(address: &str) -> Result<Client, Failure> {
    let node = node()?;
    let waiting = Waiting::events(&node, address, ["replies", "requests"])?;
    client(node, address, waiting)
}

impl Client {
    /// Makes a request; the first bytes of its response, at least one.
    fn exchange(&self, selector: u32, octets: &[u8]) -> Result<[u8; 4], Failure> {
        let mut request = self.requests.loan_slice_uninit(octets.len())?;
        *request.user_header_mut() = selector;
        let pending = request.write_from_slice(octets).send()?;
        self.waiting.wake()?;
        let mut patience = Patience::default();
        loop {
            if let Some(response) = pending.receive()? {
                let octets = black_box(response.payload());
                return Ok(octets.first_chunk().copied().unwrap_or([octets[0]; 4]));
            }
            patience.poll()?;
            self.waiting.wait()?;
        }
    }
}

impl Client {
    fn rest(&self) -> Result<(), Failure> {
        self.exchange(selector::REST, &NOTHING).map(|_| ())
    }
}

impl call::Client for Client {
    async fn call(&mut self, call: Call, octets: &[u8]) -> Result<(), Failure> {
        match call {
            Call::Null => drop(self.exchange(selector::NULL, &NOTHING)?),
            Call::Add => {
                let terms = black_box([2_u8, 0, 0, 0, 3, 0, 0, 0]);
                call::check(self.exchange(selector::ADD, &terms)?[0] == 5)?;
            }
            Call::BytesIn(_) => drop(self.exchange(selector::BYTES_IN, octets)?),
            Call::BigInOut => {
                let [first, ..] = self.exchange(selector::BIG_IN_OUT, octets)?;
                call::check(first == octets[0] + 1)?;
            }
        }
        Ok(())
    }

    async fn pfs_write(&mut self, pos: i32, numbers: &[i32]) -> Result<i32, Failure> {
        let mut write = [0; WRITE_BYTES];
        let words = [walked::HANDLE, pos, numbers.len() as i32];
        for (place, word) in write.as_chunks_mut().0.iter_mut().zip(words.iter().chain(numbers)) {
            *place = word.to_le_bytes();
        }
        Ok(i32::from_le_bytes(self.exchange(selector::PFS_WRITE, &write)?))
    }

    fn begin(&mut self, server: &mut client::Server) -> Result<(), Failure> {
        if let Waiting::Polling { .. } = self.waiting { server.wake() } else { Ok(()) }
    }

    fn end(&mut self) -> Result<(), Failure> {
        if let Waiting::Polling { .. } = self.waiting { self.rest() } else { Ok(()) }
    }

    fn finish(&mut self) -> Result<(), Failure> {
        if let Waiting::Events(_) = self.waiting { self.rest() } else { Ok(()) }
    }
}

fn port(node: &Node<ipc::Service>, address: &str) -> Result<ServerPort, Failure> {
    let calls = calls(node, address)?;
    let builder = calls.server_builder().initial_max_slice_len(call::BIG_BYTES);
    Ok(builder.allocation_strategy(AllocationStrategy::Static).create()?)
}

/// Serves, polling, whenever a line comes in, until a client lets it rest.
pub fn serve_polling(address: &str, is_shared: bool) -> Result<(), Failure> {
    let node = node()?;
    let port = port(&node, address)?;
    let waiting = Waiting::Polling { is_shared };
    ready()?;
    for line in std::io::stdin().lines() {
        line?;
        let mut patience = Patience::default();
        loop {
            match answer(&port, &waiting)? {
                Some(selector::REST) => break,
                Some(_) => patience = Patience::default(),
                None => patience.poll()?,
            }
        }
    }
    Ok(())
}

/// Serves, sleeping until its event comes, until a client lets it rest.
pub fn serve_events(address: &str) -> Result<(), Failure> {
    let node = node()?;
    let port = port(&node, address)?;
    let waiting = Waiting::events(&node, address, ["requests", "replies"])?;
    ready()?;
    while answer(&port, &waiting)? != Some(selector::REST) {}
    Ok(())
}

/// Answers the next request, or waits; which call it was.
fn answer(port: &ServerPort, waiting: &Waiting) -> Result<Option<u32>, Failure> {
    let Some(request) = port.receive()? else {
        waiting.wait()?;
        return Ok(None);
    };
    let selector = *request.user_header();
    let octets = black_box(request.payload());
    let respond = |octets: &[u8]| -> Result<(), Failure> {
        let response = request.loan_slice_uninit(octets.len())?;
        Ok(response.write_from_slice(octets).send()?)
    };
    match selector {
        selector::ADD => {
            let (terms, _) = octets.as_chunks();
            let sum =
                terms.iter().fold(0, |sum: i32, term| sum.wrapping_add(i32::from_le_bytes(*term)));
            respond(&sum.to_le_bytes())?;
        }
        selector::BIG_IN_OUT => {
            let mut out = [0; call::BIG_BYTES];
            out.copy_from_slice(octets);
            call::step(&mut out);
            respond(&out)?;
        }
        selector::PFS_WRITE => {
            let (words, _) = octets.as_chunks();
            let [handle, pos, len, numbers @ ..] = words else {
                return Err("a write is shorter than it can be".into());
            };
            let [handle, pos, len] = [handle, pos, len].map(|word| i32::from_le_bytes(*word));
            let pos = walked::moved(handle, pos, len, numbers.len());
            respond(&pos.to_le_bytes())?;
        }
        selector::NULL => {
            walked::mark();
            respond(&NOTHING)?;
        }
        _ => respond(&NOTHING)?,
    }
    waiting.wake()?;
    Ok(Some(selector))
}
