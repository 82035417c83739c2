//! What a peer sent is closed without waiting for it (design note 0019): a socket that lingers
//! holds `close` for as long as its sender has set.

use std::io::Write;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::time::Duration;

use nearcall_abi::message::Message;
use nearcall_os::socket::Stream;
use rustix::process::{self, Pid, Signal, WaitOptions};
use testkit::campaign::effects;
use testkit::campaign::hand::{self, HandClient};
use testkit::world::{Kind, in_world};

/// How long each socket lingers: longer than any test waits.
const LINGER: Duration = Duration::from_secs(600);

/// Longest until a server that is held up by nothing answers.
const ANSWERED: Duration = Duration::from_secs(5);

/// A socket whose last close waits, and the other end, which keeps it waiting.
fn lingering() -> (OwnedFd, TcpStream) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let mut sent = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let (kept, _) = listener.accept().unwrap();
    rustix::net::sockopt::set_socket_linger(&sent, Some(LINGER)).unwrap();
    sent.set_nonblocking(true).unwrap();
    while sent.write(&[7; 1 << 16]).is_ok() {}
    (sent.into(), kept)
}

/// A server in a process of its own, and where it listens.
struct Target {
    path: PathBuf,
    pid: Pid,
}

impl Target {
    fn bind(&self) -> HandClient {
        HandClient::bind(&self.path).expect("nothing holds the server up")
    }

    /// Sends packets with sockets that linger, of which the server has the last copies: it does not
    /// run before ours are closed. Their other ends.
    fn send(&self, stream: &Stream, packets: &[(Message<'_>, usize)]) -> Vec<TcpStream> {
        process::kill_process(self.pid, Signal::STOP).unwrap();
        process::waitpid(Some(self.pid), WaitOptions::UNTRACED).unwrap().expect("it has stopped");
        let mut ends = Vec::new();
        for (message, count) in packets {
            let (sent, kept): (Vec<_>, Vec<_>) = (0..*count).map(|_| lingering()).unzip();
            hand::send(stream, &hand::packet(message), &sent).unwrap();
            ends.extend(kept);
        }
        process::kill_process(self.pid, Signal::CONT).unwrap();
        ends
    }
}

/// Lets a client do something to a server, and demands that another is bound and answered after it,
/// and that the server comes to its end.
fn after(abuse: impl Fn(&Target) -> Vec<TcpStream>) {
    in_world(Kind::Processes, env!("CARGO_BIN_EXE_testkit-server"), |world| {
        let mut server = world.serve("closing");
        let path = hand::path_of(world.directory(), &effects::name_of("closing"));
        let pid = Pid::from_raw(server.pid().unwrap() as i32).unwrap();
        let target = Target { path, pid };
        let kept = abuse(&target);
        assert!(!kept.is_empty(), "nothing was sent that lingers");
        let honest = target.bind();
        honest.post(hand::astack_of("null"), hand::words_of("null", 1, 0));
        assert!(honest.await_reply(hand::astack_of("null"), 1, ANSWERED));
        server.shut_down();
    });
}

/// Descriptors of call `sequence`, said to be so many.
fn descriptors(sequence: u32, count: u32) -> Message<'static> {
    Message::Descriptors { astack: hand::astack_of("null"), sequence, count }
}

#[test]
fn descriptors_of_no_call_hold_nobody_up() {
    after(|target| {
        let client = target.bind();
        target.send(&client.stream, &[(descriptors(0, 1), 1), (descriptors(9, 4), 4)])
    });
}

#[test]
fn descriptors_that_a_procedure_does_not_take_hold_nobody_up() {
    after(|target| {
        let client = target.bind();
        let kept = target.send(&client.stream, &[(descriptors(1, 4), 4)]);
        client.post(hand::astack_of("null"), hand::words_of("null", 1, 0));
        assert!(client.await_reply(hand::astack_of("null"), 1, ANSWERED));
        kept
    });
}

#[test]
fn what_is_behind_a_broken_packet_holds_nobody_up() {
    after(|target| {
        let client = target.bind();
        let packets = [(descriptors(1, 2), 1), (descriptors(1, 4), 4)];
        let kept = target.send(&client.stream, &packets);
        assert!(hand::await_hang_up(&client.stream, ANSWERED).is_some());
        kept
    });
}

#[test]
fn what_is_no_segment_holds_nobody_up() {
    after(|target| {
        let stream = hand::connect(&target.path).unwrap();
        let kept = target.send(&stream, &[(hand::import_message(), 2)]);
        assert!(hand::await_hang_up(&stream, ANSWERED).is_some());
        kept
    });
}

#[test]
fn what_came_before_it_was_accepted_holds_nobody_up() {
    let directory = tempfile::tempdir().unwrap();
    let listener = hand::listen(directory.path(), "closing").unwrap();
    let stream = hand::connect(&hand::path_of(directory.path(), "closing")).unwrap();
    let (sent, _kept) = lingering();
    hand::send(&stream, &hand::packet(&hand::import_message()), &[sent]).unwrap();
    drop(listener);
    assert_eq!(hand::hear(&stream, ANSWERED), hand::Heard::HungUp);
}
