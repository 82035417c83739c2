//! Procedures on E-stacks: one that waits leaves its processor to other calls (L26 to L29; design
//! note 0027).

use std::io::Read;
use std::os::fd::AsFd;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

use nearcall::{CallError, Domain, DomainOptions, NotExecuted};
use nearcall_threads::{fork, run};
use testkit::confined;
use testkit::estacks::estacks::{GuestsClient, Node};
use testkit::hosting::{self, HostProcess};
use testkit::longer::is_late;
use testkit::signal;

use crate::giving_up::{give_up_at_whatever_moment, take_in_haste};

const SERVER: &str = env!("CARGO_BIN_EXE_testkit-estacks");

/// E-stacks of a processor, where their number does not matter.
const ESTACKS: u32 = 4096;

/// Calls at once, where their number does not matter.
const CALLS: u32 = 32;

/// Fewer kernel threads than calls that wait: with a kernel thread each there would be more.
const KERNEL_THREADS_MAX: usize = CALLS as usize;

/// Milliseconds for which what is to be stuck for a whole test is.
const LONG_MS: u32 = 600_000;

/// Longest until what comes without anybody's help has come.
const SOON: Duration = Duration::from_secs(60);

/// A server, and a client of it.
struct Scene {
    directory: tempfile::TempDir,
    domain: Domain,
    server: HostProcess,
    client: Arc<GuestsClient>,
}

fn scene_with(estacks_max: u32) -> Scene {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let server = HostProcess::start(SERVER, directory.path(), "b", estacks_max);
    let domain = Domain::new().expect("a domain");
    let client = Arc::new(hosting::import(&domain, directory.path(), "b"));
    Scene { directory, domain, server, client }
}

fn scene() -> Scene {
    scene_with(ESTACKS)
}

impl Scene {
    /// Another server, which the first one calls.
    fn next(&self) -> (HostProcess, GuestsClient) {
        let next = HostProcess::start(SERVER, self.directory.path(), "c", ESTACKS);
        self.client.connect("c").unwrap();
        (next, hosting::import(&self.domain, self.directory.path(), "c"))
    }
}

#[track_caller]
fn until(what: &str, is_so: impl Fn() -> bool) {
    let begin = Instant::now();
    while !is_so() {
        assert!(begin.elapsed() < SOON, "{what}: not within {SOON:?}");
        thread::sleep(Duration::from_millis(1));
    }
}

fn until_wait(client: &GuestsClient, count: u32) {
    until("as many wait", || client.waiting().unwrap() == count);
}

/// Calls that are served while others wait.
fn call_a_few(client: &GuestsClient) {
    for number in 0..100 {
        assert_eq!(client.add(number, 1).unwrap(), number + 1);
    }
}

fn kernel_threads(pid: u32) -> usize {
    std::fs::read_dir(format!("/proc/{pid}/task")).expect("our own child").count()
}

/// Memory of a process that is there, in KiB.
fn resident_kib(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).expect("our own child");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("a line of it");
    line.trim().trim_end_matches(" kB").trim().parse().expect("a number")
}

/// Makes so many calls at once, each from a kernel thread, and does something meanwhile. If that
/// panics nobody waits for the calls.
fn calls_at_once<T: Send + 'static>(
    client: &Arc<GuestsClient>,
    count: u32,
    call: impl Fn(&GuestsClient, u32) -> T + Copy + Send + 'static,
    meanwhile: impl FnOnce(),
) -> Vec<T> {
    let start = |number| {
        let client = Arc::clone(client);
        thread::spawn(move || call(&client, number))
    };
    let calls: Vec<_> = (0..count).map(start).collect();
    meanwhile();
    calls.into_iter().map(|call| call.join().unwrap()).collect()
}

#[test]
fn a_leaf_runs_on_its_processors_own_stack_and_others_do_not() {
    let scene = scene();
    let client = &scene.client;
    for _ in 0..100 {
        let ((_, is_fastthread), (_, is_leaf_one)) =
            (client.kernel_thread().unwrap(), client.leaf_kernel_thread().unwrap());
        assert!(is_fastthread && !is_leaf_one);
    }
}

