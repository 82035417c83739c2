//! Hostile words in the heads of A-stacks.

use std::sync::atomic::Ordering::SeqCst;
use std::time::Duration;

use nearcall_abi::head::flag;
use nearcall_core::Phase;

use super::super::effects;
use super::super::hand::{self, HandClient, Words};
use super::super::oracle::CallName;
use super::{Found, Script, Target};

/// How long an answer may take.
const ANSWERED: Duration = Duration::from_secs(1);

/// Who calls by hand, in the effects.
const CLIENT: u64 = 0xbad;

pub const SCRIPTS: &[&Script] = &[
    &Script { name: "phase 6", run: |t| poisoned(t, |w| w.turn = 1 << 3 | 6) },
    &Script { name: "phase 7", run: |t| poisoned(t, |w| w.turn = 1 << 3 | 7) },
    &Script { name: "a call from the future", run: |t| poisoned(t, |w| w.turn = ahead(100)) },
    &Script {
        name: "a call nearly half-way round",
        run: |t| poisoned(t, |w| w.turn = ahead((1 << 28) - 2)),
    },
    &Script { name: "no such procedure", run: |t| poisoned(t, |w| w.selector = u32::MAX) },
    &Script {
        name: "the procedure past the last",
        run: |t| poisoned(t, |w| w.selector = last() + 1),
    },
    &Script { name: "a procedure of another class", run: other_class },
    &Script { name: "the longest length", run: |t| poisoned(t, |w| w.message_bytes = u32::MAX) },
    &Script {
        name: "a length past the A-stack",
        run: |t| poisoned(t, |w| w.message_bytes = past_end()),
    },
    &Script {
        name: "out of line, nowhere",
        run: |t| poisoned(t, |w| w.origin |= flag::OUT_OF_LINE),
    },
    &Script { name: "arguments of noise", run: noise },
    &Script { name: "a length that lies", run: lying_length },
    &Script { name: "a call again and again", run: replay },
    &Script { name: "processors that are none", run: processors },
    &Script { name: "replies nobody reads", run: never_reads },
    &Script { name: "calls given up at once", run: given_up },
    &Script { name: "a call and a hang-up", run: call_and_hang_up },
    &Script { name: "words that change meanwhile", run: flicker },
    &Script { name: "stores after the hang-up", run: after_hang_up },
];

fn ahead(by: u32) -> u32 {
    hand::turn(1 + by, Phase::Posted)
}

fn last() -> u32 {
    crate::effects::effects::EFFECTS.procedures.len() as u32 - 1
}

/// One byte more than the A-stack of a `null` holds.
fn past_end() -> u32 {
    hand::extent(hand::astack_of("null")).block_bytes + nearcall_abi::INLINE_BYTES + 1
}

fn bound(target: &Target) -> Result<HandClient, String> {
    HandClient::bind(&target.path()).map_err(|error| format!("no binding to abuse: {error}"))
}

/// Posts a `null` with one word changed. The server has to end the binding.
fn poisoned(target: &Target, change: impl FnOnce(&mut Words)) -> Found {
    let client = bound(target)?;
    let mut words = hand::words_of("null", 1, 0);
    change(&mut words);
    client.post(hand::astack_of("null"), words);
    ends(&client)
}

fn ends(client: &HandClient) -> Found {
    match hand::await_hang_up(&client.stream, ANSWERED) {
        Some(took) => Ok(Some(took)),
        None => Err(format!("still bound after {ANSWERED:?}")),
    }
}

fn other_class(target: &Target) -> Found {
    let client = bound(target)?;
    client.post(hand::astack_of("echo"), hand::words_of("null", 1, 0));
    ends(&client)
}

fn fill(client: &HandClient, astack: u32, bytes: u64) {
    for word in &client.head(astack).inline {
        // SeqCst: by hand, nothing is to depend on a row of the table.
        word.store(bytes, SeqCst);
    }
}

/// Noise where arguments are due. It is refused or taken for some arguments; the server lives.
fn noise(target: &Target) -> Found {
    let mut chances = fastrand::Rng::with_seed(7);
    let client = bound(target)?;
    let mut sequence = [0; 3];
    for round in 0..300 {
        let which = round % 3;
        let name = ["echo", "sum", "effect"][which];
        let astack = hand::astack_of(name) + which as u32;
        for word in &client.head(astack).inline {
            // SeqCst: as above.
            word.store(if chances.bool() { chances.u64(..) } else { chances.u64(..64) }, SeqCst);
        }
        sequence[which] += 1;
        client.post(astack, hand::words_of(name, sequence[which], chances.u32(..48)));
        if !client.await_reply(astack, sequence[which], ANSWERED) {
            return Err(format!("{name} with noise is not answered"));
        }
    }
    Ok(None)
}

/// A sequence that says that it is longer than its message.
fn lying_length(target: &Target) -> Found {
    for claimed in [49, 4096, i32::MAX as u64, u64::from(u32::MAX), u64::MAX] {
        let client = bound(target)?;
        let astack = hand::astack_of("echo");
        fill(&client, astack, claimed);
        client.post(astack, hand::words_of("echo", 1, 16));
        if !client.await_reply(astack, 1, ANSWERED) {
            return Err(format!("a length of {claimed} is not answered"));
        }
        let status = client.head(astack).selector.load(SeqCst);
        if status == 0 {
            return Err(format!("a length of {claimed} in 16 bytes was believed"));
        }
    }
    Ok(None)
}

