//! What a call does besides moving lines, which is nothing: no system call and no allocation on
//! either side while both spin, for Null, Add, BigInOut, 4 KiB and numbers in turn.
//!
//! Client and server are two processes, and each is this program, which is why it has its own
//! `main`. A third process on the processors can break any one window of calls (whoever spins for
//! too long goes to sleep, which takes system calls), so there are many and one must be clean.

#![forbid(unsafe_code)]

use std::alloc::System;
use std::env;
use std::io::Write;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::time::Duration;

use bench::calls::stubs::calls::{Big, CallsClient, CallsServer};
use bench::calls::{import, serve, start};
use bench::child::{Failure, Link, Role, run_if_child};
use futures::executor::block_on;
use nearcall::{Domain, DomainOptions};
use nearcall_os::processor;
use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// The server's role.
const SERVER: &str = "counting-server";

/// The same for a server that never sleeps.
const SLEEPLESS: &str = "sleepless-server";

/// The role of a client whose system calls are counted.
const CALLER: &str = "caller";

/// Null, Add, BigInOut, 4 KiB and 250 numbers in, of three classes of A-stack, and a Null that is
/// awaited.
const KINDS: u32 = 6;

/// Calls before a window.
const WARM_UP: u32 = 1_000;

/// Calls of a window in which allocations are counted: it is shorter than the slice of a processor
/// that a build beside them leaves to them.
const CALLS: u32 = 2_000;

/// Calls of the two kinds of window in which system calls are counted.
const TRACED: [u32; 2] = [1_000, 8_000];

/// Most windows of which one must be clean.
const WINDOWS: u32 = 200;

/// What is waited after the first of them that was not clean; after the second twice as long, so
/// 20 s after all.
const PATIENCE: Duration = Duration::from_millis(1);

/// System calls that a window may have, however long it is: what it was opened with wakes a server.
const SYSTEM_CALLS_MAX: usize = 16;

/// System calls of a window without a call of ours, which must be counted; others may have some.
const YIELDS: usize = 100;

/// What was found out, in one line.
type Finding = Result<String, Failure>;

