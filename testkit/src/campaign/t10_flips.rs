//! T10: a word changes between two looks at it, whenever that is. A server is stopped behind its
//! first load of each word of a call, the word is changed as its client could, and it goes on: the
//! call comes to what it would have come to, before or after the change, and to nothing between.
//!
//! What is loaded once comes to what it was. What a copy loads twice (see T9) may come to either:
//! the other outcome is had by changing the word before the server loads it at all.

use super::Setup;
use super::looked_at::{CALLS, Call, LookedAt, Word};
use super::report::{Report, Stopped};

/// Bits of each word that are changed, one at a time, unless it is night: of its low byte, where
/// most words have all that they say, and of the others.
const LOW_BITS: usize = 3;
const HIGH_BITS: usize = 1;

/// What a call came to one of whose bits was changed.
enum CameTo {
    /// The server does not look at it.
    Unseen,
    WhatItWas,
    WhatItHadBecome,
    Wrong(String),
}

/// Changes bits of every word of a call of each kind.
pub fn run(setup: &Setup) -> Result<Report, Stopped> {
    let mut report = Report::of("changed bits");
    let mut chances = setup.chances("T10");
    let mut looked_at = LookedAt::new()?;
    let (mut old_count, mut new_count) = (0, 0);
    'calls: for call in CALLS {
        let before = looked_at.call(*call, &[], |_, _| Ok(()))?;
        let (turn, words) = looked_at.words_of(*call)?;
        for word in words {
            for bit in bits(setup, &mut chances) {
                match try_one(&mut looked_at, *call, [turn, word], bit, &before)? {
                    CameTo::Unseen => break,
                    CameTo::WhatItWas => old_count += 1,
                    CameTo::WhatItHadBecome => new_count += 1,
                    CameTo::Wrong(wrong) => {
                        let of = format!("{}, bit {bit} of {word}", call.procedure);
                        report.violation(format!("{of}: {wrong}"));
                        // The binding, or the server, may be over. One is watched at a time.
                        drop(looked_at);
                        looked_at = LookedAt::new()?;
                        continue 'calls;
                    }
                }
                report.count += 1;
            }
        }
    }
    let sound = looked_at.call(CALLS[0], &[], |_, _| Ok(()))?;
    if sound != "Ok(())" {
        report.violation(format!("at the end a null came to {sound}"));
    }
    report.figure(format!("{old_count} came to what they were"));
    report.figure(format!("{new_count} to what they had become"));
    Ok(report)
}

/// Changes a bit of a word behind its first load, and holds what comes of it against what comes of
/// the call without that, and with a change before the first load.
fn try_one(
    looked_at: &mut LookedAt,
    call: Call,
    [turn, word]: [Word; 2],
    bit: u32,
    before: &str,
) -> Result<CameTo, Stopped> {
    let (loads, outcome) = match changed(looked_at, call, word, word, bit) {
        Err(Stopped::Failed(error)) => {
            return Ok(CameTo::Wrong(format!("came to an end: {error}")));
        }
        other => other?,
    };
    if loads == 0 {
        return Ok(CameTo::Unseen);
    }
    if outcome == before {
        return Ok(CameTo::WhatItWas);
    }
    let (_, after) = changed(looked_at, call, turn, word, bit)?;
    match loads > 1 && outcome == after {
        true => Ok(CameTo::WhatItHadBecome),
        false => Ok(CameTo::Wrong(format!("came to {outcome}, not to {before} or {after}"))),
    }
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
