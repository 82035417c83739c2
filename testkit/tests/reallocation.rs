//! Who has which processor while an editor calls a window manager and a file-cache manager: URPC's
//! Fig. 1 (U11; design note 0023). Told by the processor numbers and times that calls carry.

use std::fmt;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use lacking::lacking;
use nearcall::{Binding, Domain, urgently};
use nearcall_os::{clock, processor};
use nearcall_threads::{Forked, fork, run, yield_now};
use testkit::confined;
use testkit::stays::stays::{STAYS, Stay, StaysClient};

/// Longest until the file-cache manager has a resident.
const PATIENCE: Duration = Duration::from_secs(20);

/// Rounds that are to go as wanted, and at most how many are played for that. More than half go so
/// while compilers run on the same processors; with a bug that tells the file-cache manager too
/// early, one of a hundred.
const ROUNDS: usize = 20;
const ROUNDS_MAX: usize = 10 * ROUNDS;

/// Between two rounds: who spins for less sleeps then.
const PAUSE: Duration = Duration::from_millis(2);

/// The window manager waits awake: it has a processor. The file-cache manager does not.
const AWAKE_NS: u32 = 2_000_000_000;
const ASLEEP_NS: u32 = 2_000;

/// The least that a call is put off for while others run on.
const PUT_OFF_NS: u64 = 50_000;

/// What a procedure of either takes.
const WORK_NS: u32 = 1_000;

/// A server in a process of its own. Ends it however the test ends.
struct Manager(Child);

impl Drop for Manager {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        let status = confined::wait(&mut self.0);
        assert!(std::thread::panicking() || status.success());
    }
}

impl Manager {
    fn start(directory: &Path, name: &str, spin_ns: u32, processors: &[u32]) -> Manager {
        let mut command = Command::new(env!("CARGO_BIN_EXE_testkit-stays"));
        command.arg(directory).arg(name).arg(spin_ns.to_string());
        command.args(processors.iter().map(u32::to_string));
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert_eq!(line, "exported\n");
        assert!(confined::is_confined(child.id()), "it has not confined itself");
        Manager(child)
    }
}

/// The three domains of Fig. 1, as the editor sees them.
struct Scene {
    /// The editor's processor.
    own: u32,
    /// The window manager's.
    other: u32,
    windows: Arc<StaysClient>,
    files: Arc<StaysClient>,
    import: Arc<Import>,
}

/// Binds to a manager.
type Import = dyn Fn(&str) -> Arc<StaysClient> + Send + Sync;

/// Runs the test on two processors, the first of which is the editor's, with a file-cache manager
/// that is served by its resident there when it sleeps.
fn in_scene(test: impl Fn(&Scene) + Send + 'static) {
    let [own, other, ..] = processor::allowed()[..] else {
        return lacking("a second processor");
    };
    // The processors of this thread are its own.
    let thread = std::thread::spawn(move || {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path();
        let _windows = Manager::start(path, "windows", AWAKE_NS, &[other]);
        let _files = Manager::start(path, "files", ASLEEP_NS, &[own, other]);
        let domain = Domain::new().unwrap();
        processor::pin(own).unwrap();
        let place = path.to_owned();
        let import = move |name: &str| {
            let options = testkit::server::import_options(&place);
            let binding = Binding::import_with(&domain, name, &STAYS, options).unwrap();
            Arc::new(StaysClient::new(binding))
        };
        let (windows, files) = (import("windows"), import("files"));
        let scene = Scene { own, other, windows, files, import: Arc::new(import) };
        scene.settle();
        test(&scene);
    });
    thread.join().unwrap();
}

impl Scene {
    /// Calls until the file-cache manager has a resident on the editor's processor.
    fn settle(&self) {
        let end = Instant::now() + PATIENCE;
        let mut here = 0;
        while here < 3 {
            assert!(Instant::now() < end, "no resident serves the editor's processor");
            std::thread::sleep(PAUSE);
            let is_here = self.files.work(WORK_NS).unwrap().processor == self.own;
            here = if is_here { here + 1 } else { 0 };
        }
    }

    /// Plays rounds until enough of them have gone as wanted; fails if that takes too many. Others
    /// use these processors, too, and rounds in which they do go another way.
    #[track_caller]
    fn check(&self, is_wanted: impl Fn(&Timeline) -> bool, play: impl Fn(&Round)) {
        let (mut wanted, mut played) = (0, 0);
        while wanted < ROUNDS {
            std::thread::sleep(PAUSE);
            // The window manager is to poll our A-stack.
            self.windows.work(0).unwrap();
            let round = Round {
                windows: Arc::clone(&self.windows),
                files: Arc::clone(&self.files),
                import: Arc::clone(&self.import),
                events: Arc::default(),
            };
            let theirs = round.clone();
            play(&theirs);
            let timeline = Timeline::new(self, &round);
            played += 1;
            if is_wanted(&timeline) {
                if wanted == 0 {
                    println!("{timeline}");
                }
                wanted += 1;
            }
            assert!(played < ROUNDS_MAX, "{wanted} of {played} rounds; the last one:\n{timeline}");
        }
        println!("{wanted} of {played} rounds went so");
    }
}

