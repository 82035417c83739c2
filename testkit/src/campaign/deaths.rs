//! One domain is killed at an instruction, and the others are asked what they were told.

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::time::{Duration, Instant};

use nearcall::{Binding, CallError, Clerk, Domain};
use nearcall_core::{Phase, TurnWord};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open};

use super::effects;
use super::hand;
use super::held::{Held, maps_of};
use super::oracle::{CallName, Effects, Entry, Told, judge, unmade};
use super::player::{Ended, PLANT, Player, Role, bind_in};
use super::report::Stopped;
use super::t03_system_calls::strace::{Inject, Seen, Strace};
use super::told::{self, EFFECTS_OF_A_CALLER, heard};
use crate::effects::effects::EffectsClient;
use crate::faults::faults::{FEEDING, FeedingClient};
use crate::feeding;
use crate::server::import_options;

/// Longest that anybody may take to do anything.
const TIMEOUT: Duration = Duration::from_secs(10);

/// What came of one life.
#[derive(Debug, Default)]
pub struct Life {
    /// It died where it was to die.
    pub was_killed: bool,
    /// From when its end was seen to when the survivor was told; only of a server.
    pub told_after: Option<Duration>,
    /// What must not be.
    pub violations: Vec<String>,
}

/// What came of a life whose system calls were disturbed.
#[derive(Debug)]
pub struct Disturbed {
    /// Which it made, and which of them were.
    pub seen: Seen,
    /// What must not be.
    pub violations: Vec<String>,
}

/// What a survivor was told by one server.
#[derive(Debug)]
pub struct Answers {
    /// Of the long call, if it makes one.
    pub long: Result<(), CallError>,
    /// Of each call that is an effect.
    pub history: Vec<Entry>,
    /// When of the last one.
    pub at: Instant,
    /// Replies that stand in the A-stacks and were not delivered.
    pub lost: u64,
}

/// A client's domain that outlives servers.
#[derive(Debug)]
pub struct Survivor {
    /// Makes a long call of each server, too.
    pub is_long: bool,
    domain: Domain,
    directory: tempfile::TempDir,
    calls: u64,
    /// What this process held before servers died.
    held: Held,
}

/// A server's domain that outlives clients.
#[derive(Debug)]
pub struct Host {
    /// Its clients make a long call, too.
    pub is_long: bool,
    _domain: Domain,
    _clerk: Clerk,
    /// An honest client of it.
    neighbour: EffectsClient,
    directory: tempfile::TempDir,
    clients: u64,
    held: Held,
}

const NAME: &str = "mortal";

/// In which either side lets go of the other that has gone.
pub const SETTLED: Duration = Duration::from_millis(200);

/// Number of the client that outlives servers, in the effects.
const SURVIVOR: u64 = 0;

/// Calls that the survivor makes of each server.
const CALLS: u64 = 3;

/// Items of a feed, and how long a server takes for each: what it has made is sent meanwhile.
const ITEMS: u32 = 3;
const ITEM_MS: u32 = 1;

impl Survivor {
    /// Who calls servers that die.
    pub fn new() -> Result<Survivor, Stopped> {
        let (domain, directory) = (Domain::new()?, tempfile::tempdir()?);
        let held = Held::by(std::process::id())?;
        let mut survivor = Survivor { is_long: false, domain, directory, calls: 0, held };
        // What the first server makes for good belongs to the measure.
        let mut server = survivor.server()?;
        let answers = survivor.call();
        if let Some(wrong) = server.end()?.wrong(None) {
            return Err(wrong.into());
        }
        if !answers.are_all() {
            return Err(format!("a server left alone: {answers:?}").into());
        }
        std::thread::sleep(SETTLED);
        survivor.held = Held::by(std::process::id())?;
        Ok(survivor)
    }

    /// Where names are.
    pub fn directory(&self) -> &Path {
        self.directory.path()
    }

    /// A server that waits for us.
    pub fn server(&self) -> io::Result<Player> {
        Player::start(Role::Serve, self.directory(), NAME, "")
    }

