//! A server by hand, of this process: it answers as a script says, or as an honest server does that
//! it passes everything on to, and notes what passed.

use std::io;
use std::mem::offset_of;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::time::{Duration, Instant};

use nearcall_abi::message::{Message, PACKET_BYTES_MAX};
use nearcall_abi::{AStackHead, Extent, INLINE_BYTES, LINE_BYTES, bell, head::flag};
use nearcall_abi::{ReplyLine, RequestLine};
use nearcall_core::{Phase, TurnWord};
use nearcall_os::futex;
use nearcall_os::segment::{Sealing, Segment};
use nearcall_os::socket::{DESCRIPTORS_MAX, Listener, Received, Stream};
use nearcall_os::span::Span;

use super::script::{self, Descriptor, NEXT_CALL, OFF_TURN, Script, Step, Words};
use crate::campaign::hand::{self, HandClient};
use crate::forms::forms::FORMS;

/// The server's half of a binding to `Forms`.
#[derive(Debug)]
pub struct Liar {
    stream: Stream,
    heads: Segment,
    requests: Segment,
    replies: Segment,
    /// What was answered last on each A-stack.
    answered: Vec<u32>,
}

/// A call that waits for its reply.
#[derive(Clone, Copy, Debug)]
struct Posted {
    astack: u32,
    turn: TurnWord,
}

/// What passed between a client and an honest server, as scripts of either side.
#[derive(Debug, Default)]
pub struct Passed {
    /// What the client did.
    pub requests: Vec<u8>,
    /// What the server did.
    pub replies: Vec<u8>,
}

/// How long an importer, and a call, are waited for.
const COMES: Duration = Duration::from_millis(500);

/// How long whoever follows a script waits for a call, and for its end.
const PATIENCE: Duration = Duration::from_millis(12);

/// Where a step that was noted says how it is done.
const HOW_AT: usize = 1;

/// Most of a message that is noted.
const NOTED_BYTES_MAX: usize = 2048;

impl Liar {
    /// Waits for an importer and binds it.
    pub fn bind(listener: &Listener) -> io::Result<Liar> {
        let late = || io::Error::from(io::ErrorKind::TimedOut);
        let (stream, mut import) = accept(listener, &AtomicBool::new(false)).ok_or_else(late)?;
        let layout = hand::layout_of(&FORMS);
        let (heads_bytes, blocks_bytes) = (layout.heads_bytes(), layout.blocks_bytes());
        if import.descriptors.len() != 2 {
            return Err(io::Error::other("an importer without its segments"));
        }
        let received = |file, bytes: u32, sealing| {
            Segment::receive(file, bytes as usize, sealing)
                .map_err(|fault| io::Error::other(fault.to_string()))
        };
        let requests = received(import.descriptors.remove(1), blocks_bytes, Sealing::SingleWriter)?;
        let heads = received(import.descriptors.remove(0), heads_bytes, Sealing::BothWrite)?;
        let created = |bytes: usize, sealing| {
            Segment::create("nearcall-by-hand", bytes, sealing)
                .map_err(|error| io::Error::other(error.to_string()))
        };
        let (replies, for_client) = created(blocks_bytes as usize, Sealing::SingleWriter)?;
        let (_, bells) = created(bell::SEGMENT_BYTES, Sealing::BothWrite)?;
        let bound = Message::Bound { incarnation: 1, lane: 0, processor: u32::MAX };
        hand::send(&stream, &hand::packet(&bound), &[for_client, bells])?;
        let answered = vec![0; layout.astack_count() as usize];
        Ok(Liar { stream, heads, requests, replies, answered })
    }

    /// Follows a script until it ends, or whoever calls is served; then hangs up if he is not.
    pub fn follow(&mut self, script: &[u8], is_over: &AtomicBool) {
        let mut made = Vec::new();
        for step in Script(script) {
            match step {
                Step::Packet { how, bytes } => self.send(how, bytes, std::mem::take(&mut made)),
                Step::Words(words) => match self.await_post(words.astack, is_over) {
                    Some(posted) => self.reply(posted, &words),
                    None => break,
                },
                Step::Descriptor(descriptor) => made.extend(descriptor.made()),
            }
        }
        let begin = Instant::now();
        while !is_over.load(SeqCst) {
            if begin.elapsed() > PATIENCE {
                self.stream.hang_up();
            }
            std::thread::yield_now();
        }
        while let Ok(Some(_)) = self.received() {}
    }