/// One call, posted again and again under its number and under earlier ones: it runs once.
fn replay(target: &Target) -> Found {
    let client = bound(target)?;
    let astack = hand::astack_of("effect");
    let number = u64::from(client.lane) << 32 | u64::from(std::process::id());
    let before = runs(target, number);
    for sequence in 1..=3 {
        let head = client.head(astack);
        // SeqCst: by hand, nothing is to depend on a row of the table.
        head.inline[0].store(CLIENT, SeqCst);
        head.inline[1].store(number, SeqCst);
        client.post(astack, hand::words_of("effect", sequence, 16));
        if !client.await_reply(astack, sequence, ANSWERED) {
            return Err("a call in order is not answered".to_owned());
        }
    }
    for sequence in [3, 3, 2, 1, 3] {
        client.post(astack, hand::words_of("effect", sequence, 16));
        std::thread::sleep(Duration::from_millis(2));
    }
    match runs(target, number) - before {
        3 => Ok(None),
        count => Err(format!("3 calls and 5 repetitions ran {count} times")),
    }
}

fn runs(target: &Target, number: u64) -> u64 {
    let call = CallName { client: CLIENT, number };
    effects::written(target.directory()).get(&call).map_or(0, |lives| lives.len() as u64)
}

fn processors(target: &Target) -> Found {
    let client = bound(target)?;
    let astack = hand::astack_of("null");
    for (sequence, processor) in (1..).zip([0, 1, 2, 0x7fff, 0xfffe, 0xffff]) {
        let words = Words { origin: processor, ..hand::words_of("null", sequence, 0) };
        client.post(astack, words);
        if !client.await_reply(astack, sequence, ANSWERED) {
            return Err(format!("a call from processor {processor} is not answered"));
        }
    }
    Ok(None)
}

/// Posts on every A-stack of a class and reads nothing.
fn never_reads(target: &Target) -> Found {
    let client = bound(target)?;
    let class = hand::astack_of("null");
    let count = hand::layout().astack_count().min(class + 5);
    for astack in class..count {
        client.post(astack, hand::words_of("null", 1, 0));
    }
    match (class..count).all(|astack| client.await_reply(astack, 1, ANSWERED)) {
        true => Ok(None),
        false => Err("a call in order is not answered".to_owned()),
    }
}

fn given_up(target: &Target) -> Found {
    let client = bound(target)?;
    let astack = hand::astack_of("null");
    for sequence in 1..=100 {
        let turn = hand::turn(sequence, Phase::Aborted);
        client.post(astack, Words { turn, ..hand::words_of("null", sequence, 0) });
        if !client.await_reply(astack, sequence, ANSWERED) {
            return Err("an A-stack that was given up does not come back".to_owned());
        }
    }
    Ok(None)
}

fn call_and_hang_up(target: &Target) -> Found {
    for _ in 0..20 {
        let client = bound(target)?;
        client.post(hand::astack_of("null"), hand::words_of("null", 1, 0));
        client.stream.hang_up();
    }
    Ok(None)
}

/// Changes the words of a posted call while the server looks at them: it believes one value or the
/// other, and ends the binding over a wrong one.
fn flicker(target: &Target) -> Found {
    let astack = hand::astack_of("echo");
    let mut ended = 0;
    for round in 0..40u32 {
        let client = bound(target)?;
        let head = client.head(astack);
        client.post(astack, hand::words_of("echo", 1, 16));
        for step in 0..2_000 {
            let is_wrong = (step + round) % 2 == 0;
            // SeqCst: by hand, nothing is to depend on a row of the table.
            head.message_bytes.store(if is_wrong { u32::MAX } else { 16 }, SeqCst);
            head.selector.store(if is_wrong { u32::MAX } else { hand::procedure("echo") }, SeqCst);
            head.inline[0].store(if is_wrong { u64::MAX } else { 8 }, SeqCst);
        }
        let is_replied = client.await_reply(astack, 1, Duration::ZERO);
        let is_ended = hand::await_hang_up(&client.stream, Duration::from_millis(1)).is_some();
        if !is_replied && !is_ended && !client.await_reply(astack, 1, ANSWERED) {
            return Err("neither replied nor ended".to_owned());
        }
        ended += u32::from(is_ended);
    }
    if ended == 40 { Err("no round was replied to".to_owned()) } else { Ok(None) }
}

/// Hangs up and goes on storing: what is mapped may change, what is served may not.
fn after_hang_up(target: &Target) -> Found {
    let client = bound(target)?;
    client.stream.hang_up();
    let mut chances = fastrand::Rng::with_seed(3);
    let heads = client.heads.span_mut().expect("both write the heads");
    for _ in 0..100_000 {
        heads.store_u32(chances.usize(..heads.as_span().bytes() / 4) * 4, chances.u32(..));
    }
    Ok(None)
}