    /// Binds to the server that is there.
    pub fn bind(&self) -> io::Result<EffectsClient> {
        Ok(bind_in(&self.domain, self.directory.path(), NAME, TIMEOUT)?.with_deadline(TIMEOUT))
    }

    /// Binds, calls until a call fails, and gives the binding up.
    pub fn call(&mut self) -> Answers {
        let mut told = Answers { long: Ok(()), history: Vec::new(), at: Instant::now(), lost: 0 };
        let bound = bind_in(&self.domain, self.directory.path(), NAME, TIMEOUT);
        told.at = Instant::now();
        let Ok(client) = bound else {
            return told;
        };
        let client = client.with_deadline(TIMEOUT);
        let mut returned = 0;
        if self.is_long {
            told.long = effects::call_long(&client);
            told.at = Instant::now();
            returned += u64::from(told.long.is_ok());
        }
        for _ in 0..CALLS {
            self.calls += 1;
            let outcome = client.effect(SURVIVOR, self.calls);
            told.at = Instant::now();
            let call = CallName { client: SURVIVOR, number: self.calls };
            told.history.push(Entry::of(call, client.binding(), &outcome));
            if outcome.is_err() {
                break;
            }
            returned += 1;
        }
        told.lost = published().saturating_sub(returned);
        told
    }

    /// A server is started that dies at `offset`, and is called.
    pub fn outlive(&mut self, offset: u64) -> Result<Life, Stopped> {
        let mut server = self.server()?;
        server.plant(offset)?;
        let process = process(server.pid())?;
        let (answers, ended) = std::thread::scope(|threads| {
            let watch = threads.spawn(|| end_of(&process));
            let answers = self.call();
            let ended = if answers.are_all() { server.end() } else { server.wait() };
            let at = watch.join().expect("the watch");
            (answers, at.and_then(|at| Ok((at, ended?))))
        });
        let (at, ended) = ended?;
        let mut life = Life { was_killed: ended.was_killed_by_plant(), ..Life::default() };
        life.violations.extend(ended.wrong(Some(PLANT)));
        match (life.was_killed, answers.are_all()) {
            (true, false) => life.told_after = Some(answers.at.saturating_duration_since(at)),
            (false, false) => life.violations.push(format!("nobody died: {answers:?}")),
            (_, true) => {}
        }
        if answers.lost > 0 {
            life.violations.push(format!("{} replies were there and not delivered", answers.lost));
        }
        life.violations.extend(judge(&answers.history, &self.effects()));
        Ok(life)
    }

    /// A server is started whose system calls are disturbed, or only looked at, and is called;
    /// by a feed, too.
    pub fn disturbed(&mut self, injects: &[Inject]) -> Result<Disturbed, Stopped> {
        let mut server = Player::start(Role::Export, self.directory(), NAME, "")?;
        let strace = Strace::attach(server.pid(), injects)?;
        server.go()?;
        let mut violations = Vec::new();
        let said = server.line_in_time().unwrap_or_else(|error| {
            violations.push(format!("the server: {error}"));
            String::new()
        });
        if said == told::EXPORTED {
            let answers = self.call();
            violations.extend(judge(&answers.history, &self.effects()));
            if answers.lost > 0 {
                let lost = answers.lost;
                violations.push(format!("{lost} replies were there and not delivered"));
            }
            if answers.are_all() {
                violations.extend(self.feed());
            }
        }
        if !said.is_empty() {
            drop(server.take_input());
        }
        violations.extend(ending(server.wait(), !said.is_empty()));
        Ok(Disturbed { seen: strace.seen()?, violations })
    }

    /// Takes the items of a feed, of which there are less only where that is said.
    fn feed(&self) -> Option<String> {
        let mut options = import_options(self.directory());
        options.timeout = TIMEOUT;
        let name = feeding::name_of(NAME);
        let bound = Binding::import_with(&self.domain, &name, &FEEDING, options).ok()?;
        let client = FeedingClient::new(bound).with_deadline(TIMEOUT);
        let items: Result<Vec<u32>, CallError> = client.numbers(ITEMS, ITEM_MS).ok()?.collect();
        let count = items.ok()?.len();
        (count != ITEMS as usize).then(|| format!("a feed of {ITEMS} is over after {count}"))
    }