    fn send(&self, how: u8, bytes: &[u8], descriptors: Vec<OwnedFd>) {
        let number = |astack: u32| {
            let last = self.answered.get(astack as usize).copied().unwrap_or_default();
            TurnWord(last).sequence().next().as_u32()
        };
        let packet = script::numbered(how, bytes, number);
        if !packet.is_empty() && descriptors.len() <= DESCRIPTORS_MAX {
            // A client that has hung up hears nothing.
            let _ = hand::send(&self.stream, &packet, &descriptors);
        }
    }

    fn received(&self) -> io::Result<Option<(Vec<u8>, Received)>> {
        let mut packet = vec![0; PACKET_BYTES_MAX];
        let received = self.stream.try_receive(&mut packet, DESCRIPTORS_MAX);
        Ok(received.map_err(io::Error::other)?.map(|received| {
            packet.truncate(received.bytes);
            (packet, received)
        }))
    }

    /// A call that was posted and not answered, if there is one before `is_over`; that on `astack`
    /// if there are several.
    fn await_post(&self, astack: u8, is_over: &AtomicBool) -> Option<Posted> {
        let begin = Instant::now();
        while !is_over.load(SeqCst) && begin.elapsed() < PATIENCE {
            let all = self.posted();
            let wanted = all.iter().find(|posted| posted.astack == u32::from(astack));
            if let Some(posted) = wanted.or(all.first()) {
                return Some(*posted);
            }
            std::thread::yield_now();
        }
        None
    }

    /// The calls that were posted and not answered.
    fn posted(&self) -> Vec<Posted> {
        let is_due = |posted: &Posted| {
            let is_posted =
                matches!(posted.turn.phase(), Some(Phase::Posted | Phase::PostedAsleep));
            let last = TurnWord(self.answered[posted.astack as usize]).sequence();
            is_posted && posted.turn.sequence() != last
        };
        // SeqCst: by hand, nothing is to depend on a row of the table.
        let turn = |astack| TurnWord(self.head(astack).turn.load(SeqCst));
        let all = 0..self.answered.len() as u32;
        all.map(|astack| Posted { astack, turn: turn(astack) }).filter(is_due).collect()
    }

    /// Writes the words of a reply and its message, and wakes the client.
    fn reply(&mut self, posted: Posted, words: &Words<'_>) {
        self.answered[posted.astack as usize] = posted.turn.0;
        let extent = extent(posted.astack);
        let heads = self.heads.span_mut().expect("both write the heads");
        let replies = self.replies.span_mut().expect("our own segment is mapped writable");
        let (inline, block) =
            words.message.split_at(words.message.len().min(INLINE_BYTES as usize));
        let offset = extent.head_offset_bytes as usize + offset_of!(AStackHead, inline);
        heads.copy_in(offset, inline);
        let block = &block[..block.len().min(extent.block_bytes as usize)];
        let line_offset = extent.line_offset_bytes as usize;
        replies.copy_in(line_offset + LINE_BYTES as usize, block);
        let line: &ReplyLine = replies.line(line_offset).expect("a line of the segment");
        let head = self.head(posted.astack);
        // SeqCst: as above.
        line.generation.store(words.generation(), SeqCst);
        head.selector.store(words.selector, SeqCst);
        head.message_bytes.store(words.message_bytes, SeqCst);
        head.origin.store(words.origin, SeqCst);
        let sequence = match words.how & OFF_TURN {
            0 => posted.turn.sequence(),
            _ => posted.turn.sequence().next(),
        };
        head.turn.store(TurnWord::new(sequence, Phase::IdleBell).0, SeqCst);
        futex::wake_all(&head.turn);
    }

    fn head(&self, astack: u32) -> &AStackHead {
        let heads = self.heads.span_mut().expect("both write the heads");
        let offset = extent(astack).head_offset_bytes;
        heads.line(offset as usize).expect("a line of the segment")
    }

