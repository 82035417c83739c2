//! What decodes a peer's bytes, each as a function of any bytes at all that must return: what row
//! T11 feeds with bytes that a fuzzer makes up. Panics anywhere in the process count.
//!
//! ```text
//! messages            Message::decode, Version::decode
//! pieces              a message of a .proto file
//! clerk, requests     bytes ──▶ a server of this process
//! calls               script ─▶ a server of this process, which serves every form of type
//! replies, answers    script ─▶ a client of this process, which asks for every form of type
//! ```

pub(super) mod forms;
mod lies;
mod pieces;
mod script;
mod theirs;

use std::os::fd::OwnedFd;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::{Duration, Instant};

use nearcall::{Clerk, Domain};
use nearcall_abi::message::{Message, PACKET_BYTES_MAX, Version};
use tempfile::TempDir;

use self::script::{Script, Step};
use super::effects;
use super::hand::{self, HandClient, Heard};
use crate::forms::forms::FORMS;

/// A decoder.
pub struct Decoder {
    /// What it is chosen by.
    pub name: &'static str,
    /// Feeds it.
    pub feed: fn(&[u8]),
    /// What is fed first: of each form that it knows, one that is right.
    pub seeds: fn() -> Vec<Vec<u8>>,
}

/// Those of Nearcall.
pub const DECODERS: &[Decoder] = &[
    Decoder { name: "messages", feed: messages, seeds: packets },
    Decoder { name: "pieces", feed: pieces::feed, seeds: pieces::seeds },
    Decoder { name: "clerk", feed: clerk, seeds: chosen_packets },
    Decoder { name: "requests", feed: requests, seeds: chosen_packets },
    Decoder { name: "calls", feed: calls, seeds: theirs::calls },
    Decoder { name: "replies", feed: theirs::replies, seeds: theirs::recorded_replies },
    Decoder { name: "answers", feed: theirs::answers, seeds: theirs::usual_answers },
];

/// One that has a bug, which must be found in the time that the others have.
pub const PLANTED: Decoder = Decoder { name: "planted", feed: planted, seeds: packets };

/// What names the decoder to be fed.
pub const VARIABLE: &str = "NEARCALL_DECODER";

/// Longest that an answer is waited for.
const ANSWER: Duration = Duration::from_millis(2);

/// Longest that a reply is waited for.
const REPLY: Duration = Duration::from_millis(20);

/// Inputs that one binding is used for: it may have a number of feeds open.
const INPUTS_OF_BINDING: u32 = 16;

const NAME: &str = "fuzzed";
const FORMS_NAME: &str = "forms";

/// A server of this process, which lives as long as it.
struct Server {
    directory: TempDir,
    _clerks: [Clerk; 2],
}

/// A binding that calls go over, and what they have opened.
struct Caller {
    client: HandClient,
    feeds: [u64; 2],
    inputs: u32,
}

static SERVER: LazyLock<Server> = LazyLock::new(|| {
    let directory = tempfile::tempdir().expect("a directory");
    let domain = Domain::new().expect("a domain");
    let clerk = effects::export(&domain, directory.path(), NAME).expect("an export");
    let forms = forms::export(&domain, directory.path(), FORMS_NAME).expect("an export");
    Server { directory, _clerks: [clerk, forms] }
});

/// A binding that is used until something that goes over it ends it.
static CLIENT: Mutex<Option<HandClient>> = Mutex::new(None);
static CALLER: Mutex<Option<Caller>> = Mutex::new(None);

/// Feeds the decoder that the environment names.
pub fn feed_named(bytes: &[u8]) {
    static FEED: LazyLock<fn(&[u8])> = LazyLock::new(|| {
        let name = std::env::var(VARIABLE).unwrap_or_default();
        let named = DECODERS.iter().chain([&PLANTED]).find(|decoder| decoder.name == name);
        named.unwrap_or_else(|| panic!("{VARIABLE} is {name:?}, which no decoder is called")).feed
    });
    FEED(bytes);
}

