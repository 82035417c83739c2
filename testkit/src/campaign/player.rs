//! Domains of their own: the program started once more, to be killed, stopped and lied to.
//!
//! ```text
//! Player::start ── program --play ROLE ARGUMENT… ──▶ play_if_told
//!       ◀── "ready" ──
//!       ── "go" ──▶                 a server serves from the start and takes it for nothing
//!       ── end of input ──▶         it ends in an orderly way
//! ```

mod bounds;

use std::fs::OpenOptions;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::fs::FileExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitCode, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use nearcall::{Binding, CallError, Domain, DomainOptions, ExportError};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{Pid, Resource, Rlimit, Signal, getrlimit, kill_process, setrlimit};

use super::breakpoint::BREAKPOINT;
use super::decoders::forms;
use super::memory::HEAP;
use super::t29_policy::Part;
use super::{effects, hand, looked_at, told};
use super::{t07_hostile, t13_canaries, t17_races, t31_reused};
use crate::confined::{STRAYED, is_confined, was_caught};
use crate::effects::effects::{EFFECTS, EffectsClient};
use crate::server::{self, import_options};

/// First argument of a player.
const MARK: &str = "--play";

/// What a breakpoint kills by.
pub const PLANT: Signal = Signal::TRAP;

/// A process that plays a role. Dropping it kills it.
#[derive(Debug)]
pub struct Player {
    child: Child,
    /// What it says, unless somebody else reads it.
    output: Option<BufReader<ChildStdout>>,
    /// Somebody else has waited for it.
    is_gone: bool,
}

/// A program that a player is started from, other than this one.
#[derive(Debug)]
pub struct Program {
    /// Where it is.
    pub path: PathBuf,
    /// What its environment has beside this one's.
    pub environment: &'static [(&'static str, &'static str)],
}

/// How a player ended, and all that it had said by then.
#[derive(Debug)]
pub struct Ended {
    /// How.
    pub status: ExitStatus,
    /// Its lines that nobody has read before.
    pub said: String,
    /// What it complained of.
    pub complaints: String,
}

/// Longest that a player may take to end.
const END_TIMEOUT: Duration = Duration::from_secs(10);

/// What a player can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Exports `Effects` until its input ends.
    Serve,
    /// The same and `Feeding`, told to go; says before how the exports went.
    Export,
    /// The same, with room for 4 MiB of its clients' memory.
    Tight,
    /// The same, of a server that calls on the one whose name it is given.
    Relay,
    /// Exports `Faults` from one processor until its input ends.
    Test,
    /// Calls `Faults`, one call for each line of its input, and says what came of it.
    Prompted,
    /// Exports `Crowd` until its input ends.
    Echo,
    /// Told to go, binds, calls, and ends; says what it was told of each call. Makes a long one,
    /// too, if there is a `+` behind its number, and lends memory before that if there is a `*`;
    /// has its server call on, if there is a `>`.
    Call,
    /// Binds and makes one call before it says that it is ready, and holds the binding until its
    /// input ends. The call is an effect if it is given a number as a client.
    Hold,
    /// Whatever row T29 needs.
    Policy(Part),
    /// Binds to a server that is not honest, says how that went, and then to one that is.
    Suffer,
    /// Told to go, exports `Effects` and calls it over twins, so many times, and says how often.
    Twins,
    /// Connects to a socket, and says nothing there until its input ends.
    Knock,
    /// Binds, and has another process hold the socket as well, whose number it says.
    Bequeath,
    /// Gives numbers of processes away, for T31.
    Reuse,
    /// Exports `Forms` until its input ends.
    Mirror,
    /// Calls `Forms` with the pattern of T13.
    Fill,
}

/// The call of one that holds a binding, if it is an effect.
pub const HOLDERS_CALL: u64 = 1;

impl Role {
    /// How one is told it.
    pub fn word(self) -> &'static str {
        match self {
            Role::Serve => "serve",
            Role::Export => "export",
            Role::Tight => "tight",
            Role::Relay => "relay",
            Role::Test => "test",
            Role::Prompted => "prompted",
            Role::Echo => "echo",
            Role::Call => "call",
            Role::Hold => "hold",
            Role::Policy(part) => part.word(),
            Role::Suffer => "suffer",
            Role::Twins => "twins",
            Role::Knock => "knock",
            Role::Bequeath => "bequeath",
            Role::Reuse => "reuse",
            Role::Mirror => "mirror",
            Role::Fill => "fill",
        }
    }
}

