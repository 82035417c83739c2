//! Whose calls a server serves first when it finds those of several clients at once (design note
//! 0024). One processor serves, on the one that the client has too, and is held until all are
//! posted. What counts is the order, in the best of some rounds: a call that another process
//! interrupts has taken long, and a round with one says nothing if it goes another way.

use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use nearcall::name::Scope;
use nearcall::{
    Binding, Clerk, Domain, DomainOptions, ExportOptions, ImportOptions, Limits, Policy, Priority,
    Rule, Rules, Verdict, Who,
};
use nearcall_os::processor;
use testkit::turns::turns::{TURNS, TurnsClient, TurnsEntries, TurnsServer};

/// Calls of each client: as many as it has A-stacks, and one is held.
const CALLS: usize = 16;

/// A call that was served.
#[derive(Clone, Copy)]
struct Turn {
    caller: u32,
    wanted: Duration,
    begin: Instant,
    end: Instant,
}

/// More than what is wanted of a call, or of what is between two, takes that nobody interrupts.
const UNINTERRUPTED: Duration = Duration::from_micros(50);

/// Serves `Turns`.
struct Server {
    log: Arc<Mutex<Vec<Turn>>>,
    is_held: Sender<()>,
    /// Closed if the test has failed.
    let_go: Arc<Mutex<Receiver<()>>>,
}

impl TurnsServer for Server {
    fn hold(&self) {
        let _ = self.is_held.send(());
        let _ = self.let_go.lock().unwrap().recv();
    }

    fn take(&self, caller: u32, microseconds: u32) {
        let (begin, wanted) = (Instant::now(), Duration::from_micros(microseconds.into()));
        while begin.elapsed() < wanted {
            std::hint::spin_loop();
        }
        let end = Instant::now();
        self.log.lock().unwrap().push(Turn { caller, wanted, begin, end });
    }
}

/// A server with one processor, and what its procedures have written down.
struct Served {
    // First, so that it is dropped first.
    let_go: Sender<()>,
    is_held: Receiver<()>,
    new_server: Box<dyn Fn() -> Server>,
    directory: tempfile::TempDir,
    domain: Domain,
    client: Domain,
    log: Arc<Mutex<Vec<Turn>>>,
    clerks: Vec<Clerk>,
}

impl Served {
    fn new() -> Served {
        // Threads inherit it: there is no resident (design note 0003) that serves beside.
        processor::pin(processor::current()).unwrap();
        let mut options = DomainOptions::default();
        options.processors_max = 1;
        let (is_held_sender, is_held) = channel();
        let (let_go, let_go_receiver) = channel();
        let log: Arc<Mutex<Vec<Turn>>> = Arc::default();
        let let_go_receiver = Arc::new(Mutex::new(let_go_receiver));
        let servers_log = Arc::clone(&log);
        let new_server = move || Server {
            log: Arc::clone(&servers_log),
            is_held: is_held_sender.clone(),
            let_go: Arc::clone(&let_go_receiver),
        };
        Served {
            let_go,
            is_held,
            new_server: Box::new(new_server),
            directory: tempfile::tempdir().unwrap(),
            domain: Domain::with_options(options).unwrap(),
            client: Domain::new().unwrap(),
            log,
            clerks: Vec::new(),
        }
    }

    /// A client of a name whose policy gives it this priority.
    fn client(&mut self, priority: Priority) -> TurnsClient {
        let name = format!("turns-{}", self.clerks.len());
        let (id, who) = (String::from("all"), Who::default());
        let (verdict, limits) = (Verdict::Admit, Limits::default());
        let rule = Rule { id, who, verdict, priority, limits, trust_class: None };
        let mut options = ExportOptions::default();
        options.scope = Some(scope(self.directory.path()));
        options.policy = Policy::Rules(Rules { rules: vec![rule] });
        let entries = TurnsEntries::new((self.new_server)());
        self.clerks.push(Clerk::export_with(&self.domain, &name, entries, options).unwrap());
        let mut options = ImportOptions::default();
        options.scopes = Some(vec![scope(self.directory.path())]);
        let binding = Binding::import_with(&self.client, &name, &TURNS, options).unwrap();
        TurnsClient::new(binding)
    }