#[test]
fn calls_are_served_while_a_lock_is_waited_for() {
    let scene = scene();
    let (client, server) = (&scene.client, &scene.server);
    let pass = |client: &GuestsClient, _| client.pass().unwrap();
    let passed = calls_at_once(client, CALLS, pass, || {
        until_wait(client, CALLS);
        call_a_few(client);
        assert!(kernel_threads(server.pid()) < KERNEL_THREADS_MAX);
        client.open(CALLS).unwrap();
    });
    assert!(passed.iter().all(|kernel_thread| *kernel_thread != 0));
    assert_eq!(client.waiting().unwrap(), 0);
}

#[test]
fn a_lock_that_is_held_while_its_holder_sleeps_is_handed_on() {
    let scene = scene();
    let client = &scene.client;
    let count = |client: &GuestsClient, _| client.count_slowly().unwrap();
    let mut counted = calls_at_once(client, CALLS, count, || call_a_few(client));
    counted.sort_unstable();
    assert_eq!(counted, (1..=CALLS).collect::<Vec<_>>());
}

#[test]
fn each_sleeper_wakes_with_its_own_arguments() {
    let scene = scene();
    let client = &scene.client;
    let later = |client: &GuestsClient, number| client.later(number, 20 - number % 20).unwrap();
    let woken = calls_at_once(client, CALLS, later, || call_a_few(client));
    assert_eq!(woken, (0..CALLS).collect::<Vec<_>>());
}

#[test]
fn calls_are_served_while_nested_ones_wait() {
    let scene = scene();
    let (_next, to_next) = scene.next();
    let relay = |client: &GuestsClient, _| client.relay().unwrap();
    let relayed = calls_at_once(&scene.client, CALLS, relay, || {
        until_wait(&to_next, CALLS);
        call_a_few(&scene.client);
        assert!(kernel_threads(scene.server.pid()) < KERNEL_THREADS_MAX);
        to_next.open(CALLS).unwrap();
    });
    assert!(relayed.iter().all(|kernel_thread| *kernel_thread != 0));
}

#[test]
fn a_server_calls_itself() {
    let scene = scene();
    let client = &scene.client;
    client.connect("b").unwrap();
    let relay = |client: &GuestsClient, _| client.relay().unwrap();
    let relayed = calls_at_once(client, 3, relay, || {
        until_wait(client, 3);
        client.open(3).unwrap();
    });
    assert!(relayed.iter().all(|kernel_thread| *kernel_thread != 0));
}

#[test]
fn a_nested_server_that_is_stuck_is_rung_for_again_while_calls_keep_coming() {
    let scene = scene();
    let (mut next, to_next) = scene.next();
    let to_next = Arc::new(to_next);
    // The one relay passes at once, if anybody takes it.
    to_next.open(1).unwrap();
    let doze = |client: &GuestsClient, _| {
        // So that the watcher is awake, and nobody rings for a relief.
        call_a_few(client);
        client.doze(LONG_MS)
    };
    let mut relayed = 0;
    let dozed = calls_at_once(&to_next, 1, doze, || {
        next.until_it_says("dozes");
        let is_back = AtomicBool::new(false);
        relayed = thread::scope(|threads| {
            let relaying = threads.spawn(|| {
                let relayed = scene.client.relay().unwrap();
                is_back.store(true, Relaxed);
                relayed
            });
            let callers = [(); 3].map(|()| {
                threads.spawn(|| {
                    // It is rung for again after a fraction of a millisecond; without that, after
                    // the procedure that keeps it waiting.
                    let begin = Instant::now();
                    while !is_back.load(Relaxed) && begin.elapsed() < SOON {
                        assert_eq!(scene.client.add(1, 2).unwrap(), 3);
                    }
                })
            });
            callers.into_iter().for_each(|caller| caller.join().unwrap());
            // Then the nested call returns in any case.
            signal::kill(next.pid());
            relaying.join().unwrap()
        });
    });
    assert_ne!(relayed, 0, "somebody has taken the nested call");
    assert!(dozed[0].is_err(), "the server was stuck all the time");
}

#[test]
fn the_nested_servers_end_is_told_and_the_server_goes_on() {
    let scene = scene();
    let (mut next, to_next) = scene.next();
    let relay = |client: &GuestsClient, _| client.relay().unwrap();
    let relayed = calls_at_once(&scene.client, CALLS, relay, || {
        until_wait(&to_next, CALLS);
        signal::kill(next.pid());
    });
    next.wait();
    assert_eq!(relayed, vec![0; CALLS as usize]);
    call_a_few(&scene.client);
}

