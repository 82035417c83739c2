//! How many instructions a call takes, and which part of it: the client's stub from call to
//! return, and the server's round from the look that sees the post to the reply, and on to the next
//! look.
//!
//! ```text
//! client   ──post──▶│ wait │◀──collect──        │ where the turn changes, or is seen to have
//! server         ──next──▶│◀──take──┊──run──┊──reply──▶│      ┊ into the entry stub and out of it
//! ```
//!
//! Counted by single steps, so that every instruction of the program counts and no time does. Which
//! copy the C library has depends on the processor: its instructions do not count. One side is
//! stepped while the other runs: so the stub finds its reply at the first poll and the server its
//! post at the first look, which is the path of a call that waits for nothing. Nobody lingers, or
//! the speed of the machine would be counted. Of many calls the fewest instructions count: the
//! others met a third process.

#[cfg_attr(not(target_arch = "x86_64"), path = "counts/elsewhere.rs")]
mod stepper;

use std::error::Error;
use std::fmt;
use std::future::Future;
use std::path::Path;
use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use nearcall::{CallError, Domain, DomainOptions};
use nearcall_os::processor;

use crate::calls::stubs::calls::{Big, CallsClient, CallsServer};
use crate::calls::{Server, import, serve};
use crate::child::{Child, Failure, Link, Role};

use stepper::Stepper;

/// What is stepped through, in the order of `STUBS`.
pub const PROCEDURES: [&str; 6] = ["null", "add", "biginout", "numbers", "awaited", "posted"];

/// One procedure's call, stepped through on both sides.
pub struct Stepped {
    /// The procedure.
    pub name: &'static str,
    /// In the client.
    pub stub: Stub,
    /// In the server.
    pub round: Round,
}

/// Why nothing was counted.
#[derive(Debug)]
pub enum Unstepped {
    /// This machine cannot do it.
    Impossible(String),
    /// The thread went elsewhere. Another one may do better.
    Gone,
    /// It went wrong.
    Failed(Box<dyn Error>),
}

/// Where in its program a thread executed an instruction each, in order.
pub type Steps = Vec<u64>;

/// One call in the client.
#[derive(Default)]
pub struct Stub {
    /// From the stub's first instruction to its return, inclusive.
    pub steps: Steps,
    /// How many of them it takes to post.
    pub to_post: usize,
    /// How many of them come before the look that saw the reply.
    pub before_look: usize,
}

/// One call in the server.
#[derive(Default)]
pub struct Round {
    /// From the reply to the call before, exclusive, to this one, inclusive.
    pub steps: Steps,
    /// How many of them come before the look that saw the post.
    pub before_look: usize,
    /// How many it takes to the entry stub, and out of it.
    pub to_entry: usize,
    pub to_exit: usize,
}

impl fmt::Display for Unstepped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unstepped::Impossible(reason) => f.write_str(reason),
            Unstepped::Gone => f.write_str("the client was not where it had to be"),
            Unstepped::Failed(error) => error.fmt(f),
        }
    }
}

impl<E: Into<Box<dyn Error>>> From<E> for Unstepped {
    fn from(error: E) -> Unstepped {
        Unstepped::Failed(error.into())
    }
}

/// A server and a client whose calls are stepped through.
pub struct Pair {
    server: Child,
    client: Child,
    /// The client's processor and the server's.
    places: [u32; 2],
    _directory: tempfile::TempDir,
}

/// Calls of which the one with the fewest instructions counts. Fewer than a server stays for.
const CALLS: u64 = 20;

/// Times that the server is stepped. In some it loses the watch to its relief on the way, and goes
/// another way then.
const TRIES: u32 = 5;

/// Times that the server may have gone elsewhere before the client's calls came.
const TRIES_MAX: u32 = 20;

/// Pairs that are stepped until one goes well: another process may have either's processor.
const PAIRS_MAX: u32 = 3;

/// Calls before, not stepped: the A-stack has its bias after them, and the server is awake.
pub const WARM_UP: u32 = 1_000;

/// The function in which a server waits for the next call of the client that it has just served.
const STAY: &str = "Watch>::stay_on";

/// In which a client that was told to call has done so, mostly.
const POST_TIME: Duration = Duration::from_millis(10);

const SERVER: &str = "counted-server";
pub const CLIENT: &str = "counted-client";

/// What a child can be. A program that is nothing else has the stubs to itself, so that what they
/// are inlined into depends on no table's code.
pub const ROLES: [(&str, Role); 2] = [(SERVER, play_server), (CLIENT, play_client)];

/// Asked of the client: to have the server note its thread, and to say which its own is.
pub const NOTE: u64 = 100;

/// Told the client, with a procedure and a number: to call it as often.
pub const CALL: u64 = 101;

/// The thread that ran the last [`NOTE`].
static THREAD: AtomicU64 = AtomicU64::new(0);

type Calling = fn(&CallsClient, &mut Big) -> Result<(), CallError>;

/// A stub each, inlined into a function that begins and ends where it does.
const STUBS: [Calling; 6] = [null, add, big_in_out, numbers, awaited, posted];

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

#[inline(never)]
fn numbers(client: &CallsClient, _: &mut Big) -> Result<(), CallError> {
    client.numbers_in(&[1, 2, 3, 4])
}

/// A Null of a task that is alone: its first poll finds the reply.
#[inline(never)]
fn awaited(client: &CallsClient, _: &mut Big) -> Result<(), CallError> {
    let mut call = pin!(client.awaiting().null());
    let mut context = Context::from_waker(Waker::noop());
    loop {
        if let Poll::Ready(ended) = call.as_mut().poll(&mut context) {
            return ended;
        }
    }
}