    /// What dead servers have left here after a while, and what they ran that nobody had called.
    pub fn left_behind(&self) -> Vec<String> {
        let numbers = 1..=self.calls;
        let was_made = |call: CallName| call.client == SURVIVOR && numbers.contains(&call.number);
        left_behind(self.held, unmade(&self.effects(), was_made))
    }

    fn effects(&self) -> Effects {
        effects::written(self.directory.path())
    }
}

/// Whether it is among the calls that each caller makes.
pub fn is_a_callers(call: CallName) -> bool {
    (1..=EFFECTS_OF_A_CALLER).contains(&call.number)
}

/// What this process holds more than it did, after a while, beside what else is wrong.
pub fn left_behind(held: Held, mut wrong: Vec<String>) -> Vec<String> {
    let still = held.again(std::process::id(), Duration::from_secs(2)).err();
    wrong.extend(still.map(|still| format!("after the deaths {still}")));
    wrong
}

impl Answers {
    /// Every call returned.
    pub fn are_all(&self) -> bool {
        let returned = self.history.iter().filter(|entry| entry.told == Told::Returned);
        self.long.is_ok() && returned.count() as u64 == CALLS
    }
}

/// What is wrong with how a player ended whose system calls were disturbed. It may be killed, and
/// it may end because a library panics or finds no memory; else it says what came of it.
fn ending(ended: io::Result<Ended>, has_said: bool) -> Option<String> {
    let Ended { status, complaints, .. } = match ended {
        Ok(ended) => ended,
        Err(error) => return Some(error.to_string()),
    };
    // `rustix` learns of the length of a page in one of two ways, and panics where both fail.
    let panics = ["panicked at /rustc/", "/param/auxv.rs:"];
    let is_panic = panics.iter().any(|panic| complaints.contains(panic));
    let is_by_the_library = match (status.code(), status.signal().and_then(Signal::from_named_raw))
    {
        (_, Some(Signal::KILL)) => true,
        // As a thread's start may panic, which does not unwind.
        (_, Some(Signal::ABORT)) => is_panic || complaints.contains("memory allocation of "),
        (Some(101), _) => is_panic,
        _ => status.success() && has_said,
    };
    let is_our_panic = complaints.contains("panicked at crates/");
    let complaint = complaints.split("stack backtrace:").next().unwrap_or_default().trim();
    (is_our_panic || !is_by_the_library).then(|| format!("it ended by {status}: {complaint}"))
}

/// How many replies stand in the A-stacks of the bindings that this process has imported: each
/// idle A-stack says how many calls on it were replied to, each other one had one more posted.
///
/// # Panics: it cannot look at its own memory.
pub fn published() -> u64 {
    let maps = maps_of(std::process::id()).expect("this process has mappings");
    let memory = File::open("/proc/self/mem").expect("this process may read its own memory");
    let heads = maps.lines().filter(|line| line.contains("memfd:nearcall-heads"));
    let starts = heads.filter_map(|line| u64::from_str_radix(line.split('-').next()?, 16).ok());
    let mut sum = 0;
    for start in starts {
        for astack in 0..hand::layout().astack_count() {
            let at = start + u64::from(hand::extent(astack).head_offset_bytes);
            let mut word = [0; 4];
            if memory.read_exact_at(&mut word, at).is_ok() {
                sum += replied(TurnWord(u32::from_ne_bytes(word)));
            }
        }
    }
    sum
}

fn replied(turn: TurnWord) -> u64 {
    let calls = u64::from(turn.sequence().as_u32());
    match turn.phase() {
        Some(Phase::IdleBell | Phase::IdleHot | Phase::IdleTally) => calls,
        _ => calls.saturating_sub(1),
    }
}

/// A process by what stands for it alone.
pub fn process(pid: u32) -> io::Result<OwnedFd> {
    let pid = Pid::from_raw(pid as i32).ok_or(io::ErrorKind::NotFound)?;
    Ok(pidfd_open(pid, PidfdFlags::empty())?)
}

