//! A binding whose server is watched: where the words of a call lie on both sides, and calls of
//! every kind whose words are looked at.

use std::cell::Cell;
use std::fmt;
use std::fs::{File, OpenOptions};
use std::os::unix::fs::FileExt;
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

/// Bytes of the words of a head, and of the line before a request block.
const HEAD_WORDS_BYTES: u64 = 16;
const LINE_BYTES: u64 = 64;

/// Looks in a row that find no load, and no head that is polled, before a server is taken to sleep:
/// of some 80 us each, so that one which somebody else's work interrupts is not taken for asleep.
const QUIET_LOOKS: u32 = 100;

/// Longest that a call may take.
const TIMEOUT: Duration = Duration::from_secs(10);

/// A procedure and a call of it.
#[derive(Clone, Copy, Debug)]
pub struct Call {
    /// Of the interface `Faults`.
    pub procedure: &'static str,
    /// Bytes of the fixed part of its arguments: numbers, and lengths of what is variable.
    pub fixed_bytes: u64,
    /// Makes it. What came of it, in words.
    make: fn(&FaultsClient) -> String,
}

const fn call(
    procedure: &'static str,
    fixed_bytes: u64,
    make: fn(&FaultsClient) -> String,
) -> Call {
    Call { procedure, fixed_bytes, make }
}

/// A call of each kind of parameter.
pub const CALLS: &[Call] = &[
    call("null", 0, |client| format!("{:?}", client.null())),
    call("add", 8, |client| format!("{:?}", client.add(2, 3))),
    call("_set_level", 4, |client| format!("{:?}", client.set_level(7))),
    call("refuse", 4, |client| format!("{:?}", client.refuse(5))),
    call("greet", 4, |client| format!("{:?}", client.greet("some name"))),
    call("mirror", 4, |client| {
        let shape =
            |name: &str, x| Shape { name: name.to_owned(), points: vec![Point { x, y: 1.5 }] };
        format!("{:?}", client.mirror(&[shape("one", 1), shape("two", 2)]))
    }),
    call("join", 16, |client| format!("{:?}", client.join(&[1, 2, 3], &[4, 5], &[], "end"))),
    call("sum", 4, |client| format!("{:?}", client.sum(&[1; 24][..]))),
    call("echo", 4, |client| format!("{:?}", client.echo(&[9; 70]))),
    call("work", 12, |client| format!("{:?}", client.work(1, 0, &[1, 2, 3]))),
];

/// A segment, as it lies in the server and here.
#[derive(Clone, Copy, Debug)]
struct Place {
    there: u64,
    here: u64,
}

/// A word of 4 bytes of a call, as it lies in the server and here.
#[derive(Clone, Copy, Debug)]
pub struct Word {
    /// Which of the head's words; `None`: of the message.
    pub name: Option<&'static str>,
    /// Byte of the head, or of the message, that it begins at.
    pub at: u64,
    place: Place,
}

/// A server that is watched, and its only client, which calls on one thread all the time.
pub struct LookedAt {
    watched: Watched,
    calls: Sender<Call>,
    outcomes: Receiver<String>,
    heads: Place,
    requests: Place,
    /// The turn words of all A-stacks.
    turns: Vec<Place>,
    /// Of this process.
    memory: File,
    _directory: TempDir,
}

impl LookedAt {
    /// Starts a server, binds to it and watches it.
    pub fn new() -> Result<LookedAt, Stopped> {
        let directory = tempfile::tempdir()?;
        let server = Player::start(Role::Test, directory.path(), "looked-at", "")?;
        let options = import_options(directory.path());
        let binding = Binding::import_with(&Domain::new()?, "looked-at", &FAULTS, options)?;
        let client = FaultsClient::new(binding);
        client.null()?;
        let (heads, requests) =
            (place("nearcall-heads", server.pid())?, place("nearcall-requests", server.pid())?);
        let layout = SegmentLayout::new(FAULTS.classes).map_err(|_| "no layout")?;
        let extents = (0..layout.astack_count()).filter_map(|astack| layout.extent(astack));
        let turns = extents.map(|extent| heads.at(extent.head_offset_bytes.into())).collect();
        let (calls, asked) = channel();
        let (told, outcomes) = channel();
        std::thread::spawn(move || {
            // Until nobody asks any more.
            for Call { make, .. } in asked {
                if told.send(make(&client)).is_err() {
                    break;
                }
            }
        });
        let memory = OpenOptions::new().read(true).write(true).open("/proc/self/mem")?;
        Ok(LookedAt {
            watched: Watched::seize(server)?,
            calls,
            outcomes,
            heads,
            requests,
            turns,
            memory,
            _directory: directory,
        })
    }

