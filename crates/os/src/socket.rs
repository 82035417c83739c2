//! The binding's socket: packets with descriptors between two domains of one machine.
//!
//! SOCK_SEQPACKET under a path name: packets keep their borders, and a name that is a file has an
//! owner and a mode. Every descriptor is close-on-exec from the start. What came in excess (bytes,
//! descriptors) is a fault and is closed, never cut and used. Nothing here blocks longer than it is
//! told.

use std::io::{IoSlice, IoSliceMut};
use std::mem::{self, MaybeUninit};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags};
use rustix::fs::OFlags;
use rustix::io::Errno;
use rustix::net::sockopt::{set_socket_passcred, socket_acceptconn, socket_domain, socket_type};
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, ReturnFlags,
    SendAncillaryBuffer, SendAncillaryMessage, SendFlags, SocketAddrUnix, SocketFlags, SocketType,
};

pub use self::error::SocketError;
pub use self::file::hold_file;
use crate::clock;
use crate::closing::{self, Behind};
use crate::descriptor::PeerDescriptor;
use crate::identity::Identity;

mod error;
mod file;
mod stray;

/// Longest path of a socket, bytes: `sun_path` less its final zero.
pub const PATH_BYTES_MAX: usize = 107;

/// Most descriptors that a packet may carry.
pub const DESCRIPTORS_MAX: usize = 8;

/// Most that the kernel lets a peer send with one packet (`SCM_MAX_FD`). There is always room for
/// them: what has none the kernel closes, and we would wait for that.
const SENT_MAX: usize = 253;

/// Room for them, and for who has sent the packet: asked for at the end (`Stream::has_unread`), or
/// by whoever made our end.
const CONTROL_BYTES: usize = rustix::cmsg_space!(ScmRights(SENT_MAX), ScmCredentials(1));

/// Importers that may wait to be accepted; more find [`SocketError::Busy`].
const BACKLOG: i32 = 1024;

/// A socket that a clerk listens on.
#[derive(Debug)]
pub struct Listener {
    socket: OwnedFd,
    identity: Identity,
    /// Nobody else listens on it.
    is_sole: bool,
}

/// One end of a connection.
#[derive(Debug)]
pub struct Stream {
    socket: OwnedFd,
    identity: Identity,
    /// What its peer's user has sent, over whatever connection, and waits to be closed.
    behind: Behind,
    /// The process that has made it. A child that was forked has a copy, and the connection is its
    /// parent's: to let go of the copy ends nothing, and nothing is sent over it.
    maker: u32,
}

/// A packet that came.
#[derive(Debug)]
pub struct Received {
    /// Its length; it stands at the beginning of the buffer.
    pub bytes: usize,
    /// The descriptors that came with it, in order.
    pub descriptors: Vec<PeerDescriptor>,
    /// It had descriptors for which this domain had no room (`ulimit -n`). None of them is there,
    /// and how many they were nobody knows: that is not the peer's fault.
    pub is_cut: bool,
}

impl Listener {
    /// Makes a socket at `path`, which must not exist yet. Dropping the listener leaves the file.
    pub fn bind(path: &Path) -> Result<Listener, SocketError> {
        let address = address(path)?;
        let socket = new_socket()?;
        rustix::net::bind(&socket, &address).map_err(failed("bind"))?;
        if let Err(errno) = rustix::net::listen(&socket, BACKLOG) {
            // Where nobody will ever listen nobody is to look.
            let _ = std::fs::remove_file(path);
            return Err(failed("listen")(errno));
        }
        Ok(Listener { identity: Identity::of(&socket), socket, is_sole: true })
    }

    /// Takes over a socket that somebody else made, systemd say, if it is one that listens for
    /// packets on this machine. Whoever connects from here on sees this process at its other end;
    /// who has connected before and waits to be accepted sees who listened then.
    pub fn from_descriptor(socket: OwnedFd) -> Result<Listener, SocketError> {
        let step = "take over a socket";
        let is_ours = socket_domain(&socket).map_err(failed(step))? == AddressFamily::UNIX
            && socket_type(&socket).map_err(failed(step))? == SocketType::SEQPACKET
            && socket_acceptconn(&socket).map_err(failed(step))?;
        if !is_ours {
            return Err(SocketError::Kind);
        }
        let flags = rustix::fs::fcntl_getfl(&socket).map_err(failed(step))? | OFlags::NONBLOCK;
        rustix::fs::fcntl_setfl(&socket, flags).map_err(failed(step))?;
        rustix::io::fcntl_setfd(&socket, rustix::io::FdFlags::CLOEXEC).map_err(failed(step))?;
        // The kernel shows importers whoever has listened last.
        rustix::net::listen(&socket, BACKLOG).map_err(failed("listen"))?;
        Ok(Listener { identity: Identity::of(&socket), socket, is_sole: false })
    }