    /// Posts all calls of all clients while the processor is held, each with its time, and lets it
    /// go. Who was served, in order.
    fn serve(&self, clients: &[(&TurnsClient, u32)]) -> Round {
        self.log.lock().unwrap().clear();
        let held = clients[0].0.posting().hold().unwrap();
        self.is_held.recv().unwrap();
        let mut pending = Vec::new();
        for (caller, (client, microseconds)) in (0..).zip(clients) {
            let posting = client.posting();
            pending.extend((0..CALLS).map(|_| posting.take(caller, *microseconds).unwrap()));
        }
        self.let_go.send(()).unwrap();
        // Who waits for a reply would have to be woken in between.
        while self.log.lock().unwrap().len() < clients.len() * CALLS {
            std::thread::sleep(Duration::from_millis(1));
        }
        held.collect().unwrap();
        for call in pending {
            call.collect().unwrap();
        }
        let turns = self.log.lock().unwrap();
        let is_long = |turn: &Turn| turn.end - turn.begin > 2 * turn.wanted + UNINTERRUPTED;
        let is_late = |next: &[Turn]| next[1].begin - next[0].end > UNINTERRUPTED;
        let is_interrupted = turns.iter().any(is_long) || turns.windows(2).any(is_late);
        Round { callers: turns.iter().map(|turn| turn.caller).collect(), is_interrupted }
    }
}

/// Who was served, in order, and whether by a processor that something else ran on meanwhile.
struct Round {
    callers: Vec<u32>,
    is_interrupted: bool,
}

fn scope(directory: &Path) -> Scope {
    Scope::Directory(directory.to_owned())
}

/// How many calls of `others` were served before the last one of `caller`.
fn before_last(log: &[u32], caller: u32, others: u32) -> usize {
    assert_eq!(log.iter().filter(|served| **served == caller).count(), CALLS, "{log:?}");
    let last = log.iter().rposition(|served| *served == caller).expect("it was served");
    log[..last].iter().filter(|served| **served == others).count()
}

/// Rounds of which the best counts, and those at most that something may interrupt beside them.
const ROUNDS: usize = 4;
const ROUNDS_MAX: usize = 200;

/// Plays rounds until one goes as wanted.
#[track_caller]
fn check(play: impl Fn() -> Round, is_wanted: impl Fn(&[u32]) -> bool) {
    let (mut logs, mut uninterrupted) = (Vec::new(), 0);
    while uninterrupted < ROUNDS && logs.len() < ROUNDS_MAX {
        let round = play();
        if is_wanted(&round.callers) {
            return;
        }
        uninterrupted += usize::from(!round.is_interrupted);
        logs.push(round.callers);
    }
    panic!("{} rounds went another way, {uninterrupted} uninterrupted: {logs:?}", logs.len());
}

#[track_caller]
fn check_at_most(play: impl Fn() -> Round, caller: u32, others: u32, most: usize) {
    check(play, |log| before_last(log, caller, others) <= most);
}

#[test]
fn short_calls_wait_for_few_long_ones() {
    let mut served = Served::new();
    let (long, short) = (served.client(Priority::Normal), served.client(Priority::Normal));
    // In the first round both ring, later they are polled.
    check_at_most(|| served.serve(&[(&long, 300), (&short, 0)]), 1, 0, 2);
    check_at_most(|| served.serve(&[(&short, 0), (&long, 300)]), 0, 1, 2);
}

#[test]
fn calls_that_are_as_long_take_turns() {
    let mut served = Served::new();
    let clients = [served.client(Priority::Normal), served.client(Priority::Normal)];
    // Later one of them may be alone.
    let most = CALLS / 2 + 2;
    let is_wanted = |log: &[u32]| {
        let of_first = log[..CALLS].iter().filter(|served| **served == 0).count();
        (CALLS - most..=most).contains(&of_first)
    };
    check(|| served.serve(&[(&clients[0], 100), (&clients[1], 100)]), is_wanted);
}

#[test]
fn the_more_urgent_go_first_and_the_others_are_not_forgotten() {
    let mut served = Served::new();
    let background = served.client(Priority::Background);
    let normal = served.client(Priority::Normal);
    let urgent = served.client(Priority::Urgent);
    let play = || served.serve(&[(&background, 20), (&normal, 20), (&urgent, 20)]);
    // One pass in 16 is for all, and each may have had the call that rang.
    check_at_most(play, 2, 1, 3);
    check_at_most(play, 1, 0, 4);
    check_at_most(play, 2, 0, 3);
}
