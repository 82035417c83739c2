//! Descriptors that may be absent (design note 0019): what arrives, and what becomes of a peer's
//! lies about it.

use std::collections::HashSet;
use std::net::TcpStream;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::Instant;

use nearcall::name::Scope;
use nearcall::raw::{Arguments, Client, DescriptorKind, Entries, Outcome};
use nearcall::{
    Binding, CallError, Clerk, Domain, DomainOptions, ExportError, ExportOptions,
    InterfaceDescriptor, NotExecuted, UsageError,
};
use nearcall_os::socket::Stream;
use testkit::faults::faults::{PASSING, PassingClient};
use testkit::world::{Server, World, each_world};

use crate::closing::{ANSWERED, lingering};

const SERVER: &str = env!("CARGO_BIN_EXE_testkit-server");

fn inode(descriptor: BorrowedFd<'_>) -> u64 {
    rustix::fs::fstat(descriptor).unwrap().st_ino
}

fn own_inode(descriptor: OwnedFd) -> u64 {
    inode(descriptor.as_fd())
}

/// Its index and its class.
fn procedure(name: &str) -> (u32, usize) {
    let index = PASSING.procedures.iter().position(|one| one.name == name).unwrap();
    (index as u32, PASSING.procedures[index].class.into())
}

/// A client that passes what it likes, and waits no longer than is enough for a server that is held
/// up by nothing.
fn raw(world: &World) -> (Server, Client) {
    let server = world.serve("passing");
    let client = world.import_passing(&server);
    let client = Client::new(client.binding().clone(), &PASSING).with_deadline(ANSWERED);
    (server, client)
}