    /// The next importer; `None` if none waits. Does not block: poll [`AsFd::as_fd`] first.
    pub fn accept(&self) -> Result<Option<Stream>, SocketError> {
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        match rustix::net::accept_with(&self.socket, flags) {
            Ok(socket) => Ok(Some(Stream::new(socket))),
            // INTR and CONNABORTED: if another importer waits, the listener is still ready.
            Err(Errno::AGAIN | Errno::INTR | Errno::CONNABORTED) => Ok(None),
            Err(errno) => Err(failed("accept")(errno)),
        }
    }

    /// In a child that was forked: its parent alone listens from here on, and nobody does once that
    /// ends, however long the child lives. What the child has in its place is another name of
    /// `stand_in`.
    pub fn leave_to_parent(&self, stand_in: impl AsFd) {
        leave(&self.socket, self.identity, stand_in.as_fd());
    }

    /// Ends with every importer that waits, so that what it has sent is closed as [`Stream::end`]
    /// says; no more of them come. Those of a socket that somebody handed to us are its own.
    pub fn turn_away(&self) {
        if !self.is_sole {
            return;
        }
        // The only refusal would be that it does not listen.
        let _ = rustix::net::shutdown(&self.socket, rustix::net::Shutdown::Read);
        while let Ok(Some(importer)) = self.accept() {
            importer.end();
        }
    }
}

/// In a child that was forked: lets go of its copy of a socket, whose number names what `stand_in`
/// does from here on.
fn leave(socket: &OwnedFd, identity: Identity, stand_in: BorrowedFd<'_>) {
    if !identity.is_of(socket) {
        // The program has closed it, and may have opened something there.
        return;
    }
    let (from, to) = (stand_in.as_raw_fd(), socket.as_raw_fd());
    // SAFETY: the number is the socket's, as the kernel has just said, and no other thread is in
    // this process that could be using what it names, or close it.
    // Where a filter refuses it the child keeps it, as one does that no handler knows.
    let _ = unsafe { libc::dup3(from, to, libc::O_CLOEXEC) };
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.turn_away();
    }
}

impl Stream {
    fn new(socket: OwnedFd) -> Stream {
        let identity = Identity::of(&socket);
        Stream { socket, identity, behind: Behind::unknown(), maker: std::process::id() }
    }

    /// Whose the descriptors are that come from here on: those that are closed without having been
    /// taken into use are counted there.
    pub fn set_behind(&mut self, behind: Behind) {
        self.behind = behind;
    }