/// A test's name, and what finds out.
type Test = (&'static str, fn() -> Finding);

const TESTS: [Test; 2] = [
    ("calls_allocate_nothing_on_either_side", calls_allocate_nothing),
    ("calls_make_no_system_call_on_either_side", calls_make_no_system_call),
];

fn main() -> ExitCode {
    let roles: [(&str, Role); 3] =
        [(SERVER, play_server), (SLEEPLESS, play_sleepless), (CALLER, play_caller)];
    if let Some(ended) = run_if_child(&roles) {
        return ended;
    }
    let wanted: Vec<String> = env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let (mut passed, mut failed) = (0, 0);
    for (name, test) in TESTS {
        if !wanted.is_empty() && !wanted.iter().any(|word| name.contains(word.as_str())) {
            continue;
        }
        match test() {
            Ok(finding) => {
                passed += 1;
                println!("test {name} ... ok: {finding}");
            }
            Err(error) => {
                failed += 1;
                println!("test {name} ... FAILED: {error}");
            }
        }
    }
    let result = if failed == 0 { "ok" } else { "FAILED" };
    println!("\ntest result: {result}. {passed} passed; {failed} failed");
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// A server whose `add` says how often it has asked for memory or given some back.
struct Counting;

impl CallsServer for Counting {
    fn null(&self) {}

    fn add(&self, _: i32, _: i32) -> i32 {
        allocations().cast_signed()
    }

    fn big_in(&self, _: &Big) {}

    fn big_in_out(&self, _: &mut Big) {}

    fn four_k(&self, _: &[u8]) {}

    fn sixty_four_k(&self, _: &[u8]) {}

    fn bytes_in(&self, _: &[u8]) {}

    fn leaf(&self) {}

    fn numbers_in(&self, _: &[i32]) {}
}

fn play_server(link: &Link, arguments: &[String]) -> Result<(), Failure> {
    play(DomainOptions::default(), link, arguments)
}

fn play_sleepless(link: &Link, arguments: &[String]) -> Result<(), Failure> {
    play(sleepless(), link, arguments)
}

/// Serves; nobody asks it anything over the link.
fn play(options: DomainOptions, link: &Link, arguments: &[String]) -> Result<(), Failure> {
    serve(Counting, options, link, arguments, || 0)
}

/// On one processor: yields also where the usual options would have it sleep, because a third
/// process is there. Sleeping is another path, and it allocates.
fn sleepless() -> DomainOptions {
    let mut options = DomainOptions::default();
    options.wait.yields_max = u32::MAX;
    options.wait.yield_ns_max = u32::MAX;
    options
}

/// How often this process has asked for memory or given some back, modulo 2^32.
fn allocations() -> u32 {
    let stats = ALLOCATOR.stats();
    (stats.allocations + stats.reallocations + stats.deallocations) as u32
}

/// Where client and server run: on two processors, if there are two.
fn places() -> (u32, u32) {
    let allowed = processor::allowed();
    (allowed[0], allowed[allowed.len().min(2) - 1])
}

/// Runs `test` on the client's processor, in a thread of its own, so that the next test finds all
/// of them allowed; with a server of a role in another process.
fn with_server(
    role: &str,
    options: DomainOptions,
    test: impl FnOnce(&CallsClient) -> Finding + Send,
) -> Finding {
    let run = || -> Finding {
        let (ours, theirs) = places();
        processor::pin(ours)?;
        let directory = tempfile::tempdir()?;
        let _server = start(role, directory.path(), theirs)?;
        let domain = Domain::with_options(options)?;
        let client = import(&domain, directory.path())?;
        test(&client)
    };
    std::thread::scope(|scope| {
        let thread = scope.spawn(|| run().map_err(|error| error.to_string()));
        thread.join().expect("a test does not panic").map_err(Failure::from)
    })
}

/// Calls each of [`KINDS`] in turn.
fn call(client: &CallsClient, count: u32) -> Result<(), Failure> {
    let (mut big, four_k, numbers) = ([7; 200], [7; 4096], [7; 250]);
    for _ in 0..count / KINDS {
        client.null()?;
        client.add(2, 3)?;
        client.big_in_out(&mut big)?;
        client.four_k(&four_k)?;
        client.numbers_in(&numbers)?;
        block_on(client.awaiting().null())?;
    }
    Ok(())
}

fn calls_allocate_nothing() -> Finding {
    let (role, options, how) = if places().0 == places().1 {
        (SLEEPLESS, sleepless(), "yielding on the one processor there is")
    } else {
        (SERVER, DomainOptions::default(), "both spinning")
    };
    with_server(role, options, |client| {
        counters_count(client)?;
        let mut counts = Vec::with_capacity(WINDOWS as usize);
        for window in 1..=WINDOWS {
            call(client, WARM_UP)?;
            // Asked by calls, so that the server does not go to sleep meanwhile.
            let server = client.add(0, 0)?.cast_unsigned();
            let ours = allocations();
            call(client, CALLS)?;
            let ours = allocations().wrapping_sub(ours);
            let server = client.add(0, 0)?.cast_unsigned().wrapping_sub(server);
            if (ours, server) == (0, 0) {
                return Ok(format!("{CALLS} calls, {how}: 0 allocations, in window {window}"));
            }
            counts.push((ours, server));
            // Whatever has the processors beside them may take longer than all windows together.
            std::thread::sleep(PATIENCE * window);
        }
        Err(format!("{how}, (client, server) in windows of {CALLS} calls: {counts:?}").into())
    })
}

/// A gate that cannot fail is none: both counters must see a call that allocates.
fn counters_count(client: &CallsClient) -> Result<(), Failure> {
    let server = client.add(0, 0)?;
    let ours = allocations();
    client.bytes_in(&vec![0; 1 << 20])?;
    let is_counted = allocations() != ours && client.add(0, 0)? != server;
    if is_counted { Ok(()) } else { Err("allocations are not counted".into()) }
}

fn calls_make_no_system_call() -> Finding {
    if places().0 == places().1 {
        return Ok("nothing counted: on one processor each call is a system call".to_owned());
    }
    if Command::new("strace").arg("--version").stdout(Stdio::null()).status().is_err() {
        let missing = "nothing counted: strace is not installed";
        return if env::var_os("CI").is_some() { Err(missing.into()) } else { Ok(missing.into()) };
    }
    let directory = tempfile::tempdir()?;
    let log = directory.path().join("log");
    let mut strace = Command::new("strace");
    strace.args(["-f", "-qq", "-e", "signal=none", "-o"]).arg(&log);
    strace.arg(env::current_exe()?).args(["--child", CALLER]).arg(directory.path());
    let output = strace.stdin(link_of_nobody()?).output()?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        return Err(format!("strace {}: {said}", output.status).into());
    }
    let log = std::fs::read_to_string(log)?;
    let yields = windows_in(&log, 0);
    if !matches!(yields[..], [count] if (YIELDS..=YIELDS + SYSTEM_CALLS_MAX).contains(&count)) {
        return Err(format!("system calls are not counted: {yields:?} of {YIELDS}").into());
    }
    let fewest = TRACED.map(|calls| windows_in(&log, calls).into_iter().min());
    let finding = format!(
        "fewest system calls of both processes in {WINDOWS} windows of {TRACED:?} calls: \
         {fewest:?}, {SYSTEM_CALLS_MAX} may open a window",
    );
    let is_clean = |count: &Option<usize>| count.is_some_and(|count| count <= SYSTEM_CALLS_MAX);
    if fewest.iter().all(is_clean) { Ok(finding) } else { Err(finding.into()) }
}

/// A client that marks in its system calls where each window begins and ends, until it has made
/// some of both lengths.
fn play_caller(_: &Link, arguments: &[String]) -> Result<(), Failure> {
    let directory = arguments.first().ok_or("which directory?")?;
    let (ours, theirs) = places();
    processor::pin(ours)?;
    let directory = Path::new(directory);
    let _server = start(SERVER, directory, theirs)?;
    let domain = Domain::new()?;
    let client = import(&domain, directory)?;
    let mut out = std::io::stdout().lock();
    // Long enough for the server to have gone to sleep.
    std::thread::sleep(Duration::from_millis(100));
    writeln!(out, "window 0.")?;
    (0..YIELDS).for_each(|_| processor::yield_now());
    writeln!(out, "end")?;
    for _ in 0..WINDOWS {
        for calls in TRACED {
            writeln!(out, "window {calls}.")?;
            call(&client, WARM_UP + calls)?;
            writeln!(out, "end")?;
        }
    }
    Ok(())
}

/// How many system calls began in each window of so many calls.
fn windows_in(log: &str, calls: u32) -> Vec<usize> {
    let mark = format!("window {calls}.");
    let windows = log.split("write(1, \"").filter(|window| window.starts_with(&mark));
    // The first line is the mark itself; a call that was interrupted has two lines.
    let begun =
        |window: &str| window.lines().skip(1).filter(|line| !line.contains(" resumed>")).count();
    // The last line is what stands in front of the next mark.
    windows.map(|window| begun(window).saturating_sub(1)).collect()
}

/// Standard input for a child that nobody talks to.
fn link_of_nobody() -> Result<Stdio, Failure> {
    let (_, end) = nearcall_os::socket::Stream::pair()?;
    Ok(std::os::fd::OwnedFd::from(end).into())
}
