//! The binding's socket: packets with descriptors between two domains of one machine.
//!
//! SOCK_SEQPACKET under a path name: packets keep their borders, and a name that is a file has an
//! owner and a mode. Every descriptor is close-on-exec from the start. What came in excess (bytes,
//! descriptors) is a fault and is closed, never cut and used. Nothing here blocks longer than it is
//! told.

use std::fmt;
use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags};
use rustix::io::Errno;
use rustix::net::sockopt::{socket_acceptconn, socket_domain, socket_type};
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, ReturnFlags,
    SendAncillaryBuffer, SendAncillaryMessage, SendFlags, SocketAddrUnix, SocketFlags, SocketType,
};

use crate::clock;

/// Longest path of a socket, bytes: `sun_path` less its final zero.
pub const PATH_BYTES_MAX: usize = 107;

/// Most descriptors that a packet may carry.
pub const DESCRIPTORS_MAX: usize = 8;

/// Importers that may wait to be accepted; more find [`SocketError::Busy`].
const BACKLOG: i32 = 1024;

/// A socket that a clerk listens on.
#[derive(Debug)]
pub struct Listener {
    socket: OwnedFd,
}

/// One end of a connection.
#[derive(Debug)]
pub struct Stream {
    socket: OwnedFd,
}

/// A packet that came.
#[derive(Debug)]
pub struct Received {
    /// Its length; it stands at the beginning of the buffer.
    pub bytes: usize,
    /// The descriptors that came with it, in order.
    pub descriptors: Vec<OwnedFd>,
}

impl Listener {
    /// Makes a socket at `path`, which must not exist yet. Dropping the listener leaves the file.
    pub fn bind(path: &Path) -> Result<Listener, SocketError> {
        let address = address(path)?;
        let socket = new_socket()?;
        rustix::net::bind(&socket, &address).map_err(failed("bind"))?;
        rustix::net::listen(&socket, BACKLOG).map_err(failed("listen"))?;
        Ok(Listener { socket })
    }

    /// Takes over a socket that somebody else made, systemd say, if it is one that listens for
    /// packets on this machine.
    pub fn from_descriptor(socket: OwnedFd) -> Result<Listener, SocketError> {
        let step = "take over a socket";
        let is_ours = socket_domain(&socket).map_err(failed(step))? == AddressFamily::UNIX
            && socket_type(&socket).map_err(failed(step))? == SocketType::SEQPACKET
            && socket_acceptconn(&socket).map_err(failed(step))?;
        if !is_ours {
            return Err(SocketError::Kind);
        }
        rustix::io::ioctl_fionbio(&socket, true).map_err(failed(step))?;
        rustix::io::fcntl_setfd(&socket, rustix::io::FdFlags::CLOEXEC).map_err(failed(step))?;
        Ok(Listener { socket })
    }

    /// The next importer; `None` if none waits. Does not block: poll [`AsFd::as_fd`] first.
    pub fn accept(&self) -> Result<Option<Stream>, SocketError> {
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        match rustix::net::accept_with(&self.socket, flags) {
            Ok(socket) => Ok(Some(Stream { socket })),
            // INTR and CONNABORTED: if another importer waits, the listener is still ready.
            Err(Errno::AGAIN | Errno::INTR | Errno::CONNABORTED) => Ok(None),
            Err(errno) => Err(failed("accept")(errno)),
        }
    }
}

impl Stream {
    /// Connects to the clerk that listens at `path`. Does not block: a clerk that does not keep up
    /// is [`SocketError::Busy`].
    pub fn connect(path: &Path) -> Result<Stream, SocketError> {
        let address = address(path)?;
        let socket = new_socket()?;
        match rustix::net::connect(&socket, &address) {
            Ok(()) => Ok(Stream { socket }),
            Err(Errno::AGAIN) => Err(SocketError::Busy),
            Err(errno) => Err(failed("connect")(errno)),
        }
    }

    /// Two connected ends.
    pub fn pair() -> Result<(Stream, Stream), SocketError> {
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let family = AddressFamily::UNIX;
        let (first, second) = rustix::net::socketpair(family, SocketType::SEQPACKET, flags, None)
            .map_err(failed("make a socket pair"))?;
        Ok((Stream { socket: first }, Stream { socket: second }))
    }

