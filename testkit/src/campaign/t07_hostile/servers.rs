//! Hostile servers, and a client that binds to one: it is told an error in words and in time, and
//! goes on with honest servers as if nothing had been.

use std::cell::RefCell;
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::atomic::Ordering::SeqCst;
use std::time::{Duration, Instant};

use nearcall_abi::message::{Message, PACKET_BYTES_MAX, RefusalCode, Version};
use nearcall_abi::{AStackClass, AStackHead, InterfaceDescriptor, bell};
use nearcall_core::{Phase, TurnWord};
use nearcall_os::descriptor::PeerDescriptor;
use nearcall_os::futex;
use nearcall_os::segment::{Sealing, Segment};
use nearcall_os::socket::{DESCRIPTORS_MAX, Stream};
use rustix::fs::SealFlags;
use rustix::thread::futex as system;

use super::super::hand::{self, SINGLE, SIZE};
use super::super::player::{Player, Role};
use super::super::report::{Report, Stopped};
use crate::effects::effects::EFFECTS;

const HONEST: &str = "honest";
const LIAR: &str = "liar";

/// How long a victim may take for everything.
const OVER: Duration = Duration::from_secs(10);

/// What a server does with an importer that has said what it wants.
type Answer = fn(&Stream) -> io::Result<()>;

struct Script {
    name: &'static str,
    answer: Answer,
    /// What the victim must say, in part.
    told: &'static str,
}

const SCRIPTS: &[Script] = &[
    Script { name: "a server that hangs up", answer: |_| Ok(()), told: "not bound" },
    Script { name: "a server that says nothing", answer: quiet, told: "did not answer" },
    Script {
        name: "a server of noise",
        answer: |s| hand::send(s, &[0xff; 512], &[]),
        told: "not bound",
    },
    Script {
        name: "a refusal of no code",
        answer: |s| hand::send(s, &[3, 0, 0, 0, 99, 0, 0, 0], &[]),
        told: "not bound",
    },
    Script { name: "a long refusal", answer: long_refusal, told: "not bound" },
    Script {
        name: "a version that is another each time",
        answer: |s| version(s, EFFECTS.classes),
        told: "another version of the interface each time",
    },
    Script {
        name: "a version of endless A-stacks",
        answer: |s| version(s, &ENDLESS),
        told: "the limit is 67108864",
    },
    Script {
        name: "a version without A-stacks",
        answer: |s| version(s, &[]),
        told: "class list has no A-stack",
    },
    Script {
        name: "a binding without descriptors",
        answer: |s| bound(s, 0, []),
        told: "came with 0 descriptors",
    },
    Script {
        name: "a binding with one",
        answer: |s| bound(s, 0, [replies()?]),
        told: "came with 1 descriptor,",
    },
    Script {
        name: "sparse replies",
        answer: |s| bound(s, 0, [file(blocks(), 0, SINGLE)?, bells()?]),
        told: "replies segment",
    },
    Script {
        name: "replies that may shrink",
        answer: |s| bound(s, 0, [file(blocks(), blocks(), SINGLE - SealFlags::SHRINK)?, bells()?]),
        told: "replies segment",
    },
    Script {
        name: "replies too short",
        answer: |s| bound(s, 0, [file(4096, 4096, SINGLE)?, bells()?]),
        told: "replies segment",
    },
    Script {
        name: "replies in a pipe",
        answer: |s| bound(s, 0, [rustix::pipe::pipe()?.0, bells()?]),
        told: "replies segment",
    },
    Script {
        name: "a bell nobody writes",
        answer: |s| bound(s, 0, [replies()?, file(4096, 4096, SIZE | SealFlags::WRITE)?]),
        told: "bell segment",
    },
    Script {
        name: "a bell too long",
        answer: |s| bound(s, 0, [replies()?, file(8192, 8192, SIZE)?]),
        told: "bell segment",
    },
    Script {
        name: "a server that never replies",
        answer: |s| stay(s, 0),
        told: "add call aborted",
    },
    Script {
        name: "a lane past the last",
        answer: |s| stay(s, u32::MAX),
        told: "add call aborted",
    },
    Script {
        name: "a server that moves its client's sleep",
        answer: |s| while_called(s, move_sleeper),
        told: "add call aborted",
    },
    Script {
        name: "a server that wakes and wakes",
        answer: |s| while_called(s, wake),
        told: "add call aborted",
    },
    Script { name: "a server that scribbles", answer: scribble, told: "bound, add" },
    Script {
        name: "a server that hangs up in a call",
        answer: hang_up_in_call,
        told: "add call failed",
    },
];

