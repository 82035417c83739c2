//! The client's end of the binding's socket after the bind: out-of-line segments and growth.
//!
//! One of the threads that wait for a message reads for all of them; each waits as long as its own
//! call may take. None of this is on the way of a call that fits its A-stack.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU32};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::Duration;

use nearcall_abi::message::Message;
use nearcall_abi::{AStackClass, ReplyLine};
use nearcall_core::room::NoRoom;
use nearcall_core::{PeerFault, RevokeReason};
use nearcall_os::clock;
use nearcall_os::descriptor::PeerDescriptor;
use nearcall_os::segment::{Sealing, Segment, SegmentFault};
use nearcall_os::socket::SocketError;

use super::binding::{ClientBinding, ClientRegion, Grip};
use super::cancellation;
use super::deadline::{NEVER_NS, left_ns};
use super::descriptors::Awaited;
use super::introductions::Asked;
use super::linkage::{Linkage, OutOfLine};
use super::switching;
use super::version::FOREIGN_BYTES_MAX;
use crate::error::{CallError, UsageError};
use crate::passed::StandIn;
use crate::region::{self, RegionBytes, Segments};
use crate::server::binding::OUT_OF_LINE_BYTES_MIN;
use crate::wire::{Packet, Socket, WireError};

mod lending;

/// Longest wait for the server's half of an exchange over the socket.
pub(crate) const EXCHANGE_NS_MAX: u64 = 5_000_000_000;

/// The same for a segment that results lie in: an honest server has sent it before it replied.
pub(crate) const RESULTS_NS_MAX: u64 = 100_000_000;

/// Most packets that are looked at when the time is over: more than a socket holds, and few enough
/// for a server that never stops sending.
const LATE_PACKETS_MAX: u32 = 1_000;

/// What a caller is told of a server that did not take a segment.
const NO_ROOM: &str = "the server has no room for it now";

/// The socket, and what came over it for threads that have not asked yet.
#[derive(Debug)]
pub(crate) struct Control {
    socket: Socket,
    inbox: Mutex<Inbox>,
    /// Something was put into the inbox, or nobody reads any more.
    news: Condvar,
    growth: Mutex<Growth>,
    /// How many segments were lent: a number is never used again.
    lends: AtomicU32,
    /// How many of them are lent now.
    lent_count: AtomicU32,
    /// How many introductions were asked for: a number is never used again.
    pub introductions: AtomicU32,
    /// What the server had no room for.
    no_room: Mutex<NoRoom>,
    /// A call that brings descriptors back was made: some that nobody waits for may come.
    pub has_expected: AtomicBool,
    /// Of this side of the binding.
    pub stand_in: StandIn,
}

/// At most one entry an A-stack: a later message about it replaces the one before.
#[derive(Debug, Default)]
pub(crate) struct Inbox {
    /// Descriptors of calls whose replies are not collected yet.
    pub awaited: Awaited,
    /// Introductions that were asked for and are not taken yet.
    pub introductions: Asked,
    /// Segments for arguments that the server has no room for.
    not_mapped: HashMap<u32, u32>,
    not_lent: HashSet<u32>,
    /// A thread is at the socket.
    pub is_read: bool,
    mapped: HashMap<u32, u32>,
    results: HashMap<u32, OutOfLine>,
    /// Segments for results that this process had no room for, and why.
    lost_results: HashMap<u32, (u32, String)>,
    lent: HashSet<u32>,
    is_growth_refused: bool,
    grown: Option<Grown>,
    is_grown_bound: bool,
    /// The server has said that it takes no more calls.
    is_revoked: bool,
}

/// Growth that was begun, and how far it is: a thread whose time is over leaves it to the next.
#[derive(Debug, Default)]
enum Growth {
    #[default]
    None,
    /// The server was asked for A-stacks of this class.
    Asked(u32),
    /// Both halves are there; the server has not said yet that it looks at them.
    Offered(Box<ClientRegion>),
}

/// Why a message that is waited for is not there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Missing {
    /// The call's own deadline has passed; the message may still come.
    Late,
    /// The server broke the protocol or did not deliver: the binding is revoked.
    Never,
}