#[test]
fn the_servers_end_is_told_to_who_waits_and_the_nested_one_goes_on() {
    let mut scene = scene();
    let (_next, to_next) = scene.next();
    let relay = |client: &GuestsClient, _| client.relay().unwrap_err();
    let pid = scene.server.pid();
    let errors = calls_at_once(&scene.client, CALLS, relay, || {
        until_wait(&to_next, CALLS);
        signal::kill(pid);
    });
    scene.server.wait();
    for error in errors {
        assert!(
            matches!(error, CallError::CallFailed { procedure, .. }
                if procedure.operation() == "relay"),
            "{error}"
        );
    }
    to_next.open(CALLS).unwrap();
    until_wait(&to_next, 0);
}

#[test]
fn a_procedure_goes_on_when_its_client_ends_and_sees_it() {
    let scene = scene();
    let (directory, client) = (&scene.directory, &scene.client);
    let mut dying = Command::new(SERVER)
        .arg(directory.path())
        .args(["b", "outwait"])
        .stdout(Stdio::null())
        .spawn()
        .expect("the client's program");
    until("it is called", || client.waiting().unwrap() == 1);
    confined::kill(&mut dying);
    until("it is seen", || client.outwaited().unwrap() == 1);
    call_a_few(client);
}

#[test]
fn those_that_wait_until_their_server_ends_are_told_and_their_results_arrive() {
    let Scene { directory: _directory, domain: _domain, mut server, client } = scene();
    let last = |client: &GuestsClient, _| client.with_deadline(SOON).last().unwrap();
    let told = calls_at_once(&client, 8, last, || {
        until_wait(&client, 8);
        call_a_few(&client);
        server.begin_to_end();
    });
    assert_eq!(told, [true; 8]);
    let (status, said) = server.wait();
    assert!(status.success() && said.is_empty(), "{status}: {said}");
}

#[test]
fn a_call_that_is_given_up_is_seen_and_its_astack_comes_back() {
    let scene = scene();
    let client = &scene.client;
    // Each may be given up before it has begun. There are eight A-stacks for them.
    until("it is seen", || {
        for _ in 0..20 {
            let error = client.with_deadline(Duration::from_millis(5)).outwait().unwrap_err();
            assert!(is_late(&error), "{error}");
            until_wait(client, 0);
        }
        client.outwaited().unwrap() > 0
    });
}

#[test]
fn a_thousand_wait_at_once_and_their_memory_goes_back() {
    const CLIENTS: u32 = 16;
    const EACH: u32 = 63;
    let Scene { directory, domain, server, client } = scene();
    call_a_few(&client);
    let before_kib = resident_kib(server.pid());
    let import = |_| Arc::new(hosting::import(&domain, directory.path(), "b"));
    let clients: Vec<_> = (0..CLIENTS).map(import).collect();
    let passed = run(move || {
        let pass = |client: &Arc<GuestsClient>| {
            let client = Arc::clone(client);
            fork(move || client.pass().unwrap()).unwrap()
        };
        let passes: Vec<_> =
            clients.iter().flat_map(|client| (0..EACH).map(move |_| pass(client))).collect();
        while client.waiting().unwrap() != CLIENTS * EACH {
            nearcall_threads::sleep(Duration::from_millis(1));
        }
        let waiting_kib = resident_kib(server.pid());
        assert!(kernel_threads(server.pid()) < (CLIENTS * EACH / 10) as usize);
        assert_eq!(client.add(2, 3).unwrap(), 5);
        client.open(CLIENTS * EACH).unwrap();
        let passed = passes.into_iter().filter(|pass| pass.join().unwrap() != 0).count();
        // At least a page of each stack was touched, and most of that goes back once it idles.
        let taken_kib = waiting_kib - before_kib;
        println!("{CLIENTS} times {EACH} that wait take {taken_kib} KiB");
        assert!(taken_kib > u64::from(CLIENTS * EACH) * 4, "{taken_kib} KiB");
        let back_kib = || waiting_kib.saturating_sub(resident_kib(server.pid()));
        let is_back = || back_kib() > u64::from(CLIENTS * EACH) * 3;
        until("the memory goes back", is_back);
        passed
    });
    assert_eq!(passed.unwrap(), (CLIENTS * EACH) as usize);
}

