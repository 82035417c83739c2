//! A binding's socket, in messages instead of packets.

use std::cell::RefCell;
use std::fmt;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;

use nearcall_abi::counted;
use nearcall_abi::message::{CALL_DESCRIPTORS_MAX, Garbled, Message, PACKET_BYTES_MAX};
use nearcall_os::clock;
use nearcall_os::closing::Behind;
use nearcall_os::descriptor::PeerDescriptor;
use nearcall_os::processor;
use nearcall_os::socket::{Received, SocketError, Stream};

/// Longest that a packet may wait for room in the peer's socket. Conversations are short and
/// strictly in turn, so that an honest peer's has room.
const SEND_TIMEOUT: Duration = Duration::from_millis(100);

/// A message of a few words.
const SMALL_BYTES: usize = 32;

/// Most descriptors that any message carries.
const DESCRIPTORS_MAX: usize = CALL_DESCRIPTORS_MAX;

/// How long an answer that is on its way is polled for. The peer's wake-up is in it, which takes an
/// idle processor of a virtual machine up to 300 us; whoever sleeps meanwhile pays for one more.
const POLL_NS_MAX: u64 = 1_000_000;

thread_local! {
    /// Where this thread receives packets before it knows how long they are: kept, because
    /// clearing so much memory takes longer than receiving.
    static LONGEST: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// One end of the socket.
#[derive(Debug)]
pub(crate) struct Socket {
    /// `None` while it is dropped.
    stream: Option<Stream>,
}

/// A packet that came, and its descriptors.
pub(crate) struct Packet {
    bytes: Vec<u8>,
    pub descriptors: Vec<PeerDescriptor>,
    /// Its descriptors had no room here.
    is_cut: bool,
}

/// Why there is no message.
#[derive(Debug)]
pub(crate) enum WireError {
    /// The socket's word.
    Socket(SocketError),
    /// Not a message.
    Garbled(Garbled),
    /// A message with more or fewer descriptors than it has.
    Descriptors { claimed: usize, wanted: usize },
    /// A message whose descriptors had no room in this process: nobody's fault.
    Cut,
}

impl Socket {
    pub fn new(stream: Stream) -> Socket {
        Socket { stream: Some(stream) }
    }

    pub fn stream(&self) -> &Stream {
        self.stream.as_ref().expect("it is not dropped")
    }

    /// Whose the descriptors are that come from here on.
    pub fn set_behind(&mut self, behind: Behind) {
        self.stream.as_mut().expect("it is not dropped").set_behind(behind);
    }

    /// Sends a message with its descriptors.
    ///
    /// # Panics
    ///
    /// If these are not as many as the message has.
    pub fn send(
        &self,
        message: &Message<'_>,
        descriptors: &[BorrowedFd<'_>],
    ) -> Result<(), WireError> {
        self.send_within(SEND_TIMEOUT, message, descriptors)
    }

    /// The same, waiting no longer than `timeout` for room.
    pub fn send_within(
        &self,
        timeout: Duration,
        message: &Message<'_>,
        descriptors: &[BorrowedFd<'_>],
    ) -> Result<(), WireError> {
        assert_eq!(descriptors.len(), message.descriptor_count(), "descriptors of {message:?}");
        let mut packet = vec![0; packet_bytes(message)];
        let packet = message.encode(&mut packet).expect("a message fits its packet");
        let timeout = timeout.min(SEND_TIMEOUT);
        self.stream().send(packet, descriptors, timeout).map_err(WireError::Socket)
    }

    /// Sends a message without descriptors if there is room for it.
    pub fn try_send(&self, message: &Message<'_>) -> Result<(), WireError> {
        let mut packet = [0; SMALL_BYTES];
        let packet = message.encode(&mut packet).expect("a small message");
        self.stream().send(packet, &[], Duration::ZERO).map_err(WireError::Socket)
    }

    /// The next packet, waiting at most `timeout`.
    pub fn receive(&self, timeout: Duration) -> Result<Packet, WireError> {
        let receive =
            |longest: &mut [u8]| self.stream().receive(longest, DESCRIPTORS_MAX, timeout).map(Some);
        packet(receive)?.ok_or(WireError::Socket(SocketError::TimedOut))
    }

    /// As [`Socket::receive`], for an answer that is on its way: polls for a while before it
    /// sleeps, and leaves the processor to whoever has work, who may be the peer.
    pub fn receive_soon(&self, timeout: Duration) -> Result<Packet, WireError> {
        let begin_ns = clock::now_ns();
        let polled_ns = timeout.as_nanos().min(u128::from(POLL_NS_MAX)) as u64;
        while clock::now_ns() - begin_ns < polled_ns {
            if let Some(packet) = self.try_receive()? {
                return Ok(packet);
            }
            processor::yield_now();
        }
        self.receive(timeout.saturating_sub(Duration::from_nanos(polled_ns)))
    }

    /// The next packet, if it is there.
    pub fn try_receive(&self) -> Result<Option<Packet>, WireError> {
        packet(|longest| self.stream().try_receive(longest, DESCRIPTORS_MAX))
    }

    /// Whether the program has left it to us: see [`Stream::is_held`].
    pub fn is_held(&self) -> bool {
        self.stream().is_held()
    }

    /// Ends the conversation; the peer notices.
    pub fn hang_up(&self) {
        self.stream().hang_up();
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        self.stream.take().into_iter().for_each(Stream::end);
    }
}

impl Packet {
    /// Judges the packet.
    pub fn message(&self) -> Result<Message<'_>, WireError> {
        let message = Message::decode(&self.bytes).map_err(WireError::Garbled)?;
        let wanted = message.descriptor_count();
        // Whoever sends a message without any had none to lose.
        if self.is_cut && wanted > 0 {
            return Err(WireError::Cut);
        }
        let claimed = self.descriptors.len() + usize::from(self.is_cut);
        if claimed != wanted {
            return Err(WireError::Descriptors { claimed, wanted });
        }
        Ok(message)
    }

    /// There is no room for its descriptors, if it has any.
    pub fn lose_descriptors(&mut self) {
        self.is_cut |= !self.descriptors.is_empty();
        self.descriptors.clear();
    }

    /// What it said, if it has lost its descriptors on the way.
    pub fn cut_message(&self) -> Option<Message<'_>> {
        let message = Message::decode(&self.bytes).ok().filter(|_| self.is_cut)?;
        (message.descriptor_count() > 0).then_some(message)
    }
}

/// The packet that `receive` puts into a buffer for the longest there may be.
fn packet(
    receive: impl FnOnce(&mut [u8]) -> Result<Option<Received>, SocketError>,
) -> Result<Option<Packet>, WireError> {
    LONGEST.with_borrow_mut(|longest| {
        longest.resize(PACKET_BYTES_MAX, 0);
        let received = receive(longest).map_err(WireError::Socket)?;
        Ok(received.map(|Received { bytes, descriptors, is_cut }| Packet {
            bytes: longest[..bytes].to_vec(),
            descriptors,
            is_cut,
        }))
    })
}

fn packet_bytes(message: &Message<'_>) -> usize {
    match message {
        Message::Refused { detail, .. } => 64 + detail.len(),
        _ => 2048,
    }
}

impl AsFd for Socket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.stream().as_fd()
    }
}

impl fmt::Display for WireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WireError::Socket(error) => error.fmt(f),
            WireError::Garbled(Garbled { kind, packet_bytes }) => {
                let packet = counted(*packet_bytes, "byte");
                write!(f, "packet of {packet} is no message of kind {kind}")
            }
            WireError::Descriptors { claimed, wanted } => {
                write!(f, "message came with {}, it has {wanted}", counted(*claimed, "descriptor"))
            }
            WireError::Cut => write!(f, "no room here for the descriptors of a message"),
        }
    }
}