/// Why results that came out of line are not there.
#[derive(Debug)]
pub(crate) enum NoResults {
    /// The server broke the protocol.
    Fault(PeerFault),
    /// This process has no room for them, for this reason.
    NoRoom(String),
}

#[derive(Debug)]
struct Grown {
    class: u32,
    count: u32,
    replies: PeerDescriptor,
}

impl Inbox {
    /// Receives the segment of results on an A-stack.
    fn file_results(
        &mut self,
        astack: u32,
        (generation, bytes): (u32, u64),
        descriptor: PeerDescriptor,
    ) {
        let Ok(bytes) = usize::try_from(bytes) else { return };
        match Segment::receive(descriptor, bytes, Sealing::SingleWriter) {
            Ok(segment) => {
                let segment = Arc::new(segment);
                self.results.insert(astack, OutOfLine { generation, segment });
            }
            Err(fault @ SegmentFault::Map { .. }) => {
                self.lost_results.insert(astack, (generation, fault.to_string()));
            }
            // One that is refused is not there: whoever looks for it reports the fault.
            Err(_) => {}
        }
    }
}

impl Control {
    pub fn new(socket: Socket) -> Control {
        Control {
            socket,
            inbox: Mutex::default(),
            news: Condvar::new(),
            growth: Mutex::default(),
            lends: AtomicU32::new(0),
            lent_count: AtomicU32::new(0),
            introductions: AtomicU32::new(0),
            no_room: Mutex::default(),
            has_expected: AtomicBool::new(false),
            stand_in: StandIn::default(),
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

    /// Tells the server that nobody wants more of a feed. Does not block: if there is no room, the
    /// feed stays until its binding goes.
    pub fn end_feed(&self, feed: u64) {
        let _ = self.socket.try_send(&Message::FeedOver { feed });
    }

    /// Sends, for no longer than until then.
    pub fn send(
        &self,
        until_ns: u64,
        message: &Message<'_>,
        descriptors: &[BorrowedFd<'_>],
    ) -> Result<(), WireError> {
        let left = Duration::from_nanos(left_ns(until_ns));
        self.socket.send_within(left, message, descriptors)
    }

    pub fn inbox(&self) -> MutexGuard<'_, Inbox> {
        self.inbox.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn no_room(&self) -> MutexGuard<'_, NoRoom> {
        self.no_room.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ClientBinding {
    /// Waits until `find` has found what it looks for, until `until_ns` at the latest; reads the
    /// messages if nobody does. A server that has not delivered after `timeout_ns` is given up.
    pub fn await_message<T>(
        &self,
        until_ns: u64,
        timeout_ns: u64,
        find: impl FnMut(&mut Inbox) -> Option<T>,
    ) -> Result<T, Missing> {
        self.await_unless(|| false, until_ns, timeout_ns, find)
    }

    /// The same for a call that has posted nothing: it may be cancelled, and is late then.
    fn await_before_post<T>(
        &self,
        until_ns: u64,
        find: impl FnMut(&mut Inbox) -> Option<T>,
    ) -> Result<T, Missing> {
        self.await_unless(cancellation::is_cancelled, until_ns, EXCHANGE_NS_MAX, find)
    }

    fn await_unless<T>(
        &self,
        is_cancelled: fn() -> bool,
        until_ns: u64,
        timeout_ns: u64,
        mut find: impl FnMut(&mut Inbox) -> Option<T>,
    ) -> Result<T, Missing> {
        switching::tell_all();
        let control = &self.control;
        let given_up_ns = clock::now_ns() + timeout_ns;
        let mut late_left = LATE_PACKETS_MAX;
        let mut inbox = control.inbox();
        loop {
            if let Some(found) = find(&mut inbox) {
                return Ok(found);
            }
            let left_ns = left_ns(until_ns.min(given_up_ns));
            if (left_ns == 0 && until_ns <= given_up_ns) || is_cancelled() {
                return Err(Missing::Late);
            }
            // This thread may not have run, or may have mapped what else came, and the one at the
            // socket may have what we look for in its hands: a server is given up only once what it
            // has delivered is filed.
            let is_late = left_ns == 0;
            late_left -= u32::from(is_late);
            if inbox.is_read && late_left > 0 {
                let longest_ns = if is_late { EXCHANGE_NS_MAX } else { left_ns };
                let longest = cancellation::slice(Duration::from_nanos(longest_ns));
                let waited = control.news.wait_timeout(inbox, longest);
                inbox = waited.unwrap_or_else(PoisonError::into_inner).0;
                continue;
            }
            inbox.is_read = true;
            drop(inbox);
            let packet = match is_late {
                true if late_left == 0 => Ok(None),
                true => control.socket.try_receive(),
                false => {
                    let left = cancellation::slice(Duration::from_nanos(left_ns));
                    control.socket.receive(left).map(Some)
                }
            };
            inbox = control.inbox();
            inbox.is_read = false;
            control.news.notify_all();
            let nothing = Err(WireError::Socket(SocketError::TimedOut));
            let filed = packet.transpose().map_or(nothing, |packet| self.file(&mut inbox, packet));
            if let Err(error) = filed {
                tracing::warn!(name = self.name, %error, "no answer over the binding's socket");
                drop(inbox);
                self.revoke(RevokeReason::PeerHungUp);
                return Err(Missing::Never);
            }
        }
    }

    /// Puts a message where its reader finds it.
    pub fn file(
        &self,
        inbox: &mut Inbox,
        packet: Result<Packet, WireError>,
    ) -> Result<(), WireError> {
        let mut packet = match packet {
            // Whoever waits looks at the time.
            Err(WireError::Socket(SocketError::TimedOut)) => return Ok(()),
            packet => packet?,
        };
        if let Some(Message::OutOfLine { astack, generation, .. }) = packet.cut_message()
            && astack < self.astack_count()
        {
            inbox.lost_results.insert(astack, (generation, "no descriptor is free".to_owned()));
            return Ok(());
        }
        match packet.message()? {
            Message::Mapped { astack, generation } if astack < self.astack_count() => {
                inbox.mapped.insert(astack, generation);
            }
            Message::NotMapped { astack, generation } if astack < self.astack_count() => {
                inbox.not_mapped.insert(astack, generation);
            }
            Message::OutOfLine { astack, generation, bytes } if astack < self.astack_count() => {
                let descriptor = packet.descriptors.remove(0);
                inbox.file_results(astack, (generation, bytes), descriptor);
            }
            Message::Descriptors { astack, sequence, .. } => {
                let descriptors = std::mem::take(&mut packet.descriptors);
                inbox.awaited.file(astack, sequence, descriptors);
            }
            Message::Introduced { number } => {
                let introduction = packet.descriptors.remove(0);
                inbox.introductions.file(number, Some(introduction));
            }
            Message::NotIntroduced { number } => inbox.introductions.file(number, None),
            // Relaxed: a counter; numbers that were given out before this message are in it.
            Message::Lent { number } if number <= self.control.lends.load(Relaxed) => {
                inbox.lent.insert(number);
            }
            // Relaxed: as above.
            Message::NotLent { number } if number <= self.control.lends.load(Relaxed) => {
                inbox.not_lent.insert(number);
            }
            Message::Grown { class, count } => {
                let replies = packet.descriptors.remove(0);
                inbox.grown = Some(Grown { class, count, replies });
            }
            Message::GrownBound { .. } => inbox.is_grown_bound = true,
            Message::Refused { .. } => inbox.is_growth_refused = true,
            Message::Revoked => {
                inbox.is_revoked = true;
                return Err(WireError::Socket(SocketError::HungUp));
            }
            // Nothing that is waited for will come.
            _ => return Err(WireError::Socket(SocketError::HungUp)),
        }
        Ok(())
    }

    /// Whether the server has said that it takes no more calls. After this side has hung up, so
    /// that the end of what it said is there.
    pub fn was_revoked_by_peer(&self, timeout: Duration) -> bool {
        let mut inbox = self.control.inbox();
        if inbox.is_read {
            // That thread meets the end as well, at once.
            let is_read = |inbox: &mut Inbox| inbox.is_read;
            let waited = self.control.news.wait_timeout_while(inbox, timeout, is_read);
            inbox = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        while !inbox.is_revoked
            && !inbox.is_read
            && self.control.socket.is_held()
            && let Ok(Some(packet)) = self.control.socket.try_receive()
        {
            // Whoever waits for what it brings finds it; the end of the binding is known already.
            let _ = self.file(&mut inbox, Ok(packet));
        }
        inbox.is_revoked
    }

    /// Has the server add A-stacks of `class` (L49), until `until_ns` at the latest. True if there
    /// are others than the `known_count` now. False if another thread is at it, too: then some may
    /// come.
    pub fn grow(&self, class: u32, known_count: u32, until_ns: u64) -> bool {
        let mut growth = match self.control.growth.try_lock() {
            Ok(growth) => growth,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return false,
        };
        while self.astack_count() == known_count {
            match self.grow_on(std::mem::take(&mut *growth), class, until_ns) {
                Ok(next) => *growth = next,
                Err(left) => {
                    *growth = left;
                    return false;
                }
            }
        }
        true
    }

    /// One step of growth. `Err`: it goes no further now, and this is left of it.
    fn grow_on(&self, growth: Growth, class: u32, until_ns: u64) -> Result<Growth, Growth> {
        match growth {
            Growth::None => {
                let has_room = self.extensions.iter().any(|extension| extension.get().is_none());
                let send = || self.control.send(until_ns, &Message::Grow { class }, &[]);
                if has_room && send().is_ok() {
                    return Ok(Growth::Asked(class));
                }
                Err(Growth::None)
            }
            Growth::Asked(asked) => {
                let granted = self.await_before_post(until_ns, |inbox| {
                    let refused = std::mem::take(&mut inbox.is_growth_refused).then_some(None);
                    inbox.grown.take().map(Some).or(refused)
                });
                match granted {
                    Ok(Some(grown)) => {
                        let region = self.map_extension(asked, grown).ok_or(Growth::None)?;
                        Ok(Growth::Offered(Box::new(region)))
                    }
                    Err(Missing::Late) => Err(Growth::Asked(asked)),
                    Ok(None) | Err(Missing::Never) => Err(Growth::None),
                }
            }
            Growth::Offered(region) => {
                let is_bound = self.await_before_post(until_ns, |inbox| {
                    let refused = std::mem::take(&mut inbox.is_growth_refused).then_some(false);
                    std::mem::take(&mut inbox.is_grown_bound).then_some(true).or(refused)
                });
                match is_bound {
                    Ok(true) => {
                        self.add_extension(region);
                        Ok(Growth::None)
                    }
                    Err(Missing::Late) => Err(Growth::Offered(region)),
                    Ok(false) | Err(Missing::Never) => Err(Growth::None),
                }
            }
        }
    }

    fn map_extension(&self, class: u32, grown: Grown) -> Option<ClientRegion> {
        let known = self.classes[class as usize];
        if grown.class != class || grown.count != known.count {
            return None;
        }
        let classes = [AStackClass { count: grown.count, ..known }];
        let bytes = RegionBytes::of(&classes).ok()?;
        let mapped = self.regions().map(|region| region.region.bytes()).sum::<usize>();
        if self.agreement.is_some() && mapped + bytes.mapped() > FOREIGN_BYTES_MAX {
            return None;
        }
        let RegionBytes { heads, blocks } = bytes;
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
    /// Changes when the server may have room that it did not have.
    fn room(&self) -> u32 {
        self.astack(0).peer_line::<ReplyLine>().room()
    }

    /// Whether what was to be sent has met a server that has closed its end. The binding is revoked
    /// then: the segment is nobody's, and whoever binds again may try the same.
    fn is_hung_up(&self, error: &WireError) -> bool {
        let is_hung_up = matches!(error, WireError::Socket(SocketError::HungUp));
        if is_hung_up {
            self.revoke(RevokeReason::PeerHungUp);
        }
        is_hung_up
    }
}

impl Grip<'_> {
    /// A segment of at least `bytes` for arguments of `procedure`: the one of the last call on this
    /// A-stack if it is long enough, else a new one that the server has mapped, until `until_ns` at
    /// the latest.
    pub fn request_segment(
        &self,
        bytes: usize,
        procedure: u32,
        until_ns: u64,
    ) -> Result<OutOfLine, CallError> {
        let mut known = self.linkage().request.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = &*known
            && known.segment.bytes() >= bytes
        {
            return Ok(known.clone());
        }
        let has_freed = known.take().is_some();
        let bytes = bytes.next_power_of_two().max(OUT_OF_LINE_BYTES_MIN);
        let room = self.binding.room();
        // What the server lets go of when it is asked may be what is lacking.
        if !has_freed && self.binding.control.no_room().is_known(room, bytes as u64) {
            return Err(self.binding.overloaded(procedure));
        }
        // Relaxed: the lock orders it.
        let generation = self.linkage().requests.fetch_add(1, Relaxed).wrapping_add(1);
        let segment = self.announce_segment(bytes, generation, procedure, until_ns);
        let segment = segment.inspect_err(|_| {
            // The server was not asked, and may still have the one before.
            *self.binding.control.no_room() = NoRoom::default();
        })?;
        let astack = self.linkage().index;
        let is_mapped = self.binding.await_before_post(until_ns, |inbox| {
            let is_ours = |answers: &mut HashMap<u32, u32>| {
                let is_ours = answers.get(&astack) == Some(&generation);
                is_ours.then(|| answers.remove(&astack))
            };
            let mapped = is_ours(&mut inbox.mapped).map(|_| true);
            mapped.or_else(|| is_ours(&mut inbox.not_mapped).map(|_| false))
        });
        match is_mapped {
            Ok(true) => {}
            Ok(false) => {
                self.binding.control.no_room().note(room, bytes as u64);
                return Err(self.binding.overloaded(procedure));
            }
            Err(Missing::Late) => return Err(self.binding.late(procedure)),
            Err(Missing::Never) => return Err(self.binding.closed(procedure)),
        }
        let made = OutOfLine { generation, segment: Arc::new(segment) };
        *known = Some(made.clone());
        Ok(made)
    }

    /// Makes a segment, and sends it to the server.
    fn announce_segment(
        &self,
        bytes: usize,
        generation: u32,
        procedure: u32,
        until_ns: u64,
    ) -> Result<Segment, CallError> {
        let (segment, descriptor) =
            Segment::create("nearcall-arguments", bytes, Sealing::SingleWriter)
                .map_err(|error| no_memory(bytes, error))?;
        let astack = self.linkage().index;
        let announced = Message::OutOfLine { astack, generation, bytes: bytes as u64 };
        match self.binding.control.send(until_ns, &announced, &[descriptor.as_fd()]) {
            Ok(()) => Ok(segment),
            Err(_) if left_ns(until_ns) == 0 => Err(self.binding.late(procedure)),
            Err(error) if self.binding.is_hung_up(&error) => Err(self.binding.closed(procedure)),
            Err(error) => Err(no_memory(bytes, error)),
        }
    }

    /// The segment that the server announced for results on this A-stack before it replied.
    pub fn reply_segment(&self, generation: u32) -> Result<Arc<Segment>, NoResults> {
        let mut known = self.linkage().reply.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = &*known
            && known.generation == generation
        {
            return Ok(Arc::clone(&known.segment));
        }
        // The one before is unmapped first, so that both need not fit.
        let before = known.take().map_or(0, |before| before.generation);
        let found = self.binding.await_message(NEVER_NS, RESULTS_NS_MAX, |inbox| {
            let index = &self.linkage().index;
            let no_room = inbox.lost_results.remove(index).filter(|(lost, _)| *lost == generation);
            if let Some((_, reason)) = no_room {
                return Some(Err(NoResults::NoRoom(reason)));
            }
            let found = inbox.results.remove(index);
            found.filter(|found| found.generation == generation).map(Ok)
        });
        let fault = PeerFault::Generation { claimed: generation, known: before };
        let found = found.map_err(|_| NoResults::Fault(fault))??;
        let segment = Arc::clone(&found.segment);
        *known = Some(found);
        Ok(segment)
    }
}

/// There is no segment of so many bytes, for this reason.
fn no_memory(bytes: usize, reason: impl fmt::Display) -> CallError {
    let reason = reason.to_string();
    CallError::Usage(UsageError::NoMemory { bytes: bytes as u64, reason })
}

#[cfg(test)]
mod tests;
