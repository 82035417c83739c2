//! The binding's socket: packets with descriptors between two domains of one machine.
//!
//! SOCK_SEQPACKET under a path name: packets keep their borders, and a name that is a file has an
//! owner and a mode. Every descriptor is close-on-exec from the start. What came in excess (bytes,
//! descriptors) is a fault and is closed, never cut and used. Nothing here blocks longer than it is
//! told.

use std::io::{IoSlice, IoSliceMut};
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

pub use self::error::SocketError;
use crate::clock;
use crate::descriptor::PeerDescriptor;

mod error;

/// Longest path of a socket, bytes: `sun_path` less its final zero.
pub const PATH_BYTES_MAX: usize = 107;

/// Most descriptors that a packet may carry.
pub const DESCRIPTORS_MAX: usize = 8;

/// Most that the kernel lets a peer send with one packet (`SCM_MAX_FD`). There is always room for
/// them: what has none the kernel closes, and we would wait for that.
const SENT_MAX: usize = 253;

/// Importers that may wait to be accepted; more find [`SocketError::Busy`].
const BACKLOG: i32 = 1024;

/// A socket that a clerk listens on.
#[derive(Debug)]
pub struct Listener {
    socket: OwnedFd,
    /// Nobody else listens on it.
    is_sole: bool,
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
    pub descriptors: Vec<PeerDescriptor>,
}

