//! The client's end of the binding's socket after the bind: out-of-line segments and growth.
//!
//! Whoever waits for a message reads for everybody, under one lock. None of this is on the way of a
//! call that fits its A-stack.

use std::collections::{HashMap, HashSet};
use std::os::fd::AsFd;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use nearcall_abi::message::Message;
use nearcall_abi::{AStackClass, LENT_COUNT_MAX, PAGE_BYTES};
use nearcall_core::{PeerFault, RevokeReason};
use nearcall_os::segment::{Sealing, Segment, SoleSegment};
use nearcall_os::socket::SocketError;

use super::binding::{ClientBinding, ClientRegion, Grip};
use super::linkage::{Linkage, OutOfLine};
use crate::error::{CallError, UsageError};
use crate::region::{self, RegionBytes, Segments};
use crate::server::binding::OUT_OF_LINE_BYTES_MIN;
use crate::wire::{Packet, Socket, WireError};

/// Longest wait for the server's half of an exchange over the socket.
const EXCHANGE_TIMEOUT: Duration = Duration::from_secs(5);

/// The socket, and what came over it for threads that have not asked yet.
#[derive(Debug)]
pub(crate) struct Control {
    socket: Socket,
    inbox: Mutex<Inbox>,
    /// One growth at a time.
    growing: Mutex<()>,
    /// How many segments were lent: a number is never used again.
    lends: AtomicU32,
    /// How many of them are lent now.
    lent_count: AtomicU32,
}

/// At most one entry an A-stack: a later message about it replaces the one before.
#[derive(Debug, Default)]
struct Inbox {
    mapped: HashMap<u32, u32>,
    results: HashMap<u32, OutOfLine>,
    lent: HashSet<u32>,
    is_growth_refused: bool,
    grown: Option<Grown>,
    is_grown_bound: bool,
}

#[derive(Debug)]
struct Grown {
    class: u32,
    count: u32,
    replies: std::os::fd::OwnedFd,
}

impl Control {
    pub fn new(socket: Socket) -> Control {
        Control {
            socket,
            inbox: Mutex::default(),
            growing: Mutex::default(),
            lends: AtomicU32::new(0),
            lent_count: AtomicU32::new(0),
        }
    }

    pub fn socket(&self) -> &Socket {
        &self.socket
    }

    /// Ends the conversation; the server notices.
    pub fn hang_up(&self) {
        self.socket.hang_up();
    }

    /// Asks the server to look at our A-stacks: our bells do not seem to arrive. Does not block; if
    /// there is no room, what is there already wakes the server.
    pub fn ask_to_look(&self) {
        let _ = self.socket.try_send(&Message::Look);
    }