impl Player {
    /// Starts one, which says that it is ready.
    pub fn start(role: Role, directory: &Path, name: &str, rest: &str) -> io::Result<Player> {
        Player::start_under(&[], role, directory, name, rest)
    }

    /// The same, started by another program.
    pub fn start_under(
        starter: &[&str],
        role: Role,
        directory: &Path,
        name: &str,
        rest: &str,
    ) -> io::Result<Player> {
        let program = std::env::current_exe()?;
        let command = match starter {
            [] => {
                let player =
                    Player::start_command(Command::new(program), role, directory, name, rest)?;
                return player.confined(role);
            }
            [first, others @ ..] => {
                let mut command = Command::new(first);
                command.args(others).arg(program);
                command
            }
        };
        Player::start_command(command, role, directory, name, rest)
    }

    /// The same, of another program that has been built of this one's sources.
    pub fn start_program(
        program: &Program,
        role: Role,
        directory: &Path,
        name: &str,
        rest: &str,
    ) -> io::Result<Player> {
        let mut command = Command::new(&program.path);
        command.envs(program.environment.iter().copied()).env(bounds::SANITIZED, "");
        Player::start_command(command, role, directory, name, rest)
    }

    fn start_command(
        mut command: Command,
        role: Role,
        directory: &Path,
        name: &str,
        rest: &str,
    ) -> io::Result<Player> {
        command.arg(MARK).arg(role.word()).arg(directory).arg(name).arg(rest);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn()?;
        let output = Some(BufReader::new(child.stdout.take().expect("piped")));
        let mut player = Player { child, output, is_gone: false };
        let line = player.line_in_time()?;
        if line == "ready" {
            return Ok(player);
        }
        // One that says nothing has ended.
        let ended = if line.is_empty() { player.wait()?.wrong(None) } else { None };
        let ended = ended.unwrap_or_default();
        Err(io::Error::other(format!("a player said {line:?} first; {ended}")))
    }

    /// This player, which has confined itself unless its role has not.
    fn confined(self, role: Role) -> io::Result<Player> {
        match is_confined(self.pid()) || !bounds::confines_itself(role.word()) {
            true => Ok(self),
            false => Err(io::Error::other(format!("{role:?} has not confined itself"))),
        }
    }

    /// Its number.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// The next line that it says; empty if it ends.
    ///
    /// # Errors: it says nothing for ten seconds, and was killed.
    pub fn line_in_time(&mut self) -> io::Result<String> {
        let longest = rustix::time::Timespec { tv_sec: END_TIMEOUT.as_secs() as i64, tv_nsec: 0 };
        let output = self.output.as_ref().expect("not taken").get_ref();
        let said = poll(&mut [PollFd::new(output, PollFlags::IN)], Some(&longest))?;
        if said == 0 {
            self.kill()?;
            return Err(io::Error::new(io::ErrorKind::TimedOut, "a player says nothing"));
        }
        self.line()
    }

    /// The next line that it says; empty if there is none.
    pub fn line(&mut self) -> io::Result<String> {
        let mut line = String::new();
        self.output.as_mut().expect("not taken").read_line(&mut line)?;
        Ok(line.trim_end().to_owned())
    }

    /// Tells it to go.
    pub fn go(&mut self) -> io::Result<()> {
        self.child.stdin.as_mut().expect("piped").write_all(b"go\n")
    }

    /// What a server has of its heap, bytes.
    pub fn heap_bytes(&mut self) -> io::Result<u64> {
        self.child.stdin.as_mut().expect("piped").write_all(b"heap\n")?;
        self.line()?.parse().map_err(io::Error::other)
    }

    /// Has it die where it executes the instruction at `offset` of the program.
    pub fn plant(&self, offset: u64) -> io::Result<()> {
        let base = program_base(self.pid())?;
        let memory = OpenOptions::new().write(true).open(format!("/proc/{}/mem", self.pid()))?;
        memory.write_all_at(&BREAKPOINT, base + offset)
    }