/// When a process ends, which is waited for.
pub fn end_of(process: &OwnedFd) -> io::Result<Instant> {
    poll(&mut [PollFd::new(process, PollFlags::IN)], None)?;
    Ok(Instant::now())
}

impl Host {
    /// Who serves clients that die.
    pub fn new() -> Result<Host, Stopped> {
        let directory = tempfile::tempdir()?;
        let domain = Domain::new()?;
        let clerk = effects::export(&domain, directory.path(), NAME)?;
        let neighbour = bind_in(&Domain::new()?, directory.path(), NAME, TIMEOUT)?;
        neighbour.null()?;
        let mut host = Host {
            is_long: false,
            _domain: domain,
            _clerk: clerk,
            neighbour,
            directory,
            clients: 0,
            held: Held::by(std::process::id())?,
        };
        // What the first client makes for good belongs to the measure.
        host.outlive(None)?;
        std::thread::sleep(SETTLED);
        host.held = Held::by(std::process::id())?;
        Ok(host)
    }

    /// A client that waits to be told to go, and its number.
    pub fn client(&mut self) -> io::Result<(Player, u64)> {
        self.clients += 1;
        let long = if self.is_long { "+" } else { "" };
        let number = format!("{}{long}", self.clients);
        let client = Player::start(Role::Call, self.directory.path(), NAME, &number)?;
        Ok((client, self.clients))
    }

    /// A client is started that dies at `offset`, or does not.
    pub fn outlive(&mut self, offset: Option<u64>) -> Result<Life, Stopped> {
        let (mut client, number) = self.client()?;
        if let Some(offset) = offset {
            client.plant(offset)?;
        }
        // One that met the instruction while it waited is gone already, and does not hear it.
        let _ = client.go();
        let ended = client.wait()?;
        let mut life = Life { was_killed: ended.was_killed_by_plant(), ..Life::default() };
        life.violations.extend(ended.wrong(Some(PLANT)));
        let said = &ended.said;
        if !life.was_killed && !self.is_whole(number, said) {
            life.violations.push(format!("a client that was not killed said {said:?}"));
        }
        life.violations.extend(self.judge(&heard(number, said)));
        if let Err(error) = self.neighbour.add(2, 3) {
            life.violations.push(format!("a neighbour's call failed: {error}"));
        }
        Ok(life)
    }

    /// Whether a client says that all its calls returned.
    pub fn is_whole(&self, number: u64, said: &str) -> bool {
        let has_returned = |entry: &Entry| entry.told == Told::Returned;
        let is_short_of_none = !self.is_long || said.contains(told::LONG_RETURNED);
        is_short_of_none && heard(number, said).iter().all(has_returned)
    }

    /// What is wrong with what a client was told.
    pub fn judge(&self, history: &[Entry]) -> Vec<String> {
        judge(history, &effects::written(self.directory.path()))
    }

    /// A client is started whose system calls are disturbed, or only looked at, and calls. It lends
    /// memory, and makes a long call, too.
    pub fn disturbed(&mut self, injects: &[Inject]) -> Result<Disturbed, Stopped> {
        self.clients += 1;
        let (number, path) = (self.clients, self.directory.path());
        let mut client = Player::start(Role::Call, path, NAME, &format!("{number}*"))?;
        let strace = Strace::attach(client.pid(), injects)?;
        client.go()?;
        let ended = client.wait();
        let said = ended.as_ref().map_or("", |ended| &ended.said);
        let history = heard(number, said);
        let is_told = history.iter().all(|entry| entry.told != Told::Nothing);
        let has_said = is_told || said.starts_with("no binding: ");
        let mut violations = self.judge(&history);
        violations.extend(ending(ended, has_said));
        if let Err(error) = self.neighbour.add(2, 3) {
            violations.push(format!("a neighbour's call failed: {error}"));
        }
        Ok(Disturbed { seen: strace.seen()?, violations })
    }

    /// What dead clients have left here after a while, and what ran that none of them had called.
    pub fn left_behind(&self) -> Vec<String> {
        let clients = 1..=self.clients;
        let was_made = |call: CallName| clients.contains(&call.client) && is_a_callers(call);
        left_behind(self.held, unmade(&effects::written(self.directory.path()), was_made))
    }
}
