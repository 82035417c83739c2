//! T10: a word changes between two looks at it, whenever that is. A server is stopped behind its
//! first load of each word of a call, or a client behind its first load of each word of a reply.
//! The word is changed as its peer could, and it goes on: the call comes to what it would have come
//! to, before or after the change, and to nothing between.
//!
//! What is loaded once comes to what it was. What a copy loads twice (see T9) may come to either:
//! the other outcome is had by changing the word before it is loaded at all.

use super::Setup;
use super::looked_at::{CALLS, Call, LookedAt, Side, Word};
use super::report::{Report, Stopped};

/// Bits of each word that are changed, one at a time, unless it is night: of its low byte, where
/// most words have all that they say, and of the others.
const LOW_BITS: usize = 3;
const HIGH_BITS: usize = 1;

/// How many must be changed on either side.
const BITS_MIN: f64 = 150.0;

/// What a call came to one of whose bits was changed.
enum CameTo {
    /// Nobody looks at it.
    Unseen,
    WhatItWas,
    WhatItHadBecome,
    Wrong(String),
}

/// What became of the bits that were changed.
#[derive(Default)]
struct Counts {
    what_it_was: u64,
    what_it_had_become: u64,
}

/// Changes bits of every word of a call of each kind, and of its reply.
pub fn run(setup: &Setup) -> Result<Report, Stopped> {
    let mut report = Report::of("changed bits");
    let mut chances = setup.chances("T10");
    for side in [Side::Server, Side::Client] {
        let before = report.count;
        let counts = change(setup, &mut report, &mut chances, side)?;
        let Counts { what_it_was, what_it_had_become } = counts;
        report.figure(format!(
            "{side:?}: {what_it_was} came to what they were, {what_it_had_become} to what they \
             had become"
        ));
        report.at_least("bits there", (report.count - before) as f64, BITS_MIN, "");
    }
    Ok(report)
}

/// Changes bits before the eyes of one side.
fn change(
    setup: &Setup,
    report: &mut Report,
    chances: &mut fastrand::Rng,
    side: Side,
) -> Result<Counts, Stopped> {
    let (mut looked_at, mut counts) = (LookedAt::new(side)?, Counts::default());
    'calls: for call in CALLS {
        let mut words = looked_at.words_of(*call)?;
        for at in 0..words.len() {
            for bit in bits(setup, chances) {
                let bit_of = format!("{side:?} of {}, bit {bit} of {}", call.procedure, words[at]);
                match try_one(&mut looked_at, *call, &mut words, (at, bit))? {
                    CameTo::Unseen => break,
                    CameTo::WhatItWas => counts.what_it_was += 1,
                    CameTo::WhatItHadBecome => counts.what_it_had_become += 1,
                    CameTo::Wrong(wrong) => {
                        report.violation(format!("{bit_of}: {wrong}"));
                        // The binding, or who is watched, may be over.
                        looked_at.renew()?;
                        continue 'calls;
                    }
                }
                report.count += 1;
            }
        }
    }
    looked_at.call_in_order(CALLS[0], &[], |_, _| Ok(()))?;
    looked_at.end()?;
    Ok(counts)
}

/// Changes a bit of a word behind its first load, and holds what comes of it against what is right
/// without that, and against what comes of the call with a change before the first load.
fn try_one(
    looked_at: &mut LookedAt,
    call: Call,
    words: &mut Vec<Word>,
    (at, bit): (usize, u32),
) -> Result<CameTo, Stopped> {
    let (loads, outcome) = match changed(looked_at, call, words[at], words[at], bit) {
        Err(Stopped::Failed(error)) => {
            return Ok(CameTo::Wrong(format!("came to an end: {error}")));
        }
        other => other?,
    };
    if outcome == call.right {
        return Ok(if loads == 0 { CameTo::Unseen } else { CameTo::WhatItWas });
    }
    if loads == 0 {
        return Ok(CameTo::Wrong(format!("came to {outcome}, and nothing was changed")));
    }
    // A reply that is none has revoked the binding; a call that is none has not.
    renew(looked_at, call, words)?;
    let turn = looked_at.turn_of(words);
    let (_, after) = changed(looked_at, call, turn, words[at], bit)?;
    renew(looked_at, call, words)?;
    match loads > 1 && outcome == after {
        true => Ok(CameTo::WhatItHadBecome),
        false => Ok(CameTo::Wrong(format!("came to {outcome}, not to {} or {after}", call.right))),
    }
}

/// Starts anew where a client is watched, and finds its words.
fn renew(looked_at: &mut LookedAt, call: Call, words: &mut Vec<Word>) -> Result<(), Stopped> {
    if looked_at.side == Side::Client {
        looked_at.renew()?;
        *words = looked_at.words_of(call)?;
    }
    Ok(())
}

/// Which bits of a word are changed.
fn bits(setup: &Setup, chances: &mut fastrand::Rng) -> Vec<u32> {
    if setup.is_nightly {
        return (0..u32::BITS).collect();
    }
    let mut bits = chances.choose_multiple(0..8, LOW_BITS);
    bits.extend(chances.choose_multiple(8..u32::BITS, HIGH_BITS));
    bits
}

/// Makes a call and changes a bit of `word` behind the first load of `at`: how often that was
/// loaded, and what the call came to.
fn changed(
    looked_at: &mut LookedAt,
    call: Call,
    at: Word,
    word: Word,
    bit: u32,
) -> Result<(u32, String), Stopped> {
    let mut loads = 0;
    let outcome = looked_at.call(call, &[at], |memory, _| {
        loads += 1;
        if loads == 1 { word.flip(memory, 1 << bit) } else { Ok(()) }
    })?;
    Ok((loads, outcome))
}
