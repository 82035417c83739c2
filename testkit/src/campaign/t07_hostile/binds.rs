//! Hostile binds: segments and descriptors that are not what they must be.

use std::fs::File;
use std::os::fd::{AsRawFd, OwnedFd};
use std::time::{Duration, Instant};

use nearcall_abi::message::{Classes, Message, RefusalCode};
use nearcall_abi::{ABI_VERSION, AStackClass};
use rustix::event::epoll;
use rustix::fs::{FallocateFlags, MemfdFlags, Mode, OFlags, SealFlags};

use super::super::hand::{self, Heard, SINGLE, SIZE};
use super::{Found, Script, Target};
use crate::effects::effects::EFFECTS;

/// How long an answer may take.
pub(super) const ANSWERED: Duration = Duration::from_secs(2);

/// A page.
const PAGE: u64 = nearcall_abi::PAGE_BYTES as u64;

pub const SCRIPTS: &[&Script] = &[
    &Script { name: "heads too short", run: |t| heads_of(t, hand::file(PAGE - 1, PAGE - 1, SIZE)) },
    &Script { name: "heads too long", run: |t| heads_of(t, hand::file(8 * PAGE, 8 * PAGE, SIZE)) },
    &Script { name: "heads of nothing", run: |t| heads_of(t, hand::file(0, 0, SIZE)) },
    &Script { name: "sparse heads", run: |t| heads_of(t, hand::file(heads_bytes(), 0, SIZE)) },
    &Script { name: "unsealed heads", run: |t| heads_of(t, whole(SealFlags::empty())) },
    &Script {
        name: "heads that may shrink",
        run: |t| heads_of(t, whole(SIZE - SealFlags::SHRINK)),
    },
    &Script { name: "heads that may grow", run: |t| heads_of(t, whole(SIZE - SealFlags::GROW)) },
    &Script { name: "seals that may change", run: |t| heads_of(t, whole(SIZE - SealFlags::SEAL)) },
    &Script { name: "heads nobody writes", run: |t| heads_of(t, whole(SIZE | SealFlags::WRITE)) },
    &Script { name: "punched heads", run: |t| heads_of(t, punched()) },
    &Script { name: "heads opened read-only", run: |t| heads_of(t, read_only()) },
    &Script { name: "heads of huge pages", run: |t| heads_of(t, huge()) },
    &Script { name: "a pipe", run: |t| heads_of(t, pipe()) },
    &Script { name: "a directory", run: |t| heads_of(t, opened("/")) },
    &Script { name: "a file of proc", run: |t| heads_of(t, opened("/proc/self/stat")) },
    &Script { name: "a device", run: |t| heads_of(t, opened("/dev/zero")) },
    &Script { name: "a path", run: |t| heads_of(t, path_only()) },
    &Script { name: "an event counter", run: |t| heads_of(t, event()) },
    &Script { name: "a poller", run: |t| heads_of(t, poller()) },
    &Script { name: "a socket", run: |t| heads_of(t, socket(t)) },
    &Script {
        name: "sparse requests",
        run: |t| requests_of(t, hand::file(blocks_bytes(), 0, SINGLE)),
    },
    &Script {
        name: "requests that all write",
        run: |t| requests_of(t, hand::file(blocks_bytes(), blocks_bytes(), SIZE)),
    },
    &Script { name: "requests too short", run: |t| requests_of(t, hand::file(PAGE, PAGE, SINGLE)) },
    &Script { name: "one file twice", run: one_twice },
    &Script { name: "no descriptors", run: |t| counted(t, 0) },
    &Script { name: "one descriptor", run: |t| counted(t, 1) },
    &Script { name: "three descriptors", run: |t| counted(t, 3) },
    &Script { name: "eight descriptors", run: |t| counted(t, 8) },
    &Script {
        name: "another ABI",
        run: |t| wish(t, RefusalCode::AbiVersion, |w| w.abi = ABI_VERSION + 1),
    },
    &Script { name: "another hash", run: |t| wish(t, RefusalCode::Hash, |w| w.hash[3] ^= 1) },
    &Script {
        name: "another interface",
        run: |t| wish(t, RefusalCode::OtherInterface, |w| w.name = "x"),
    },
    &Script {
        name: "more A-stacks",
        run: |t| wish(t, RefusalCode::Hash, |w| w.classes[0].count = 4096),
    },
    &Script {
        name: "endless A-stacks",
        run: |t| wish(t, RefusalCode::Hash, |w| w.classes[0].count = u32::MAX),
    },
    &Script { name: "no class", run: |t| wish(t, RefusalCode::Hash, |w| w.classes.clear()) },
    &Script { name: "a bind that is cut off", run: cut_off },
    &Script { name: "a bind that says nothing", run: slow },
    &Script { name: "200 binds that say nothing", run: slow_many },
    &Script { name: "descriptors that nobody takes", run: hoard },
];

