//! Sockets: packets, their descriptors, and what ends.

use std::io;
use std::os::fd::AsRawFd;

use super::*;
use crate::closing::tests::{lingering, own};

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
    let is_judged = matches!(error, SocketError::Descriptors { limit: found } if found == limit);
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
fn what_an_end_has_sent_that_is_closed_with_a_packet_unread_comes_first() {
    let (here, there) = pair();
    there.send(b"unread", &[], NOW).unwrap();
    here.send(b"last", &[], NOW).unwrap();
    drop(here);
    assert_eq!(there.receive(&mut [0; 8], 0, NOW).unwrap().bytes, 4);
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
    assert!(matches!(here.send(b"x", &[], NOW), Err(SocketError::HungUp)));
}

/// Sends packets of one descriptor that lingers each, of which `there` has the last copies. Their
/// other ends.
fn send_lingering(here: &Stream, packets: &[&[u8]]) -> Vec<std::net::TcpStream> {
    let send = |packet: &&[u8]| {
        let (sent, other) = lingering();
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        let sent = [sent.as_fd()];
        assert!(control.push(SendAncillaryMessage::ScmRights(&sent)));
        // Not by `Stream::send`, which sends no empty packets.
        let slices = &[IoSlice::new(packet)];
        rustix::net::sendmsg(here, slices, &mut control, SendFlags::empty()).unwrap();
        other
    };
    packets.iter().map(send).collect()
}

#[test]
fn an_empty_packet_is_no_end_of_what_was_not_read() {
    let (here, mut there) = pair();
    there.set_behind(own());
    let behind = there.behind.clone();
    rustix::net::sendmsg(
        &here,
        &[IoSlice::new(b"")],
        &mut SendAncillaryBuffer::default(),
        SendFlags::empty(),
    )
    .unwrap();
    let _kept = send_lingering(&here, &[b"", b"x"]);
    there.end();
    assert_eq!(behind.count(), 2);
}

#[test]
fn an_end_reads_no_more_than_may_wait_to_be_closed() {
    let (here, mut there) = pair();
    let behind = own();
    let mut kept = Vec::new();
    while !behind.is_full() {
        let (sent, other) = lingering();
        closing::close(sent.into(), &behind);
        kept.push(other);
    }
    let before = behind.count();
    there.set_behind(behind.clone());
    kept.extend(send_lingering(&here, &[&b"x"[..]; 4]));
    there.end();
    // The socket waits, with the four.
    assert_eq!(behind.count(), before + 1);
    let (_, mut silent) = pair();
    silent.set_behind(behind.clone());
    silent.end();
    assert_eq!(behind.count(), before + 1);
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

/// The kernel adds a pidfd to each packet that this end receives; false: it is one before 6.5.
fn pass_pidfds(stream: &Stream) -> bool {
    const SO_PASSPIDFD: libc::c_int = 76;
    let is_on: libc::c_int = 1;
    let (value, bytes) = ((&raw const is_on).cast(), size_of_val(&is_on) as libc::socklen_t);
    let descriptor = stream.as_fd().as_raw_fd();
    // SAFETY: the value is so long, and lives through the call.
    let set = unsafe { libc::setsockopt(descriptor, libc::SOL_SOCKET, SO_PASSPIDFD, value, bytes) };
    let error = io::Error::last_os_error();
    let is_known = set == 0 || error.raw_os_error() != Some(libc::ENOPROTOOPT);
    assert!(!is_known || set == 0, "{error}");
    is_known
}

/// Descriptors of this process that are pidfds.
fn pidfds() -> usize {
    let all = std::fs::read_dir("/proc/self/fd").unwrap();
    let leads_to =
        |entry: io::Result<std::fs::DirEntry>| std::fs::read_link(entry.ok()?.path()).ok();
    let is_pidfd = |path: &std::path::PathBuf| path.to_string_lossy().contains("pidfd");
    all.filter_map(leads_to).filter(is_pidfd).count()
}

#[test]
fn a_pidfd_that_nobody_asked_for_is_closed_and_the_packet_refused() {
    let (here, there) = pair();
    if !pass_pidfds(&there) {
        return lacking::lacking("pidfds that come with packets, of Linux 6.5");
    }
    let before = pidfds();
    for count in [0, 1, DESCRIPTORS_MAX] {
        here.send(b"x", &vec![here.as_fd(); count], NOW).unwrap();
        let refused = received(&there, 8, DESCRIPTORS_MAX);
        assert!(matches!(refused, SocketError::Descriptors { .. }), "{refused}");
    }
    here.send(b"x", &[], NOW).unwrap();
    there.end();
    // Other tests of this process have pidfds, too, and soon not any more.
    let begin = std::time::Instant::now();
    while pidfds() > before {
        assert!(begin.elapsed() < Duration::from_secs(10), "{} pidfds, not {before}", pidfds());
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn a_pidfd_can_be_passed() {
    let (here, there) = pair();
    let own = rustix::process::getpid();
    let pidfd = rustix::process::pidfd_open(own, rustix::process::PidfdFlags::empty()).unwrap();
    here.send(b"x", &[pidfd.as_fd()], NOW).unwrap();
    assert_eq!(there.receive(&mut [0; 8], 1, NOW).unwrap().descriptors.len(), 1);
}

#[test]
fn what_lies_behind_a_reset_is_not_waited_for() {
    let (stuck, _theirs) = crate::closing::tests::lingering();
    let (ours, theirs) = Stream::pair().unwrap();
    theirs.send(b"x", &[stuck.as_fd()], Duration::ZERO).unwrap();
    drop(stuck);
    ours.send(b"unread", &[], Duration::ZERO).unwrap();
    // The peer goes without having read.
    drop(std::os::fd::OwnedFd::from(theirs));
    let (sender, receiver) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        ours.end();
        sender.send(()).unwrap();
    });
    assert_eq!(receiver.recv_timeout(Duration::from_secs(60)), Ok(()), "whoever ends it waits");
}
