//! Procedures that are awaited in surroundings: a runtime that their timers and tasks want, and
//! others that do what they should not (design note 0022).

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst};
use std::task::Poll;
use std::time::Duration;

use nearcall::name::Scope;
use nearcall::{
    Binding, CallError, Clerk, Domain, ExportOptions, ImportOptions, Outlet, Surroundings,
};
use testkit::surrounded::surrounded::{
    SURROUNDED, SurroundedAsyncEntries, SurroundedAsyncServer, SurroundedClient,
};

thread_local! {
    static IS_INSIDE: Cell<bool> = const { Cell::new(false) };
}

/// What becomes of calls of `forever`.
#[derive(Default)]
struct Seen {
    polled: AtomicU32,
    polled_inside: AtomicU32,
    dropped_inside: AtomicU32,
    dropped: AtomicU32,
    /// Whether the drop panics.
    is_bad: AtomicBool,
}

struct Server(Arc<Seen>);

struct Guard(Arc<Seen>);

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.dropped_inside.fetch_add(IS_INSIDE.get().into(), SeqCst);
        self.0.dropped.fetch_add(1, SeqCst);
        assert!(!self.0.is_bad.load(SeqCst), "on purpose");
    }
}

impl SurroundedAsyncServer for Server {
    async fn naps(&self, milliseconds: u32) -> u32 {
        tokio::time::sleep(Duration::from_millis(milliseconds.into())).await;
        milliseconds
    }

    async fn spawned(&self, number: u32) -> u32 {
        let task = tokio::spawn(async move {
            tokio::task::yield_now().await;
            number + 1
        });
        task.await.expect("the task has not panicked")
    }

    async fn counts(&self, count: u32, mut outlet: Outlet<u32>) {
        tokio::spawn(async move {
            for number in 0..count {
                tokio::time::sleep(Duration::from_micros(100)).await;
                outlet.ready().await;
                if outlet.put(number).is_err() {
                    return;
                }
            }
            outlet.end();
        });
    }

    async fn forever(&self) {
        let _guard = Guard(Arc::clone(&self.0));
        std::future::poll_fn::<(), _>(|_| {
            self.0.polled_inside.fetch_add(IS_INSIDE.get().into(), SeqCst);
            self.0.polled.fetch_add(1, SeqCst);
            Poll::Pending
        })
        .await
    }
}

/// A server, for as long as its domain and clerk are there.
struct Scene {
    directory: tempfile::TempDir,
    _clerk: Clerk,
    _domain: Domain,
    seen: Arc<Seen>,
}

impl Scene {
    fn new(surroundings: Surroundings) -> Scene {
        let directory = tempfile::tempdir().unwrap();
        let domain = Domain::new().unwrap();
        let seen = Arc::new(Seen::default());
        let mut options = ExportOptions::default();
        options.scope = Some(Scope::Directory(directory.path().to_owned()));
        options.surroundings = surroundings;
        let entries = SurroundedAsyncEntries::new(Server(Arc::clone(&seen)));
        let clerk = Clerk::export_with(&domain, "surrounded", entries, options).unwrap();
        Scene { directory, _clerk: clerk, _domain: domain, seen }
    }

    fn client(&self) -> SurroundedClient {
        let mut options = ImportOptions::default();
        options.scopes = Some(vec![Scope::Directory(self.directory.path().to_owned())]);
        let domain = Domain::new().unwrap();
        let binding = Binding::import_with(&domain, "surrounded", &SURROUNDED, options).unwrap();
        SurroundedClient::new(binding)
    }
}

fn runtime() -> tokio::runtime::Runtime {
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    builder.worker_threads(1).enable_time().build().unwrap()
}

/// Begins a call of `forever`, and ends its client while it waits.
fn left_waiting(scene: &Scene) {
    let (client, begun) = (scene.client(), scene.seen.polled.load(SeqCst));
    let pending = client.posting().forever().unwrap();
    wait_until(|| scene.seen.polled.load(SeqCst) > begun);
    drop(pending);
}