/// A packet of either side, and the version that a refusal may hold.
fn messages(bytes: &[u8]) {
    let mut packet = vec![0; PACKET_BYTES_MAX];
    if let Ok(message) = Message::decode(bytes) {
        let again = message.encode(&mut packet).expect("what came in a packet fits one");
        assert_eq!(Message::decode(again), Ok(message));
    }
    if let Some(version) = Version::decode(bytes) {
        let listed = version.procedures.map(|procedure| procedure.name.len()).sum::<usize>();
        let hashes: usize = version.appendables().map(<[_]>::len).sum();
        let listed = listed + hashes * size_of::<[u8; 16]>();
        assert!(listed <= bytes.len(), "{listed} bytes of names and hashes in {}", bytes.len());
    }
}

/// What a clerk is sent first; the lowest bits of the first byte say which descriptors with it.
fn clerk(bytes: &[u8]) {
    let Some((choice, packet)) = with_choice(bytes) else {
        return;
    };
    let stream = hand::connect(&hand::path_of(SERVER.directory.path(), NAME)).expect("a socket");
    // What is longer than a packet may be is not sent.
    if hand::send(&stream, packet, &chosen(choice)).is_ok() {
        hand::hear(&stream, ANSWER);
    }
}

/// What a client sends over the socket of its binding; the lowest bits of the first byte say which
/// descriptors with it.
fn requests(bytes: &[u8]) {
    let Some((choice, packet)) = with_choice(bytes) else {
        return;
    };
    let mut client = CLIENT.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(bound) = client.take().or_else(bind) else {
        return;
    };
    let is_sent = hand::send(&bound.stream, packet, &chosen(choice)).is_ok();
    // Whoever has been hung up on binds anew.
    if !is_sent || hand::hear(&bound.stream, ANSWER) != Heard::HungUp {
        *client = Some(bound);
    }
}

/// A packet behind a byte that says what goes with it. An empty one cannot be sent.
fn with_choice(bytes: &[u8]) -> Option<(u8, &[u8])> {
    let (choice, packet) = bytes.split_first()?;
    (!packet.is_empty()).then_some((*choice, packet))
}

/// Refused while its user has too many bindings that are being ended.
fn bind() -> Option<HandClient> {
    HandClient::bind(&hand::path_of(SERVER.directory.path(), NAME)).ok()
}

/// Segments as a bind has them, by the lowest bits.
fn chosen(choice: u8) -> Vec<OwnedFd> {
    let made = [(1, hand::heads()), (2, hand::requests())];
    let chosen = made.into_iter().filter(|(bit, _)| choice & bit != 0);
    chosen.map(|(_, file)| file.expect("a file")).collect()
}

/// A client of the server that serves every form.
fn bind_forms() -> Option<HandClient> {
    HandClient::bind_for(&hand::path_of(SERVER.directory.path(), FORMS_NAME), &FORMS).ok()
}

/// What a client does, packets and calls, as a script.
fn calls(bytes: &[u8]) {
    let mut kept = CALLER.lock().unwrap_or_else(PoisonError::into_inner);
    let new = || Some(Caller { client: bind_forms()?, feeds: [0; 2], inputs: 0 });
    let Some(mut caller) = kept.take().or_else(new) else {
        return;
    };
    let mut made = Vec::new();
    let is_alive = Script(bytes).all(|step| match step {
        Step::Packet { how, bytes } => caller.send(how, bytes, std::mem::take(&mut made)),
        Step::Words(words) => caller.call(&words),
        Step::Descriptor(descriptor) => {
            made.extend(descriptor.made());
            true
        }
    });
    caller.inputs += 1;
    if is_alive && caller.inputs < INPUTS_OF_BINDING {
        *kept = Some(caller);
    }
}

impl Caller {
    /// Sends a packet, and hears what comes of it. False: the server has hung up.
    fn send(&self, how: u8, bytes: &[u8], descriptors: Vec<OwnedFd>) -> bool {
        let next = |astack: u32| self.client.next_sequence(astack % self.count());
        let packet = script::numbered(how, bytes, next);
        // What is longer than a packet may be is not sent.
        let is_sent =
            !packet.is_empty() && hand::send(&self.client.stream, &packet, &descriptors).is_ok();
        !is_sent || hand::hear(&self.client.stream, ANSWER) != Heard::HungUp
    }