/// What a client wants.
struct Wish {
    abi: u32,
    hash: [u8; 16],
    name: &'static str,
    classes: Vec<AStackClass>,
}

pub(super) fn heads_bytes() -> u64 {
    hand::layout().heads_bytes().into()
}

fn blocks_bytes() -> u64 {
    hand::layout().blocks_bytes().into()
}

fn whole(seals: SealFlags) -> std::io::Result<OwnedFd> {
    hand::file(heads_bytes(), heads_bytes(), seals)
}

fn punched() -> std::io::Result<OwnedFd> {
    let file = whole(SIZE)?;
    let hole = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
    rustix::fs::fallocate(&file, hole, 0, PAGE)?;
    Ok(file)
}

fn read_only() -> std::io::Result<OwnedFd> {
    let file = whole(SIZE)?;
    Ok(File::open(format!("/proc/self/fd/{}", file.as_raw_fd()))?.into())
}

fn huge() -> std::io::Result<OwnedFd> {
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING | MemfdFlags::HUGETLB;
    let file = rustix::fs::memfd_create("huge", flags)?;
    rustix::fs::ftruncate(&file, 2 << 20)?;
    rustix::fs::fcntl_add_seals(&file, SIZE)?;
    Ok(file)
}

fn pipe() -> std::io::Result<OwnedFd> {
    Ok(rustix::pipe::pipe()?.0)
}

fn opened(path: &str) -> std::io::Result<OwnedFd> {
    Ok(File::open(path)?.into())
}

fn socket(target: &Target) -> std::io::Result<OwnedFd> {
    Ok(hand::connect(&target.path())?.into())
}

fn path_only() -> std::io::Result<OwnedFd> {
    Ok(rustix::fs::open("/", OFlags::PATH, Mode::empty())?)
}

fn event() -> std::io::Result<OwnedFd> {
    Ok(rustix::event::eventfd(0, rustix::event::EventfdFlags::CLOEXEC)?)
}

fn poller() -> std::io::Result<OwnedFd> {
    Ok(epoll::create(epoll::CreateFlags::CLOEXEC)?)
}

fn heads_of(target: &Target, heads: std::io::Result<OwnedFd>) -> Found {
    let files = [heads.map_err(in_words)?, hand::requests().map_err(in_words)?];
    refused(target, &hand::packet(&hand::import_message()), &files, RefusalCode::Protocol)
}

fn requests_of(target: &Target, requests: std::io::Result<OwnedFd>) -> Found {
    let files = [hand::heads().map_err(in_words)?, requests.map_err(in_words)?];
    refused(target, &hand::packet(&hand::import_message()), &files, RefusalCode::Protocol)
}

fn one_twice(target: &Target) -> Found {
    let heads = hand::heads().map_err(in_words)?;
    let again = heads.try_clone().map_err(in_words)?;
    let packet = hand::packet(&hand::import_message());
    refused(target, &packet, &[heads, again], RefusalCode::Protocol)
}