fn wait_until(holds: impl Fn() -> bool) {
    while !holds() {
        std::thread::yield_now();
    }
}

fn inside(poll: &mut dyn FnMut()) {
    IS_INSIDE.set(true);
    poll();
    IS_INSIDE.set(false);
}

fn is_panicked(called: Result<u32, CallError>) -> bool {
    matches!(called, Err(CallError::Panicked { .. }))
}

#[test]
fn a_runtime_around_procedures_has_their_timers_tasks_and_feeds() {
    let runtime = runtime();
    let handle = runtime.handle().clone();
    let scene = Scene::new(Surroundings::new(move |poll| {
        let _entered = handle.enter();
        poll();
    }));
    let client = scene.client();
    for round in 0..20 {
        assert_eq!(client.naps(round % 3).unwrap(), round % 3);
        assert_eq!(client.spawned(round).unwrap(), round + 1);
    }
    let counted: Result<Vec<u32>, _> = client.counts(50).unwrap().collect();
    assert_eq!(counted.unwrap(), (0..50).collect::<Vec<_>>());
}

#[test]
fn without_one_timers_and_tasks_panic() {
    let scene = Scene::new(Surroundings::default());
    let client = scene.client();
    assert!(is_panicked(client.naps(1)));
    assert!(is_panicked(client.spawned(1)));
}

#[test]
fn what_is_not_finished_is_dropped_in_its_surroundings() {
    let scene = Scene::new(Surroundings::new(inside));
    left_waiting(&scene);
    wait_until(|| scene.seen.dropped.load(SeqCst) == 1);
    assert_eq!(scene.seen.polled_inside.load(SeqCst), 1);
    assert_eq!(scene.seen.dropped_inside.load(SeqCst), 1);
}

#[test]
fn what_surroundings_do_not_drop_is_dropped_and_may_panic() {
    let polls = AtomicU32::new(0);
    // The polls of two calls, but no drop.
    let scene = Scene::new(Surroundings::new(move |poll| match polls.fetch_add(1, SeqCst) {
        0 | 2 => poll(),
        _ => {}
    }));
    scene.seen.is_bad.store(true, SeqCst);
    for dropped in 1..=2 {
        left_waiting(&scene);
        wait_until(|| scene.seen.dropped.load(SeqCst) == dropped);
    }
}

#[test]
fn surroundings_that_do_not_poll_are_a_panic_of_the_procedure() {
    let scene = Scene::new(Surroundings::new(|_| {}));
    let client = scene.client();
    for _ in 0..3 {
        assert!(is_panicked(client.spawned(1)));
    }
}

#[test]
fn surroundings_that_panic_behind_the_poll_drop_what_waits() {
    let scene = Scene::new(Surroundings::new(|poll| {
        poll();
        panic!("on purpose");
    }));
    let client = scene.client();
    for round in 1..=3 {
        assert!(is_panicked(client.forever().map(|()| 0)));
        assert_eq!(scene.seen.dropped.load(SeqCst), round);
    }
}

#[test]
fn surroundings_that_panic_at_a_later_poll_end_the_call_that_was_woken() {
    let (runtime, polls) = (runtime(), AtomicU32::new(0));
    let handle = runtime.handle().clone();
    let scene = Scene::new(Surroundings::new(move |poll| {
        let _entered = handle.enter();
        poll();
        assert_ne!(polls.fetch_add(1, SeqCst), 1, "on purpose");
    }));
    let client = scene.client();
    assert!(is_panicked(client.naps(20)));
    assert_eq!(client.naps(0).unwrap(), 0);
}

#[test]
fn a_poll_that_is_called_twice_polls_once() {
    let scene = Scene::new(Surroundings::new(|poll| {
        poll();
        poll();
    }));
    left_waiting(&scene);
    wait_until(|| scene.seen.dropped.load(SeqCst) == 1);
    assert_eq!(scene.seen.polled.load(SeqCst), 1);
}