    fn count(&self) -> u32 {
        hand::layout_of(&FORMS).astack_count()
    }

    /// Makes a call. False: it has no reply.
    fn call(&mut self, words: &script::Words<'_>) -> bool {
        let astack = u32::from(words.astack) % self.count();
        let sequence = self.client.next_sequence(astack) + u32::from(words.how & script::OFF_TURN);
        let mut message = words.message.to_vec();
        let opened = match words.how & (script::FIRST_FEED | script::SECOND_FEED) {
            script::FIRST_FEED => Some(self.feeds[0]),
            script::SECOND_FEED => Some(self.feeds[1]),
            _ => None,
        };
        if let (Some(number), Some(first)) = (opened, message.first_chunk_mut()) {
            *first = number.to_le_bytes();
        }
        self.client.write_message(astack, &message);
        let line = self.client.request_line(astack);
        // SeqCst: by hand, nothing is to depend on a row of the table.
        line.generation.store(words.generation(), SeqCst);
        if words.how & script::COMPLETE != 0 {
            line.progress.store(words.there, SeqCst);
        }
        let script::Words { selector, message_bytes, origin, .. } = *words;
        let turn = hand::turn(sequence, nearcall_core::Phase::Posted);
        self.client.post(astack, hand::Words { turn, selector, message_bytes, origin });
        if words.how & script::UNAWAITED != 0 {
            return true;
        }
        let is_replied = self.await_reply(astack, sequence);
        if is_replied && let Some(opened) = lies::opened(&self.client, astack) {
            self.feeds = opened;
        }
        is_replied
    }

    /// Waits for a reply until it is late, or the server has hung up.
    fn await_reply(&self, astack: u32, sequence: u32) -> bool {
        let begin = Instant::now();
        while !self.client.await_reply(astack, sequence, ANSWER / 8) {
            let is_over = hand::hear(&self.client.stream, Duration::ZERO) == Heard::HungUp;
            if is_over || begin.elapsed() > REPLY {
                return false;
            }
        }
        true
    }
}

/// A packet of each kind that asks for something.
fn packets() -> Vec<Vec<u8>> {
    let messages = [
        hand::import_message(),
        Message::OutOfLine { astack: 0, generation: 1, bytes: 4_096 },
        Message::Grow { class: 0 },
        Message::GrownSegments { class: 0 },
        Message::Lend { number: 1, bytes: 4_096 },
        Message::LendOver { number: 1 },
        Message::Look,
        Message::Descriptors { astack: 0, sequence: 1, count: 1 },
        Message::FeedOver { feed: 1 },
    ];
    messages.iter().map(hand::packet).collect()
}

/// Each with no descriptor, one and two.
fn chosen_packets() -> Vec<Vec<u8>> {
    let each = |choice: u8| packets().into_iter().map(move |packet| [&[choice], &*packet].concat());
    (0..4).flat_map(each).collect()
}

/// Panics for one kind of message, two of whose fields stand in a relation.
fn planted(bytes: &[u8]) {
    if let Ok(Message::Lend { number, bytes }) = Message::decode(bytes) {
        assert!(number != 0x1234 || bytes < 1 << 20, "the planted bug");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_is_fed_returns() {
        let import = hand::packet(&hand::import_message());
        let call = [&[0, 1][..], &[0; 14], &[9, 0], &[7; 9]].concat();
        for decoder in DECODERS {
            for bytes in [&[][..], &[3], &import, &[&[3], &import[..]].concat(), &call] {
                (decoder.feed)(bytes);
            }
            let seeds = (decoder.seeds)();
            assert!(seeds.len() >= 9, "{}", decoder.name);
            seeds.iter().for_each(|seed| (decoder.feed)(seed));
        }
    }

    #[test]
    #[should_panic(expected = "the planted bug")]
    fn the_planted_bug_is_there() {
        planted(&hand::packet(&Message::Lend { number: 0x1234, bytes: 1 << 20 }));
    }
}
