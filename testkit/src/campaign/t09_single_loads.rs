//! T9: what a server decides by it loads once. Each word of a head but the turn, and each word of a
//! message, is watched by the processor while generated stubs serve calls.
//!
//! The same of a client and its replies.
//!
//! Counted are loads of a server while the turn says that the call is posted, and loads of a client
//! once it says that it is replied to. The server has one processor, so that whoever loads is who
//! decides: where there are several, one that polls may load the words of a call that another has
//! claimed, and not run it. The client sleeps when the reply comes: one that polls loads all words
//! with each poll, and might begin one before the reply that is counted behind it. Should a slice
//! of its sleep end just then, that happens too: such a word is looked at again.
//!
//! What is variable is copied before it is looked at, and the last move of a copy overlaps the one
//! before: two loads of one word there are one copy. T10 shows that they decide nothing.

use std::ops::RangeInclusive;

use super::Setup;
use super::looked_at::{CALLS, Call, LookedAt, Side, Word};
use super::report::{Report, Stopped};
use super::watchpoints::WORDS_MAX;

/// Loads of a word of what is variable, by the moves of one copy.
const COPY_LOADS_MAX: u32 = 2;

/// Times that a word of a reply is looked at that seems to be loaded too often.
const TRIES: u32 = 3;

/// Makes each call as often as it takes to watch all its words, and those of its reply.
pub fn run(_: &Setup) -> Result<Report, Stopped> {
    let mut report = Report::of("words");
    let (mut decisions, mut twice) = ([0; 2], 0);
    for side in [Side::Server, Side::Client] {
        let mut looked_at = LookedAt::new(side)?;
        for call in CALLS {
            for watched in looked_at.words_of(*call)?.chunks(WORDS_MAX) {
                let tries = if side == Side::Server { 1 } else { TRIES };
                for (word, loads) in
                    watched.iter().zip(count(&mut looked_at, *call, watched, tries)?)
                {
                    report.count += 1;
                    decisions[side as usize] += u32::from(word.is_decision);
                    twice += u32::from(loads == 2);
                    if !allowed(word).contains(&loads) {
                        let procedure = call.procedure;
                        let violation =
                            format!("{side:?} of {procedure}: {word} was loaded {loads} times");
                        report.violation(violation);
                    }
                }
            }
        }
        looked_at.end()?;
    }
    let [of_calls, of_replies] = decisions;
    report.figure(format!("{} procedures", CALLS.len()));
    report.figure(format!("{of_calls} decisions of calls and {of_replies} of replies loaded once"));
    report.figure(format!("{twice} words loaded twice by a copy"));
    Ok(report)
}

/// How often a word may be loaded.
fn allowed(word: &Word) -> RangeInclusive<u32> {
    if word.is_decision { 1..=1 } else { 0..=COPY_LOADS_MAX }
}

/// How often each of these words is loaded: the least of so many tries, if one is too often.
fn count(
    looked_at: &mut LookedAt,
    call: Call,
    watched: &[Word],
    tries: u32,
) -> Result<Vec<u32>, Stopped> {
    let mut least = vec![u32::MAX; watched.len()];
    for _ in 0..tries {
        let mut loads = vec![0; watched.len()];
        looked_at.call_in_order(call, watched, |_, word| {
            loads[word] += 1;
            Ok(())
        })?;
        least = least.into_iter().zip(loads).map(|(least, loads)| least.min(loads)).collect();
        if watched.iter().zip(&least).all(|(word, loads)| allowed(word).contains(loads)) {
            break;
        }
    }
    Ok(least)
}