    fn inbox(&self) -> MutexGuard<'_, Inbox> {
        self.inbox.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ClientBinding {
    /// Reads messages until `find` has found what it looks for. `None` if the server does not
    /// deliver in time, or breaks the protocol; the binding is then revoked.
    fn await_message<T>(&self, mut find: impl FnMut(&mut Inbox) -> Option<T>) -> Option<T> {
        let deadline = Instant::now() + EXCHANGE_TIMEOUT;
        let mut inbox = self.control.inbox();
        loop {
            if let Some(found) = find(&mut inbox) {
                return Some(found);
            }
            let left = deadline.saturating_duration_since(Instant::now());
            // A server that keeps talking does not keep us beyond the time.
            let packet = match left.is_zero() {
                true => Err(WireError::Socket(SocketError::TimedOut)),
                false => self.control.socket.receive(left),
            };
            if let Err(error) = packet.and_then(|packet| self.file(&mut inbox, packet)) {
                tracing::warn!(name = self.name, %error, "no answer over the binding's socket");
                drop(inbox);
                self.revoke(RevokeReason::PeerHungUp);
                return None;
            }
        }
    }

    /// Puts a message where its reader finds it.
    fn file(&self, inbox: &mut Inbox, mut packet: Packet) -> Result<(), WireError> {
        match packet.message()? {
            Message::Mapped { astack, generation } if astack < self.astack_count() => {
                inbox.mapped.insert(astack, generation);
            }
            Message::OutOfLine { astack, generation, bytes } if astack < self.astack_count() => {
                let descriptor = packet.descriptors.remove(0);
                let received = usize::try_from(bytes)
                    .ok()
                    .map(|bytes| Segment::receive(descriptor, bytes, Sealing::SingleWriter));
                // A segment that is refused is not there: whoever looks for it reports the fault.
                if let Some(Ok(segment)) = received {
                    let segment = Arc::new(segment);
                    inbox.results.insert(astack, OutOfLine { generation, segment });
                }
            }
            // Relaxed: a counter; numbers that were given out before this message are in it.
            Message::Lent { number } if number <= self.control.lends.load(Relaxed) => {
                inbox.lent.insert(number);
            }
            Message::Grown { class, count } => {
                let replies = packet.descriptors.remove(0);
                inbox.grown = Some(Grown { class, count, replies });
            }
            Message::GrownBound { .. } => inbox.is_grown_bound = true,
            Message::Refused { .. } => inbox.is_growth_refused = true,
            // The server revokes: nothing that is waited for will come.
            _ => return Err(WireError::Socket(SocketError::HungUp)),
        }
        Ok(())
    }

    /// Has the server add A-stacks of `class` (L49). False if it does not, or if there are as many
    /// extensions as there may be.
    pub fn grow(&self, class: u32) -> bool {
        let before = self.astack_count();
        let growing = self.control.growing.lock().unwrap_or_else(PoisonError::into_inner);
        if self.astack_count() > before {
            // Another thread found none free either, and has had some added.
            return true;
        }
        let Some(at) = self.extensions.iter().position(|extension| extension.get().is_none())
        else {
            return false;
        };
        self.control.inbox().is_growth_refused = false;
        if self.control.socket.send(&Message::Grow { class }, &[]).is_err() {
            return false;
        }
        let granted = self.await_message(|inbox| match inbox.grown.take() {
            Some(grown) => Some(Some(grown)),
            None => std::mem::take(&mut inbox.is_growth_refused).then_some(None),
        });
        let Some(Some(grown)) = granted else {
            return false;
        };
        let Some(region) = self.map_extension(class, grown) else {
            return false;
        };
        let is_bound = self.await_message(|inbox| {
            let is_bound = std::mem::take(&mut inbox.is_grown_bound);
            if is_bound {
                Some(true)
            } else {
                std::mem::take(&mut inbox.is_growth_refused).then_some(false)
            }
        });
        if is_bound != Some(true) {
            return false;
        }
        self.add_extension(at, region);
        drop(growing);
        true
    }

    fn map_extension(&self, class: u32, grown: Grown) -> Option<ClientRegion> {
        let known = self.classes[class as usize];
        if grown.class != class || grown.count != known.count {
            return None;
        }
        let classes = [AStackClass { count: grown.count, ..known }];
        let RegionBytes { heads, blocks } = RegionBytes::of(&classes).ok()?;
        let peer = Segment::receive(grown.replies, blocks, Sealing::SingleWriter).ok()?;
        let made = Segment::create("nearcall-heads", heads, Sealing::BothWrite);
        let (heads, heads_descriptor) = made.ok()?;
        let made = Segment::create("nearcall-requests", blocks, Sealing::SingleWriter);
        let (own, own_descriptor) = made.ok()?;
        let descriptors = [heads_descriptor.as_fd(), own_descriptor.as_fd()];
        self.control.socket.send(&Message::GrownSegments { class }, &descriptors).ok()?;
        let base = self.astack_count();
        let segments = Segments { heads, own, peer };
        let linkage = |index, _| Linkage::new(base + index, class);
        Some(ClientRegion { base, region: region::table(&classes, segments, linkage) })
    }
}

impl ClientBinding {
    /// A segment that the server has mapped, for arguments of any call.
    pub fn lend(&self, bytes: usize) -> Result<(u32, SoleSegment), CallError> {
        let bytes = bytes.max(1).next_multiple_of(PAGE_BYTES as usize);
        let no_memory =
            |reason: String| CallError::Usage(UsageError::NoMemory { bytes: bytes as u64, reason });
        // Relaxed: a counter that orders nothing.
        if self.control.lent_count.fetch_add(1, Relaxed) >= LENT_COUNT_MAX {
            // Relaxed: as above.
            self.control.lent_count.fetch_sub(1, Relaxed);
            return Err(no_memory(format!("{LENT_COUNT_MAX} segments are lent")));
        }
        // Relaxed: as above.
        let number = self.control.lends.fetch_add(1, Relaxed).wrapping_add(1);
        let lent = self.lend_as(number, bytes).map_err(no_memory);
        if lent.is_err() {
            self.end_lend(number);
        }
        lent.map(|segment| (number, segment))
    }

