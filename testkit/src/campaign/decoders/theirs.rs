//! What decodes a server's bytes: a client of this process, which asks for every form of type, and
//! an importer.

use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::Duration;

use nearcall::{Binding, Domain, ImportOptions, WhenExhausted};
use nearcall_abi::InterfaceDescriptor;
use nearcall_abi::head::flag;
use nearcall_abi::message::{Message, PACKET_BYTES_MAX, RefusalCode, Version};
use nearcall_abi::{AStackClass, bell};
use nearcall_os::socket::Listener;
use tempfile::TempDir;

use super::forms::{ASKS, Ask, DEADLINE, FIRST_ANSWERED};
use super::lies::{self, Liar};
use super::script::{self, Descriptor, Script, Step, Words};
use super::{INPUTS_OF_BINDING, bind_forms};
use crate::campaign::hand;
use crate::forms::forms::{FEW, FORMS, FormsClient};
use crate::server::import_options;

/// Where the lies are told.
struct Stage {
    directory: TempDir,
    listener: Listener,
    domain: Domain,
}

/// A client and the server that it is bound to.
struct Pair {
    client: FormsClient,
    liar: Liar,
    inputs: u32,
}

/// Longest that an importer waits for an answer.
const IMPORT: Duration = Duration::from_millis(20);

/// Longest that an honest answer takes.
const HONEST: Duration = Duration::from_secs(2);

const NAME: &str = "liar";

/// How far into a message its bytes are off one at a time.
const OFF_BYTES_MAX: usize = 48;

/// What the fixed part of a message takes that is copied by both sides at once.
const FIXED_BYTES: [u32; 3] = [8, 16, 24];

static STAGE: LazyLock<Stage> = LazyLock::new(|| {
    let directory = tempfile::tempdir().expect("a directory");
    let listener = hand::listen(directory.path(), NAME).expect("a socket");
    Stage { directory, listener, domain: Domain::new().expect("a domain") }
});

static PAIR: Mutex<Option<Pair>> = Mutex::new(None);

/// An importer uses the stage alone.
static IMPORTER: Mutex<()> = Mutex::new(());

fn options(timeout: Duration) -> ImportOptions {
    let mut options = import_options(STAGE.directory.path());
    options.timeout = timeout;
    options.when_exhausted = WhenExhausted::Grow;
    options
}

/// Those whom nobody accepted are gone.
fn clear_stage() {
    while let Ok(Some(_)) = STAGE.listener.accept() {}
}

fn bound(deadline: Duration) -> Option<Pair> {
    let _alone = IMPORTER.lock().unwrap_or_else(PoisonError::into_inner);
    clear_stage();
    std::thread::scope(|threads| {
        let liar = threads.spawn(|| Liar::bind(&STAGE.listener));
        let binding = Binding::import_with(&STAGE.domain, NAME, &FORMS, options(HONEST));
        let liar = liar.join().expect("the server").ok()?;
        let client = FormsClient::new(binding.ok()?).with_deadline(deadline);
        Some(Pair { client, liar, inputs: 0 })
    })
}

/// What a server does while a client asks what the first byte says, as a script.
pub fn replies(bytes: &[u8]) {
    let Some((ask, script)) = bytes.split_first() else {
        return;
    };
    let ask = ASKS[usize::from(*ask) % ASKS.len()];
    let mut kept = PAIR.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(mut pair) = kept.take().or_else(|| bound(DEADLINE)) else {
        return;
    };
    let is_over = AtomicBool::new(false);
    std::thread::scope(|threads| {
        threads.spawn(|| pair.liar.follow(script, &is_over));
        ask(&pair.client);
        is_over.store(true, SeqCst);
    });
    pair.inputs += 1;
    let binding = pair.client.binding();
    let is_whole = !binding.is_revoked() && binding.captured_count() == 0;
    if is_whole && pair.inputs < INPUTS_OF_BINDING {
        *kept = Some(pair);
    }
}

/// What a clerk answers to an import, one packet each time it is asked.
pub fn answers(bytes: &[u8]) {
    let _alone = IMPORTER.lock().unwrap_or_else(PoisonError::into_inner);
    clear_stage();
    let is_over = AtomicBool::new(false);
    std::thread::scope(|threads| {
        threads.spawn(|| {
            let mut made = Vec::new();
            for step in Script(bytes) {
                match step {
                    Step::Packet { bytes, .. } if !bytes.is_empty() => {
                        let Some((stream, _)) = lies::accept(&STAGE.listener, &is_over) else {
                            return;
                        };
                        // What is longer than a packet may be is not sent.
                        let _ = hand::send(&stream, bytes, &std::mem::take(&mut made));
                    }
                    Step::Descriptor(descriptor) => made.extend(descriptor.made()),
                    _ => {}
                }
            }
            // Whoever asks once more is hung up on.
            drop(lies::accept(&STAGE.listener, &is_over));
        });
        let bound = Binding::import_with(&STAGE.domain, NAME, &FORMS, options(IMPORT));
        is_over.store(true, SeqCst);
        drop(bound);
    });
}

