//! Hostile messages over the socket of a binding.

use std::os::fd::OwnedFd;
use std::time::Duration;

use nearcall::DomainOptions;
use nearcall_abi::LENT_COUNT_MAX;
use nearcall_abi::head::flag;
use nearcall_abi::message::{Message, PACKET_BYTES_MAX};
use nearcall_os::socket::DESCRIPTORS_MAX;

use super::super::hand::{self, HandClient, Heard, SINGLE, Words};
use super::{Found, Script, Target};

/// How long an answer may take.
const ANSWERED: Duration = Duration::from_secs(1);

const PAGE: u64 = nearcall_abi::PAGE_BYTES as u64;

pub const SCRIPTS: &[&Script] = &[
    &Script {
        name: "a second import",
        run: |t| poisoned(t, &hand::packet(&hand::import_message()), 2),
    },
    &Script { name: "one byte", run: |t| poisoned(t, &[1], 0) },
    &Script { name: "no kind at all", run: |t| poisoned(t, &[0; 4], 0) },
    &Script { name: "a kind past the last", run: |t| poisoned(t, &[0xff; 4], 0) },
    &Script { name: "the longest packet", run: |t| poisoned(t, &[0xff; PACKET_BYTES_MAX], 0) },
    &Script { name: "a packet too long", run: |t| poisoned(t, &[0xff; PACKET_BYTES_MAX + 64], 0) },
    &Script { name: "the server's own words", run: |t| said(t, &Message::Revoked, 0) },
    &Script {
        name: "a segment that is mapped",
        run: |t| said(t, &Message::Mapped { astack: 0, generation: 1 }, 0),
    },
    &Script { name: "an A-stack that is none", run: |t| out_of_line(t, u32::MAX, PAGE, PAGE) },
    &Script { name: "out of line without end", run: |t| out_of_line(t, 0, u64::MAX, PAGE) },
    &Script { name: "out of line, half a page", run: |t| out_of_line(t, 0, PAGE / 2, PAGE) },
    &Script { name: "out of line, not all there", run: |t| out_of_line(t, 0, 8 * PAGE, PAGE) },
    &Script { name: "out of line, a pipe", run: out_of_line_pipe },
    &Script { name: "out of line, another generation", run: other_generation },
    &Script { name: "a class that is none", run: |t| said(t, &Message::Grow { class: 99 }, 0) },
    &Script {
        name: "growth nobody asked for",
        run: |t| said(t, &Message::GrownSegments { class: 0 }, 2),
    },
    &Script { name: "growth of another class", run: other_growth },
    &Script { name: "growth without end", run: endless_growth },
    &Script { name: "loans without end", run: endless_loans },
    &Script { name: "a sparse loan", run: |t| loan(t, hand::file(8 * PAGE, PAGE, SINGLE)) },
    &Script {
        name: "a loan that all write",
        run: |t| loan(t, hand::file(8 * PAGE, 8 * PAGE, hand::SIZE)),
    },
    &Script { name: "a loan too short", run: |t| loan(t, hand::file(PAGE, PAGE, SINGLE)) },
    &Script {
        name: "a loan that never was",
        run: |t| lives_after(t, &Message::LendOver { number: 7 }),
    },
    &Script { name: "looks without end", run: endless_looks },
    &Script { name: "introductions without end", run: endless_introductions },
    &Script {
        name: "an introduction that nobody asked for",
        run: |t| said(t, &Message::Introduced { number: 0 }, 1),
    },
    &Script {
        name: "a socket that nobody is introduced by",
        run: |t| said(t, &Message::Present, 1),
    },
    &Script { name: "a message with a descriptor", run: |t| said(t, &Message::Look, 1) },
];

fn bound(target: &Target) -> Result<HandClient, String> {
    HandClient::bind(&target.path()).map_err(|error| format!("no binding to abuse: {error}"))
}