    /// Kills it, and does not wait.
    pub fn signal_kill(&mut self) -> io::Result<()> {
        self.child.kill()
    }

    /// Kills it, and waits until it is gone.
    pub fn kill(&mut self) -> io::Result<ExitStatus> {
        self.kill_children();
        self.child.kill()?;
        let status = self.child.wait()?;
        match was_caught(status).then(|| self.told(status)).transpose()? {
            Some(caught) => Err(io::Error::other(caught.wrong(None).unwrap_or_default())),
            None => Ok(status),
        }
    }

    /// Kills what a program started that itself was started in the player's place.
    fn kill_children(&self) {
        let pid = self.pid();
        let children = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children"));
        for child in children.unwrap_or_default().split_whitespace() {
            if let Some(child) = child.parse().ok().and_then(Pid::from_raw) {
                // It may have ended already.
                let _ = kill_process(child, Signal::KILL);
            }
        }
    }

    /// Whether it has ended, and how.
    pub fn ended(&mut self) -> io::Result<Option<ExitStatus>> {
        self.child.try_wait()
    }

    /// Waits until it has ended of its own accord.
    ///
    /// # Errors: it has not within ten seconds, and was killed.
    pub fn ended_in_time(&mut self) -> io::Result<ExitStatus> {
        let begin = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait()? {
                return Ok(status);
            }
            if begin.elapsed() > END_TIMEOUT {
                self.kill()?;
                return Err(io::Error::other(format!("a player did not end in {END_TIMEOUT:?}")));
            }
            std::thread::sleep(Duration::from_micros(100));
        }
    }

    /// It has ended, and somebody else has waited for it.
    pub fn forget(mut self) {
        self.is_gone = true;
    }

    /// Ends its input and waits until it has ended.
    ///
    /// # Errors: it has not within ten seconds, and was killed.
    pub fn end(&mut self) -> io::Result<Ended> {
        drop(self.child.stdin.take());
        self.wait()
    }

    /// Waits until it has ended of its own accord, or of what was done to it.
    ///
    /// # Errors: it has not within ten seconds, and was killed.
    pub fn wait(&mut self) -> io::Result<Ended> {
        let status = self.ended_in_time()?;
        self.told(status)
    }

    /// Kills it, and waits until it is gone. Whether it was dead before its end says.
    pub fn end_by_kill(&mut self) -> io::Result<Ended> {
        let status = self.kill()?;
        self.told(status)
    }

    /// Its input, which ends when this is dropped.
    pub fn take_input(&mut self) -> ChildStdin {
        self.child.stdin.take().expect("piped, and taken once")
    }

    /// Its input, and what it says from here on.
    pub fn take_talk(&mut self) -> (ChildStdin, BufReader<ChildStdout>) {
        (self.take_input(), self.output.take().expect("taken once"))
    }

    /// Its lines until it ends that nobody has read before.
    pub fn said(&mut self) -> io::Result<String> {
        let mut said = String::new();
        if let Some(output) = &mut self.output {
            output.read_to_string(&mut said)?;
        }
        Ok(said)
    }

    /// What is to be known of it, once it has ended so.
    pub fn told(&mut self, status: ExitStatus) -> io::Result<Ended> {
        let said = self.said()?;
        let mut complaints = String::new();
        if let Some(mut errors) = self.child.stderr.take() {
            errors.read_to_string(&mut complaints)?;
        }
        Ok(Ended { status, said, complaints })
    }
}

impl Ended {
    /// What is wrong with it: a player is to end with success, or by this signal if that was sent
    /// to it, and without a word of a panic, or of a system call that is not on its list, whatever
    /// became of the thread that it was of.
    #[must_use]
    pub fn wrong(&self, but_by: Option<Signal>) -> Option<String> {
        let Ended { status, complaints, .. } = self;
        let by = status.signal();
        let is_meant = by.is_some() && by == but_by.map(Signal::as_raw);
        let is_in_order = status.success() || is_meant;
        let has_said = ["panicked at ", STRAYED].iter().any(|word| complaints.contains(word));
        let is_sound = is_in_order && !has_said;
        (!is_sound).then(|| format!("a player ended by {status}: {}", complaints.trim()))
    }