/// Has a client of its own process meet each of them.
pub fn run(report: &mut Report, directory: &Path) -> Result<(), Stopped> {
    let mut honest = Player::start(Role::Serve, directory, HONEST, "")?;
    for script in SCRIPTS {
        let said = meet(directory, script).map_err(|error| format!("{}: {error}", script.name))?;
        if !said.contains(script.told) {
            report.violation(format!("{}: the client said {said:?}", script.name));
        }
        if !said.contains("an honest server answers") {
            report.violation(format!("{}: and then: {said:?}", script.name));
        }
        report.count += 1;
    }
    report.violations.extend(honest.end()?.wrong(None));
    Ok(())
}

/// What a client says that meets this server.
fn meet(directory: &Path, script: &Script) -> io::Result<String> {
    let path = hand::path_of(directory, LIAR);
    // The one before has left it.
    let _ = std::fs::remove_file(&path);
    let listener = hand::listen(directory, LIAR)?;
    let mut victim = Player::start(Role::Suffer, directory, LIAR, HONEST)?;
    victim.go()?;
    let begin = Instant::now();
    let mut is_answered = false;
    let ended = loop {
        if let Some(stream) = listener.accept().map_err(io::Error::other)? {
            let mut packet = vec![0; PACKET_BYTES_MAX];
            let heard = stream.receive(&mut packet, DESCRIPTORS_MAX, OVER);
            KEPT.with_borrow_mut(|kept| {
                *kept = heard.map(|heard| heard.descriptors).unwrap_or_default()
            });
            (script.answer)(&stream)?;
            is_answered = true;
        }
        if let Some(status) = victim.ended()? {
            break victim.told(status)?;
        }
        if begin.elapsed() > OVER {
            return Err(io::Error::other("the client has not ended"));
        }
        std::thread::sleep(Duration::from_millis(1));
    };
    match ended.wrong(None) {
        Some(wrong) => Err(io::Error::other(wrong)),
        None if !is_answered => Err(io::Error::other("nobody has come")),
        None => Ok(ended.said),
    }
}

thread_local! {
    /// The segments of the importer that is being answered.
    static KEPT: RefCell<Vec<PeerDescriptor>> = const { RefCell::new(Vec::new()) };
}

fn blocks() -> u64 {
    hand::layout().blocks_bytes().into()
}

fn file(bytes: u64, allocated: u64, seals: SealFlags) -> io::Result<OwnedFd> {
    hand::file(bytes, allocated, seals)
}

fn replies() -> io::Result<OwnedFd> {
    file(blocks(), blocks(), SINGLE)
}

fn bells() -> io::Result<OwnedFd> {
    file(bell::SEGMENT_BYTES as u64, bell::SEGMENT_BYTES as u64, SIZE)
}

fn bound<const N: usize>(stream: &Stream, lane: u32, files: [OwnedFd; N]) -> io::Result<()> {
    let message = Message::Bound { incarnation: 1, lane, processor: u32::MAX };
    hand::send(stream, &hand::packet(&message), &files)
}

/// Waits until the client has given up.
fn quiet(stream: &Stream) -> io::Result<()> {
    match hand::await_hang_up(stream, OVER) {
        Some(_) => Ok(()),
        None => Err(io::Error::other("the client waits for ever")),
    }
}

fn long_refusal(stream: &Stream) -> io::Result<()> {
    let detail = [b'x'; 60_000];
    let message = Message::Refused { code: RefusalCode::Hash, detail: &detail };
    hand::send(stream, &hand::packet(&message), &[])
}

/// As large as can be, and just as many as a class list may have.
static ENDLESS: [AStackClass; EFFECTS.classes.len()] =
    [AStackClass { block_bytes: 1 << 20, count: 100 }; EFFECTS.classes.len()];

