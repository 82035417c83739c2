//! What a peer sent is closed without waiting for it (design note 0019): a socket that lingers
//! holds `close` for as long as its sender has set. What waits to be closed is its user's, over all
//! its connections, and no other user's binds and calls suffer from it.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use lacking::lacking;
use nearcall_abi::message::{Message, RefusalCode};
use nearcall_os::socket::Stream;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{self, Pid, Signal, WaitOptions};
use testkit::campaign::effects;
use testkit::campaign::hand::{self, HandClient, Heard};
use testkit::users::{ANOTHER_USER, as_user};
use testkit::world::{Kind, Server, World, in_world};

/// How long each socket lingers: longer than any test waits.
const LINGER: Duration = Duration::from_secs(600);

/// Longest until a server that is held up by nothing answers.
pub const ANSWERED: Duration = Duration::from_secs(60);

/// A socket whose last close waits, and the other end, which keeps it waiting.
pub fn lingering() -> (OwnedFd, TcpStream) {
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
    fn of(world: &World, server: &Server, name: &str) -> Target {
        let path = hand::path_of(world.directory(), &effects::name_of(name));
        Target { path, pid: Pid::from_raw(server.pid().unwrap() as i32).unwrap() }
    }

    fn bind(&self) -> HandClient {
        HandClient::bind(&self.path).expect("nothing holds the server up")
    }

    /// Sends packets with sockets that linger, of which the server has the last copies: it does not
    /// run before ours are closed. Their other ends.
    fn send(&self, stream: &Stream, packets: &[(Message<'_>, usize)]) -> Vec<TcpStream> {
        self.send_all(packets.iter().map(|(message, count)| (stream, *message, *count)))
    }

    /// The same over several connections. Whoever closes one that lingers already goes on: a stop
    /// ends that.
    fn send_all<'m>(
        &self,
        packets: impl Iterator<Item = (&'m Stream, Message<'m>, usize)>,
    ) -> Vec<TcpStream> {
        process::kill_process(self.pid, Signal::STOP).unwrap();
        process::waitpid(Some(self.pid), WaitOptions::UNTRACED).unwrap().expect("it has stopped");
        let mut ends = Vec::new();
        for (stream, message, count) in packets {
            let (sent, kept): (Vec<_>, Vec<_>) = (0..count).map(|_| lingering()).unzip();
            hand::send(stream, &hand::packet(&message), &sent).unwrap();
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
        let target = Target::of(world, &server, "closing");
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

/// The user whose descriptors are not closed; the other one is root.
const STUCK: u32 = 1001;

/// Connections of it, of each kind, and packets with descriptors over each: together more of them
/// than the server may have.
const CONNECTIONS: usize = 6;
const PACKETS: usize = 40;

/// Connections of it that are refused.
const REFUSED: usize = 60;

/// More descriptors than a server has open that reads nothing of a user of whom enough wait to be
/// closed: those, a packet's, what was refused with something unread, and what it has for itself
/// and its bindings.
const OPEN_MAX: usize = 256 + 8 + REFUSED + 100;

impl Target {
    fn open_count(&self) -> usize {
        fs::read_dir(format!("/proc/{}/fd", self.pid.as_raw_nonzero())).unwrap().count()
    }

    /// Everything that the server does for a user goes on.
    fn check_serves(&self) {
        let client = self.bind();
        client.post(hand::astack_of("null"), hand::words_of("null", 1, 0));
        assert!(client.await_reply(hand::astack_of("null"), 1, ANSWERED));
        let (mut ours, theirs) = rustix::pipe::pipe().map(|(a, b)| (File::from(a), b)).unwrap();
        hand::send(&client.stream, &hand::packet(&descriptors(9, 1)), &[theirs]).unwrap();
        // Closed here, too, by now: the end of the pipe comes when the server has closed its copy.
        let mut polled = [PollFd::new(&ours, PollFlags::IN)];
        let longest = Timespec { tv_sec: 60, tv_nsec: 0 };
        assert_eq!(poll(&mut polled, Some(&longest)).unwrap(), 1, "another's is not closed");
        assert_eq!(ours.read(&mut [0]).unwrap(), 0);
    }
}

/// Descriptors that wait to be closed behind those that linger.
fn ordinary(count: usize) -> Vec<OwnedFd> {
    (0..count).map(|_| File::open("/dev/null").unwrap().into()).collect()
}

/// Packets with descriptors of no call. One that is not read from any more has no room in the end.
fn send_ordinary(client: &HandClient) {
    let packet = hand::packet(&descriptors(9, 8));
    for _ in 0..PACKETS {
        let sent = ordinary(8);
        let sent: Vec<_> = sent.iter().map(AsFd::as_fd).collect();
        let _ = client.stream.send(&packet, &sent, Duration::ZERO);
    }
}

/// Sends far more than the server may have: over bindings, and over connections that bind nothing,
/// some of which are gone before they are let in. `None`: only root becomes another user.
fn fill(target: &Target) -> Option<(Vec<HandClient>, Vec<Stream>, Vec<TcpStream>)> {
    let bind = || (0..CONNECTIONS).map(|_| target.bind()).collect();
    let bound: Vec<HandClient> = as_user(STUCK, bind)?;
    // Whose they are is a matter of who has connected.
    let lingering = bound.iter().map(|client| (&client.stream, descriptors(9, 1), 1));
    let kept = target.send_all(lingering);
    bound.iter().for_each(send_ordinary);
    let mut waiting = Vec::new();
    for at in 0..REFUSED {
        let Ok(stream) = as_user(STUCK, || hand::connect(&target.path))? else { continue };
        for _ in 0..PACKETS {
            let import = hand::packet(&hand::import_message());
            if hand::send(&stream, &import, &ordinary(8)).is_err() {
                break;
            }
        }
        if at % 2 == 0 {
            waiting.push(stream);
        }
    }
    Some((bound, waiting, kept))
}

#[test]
fn what_one_user_has_sent_over_many_connections_leaves_room_for_another() {
    in_world(Kind::Processes, env!("CARGO_BIN_EXE_testkit-server"), |world| {
        fs::set_permissions(world.directory(), fs::Permissions::from_mode(0o755)).unwrap();
        let mut server = world.serve_as("crowded", &["anybody"]);
        let target = Target::of(world, &server, "crowded");
        target.check_serves();
        let Some(filled) = fill(&target) else {
            return lacking(ANOTHER_USER);
        };
        let begin = Instant::now();
        while begin.elapsed() < Duration::from_secs(1) {
            target.check_serves();
            let open = target.open_count();
            assert!(open < OPEN_MAX, "the server has {open} descriptors open");
            // What goes with a binding may take as long as this, several times.
            std::thread::sleep(Duration::from_millis(10));
        }
        let stream = as_user(STUCK, || hand::connect(&target.path).unwrap()).unwrap();
        let Heard::Packet(refused) = hand::hear(&stream, ANSWERED) else { panic!("no refusal") };
        let refused = Message::decode(&refused).unwrap();
        let is_overloaded = matches!(refused, Message::Refused { code, .. }
            if code == RefusalCode::Overloaded);
        assert!(is_overloaded, "{refused:?}");
        // What lingers is closed now, and then the rest.
        drop(filled);
        let begin = Instant::now();
        while as_user(STUCK, || HandClient::bind(&target.path).is_err()) == Some(true) {
            assert!(begin.elapsed() < ANSWERED, "its user is not bound again");
        }
        server.shut_down();
    });
}

/// A binding that is not read from, because its user is behind, and whose client goes without
/// having read an answer: the kernel says so before it says what lies there.
#[test]
fn what_lies_behind_an_answer_that_nobody_read_is_closed_without_waiting() {
    in_world(Kind::Processes, env!("CARGO_BIN_EXE_testkit-server"), |world| {
        fs::set_permissions(world.directory(), fs::Permissions::from_mode(0o755)).unwrap();
        let server = world.serve_as("crowded", &["anybody"]);
        let target = Target::of(world, &server, "crowded");
        let bound: Option<Vec<_>> = as_user(STUCK, || (0..5).map(|_| target.bind()).collect());
        let Some(mut bound) = bound else {
            return lacking(ANOTHER_USER);
        };
        let last = bound.pop().unwrap();
        let lend = hand::packet(&Message::Lend { number: 1, bytes: 4096 });
        let page = hand::file(4096, 4096, hand::SINGLE).unwrap();
        hand::send(&last.stream, &lend, &[page]).unwrap();
        // Its answer is there.
        let mut polled = [PollFd::new(&last.stream, PollFlags::IN)];
        let longest = Timespec { tv_sec: 60, tv_nsec: 0 };
        assert_eq!(poll(&mut polled, Some(&longest)).unwrap(), 1, "no answer");
        let first = (&bound[0].stream, descriptors(9, 1), 1);
        let mut kept = target.send_all([first].into_iter());
        bound.iter().for_each(send_ordinary);
        kept.extend(target.send_all([(&last.stream, descriptors(9, 1), 1)].into_iter()));
        drop(last);
        let begin = Instant::now();
        while begin.elapsed() < Duration::from_secs(1) {
            target.check_serves();
            std::thread::sleep(Duration::from_millis(10));
        }
        drop(kept);
    });
}
