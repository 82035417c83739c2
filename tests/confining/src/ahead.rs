//! Before the `main` of a program that this library is loaded ahead of.

#![allow(unsafe_code)]

use std::path::Path;

use confined::{CONFINED, KIND, Kind, RECORD, SANITIZED};

use crate::{caught, confine, lists};

/// What the loader calls, once the C library can be used.
// SAFETY: the section is a list of functions for the loader to call, which hands over three words
// that this one does not look at.
#[unsafe(link_section = ".init_array")]
#[used]
static AHEAD: extern "C" fn() = ahead;

/// Confines this process if whoever has started it wants that.
extern "C" fn ahead() {
    let Ok(record) = std::env::var(RECORD) else { return };
    let named = std::env::var(KIND).unwrap_or_default();
    let kind = Kind::of_name(&named).unwrap_or_else(|| panic!("{KIND}={named:?}: no such kind"));
    // A sanitizer makes calls of its own, and waits for ever where they are refused.
    let is_sanitized = caught::is_sanitized();
    let what = if is_sanitized { SANITIZED } else { CONFINED };
    let line = format!("{what} {}\n", std::process::id());
    confined::append(Path::new(&record), &line).expect("its record can be written");
    if !is_sanitized {
        caught::write_down_in(record);
        confine(lists::of(kind));
    }
}