#[test]
fn a_domain_without_estacks_exports_nothing_that_runs_on_them() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let mut options = DomainOptions::default();
    options.estacks_max = 0;
    let domain = Domain::with_options(options).expect("a domain");
    let refused = hosting::export(&domain, directory.path(), "b").unwrap_err().to_string();
    assert!(refused.contains("estacks_max is 0, and its least is 1"), "{refused}");
}

#[test]
fn calls_over_the_number_of_estacks_wait_for_one() {
    const FEW: u32 = 3;
    let scene = scene_with(FEW);
    let client = &scene.client;
    let both = |client: &GuestsClient, number: u32| match number {
        0 | 1 => client.pass().map(|_| number).unwrap(),
        _ => client.later(number, 5).unwrap(),
    };
    let returned = calls_at_once(client, CALLS, both, || client.open(2).unwrap());
    assert_eq!(returned, (0..CALLS).collect::<Vec<_>>());
    // As many as there are callers, if nothing limits them.
    let most = client.most_waiting().unwrap();
    assert!((1..=FEW).contains(&most), "{most} waited on one processor, of {FEW} at most");
}

#[test]
fn what_came_with_a_call_that_is_not_begun_is_closed() {
    let scene = scene_with(1);
    let client = &scene.client;
    let sleep = |client: &GuestsClient, number| client.later(number, 1_000).unwrap();
    let (mut theirs, ours) = std::io::pipe().unwrap();
    let hasty = client.with_deadline(Duration::from_millis(50));
    // It may run if the sleeper has woken by then, and may be given up before it is taken.
    until("it is given up", || {
        let mut is_given_up = false;
        calls_at_once(client, 1, sleep, || {
            until_wait(client, 1);
            is_given_up = hasty.have(ours.as_fd()).is_err_and(|error| is_late(&error));
        });
        is_given_up
    });
    drop(ours);
    // Behind whatever has waited for the E-stack.
    client.null().unwrap();
    let reading = thread::spawn(move || theirs.read(&mut [0]).unwrap());
    until("it is closed", || reading.is_finished());
    assert_eq!(reading.join().unwrap(), 0);
}

#[test]
fn a_panic_after_a_wait_is_told_and_the_server_lives_on() {
    let scene = scene();
    let client = &scene.client;
    for _ in 0..10 {
        let error = client.panic_later().unwrap_err();
        assert!(
            matches!(error, CallError::Panicked { procedure }
                if procedure.operation() == "panic_later"),
            "{error}"
        );
    }
    call_a_few(client);
}

#[test]
fn an_overflow_names_the_procedure() {
    let Scene { client, mut server, directory: _directory, domain: _domain } = scene();
    let error = client.overflow().unwrap_err();
    assert!(
        matches!(error, CallError::CallFailed { procedure, .. }
            if procedure.operation() == "overflow"),
        "{error}"
    );
    let (status, said) = server.wait();
    assert!(!status.success());
    assert!(said.contains("which runs `overflow`, has overflowed its stack"), "{said}");
}

#[test]
fn arguments_that_are_nested_too_deeply_for_an_estack_are_refused() {
    let scene = scene();
    let client = &scene.client;
    let depth = |levels| {
        let leaf = Node { blob: [7; 4096], kids: Vec::new() };
        let around = |node, _| Node { blob: [7; 4096], kids: vec![node] };
        client.depth(&(1..levels).fold(leaf, around))
    };
    assert_eq!(depth(3).unwrap(), 3);
    let error = depth(60).unwrap_err();
    let refused = NotExecuted::ArgumentsRefused;
    let is_so = matches!(error, CallError::NotExecuted { reason, .. } if reason == refused);
    assert!(is_so, "{error}");
    assert_eq!(depth(3).unwrap(), 3, "the server lives on");
}

#[test]
fn a_deadline_is_the_calls_own_after_a_wait() {
    let scene = scene();
    let client = &scene.client;
    let second = Duration::from_secs(1);
    let left_ns = move |client: &GuestsClient, number: u32| match number % 2 {
        0 => client.time_left().unwrap(),
        _ => client.with_deadline((100 + number) * second).time_left().unwrap(),
    };
    let left = calls_at_once(client, 8, left_ns, || call_a_few(client));
    for (number, left_ns) in (0..).zip(left) {
        let most_ns = i64::from(100 + number) * 1_000_000_000;
        match number % 2 {
            0 => assert_eq!(left_ns, -1),
            _ => assert!((most_ns - 90_000_000_000..most_ns).contains(&left_ns), "{left_ns}"),
        }
    }
}