    /// Connects to the clerk that listens at `path`. Does not block: a clerk that does not keep up
    /// is [`SocketError::Busy`].
    pub fn connect(path: &Path) -> Result<Stream, SocketError> {
        let address = address(path)?;
        let socket = new_socket()?;
        match rustix::net::connect(&socket, &address) {
            Ok(()) => Ok(Stream::new(socket)),
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
        Ok((Stream::new(first), Stream::new(second)))
    }

    /// Takes over one end of a connection that somebody handed to this domain.
    pub fn from_descriptor(socket: OwnedFd) -> Result<Stream, SocketError> {
        let step = "take over a socket";
        if !is_end(socket.as_fd()).map_err(failed(step))? {
            return Err(SocketError::Kind);
        }
        rustix::io::fcntl_setfd(&socket, rustix::io::FdFlags::CLOEXEC).map_err(failed(step))?;
        Ok(Stream::new(socket))
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
        assert!(count <= DESCRIPTORS_MAX, "{count} descriptors are over {DESCRIPTORS_MAX}");
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
        let mut space = stray::space::<CONTROL_BYTES>();
        let mut control = RecvAncillaryBuffer::new(&mut space);
        let flags = RecvFlags::CMSG_CLOEXEC | RecvFlags::DONTWAIT | RecvFlags::TRUNC;
        let slices = &mut [IoSliceMut::new(buffer)];
        let message = match rustix::net::recvmsg(&self.socket, slices, &mut control, flags) {
            Ok(message) => message,
            Err(Errno::AGAIN | Errno::INTR) => return Ok(None),
            // Said once, of a peer that went without having read; what it has sent is behind it.
            Err(Errno::CONNRESET) => return self.try_receive(buffer, descriptors_max),
            Err(errno) => return Err(failed("receive")(errno)),
        };
        let mut descriptors = Vec::new();
        for ancillary in control.drain() {
            if let RecvAncillaryMessage::ScmRights(received) = ancillary {
                let new = |descriptor| PeerDescriptor::new(descriptor, &self.behind);
                descriptors.extend(received.map(new));
            }
        }
        drop(control);
        // SAFETY: the room is zero where no control message came, and is asked about here alone.
        let strays = unsafe { stray::pidfds(&space) };
        let is_cut = message.flags.contains(ReturnFlags::CTRUNC);
        let count = descriptors.len();
        // There is always room in the buffer: what is missing had none in our table.
        let is_ours = is_cut && count < SENT_MAX && strays.is_empty();
        if is_cut && !is_ours || !strays.is_empty() || count > descriptors_max {
            return Err(SocketError::Descriptors { limit: descriptors_max });
        }
        if is_ours {
            descriptors.clear();
        }
        if message.flags.contains(ReturnFlags::TRUNC) || message.bytes > buffer_bytes {
            return Err(SocketError::Packet { claimed: message.bytes, limit: buffer_bytes });
        }
        if message.bytes == 0 {
            return Err(SocketError::HungUp);
        }
        Ok(Some(Received { bytes: message.bytes, descriptors, is_cut }))
    }

    /// So many descriptors of the peer's user still wait to be closed that nothing more is to be
    /// read: whoever does not cannot be filled up with them.
    pub fn is_behind(&self) -> bool {
        self.behind.is_full()
    }

    /// Whether this process has made it. A child that was forked has only a copy.
    pub fn is_ours(&self) -> bool {
        std::process::id() == self.maker
    }

    /// Whether its number names it still: a program that closes what it has not opened may have
    /// closed it, and opened something else there.
    ///
    /// # Cost: a system call.
    pub fn is_held(&self) -> bool {
        self.identity.is_of(&self.socket)
    }

    /// Ends the conversation both ways: each side reads the end from here on. The descriptor stays.
    pub fn hang_up(&self) {
        if !self.is_ours() || !self.is_held() {
            return;
        }
        // The only refusal is that the other end has gone: then it has ended already.
        let _ = rustix::net::shutdown(&self.socket, rustix::net::Shutdown::Both);
    }

    /// Hangs up and reads what has come, so that its descriptors are closed as others of a peer
    /// are: the kernel would close them with the socket, and whoever closes that wait for it. If
    /// too many of its user's wait already, the socket is one more of them, with all it holds.
    pub fn end(self) {
        if !self.is_ours() {
            return;
        }
        if !self.is_held() {
            // What has its number is not ours to close.
            mem::forget(self);
            return;
        }
        self.hang_up();
        // Nothing more can be sent, so this comes to its end.
        while self.has_unread() {
            let received = match self.is_behind() {
                false => self.try_receive(&mut [0], DESCRIPTORS_MAX),
                true => Err(SocketError::Busy),
            };
            if let Err(SocketError::Busy | SocketError::System { .. }) = received {
                closing::close(self.socket, &self.behind);
                return;
            }
        }
    }

    /// In a child that was forked: the connection is its parent's alone from here on, and is hung
    /// up when that ends. What the child has in its place is another name of `stand_in`.
    pub fn leave_to_parent(&self, stand_in: impl AsFd) {
        leave(&self.socket, self.identity, stand_in.as_fd());
    }

    /// Whether a packet is there, which may be an empty one: that alone reads as the end does.
    fn has_unread(&self) -> bool {
        // With every packet, and only with one, the kernel says who has sent it, for which this
        // look has no room.
        let _ = set_socket_passcred(&self.socket, true);
        let (mut control, flags) = (RecvAncillaryBuffer::default(), RecvFlags::PEEK);
        let flags = flags | RecvFlags::DONTWAIT;
        let peeked = rustix::net::recvmsg(&self.socket, &mut [], &mut control, flags);
        match peeked {
            Ok(peeked) => peeked.flags.contains(ReturnFlags::CTRUNC),
            // Said once, of a peer that went without having read; what it has sent is behind it.
            Err(Errno::CONNRESET) => self.has_unread(),
            Err(_) => false,
        }
    }

    /// Sends if there is room; whether there was.
    fn send_now(&self, bytes: &[u8], descriptors: &[BorrowedFd<'_>]) -> Result<bool, SocketError> {
        if !self.is_ours() || !self.is_held() {
            return Err(SocketError::HungUp);
        }
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

/// Whether a socket is one end of a connection for packets on this machine, or could be.
pub(crate) fn is_end(socket: BorrowedFd<'_>) -> Result<bool, Errno> {
    Ok(socket_domain(socket)? == AddressFamily::UNIX
        && socket_type(socket)? == SocketType::SEQPACKET
        && !socket_acceptconn(socket)?)
}

/// When to stop waiting; never, if it is too far away to be counted.
struct Deadline(Option<Instant>);

impl Deadline {
    fn after(timeout: Duration) -> Deadline {
        Deadline(Instant::now().checked_add(timeout))
    }

    fn left(&self) -> Option<Duration> {
        self.0.map(|deadline| deadline.saturating_duration_since(Instant::now()))
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
        return Err(SocketError::PathTooLong { bytes, limit: PATH_BYTES_MAX });
    }
    SocketAddrUnix::new(path).map_err(failed("form a socket's address"))
}

fn failed(step: &'static str) -> impl FnOnce(Errno) -> SocketError {
    move |errno| SocketError::System { step, source: errno.into() }
}

#[cfg(test)]
mod tests;
