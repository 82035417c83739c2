//! A binding one of whose sides is watched: where the words of a call, or of its reply, lie on both
//! sides, and calls of every kind whose words are looked at.
//!
//! Where the client is watched, its server is stopped until the client sleeps: from then on it
//! loads nothing before the reply is there.

use std::cell::Cell;
use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::{BufRead, Write};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::time::{Duration, Instant};

use nearcall::{Binding, Domain};
use nearcall_abi::{Extent, INLINE_BYTES, SegmentLayout};
use nearcall_core::{Phase, TurnWord};
use tempfile::TempDir;

use super::player::{Player, Role};
use super::report::Stopped;
use super::watchpoints::Watched;
use crate::faults::faults::{FAULTS, FaultsClient, Point, Shape};
use crate::server::import_options;
use crate::signal;

/// Bytes of the words of a head, and of the line before a request block.
const HEAD_WORDS_BYTES: u64 = 16;
const LINE_BYTES: u64 = 64;

/// Looks in a row that find no load, and no head that is polled, before a server is taken to sleep:
/// of some 80 us each, so that one which somebody else's work interrupts is not taken for asleep.
/// The same of a client, which sleeps for a few of them at first and for longer later on.
const QUIET_LOOKS: u32 = 100;
const QUIET_LOOKS_OF_CLIENT: u32 = 10;

/// Longest that a call may take.
const TIMEOUT: Duration = Duration::from_secs(10);

/// A procedure and a call of it.
#[derive(Clone, Copy, Debug)]
pub struct Call {
    /// Of the interface `Faults`.
    pub procedure: &'static str,
    /// Bytes of the fixed parts of its arguments and of its results: numbers, and lengths of what
    /// is variable.
    fixed_bytes: [u64; 2],
    /// Makes it. What came of it, in words.
    make: fn(&FaultsClient) -> String,
    /// What is to come of it where nobody changes anything.
    pub right: &'static str,
}

const fn call(
    procedure: &'static str,
    fixed_bytes: [u64; 2],
    make: fn(&FaultsClient) -> String,
    right: &'static str,
) -> Call {
    Call { procedure, fixed_bytes, make, right }
}

/// A call of each kind of parameter.
pub const CALLS: &[Call] = &[
    call("null", [0, 0], |client| format!("{:?}", client.null()), "Ok(())"),
    call("add", [8, 4], |client| format!("{:?}", client.add(2, 3)), "Ok(5)"),
    call("_set_level", [4, 0], |client| format!("{:?}", client.set_level(7)), "Ok(())"),
    call("refuse", [4, 8], |client| format!("{:?}", client.refuse(5)), REFUSED),
    call("greet", [4, 4], |client| format!("{:?}", client.greet("some name")), GREETING),
    call("mirror", [4, 4], mirror, MIRRORED),
    call("join", [16, 4], join, JOINED),
    call("sum", [4, 4], |client| format!("{:?}", client.sum(&[1; 24][..])), "Ok(24)"),
    call("echo", [4, 4], echo, "the same again"),
    call("work", [12, 4], |client| format!("{:?}", client.work(1, 0, &[1, 2, 3])), WORKED),
];

const REFUSED: &str = "Err(Exception(Refused(Refused { code: 5, reason: \"code 5\" })))";
const GREETING: &str = "Ok(\"hello, some name\")";
const MIRRORED: &str = "Ok([Shape { name: \"two\", points: [Point { x: -2, y: -1.5 }] }, \
                        Shape { name: \"one\", points: [Point { x: -1, y: -1.5 }] }])";
const JOINED: &str = "Ok([1, 2, 3, 4, 5, 101, 110, 100])";
const WORKED: &str = "Ok([1, 1, 2, 3])";

fn mirror(client: &FaultsClient) -> String {
    let shape = |name: &str, x| Shape { name: name.to_owned(), points: vec![Point { x, y: 1.5 }] };
    format!("{:?}", client.mirror(&[shape("one", 1), shape("two", 2)]))
}

fn echo(client: &FaultsClient) -> String {
    let data = [9; 70];
    match client.echo(&data) {
        Ok(echo) if echo == data => "the same again".to_owned(),
        other => format!("{other:?}"),
    }
}

fn join(client: &FaultsClient) -> String {
    format!("{:?}", client.join(&[1, 2, 3], &[4, 5], &[], "end"))
}

/// Which side of a binding is watched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// What it loads of calls.
    Server,
    /// What it loads of replies.
    Client,
}