    /// Whether it died of an instruction that [`Player::plant`] put there.
    pub fn was_killed_by_plant(&self) -> bool {
        self.status.signal() == Some(PLANT.as_raw())
    }
}

impl Drop for Player {
    fn drop(&mut self) {
        if self.is_gone {
            return;
        }
        let is_told = self.child.stderr.is_none();
        // It may have ended already.
        let killed = self.kill();
        let is_caught = self.child.try_wait().ok().flatten().is_some_and(was_caught);
        assert!(!is_caught || is_told || std::thread::panicking(), "{killed:?}");
    }
}

/// Where the program lies in a process that runs it.
pub fn program_base(pid: u32) -> io::Result<u64> {
    let program = std::fs::read_link(format!("/proc/{pid}/exe"))?;
    let maps = std::fs::read_to_string(format!("/proc/{pid}/maps"))?;
    let mut lines = maps.lines().filter(|line| line.ends_with(&*program.to_string_lossy()));
    let base = lines.next().and_then(|line| line.split('-').next());
    base.and_then(|base| u64::from_str_radix(base, 16).ok())
        .ok_or_else(|| io::Error::other("the program is not mapped"))
}

/// Plays a role if this process was started to. Call it before anything else.
pub fn play_if_told() -> Option<ExitCode> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [mark, role, directory, name, rest] = &arguments[..] else {
        return None;
    };
    if mark != MARK {
        return None;
    }
    // Whoever dies here dies on purpose.
    let no_core = Rlimit { current: Some(0), maximum: Some(0) };
    setrlimit(Resource::Core, no_core).expect("a limit may always be lowered");
    allow_descriptors();
    bounds::confine_player(role);
    let directory = Path::new(directory);
    match role.as_str() {
        "serve" => serve(|domain| effects::export(domain, directory, name)),
        "export" => told::export(directory, name),
        "tight" => {
            let mut tight = DomainOptions::default();
            tight.mapped_bytes_max = 4 << 20;
            serve_with(tight, |domain| effects::export(domain, directory, name));
        }
        "relay" => serve(|domain| effects::export_before(rest, domain, directory, name)),
        "test" => {
            let mut alone = DomainOptions::default();
            alone.processors_max = 1;
            serve_with(alone, |domain| server::export(domain, directory, name));
        }
        "prompted" => looked_at::ask(directory, name),
        "echo" => serve(|domain| effects::export_crowd(domain, directory, name)),
        "call" => told::call(directory, name, rest),
        "hold" => hold(directory, name, rest),
        "suffer" => suffer(directory, name, rest),
        "twins" => t17_races::twins(directory, name, rest.parse().expect("a number of calls")),
        "knock" => knock(directory, name),
        "mirror" => serve(|domain| forms::export(domain, directory, name)),
        "fill" => t13_canaries::fill(directory, name),
        "bequeath" => t07_hostile::bequeath(directory, name),
        "reuse" => {
            let times = rest.parse().expect("a number of times");
            t31_reused::reuse(directory, name, times).expect("a namespace of its own");
        }
        other => match Part::of(other) {
            Some(part) => part.play(directory, rest),
            None => panic!("no role is called {other}"),
        },
    }
    Some(ExitCode::SUCCESS)
}

fn serve<Clerks>(export: impl FnOnce(&Domain) -> Result<Clerks, ExportError>) {
    serve_with(DomainOptions::default(), export)
}

fn serve_with<Clerks>(
    options: DomainOptions,
    export: impl FnOnce(&Domain) -> Result<Clerks, ExportError>,
) {
    let domain = Domain::with_options(options).expect("a domain");
    let clerk = export(&domain).expect("an export");
    println!("ready");
    for line in io::stdin().lines() {
        if line.expect("standard input") == "heap" {
            println!("{}", HEAP.current_usage());
        }
    }
    drop(clerk);
    domain.shut_down();
}

