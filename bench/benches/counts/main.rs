//! How many instructions a call takes: the client's stub from call to return, and the server's
//! round from the look that sees the post to the reply, and on to the next look.
//!
//! Counted by single steps, so that every instruction counts and no time does. One side is
//! stepped while the other runs: so the stub finds its reply at the first poll and the server its
//! post at the first look, which is the path of a call that waits for nothing. Nobody lingers, or
//! the speed of the machine would be counted. Of many calls the fewest instructions count: the
//! others met a third process.
//!
//! What is committed is of the release profile and one version of the compiler. A change for the
//! better fails too: write the new numbers down.

#![forbid(unsafe_code)]

mod stepper;

use std::env;
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bench::calls::stubs::calls::{Big, CallsClient, CallsServer};
use bench::calls::{Server, import, serve};
use bench::child::{Child, Failure, Link, Role, run_if_child};
use nearcall::{CallError, Domain, DomainOptions};
use nearcall_os::processor;

use stepper::{Round, Stepper, Steps, Unstepped};

/// Instructions of the client, of the server up to the reply, and of the server's whole round.
type Counts = [usize; 3];

/// What is committed. The procedures are those of `calls.idl`, and in the order of [`STUBS`].
const EXPECTED: [(&str, Counts); 3] =
    [("null", [140, 119, 154]), ("add", [155, 128, 163]), ("biginout", [423, 374, 409])];

/// How far a count may be from what is committed, in percent.
const TOLERANCE_PERCENT: f64 = 2.0;

/// Calls of which the one with the fewest instructions counts. Fewer than a server stays for.
const CALLS: u64 = 20;

/// Times that the server is stepped. In some it loses the watch to its relief on the way, and goes
/// another way then.
const TRIES: u32 = 5;

/// Times that the server may have gone elsewhere before the client's calls came.
const TRIES_MAX: u32 = 20;

/// Calls before, not stepped: the A-stack has its bias after them, and the server is awake.
const WARM_UP: u32 = 1_000;

/// The function in which a server waits for the next call of the client that it has just served.
const STAY: &str = "Watch::stay_on";

/// In which a client that was told to call has done so, mostly.
const POST_TIME: Duration = Duration::from_millis(10);

const SERVER: &str = "counted-server";
const CLIENT: &str = "counted-client";

/// Asked of the client: to have the server note its thread, and to say which its own is.
const NOTE: u64 = 100;

/// Told the client, with a procedure and a number: to call it as often.
const CALL: u64 = 101;

/// The thread that ran the last [`NOTE`].
static THREAD: AtomicU64 = AtomicU64::new(0);

type Stub = fn(&CallsClient, &mut Big) -> Result<(), CallError>;

/// A stub each, inlined into a function that begins and ends where it does.
const STUBS: [Stub; 3] = [null, add, big_in_out];

#[inline(never)]
fn null(client: &CallsClient, _: &mut Big) -> Result<(), CallError> {
    client.null()
}

#[inline(never)]
fn add(client: &CallsClient, _: &mut Big) -> Result<(), CallError> {
    client.add(2, 3).map(|sum| assert_eq!(sum, 5))
}

#[inline(never)]
fn big_in_out(client: &CallsClient, big: &mut Big) -> Result<(), CallError> {
    client.big_in_out(big)
}

fn main() -> ExitCode {
    let roles: [(&str, Role); 2] = [(SERVER, play_server), (CLIENT, play_client)];
    if let Some(ended) = run_if_child(&roles) {
        return ended;
    }
    match count_all() {
        Ok(()) => ExitCode::SUCCESS,
        Err(Unstepped::Failed(error)) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
        Err(Unstepped::Gone) => {
            eprintln!("error: the client was not where it had to be");
            ExitCode::FAILURE
        }
        Err(Unstepped::Impossible(reason)) => {
            println!("nothing counted: {reason}");
            // Where it is known to be possible, it is to happen.
            if env::var_os("CI").is_some() { ExitCode::FAILURE } else { ExitCode::SUCCESS }
        }
    }
}

fn count_all() -> Result<(), Unstepped> {
    let allowed = processor::allowed();
    let [ours, theirs, ..] = allowed[..] else {
        return Err(Unstepped::Impossible("on one processor each call is a system call".into()));
    };
    let directory = tempfile::tempdir().map_err(Failure::from)?;
    let path = directory.path().to_str().expect("a name of ours");
    let server = Child::start(SERVER, &[path, &theirs.to_string()], &[])?;
    let client = Child::start(CLIENT, &[path, &ours.to_string()], &[])?;
    // The canary: a gate that cannot fail is none.
    if !is_any_off(&[100, 103, 100], &[100; 3]) || is_any_off(&[100, 102, 98], &[100; 3]) {
        return Err(Unstepped::Failed("the tolerance does not hold".into()));
    }
    let shows_steps = env::args().any(|argument| argument == "--steps");
    let mut off = Vec::new();
    println!("instructions   client   look to reply   whole round");
    for (procedure, (name, expected)) in (0..).zip(EXPECTED) {
        // On the processor of whom we step: the other side has its own to itself.
        processor::pin(ours)?;
        let stub = step_client(client.link(), procedure)?;
        processor::pin(theirs)?;
        let step = |_| step_server(client.link(), server.link(), procedure);
        let round = usual((0..TRIES).map(step).collect::<Result<_, _>>()?);
        let whole = round.steps.len();
        let counted = [stub.len(), whole - round.before_look, whole];
        println!("{name:<12} {:>8} {:>15} {:>13}", counted[0], counted[1], counted[2]);
        if shows_steps {
            println!("steps client {name} {stub:x?}");
            println!("steps server {name} {:x?}", round.steps);
        }
        if is_any_off(&counted, &expected) {
            off.push(format!("{name}: {counted:?} instructions, {expected:?} committed"));
        }
    }
    println!("{} counts, {TOLERANCE_PERCENT} % allowed", EXPECTED.len() * 3);
    match off.is_empty() {
        true => Ok(()),
        false => Err(Unstepped::Failed(off.join("; ").into())),
    }
}

