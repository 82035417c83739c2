//! Descriptors as arguments and results (design note 0019): what arrives, what is refused, and that
//! nothing stays open that nobody holds.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::time::{Duration, Instant};

use lacking::lacking;
use nearcall::raw::{Arguments, Client, DescriptorKind, Entries, Outcome};
use nearcall::{
    Binding, CallError, Clerk, Domain, Error, InterfaceDescriptor, NotExecuted, Ran, UsageError,
};
use nearcall_abi::message::Message;
use nearcall_os::processor;
use nearcall_os::segment::{Sealing, Segment};
use nearcall_os::socket::Stream;
use testkit::campaign::effects;
use testkit::campaign::hand::{self, HandClient};
use testkit::effects::effects::EFFECTS;
use testkit::faults::faults::{PASSING, PassingClient};
use testkit::longer::aborted;
use testkit::world::{Kind, World, each_world, in_world};

const SERVER: &str = env!("CARGO_BIN_EXE_testkit-server");

/// Longest until what nobody holds is closed everywhere.
const CLOSED: Duration = Duration::from_secs(60);

fn check(test: impl Fn(&World, &PassingClient)) {
    each_world(SERVER, |world| {
        let server = world.serve("passing");
        test(world, &world.import_passing(&server));
    });
}

/// A pipe whose write end tells when its last copy is closed, wherever that is.
struct Tracer {
    reader: OwnedFd,
    writer: Option<OwnedFd>,
}

impl Tracer {
    fn new() -> Tracer {
        let (reader, writer) = rustix::pipe::pipe().unwrap();
        rustix::io::ioctl_fionbio(&reader, true).unwrap();
        Tracer { reader, writer: Some(writer) }
    }

