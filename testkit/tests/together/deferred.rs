//! Calls that are set aside: whoever holds one reads its arguments and replies, on any thread
//! (design note 0022).

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::task::{Context, Wake, Waker};
use std::time::Duration;

use nearcall::name::Scope;
use nearcall::raw::{Arguments, Deferred, Entries, Outcome};
use nearcall::{
    Binding, CallError, Clerk, CurrentCall, Domain, Error, ExportOptions, InterfaceDescriptor,
};
use testkit::faults::faults::{
    FAULTS, FaultsClient, FaultsEntries, FaultsRefuseException, Point, Shape,
};
use testkit::server::{Tester, entries, import_options, planned_panic};

/// Longer than anything takes.
const LONG: Duration = Duration::from_secs(600);

/// Where in the arguments of `echo` the bytes begin; no other call of these tests is out of line.
const DATA_AT: usize = 8;

/// A call, and its procedure.
type Set = (usize, Deferred);

/// Sets every call aside.
struct Aside {
    interface: &'static InterfaceDescriptor,
    calls: Sender<Set>,
}

impl Entries for Aside {
    fn interface(&self) -> &'static InterfaceDescriptor {
        self.interface
    }

    fn enter(&self, procedure: usize, arguments: Arguments<'_>) -> Outcome {
        let is_echo = self.interface.procedures[procedure].name == "echo";
        let variable_at = is_echo.then_some(DATA_AT);
        arguments.defer(variable_at, |call| self.calls.send((procedure, call)).unwrap())
    }

    fn is_awaited(&self) -> bool {
        true
    }
}

/// A server of whose calls somebody else decides.
struct Scene {
    directory: tempfile::TempDir,
    clerk: Clerk,
    client: Domain,
    /// What does them in the end.
    entries: FaultsEntries<Tester>,
    calls: Receiver<Set>,
}

impl Scene {
    fn new() -> Scene {
        let directory = tempfile::tempdir().unwrap();
        let domain = Domain::new().unwrap();
        let mut options = ExportOptions::default();
        options.scope = Some(Scope::Directory(directory.path().to_owned()));
        let entries = entries(&domain, directory.path());
        let (sender, calls) = channel();
        let aside = Aside { interface: entries.interface(), calls: sender };
        let clerk = Clerk::export_with(&domain, "aside", aside, options).unwrap();
        Scene { directory, clerk, client: Domain::new().unwrap(), entries, calls }
    }

    /// A client over sealed segments, and one over a twin of them on the heap.
    fn clients(&self) -> [FaultsClient; 2] {
        let options = || import_options(self.directory.path());
        let bound = Binding::import_with(&self.client, "aside", &FAULTS, options()).unwrap();
        let twin = Binding::import_twin(&self.client, &self.clerk, &FAULTS, options()).unwrap();
        [bound, twin].map(FaultsClient::new)
    }

    fn next(&self) -> Set {
        self.calls.recv_timeout(LONG).unwrap()
    }

    /// Does the next call here, on this thread.
    fn serve(&self) {
        let (procedure, call) = self.next();
        call.reply(|arguments| self.entries.enter(procedure, arguments));
    }
}

/// What `call` evaluates to, of which this thread does so many calls.
fn served<T: Send>(scene: &Scene, count: usize, call: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| {
        let called = scope.spawn(call);
        (0..count).for_each(|_| scene.serve());
        called.join().unwrap()
    })
}

#[test]
fn another_thread_reads_the_arguments_and_replies() {
    let scene = Scene::new();
    for client in &scene.clients() {
        for number in 0..100 {
            assert_eq!(served(&scene, 1, || client.add(number, 1)).unwrap(), number + 1);
        }
        assert_eq!(served(&scene, 1, || client.greet("you")).unwrap(), "hello, you");
        for bytes in [0, 5, 300, 70_000, 5 << 20] {
            let data: Vec<u8> = (0..bytes).map(|at| (at % 251) as u8).collect();
            assert!(served(&scene, 1, || client.echo(&data)).unwrap() == data, "{bytes} bytes");
        }
        let shape = Shape { name: String::from("a"), points: vec![Point { x: 1, y: 0.5 }] };
        let mirrored = served(&scene, 1, || client.mirror(&[shape])).unwrap();
        assert_eq!(mirrored[0].points[0].x, -1);
        let raised = served(&scene, 1, || client.refuse(3)).unwrap_err();
        let Error::Exception(FaultsRefuseException::Refused(refused)) = raised else {
            panic!("{raised}");
        };
        assert_eq!(refused.code, 3);
    }
}

