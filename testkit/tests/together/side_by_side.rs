//! Procedures that take a while run side by side, on as many processors as there are (L38; design
//! note 0003).

use std::path::Path;
// Relaxed: counts that order nothing.
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicU32, AtomicU64};
use std::thread;
use std::time::{Duration, Instant};

use nearcall::name::Scope;
use nearcall::{Binding, Clerk, Domain, ExportOptions, ImportOptions};
use nearcall_os::processor;
use testkit::turns::turns::{TURNS, TurnsClient, TurnsEntries, TurnsServer};

/// Threads that call at once: more than two processors begin at once.
const CALLERS: u32 = 8;

/// Calls of each in one try.
const CALLS: u32 = 200;

/// Shortest time for which a procedure sleeps.
const SLEEP_MIN: Duration = Duration::from_micros(20);

/// What a short procedure computes for: one that the watcher has run itself at all times.
const SHORT_US: u32 = 5;

/// Calls that have to meet, and for how long that is tried. By chance, as a processor loses its
/// slice in a procedure, some 100 do.
const MET_MIN: u32 = 1_000;
const TRYING_TIME: Duration = Duration::from_secs(20);

/// Tries, of which one has to go well: a processor that another process has runs nothing.
const TRIES: u32 = 50;

/// What the procedures have seen.
#[derive(Default)]
struct Seen {
    inside: AtomicU32,
    /// Calls that began while another one ran.
    met_count: AtomicU32,
    /// How often each caller's calls have run.
    run_counts: [AtomicU64; CALLERS as usize],
}

struct Server(Arc<Seen>);

impl TurnsServer for Server {
    fn hold(&self) {}

    /// Waits for less time than makes a watcher count as stuck.
    fn take(&self, caller: u32, microseconds: u32) {
        let met = self.0.inside.fetch_add(1, Relaxed) > 0;
        self.0.met_count.fetch_add(met.into(), Relaxed);
        pass(Duration::from_micros(microseconds.into()));
        self.0.run_counts[caller as usize].fetch_add(1, Relaxed);
        self.0.inside.fetch_sub(1, Relaxed);
    }
}

/// Sleeps, or computes for as long where a sleep takes longer than that.
fn pass(time: Duration) {
    if time >= SLEEP_MIN {
        return thread::sleep(time);
    }
    let begin = Instant::now();
    while begin.elapsed() < time {
        std::hint::spin_loop();
    }
}

/// A server of its own domain, and clients in another.
struct Pair {
    seen: Arc<Seen>,
    clients: Vec<Arc<TurnsClient>>,
    _clerk: Clerk,
    _directory: tempfile::TempDir,
}

impl Pair {
    /// With a binding for each caller, or one for all.
    fn new(binding_count: u32) -> Pair {
        let directory = tempfile::tempdir().unwrap();
        let scope = |path: &Path| Scope::Directory(path.to_owned());
        let (server, client) = (Domain::new().unwrap(), Domain::new().unwrap());
        let seen: Arc<Seen> = Arc::default();
        let mut options = ExportOptions::default();
        options.scope = Some(scope(directory.path()));
        let entries = TurnsEntries::new(Server(Arc::clone(&seen)));
        let clerk = Clerk::export_with(&server, "turns", entries, options).unwrap();
        let import = || {
            let mut options = ImportOptions::default();
            options.scopes = Some(vec![scope(directory.path())]);
            let binding = Binding::import_with(&client, "turns", &TURNS, options).unwrap();
            Arc::new(TurnsClient::new(binding))
        };
        let clients = (0..binding_count).map(|_| import()).collect();
        Pair { seen, clients, _clerk: clerk, _directory: directory }
    }

    /// All callers call at once. Whether half of their calls have met another one.
    fn call(&self) -> bool {
        let before = self.seen.met_count.load(Relaxed);
        thread::scope(|threads| {
            for caller in 0..CALLERS {
                let client = &self.clients[caller as usize % self.clients.len()];
                threads.spawn(move || {
                    (0..CALLS).for_each(|_| client.take(caller, 20).unwrap());
                });
            }
        });
        self.seen.met_count.load(Relaxed) - before >= CALLERS * CALLS / 2
    }
}

fn check(binding_count: u32) {
    let pair = Pair::new(binding_count);
    let tried = (1..=TRIES).find(|_| pair.call());
    let is_alone = processor::count_allowed() == 1;
    assert!(is_alone || tried.is_some(), "calls ran one after the other");
    let tries = tried.unwrap_or(TRIES);
    let runs: Vec<u64> = pair.seen.run_counts.iter().map(|count| count.load(Relaxed)).collect();
    assert_eq!(runs, [u64::from(tries * CALLS); CALLERS as usize], "each runs once");
}

#[test]
fn calls_of_several_bindings_run_side_by_side() {
    check(CALLERS);
}

#[test]
fn calls_of_one_binding_run_side_by_side() {
    check(1);
}

/// Whether it serves more is tried again and again, so that some meet whoever else has the
/// processors.
#[test]
fn calls_that_a_thread_posts_are_tried_side_by_side_though_they_are_short() {
    let pair = Pair::new(1);
    let posting = pair.clients[0].posting();
    let (begin, is_alone) = (Instant::now(), processor::count_allowed() == 1);
    let met_count = || pair.seen.met_count.load(Relaxed);
    let mut batch_count = 0;
    // On one processor a few batches are enough to see that each call runs once.
    let is_enough = |batches: u64| met_count() >= MET_MIN || is_alone && batches >= 100;
    while !is_enough(batch_count) && begin.elapsed() < TRYING_TIME {
        let posted = [0, 1, 2, 3].map(|caller| posting.take(caller, SHORT_US).unwrap());
        posted.into_iter().for_each(|call| call.collect().unwrap());
        batch_count += 1;
    }
    let met_count = met_count();
    assert!(is_enough(batch_count), "{met_count} calls of {batch_count} batches met another one");
    let runs: Vec<u64> = pair.seen.run_counts.iter().map(|count| count.load(Relaxed)).collect();
    assert_eq!(runs[..4], [batch_count; 4], "each runs once");
}