    /// Passes everything on to an honest server that `server` is bound to, until `is_over` and
    /// what was posted until then has been passed on.
    pub fn pass_on(&mut self, server: &HandClient, is_over: &AtomicBool) -> Passed {
        let (mut passed, mut feeds) = (Passed::default(), [0; 2]);
        // Those that wait for their replies, and where they were noted.
        let mut waits: Vec<(Posted, usize)> = Vec::new();
        loop {
            let was_over = is_over.load(SeqCst);
            if let Ok(Some((packet, received))) = self.received() {
                note_packet(&mut passed.requests, &packet);
                pass(&server.stream, &packet, received);
            }
            let mut packet = vec![0; PACKET_BYTES_MAX];
            if let Ok(Some(received)) = server.stream.try_receive(&mut packet, DESCRIPTORS_MAX) {
                packet.truncate(received.bytes);
                note_packet(&mut passed.replies, &packet);
                pass(&self.stream, &packet, received);
            }
            let is_new =
                |posted: &Posted| waits.iter().all(|(wait, _)| wait.astack != posted.astack);
            if let Some(posted) = self.posted().into_iter().find(is_new) {
                // Whoever follows the script does not wait for what has no reply so far.
                for (_, noted_at) in &waits {
                    passed.requests[noted_at + HOW_AT] |= script::UNAWAITED;
                }
                waits.push((posted, passed.requests.len()));
                self.pass_call(server, posted, feeds, &mut passed.requests);
            } else if was_over {
                return passed;
            }
            let mut replied = None;
            waits.retain(|(posted, _)| {
                let opened = self.pass_reply(server, *posted, &mut passed.replies);
                replied = replied.or(opened.filter(|opened| *opened != [0; 2]));
                opened.is_none()
            });
            feeds = replied.unwrap_or(feeds);
            std::thread::yield_now();
        }
    }

    /// Posts a call to the server as it was posted here.
    fn pass_call(
        &mut self,
        server: &HandClient,
        posted: Posted,
        feeds: [u64; 2],
        noted: &mut Vec<u8>,
    ) {
        let head = self.head(posted.astack);
        let selector = head.selector.load(SeqCst);
        let message_bytes = head.message_bytes.load(SeqCst);
        // How long it may take is not passed on.
        let origin = head.origin.load(SeqCst) & (flag::OUT_OF_LINE | flag::PARTIAL);
        let extent = extent(posted.astack);
        let message = message_of(self.heads.span(), self.requests.span(), extent, message_bytes);
        let line = self.requests.span().load_u32(extent.line_offset_bytes as usize);
        let there = self.there(extent, origin & flag::PARTIAL != 0);
        let named = message.first_chunk().map_or(0, |first| u64::from_le_bytes(*first));
        let mut how = (line as u8) << 3 & script::GENERATION | script::COMPLETE;
        how |= match feeds {
            [first, _] if first != 0 && named == first => script::FIRST_FEED,
            [_, second] if second != 0 && named == second => script::SECOND_FEED,
            _ => 0,
        };
        let astack = posted.astack as u8;
        let message = &message[..];
        let words = Words { how, astack, selector, message_bytes, origin, there, message };
        noted.extend(script::written(&[Step::Words(words)]));
        server.write_message(posted.astack, message);
        let line = server.request_line(posted.astack);
        line.generation.store(words.generation(), SeqCst);
        line.progress.store(there, SeqCst);
        let turn = posted.turn.0;
        server.post(posted.astack, hand::Words { turn, selector, message_bytes, origin });
    }

    /// How much of a call's variable part its client has copied, when it has copied all.
    fn there(&self, extent: Extent, is_partial: bool) -> u32 {
        let at = extent.line_offset_bytes as usize + offset_of!(RequestLine, progress);
        let look = || self.requests.span().load_u32(at);
        let mut there = look();
        loop {
            std::thread::sleep(Duration::from_millis(u64::from(is_partial)));
            let now = look();
            if std::mem::replace(&mut there, now) == now {
                return there;
            }
        }
    }

    /// Replies as the server has, if it has. The numbers of the feeds that were opened.
    fn pass_reply(
        &mut self,
        server: &HandClient,
        posted: Posted,
        noted: &mut Vec<u8>,
    ) -> Option<[u64; 2]> {
        let sequence = posted.turn.sequence().as_u32();
        if !server.await_reply(posted.astack, sequence, Duration::ZERO) {
            return None;
        }
        let (head, extent) = (server.head(posted.astack), extent(posted.astack));
        let (selector, message_bytes, message) = reply_of(server, posted.astack);
        let origin = head.origin.load(SeqCst) & flag::OUT_OF_LINE;
        let replies = server.replies.span();
        let at = extent.line_offset_bytes as usize + offset_of!(ReplyLine, generation);
        let how = (replies.load_u32(at) as u8) << 3 & script::GENERATION;
        let (astack, message) = (posted.astack as u8, &message[..]);
        let words = Words { how, astack, selector, message_bytes, origin, there: 0, message };
        noted.extend(script::written(&[Step::Words(words)]));
        self.reply(posted, &words);
        Some(opened(server, posted.astack).unwrap_or_default())
    }
}