fn hold(directory: &Path, name: &str, client: &str) {
    let bound = bind(directory, name, Duration::from_secs(60)).expect("a binding");
    match client.parse() {
        Ok(client) => bound.effect(client, HOLDERS_CALL).expect("a call"),
        Err(_) => bound.null().expect("a call"),
    }
    println!("ready");
    io::stdin().read_to_end(&mut Vec::new()).expect("standard input");
}

/// Has another program play a role in this process. Returns only if that fails.
pub fn play_instead(mut command: Command, role: Role, directory: &Path, name: &str) -> io::Error {
    command.arg(MARK).arg(role.word()).arg(directory).arg(name).arg("").exec()
}

/// Lets this process have as many descriptors as the system ever does.
pub fn allow_descriptors() {
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum }).expect("up to the maximum");
}

fn suffer(directory: &Path, name: &str, honest: &str) {
    println!("ready");
    io::stdin().read_line(&mut String::new()).expect("standard input");
    let timeout = Duration::from_millis(500);
    match bind(directory, name, timeout) {
        Ok(bound) => {
            let bound = bound.with_deadline(Duration::from_millis(200));
            let (sum, echo) = (bound.add(2, 3), bound.echo(&[7; 100]));
            let echo = echo.map(|bytes| bytes.len());
            println!("bound, add {}, echo {}", in_words(&sum), in_words(&echo));
        }
        Err(error) => println!("not bound: {error}"),
    }
    match bind(directory, honest, Duration::from_secs(5)).map(|bound| bound.add(2, 3)) {
        Ok(Ok(5)) => println!("an honest server answers"),
        other => println!("an honest server does not: {other:?}"),
    }
}

fn knock(directory: &Path, name: &str) {
    let _stream = hand::connect(&hand::path_of(directory, name)).expect("a socket");
    println!("ready");
    io::stdin().read_to_end(&mut Vec::new()).expect("standard input");
}

fn in_words<T: std::fmt::Debug>(outcome: &Result<T, CallError>) -> String {
    match outcome {
        Ok(value) => format!("{value:?}"),
        Err(error) => error.to_string(),
    }
}

/// A client of a domain of its own.
pub fn bind(directory: &Path, name: &str, timeout: Duration) -> io::Result<EffectsClient> {
    bind_in(&Domain::new()?, directory, name, timeout)
}

/// A client of `domain`.
pub fn bind_in(
    domain: &Domain,
    directory: &Path,
    name: &str,
    timeout: Duration,
) -> io::Result<EffectsClient> {
    let mut options = import_options(directory);
    options.timeout = timeout;
    let binding = Binding::import_with(domain, name, &EFFECTS, options);
    Ok(EffectsClient::new(binding.map_err(|error| io::Error::other(error.to_string()))?))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How a player ended that a shell plays.
    fn ended(script: &str) -> Ended {
        let mut command = Command::new("sh");
        command.args(["-c", script]).stdin(Stdio::piped());
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let output = child.stdout.take().map(BufReader::new);
        Player { child, output, is_gone: false }.end().unwrap()
    }

    #[test]
    fn a_player_that_ends_in_order_says_what_it_has_to_say() {
        let ended = ended("read line; echo over; echo hm >&2");
        assert_eq!((ended.said.as_str(), ended.complaints.as_str()), ("over\n", "hm\n"));
        assert_eq!(ended.wrong(None), None);
    }

    #[test]
    fn a_player_that_fails_panics_or_is_killed_is_wrong() {
        for script in ["exit 101", "kill -SEGV $$", "kill -KILL $$"] {
            assert!(ended(script).wrong(None).is_some(), "{script}");
        }
        let wrong = ended("echo \"thread 'x' panicked at y\" >&2").wrong(None).unwrap();
        assert!(wrong.contains("panicked at y"), "{wrong}");
    }

    #[test]
    fn a_player_that_was_killed_may_have_died_of_that_and_of_nothing_else() {
        let killed = Some(Signal::KILL);
        assert_eq!(ended("kill -KILL $$").wrong(killed), None);
        assert_eq!(ended("exit 0").wrong(killed), None);
        for script in ["kill -SEGV $$", "exit 1", "echo panicked at x >&2; kill -KILL $$"] {
            assert!(ended(script).wrong(killed).is_some(), "{script}");
        }
    }
}