    fn lend_as(&self, number: u32, bytes: usize) -> Result<SoleSegment, String> {
        let made = SoleSegment::create("nearcall-lent", bytes);
        let (segment, descriptor) = made.map_err(|error| error.to_string())?;
        let message = Message::Lend { number, bytes: bytes as u64 };
        let sent = self.control.socket.send(&message, &[descriptor.as_fd()]);
        sent.map_err(|error| error.to_string())?;
        let is_mapped = self.await_message(|inbox| inbox.lent.remove(&number).then_some(()));
        is_mapped.map(|()| segment).ok_or_else(|| "the server did not map it".to_owned())
    }

    /// No further call names lent segment `number`.
    pub fn end_lend(&self, number: u32) {
        // A server that does not hear of it keeps its mapping until the binding goes.
        let _ = self.control.socket.send(&Message::LendOver { number }, &[]);
        // Relaxed: a counter that orders nothing.
        self.control.lent_count.fetch_sub(1, Relaxed);
    }
}

impl Grip<'_> {
    /// A segment of at least `bytes` for arguments: the one of the last call on this A-stack if it
    /// is long enough, else a new one that the server has mapped.
    pub fn request_segment(&self, bytes: usize) -> Result<OutOfLine, CallError> {
        let mut known = self.linkage().request.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = &*known
            && known.segment.bytes() >= bytes
        {
            return Ok(known.clone());
        }
        *known = None;
        // Relaxed: the lock orders it.
        let generation = self.linkage().requests.fetch_add(1, Relaxed).wrapping_add(1);
        let bytes = bytes.next_power_of_two().max(OUT_OF_LINE_BYTES_MIN);
        let no_memory =
            |reason: String| CallError::Usage(UsageError::NoMemory { bytes: bytes as u64, reason });
        let (segment, descriptor) =
            Segment::create("nearcall-arguments", bytes, Sealing::SingleWriter)
                .map_err(|error| no_memory(error.to_string()))?;
        let astack = self.linkage().index;
        let announced = Message::OutOfLine { astack, generation, bytes: bytes as u64 };
        let control = &self.binding.control;
        control
            .socket
            .send(&announced, &[descriptor.as_fd()])
            .map_err(|error| no_memory(error.to_string()))?;
        let is_mapped = self.binding.await_message(|inbox| {
            let is_ours = inbox.mapped.get(&astack) == Some(&generation);
            is_ours.then(|| inbox.mapped.remove(&astack)).map(|_| true)
        });
        if is_mapped != Some(true) {
            return Err(no_memory("the server did not map it".to_owned()));
        }
        let made = OutOfLine { generation, segment: Arc::new(segment) };
        *known = Some(made.clone());
        Ok(made)
    }

    /// The segment that the server announced for results on this A-stack before it replied.
    pub fn reply_segment(&self, generation: u32) -> Result<Arc<Segment>, PeerFault> {
        let mut known = self.linkage().reply.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = &*known
            && known.generation == generation
        {
            return Ok(Arc::clone(&known.segment));
        }
        // The one before is unmapped first, so that both need not fit.
        let before = known.take().map_or(0, |before| before.generation);
        let found = self.binding.await_message(|inbox| {
            let found = inbox.results.remove(&self.linkage().index);
            found.filter(|found| found.generation == generation)
        });
        let fault = PeerFault::Generation { claimed: generation, known: before };
        let found = found.ok_or(fault)?;
        let segment = Arc::clone(&found.segment);
        *known = Some(found);
        Ok(segment)
    }
}