    /// Takes over one end of a connection that somebody handed to this domain.
    pub fn from_descriptor(socket: OwnedFd) -> Result<Stream, SocketError> {
        let step = "take over a socket";
        let is_ours = socket_domain(&socket).map_err(failed(step))? == AddressFamily::UNIX
            && socket_type(&socket).map_err(failed(step))? == SocketType::SEQPACKET
            && !socket_acceptconn(&socket).map_err(failed(step))?;
        if !is_ours {
            return Err(SocketError::Kind);
        }
        rustix::io::fcntl_setfd(&socket, rustix::io::FdFlags::CLOEXEC).map_err(failed(step))?;
        Ok(Stream { socket })
    }

    /// Sends one packet, whole or not at all, waiting at most `timeout` for room.
    ///
    /// Panics for an empty packet, which would read as a hang-up, and over [`DESCRIPTORS_MAX`]
    /// descriptors.
    pub fn send(
        &self,
        bytes: &[u8],
        descriptors: &[BorrowedFd<'_>],
        timeout: Duration,
    ) -> Result<(), SocketError> {
        assert!(!bytes.is_empty(), "an empty packet reads as a hang-up");
        let count = descriptors.len();
        assert!(
            count <= DESCRIPTORS_MAX,
            "{count} descriptors are over {DESCRIPTORS_MAX}"
        );
        let deadline = Deadline::after(timeout);
        while !self.send_now(bytes, descriptors)? {
            self.wait(PollFlags::OUT, &deadline)?;
        }
        Ok(())
    }

    /// Receives one packet, waiting at most `timeout` for it.
    ///
    /// # Errors: see [`SocketError`]; a packet that is too long or brought more than
    /// `descriptors_max` descriptors is lost, its descriptors closed.
    pub fn receive(
        &self,
        buffer: &mut [u8],
        descriptors_max: usize,
        timeout: Duration,
    ) -> Result<Received, SocketError> {
        let deadline = Deadline::after(timeout);
        loop {
            if let Some(received) = self.try_receive(buffer, descriptors_max)? {
                return Ok(received);
            }
            self.wait(PollFlags::IN, &deadline)?;
        }
    }

    /// Receives one packet if there is one. Otherwise as [`Stream::receive`].
    ///
    /// Panics if `descriptors_max` is over [`DESCRIPTORS_MAX`].
    pub fn try_receive(
        &self,
        buffer: &mut [u8],
        descriptors_max: usize,
    ) -> Result<Option<Received>, SocketError> {
        assert!(descriptors_max <= DESCRIPTORS_MAX);
        let buffer_bytes = buffer.len();
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(DESCRIPTORS_MAX))];
        let space = &mut space[..rustix::cmsg_space!(ScmRights(descriptors_max))];
        let mut control = RecvAncillaryBuffer::new(space);
        let flags = RecvFlags::CMSG_CLOEXEC | RecvFlags::DONTWAIT | RecvFlags::TRUNC;
        let slices = &mut [IoSliceMut::new(buffer)];
        let message = match rustix::net::recvmsg(&self.socket, slices, &mut control, flags) {
            Ok(message) => message,
            Err(Errno::AGAIN | Errno::INTR) => return Ok(None),
            Err(Errno::CONNRESET) => return Err(SocketError::HungUp),
            Err(errno) => return Err(failed("receive")(errno)),
        };
        let mut descriptors = Vec::new();
        for ancillary in control.drain() {
            if let RecvAncillaryMessage::ScmRights(received) = ancillary {
                descriptors.extend(received);
            }
        }
        let is_cut = message.flags.contains(ReturnFlags::CTRUNC);
        if is_cut || descriptors.len() > descriptors_max {
            return Err(SocketError::Descriptors {
                limit: descriptors_max,
            });
        }
        if message.flags.contains(ReturnFlags::TRUNC) || message.bytes > buffer_bytes {
            return Err(SocketError::Packet {
                claimed: message.bytes,
                limit: buffer_bytes,
            });
        }
        if message.bytes == 0 {
            return Err(SocketError::HungUp);
        }
        Ok(Some(Received {
            bytes: message.bytes,
            descriptors,
        }))
    }

    /// Ends the conversation both ways: each side reads the end from here on. The descriptor stays.
    pub fn hang_up(&self) {
        // The only refusal is that the other end has gone: then it has ended already.
        let _ = rustix::net::shutdown(&self.socket, rustix::net::Shutdown::Both);
    }

    /// Sends if there is room; whether there was.
    fn send_now(&self, bytes: &[u8], descriptors: &[BorrowedFd<'_>]) -> Result<bool, SocketError> {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(DESCRIPTORS_MAX))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        if !descriptors.is_empty() {
            let fits = control.push(SendAncillaryMessage::ScmRights(descriptors));
            assert!(fits, "{DESCRIPTORS_MAX} descriptors fit");
        }
        let flags = SendFlags::NOSIGNAL | SendFlags::DONTWAIT;
        match rustix::net::sendmsg(&self.socket, &[IoSlice::new(bytes)], &mut control, flags) {
            Ok(_) => Ok(true),
            Err(Errno::AGAIN) => Ok(false),
            Err(Errno::INTR) => self.send_now(bytes, descriptors),
            Err(Errno::PIPE | Errno::CONNRESET) => Err(SocketError::HungUp),
            Err(Errno::TOOMANYREFS) => Err(SocketError::InFlight),
            Err(errno) => Err(failed("send")(errno)),
        }
    }

    /// Waits until the socket is ready or broken. A signal is a reason to try again.
    fn wait(&self, flags: PollFlags, deadline: &Deadline) -> Result<(), SocketError> {
        let timeout = deadline.left().map(clock::timespec);
        let mut polled = [PollFd::new(&self.socket, flags)];
        match rustix::event::poll(&mut polled, timeout.as_ref()) {
            Ok(0) => Err(SocketError::TimedOut),
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(errno) => Err(failed("wait for a socket")(errno)),
        }
    }
}