fn pages(count: usize) -> Result<Vec<OwnedFd>, String> {
    let files: std::io::Result<_> = (0..count).map(|_| hand::file(PAGE, PAGE, SINGLE)).collect();
    files.map_err(|error| error.to_string())
}

/// Sends it. The server has to end the binding.
fn poisoned(target: &Target, packet: &[u8], descriptors: usize) -> Found {
    let client = bound(target)?;
    poisoned_by(&client, packet, &pages(descriptors)?)
}

fn poisoned_by(client: &HandClient, packet: &[u8], files: &[OwnedFd]) -> Found {
    hand::send(&client.stream, packet, files).map_err(|error| error.to_string())?;
    match hand::await_hang_up(&client.stream, ANSWERED) {
        Some(took) => Ok(Some(took)),
        None => Err(format!("still bound after {ANSWERED:?}")),
    }
}

fn said(target: &Target, message: &Message<'_>, descriptors: usize) -> Found {
    poisoned(target, &hand::packet(message), descriptors)
}

/// Announces a segment of `claimed` bytes that has `real` ones.
fn out_of_line(target: &Target, astack: u32, claimed: u64, real: u64) -> Found {
    let client = bound(target)?;
    let message = Message::OutOfLine { astack, generation: 1, bytes: claimed };
    let file = hand::file(real, real, SINGLE).map_err(|error| error.to_string())?;
    poisoned_by(&client, &hand::packet(&message), &[file])
}

fn out_of_line_pipe(target: &Target) -> Found {
    let client = bound(target)?;
    let message = Message::OutOfLine { astack: 0, generation: 1, bytes: PAGE };
    let (pipe, _other) = rustix::pipe::pipe().map_err(|error| error.to_string())?;
    poisoned_by(&client, &hand::packet(&message), &[pipe])
}

/// Sends a segment for arguments, and posts a call whose arguments are to lie in another one.
fn other_generation(target: &Target) -> Found {
    let client = bound(target)?;
    let astack = hand::astack_of("echo");
    let message = Message::OutOfLine { astack, generation: 1, bytes: PAGE };
    hand::send(&client.stream, &hand::packet(&message), &pages(1)?)
        .map_err(|error| error.to_string())?;
    let answer = hand::hear(&client.stream, ANSWERED);
    if answer != Heard::Packet(hand::packet(&Message::Mapped { astack, generation: 1 })) {
        return Err(format!("a segment in order was answered with {answer:?}"));
    }
    let requests = client.requests.span_mut().expect("the client's to write");
    requests.store_u32(hand::extent(astack).line_offset_bytes as usize, 2);
    let words = Words { origin: flag::OUT_OF_LINE, ..hand::words_of("echo", 1, 16) };
    client.post(astack, words);
    match hand::await_hang_up(&client.stream, ANSWERED) {
        Some(took) => Ok(Some(took)),
        None => Err(format!("still bound after {ANSWERED:?}")),
    }
}

fn other_growth(target: &Target) -> Found {
    let client = bound(target)?;
    let grow = hand::packet(&Message::Grow { class: 0 });
    hand::send(&client.stream, &grow, &[]).map_err(|error| error.to_string())?;
    let grown = hand::hear(&client.stream, ANSWERED);
    let is_grown = |packet| matches!(Message::decode(packet), Ok(Message::Grown { .. }));
    if !matches!(&grown, Heard::Packet(packet) if is_grown(packet)) {
        return Err(format!("a wish to grow was answered with {grown:?}"));
    }
    poisoned_by(&client, &hand::packet(&Message::GrownSegments { class: 1 }), &pages(2)?)
}

/// Asks for more until it is refused; the server must not hand out more than it says.
fn endless_growth(target: &Target) -> Found {
    let client = bound(target)?;
    let grow = hand::packet(&Message::Grow { class: 0 });
    for _ in 0..200 {
        if hand::send(&client.stream, &grow, &[]).is_err() {
            return Ok(None);
        }
        match hand::hear(&client.stream, ANSWERED) {
            Heard::Packet(packet) => match Message::decode(&packet) {
                Ok(Message::Refused { .. }) => return Ok(None),
                Ok(Message::Grown { class, .. }) => grow_on(&client, class)?,
                other => return Err(format!("a wish to grow was answered with {other:?}")),
            },
            Heard::HungUp => return Ok(None),
            Heard::Nothing => return Err("a wish to grow was not answered".to_owned()),
        }
    }
    Err("grew 200 times".to_owned())
}