/// One round: what its threads call, and what has happened.
#[derive(Clone)]
struct Round {
    windows: Arc<StaysClient>,
    files: Arc<StaysClient>,
    import: Arc<Import>,
    events: Arc<Mutex<Vec<Event>>>,
}

/// Something that happened on a processor.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Event {
    at_ns: u64,
    processor: u32,
    what: &'static str,
}

impl Round {
    /// The editor does something.
    fn note(&self, what: &'static str) {
        let (at_ns, processor) = (clock::now_ns(), processor::current());
        self.events.lock().unwrap().push(Event { at_ns, processor, what });
    }

    /// A server has done something.
    fn note_stay(&self, stay: &Stay, [takes, replies]: [&'static str; 2]) {
        assert_eq!(stay.client_processor, processor::current(), "the editor has one processor");
        let event = |at_ns, what| Event { at_ns, processor: stay.processor, what };
        let events = [event(stay.begin_ns, takes), event(stay.end_ns, replies)];
        self.events.lock().unwrap().extend(events);
    }

    fn call_windows(&self) {
        let stay = self.windows.work(WORK_NS).unwrap();
        self.note_stay(&stay, ["WinMgr takes a call", "WinMgr replies"]);
    }

    fn call_files(&self) {
        let stay = self.files.work(WORK_NS).unwrap();
        self.note_stay(&stay, ["FCMgr takes a call", "FCMgr replies"]);
    }

    /// Forks a thread of the editor.
    fn fork(&self, body: impl FnOnce(&Round) + Send + 'static) -> Forked<()> {
        let round = self.clone();
        fork(move || body(&round)).unwrap()
    }

    /// Runs two threads of the editor, the first one first.
    fn run(&self, first: fn(&Round), second: fn(&Round)) {
        let round = self.clone();
        let both = move || {
            let forked = [round.fork(first), round.fork(second)];
            forked.iter().for_each(|thread| thread.join().unwrap());
        };
        run(both).unwrap();
    }
}

/// What happened in one round, in the order of time.
struct Timeline {
    own: u32,
    events: Vec<Event>,
}

impl Timeline {
    fn new(scene: &Scene, round: &Round) -> Timeline {
        let mut events = round.events.lock().unwrap().clone();
        events.sort_by_key(|event| event.at_ns);
        let is_known = |event: &Event| [scene.own, scene.other].contains(&event.processor);
        assert!(events.iter().all(is_known), "{events:?}");
        Timeline { own: scene.own, events }
    }

    /// What happened on the editor's processor, or on the other one.
    fn on(&self, is_own: bool) -> Vec<&'static str> {
        let there = |event: &&Event| (event.processor == self.own) == is_own;
        self.events.iter().filter(there).map(|event| event.what).collect()
    }

    fn at_ns(&self, what: &str) -> u64 {
        let event = self.events.iter().find(|event| event.what == what);
        event.unwrap_or_else(|| panic!("no {what:?} in {self}")).at_ns
    }
}

impl fmt::Display for Timeline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:>9}  {:<32}the other one", "us", "the editor's processor")?;
        for Event { at_ns, processor, what } in &self.events {
            let us = (at_ns - self.events[0].at_ns) as f64 / 1_000.0;
            let indent = if *processor == self.own { 0 } else { 32 };
            writeln!(f, "{us:>9.1}  {:indent$}{what}", "")?;
        }
        Ok(())
    }
}

/// Keeps the editor's processor busy, for longer than the window manager takes.
fn work(nanoseconds: u64) {
    let begin_ns = clock::now_ns();
    while clock::now_ns() - begin_ns < nanoseconds {
        processor::relax();
    }
}

const WORK_OF_EDITOR_NS: u64 = 30_000;

fn draw(round: &Round) {
    round.note("T1 calls WinMgr");
    round.call_windows();
    round.note("T1 goes on");
}