/// A segment, as it lies in who is watched, and in who can change it.
#[derive(Clone, Copy, Debug)]
struct Place {
    there: u64,
    here: u64,
}

/// A word of 4 bytes of a call, as it lies in who is watched, and in who can change it.
#[derive(Clone, Copy, Debug)]
pub struct Word {
    /// Which of the head's words; `None`: of the message.
    pub name: Option<&'static str>,
    /// Byte of the head, or of the message, that it begins at.
    pub at: u64,
    /// Whether who is watched decides by it where it lies: it must not load it twice.
    pub is_decision: bool,
    place: Place,
}

/// A side that is watched, and its only peer. The client calls on one thread all the time.
pub struct LookedAt {
    /// Which it is.
    pub side: Side,
    watched: Watched,
    calls: Sender<Call>,
    outcomes: Receiver<String>,
    heads: Place,
    /// Requests or replies: what the peer writes.
    blocks: Place,
    /// The turn words of all A-stacks.
    turns: Vec<Place>,
    /// Of the peer.
    memory: File,
    /// The peer, if that is the server.
    server: Option<Player>,
    _directory: TempDir,
}

const NAME: &str = "looked-at";

/// The program of a client that is watched.
pub fn ask(directory: &Path, name: &str) {
    let client = client(&Domain::new().expect("a domain"), directory, name);
    println!("ready");
    for line in std::io::stdin().lines() {
        let which: usize = line.expect("standard input").parse().expect("which call");
        println!("{}", (CALLS[which].make)(&client));
    }
}

fn client(domain: &Domain, directory: &Path, name: &str) -> FaultsClient {
    let binding = Binding::import_with(domain, name, &FAULTS, import_options(directory));
    let client = FaultsClient::new(binding.expect("it is exported"));
    client.null().expect("it answers");
    client
}

/// Has calls made one after the other, and passes on what came of them.
fn make(mut one: impl FnMut(Call) -> String + Send + 'static) -> (Sender<Call>, Receiver<String>) {
    let (calls, asked) = channel();
    let (told, outcomes) = channel();
    std::thread::spawn(move || {
        // Until nobody asks any more.
        for call in asked {
            if told.send(one(call)).is_err() {
                break;
            }
        }
    });
    (calls, outcomes)
}

impl LookedAt {
    /// Starts a server, binds to it and watches that side.
    pub fn new(side: Side) -> Result<LookedAt, Stopped> {
        let directory = tempfile::tempdir()?;
        let path = directory.path();
        let server = Player::start(Role::Test, path, NAME, "")?;
        let server_pid = server.pid();
        let (watched, peer, (calls, outcomes), server) = match side {
            Side::Server => {
                let client = client(&Domain::new()?, path, NAME);
                let calls = make(move |call| (call.make)(&client));
                (server, std::process::id(), calls, None)
            }
            Side::Client => {
                let mut client = Player::start(Role::Prompted, path, NAME, "")?;
                let (mut input, mut output) = client.take_talk();
                let calls = make(move |call| {
                    let is_it = |each: &Call| each.procedure == call.procedure;
                    let which = CALLS.iter().position(is_it).expect("one of ours");
                    let mut line = String::new();
                    let asked = writeln!(input, "{which}");
                    match asked.and_then(|()| output.read_line(&mut line)) {
                        Ok(_) => line.trim_end().to_owned(),
                        Err(error) => error.to_string(),
                    }
                });
                (client, server_pid, calls, Some(server))
            }
        };
        let blocks = ["nearcall-requests", "nearcall-replies"][side as usize];
        let place = |name| place(name, watched.pid(), peer);
        let (heads, blocks) = (place("nearcall-heads")?, place(blocks)?);
        let layout = SegmentLayout::new(FAULTS.classes).map_err(|_| "no layout")?;
        let extents = (0..layout.astack_count()).filter_map(|astack| layout.extent(astack));
        let turns = extents.map(|extent| heads.at(extent.head_offset_bytes.into())).collect();
        let memory = OpenOptions::new().read(true).write(true).open(format!("/proc/{peer}/mem"))?;
        Ok(LookedAt {
            side,
            watched: Watched::seize(watched)?,
            calls,
            outcomes,
            heads,
            blocks,
            turns,
            memory,
            server,
            _directory: directory,
        })
    }

