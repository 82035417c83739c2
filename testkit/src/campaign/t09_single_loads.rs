//! T9: what a server decides by it loads once. Each word of a head but the turn, and each word of a
//! message, is watched by the processor while generated stubs serve calls.
//!
//! Counted are loads while the turn says that the call is posted. The server has one processor, so
//! that whoever loads is who decides: where there are several, one that polls may load the words of
//! a call that another has claimed, and not run it.
//!
//! What is variable is copied before it is looked at, and the last move of a copy overlaps the one
//! before: two loads of one word there are one copy. T10 shows that they decide nothing.

use super::Setup;
use super::looked_at::{CALLS, LookedAt};
use super::report::{Report, Stopped};
use super::watchpoints::WORDS_MAX;

/// Loads of a word of what is variable, by the moves of one copy.
const COPY_LOADS_MAX: u32 = 2;

/// Makes each call as often as it takes to watch all its words.
pub fn run(_: &Setup) -> Result<Report, Stopped> {
    let mut report = Report::of("words");
    let mut looked_at = LookedAt::new()?;
    let (mut decisions, mut twice) = (0, 0);
    for call in CALLS {
        let (turn, words) = looked_at.words_of(*call)?;
        for watched in words.chunks(WORDS_MAX) {
            let mut loads = vec![0u32; watched.len()];
            looked_at.call(*call, watched, |memory, word| {
                // A poll that finds no call decides nothing.
                loads[word] += u32::from(turn.says_posted(memory)?);
                Ok(())
            })?;
            for (word, loads) in watched.iter().zip(loads) {
                report.count += 1;
                let (least, most) = match word.is_decision(*call) {
                    true => (1, 1),
                    false => (0, COPY_LOADS_MAX),
                };
                decisions += least;
                twice += u32::from(loads == 2);
                if !(least..=most).contains(&loads) {
                    let procedure = call.procedure;
                    report.violation(format!("{procedure}: {word} was loaded {loads} times"));
                }
            }
        }
    }
    report.figure(format!("{} procedures", CALLS.len()));
    report.figure(format!("{decisions} decisions loaded once each"));
    report.figure(format!("{twice} words loaded twice by a copy"));
    Ok(report)
}