#[test]
fn the_editors_processor_goes_to_the_file_cache_manager_for_both_calls_and_comes_back() {
    let draw_and_read = |round: &Round| {
        draw(round);
        // If a server were ready to run here, it would.
        processor::yield_now();
        round.note("T1 calls FCMgr");
        round.call_files();
        round.note("a thread goes on");
    };
    let read = |round: &Round| {
        round.note("T2 runs");
        work(WORK_OF_EDITOR_NS);
        round.note("T2 calls FCMgr");
        round.call_files();
        round.note("a thread goes on");
    };
    const ON_OWN: [&str; 11] = [
        "T1 calls WinMgr",
        "T2 runs",
        "T2 calls FCMgr",
        "T1 goes on",
        "T1 calls FCMgr",
        "FCMgr takes a call",
        "FCMgr replies",
        "FCMgr takes a call",
        "FCMgr replies",
        "a thread goes on",
        "a thread goes on",
    ];
    in_scene(move |scene| {
        let is_wanted = |timeline: &Timeline| {
            timeline.on(true) == ON_OWN
                && timeline.on(false) == ["WinMgr takes a call", "WinMgr replies"]
        };
        scene.check(is_wanted, |round| round.run(draw_and_read, read));
    });
}

#[test]
fn who_was_put_off_is_told_before_the_kernel_thread_blocks() {
    let read = |round: &Round| {
        round.note("T1 calls FCMgr");
        round.call_files();
    };
    let bind = |round: &Round| {
        round.note("T2 binds");
        let bound = (round.import)("windows");
        round.note("T2 has bound");
        drop(bound);
    };
    in_scene(move |scene| {
        let is_wanted = |timeline: &Timeline| {
            timeline.at_ns("T1 calls FCMgr") < timeline.at_ns("T2 binds")
                && timeline.at_ns("FCMgr takes a call") < timeline.at_ns("T2 has bound")
        };
        scene.check(is_wanted, |round| round.run(read, bind));
    });
}

#[test]
fn an_urgent_call_takes_the_editors_processor_from_a_thread_that_is_ready() {
    let read = |round: &Round| {
        round.note("T2 runs");
        work(WORK_OF_EDITOR_NS);
        round.note("T2 calls FCMgr");
        urgently(|| round.call_files());
        round.note("T2 goes on");
    };
    const ON_OWN: [&str; 7] = [
        "T1 calls WinMgr",
        "T2 runs",
        "T2 calls FCMgr",
        "FCMgr takes a call",
        "FCMgr replies",
        "T1 goes on",
        "T2 goes on",
    ];
    in_scene(move |scene| {
        let is_wanted = |timeline: &Timeline| timeline.on(true) == ON_OWN;
        scene.check(is_wanted, |round| round.run(draw, read));
    });
}

#[test]
fn a_call_that_is_not_urgent_waits_for_a_thread_that_is_ready() {
    let draw_and_end = |round: &Round| {
        draw(round);
        // If a server were ready to run here, it would.
        processor::yield_now();
        round.note("T1 ends");
    };
    let read = |round: &Round| {
        round.note("T2 runs");
        work(WORK_OF_EDITOR_NS);
        round.note("T2 calls FCMgr");
        round.call_files();
        round.note("T2 goes on");
    };
    const ON_OWN: [&str; 8] = [
        "T1 calls WinMgr",
        "T2 runs",
        "T2 calls FCMgr",
        "T1 goes on",
        "T1 ends",
        "FCMgr takes a call",
        "FCMgr replies",
        "T2 goes on",
    ];
    in_scene(move |scene| {
        let is_wanted = |timeline: &Timeline| timeline.on(true) == ON_OWN;
        scene.check(is_wanted, |round| round.run(draw_and_end, read));
    });
}

#[test]
fn a_thread_that_is_alone_gives_its_processor_at_once() {
    const ON_OWN: [&str; 4] =
        ["T1 calls FCMgr", "FCMgr takes a call", "FCMgr replies", "T1 goes on"];
    let read = |round: &Round| {
        round.note("T1 calls FCMgr");
        round.call_files();
        round.note("T1 goes on");
    };
    in_scene(move |scene| {
        let is_wanted = |timeline: &Timeline| timeline.on(true) == ON_OWN;
        // A kernel thread, and a FastThread.
        scene.check(is_wanted, read);
        scene.check(is_wanted, |round| round.run(read, |_| {}));
    });
}

#[test]
fn a_call_is_put_off_for_a_while_only_while_others_run_on() {
    let read = |round: &Round| {
        round.note("T1 calls FCMgr");
        round.call_files();
    };
    let compute = |round: &Round| {
        for _ in 0..500 {
            work(10_000);
            yield_now();
        }
        round.note("T2 has computed");
    };
    in_scene(move |scene| {
        let is_wanted = |timeline: &Timeline| {
            let put_off_ns =
                timeline.at_ns("FCMgr takes a call") - timeline.at_ns("T1 calls FCMgr");
            assert!(put_off_ns >= PUT_OFF_NS, "{timeline}");
            timeline.at_ns("FCMgr replies") < timeline.at_ns("T2 has computed")
        };
        scene.check(is_wanted, |round| round.run(read, compute));
    });
}