/// A Null that is collected as soon as it is posted: the first look finds the reply.
#[inline(never)]
fn posted(client: &CallsClient, _: &mut Big) -> Result<(), CallError> {
    client.posting().null()?.collect()
}

impl Pair {
    /// Starts both, on two processors.
    pub fn start() -> Result<Pair, Unstepped> {
        Pair::with_client(CLIENT)
    }

    /// The same with a client in another role, which is asked the same things.
    pub fn with_client(role: &str) -> Result<Pair, Unstepped> {
        let [ours, theirs, ..] = processor::allowed()[..] else {
            let reason = "on one processor each call is a system call";
            return Err(Unstepped::Impossible(reason.into()));
        };
        let directory = tempfile::tempdir().map_err(Failure::from)?;
        let path = directory.path().to_str().expect("a name of ours");
        let server = Child::start(SERVER, &[path, &theirs.to_string()], &[])?;
        let client = Child::start(role, &[path, &ours.to_string()], &[])?;
        Ok(Pair { server, client, places: [ours, theirs], _directory: directory })
    }

    /// Steps through one of [`PROCEDURES`], by its index. Leaves the calling thread on one of the
    /// two processors, that of whom was stepped last: the other side has its own to itself.
    pub fn step(&self, procedure: usize) -> Result<Stepped, Unstepped> {
        let (client, server) = (self.client.link(), self.server.link());
        let (name, procedure) = (PROCEDURES[procedure], procedure as u64);
        processor::pin(self.places[0]).map_err(Failure::from)?;
        let stub = step_client(client, procedure)?;
        processor::pin(self.places[1]).map_err(Failure::from)?;
        let rounds = (0..TRIES).map(|_| step_server(client, server, procedure));
        let round = usual(rounds.collect::<Result<_, _>>()?);
        Ok(Stepped { name, stub, round })
    }
}

/// Null, stepped through on a thread of its own, which is bound to the processor of whom it steps;
/// the client has this role. What this machine cannot do is the text within.
///
/// # Errors: it went wrong, each time that it was tried.
pub fn step_null(role: &'static str) -> Result<Result<Stepped, String>, Failure> {
    let step = move || match Pair::with_client(role).and_then(|pair| pair.step(0)) {
        Ok(stepped) => Ok(Ok(stepped)),
        Err(Unstepped::Impossible(why)) => Ok(Err(why)),
        Err(error) => Err(error.to_string()),
    };
    let step = || std::thread::spawn(step).join().expect("stepping does not panic");
    Ok((1..PAIRS_MAX).fold(step(), |stepped, _| stepped.or_else(|_| step()))?)
}

impl Stepped {
    /// Instructions of each part of the call, in their order; `wait` and `next` are not waited for.
    pub fn parts(&self) -> [(&'static str, usize); 7] {
        let (stub, round) = (&self.stub, &self.round);
        [
            ("post", stub.to_post),
            ("wait", stub.before_look - stub.to_post),
            ("take", round.to_entry - round.before_look),
            ("run", round.to_exit - round.to_entry),
            ("reply", round.steps.len() - round.to_exit),
            ("next", round.before_look),
            ("collect", stub.steps.len() - stub.before_look),
        ]
    }
}

/// The round of which there are most of the same length.
fn usual(mut rounds: Vec<Round>) -> Round {
    let lengths: Vec<usize> = rounds.iter().map(|round| round.steps.len()).collect();
    let often = |length: usize| lengths.iter().filter(|&&other| other == length).count();
    rounds.sort_by_key(|round| often(round.steps.len()));
    rounds.pop().unwrap_or_default()
}

/// The client says where its stub is, is stopped, told to call, and stepped.
fn step_client(client: &Link, procedure: u64) -> Result<Stub, Unstepped> {
    let stub = client.ask(procedure)?;
    let mut thread = Stepper::stop(client.ask(NOTE)?)?;
    client.tell(&[CALL, procedure, CALLS])?;
    let calls: Result<Vec<_>, _> = (0..CALLS).map(|_| thread.steps_of_stub(stub)).collect();
    drop(thread);
    client.ask(NOTE)?;
    // The first does not know where it posted.
    let calls = calls?.into_iter().skip(1);
    Ok(calls.min_by_key(|stub| stub.steps.len()).unwrap_or_default())
}

/// The server is stopped and stepped while the client calls once, which the watcher finds on its
/// way round; and when it stays on the A-stack after that, the client calls many times.
fn step_server(client: &Link, server: &Link, procedure: u64) -> Result<Round, Unstepped> {
    for _ in 0..TRIES_MAX {
        // Each time anew: the relief takes the watch over from who is stepped through a procedure.
        client.ask(NOTE)?;
        // That was a call on another A-stack. A FastThread's are told by a tally for a while after
        // it (design note 0007), and the server does not stay.
        client.tell(&[CALL, procedure, WARM_UP.into()])?;
        // Answered once they have returned.
        client.ask(procedure)?;
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

    fn leaf(&self) {}

    fn numbers_in(&self, _: &[i32]) {}
}

pub fn own_thread() -> u64 {
    u64::from(rustix::thread::gettid().as_raw_pid().cast_unsigned())
}

/// Without pauses, and without an end to spinning: a step takes microseconds.
pub fn patient() -> DomainOptions {
    let mut options = DomainOptions::default();
    options.wait.linger_cycles_max = 0;
    options.wait.spin_ns_max = u32::MAX;
    // Also where yields are banned.
    options.wait.spin_ns_min = u32::MAX;
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