    /// The turn word of the head that a call is made on; and the head's other words and those of
    /// its message.
    pub fn words_of(&mut self, call: Call) -> Result<(Word, Vec<Word>), Stopped> {
        let [head, block] = self.astack_of(call)?;
        let named = [("selector", 4), ("message_bytes", 8), ("origin", 12)];
        let named = named.map(|(name, at)| Word { name: Some(name), at, place: head.at(at) });
        let turn = Word { name: Some("turn"), at: 0, place: head };
        let length = named[1];
        let mut message_bytes = 0;
        self.call(call, &[length], |memory, _| {
            // Behind the reply it is what the server has written.
            if turn.says_posted(memory)? {
                message_bytes = load(memory, length.place.here)?;
            }
            Ok(())
        })?;
        let message = (0..u64::from(message_bytes)).step_by(4).map(|at| {
            let place = match at.checked_sub(INLINE_BYTES.into()) {
                None => head.at(HEAD_WORDS_BYTES + at),
                Some(behind) => block.at(behind),
            };
            Word { name: None, at, place }
        });
        Ok((turn, named.into_iter().chain(message).collect()))
    }

    /// The head and the request block of the A-stack that a call is made on.
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
        self.call(call, &[], |_, _| Ok(()))?;
        let after = turns(&self.memory)?;
        let moved = (0..extents.len()).find(|at| before[*at] != after[*at]);
        let extent = &extents[moved.ok_or("no A-stack of its class was called on")?];
        let block = self.requests.at(u64::from(extent.line_offset_bytes) + LINE_BYTES);
        Ok([head(extent), block])
    }

    /// Makes a call to the server, which sleeps, and calls `loaded` behind each load of one of
    /// these words. What came of the call.
    pub fn call(
        &mut self,
        call: Call,
        words: &[Word],
        mut loaded: impl FnMut(&File, usize) -> Result<(), Stopped>,
    ) -> Result<String, Stopped> {
        let watched: Vec<_> = words.iter().map(|word| word.place.there).collect();
        self.watched.watch(&watched)?;
        let quiet_looks = Cell::new(0);
        let is_quiet = || {
            let is_polled = is_polled(&self.memory, &self.turns);
            quiet_looks.set(if is_polled { 0 } else { quiet_looks.get() + 1 });
            (quiet_looks.get() == QUIET_LOOKS).then_some(())
        };
        self.watched.until(is_quiet, |_| {
            quiet_looks.set(0);
            Ok(())
        })?;
        self.calls.send(call)?;
        let begin = Instant::now();
        let over = || match self.outcomes.try_recv() {
            Ok(outcome) => Some(Ok(outcome)),
            Err(TryRecvError::Empty) if begin.elapsed() < TIMEOUT => None,
            Err(_) => Some(Err(format!("{} has not returned", call.procedure))),
        };
        let memory = &self.memory;
        Ok(self.watched.until(over, |word| loaded(memory, word))??)
    }
}

impl Place {
    fn at(self, offset: u64) -> Place {
        Place { there: self.there + offset, here: self.here + offset }
    }
}

impl Word {
    /// Whether the server decides by it where it lies: it must not load it twice.
    pub fn is_decision(&self, call: Call) -> bool {
        self.name.is_some() || self.at < call.fixed_bytes
    }

    /// Whether it is a turn word that says that a call is posted.
    pub fn says_posted(&self, memory: &File) -> Result<bool, Stopped> {
        let turn = TurnWord(load(memory, self.place.here)?);
        Ok(matches!(turn.phase(), Some(Phase::Posted | Phase::PostedAsleep)))
    }

    /// Changes it, as the client whose memory it is may at any time.
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

/// Whether the server polls one of these. A word that cannot be read is not polled.
fn is_polled(memory: &File, turns: &[Place]) -> bool {
    turns.iter().any(|turn| {
        let word = load(memory, turn.here).map(TurnWord);
        word.is_ok_and(|turn| turn.phase() == Some(Phase::IdleHot))
    })
}

fn load(memory: &File, address: u64) -> Result<u32, Stopped> {
    let mut bytes = [0; 4];
    memory.read_exact_at(&mut bytes, address)?;
    Ok(u32::from_le_bytes(bytes))
}

/// Where the one segment of that name that a process has mapped lies in it, and here.
fn place(name: &str, pid: u32) -> Result<Place, Stopped> {
    let mapped = |pid: &str| -> Result<Vec<(u64, String)>, Stopped> {
        let maps = std::fs::read_to_string(format!("/proc/{pid}/maps"))?;
        let ours = maps.lines().filter(|line| line.contains(name));
        let parse = |line: &str| {
            let start = u64::from_str_radix(line.split('-').next()?, 16).ok()?;
            Some((start, line.split_whitespace().nth(4)?.to_owned()))
        };
        Ok(ours.filter_map(parse).collect())
    };
    let there = mapped(&pid.to_string())?;
    let [(there, inode)] = &there[..] else {
        return Err(format!("{} segments are called {name}", there.len()).into());
    };
    let here = mapped("self")?.into_iter().find(|(_, own)| own == inode);
    let (here, _) = here.ok_or(format!("{name} is not mapped here"))?;
    Ok(Place { there: *there, here })
}
