//! A peer that speaks the protocol by hand: it can say and write anything.

use std::io;
use std::mem::offset_of;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering::SeqCst;
use std::time::{Duration, Instant};

use nearcall::name::{Scope, socket_path};
use nearcall_abi::message::{Classes, Message, PACKET_BYTES_MAX};
use nearcall_abi::{
    ABI_VERSION, AStackHead, BellLine, Extent, INLINE_BYTES, InterfaceDescriptor, LINE_BYTES,
    RequestLine, SegmentLayout, bell,
};
use nearcall_core::{Phase, Sequence, TurnWord};
use nearcall_os::futex;
use nearcall_os::segment::{Sealing, Segment};
use nearcall_os::socket::{DESCRIPTORS_MAX, Listener, Stream};
use rustix::fs::{FallocateFlags, MemfdFlags, SealFlags};

use crate::effects::effects::EFFECTS;

/// How long to wait for what must come.
const TIMEOUT: Duration = Duration::from_secs(60);

/// A client's half of a binding, to be abused.
#[derive(Debug)]
pub struct HandClient {
    /// What it is bound for.
    pub interface: &'static InterfaceDescriptor,
    /// The binding's socket.
    pub stream: Stream,
    /// Both write.
    pub heads: Segment,
    /// The client's to write.
    pub requests: Segment,
    /// The server's bell line and gates.
    pub bell: Segment,
    /// The lane of the bell.
    pub lane: u32,
    /// The server's to write.
    pub replies: Segment,
}

/// The words of a head that is posted by hand.
#[derive(Clone, Copy, Debug)]
pub struct Words {
    /// The turn, as it is.
    pub turn: u32,
    /// Which procedure.
    pub selector: u32,
    /// Of the message.
    pub message_bytes: u32,
    /// Processor and flags.
    pub origin: u32,
}

/// A message or the end of the conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Heard {
    /// A packet; its first word is its kind.
    Packet(Vec<u8>),
    /// The other side has hung up.
    HungUp,
    /// Nothing for so long.
    Nothing,
}

/// The socket that a name stands for in `directory`.
pub fn path_of(directory: &Path, name: &str) -> PathBuf {
    socket_path(&Scope::Directory(directory.to_owned()), name).expect("a name of ours")
}

/// Where the A-stacks of `Effects` lie.
pub fn layout() -> SegmentLayout<'static> {
    layout_of(&EFFECTS)
}

/// Where the A-stacks of an interface lie.
pub fn layout_of(interface: &'static InterfaceDescriptor) -> SegmentLayout<'static> {
    SegmentLayout::new(interface.classes).expect("the compiler made the classes")
}

/// Where an A-stack lies.
pub fn extent(astack: u32) -> Extent {
    layout().extent(astack).expect("an A-stack of the first extent")
}

/// Index of a procedure of `Effects`.
pub fn procedure(name: &str) -> u32 {
    let is_it = |each: &nearcall_abi::ProcedureDescriptor| each.name == name;
    EFFECTS.procedures.iter().position(is_it).expect("a procedure of ours") as u32
}

/// An A-stack that `name` may be called on.
pub fn astack_of(name: &str) -> u32 {
    let class = EFFECTS.procedures[procedure(name) as usize].class;
    layout().class_range(class.into()).start
}

/// The word of call `sequence` in this phase.
pub fn turn(sequence: u32, phase: Phase) -> u32 {
    TurnWord::new(Sequence::from_u32(sequence), phase).0
}

/// The message that asks for a binding by its name, in order.
pub fn import_message() -> Message<'static> {
    import_of(&EFFECTS, false)
}