    /// The same with a new server and a new client.
    pub fn renew(&mut self) -> Result<(), Stopped> {
        self.end()?;
        *self = LookedAt::new(self.side)?;
        Ok(())
    }

    /// Ends both sides.
    ///
    /// # Errors: one of them has panicked, or had ended before.
    pub fn end(&mut self) -> Result<(), Stopped> {
        let watched = self.watched.finish()?;
        let server = self.server.as_mut().map(Player::end).transpose()?;
        let wrong = watched.or(server.and_then(|ended| ended.wrong(None)));
        wrong.map_or(Ok(()), |wrong| Err(wrong.into()))
    }

    /// The head's words but the turn, and those of the message: of a call, or of its reply.
    pub fn words_of(&mut self, call: Call) -> Result<Vec<Word>, Stopped> {
        let [head, block] = self.astack_of(call)?;
        let word = |name, at, place| Word { name, at, is_decision: true, place };
        let named = [("selector", 4), ("message_bytes", 8), ("origin", 12)];
        let named = named.map(|(name, at)| word(Some(name), at, head.at(at)));
        let length = named[1];
        let mut message_bytes = 0;
        self.call_in_order(call, &[length], |memory, _| {
            message_bytes = load(memory, length.place.here)?;
            Ok(())
        })?;
        let fixed_bytes = call.fixed_bytes[self.side as usize];
        let message = (0..u64::from(message_bytes)).step_by(4).map(|at| {
            let place = match at.checked_sub(INLINE_BYTES.into()) {
                None => head.at(HEAD_WORDS_BYTES + at),
                Some(behind) => block.at(behind),
            };
            Word { is_decision: at < fixed_bytes, ..word(None, at, place) }
        });
        Ok(named.into_iter().chain(message).collect())
    }

    /// The turn word that stands before these.
    pub fn turn_of(&self, words: &[Word]) -> Word {
        let place = Place { there: words[0].place.there - 4, here: words[0].place.here - 4 };
        Word { name: Some("turn"), at: 0, is_decision: false, place }
    }

    /// The head and the block that the peer writes of the A-stack that a call is made on.
    fn astack_of(&mut self, call: Call) -> Result<[Place; 2], Stopped> {
        let procedure = FAULTS.procedures.iter().find(|each| each.name == call.procedure);
        let class = procedure.ok_or_else(|| format!("no {}", call.procedure))?.class;
        let layout = SegmentLayout::new(FAULTS.classes).map_err(|_| "no layout")?;
        let extents: Vec<_> =
            layout.class_range(class.into()).filter_map(|astack| layout.extent(astack)).collect();
        let heads = self.heads;
        let head = |extent: &Extent| heads.at(extent.head_offset_bytes.into());
        let turns = |memory: &File| -> Result<Vec<u32>, Stopped> {
            extents.iter().map(|extent| load(memory, head(extent).here)).collect()
        };
        let before = turns(&self.memory)?;
        self.call_in_order(call, &[], |_, _| Ok(()))?;
        let after = turns(&self.memory)?;
        let moved = (0..extents.len()).find(|at| before[*at] != after[*at]);
        let extent = &extents[moved.ok_or("no A-stack of its class was called on")?];
        let block = self.blocks.at(u64::from(extent.line_offset_bytes) + LINE_BYTES);
        Ok([head(extent), block])
    }

    /// Makes a call whose server, or whose client, sleeps until it is posted, or replied to, and
    /// calls `loaded` behind each load of one of these words from then on; of the server's, while
    /// the call is posted. What came of the call.
    pub fn call(
        &mut self,
        call: Call,
        words: &[Word],
        mut loaded: impl FnMut(&File, usize) -> Result<(), Stopped>,
    ) -> Result<String, Stopped> {
        let watched: Vec<_> = words.iter().map(|word| word.place.there).collect();
        self.watched.watch(&watched)?;
        match &self.server {
            None => {
                let is_polled = |phase: &Option<Phase>| *phase == Some(Phase::IdleHot);
                self.until_quiet(QUIET_LOOKS, |phases| !phases.iter().any(is_polled))?;
            }
            Some(server) => signal::stop(server.pid()),
        }
        self.calls.send(call)?;
        if let Some(pid) = self.server.as_ref().map(Player::pid) {
            let is_asleep = |phases: &[_]| phases.contains(&Some(Phase::PostedAsleep));
            let quiet = self.until_quiet(QUIET_LOOKS_OF_CLIENT, is_asleep);
            signal::resume(pid);
            quiet?;
        }
        let begin = Instant::now();
        let over = || match self.outcomes.try_recv() {
            Ok(outcome) => Some(Ok(outcome)),
            Err(TryRecvError::Empty) if begin.elapsed() < TIMEOUT => None,
            Err(_) => Some(Err(format!("{} has not returned", call.procedure))),
        };
        let (memory, turns, of_server) = (&self.memory, &self.turns, self.side == Side::Server);
        Ok(self.watched.until(over, |word| {
            let is_posted = |phase| matches!(phase, Some(Phase::Posted | Phase::PostedAsleep));
            match phases(memory, turns).any(is_posted) == of_server {
                true => loaded(memory, word),
                // A poll that finds nothing decides nothing.
                false => Ok(()),
            }
        })??)
    }

