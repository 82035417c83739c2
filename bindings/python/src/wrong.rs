//! Why a value of Python's is not sent, and which part of it that is: told from the inside out, on
//! the way back from what was refused. Good values pay nothing for it.

use std::ffi::c_int;

use nearcall::raw::DescriptorKind;
use nearcall::{OutOfRange, OverBound};
use pyo3::prelude::*;

use crate::errors;

/// Characters of a map's key that an error shows.
const KEY_CHARACTERS_MAX: usize = 40;

/// Of a place that an error shows whole.
const PLACE_CHARACTERS_MAX: usize = 80;

/// Of one that is longer, its beginning and its end.
const FIRST_CHARACTERS: usize = 40;
const LAST_CHARACTERS: usize = 20;

/// Why a value is not sent.
#[derive(Debug)]
pub enum Wrong {
    /// There is too much of it. Where it is, as of a type.
    Bound { of: String, over: OverBound },
    /// It is a number, or a letter, that its type has not. Where it is, as of a type.
    Range { of: String, beyond: OutOfRange },
    /// It is nested in itself, or too deeply. Where that is; a client is told of the whole.
    Nesting { of: String, beyond: OutOfRange },
    /// It is the number of no open descriptor.
    NotOpen { parameter: &'static str, number: c_int, wanted: DescriptorKind },
    /// It is not of its type: which parameter, or member within members and element of a list, as
    /// far as it was said.
    Type { of: String, why: String },
    /// Python, or a method of the value's, says so.
    Python(PyErr),
}

impl Wrong {
    /// A value that its type has not, and what that has.
    pub fn range(value: impl ToString, allowed: String) -> Wrong {
        let beyond = OutOfRange { parameter: "", value: value.to_string(), allowed };
        Wrong::Range { of: String::new(), beyond }
    }

    /// A count over a bound.
    pub fn bound(value: usize, limit: usize) -> Wrong {
        let (value, limit) = (value as u64, limit as u64);
        Wrong::Bound { of: String::new(), over: OverBound { parameter: "", value, limit } }
    }

    /// More levels than there may be.
    pub fn nesting(levels: usize, limit: usize) -> Wrong {
        let (value, allowed) = (format!("{levels} levels deep"), format!("0 to {limit}"));
        Wrong::Nesting { of: String::new(), beyond: OutOfRange { parameter: "", value, allowed } }
    }

    /// With the name of the parameter or member that it is of, or is in. That alone is what a
    /// client is told whose call has it among its results.
    pub fn named(mut self, label: &'static str) -> Wrong {
        match &mut self {
            Wrong::Bound { over: OverBound { parameter, .. }, .. }
            | Wrong::Range { beyond: OutOfRange { parameter, .. }, .. }
                if parameter.is_empty() =>
            {
                *parameter = label;
            }
            Wrong::Nesting { beyond, .. } => beyond.parameter = label,
            _ => {}
        }
        self.of_part(label)
    }

    /// With which element it is of, by its index.
    pub fn at(self, index: usize) -> Wrong {
        self.of_part(&format!("[{index}]"))
    }

    /// With the key of the entry of a map that it is of, in what `place` makes of that.
    pub fn of_entry(self, key: &Bound<'_, PyAny>, place: impl Fn(&str) -> String) -> Wrong {
        if matches!(self, Wrong::NotOpen { .. } | Wrong::Python(_)) {
            return self;
        }
        // One that cannot be shown is no reason to tell of something else.
        let shown = key.repr().map_or_else(|_| String::from("..."), |shown| shown.to_string());
        let mut cut: String = shown.chars().take(KEY_CHARACTERS_MAX).collect();
        if cut.len() < shown.len() {
            cut.push_str("...");
        }
        self.of_part(&place(&cut))
    }

    /// With which part of a value it is of.
    pub fn of_part(mut self, part: &str) -> Wrong {
        match &mut self {
            Wrong::Bound { of, .. }
            | Wrong::Range { of, .. }
            | Wrong::Nesting { of, .. }
            | Wrong::Type { of, .. } => *of = within(part, of),
            Wrong::NotOpen { .. } | Wrong::Python(_) => {}
        }
        self
    }

    /// The same of a member.
    pub fn of_member(self, py: Python<'_>, label: &'static str) -> Wrong {
        if let Wrong::Python(error) = &self {
            errors::note(py, error, "member", label);
        }
        self.named(label)
    }
}

impl From<PyErr> for Wrong {
    fn from(error: PyErr) -> Wrong {
        Wrong::Python(error)
    }
}

/// A place that is many levels deep, without those in between.
pub fn cut(of: String) -> String {
    let letters: Vec<char> = of.chars().collect();
    if letters.len() <= PLACE_CHARACTERS_MAX {
        return of;
    }
    let (first, last) = (&letters[..FIRST_CHARACTERS], &letters[letters.len() - LAST_CHARACTERS..]);
    let [first, last] = [first, last].map(|part| part.iter().collect::<String>());
    format!("{first} ... {last}")
}

/// A place in another one: `rows[2].name` is `name` in `[2]` in `rows`.
fn within(outer: &str, inner: &str) -> String {
    let dot = if inner.is_empty() || inner.starts_with(['[', ',']) { "" } else { "." };
    format!("{outer}{dot}{inner}")
}
