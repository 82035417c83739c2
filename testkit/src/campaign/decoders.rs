//! What decodes a peer's bytes, each as a function of any bytes at all that must return: what row
//! T11 feeds with bytes that a fuzzer makes up. Panics anywhere in the process count.

use std::os::fd::OwnedFd;
use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::Duration;

use nearcall::{Clerk, Domain};
use nearcall_abi::message::{Message, PACKET_BYTES_MAX, Version};
use tempfile::TempDir;

use super::effects;
use super::hand::{self, HandClient, Heard, Words};
use crate::effects::effects::EFFECTS;

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
    Decoder { name: "clerk", feed: clerk, seeds: chosen_packets },
    Decoder { name: "requests", feed: requests, seeds: chosen_packets },
    Decoder { name: "calls", feed: calls, seeds: forged_calls },
];

/// One that has a bug, which must be found in the time that the others have.
pub const PLANTED: Decoder = Decoder { name: "planted", feed: planted, seeds: packets };

/// What names the decoder to be fed.
pub const VARIABLE: &str = "NEARCALL_DECODER";

/// Longest that an answer is waited for.
const ANSWER: Duration = Duration::from_millis(2);

/// Bytes of a forged call before those of its arguments.
const CALL_BYTES: usize = 13;

const NAME: &str = "fuzzed";

/// A server of this process, which lives as long as it.
struct Server {
    directory: TempDir,
    _clerk: Clerk,
}

static SERVER: LazyLock<Server> = LazyLock::new(|| {
    let directory = tempfile::tempdir().expect("a directory");
    let domain = Domain::new().expect("a domain");
    let clerk = effects::export(&domain, directory.path(), NAME).expect("an export");
    Server { directory, _clerk: clerk }
});

/// A binding that is used until something that goes over it ends it.
static CLIENT: Mutex<Option<HandClient>> = Mutex::new(None);

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

/// A call by hand: A-stack, procedure, length and origin as they come, then its arguments.
fn calls(bytes: &[u8]) {
    let Some((words, arguments)) = bytes.split_at_checked(CALL_BYTES) else {
        return;
    };
    let word = |at| u32::from_le_bytes(*words[at..].first_chunk().expect("four bytes"));
    let mut client = CLIENT.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(bound) = client.take().or_else(bind) else {
        return;
    };
    let astack = u32::from(words[0]) % hand::layout().astack_count();
    let sequence = bound.next_sequence(astack);
    bound.write_message(astack, arguments);
    bound.post(
        astack,
        Words {
            turn: hand::turn(sequence, nearcall_core::Phase::Posted),
            selector: word(1),
            message_bytes: word(5),
            origin: word(9),
        },
    );
    if bound.await_reply(astack, sequence, ANSWER) {
        *client = Some(bound);
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

/// A call of each procedure, without arguments and with some.
fn forged_calls() -> Vec<Vec<u8>> {
    let call = |(number, name): (u32, &'static str), bytes: u32| {
        let astack = hand::astack_of(name).to_le_bytes()[0];
        let words = [number, bytes, 0].map(u32::to_le_bytes).concat();
        [&[astack], &*words, &*vec![1; bytes as usize]].concat()
    };
    let names = EFFECTS.procedures.iter().map(|procedure| procedure.name);
    let each = (0..).zip(names).flat_map(|named| [0, 8, 64].map(|bytes| call(named, bytes)));
    each.collect()
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
        let call = [&[0; CALL_BYTES][..], &[7; 9]].concat();
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