/// What passes between a client that asks everything and an honest server, a script of each side
/// for each that it asks.
static RECORDED: LazyLock<Vec<lies::Passed>> =
    LazyLock::new(|| ASKS.iter().map(|ask| recorded(*ask)).collect());

fn recorded(ask: Ask) -> lies::Passed {
    let (Some(mut pair), Some(server)) = (bound(HONEST), bind_forms()) else {
        panic!("an honest server, and one by hand, can be bound to");
    };
    let is_over = AtomicBool::new(false);
    std::thread::scope(|threads| {
        let passed = threads.spawn(|| pair.liar.pass_on(&server, &is_over));
        ask(&pair.client);
        is_over.store(true, SeqCst);
        passed.join().expect("whoever passes on")
    })
}

/// The same script, of which `change` has changed the words.
fn changed<'s>(script: &'s [u8], change: impl Fn(Words<'s>) -> Words<'s>) -> Vec<u8> {
    let steps = Script(script).map(|step| match step {
        Step::Words(words) => Step::Words(change(words)),
        other => other,
    });
    script::written(&steps.collect::<Vec<_>>())
}

/// Scripts like this one, in each of which another byte near the beginning of its messages is off,
/// where what is read by itself lies.
fn off_by_a_byte(script: &[u8]) -> impl Iterator<Item = Vec<u8>> {
    let messages = Script(script).filter_map(|step| match step {
        Step::Words(words) => Some(words.message.len()),
        _ => None,
    });
    let longest = messages.max().unwrap_or(0).min(OFF_BYTES_MAX);
    (0..longest).map(|at| {
        let steps: Vec<_> = Script(script).collect();
        let off = |step: &Step<'_>| match step {
            Step::Words(words) => {
                let mut message = words.message.to_vec();
                if let Some(byte) = message.get_mut(at) {
                    *byte = !*byte;
                }
                script::written(&[Step::Words(Words { message: &message, ..*words })])
            }
            other => script::written(&[*other]),
        };
        steps.iter().flat_map(off).collect()
    })
}

/// Scripts like this one, whose messages that lie out of line are still being copied, by what they
/// say, behind a fixed part of some length; none if there is no such message.
fn still_copied(script: &[u8]) -> impl Iterator<Item = Vec<u8>> {
    let is_out_of_line = |step: Step<'_>| match step {
        Step::Words(words) => words.origin & flag::OUT_OF_LINE != 0,
        _ => false,
    };
    let fixed = Script(script).any(is_out_of_line).then_some(FIXED_BYTES);
    fixed.into_iter().flatten().map(|fixed| {
        changed(script, |words| match words.origin & flag::OUT_OF_LINE {
            0 => words,
            _ => Words {
                how: words.how | script::COMPLETE,
                origin: words.origin | flag::PARTIAL,
                there: words.message_bytes.saturating_sub(fixed),
                ..words
            },
        })
    })
}

/// Calls of each form, as a client made them, each with words that are too large or too small; and
/// packets that no client sends.
pub fn calls() -> Vec<Vec<u8>> {
    let asked = RECORDED.iter().map(|passed| passed.requests.clone());
    let honest: Vec<_> = asked.filter(|script| !script.is_empty()).collect();
    let mut scripts = honest.clone();
    for script in &honest {
        for message in [&[0; 64], &[u8::MAX; 64]] {
            scripts.push(changed(script, |words| Words { message, ..words }));
        }
        scripts.extend(off_by_a_byte(script));
        scripts.extend(still_copied(script));
    }
    scripts.extend(forbidden().map(|(message, times)| packets(&message, times)));
    scripts
}

/// Messages that an honest client does not send, or not so often.
fn forbidden() -> impl Iterator<Item = (Message<'static>, usize)> {
    let (generation, bytes) = (1, 4_096);
    [
        (Message::Revoked, 1),
        (Message::LendOver { number: 1 }, 1),
        (Message::Grow { class: 99 }, 1),
        (Message::Grow { class: 0 }, 20),
        (Message::GrownSegments { class: 0 }, 1),
        (Message::OutOfLine { astack: 9_999, generation, bytes }, 1),
        (Message::OutOfLine { astack: 0, generation, bytes: 1 << 40 }, 1),
        (Message::OutOfLine { astack: 0, generation, bytes }, 1),
        (Message::Lend { number: 1, bytes: 1 << 40 }, 1),
        (Message::Lend { number: 1, bytes }, 70),
    ]
    .into_iter()
}

/// A script of the same packet, so many times, with its descriptors.
fn packets(message: &Message<'_>, times: usize) -> Vec<u8> {
    let mut one = Vec::new();
    lies::note_packet(&mut one, &hand::packet(message));
    one.repeat(times)
}

