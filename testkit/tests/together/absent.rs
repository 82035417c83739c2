//! Descriptors that may be absent (design note 0019): what arrives, and what becomes of a peer's
//! lies about it.

use std::net::TcpStream;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Mutex;

use nearcall::raw::{Arguments, Client, DescriptorKind, Entries, Outcome};
use nearcall::{Binding, CallError, Clerk, Domain, InterfaceDescriptor, NotExecuted, UsageError};
use nearcall_os::socket::Stream;
use testkit::faults::faults::{PASSING, PassingClient};
use testkit::world::{Server, World, each_world};

use crate::closing::lingering;

const SERVER: &str = env!("CARGO_BIN_EXE_testkit-server");

fn inode(descriptor: BorrowedFd<'_>) -> u64 {
    rustix::fs::fstat(descriptor).unwrap().st_ino
}

fn own_inode(descriptor: OwnedFd) -> u64 {
    inode(descriptor.as_fd())
}

/// A client that passes what it likes to `maybe`: its index and its class.
fn raw(world: &World) -> (Server, Client, (u32, usize)) {
    let server = world.serve("passing");
    let client = world.import_passing(&server);
    let maybe = PASSING.procedures.iter().position(|one| one.name == "maybe").unwrap();
    let class = PASSING.procedures[maybe].class.into();
    (server, Client::new(client.binding().clone(), &PASSING), (maybe as u32, class))
}

#[test]
fn one_that_may_be_absent_arrives_or_does_not() {
    each_world(SERVER, |world| {
        let server = world.serve("passing");
        let client = world.import_passing(&server);
        let (stream, _other) = Stream::pair().unwrap();
        for _ in 0..3 {
            assert_eq!(client.maybe(None).unwrap().map(own_inode), None);
            let back = client.maybe(Some(stream.as_fd())).unwrap();
            assert_eq!(back.map(own_inode), Some(inode(stream.as_fd())));
        }
        let (pipe, _other) = rustix::pipe::pipe().unwrap();
        let said = client.maybe(Some(pipe.as_fd())).unwrap_err();
        assert!(matches!(said, CallError::Usage(UsageError::WrongDescriptor { .. })), "{said}");
    });
}

#[test]
fn a_server_judges_what_says_that_one_is_there() {
    each_world(SERVER, |world| {
        let (_server, client, (maybe, class)) = raw(world);
        let reply = |claim: u8, given: BorrowedFd<'_>| {
            let mut call = client.claim_of_class(class, maybe).unwrap();
            call.put_u8::<0>(claim);
            call.expect_descriptors();
            call.put_descriptors([("given", DescriptorKind::Any, given)]).unwrap();
            let reply = call.post(1)?;
            let claim = reply.get_u8::<0>();
            let ([], [back]) = reply.optional_descriptors([], [(DescriptorKind::Socket, claim)])?;
            Ok(back.map(own_inode))
        };
        let refused = |said: Result<_, Box<CallError>>| {
            let said = said.unwrap_err();
            let reason = NotExecuted::ArgumentsRefused;
            assert!(matches!(&*said, CallError::NotExecuted { reason: own, .. } if *own == reason));
        };
        let (stream, _other) = Stream::pair().unwrap();
        assert_eq!(reply(1, stream.as_fd()).unwrap(), Some(inode(stream.as_fd())));
        assert_eq!(reply(0, stream.as_fd()).unwrap(), None);
        let (read, write) = rustix::pipe::pipe().unwrap();
        assert_eq!(reply(0, write.as_fd()).unwrap(), None);
        refused(reply(1, write.as_fd()));
        refused(reply(2, write.as_fd()));
        refused(reply(2, stream.as_fd()));
        refused(reply(255, write.as_fd()));
        // The pipe ends when no copy of that is open, here or there.
        drop(write);
        assert_eq!(rustix::io::read(&read, &mut [0]), Ok(0));
    });
}

#[test]
fn what_stands_for_one_that_is_absent_is_closed_by_a_thread() {
    each_world(SERVER, |world| {
        let (_server, client, (maybe, class)) = raw(world);
        let (sent, _kept) = lingering();
        let mut call = client.claim_of_class(class, maybe).unwrap();
        call.put_u8::<0>(0);
        call.expect_descriptors();
        call.put_descriptors([("given", DescriptorKind::Any, sent.as_fd())]).unwrap();
        // The server has the last copy.
        drop(sent);
        let reply = call.post(1).unwrap();
        assert_eq!(reply.get_u8::<0>(), 0);
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

/// What a client is told by a server that replies so to `maybe`.
fn told(reply: fn(Arguments<'_>) -> Outcome) -> Result<Option<OwnedFd>, CallError> {
    let directory = tempfile::tempdir().unwrap();
    let domain = Domain::new().unwrap();
    let mut options = nearcall::ExportOptions::default();
    options.scope = Some(nearcall::name::Scope::Directory(directory.path().to_owned()));
    let clerk = Clerk::export_with(&domain, "liar", Liar(reply), options).unwrap();
    let options = testkit::server::import_options(directory.path());
    let binding = Binding::import_twin(&domain, &clerk, &PASSING, options).unwrap();
    PassingClient::new(binding).maybe(None)
}

/// Replies to `maybe` with one more that nobody else holds, and says of it what it likes.
fn maybe(arguments: Arguments<'_>, claim: u8, given: OwnedFd) -> Outcome {
    let mut results = arguments.results();
    results.put_u8::<0>(claim);
    results.put_descriptors([(DescriptorKind::Any, given.as_fd())])?;
    drop(given);
    results.reply(1)
}

#[test]
fn a_client_judges_what_says_that_one_is_there() {
    fn pipe() -> OwnedFd {
        rustix::pipe::pipe().unwrap().0
    }
    let said = told(|arguments| maybe(arguments, 0, pipe()));
    assert!(said.unwrap().is_none());
    let said = told(|arguments| maybe(arguments, 1, pipe()));
    let said = said.unwrap_err().to_string();
    assert!(said.contains("mode 10600"), "{said}");
    let said = told(|arguments| maybe(arguments, 2, pipe()));
    let said = said.unwrap_err();
    assert!(matches!(said, CallError::Peer { .. }), "{said}");
    // What it would wait for, if it closed it itself, ends with the test.
    static KEPT: Mutex<Option<TcpStream>> = Mutex::new(None);
    let lies = |arguments: Arguments<'_>| {
        let (sent, kept) = lingering();
        *KEPT.lock().unwrap() = Some(kept);
        maybe(arguments, 0, sent)
    };
    assert!(told(lies).unwrap().is_none());
}