    fn writer(&self) -> BorrowedFd<'_> {
        self.writer.as_ref().expect("not closed yet").as_fd()
    }

    /// Demands that no copy is open after ours is closed.
    fn expect_closed(mut self, what: &str) {
        self.writer = None;
        let begin = Instant::now();
        while rustix::io::read(&self.reader, &mut [0]) != Ok(0) {
            assert!(begin.elapsed() < CLOSED, "a copy is open: {what}");
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

/// A file of that text.
fn file(text: &str) -> File {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(text.as_bytes()).unwrap();
    file
}

fn inode(descriptor: impl AsFd) -> u64 {
    rustix::fs::fstat(descriptor).unwrap().st_ino
}

#[test]
fn a_file_arrives_open() {
    check(|_, client| {
        assert_eq!(client.size_of(file("five!").as_fd()).unwrap(), 5);
        assert_eq!(client.size_of(file("").as_fd()).unwrap(), 0);
    });
}

#[test]
fn a_file_comes_back_open() {
    check(|_, client| {
        let mut text = String::new();
        File::from(client.made("a text").unwrap()).read_to_string(&mut text).unwrap();
        assert_eq!(text, "a text");
    });
}

#[test]
fn several_keep_their_order() {
    check(|_, client| {
        let (given, (stream, _other)) = (file("x"), Stream::pair().unwrap());
        let (first, second) = client.swap(given.as_fd(), stream.as_fd()).unwrap();
        assert_eq!(inode(&first), inode(&stream));
        assert_eq!(inode(&second), given.metadata().unwrap().ino());
    });
}

#[test]
fn a_segment_arrives_checked() {
    check(|_, client| {
        let (_segment, sealed) = Segment::create("passed", 8192, Sealing::SingleWriter).unwrap();
        assert_eq!(client.segment_bytes(sealed.as_fd()).unwrap(), 8192);
        let (_segment, open) = Segment::create("passed", 8192, Sealing::BothWrite).unwrap();
        let refused = client.segment_bytes(open.as_fd()).unwrap_err();
        assert!(matches!(refused, CallError::Usage(UsageError::WrongDescriptor { .. })));
    });
}

#[test]
fn calls_that_pass_none_go_on_between() {
    check(|_, client| {
        for number in 0..100 {
            assert_eq!(client.add(number, 1).unwrap(), number + 1);
            let given = file("x");
            assert_eq!(inode(client.back(given.as_fd()).unwrap()), inode(&given));
        }
    });
}

#[test]
fn many_at_once_are_not_mixed_up() {
    check(|_, client| {
        std::thread::scope(|threads| {
            for _ in 0..4 {
                threads.spawn(|| {
                    for _ in 0..200 {
                        let given = file("x");
                        assert_eq!(inode(client.back(given.as_fd()).unwrap()), inode(&given));
                        assert_eq!(client.add(1, 2).unwrap(), 3);
                    }
                });
            }
        });
    });
}

#[test]
fn posted_calls_bring_their_own() {
    check(|_, client| {
        let given: Vec<File> = (0..4).map(|_| file("x")).collect();
        let posting = client.posting();
        let pending: Vec<_> =
            given.iter().map(|file| posting.back(file.as_fd()).unwrap()).collect();
        // Out of order: each finds those of its own call.
        for (pending, given) in pending.into_iter().zip(&given).rev() {
            assert_eq!(inode(pending.collect().unwrap()), inode(given));
        }
    });
}

#[test]
fn one_of_another_kind_is_refused_before_the_post() {
    check(|_, client| {
        let (pipe, _other) = rustix::pipe::pipe().unwrap();
        let refused = client.size_of(pipe.as_fd()).unwrap_err();
        assert_eq!(refused.ran(), Ran::No);
        assert_eq!(refused.to_string(), "file: a descriptor of mode 10600 is no regular file");
    });
}

#[test]
fn a_result_of_another_kind_is_refused_by_the_server() {
    check(|_, client| {
        let refused = client.wrong().unwrap_err();
        assert!(
            matches!(refused, CallError::ResultsRefused { procedure }
                if procedure.operation() == "wrong"),
            "{refused}"
        );
        assert_eq!(client.add(1, 2).unwrap(), 3);
    });
}

/// A call that passes a descriptor, whatever becomes of it.
type Passed = fn(&PassingClient, BorrowedFd<'_>);

#[test]
fn nothing_stays_open_whatever_becomes_of_the_call() {
    check(|world, client| {
        let calls: [(&str, Passed); 7] = [
            ("returned", |client, given| drop(client.back(given).unwrap())),
            ("raised", |client, given| {
                let raised = client.choose(given, 7).unwrap_err();
                assert!(matches!(raised, Error::Exception(_)), "{raised}");
            }),
            ("panicked", |client, given| {
                assert!(matches!(client.panic(given), Err(CallError::Panicked { .. })));
            }),
            ("oneway", |client, given| client.close(given).unwrap()),
            ("given up", |client, given| {
                let hasty = client.with_deadline(Duration::from_millis(10));
                aborted(|| hasty.later(given, 300));
            }),
            ("cancelled", |client, given| client.posting().later(given, 20).unwrap().cancel()),
            ("dropped", |client, given| {
                let pending = client.posting().back(given).unwrap();
                while !pending.is_replied() {
                    std::thread::yield_now();
                }
                drop(pending);
            }),
        ];
        let mut before = None;
        // The first round makes what stays: threads, wake-ups.
        for _ in 0..3 {
            for (what, call) in calls {
                let tracer = Tracer::new();
                call(client, tracer.writer());
                tracer.expect_closed(what);
            }
            // In this process other tests open and close theirs.
            if world.kind() == Kind::Processes {
                let count = client.count().unwrap();
                assert_eq!(*before.get_or_insert(count), count);
            }
        }
    });
}

#[test]
fn nothing_stays_open_after_the_server_ends() {
    in_world(Kind::Processes, SERVER, |world| {
        let server = world.serve("passing");
        let client = world.import_passing(&server);
        let tracer = Tracer::new();
        let failed = client.die(tracer.writer()).unwrap_err();
        assert!(matches!(failed, CallError::CallFailed { .. }), "{failed}");
        tracer.expect_closed("the server ended");
        let tracer = Tracer::new();
        let refused = client.back(tracer.writer()).unwrap_err();
        assert_eq!(refused.ran(), Ran::No);
        tracer.expect_closed("the binding is revoked");
    });
}

/// A client that passes what it likes.
fn raw(world: &World) -> (testkit::world::Server, Client) {
    let server = world.serve("passing");
    let client = world.import_passing(&server);
    (server, Client::new(client.binding().clone(), &PASSING))
}

fn procedure(name: &str) -> u32 {
    PASSING.procedures.iter().position(|one| one.name == name).unwrap() as u32
}

#[test]
fn a_server_refuses_none_too_many_and_others_and_serves_on() {
    each_world(SERVER, |world| {
        let (_server, client) = raw(world);
        let back = procedure("back");
        let class = usize::from(PASSING.procedures[back as usize].class);
        let size_of = procedure("size_of");
        let refused = |call: nearcall::raw::Call<'_, '_>| match call.post(0) {
            Err(error) => assert!(
                matches!(
                    *error,
                    CallError::NotExecuted { reason: NotExecuted::ArgumentsRefused, .. }
                ),
                "{error}"
            ),
            Ok(_) => panic!("it was served"),
        };
        let begin = Instant::now();
        refused(client.claim_of_class(class, back).unwrap());
        let tracer = Tracer::new();
        let one = ("given", DescriptorKind::Any, tracer.writer());
        let mut call = client.claim_of_class(class, back).unwrap();
        call.put_descriptors([one; 2]).unwrap();
        refused(call);
        let mut call = client.claim_of_class(class, back).unwrap();
        call.put_descriptors([one; 8]).unwrap();
        refused(call);
        let mut call = client.claim_of_class(class, size_of).unwrap();
        call.put_descriptors([one]).unwrap();
        refused(call);
        tracer.expect_closed("refused");
        assert!(begin.elapsed() < CLOSED);
        // With a call that takes none they stay until the next packet, and are closed then.
        let tracer = Tracer::new();
        let mut call = client.claim_of_class(class, procedure("count")).unwrap();
        call.put_descriptors([("x", DescriptorKind::Any, tracer.writer())]).unwrap();
        drop(call.post(0).unwrap());
        let passing = PassingClient::new(client.binding().clone());
        let given = file("x");
        assert_eq!(inode(passing.back(given.as_fd()).unwrap()), inode(&given));
        tracer.expect_closed("never taken");
    });
}

/// A server that sends back what it likes.
struct Liar(fn(Arguments<'_>) -> Outcome);

impl Entries for Liar {
    fn interface(&self) -> &'static InterfaceDescriptor {
        &PASSING
    }

    fn enter(&self, _procedure: usize, arguments: Arguments<'_>) -> Outcome {
        (self.0)(arguments)
    }
}

/// What a client says of a server that replies so to `swap`, which brings two back.
fn said_of(reply: fn(Arguments<'_>) -> Outcome) -> CallError {
    let directory = tempfile::tempdir().unwrap();
    let domain = Domain::new().unwrap();
    let mut options = nearcall::ExportOptions::default();
    options.scope = Some(nearcall::name::Scope::Directory(directory.path().to_owned()));
    let clerk = Clerk::export_with(&domain, "liar", Liar(reply), options).unwrap();
    let options = testkit::server::import_options(directory.path());
    let binding = Binding::import_twin(&domain, &clerk, &PASSING, options).unwrap();
    let client = PassingClient::new(binding);
    let (given, (stream, _other)) = (file("x"), Stream::pair().unwrap());
    let begin = Instant::now();
    let said = client.swap(given.as_fd(), stream.as_fd()).unwrap_err();
    assert!(begin.elapsed() < CLOSED, "{said}");
    said
}

#[test]
fn a_client_tells_none_too_few_and_others_from_what_is_due() {
    let said = said_of(|arguments| arguments.results().reply(0));
    assert!(said.to_string().contains("0 descriptors, not 2"), "{said}");
    let said = said_of(|arguments| {
        let (pipe, _other) = rustix::pipe::pipe().unwrap();
        let mut results = arguments.results();
        results.put_descriptors([(DescriptorKind::Any, pipe.as_fd())])?;
        results.reply(0)
    });
    assert!(said.to_string().contains("1 descriptor, not 2"), "{said}");
    let said = said_of(|arguments| {
        let (pipe, other) = rustix::pipe::pipe().unwrap();
        let mut results = arguments.results();
        let any = DescriptorKind::Any;
        results.put_descriptors([(any, pipe.as_fd()), (any, other.as_fd())])?;
        results.reply(0)
    });
    assert!(said.to_string().contains("mode 10600"), "{said}");
    assert!(matches!(said, CallError::Peer { .. }), "{said}");
}

/// Sends a tracer as one of `count` descriptors of a call.
fn forge(client: &HandClient, astack: u32, sequence: u32, count: u32) -> Tracer {
    let mut tracer = Tracer::new();
    let message = Message::Descriptors { astack, sequence, count };
    let sent = tracer.writer.take().unwrap();
    hand::send(&client.stream, &hand::packet(&message), &[sent]).unwrap();
    tracer
}

#[test]
fn what_is_late_or_forged_is_closed() {
    let directory = tempfile::tempdir().unwrap();
    let domain = Domain::new().unwrap();
    let _clerk = effects::export(&domain, directory.path(), "forged").unwrap();
    let client = HandClient::bind(&hand::path_of(directory.path(), "forged")).unwrap();
    let astack = hand::astack_of("null");
    // No call was made yet: the first one has number 1.
    for (what, astack, sequence) in [
        ("the past", astack, 0),
        ("the future", astack, 2),
        ("far away", astack, u32::MAX),
        ("no A-stack", 9_999, 1),
        ("no A-stack at all", u32::MAX, 1),
    ] {
        forge(&client, astack, sequence, 1).expect_closed(what);
    }
    // What is due is kept, and one more for the same call takes its place.
    let first = forge(&client, astack, 1, 1);
    let second = forge(&client, astack, 1, 1);
    first.expect_closed("replaced");
    assert_eq!(rustix::io::read(&second.reader, &mut [0]), Err(rustix::io::Errno::AGAIN));
    // A call that takes none runs as ever; late ones are closed, and so is what it left.
    client.post(astack, hand::words_of("null", 1, 0));
    assert!(client.await_reply(astack, 1, CLOSED));
    forge(&client, astack, 1, 1).expect_closed("late");
    second.expect_closed("not taken");
    // One that says two and brings one ends the binding.
    forge(&client, astack, 2, 2).expect_closed("miscounted");
    assert!(hand::await_hang_up(&client.stream, CLOSED).is_some());
}

/// A server of the campaign's interface whose every procedure does this.
struct Does<F>(F);

impl<F: Fn(&Arguments<'_>) + Send + Sync + 'static> Entries for Does<F> {
    fn interface(&self) -> &'static InterfaceDescriptor {
        &EFFECTS
    }

    fn enter(&self, _procedure: usize, arguments: Arguments<'_>) -> Outcome {
        (self.0)(&arguments);
        arguments.results().reply(0)
    }
}

/// A client, made by hand, of a server whose procedures do this; and an A-stack to call it on.
fn called_by_hand(
    procedure: impl Fn(&Arguments<'_>) + Send + Sync + 'static,
    test: impl FnOnce(&HandClient, u32),
) {
    let directory = tempfile::tempdir().unwrap();
    let domain = Domain::new().unwrap();
    let mut options = nearcall::ExportOptions::default();
    options.scope = Some(nearcall::name::Scope::Directory(directory.path().to_owned()));
    let _clerk = Clerk::export_with(&domain, "does", Does(procedure), options).unwrap();
    let client = HandClient::bind(&hand::path_of(directory.path(), "does")).unwrap();
    test(&client, hand::astack_of("null"));
}

#[test]
fn a_broken_packet_that_a_call_meets_ends_the_binding() {
    let looks = |arguments: &Arguments<'_>| {
        let begin = Instant::now();
        while begin.elapsed() < Duration::from_millis(200) {
            let _ = arguments.descriptors([DescriptorKind::Any]);
        }
    };
    called_by_hand(looks, |client, astack| {
        client.post(astack, hand::words_of("null", 1, 0));
        std::thread::sleep(Duration::from_millis(20));
        // The procedure reads all the time, so it is there before housekeeping.
        forge(client, astack, 1, 2).expect_closed("miscounted");
        assert!(hand::await_hang_up(&client.stream, CLOSED).is_some());
    });
}

/// Packets that one look for descriptors may read: those that are queued, and one for each A-stack.
fn read_at_once_max() -> u64 {
    256 + u64::from(EFFECTS.classes.iter().map(|class| class.count).sum::<u32>())
}

/// Packets that a socket holds which nobody reads.
fn held_max(packet: &[u8], sent: &[OwnedFd]) -> u64 {
    let (sender, _receiver) = Stream::pair().unwrap();
    let sent: Vec<_> = sent.iter().map(AsFd::as_fd).collect();
    let is_sent = |_: &u64| sender.send(packet, &sent, Duration::ZERO).is_ok();
    (0..).take_while(is_sent).count() as u64
}

/// Counts packets, not time: what is sent during a look was read by it, but for what the socket
/// holds.
#[test]
fn a_client_that_sends_without_pause_keeps_no_processor() {
    /// What is sent in all, so that a look that reads all of it ends, too.
    const SENT_MAX: u64 = 400_000;
    const LOOKS: usize = 40;
    /// Descriptors that all tests of this process may have open: those of the flood are far fewer
    /// than it has sent.
    const OPEN_MAX: usize = 4_000;
    if processor::count_allowed() == 1 {
        return lacking("a second processor");
    }
    let sent = Arc::new(AtomicU64::new(0));
    let (seen, during_looks) = std::sync::mpsc::channel();
    let counted = Arc::clone(&sent);
    let looks = move |arguments: &Arguments<'_>| {
        // Relaxed: a count that orders nothing, here and below.
        let before = counted.load(Relaxed);
        assert!(arguments.descriptors([DescriptorKind::Any]).is_err());
        // Relaxed: as above.
        seen.send(counted.load(Relaxed) - before).unwrap();
    };
    called_by_hand(looks, |client, astack| {
        // Of no call that could take them. Closing many takes longer than sending them.
        let message = Message::Descriptors { astack, sequence: 900, count: 8 };
        let packet = hand::packet(&message);
        let files: Vec<_> = (0..8).map(|_| OwnedFd::from(file("x"))).collect();
        let limit = 2 * (read_at_once_max() + held_max(&packet, &files));
        let is_over = AtomicBool::new(false);
        let mut during: Vec<u64> = std::thread::scope(|threads| {
            for _ in 0..2 {
                threads.spawn(|| {
                    // Relaxed: as above.
                    while !is_over.load(Relaxed) && sent.load(Relaxed) < SENT_MAX {
                        if hand::send(&client.stream, &packet, &files).is_ok() {
                            // Relaxed: as above.
                            sent.fetch_add(1, Relaxed);
                        }
                    }
                });
            }
            let mut during = Vec::new();
            let has_met_any = |during: &[u64]| during.iter().any(|met| *met > 0);
            // Nobody sends while the socket is full, and where there is other work that is mostly.
            for sequence in 1..=100 * LOOKS as u32 {
                client.post(astack, hand::words_of("null", sequence, 0));
                assert!(client.await_reply(astack, sequence, CLOSED));
                let open = std::fs::read_dir("/proc/self/fd").unwrap().count();
                assert!(open < OPEN_MAX, "{open} descriptors are open");
                during.push(during_looks.recv().unwrap());
                if during.len() >= LOOKS && has_met_any(&during) {
                    break;
                }
            }
            // Relaxed: as above.
            is_over.store(true, Relaxed);
            during
        });
        during.sort_unstable();
        // A sender, or a look that waits for its turn, may lose its processor at any time; a look
        // that reads what comes meanwhile meets more each time.
        let most = during[during.len() / 2];
        assert!(during.iter().any(|met| *met > 0), "no look met a packet");
        assert!(most <= limit, "a look met {most} packets, not {limit}: {during:?}");
    });
}