/// Replies to them, as a server made them, and each as one that lies about its words.
pub fn recorded_replies() -> Vec<Vec<u8>> {
    let honest = (0u8..).zip(&*RECORDED).filter(|(_, passed)| !passed.replies.is_empty());
    let with_ask = |(ask, passed): (u8, &lies::Passed)| [&[ask], &*passed.replies].concat();
    let mut scripts: Vec<_> = honest.map(with_ask).collect();
    for (ask, passed) in (0u8..).zip(&*RECORDED) {
        scripts.extend(off_by_a_byte(&passed.replies).map(|off| [&[ask], &*off].concat()));
    }
    let asks = 0..ASKS.len() as u8;
    for ask in asks.clone() {
        // An exception that there is not, exceptions of nothing, and words that are too large.
        for (selector, filled) in [(200, 0), (0, 0), (1, 0), (2, 0), (0, 255), (1, 255), (2, 255)] {
            let message = [filled; 64];
            let told = script::written(&[Step::Words(lie(selector, &message))]);
            scripts.push([&[ask], &*told].concat());
        }
        // An exception that there is not, and one of a byte, of the length that they have.
        for (selector, message) in [(200, &[][..]), (1, &[100])] {
            let told = script::written(&[Step::Words(lie(selector, message))]);
            scripts.push([&[ask], &*told].concat());
        }
    }
    for selector in 0x1_0000..0x1_0008 {
        let told = script::written(&[Step::Words(lie(selector, &[9; 64]))]);
        scripts.push([&[0][..], &told].concat());
    }
    for message in refusals() {
        let packet = packets(&message, 1);
        scripts.extend(asks.clone().skip(FIRST_ANSWERED).map(|ask| [&[ask], &*packet].concat()));
    }
    scripts
}

/// A reply that lies in place.
fn lie(selector: u32, message: &[u8]) -> Words<'_> {
    let message_bytes = message.len() as u32;
    Words { how: 0, astack: 0, selector, message_bytes, origin: 0, there: 0, message }
}

/// What a server says when there is no room for what its client has asked for.
fn refusals() -> Vec<Message<'static>> {
    let generation = 1;
    let astacks = 0..hand::layout_of(&FORMS).astack_count();
    let not_mapped = astacks.map(|astack| Message::NotMapped { astack, generation });
    let others = [
        Message::NotIntroduced { number: 0 },
        Message::NotLent { number: 1 },
        Message::Refused { code: RefusalCode::Overloaded, detail: b"no more" },
        Message::Revoked,
    ];
    not_mapped.chain(others).collect()
}

/// What a clerk says to an importer, of each kind.
pub fn usual_answers() -> Vec<Vec<u8>> {
    const CODES: [RefusalCode; 6] = {
        use RefusalCode::*;
        [NotAdmitted, AbiVersion, OtherInterface, Overloaded, Protocol, Early]
    };
    let refused = |code| Message::Refused { code, detail: b"because" };
    let mut scripts: Vec<_> =
        CODES.map(|code| answered(FORMS.classes, &[refused(code)])).into_iter().collect();
    for theirs in versions() {
        let mut detail = vec![0; PACKET_BYTES_MAX / 2];
        let used = Version::encode(&theirs, &mut detail).expect("few classes");
        let other = Message::Refused { code: RefusalCode::Hash, detail: &detail[..used] };
        scripts.push(answered(theirs.classes, &[other, hand_bound()]));
        scripts.push(answered(theirs.classes, &[other, other]));
    }
    scripts.push(answered(FORMS.classes, &[hand_bound()]));
    scripts
}

fn hand_bound() -> Message<'static> {
    Message::Bound { incarnation: 1, lane: 0, processor: 0 }
}

/// Other versions of the interface: with another hash, with fewer procedures, with other ones, and
/// with members more and less.
fn versions() -> Vec<InterfaceDescriptor> {
    let hash = [9; 16];
    let half = FORMS.procedures.len() / 2;
    let fewer = InterfaceDescriptor { hash, procedures: &FORMS.procedures[..half], ..FORMS };
    let other = InterfaceDescriptor { hash, name: FORMS.name, ..FEW };
    let appendables = &[];
    let without = InterfaceDescriptor { hash, appendables, ..FORMS };
    vec![InterfaceDescriptor { hash, ..FORMS }, fewer, other, without]
}

/// A script of these answers; a binding has its segments.
fn answered(classes: &[AStackClass], messages: &[Message<'_>]) -> Vec<u8> {
    let mut script = Vec::new();
    for message in messages {
        if let Message::Bound { .. } = message {
            let layout = nearcall_abi::SegmentLayout::new(classes).expect("ours");
            let pages = (layout.blocks_bytes() / nearcall_abi::PAGE_BYTES) as u8;
            let of = |kind, pages| Step::Descriptor(Descriptor { kind, pages, bytes: &[] });
            let bells = (bell::SEGMENT_BYTES / nearcall_abi::PAGE_BYTES as usize) as u8;
            script.extend(script::written(&[of(script::SINGLE, pages), of(script::BOTH, bells)]));
        }
        let bytes = &hand::packet(message);
        script.extend(script::written(&[Step::Packet { how: 0, bytes }]));
    }
    script
}