/// Refuses for another version of the interface, which has A-stacks of these classes.
fn version(stream: &Stream, classes: &'static [AStackClass]) -> io::Result<()> {
    let theirs = InterfaceDescriptor { hash: [9; 16], classes, ..EFFECTS };
    let mut detail = vec![0; PACKET_BYTES_MAX / 2];
    let used = Version::encode(&theirs, &mut detail).expect("few classes");
    let message = Message::Refused { code: RefusalCode::Hash, detail: &detail[..used] };
    hand::send(stream, &hand::packet(&message), &[])
}

fn stay(stream: &Stream, lane: u32) -> io::Result<()> {
    bound(stream, lane, [replies()?, bells()?])?;
    quiet(stream)
}

/// The heads of the importer that is being answered.
fn heads() -> io::Result<Segment> {
    let file = KEPT.with_borrow_mut(|kept| kept.remove(0));
    let heads = Segment::receive(file, hand::layout().heads_bytes() as usize, Sealing::BothWrite);
    heads.map_err(|fault| io::Error::other(fault.to_string()))
}

/// Binds, waits for a call, and hangs up without a reply. Its process lives on: that the call was
/// not taken is not proven, because it may still be.
fn hang_up_in_call(stream: &Stream) -> io::Result<()> {
    let heads = heads()?;
    bound(stream, 0, [replies()?, bells()?])?;
    let turns = (0..hand::layout().astack_count()).map(hand::extent);
    let turns: Vec<_> = turns.map(|extent| extent.head_offset_bytes as usize).collect();
    let begin = Instant::now();
    while turns.iter().all(|at| heads.span().load_u32(*at) == 0) && begin.elapsed() < OVER {
        std::thread::sleep(Duration::from_micros(100));
    }
    Ok(())
}

/// Binds, and does this to the heads without a reply until the client has gone; where that does
/// something to a client that sleeps, it says so.
fn while_called(stream: &Stream, act: fn(&AStackHead) -> bool) -> io::Result<()> {
    let heads = heads()?;
    bound(stream, 0, [replies()?, bells()?])?;
    let span = heads.span_mut().expect("both write the heads");
    let offsets = (0..hand::layout().astack_count()).map(|n| hand::extent(n).head_offset_bytes);
    let offsets: Vec<_> = offsets.map(|offset| offset as usize).collect();
    let begin = Instant::now();
    let mut times = 0u64;
    while hand::hear(stream, Duration::ZERO) != hand::Heard::HungUp && begin.elapsed() < OVER {
        for offset in &offsets {
            times += u64::from(act(span.line(*offset).expect("a line of the segment")));
        }
    }
    if times == 0 { Err(io::Error::other("the client has not slept")) } else { Ok(()) }
}

/// Moves whoever sleeps for the reply to a word that nobody wakes.
fn move_sleeper(head: &AStackHead) -> bool {
    let all = u32::MAX >> 1;
    // It is refused if nobody sleeps.
    system::requeue(&head.turn, system::Flags::empty(), 0, all, &head.origin)
        .is_ok_and(|moved| moved > 0)
}

/// Says that nobody sleeps, and wakes whoever does.
fn wake(head: &AStackHead) -> bool {
    // SeqCst: by hand, nothing is to depend on a row of the table.
    let seen = TurnWord(head.turn.load(SeqCst));
    if seen.phase() == Some(Phase::PostedAsleep) {
        // SeqCst: as above.
        head.turn.store(hand::turn(seen.sequence().as_u32(), Phase::Posted), SeqCst);
    }
    futex::wake_all(&head.turn) > 0
}

/// Binds, and writes noise into all heads until the client has gone.
fn scribble(stream: &Stream) -> io::Result<()> {
    let heads = heads()?;
    let heads_bytes = heads.bytes();
    bound(stream, 0, [replies()?, bells()?])?;
    let span = heads.span_mut().expect("both write the heads");
    let mut chances = fastrand::Rng::with_seed(5);
    let begin = Instant::now();
    while hand::hear(stream, Duration::ZERO) != hand::Heard::HungUp && begin.elapsed() < OVER {
        for _ in 0..1_000 {
            span.store_u32(chances.usize(..heads_bytes / 4) * 4, chances.u32(..));
        }
    }
    Ok(())
}
