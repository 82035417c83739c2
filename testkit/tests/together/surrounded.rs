//! Procedures that are awaited in surroundings: a runtime that their timers and tasks want, and
//! others that do what they should not (design note 0022).

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
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

/// Where each `forever` was begun, and dropped.
#[derive(Default)]
struct Seen {
    begun_inside: AtomicU32,
    dropped_inside: AtomicU32,
    dropped: AtomicU32,
}

struct Server(Arc<Seen>);

struct Guard(Arc<Seen>);

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.dropped_inside.fetch_add(IS_INSIDE.get().into(), SeqCst);
        self.0.dropped.fetch_add(1, SeqCst);
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
        });
    }

    async fn forever(&self) {
        let _guard = Guard(Arc::clone(&self.0));
        self.0.begun_inside.fetch_add(IS_INSIDE.get().into(), SeqCst);
        std::future::pending::<()>().await;
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
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_time().build();
    let runtime = runtime.unwrap();
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
fn without_one_a_timer_panics_and_others_are_served() {
    let scene = Scene::new(Surroundings::default());
    let client = scene.client();
    assert!(is_panicked(client.naps(1)));
    assert!(is_panicked(client.spawned(1)));
}

#[test]
fn what_is_not_finished_is_dropped_in_its_surroundings() {
    let scene = Scene::new(Surroundings::new(inside));
    let client = scene.client();
    let pending = client.posting().forever().unwrap();
    while scene.seen.begun_inside.load(SeqCst) == 0 {
        std::thread::yield_now();
    }
    drop(pending);
    drop(client);
    while scene.seen.dropped.load(SeqCst) == 0 {
        std::thread::yield_now();
    }
    assert_eq!(scene.seen.dropped_inside.load(SeqCst), 1);
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
fn a_poll_that_is_called_twice_polls_once() {
    let scene = Scene::new(Surroundings::new(|poll| {
        poll();
        poll();
    }));
    let client = scene.client();
    let pending = client.posting().forever().unwrap();
    drop(pending);
    assert!(is_panicked(client.naps(0)));
}