impl AsFd for Listener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

impl AsFd for Stream {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

impl From<Stream> for OwnedFd {
    fn from(stream: Stream) -> OwnedFd {
        stream.socket
    }
}

/// When to stop waiting; never, if it is too far away to be counted.
struct Deadline(Option<Instant>);

impl Deadline {
    fn after(timeout: Duration) -> Deadline {
        Deadline(Instant::now().checked_add(timeout))
    }

    fn left(&self) -> Option<Duration> {
        self.0
            .map(|deadline| deadline.saturating_duration_since(Instant::now()))
    }
}

fn new_socket() -> Result<OwnedFd, SocketError> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    rustix::net::socket_with(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None)
        .map_err(failed("make a socket"))
}

fn address(path: &Path) -> Result<SocketAddrUnix, SocketError> {
    let bytes = path.as_os_str().len();
    if bytes > PATH_BYTES_MAX {
        return Err(SocketError::PathTooLong {
            bytes,
            limit: PATH_BYTES_MAX,
        });
    }
    SocketAddrUnix::new(path).map_err(failed("form a socket's address"))
}

fn failed(step: &'static str) -> impl FnOnce(Errno) -> SocketError {
    move |errno| SocketError::System {
        step,
        source: errno.into(),
    }
}

/// Why a socket did not do what it was asked.
#[derive(Debug)]
#[non_exhaustive]
pub enum SocketError {
    /// The path does not fit into a socket's address.
    PathTooLong {
        /// Bytes of the path.
        bytes: usize,
        /// Most it may have.
        limit: usize,
    },
    /// Not a packet socket of this machine in the state it should be in.
    Kind,
    /// The clerk has more importers waiting than it takes; a later try may succeed.
    Busy,
    /// Nothing came, or there was no room, in time.
    TimedOut,
    /// The other end is closed. It may be alive all the same.
    HungUp,
    /// The peer sent a longer packet than any it may send.
    Packet {
        /// Its length.
        claimed: usize,
        /// Length of the buffer.
        limit: usize,
    },
    /// The peer sent more descriptors than it may, or this domain has no room for them (`ulimit
    /// -n`).
    Descriptors {
        /// How many it may send.
        limit: usize,
    },
    /// The user has too many descriptors under way in sockets; a later try may succeed.
    InFlight,
    /// The system refused.
    System {
        /// What it was asked to do.
        step: &'static str,
        /// Its answer.
        source: io::Error,
    },
}

impl fmt::Display for SocketError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SocketError::PathTooLong { bytes, limit } => {
                write!(f, "socket path of {bytes} bytes is over {limit}")
            }
            SocketError::Kind => write!(f, "descriptor is not a local packet socket as expected"),
            SocketError::Busy => write!(f, "the clerk has {BACKLOG} importers waiting"),
            SocketError::TimedOut => write!(f, "no packet in time"),
            SocketError::HungUp => write!(f, "the other end of the socket is closed"),
            SocketError::Packet { claimed, limit } => {
                write!(f, "packet of {claimed} bytes is over {limit}")
            }
            SocketError::Descriptors { limit } => {
                write!(
                    f,
                    "packet brought more than {limit} descriptors, or there is no room"
                )
            }
            SocketError::InFlight => write!(f, "too many descriptors under way for this user"),
            SocketError::System { step, source } => write!(f, "cannot {step}: {source}"),
        }
    }
}

impl std::error::Error for SocketError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            SocketError::System { source, .. } => Some(source),
            _ => None,
        }
    }
}