/// The same for any interface, or one that asks for what an introduction is to.
pub fn import_of(interface: &'static InterfaceDescriptor, is_introduced: bool) -> Message<'static> {
    Message::Import {
        abi_version: ABI_VERSION,
        interface_hash: interface.hash,
        processor: 0,
        interface_name: interface.name,
        classes: Classes::new(interface.classes).expect("the compiler made the classes"),
        is_introduced,
    }
}

/// A message as a packet.
pub fn packet(message: &Message<'_>) -> Vec<u8> {
    let mut bytes = vec![0; PACKET_BYTES_MAX];
    message.encode(&mut bytes).expect("a message fits its packet").to_vec()
}

/// Sends whatever it is.
pub fn send(stream: &Stream, bytes: &[u8], descriptors: &[OwnedFd]) -> io::Result<()> {
    let descriptors: Vec<_> = descriptors.iter().map(AsFd::as_fd).collect();
    stream.send(bytes, &descriptors, TIMEOUT).map_err(io::Error::other)
}

/// What comes next within `longest`, without its descriptors.
pub fn hear(stream: &Stream, longest: Duration) -> Heard {
    use nearcall_os::socket::SocketError;
    let mut bytes = vec![0; PACKET_BYTES_MAX];
    match stream.receive(&mut bytes, DESCRIPTORS_MAX, longest) {
        Ok(received) => Heard::Packet(bytes[..received.bytes].to_vec()),
        Err(SocketError::TimedOut) => Heard::Nothing,
        Err(_) => Heard::HungUp,
    }
}

/// Waits for the other side to hang up. How long that took; `None` if it does not within `longest`.
pub fn await_hang_up(stream: &Stream, longest: Duration) -> Option<Duration> {
    let begin = Instant::now();
    loop {
        match hear(stream, longest.saturating_sub(begin.elapsed())) {
            Heard::HungUp => return Some(begin.elapsed()),
            Heard::Nothing => return None,
            Heard::Packet(_) => {}
        }
    }
}

/// A memory file as a peer might make it.
pub fn file(bytes: u64, allocated: u64, seals: SealFlags) -> io::Result<OwnedFd> {
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    let file = rustix::fs::memfd_create("nearcall-by-hand", flags)?;
    rustix::fs::ftruncate(&file, bytes)?;
    if allocated > 0 {
        rustix::fs::fallocate(&file, FallocateFlags::empty(), 0, allocated)?;
    }
    rustix::fs::fcntl_add_seals(&file, seals)?;
    Ok(file)
}

/// Seals of segments that both write.
pub const SIZE: SealFlags = SealFlags::SHRINK.union(SealFlags::GROW).union(SealFlags::SEAL);

/// Seals of segments that their creator alone writes.
pub const SINGLE: SealFlags = SIZE.union(SealFlags::FUTURE_WRITE);

/// A heads segment as it must be.
pub fn heads() -> io::Result<OwnedFd> {
    let bytes = layout().heads_bytes().into();
    file(bytes, bytes, SIZE)
}

/// A requests segment as it must be.
pub fn requests() -> io::Result<OwnedFd> {
    let bytes = layout().blocks_bytes().into();
    file(bytes, bytes, SINGLE)
}

/// Two segments as a client makes them, and what it sends of them.
fn halves(layout: SegmentLayout<'_>) -> io::Result<([Segment; 2], [OwnedFd; 2])> {
    let create = |name, bytes, sealing| {
        Segment::create(name, bytes, sealing).map_err(|error| io::Error::other(error.to_string()))
    };
    let (heads_bytes, blocks_bytes) = (layout.heads_bytes(), layout.blocks_bytes());
    let (heads, sent_heads) = create("nearcall-by-hand", heads_bytes as usize, Sealing::BothWrite)?;
    let (requests, sent_requests) =
        create("nearcall-by-hand", blocks_bytes as usize, Sealing::SingleWriter)?;
    Ok(([heads, requests], [sent_heads, sent_requests]))
}

/// The server at the other end of a socket, if it lets us in.
pub fn connect(path: &Path) -> io::Result<Stream> {
    Stream::connect(path).map_err(io::Error::other)
}

impl HandClient {
    /// Binds to `Effects` in order.
    pub fn bind(path: &Path) -> io::Result<HandClient> {
        HandClient::bind_for(path, &EFFECTS)
    }

    /// Binds in order.
    pub fn bind_for(
        path: &Path,
        interface: &'static InterfaceDescriptor,
    ) -> io::Result<HandClient> {
        let (stream, layout) = (connect(path)?, layout_of(interface));
        let ([heads, requests], sent) = halves(layout)?;
        send(&stream, &packet(&import_of(interface, false)), &sent)?;
        let mut bytes = vec![0; PACKET_BYTES_MAX];
        let mut received =
            stream.receive(&mut bytes, DESCRIPTORS_MAX, TIMEOUT).map_err(io::Error::other)?;
        let message = Message::decode(&bytes[..received.bytes]);
        let Ok(Message::Bound { lane, .. }) = message else {
            return Err(io::Error::other(format!("{message:?} instead of a binding")));
        };
        let receive = |file, bytes, sealing| {
            Segment::receive(file, bytes, sealing)
                .map_err(|fault| io::Error::other(fault.to_string()))
        };
        let bell = received.descriptors.remove(1);
        let bell = receive(bell, bell::SEGMENT_BYTES, Sealing::BothWrite)?;
        let replies = received.descriptors.remove(0);
        let blocks_bytes = layout.blocks_bytes() as usize;
        let replies = receive(replies, blocks_bytes, Sealing::SingleWriter)?;
        Ok(HandClient { interface, stream, heads, requests, bell, lane, replies })
    }

    fn extent(&self, astack: u32) -> Extent {
        layout_of(self.interface).extent(astack).expect("an A-stack of the first extent")
    }

    /// The head of an A-stack.
    pub fn head(&self, astack: u32) -> &AStackHead {
        let heads = self.heads.span_mut().expect("both write the heads");
        heads.line(self.extent(astack).head_offset_bytes as usize).expect("a line of the segment")
    }

    /// The first line of an A-stack's request block.
    pub fn request_line(&self, astack: u32) -> &RequestLine {
        let requests = self.requests.span_mut().expect("the client writes its requests");
        let offset = self.extent(astack).line_offset_bytes;
        requests.line(offset as usize).expect("a line of the segment")
    }

    /// The bell line.
    pub fn bell_line(&self) -> &BellLine {
        let bell = self.bell.span_mut().expect("both write the bell");
        bell.line(bell::WATCH_OFFSET_BYTES).expect("a line of the segment")
    }

    /// Writes the words of a head, and rings.
    pub fn post(&self, astack: u32, words: Words) {
        self.write(astack, words);
        self.ring();
    }

    /// Writes the words of a head, the turn last. Whoever sleeps hears nothing of it.
    pub fn write(&self, astack: u32, words: Words) {
        let head = self.head(astack);
        // SeqCst: by hand, nothing is to depend on a row of the table.
        head.selector.store(words.selector, SeqCst);
        head.message_bytes.store(words.message_bytes, SeqCst);
        head.origin.store(words.origin, SeqCst);
        head.turn.store(words.turn, SeqCst);
    }

    /// The call that may be posted next on an A-stack.
    pub fn next_sequence(&self, astack: u32) -> u32 {
        // SeqCst: as above.
        let seen = TurnWord(self.head(astack).turn.load(SeqCst));
        seen.sequence().next().as_u32()
    }

    /// Writes the bytes of a message, as far as there is room: inline, and then in the block.
    pub fn write_message(&self, astack: u32, bytes: &[u8]) {
        let extent = self.extent(astack);
        let (inline, block) = bytes.split_at(bytes.len().min(INLINE_BYTES as usize));
        let heads = self.heads.span_mut().expect("both write the heads");
        let offset = extent.head_offset_bytes as usize + offset_of!(AStackHead, inline);
        heads.copy_in(offset, inline);
        let requests = self.requests.span_mut().expect("the client writes its requests");
        let block = &block[..block.len().min(extent.block_bytes as usize)];
        let offset = extent.line_offset_bytes as usize + LINE_BYTES as usize;
        requests.copy_in(offset, block);
    }

    /// Rings, whoever listens.
    pub fn ring(&self) {
        let line = self.bell_line();
        let lane = self.lane % bell::LANES;
        // SeqCst: as above.
        line.lanes[(lane / 64) as usize].fetch_or(1 << (lane % 64), SeqCst);
        line.gate.fetch_or(2, SeqCst);
        futex::wake_all(&line.gate);
    }

    /// Waits until a head says that call `sequence` has its reply. False if it does not.
    pub fn await_reply(&self, astack: u32, sequence: u32, longest: Duration) -> bool {
        let begin = Instant::now();
        let idle = [Phase::IdleBell, Phase::IdleHot, Phase::IdleTally];
        let replied = idle.map(|phase| turn(sequence, phase));
        // SeqCst: as above.
        while !replied.contains(&self.head(astack).turn.load(SeqCst)) {
            if begin.elapsed() > longest {
                return false;
            }
            std::thread::yield_now();
        }
        true
    }
}

/// The words of a call in order.
pub fn words_of(name: &str, sequence: u32, message_bytes: u32) -> Words {
    let turn = turn(sequence, Phase::Posted);
    Words { turn, selector: procedure(name), message_bytes, origin: 0 }
}

/// A clerk's socket by hand.
pub fn listen(directory: &Path, name: &str) -> io::Result<Listener> {
    Listener::bind(&path_of(directory, name)).map_err(io::Error::other)
}