/// The numbers of the feeds that the last reply on an A-stack says are open now.
pub fn opened(server: &HandClient, astack: u32) -> Option<[u64; 2]> {
    let (selector, message_bytes, message) = reply_of(server, astack);
    let number = |at: usize| message[at..].first_chunk().map_or(0, |n| u64::from_le_bytes(*n));
    match (selector, message_bytes) {
        (0, 8) => Some([number(0), 0]),
        (0, 16) => Some([number(0), number(8)]),
        _ => None,
    }
}

/// Status and message of the last reply on an A-stack, as far as they lie there.
fn reply_of(server: &HandClient, astack: u32) -> (u32, u32, Vec<u8>) {
    let head = server.head(astack);
    let message_bytes = head.message_bytes.load(SeqCst);
    let (heads, replies) = (server.heads.span(), server.replies.span());
    let message = message_of(heads, replies, extent(astack), message_bytes);
    (head.selector.load(SeqCst), message_bytes, message)
}

/// An importer that comes before `is_over`, and what it asks for.
pub fn accept(listener: &Listener, is_over: &AtomicBool) -> Option<(Stream, Received)> {
    let begin = Instant::now();
    while begin.elapsed() < COMES && !is_over.load(SeqCst) {
        if let Ok(Some(stream)) = listener.accept() {
            let mut packet = vec![0; PACKET_BYTES_MAX];
            let received = stream.receive(&mut packet, DESCRIPTORS_MAX, COMES).ok()?;
            return Some((stream, received));
        }
        std::thread::yield_now();
    }
    None
}

fn extent(astack: u32) -> Extent {
    hand::layout_of(&FORMS).extent(astack).expect("an A-stack of the first extent")
}

/// A message, as far as it lies in the A-stack.
fn message_of(heads: Span<'_>, blocks: Span<'_>, extent: Extent, bytes: u32) -> Vec<u8> {
    let bytes = (bytes as usize).min(NOTED_BYTES_MAX);
    let inline = bytes.min(INLINE_BYTES as usize);
    let block = (bytes - inline).min(extent.block_bytes as usize);
    let mut message = Vec::new();
    let at = extent.head_offset_bytes as usize + offset_of!(AStackHead, inline);
    heads.append_to(at, inline, &mut message);
    let at = extent.line_offset_bytes as usize + LINE_BYTES as usize;
    blocks.append_to(at, block, &mut message);
    message
}

/// Notes a packet as a step, with what makes descriptors like those that came with it.
pub fn note_packet(noted: &mut Vec<u8>, packet: &[u8]) {
    let decoded = Message::decode(packet);
    let (kinds, pages): (&[u8], u64) = match decoded {
        Ok(Message::OutOfLine { bytes, .. } | Message::Lend { bytes, .. }) => {
            (&[script::SINGLE], bytes / 4096)
        }
        Ok(Message::Grown { .. }) => (&[script::SINGLE], 1),
        Ok(Message::GrownSegments { .. }) => (&[script::BOTH, script::SINGLE], 1),
        Ok(Message::Descriptors { .. }) => (&[script::FILE], 1),
        Ok(Message::Introduced { .. }) => (&[script::SOCKET], 1),
        _ => (&[], 1),
    };
    let how = match decoded {
        Ok(Message::Descriptors { .. }) => NEXT_CALL,
        _ => 0,
    };
    for kind in kinds {
        let (kind, pages) = (*kind, pages.min(255) as u8);
        let descriptor = Descriptor { kind, pages, bytes: &[] };
        noted.extend(script::written(&[Step::Descriptor(descriptor)]));
    }
    noted.extend(script::written(&[Step::Packet { how, bytes: packet }]));
}

fn pass(stream: &Stream, packet: &[u8], received: Received) {
    let descriptors: Vec<_> = received.descriptors.iter().map(AsFd::as_fd).collect();
    // Whoever has hung up hears nothing.
    let _ = stream.send(packet, &descriptors, COMES);
}