#[test]
fn forked_threads_have_the_deadlines_that_they_are_within_and_no_other_call_has() {
    const SECOND_NS: i64 = 1_000_000_000;
    let directory = tempfile::tempdir().expect("a temporary directory");
    let _next = HostProcess::start(SERVER, directory.path(), "c", ESTACKS);
    // All calls are run by one kernel thread.
    let mut options = DomainOptions::default();
    options.processors_max = 1;
    let domain = Domain::with_options(options).expect("a domain");
    let clerk = hosting::export(&domain, directory.path(), "b").expect("an export");
    let client = hosting::import(&Domain::new().expect("a domain"), directory.path(), "b");
    client.connect("c").unwrap();
    let check_usual = || assert_eq!(client.leaf_time_left().unwrap(), -1);
    check_usual();
    // Those calls are usual, too: others would have the processor forget what is left there.
    let until_told = |count| until("as many tell", || client.told_within().unwrap().len() == count);
    // Each begins within its own deadline, and goes on when the other one has waited or ended.
    for (seconds, count) in [(1_000, 1), (3_000, 2)] {
        client.with_deadline(Duration::from_secs(seconds)).ask_within().unwrap();
        until_told(count);
        check_usual();
    }
    let first_ns = client.ask_within_first().unwrap();
    assert!((1..1_000 * SECOND_NS).contains(&first_ns), "{first_ns}");
    check_usual();
    for count in [3, 4] {
        client.open(1).unwrap();
        until_told(count);
        check_usual();
    }
    let told = client.told_within().unwrap();
    assert_eq!(told[..2], [hosting::AT_THE_GATE; 2]);
    assert!((1..1_000 * SECOND_NS).contains(&told[2]), "{told:?}");
    assert!((1_000 * SECOND_NS..3_000 * SECOND_NS).contains(&told[3]), "{told:?}");
    drop(clerk);
    domain.shut_down();
}

#[test]
fn a_procedure_that_computes_is_taken_over_from_and_those_that_wait_go_on_after_it() {
    let scene = scene();
    let client = &scene.client;
    let both = |client: &GuestsClient, number: u32| match number {
        0 => client.compute(300).unwrap(),
        _ => client.pass().unwrap(),
    };
    let returned = calls_at_once(client, 9, both, || {
        until_wait(client, 8);
        call_a_few(client);
        client.open(8).unwrap();
    });
    assert!(returned.iter().all(|kernel_thread| *kernel_thread != 0));
    call_a_few(client);
}

#[test]
fn a_server_that_shuts_down_lets_what_sleeps_finish() {
    let Scene { client, mut server, directory: _directory, domain: _domain } = scene();
    let returned = calls_at_once(
        &client,
        CALLS,
        |client, number| client.later(number, 500),
        || {
            until_wait(&client, CALLS);
            server.begin_to_end();
        },
    );
    for (number, returned) in (0..).zip(returned) {
        assert_eq!(returned.unwrap(), number);
    }
    let (status, said) = server.wait();
    assert!(status.success(), "{said}");
}

#[test]
fn an_iterator_that_waits_keeps_nothing_that_it_has_made() {
    let Scene { client, server: _server, directory: _directory, domain: _domain } = scene();
    let client = client.with_deadline(SOON);
    let mut feeds: Vec<_> = (0..4).map(|ahead| client.passing(ahead).unwrap()).collect();
    for (ahead, feed) in (0..).zip(&mut feeds) {
        for number in 0..ahead {
            assert_eq!(feed.next().unwrap().unwrap(), number);
        }
    }
    call_a_few(&client);
    drop(feeds.split_off(1));
    for number in 0..100 {
        // One that was dropped may pass the gate before it looks.
        client.open(8).unwrap();
        assert_eq!(feeds[0].next().unwrap().unwrap(), number);
    }
    drop(feeds);
    call_a_few(&client);
}

#[test]
fn feeds_that_are_given_up_at_whatever_moment_end_no_binding() {
    let Scene { client, server: _server, directory: _directory, domain: _domain } = scene();
    let client = client.with_deadline(SOON);
    let let_through = || client.open(2).unwrap();
    give_up_at_whatever_moment(100, let_through, |most, ahead, count| {
        let hasty = client.with_deadline(most);
        if let Ok(feed) = hasty.passing(ahead) {
            take_in_haste(feed, count);
        }
    });
    call_a_few(&client);
}