    /// The same where nothing is changed.
    ///
    /// # Errors: it comes to something else than what is right.
    pub fn call_in_order(
        &mut self,
        call: Call,
        words: &[Word],
        loaded: impl FnMut(&File, usize) -> Result<(), Stopped>,
    ) -> Result<(), Stopped> {
        let Call { procedure, right, .. } = call;
        match self.call(call, words, loaded)? {
            came_to if came_to == right => Ok(()),
            came_to => Err(format!("{procedure} came to {came_to}, {right} is right").into()),
        }
    }

    /// Waits until so many looks in a row find no load, and the turn words as they are to be.
    fn until_quiet(
        &mut self,
        looks: u32,
        is_quiet: impl Fn(&[Option<Phase>]) -> bool,
    ) -> Result<(), Stopped> {
        let quiet_looks = Cell::new(0);
        let (memory, turns, begin) = (&self.memory, &self.turns, Instant::now());
        let over = || {
            let is_one = is_quiet(&phases(memory, turns).collect::<Vec<_>>());
            quiet_looks.set(if is_one { quiet_looks.get() + 1 } else { 0 });
            match quiet_looks.get() >= looks {
                true => Some(Ok(())),
                false if begin.elapsed() < TIMEOUT => None,
                false => Some(Err("who is watched does not fall asleep")),
            }
        };
        Ok(self.watched.until(over, |_| {
            quiet_looks.set(0);
            Ok(())
        })??)
    }
}

impl Place {
    fn at(self, offset: u64) -> Place {
        Place { there: self.there + offset, here: self.here + offset }
    }
}

impl Word {
    /// Changes it, as the peer whose memory it is may at any time.
    pub fn flip(&self, memory: &File, bits: u32) -> Result<(), Stopped> {
        let flipped = load(memory, self.place.here)? ^ bits;
        Ok(memory.write_all_at(&flipped.to_le_bytes(), self.place.here)?)
    }
}

impl fmt::Display for Word {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name {
            Some(name) => f.write_str(name),
            None => write!(f, "byte {}", self.at),
        }
    }
}

/// Of these turn words; `None` is one that is none, or cannot be read.
fn phases<'m>(memory: &'m File, turns: &'m [Place]) -> impl Iterator<Item = Option<Phase>> + 'm {
    turns.iter().map(|turn| load(memory, turn.here).ok().and_then(|word| TurnWord(word).phase()))
}

fn load(memory: &File, address: u64) -> Result<u32, Stopped> {
    let mut bytes = [0; 4];
    memory.read_exact_at(&mut bytes, address)?;
    Ok(u32::from_le_bytes(bytes))
}

/// Where the one segment of that name that a process has mapped lies in it, and in its peer.
fn place(name: &str, pid: u32, peer: u32) -> Result<Place, Stopped> {
    let mapped = |pid: u32| -> Result<Vec<(u64, String)>, Stopped> {
        let maps = std::fs::read_to_string(format!("/proc/{pid}/maps"))?;
        let ours = maps.lines().filter(|line| line.contains(name));
        let parse = |line: &str| {
            let start = u64::from_str_radix(line.split('-').next()?, 16).ok()?;
            Some((start, line.split_whitespace().nth(4)?.to_owned()))
        };
        Ok(ours.filter_map(parse).collect())
    };
    let there = mapped(pid)?;
    let [(there, inode)] = &there[..] else {
        return Err(format!("{} segments are called {name}", there.len()).into());
    };
    let here = mapped(peer)?.into_iter().find(|(_, own)| own == inode);
    let (here, _) = here.ok_or(format!("{name} is not mapped by the peer"))?;
    Ok(Place { there: *there, here })
}