#[test]
fn one_that_is_dropped_has_panicked() {
    let scene = Scene::new();
    for client in &scene.clients() {
        std::thread::scope(|scope| {
            let called = scope.spawn(|| client.add(1, 2));
            drop(scene.next());
            assert!(matches!(called.join().unwrap(), Err(CallError::Panicked { .. })));
        });
        let panicked = served(&scene, 1, || client.panic("on purpose"));
        assert!(matches!(panicked, Err(CallError::Panicked { .. })));
        assert_eq!(served(&scene, 1, || client.add(1, 2)).unwrap(), 3);
    }
}

#[test]
fn calls_that_wait_keep_no_processor() {
    let scene = Scene::new();
    for client in &scene.clients() {
        // All that one binding has, and as many processors could not be kept.
        let posted: Vec<_> =
            (0..5).map(|number| client.posting().add(number, 1).unwrap()).collect();
        let held: Vec<_> = (0..5).map(|_| scene.next()).collect();
        assert_eq!(served(&scene, 1, || client.greet("you")).unwrap(), "hello, you");
        for (procedure, call) in held.into_iter().rev() {
            call.reply(|arguments| scene.entries.enter(procedure, arguments));
        }
        for (number, posted) in (0..).zip(posted) {
            assert_eq!(posted.collect().unwrap(), number + 1);
        }
    }
}

#[test]
fn it_is_told_that_its_client_gives_up() {
    let scene = Scene::new();
    for client in &scene.clients() {
        let posted = client.posting().add(1, 2).unwrap();
        let (procedure, call) = scene.next();
        assert!(!call.current().is_cancelled());
        posted.cancel();
        assert!(call.current().is_cancelled());
        assert_eq!(client.binding().captured_count(), 1);
        call.reply(|arguments| scene.entries.enter(procedure, arguments));
        assert_eq!(client.binding().captured_count(), 0);
    }
}

#[test]
fn a_reply_to_a_client_that_has_gone_is_nobodys() {
    let scene = Scene::new();
    for client in scene.clients() {
        let posted = client.posting().add(1, 2).unwrap();
        let (procedure, call) = scene.next();
        drop(posted);
        drop(client);
        while !call.current().is_client_gone() {
            std::thread::yield_now();
        }
        call.reply(|arguments| scene.entries.enter(procedure, arguments));
    }
}

#[test]
fn calls_that_are_made_within_have_its_time() {
    let [outer, inner] = [Scene::new(), Scene::new()];
    let asked = |current: Option<&CurrentCall>| {
        let [client, _] = inner.clients();
        std::thread::scope(|scope| {
            let asked = scope.spawn(|| match current {
                Some(current) => current.within(|| client.add(1, 2)),
                None => client.add(1, 2),
            });
            let (procedure, call) = inner.next();
            let left = call.current().time_left();
            call.reply(|arguments| inner.entries.enter(procedure, arguments));
            assert_eq!(asked.join().unwrap().unwrap(), 3);
            left
        })
    };
    for client in outer.clients() {
        let posted = client.with_deadline(LONG);
        let posted = posted.posting().add(1, 2).unwrap();
        let (procedure, call) = outer.next();
        assert_eq!(asked(None), None);
        let left = asked(Some(call.current())).expect("there is a deadline");
        assert!(left < LONG && !left.is_zero(), "{left:?}");
        call.reply(|arguments| outer.entries.enter(procedure, arguments));
        assert_eq!(posted.collect().unwrap(), 3);
    }
}

/// Counts its wakes, and panics.
struct Broken(AtomicU32);

impl Wake for Broken {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, SeqCst);
        planned_panic("on purpose");
    }
}

#[test]
fn an_executor_that_panics_harms_nobody_else() {
    let scene = Scene::new();
    for client in &scene.clients() {
        let posted = client.posting().add(1, 2).unwrap();
        let (procedure, call) = scene.next();
        let broken = Arc::new(Broken(AtomicU32::new(0)));
        let (waker, counted) = (Waker::from(Arc::clone(&broken)), Arc::new(Counted::default()));
        let own = Waker::from(Arc::clone(&counted));
        let mut both = [call.current().cancelled(), call.current().cancelled()];
        for (cancelled, waker) in both.iter_mut().zip([&waker, &own]) {
            assert!(Pin::new(cancelled).poll(&mut Context::from_waker(waker)).is_pending());
        }
        posted.cancel();
        while broken.0.load(SeqCst) == 0 || counted.0.load(SeqCst) == 0 {
            std::thread::yield_now();
        }
        assert!(Pin::new(&mut both[0]).poll(&mut Context::from_waker(&own)).is_ready());
        call.reply(|arguments| scene.entries.enter(procedure, arguments));
        // Housekeeping lives.
        let [another, _] = scene.clients();
        assert_eq!(served(&scene, 1, || another.add(1, 2)).unwrap(), 3);
    }
}

/// Counts its wakes.
#[derive(Default)]
struct Counted(AtomicU32);

impl Wake for Counted {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, SeqCst);
    }
}