/// As many descriptors with the import. The server may refuse or hang up, and has to do either.
fn counted(target: &Target, count: usize) -> Found {
    let files: Result<Vec<_>, _> = (0..count).map(|_| hand::heads()).collect();
    let stream = hand::connect(&target.path()).map_err(in_words)?;
    let packet = hand::packet(&hand::import_message());
    hand::send(&stream, &packet, &files.map_err(in_words)?).map_err(in_words)?;
    match hand::hear(&stream, ANSWERED) {
        Heard::HungUp => Ok(None),
        Heard::Packet(packet) if is_refusal(&packet, RefusalCode::Protocol) => Ok(None),
        other => Err(format!("{count} descriptors were answered with {other:?}")),
    }
}

fn wish(target: &Target, code: RefusalCode, change: impl FnOnce(&mut Wish)) -> Found {
    let (abi, hash, name) = (ABI_VERSION, EFFECTS.hash, EFFECTS.name);
    let mut wish = Wish { abi, hash, name, classes: EFFECTS.classes.to_vec() };
    change(&mut wish);
    let message = Message::Import {
        abi_version: wish.abi,
        interface_hash: wish.hash,
        processor: u32::MAX,
        interface_name: wish.name,
        classes: Classes::new(&wish.classes).expect("few classes"),
        is_introduced: false,
    };
    let files = [hand::heads().map_err(in_words)?, hand::requests().map_err(in_words)?];
    refused(target, &hand::packet(&message), &files, code)
}

pub(super) fn refused(
    target: &Target,
    packet: &[u8],
    files: &[OwnedFd],
    code: RefusalCode,
) -> Found {
    let stream = hand::connect(&target.path()).map_err(in_words)?;
    hand::send(&stream, packet, files).map_err(in_words)?;
    match hand::hear(&stream, ANSWERED) {
        Heard::Packet(packet) if is_refusal(&packet, code) => Ok(None),
        other => Err(format!("answered with {other:?}, not refused for {code:?}")),
    }
}

fn is_refusal(packet: &[u8], wanted: RefusalCode) -> bool {
    matches!(Message::decode(packet), Ok(Message::Refused { code, .. }) if code == wanted)
}

/// Goes away in the middle of the bind.
fn cut_off(target: &Target) -> Found {
    for _ in 0..50 {
        let stream = hand::connect(&target.path()).map_err(in_words)?;
        let files = [hand::heads().map_err(in_words)?, hand::requests().map_err(in_words)?];
        hand::send(&stream, &hand::packet(&hand::import_message()), &files).map_err(in_words)?;
    }
    Ok(None)
}

/// Connects and says nothing: the server ends that of its own accord.
fn slow(target: &Target) -> Found {
    let stream = hand::connect(&target.path()).map_err(in_words)?;
    match hand::await_hang_up(&stream, ANSWERED) {
        Some(_) => Ok(None),
        None => Err(format!("still connected after {ANSWERED:?}")),
    }
}

/// The same often enough that no other bind gets in, which is to last no longer than one of them.
fn slow_many(target: &Target) -> Found {
    let streams = (0..200).map(|_| hand::connect(&target.path()));
    let streams: Vec<_> = streams.filter_map(Result::ok).collect();
    let begin = Instant::now();
    while hand::HandClient::bind(&target.path()).is_err() {
        if begin.elapsed() > ANSWERED {
            return Err(format!("{} silent binds keep others out", streams.len()));
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    Ok(None)
}

/// Sends descriptors that the server has no reason to take.
fn hoard(target: &Target) -> Found {
    let stream = hand::connect(&target.path()).map_err(in_words)?;
    let files: Result<Vec<_>, _> = (0..8).map(|_| hand::heads()).collect();
    let files = files.map_err(in_words)?;
    for _ in 0..50 {
        // Once the server has hung up there is nothing left to send to.
        if hand::send(&stream, &[0; 64], &files).is_err() {
            break;
        }
    }
    match hand::await_hang_up(&stream, ANSWERED) {
        Some(_) => Ok(None),
        None => Err("it still listens".to_owned()),
    }
}

pub(super) fn in_words(error: impl ToString) -> String {
    error.to_string()
}
