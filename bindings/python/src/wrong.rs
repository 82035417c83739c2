//! Why a value of Python's is not sent, and which part of it that is: told from the inside out, on
//! the way back from what was refused. Good values pay nothing for it.

use std::ffi::c_int;

use nearcall::raw::DescriptorKind;
use nearcall::{OutOfRange, OverBound};
use pyo3::prelude::*;

use crate::errors;

/// Characters of a map's key that an error shows.
const KEY_CHARACTERS_MAX: usize = 40;

/// Why a value is not sent.
#[derive(Debug)]
pub enum Wrong {
    /// There is too much of it.
    Bound(OverBound),
    /// It is a number, or a letter, that its type has not.
    Range(OutOfRange),
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
        Wrong::Range(OutOfRange { parameter: "", value: value.to_string(), allowed })
    }

    /// A count over a bound.
    pub fn bound(value: usize, limit: usize) -> Wrong {
        let (value, limit) = (value as u64, limit as u64);
        Wrong::Bound(OverBound { parameter: "", value, limit })
    }

    /// With the parameter's name, if none was said; of a member that is not of its type, with the
    /// name of what that is in, too.
    pub fn named(self, label: &'static str) -> Wrong {
        match self {
            Wrong::Bound(over) if over.parameter.is_empty() => {
                Wrong::Bound(OverBound { parameter: label, ..over })
            }
            Wrong::Range(beyond) if beyond.parameter.is_empty() => {
                Wrong::Range(OutOfRange { parameter: label, ..beyond })
            }
            Wrong::Type { of, why } => Wrong::Type { of: within(label, &of), why },
            other => other,
        }
    }

    /// With which element it is of, by its index.
    pub fn at(self, index: usize) -> Wrong {
        match self {
            Wrong::Type { of, why } => Wrong::Type { of: within(&format!("[{index}]"), &of), why },
            other => other,
        }
    }

    /// With the key of the entry of a map that it is of, in what `place` makes of that.
    pub fn of_entry(self, key: &Bound<'_, PyAny>, place: impl Fn(&str) -> String) -> Wrong {
        let Wrong::Type { of, why } = self else {
            return self;
        };
        match key.repr() {
            Ok(shown) => {
                let shown = shown.to_string();
                let mut cut: String = shown.chars().take(KEY_CHARACTERS_MAX).collect();
                if cut.len() < shown.len() {
                    cut.push_str("...");
                }
                Wrong::Type { of: within(&place(&cut), &of), why }
            }
            Err(error) => Wrong::Python(error),
        }
    }

    /// With which part of a union it is.
    pub fn of_part(self, part: &str) -> Wrong {
        match self {
            Wrong::Type { of, why } => Wrong::Type { of: within(part, &of), why },
            other => other,
        }
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

/// A place in another one: `rows[2].name` is `name` in `[2]` in `rows`.
fn within(outer: &str, inner: &str) -> String {
    let dot = if inner.is_empty() || inner.starts_with(['[', ',']) { "" } else { "." };
    format!("{outer}{dot}{inner}")
}