impl Listener {
    /// Makes a socket at `path`, which must not exist yet. Dropping the listener leaves the file.
    pub fn bind(path: &Path) -> Result<Listener, SocketError> {
        let address = address(path)?;
        let socket = new_socket()?;
        rustix::net::bind(&socket, &address).map_err(failed("bind"))?;
        rustix::net::listen(&socket, BACKLOG).map_err(failed("listen"))?;
        Ok(Listener { socket, is_sole: true })
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
        Ok(Listener { socket, is_sole: false })
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

impl Drop for Listener {
    /// Ends with every importer that waits, so that what it has sent is closed as [`Stream::end`]
    /// says. Those of a socket that somebody handed to us are its own.
    fn drop(&mut self) {
        if !self.is_sole {
            return;
        }
        // No more of them come. The only refusal would be that it does not listen.
        let _ = rustix::net::shutdown(&self.socket, rustix::net::Shutdown::Read);
        while let Ok(Some(importer)) = self.accept() {
            importer.end();
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
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(SENT_MAX))];
        let mut control = RecvAncillaryBuffer::new(&mut space);
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
                descriptors.extend(received.map(PeerDescriptor::from));
            }
        }
        let is_cut = message.flags.contains(ReturnFlags::CTRUNC);
        if is_cut || descriptors.len() > descriptors_max {
            return Err(SocketError::Descriptors { limit: descriptors_max });
        }
        if message.flags.contains(ReturnFlags::TRUNC) || message.bytes > buffer_bytes {
            return Err(SocketError::Packet { claimed: message.bytes, limit: buffer_bytes });
        }
        if message.bytes == 0 {
            return Err(SocketError::HungUp);
        }
        Ok(Some(Received { bytes: message.bytes, descriptors }))
    }

    /// Ends the conversation both ways: each side reads the end from here on. The descriptor stays.
    pub fn hang_up(&self) {
        // The only refusal is that the other end has gone: then it has ended already.
        let _ = rustix::net::shutdown(&self.socket, rustix::net::Shutdown::Both);
    }

    /// Hangs up and reads what has come, so that its descriptors are closed as others of a peer
    /// are: the kernel would close them with the socket, and whoever closes that wait for it.
    pub fn end(&self) {
        use SocketError::{Descriptors, Packet};
        self.hang_up();
        // Nothing more can be sent, so this comes to its end.
        while let Ok(Some(_)) | Err(Packet { .. } | Descriptors { .. }) =
            self.try_receive(&mut [0], DESCRIPTORS_MAX)
        {}
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
mod tests {
    use std::io;
    use std::os::fd::AsRawFd;

    use super::*;
    use crate::closing::tests::lingering;

    const NOW: Duration = Duration::ZERO;
    const FOREVER: Duration = Duration::from_secs(600);

    fn pair() -> (Stream, Stream) {
        Stream::pair().unwrap()
    }

    /// What an end without a packet for it says.
    fn received(stream: &Stream, buffer_bytes: usize, descriptors_max: usize) -> SocketError {
        stream.receive(&mut vec![0; buffer_bytes], descriptors_max, NOW).unwrap_err()
    }

    #[test]
    fn packets_keep_their_borders() {
        let (here, there) = pair();
        here.send(b"one", &[], NOW).unwrap();
        here.send(b"three", &[], NOW).unwrap();
        let mut buffer = [0; 8];
        let packet = there.receive(&mut buffer, 0, NOW).unwrap();
        assert_eq!((&buffer[..packet.bytes], packet.descriptors.len()), (&b"one"[..], 0));
        let packet = there.try_receive(&mut buffer, 0).unwrap().unwrap();
        assert_eq!(&buffer[..packet.bytes], b"three");
        assert!(there.try_receive(&mut buffer, 0).unwrap().is_none());
    }

    #[test]
    fn descriptors_come_in_order_and_close_on_exec() {
        let (here, there) = pair();
        let (reader, writer) = rustix::pipe::pipe().unwrap();
        here.send(b"x", &[reader.as_fd(), writer.as_fd()], NOW).unwrap();
        let packet = there.receive(&mut [0], 2, NOW).unwrap();
        let [second_reader, second_writer] = &packet.descriptors[..] else { panic!() };
        rustix::io::write(second_writer, b"via").unwrap();
        let mut buffer = [0; 3];
        rustix::io::read(second_reader, &mut buffer).unwrap();
        assert_eq!(&buffer, b"via");
        let flags = rustix::io::fcntl_getfd(second_reader).unwrap();
        assert!(flags.contains(rustix::io::FdFlags::CLOEXEC));
    }

    /// Sends `sent` write ends of a pipe where `limit` are allowed; demands that all are closed.
    fn check_excess(sent: usize, limit: usize) {
        let (here, there) = pair();
        let (reader, writer) = rustix::pipe::pipe().unwrap();
        here.send(b"x", &vec![writer.as_fd(); sent], NOW).unwrap();
        drop(writer);
        let error = received(&there, 8, limit);
        let is_judged =
            matches!(error, SocketError::Descriptors { limit: found } if found == limit);
        assert!(is_judged, "{sent} of {limit}: {error:?}");
        assert_eq!(rustix::io::read(&reader, &mut [0]), Ok(0), "{sent} of {limit}");
    }

    #[test]
    fn descriptors_in_excess_are_refused_and_closed() {
        check_excess(1, 0);
        check_excess(2, 1);
        check_excess(3, 1);
        check_excess(8, 7);
    }

    #[test]
    fn as_many_descriptors_as_allowed_come_through() {
        for count in 0..=DESCRIPTORS_MAX {
            let (here, there) = pair();
            here.send(b"x", &vec![here.as_fd(); count], NOW).unwrap();
            let packet = there.receive(&mut [0; 8], count, NOW).unwrap();
            assert_eq!(packet.descriptors.len(), count);
        }
    }

    #[test]
    fn a_packet_that_is_too_long_is_refused_and_its_descriptors_closed() {
        let (here, there) = pair();
        let (reader, writer) = rustix::pipe::pipe().unwrap();
        here.send(&[7; 9], &[writer.as_fd()], NOW).unwrap();
        drop(writer);
        let error = received(&there, 8, 1);
        assert!(matches!(error, SocketError::Packet { claimed: 9, limit: 8 }), "{error:?}");
        assert_eq!(rustix::io::read(&reader, &mut [0]), Ok(0));
        here.send(&[7; 8], &[], NOW).unwrap();
        assert_eq!(there.receive(&mut [0; 8], 0, NOW).unwrap().bytes, 8);
    }

    #[test]
    fn nothing_in_time_is_no_hang_up() {
        let (_here, there) = pair();
        assert!(matches!(received(&there, 8, 0), SocketError::TimedOut));
    }

    #[test]
    fn a_closed_other_end_is_a_hang_up_after_what_it_sent() {
        let (here, there) = pair();
        here.send(b"last", &[], NOW).unwrap();
        drop(here);
        assert_eq!(there.receive(&mut [0; 8], 0, NOW).unwrap().bytes, 4);
        assert!(matches!(received(&there, 8, 0), SocketError::HungUp));
        assert!(matches!(there.send(b"x", &[], NOW), Err(SocketError::HungUp)));
    }

    #[test]
    fn an_end_closed_with_a_packet_unread_is_a_hang_up() {
        let (here, there) = pair();
        there.send(b"unread", &[], NOW).unwrap();
        drop(here);
        assert!(matches!(received(&there, 8, 0), SocketError::HungUp));
    }

    #[test]
    fn an_empty_packet_of_a_peer_is_a_hang_up() {
        let (here, there) = pair();
        rustix::net::send(&here, &[], SendFlags::empty()).unwrap();
        assert!(matches!(received(&there, 8, 0), SocketError::HungUp));
    }

    #[test]
    #[should_panic(expected = "an empty packet reads as a hang-up")]
    fn an_empty_packet_is_not_sent() {
        let _ = pair().0.send(&[], &[], NOW);
    }

    #[test]
    fn a_peer_that_does_not_read_holds_nobody_up() {
        let (here, _there) = pair();
        let error = loop {
            if let Err(error) = here.send(&[0; 1000], &[], NOW) {
                break error;
            }
        };
        assert!(matches!(error, SocketError::TimedOut), "{error:?}");
    }

    #[test]
    fn a_receiver_asleep_is_woken_by_a_packet() {
        let (here, there) = pair();
        std::thread::scope(|scope| {
            let receiver = scope.spawn(|| there.receive(&mut [0; 8], 0, FOREVER).unwrap().bytes);
            here.send(b"wake", &[], NOW).unwrap();
            assert_eq!(receiver.join().unwrap(), 4);
        });
    }

    #[test]
    fn ending_waits_for_nothing_that_was_not_read() {
        let (here, there) = Stream::pair().unwrap();
        // Kept open: whoever closes the last copy of the first end waits for the second.
        let mut kept = Vec::new();
        for packet_bytes in [1, 4096] {
            let (sent, other) = lingering();
            here.send(&vec![7; packet_bytes], &[sent.as_fd(); 2], NOW).unwrap();
            kept.push(other);
        }
        there.end();
        drop(there);
        assert!(matches!(here.send(b"x", &[], NOW), Err(SocketError::HungUp)));
    }

    #[test]
    fn an_importer_reaches_the_clerk_that_listens_at_the_path() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("clerk");
        let clerk = Listener::bind(&path).unwrap();
        assert!(clerk.accept().unwrap().is_none());
        let importer = Stream::connect(&path).unwrap();
        let accepted = clerk.accept().unwrap().unwrap();
        accepted.send(b"hello", &[], NOW).unwrap();
        assert_eq!(importer.receive(&mut [0; 8], 0, NOW).unwrap().bytes, 5);
    }

    fn system_kind(error: SocketError) -> io::ErrorKind {
        match error {
            SocketError::System { source, .. } => source.kind(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_path_that_nobody_listens_at_or_that_is_taken_says_so() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("clerk");
        let nobody = system_kind(Stream::connect(&path).unwrap_err());
        assert_eq!(nobody, io::ErrorKind::NotFound);
        drop(Listener::bind(&path).unwrap());
        let gone = system_kind(Stream::connect(&path).unwrap_err());
        assert_eq!(gone, io::ErrorKind::ConnectionRefused);
        let taken = system_kind(Listener::bind(&path).unwrap_err());
        assert_eq!(taken, io::ErrorKind::AddrInUse);
    }

    #[test]
    fn a_path_of_107_bytes_is_bound_and_one_of_108_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let path = |bytes: usize| {
            let name_bytes = bytes - directory.path().as_os_str().len() - 1;
            directory.path().join("n".repeat(name_bytes))
        };
        let _clerk = Listener::bind(&path(107)).unwrap();
        assert!(Stream::connect(&path(107)).is_ok());
        let refusals = [Listener::bind(&path(108)).err(), Stream::connect(&path(108)).err()];
        for error in refusals.map(Option::unwrap) {
            assert_eq!(error.to_string(), "socket path of 108 bytes is over 107");
        }
    }

    #[test]
    fn a_clerk_that_does_not_keep_up_is_busy() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("clerk");
        let clerk = Listener::bind(&path).unwrap();
        rustix::net::listen(&clerk, 1).unwrap();
        let mut importers = Vec::new();
        let error = loop {
            match Stream::connect(&path) {
                Ok(importer) => importers.push(importer),
                Err(error) => break error,
            }
        };
        assert!(matches!(error, SocketError::Busy), "{error:?}");
        clerk.accept().unwrap().unwrap();
        assert!(Stream::connect(&path).is_ok());
    }

    fn socket_of(kind: SocketType) -> OwnedFd {
        rustix::net::socket(AddressFamily::UNIX, kind, None).unwrap()
    }

    #[test]
    fn a_socket_handed_over_is_taken_if_it_is_of_the_right_kind() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("clerk");
        let socket = socket_of(SocketType::SEQPACKET);
        rustix::net::bind(&socket, &address(&path).unwrap()).unwrap();
        rustix::net::listen(&socket, 1).unwrap();
        let clerk = Listener::from_descriptor(socket).unwrap();
        assert!(clerk.accept().unwrap().is_none());
        let flags = rustix::io::fcntl_getfd(&clerk).unwrap();
        assert!(flags.contains(rustix::io::FdFlags::CLOEXEC));
        let importer: OwnedFd = Stream::connect(&path).unwrap().into();
        assert!(Stream::from_descriptor(importer).is_ok());
    }

    #[test]
    fn a_socket_of_another_kind_is_not_taken() {
        for kind in [SocketType::STREAM, SocketType::DGRAM, SocketType::SEQPACKET] {
            let error = Listener::from_descriptor(socket_of(kind)).unwrap_err();
            assert!(matches!(error, SocketError::Kind), "{error:?}");
        }
        let error = Stream::from_descriptor(socket_of(SocketType::STREAM)).unwrap_err();
        assert!(matches!(error, SocketError::Kind), "{error:?}");
        let (pipe, _other) = rustix::pipe::pipe().unwrap();
        assert!(Listener::from_descriptor(pipe).is_err());
    }

    #[test]
    fn sockets_close_on_exec() {
        let (here, there) = pair();
        for stream in [&here, &there] {
            let flags = rustix::io::fcntl_getfd(stream).unwrap();
            let number = stream.as_fd().as_raw_fd();
            assert!(flags.contains(rustix::io::FdFlags::CLOEXEC), "{number}");
        }
    }
}