#[track_caller]
fn refused<T>(said: Result<T, Box<CallError>>) {
    let said = said.err().expect("it is refused");
    let is_refused = |reason: &NotExecuted| *reason == NotExecuted::ArgumentsRefused;
    assert!(
        matches!(&*said, CallError::NotExecuted { reason, .. } if is_refused(reason)),
        "{said}"
    );
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
        let (_server, client) = raw(world);
        let (maybe, class) = procedure("maybe");
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
fn a_server_waits_for_the_close_of_nothing_that_it_refuses_or_leaves() {
    each_world(SERVER, |world| {
        let (_server, client) = raw(world);
        let (maybe, class) = procedure("maybe");
        // A server that closes it itself does not reply within the client's deadline.
        let reply = |claim: u8| {
            let (sent, kept) = lingering();
            let mut call = client.claim_of_class(class, maybe).unwrap();
            call.put_u8::<0>(claim);
            call.expect_descriptors();
            call.put_descriptors([("given", DescriptorKind::Any, sent.as_fd())]).unwrap();
            // The server has the last copy.
            drop(sent);
            (call.post(1).map(|reply| reply.get_u8::<0>()), kept)
        };
        let (said, _kept) = reply(0);
        assert_eq!(said.unwrap(), 0);
        let (said, _kept) = reply(2);
        refused(said);
    });
}

#[test]
fn a_server_waits_for_the_close_of_nothing_beside_a_wrong_kind() {
    each_world(SERVER, |world| {
        let (_server, client) = raw(world);
        let (swap, class) = procedure("swap");
        let (sent, _kept) = lingering();
        let (pipe, _other) = rustix::pipe::pipe().unwrap();
        let mut call = client.claim_of_class(class, swap).unwrap();
        call.expect_descriptors();
        let any = DescriptorKind::Any;
        call.put_descriptors([("first", any, sent.as_fd()), ("second", any, pipe.as_fd())])
            .unwrap();
        drop(sent);
        refused(call.post(0));
    });
}

/// A server that replies as it likes.
struct Liar<F>(F);

impl<F: Fn(Arguments<'_>) -> Outcome + Send + Sync + 'static> Entries for Liar<F> {
    fn interface(&self) -> &'static InterfaceDescriptor {
        &PASSING
    }

    fn enter(&self, _procedure: usize, arguments: Arguments<'_>) -> Outcome {
        (self.0)(arguments)
    }
}

/// The same in this process.
struct Hosted {
    clerk: Clerk,
    domain: Domain,
    directory: tempfile::TempDir,
}

impl Hosted {
    fn new(reply: impl Fn(Arguments<'_>) -> Outcome + Send + Sync + 'static) -> Hosted {
        Hosted::of(&DomainOptions::default(), reply).unwrap()
    }

    fn of(
        options: &DomainOptions,
        reply: impl Fn(Arguments<'_>) -> Outcome + Send + Sync + 'static,
    ) -> Result<Hosted, ExportError> {
        let directory = tempfile::tempdir().unwrap();
        let domain = Domain::with_options(options.clone()).unwrap();
        let mut options = ExportOptions::default();
        options.scope = Some(Scope::Directory(directory.path().to_owned()));
        let clerk = Clerk::export_with(&domain, "liar", Liar(reply), options)?;
        Ok(Hosted { clerk, domain, directory })
    }

    fn import(&self) -> Binding {
        let options = testkit::server::import_options(self.directory.path());
        Binding::import_twin(&self.domain, &self.clerk, &PASSING, options).unwrap()
    }
}

/// What a client is told by a server that replies so. It waits for no close: what does, ends with
/// the test.
fn told<T: Send + 'static>(
    reply: impl Fn(Arguments<'_>) -> Outcome + Send + Sync + 'static,
    call: impl FnOnce(PassingClient) -> T + Send + 'static,
) -> T {
    let (told, hears) = mpsc::channel();
    thread::spawn(move || {
        let hosted = Hosted::new(reply);
        let said = call(PassingClient::new(hosted.import()));
        // Whoever hears it no more has failed for it.
        let _ = told.send(said);
    });
    hears.recv_timeout(ANSWERED).expect("the client is told, and waits for no close")
}

/// What `maybe` says of a server that replies to it with one more that nobody else holds, and says
/// of it what it likes.
fn maybe(
    claim: u8,
    given: impl Fn() -> OwnedFd + Send + Sync + 'static,
) -> Result<Option<OwnedFd>, CallError> {
    let reply = move |arguments: Arguments<'_>| {
        let mut results = arguments.results();
        results.put_u8::<0>(claim);
        results.put_descriptors([(DescriptorKind::Any, given().as_fd())])?;
        results.reply(1)
    };
    told(reply, |client| client.maybe(None))
}

fn pipe() -> OwnedFd {
    rustix::pipe::pipe().unwrap().0
}

#[test]
fn a_client_judges_what_says_that_one_is_there() {
    assert!(maybe(0, pipe).unwrap().is_none());
    let said = maybe(1, pipe).unwrap_err().to_string();
    assert!(said.contains("mode 10600"), "{said}");
    let said = maybe(2, pipe).unwrap_err();
    assert!(matches!(said, CallError::Peer { .. }), "{said}");
}

/// The other ends of sockets that linger, as long as a test has them.
#[derive(Clone, Default)]
struct Lingering(Arc<Mutex<Vec<TcpStream>>>);

impl Lingering {
    fn made(&self) -> OwnedFd {
        let (sent, kept) = lingering();
        self.0.lock().unwrap().push(kept);
        sent
    }
}

#[test]
fn a_client_waits_for_the_close_of_nothing_that_it_refuses_or_leaves() {
    let lingering = Lingering::default();
    let given = |lingering: Lingering| move || lingering.made();
    assert!(maybe(0, given(lingering.clone())).unwrap().is_none());
    let said = maybe(2, given(lingering.clone())).unwrap_err();
    assert!(matches!(said, CallError::Peer { .. }), "{said}");
    assert_eq!(lingering.0.lock().unwrap().len(), 2);
}

#[test]
fn a_client_waits_for_the_close_of_nothing_beside_a_wrong_kind() {
    let lingering = Lingering::default();
    let makes = lingering.clone();
    let reply = move |arguments: Arguments<'_>| {
        let mut results = arguments.results();
        let (pipe, lingers) = (pipe(), makes.made());
        let any = DescriptorKind::Any;
        results.put_descriptors([(any, pipe.as_fd()), (any, lingers.as_fd())])?;
        results.reply(0)
    };
    let said = told(reply, |client| {
        let (one, other) = Stream::pair().unwrap();
        client.swap(one.as_fd(), other.as_fd()).map(|_| ())
    });
    let said = said.unwrap_err().to_string();
    assert!(said.contains("mode 10600"), "{said}");
    assert_eq!(lingering.0.lock().unwrap().len(), 1);
}

/// Replies to `maybe` with nothing, and notes which file came for nothing.
fn noting(seen: &Mutex<Vec<u64>>, arguments: Arguments<'_>) -> Outcome {
    let [came] = arguments.descriptors([DescriptorKind::Any])?;
    seen.lock().unwrap().push(own_inode(came));
    let mut results = arguments.results();
    results.put_u8::<0>(0);
    results.put_each_descriptor(&[(DescriptorKind::Any, None)])?;
    results.reply(1)
}

/// Which file `maybe` sends back for nothing, given nothing.
fn sent_for_nothing(binding: &Binding) -> Result<u64, Box<CallError>> {
    let (maybe, class) = procedure("maybe");
    let client = Client::new(binding.clone(), &PASSING);
    let mut call = client.claim_of_class(class, maybe).unwrap();
    call.put_u8::<0>(0);
    call.expect_descriptors();
    call.put_each_descriptor(&[("given", DescriptorKind::Any, None)]).unwrap();
    let [came] = call.post(1)?.descriptors([DescriptorKind::Any])?;
    Ok(own_inode(came))
}

/// Whether this process has the memory file open.
fn is_open(inode: u64) -> bool {
    let descriptors = std::fs::read_dir("/proc/self/fd").unwrap();
    let memory_file = |link: &PathBuf| {
        let target = std::fs::read_link(link).unwrap_or_default();
        target.as_os_str().as_encoded_bytes().starts_with(b"/memfd:nearcall-absent")
    };
    let links = descriptors.map(|one| one.unwrap().path()).filter(memory_file);
    // What another test has closed meanwhile is none of ours.
    let mut inodes = links.filter_map(|link| Some(std::fs::metadata(link).ok()?.ino()));
    inodes.any(|one| one == inode)
}

#[test]
fn what_stands_for_one_that_is_absent_is_its_bindings_and_sides_own_and_closed_with_it() {
    let seen = Arc::new(Mutex::default());
    let notes = Arc::clone(&seen);
    let hosted = Hosted::new(move |arguments: Arguments<'_>| noting(&notes, arguments));
    let (one, other) = (hosted.import(), hosted.import());
    let back = [&one, &one, &other, &other].map(|binding| sent_for_nothing(binding).unwrap());
    let seen = std::mem::take(&mut *seen.lock().unwrap());
    for side in [&seen[..], &back] {
        assert_eq!(side[0], side[1]);
        assert_eq!(side[2], side[3]);
    }
    let of_one = [seen[0], back[0]];
    let of_other = [seen[2], back[2]];
    let all: HashSet<_> = of_one.into_iter().chain(of_other).collect();
    assert_eq!(all.len(), 4, "{seen:?} {back:?}");
    assert!(all.iter().copied().all(is_open));
    drop(one);
    // The server learns of it in its own time.
    let begin = Instant::now();
    while of_one.into_iter().any(is_open) {
        assert!(begin.elapsed() < ANSWERED, "what stood for absent ones is still open");
        thread::yield_now();
    }
    assert!(of_other.into_iter().all(is_open));
}

/// Marks a count with which the result is to be absent.
const IS_ABSENT: u8 = 1 << 7;

/// Replies to `maybe` that came with as many as it says, with one or with nothing.
fn counting(arguments: Arguments<'_>) -> Outcome {
    let said = arguments.get_u8::<0>();
    let any = DescriptorKind::Any;
    let (came, _) = arguments.each_descriptor(&vec![any; (said & !IS_ABSENT).into()], &[])?;
    let given = (said & IS_ABSENT == 0).then(|| came[0].as_fd());
    let mut results = arguments.results();
    results.put_u8::<0>(given.is_some().into());
    results.put_each_descriptor(&[(any, given)])?;
    results.reply(1)
}

/// With how many at most the server takes a call: as many as its client's user may have open more.
/// All are one memory file, whose close waits for nobody.
fn free(binding: &Binding) -> u8 {
    (1..=8).take_while(|count| is_taken(binding, *count)).count() as u8
}

fn is_taken(binding: &Binding, said: u8) -> bool {
    let (maybe, class) = procedure("maybe");
    let client = Client::new(binding.clone(), &PASSING);
    let mut call = client.claim_of_class(class, maybe).unwrap();
    call.put_u8::<0>(said);
    call.expect_descriptors();
    let all = vec![("given", DescriptorKind::Any, None); (said & !IS_ABSENT).into()];
    call.put_each_descriptor(&all).unwrap();
    match call.post(1) {
        Ok(reply) => reply.descriptors([DescriptorKind::Any]).is_ok(),
        said => {
            refused(said);
            false
        }
    }
}

#[test]
fn what_stands_for_an_absent_result_is_charged_to_the_clients_user() {
    // As few as a user's first bind takes.
    let hosted = (1..100).find_map(|descriptors| {
        let mut options = DomainOptions::default();
        options.open_descriptors_max = Some(descriptors);
        Hosted::of(&options, counting).ok()
    });
    let hosted = hosted.expect("a bind takes fewer");
    let binding = hosted.import();
    let before = free(&binding);
    assert!((1..8).contains(&before), "{before} are free");
    assert!(is_taken(&binding, 1 | IS_ABSENT));
    assert_eq!(free(&binding), before - 1);
    assert!(!is_taken(&binding, before));
}
