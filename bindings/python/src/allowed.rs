//! What a value may be, in the words that errors say it in.

use std::collections::HashMap;

use pyo3::prelude::*;

use crate::table::Range;
use crate::words::{Number, Word};

/// Most enumerators that are told one by one. An error is to fit a line or two.
const PARTS_MAX: usize = 8;

/// `-1.5 to 2.5`, `0 or more`, `'z' or less`.
pub fn within(word: Word, range: &Range) -> String {
    let shown = |number: Number| word.shown(number);
    match (range.least.map(shown), range.greatest.map(shown)) {
        (Some(least), Some(greatest)) => format!("{least} to {greatest}"),
        (Some(least), None) => format!("{least} or more"),
        (None, Some(greatest)) => format!("{greatest} or less"),
        (None, None) => String::from("any value"),
    }
}

/// `LOW (0) to HIGH (2)`, or one by one what does not stand in a row.
pub fn enumerators(py: Python<'_>, values: &HashMap<i128, Py<PyAny>>) -> String {
    let mut numbers: Vec<i128> = values.keys().copied().collect();
    numbers.sort_unstable();
    let word = |number: &i128| {
        let name = values[number].getattr(py, "name").map(|name| name.to_string());
        name.map_or_else(|_| number.to_string(), |name| format!("{name} ({number})"))
    };
    let runs = numbers.chunk_by(|one, next| one + 1 == *next);
    let parts = runs.flat_map(|run| match run {
        [first, _, .., last] => vec![format!("{} to {}", word(first), word(last))],
        few => few.iter().map(word).collect(),
    });
    let mut parts: Vec<String> = parts.collect();
    if parts.len() > PARTS_MAX {
        let more = parts.len() - (PARTS_MAX - 1);
        parts.truncate(PARTS_MAX - 1);
        parts.push(format!("one of {more} more"));
    }
    match parts.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, first)) => format!("{} or {last}", first.join(", ")),
        None => String::from("nothing"),
    }
}

/// The bits that flags are made of.
pub fn bits(all: u64) -> String {
    format!("bits of {all:#x}")
}

/// The integers from `least` on, before `end`.
pub fn before(least: i128, end: i128) -> String {
    format!("{least} to {}", end - 1)
}