/// The round of which there are most of the same length.
fn usual(mut rounds: Vec<Round>) -> Round {
    let lengths: Vec<usize> = rounds.iter().map(|round| round.steps.len()).collect();
    let often = |length: usize| lengths.iter().filter(|&&other| other == length).count();
    rounds.sort_by_key(|round| often(round.steps.len()));
    rounds.pop().unwrap_or_default()
}

fn is_any_off(counted: &Counts, expected: &Counts) -> bool {
    counted.iter().zip(expected).any(|(&counted, &expected)| {
        counted.abs_diff(expected) as f64 > expected as f64 * TOLERANCE_PERCENT / 100.0
    })
}

/// The client says where its stub is, is stopped, told to call, and stepped.
fn step_client(client: &Link, procedure: u64) -> Result<Steps, Unstepped> {
    let stub = client.ask(procedure)?;
    let mut thread = Stepper::stop(client.ask(NOTE)?)?;
    client.tell(&[CALL, procedure, CALLS])?;
    let calls: Result<Vec<_>, _> = (0..CALLS).map(|_| thread.steps_of_function(stub)).collect();
    drop(thread);
    client.ask(NOTE)?;
    Ok(calls?.into_iter().min_by_key(Vec::len).unwrap_or_default())
}

/// The server is stopped and stepped while the client calls once, which the watcher finds on its
/// way round; and when it stays on the A-stack after that, the client calls many times.
fn step_server(client: &Link, server: &Link, procedure: u64) -> Result<Round, Unstepped> {
    for _ in 0..TRIES_MAX {
        // Each time anew: the relief takes the watch over from who is stepped through a procedure.
        client.ask(NOTE)?;
        let mut thread = Stepper::stop(server.ask(0)?)?;
        match step_rounds(client, &mut thread, procedure) {
            Err(Unstepped::Gone) => drop(thread),
            stepped => return stepped,
        }
    }
    Err(Unstepped::Failed(format!("{TRIES_MAX} times the server did not stay").into()))
}

fn step_rounds(client: &Link, thread: &mut Stepper, procedure: u64) -> Result<Round, Unstepped> {
    let stay = thread.function(STAY)?;
    client.tell(&[CALL, procedure, 1])?;
    thread.step_to(stay.start)?;
    client.tell(&[CALL, procedure, CALLS])?;
    // Stopped where it begins to stay, while the client posts the first of them.
    std::thread::sleep(POST_TIME);
    // The first begins where it begins to stay, and is none of those that follow each other.
    thread.steps_of_round(&stay)?;
    let rounds: Result<Vec<_>, _> = (1..CALLS).map(|_| thread.steps_of_round(&stay)).collect();
    Ok(rounds?.into_iter().min_by_key(|round| round.steps.len()).unwrap_or_default())
}

/// Like the benchmarks' server, but says which thread noted itself last.
struct Noting;

impl CallsServer for Noting {
    fn null(&self) {
        Server.null();
    }

    fn add(&self, a: i32, b: i32) -> i32 {
        Server.add(a, b)
    }

    fn big_in(&self, data: &Big) {
        Server.big_in(data);
    }

    fn big_in_out(&self, data: &mut Big) {
        Server.big_in_out(data);
    }

    fn four_k(&self, _: &[u8]) {}

    fn sixty_four_k(&self, _: &[u8]) {}

    fn bytes_in(&self, _: &[u8]) {
        // Relaxed: a number; read after the reply.
        THREAD.store(own_thread(), Ordering::Relaxed);
    }
}

fn own_thread() -> u64 {
    u64::from(rustix::thread::gettid().as_raw_pid().cast_unsigned())
}

/// Without pauses, and without an end to spinning: a step takes microseconds.
fn patient() -> DomainOptions {
    let mut options = DomainOptions::default();
    options.wait.linger_cycles_max = 0;
    options.wait.spin_ns_max = u32::MAX;
    options
}

fn play_server(link: &Link, arguments: &[String]) -> Result<(), Failure> {
    // Relaxed: see where it is stored.
    serve(Noting, patient(), link, arguments, || THREAD.load(Ordering::Relaxed))
}

fn play_client(link: &Link, arguments: &[String]) -> Result<(), Failure> {
    let [directory, processor] = arguments else {
        return Err("which directory, which processor?".into());
    };
    processor::pin(processor.parse()?)?;
    let domain = Domain::with_options(patient())?;
    let client = import(&domain, Path::new(directory))?;
    let mut big = [7; 200];
    for stub in STUBS {
        (0..WARM_UP).try_for_each(|_| stub(&client, &mut big))?;
    }
    link.answer(0)?;
    while let Some([word, procedure, calls, ..]) = link.next()? {
        match word {
            NOTE => {
                client.bytes_in(&[])?;
                link.answer(own_thread())?;
            }
            CALL => {
                let stub = STUBS[procedure as usize];
                (0..calls).try_for_each(|_| stub(&client, &mut big))?;
            }
            procedure => link.answer(STUBS[procedure as usize] as usize as u64)?,
        }
    }
    Ok(())
}