/// Completes an extension as it must be.
fn grow_on(client: &HandClient, class: u32) -> Result<(), String> {
    let class_of = [crate::effects::effects::EFFECTS.classes[class as usize]];
    let layout = nearcall_abi::SegmentLayout::new(&class_of).expect("a class of ours");
    let file = |bytes: u32, seals| hand::file(bytes.into(), bytes.into(), seals);
    let heads = file(layout.heads_bytes(), hand::SIZE).map_err(|error| error.to_string())?;
    let requests = file(layout.blocks_bytes(), SINGLE).map_err(|error| error.to_string())?;
    let packet = hand::packet(&Message::GrownSegments { class });
    hand::send(&client.stream, &packet, &[heads, requests]).map_err(|error| error.to_string())?;
    match hand::hear(&client.stream, ANSWERED) {
        Heard::Packet(_) => Ok(()),
        other => Err(format!("an extension was answered with {other:?}")),
    }
}

/// Lends 8 pages that are not what a loan has to be.
fn loan(target: &Target, file: std::io::Result<OwnedFd>) -> Found {
    let file = file.map_err(|error| error.to_string())?;
    let packet = hand::packet(&Message::Lend { number: 0, bytes: 8 * PAGE });
    poisoned_by(&bound(target)?, &packet, &[file])
}

fn endless_loans(target: &Target) -> Found {
    let client = bound(target)?;
    for number in 0..=LENT_COUNT_MAX {
        let packet = hand::packet(&Message::Lend { number, bytes: PAGE });
        if hand::send(&client.stream, &packet, &pages(1)?).is_err() {
            break;
        }
    }
    match hand::await_hang_up(&client.stream, ANSWERED) {
        Some(_) => Ok(None),
        None => Err(format!("more than {LENT_COUNT_MAX} loans were taken")),
    }
}

/// Sends what does no harm; the binding has to work afterwards.
fn lives_after(target: &Target, message: &Message<'_>) -> Found {
    let client = bound(target)?;
    hand::send(&client.stream, &hand::packet(message), &[]).map_err(|error| error.to_string())?;
    still_serves(&client)
}

fn endless_looks(target: &Target) -> Found {
    let client = bound(target)?;
    let packet = hand::packet(&Message::Look);
    for _ in 0..2_000 {
        hand::send(&client.stream, &packet, &[]).map_err(|error| error.to_string())?;
    }
    still_serves(&client)
}

/// Keeps all that it is given. One user has half of the binds that may be under way.
fn endless_introductions(target: &Target) -> Found {
    let client = bound(target)?;
    let (mut bytes, mut given) = (vec![0; PACKET_BYTES_MAX], Vec::new());
    for number in 0..1_000 {
        let packet = hand::packet(&Message::Introduce { number });
        hand::send(&client.stream, &packet, &[]).map_err(|error| error.to_string())?;
        let answer = client.stream.receive(&mut bytes, DESCRIPTORS_MAX, ANSWERED);
        given.extend(answer.map_err(|error| error.to_string())?.descriptors);
    }
    let limit = DomainOptions::default().handshakes_max as usize / 2;
    if given.is_empty() || given.len() > limit {
        return Err(format!("{} introductions, the limit is {limit}", given.len()));
    }
    still_serves(&client)
}

fn still_serves(client: &HandClient) -> Found {
    let astack = hand::astack_of("null");
    client.post(astack, hand::words_of("null", 1, 0));
    match client.await_reply(astack, 1, ANSWERED) {
        true => Ok(None),
        false => Err("a call in order is not answered any more".to_owned()),
    }
}
