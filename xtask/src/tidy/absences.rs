//! What a crate must not contain: the invariants that say what is absent.

use super::report::Report;
use super::tokens::{Token, is_at, test_ranges, text_at};
use super::tree::{File, Tree};

/// Names that mean a clock, a wait, or input and output.
const OUTSIDE_WORLD: &[&str] = &[
    "File",
    "Instant",
    "SystemTime",
    "TcpStream",
    "UdpSocket",
    "UnixStream",
    "eprintln",
    "park_timeout",
    "println",
    "sleep",
];

/// Modules of `std` that are the outside world.
const OUTSIDE_MODULES: &[&str] = &["env", "fs", "io", "net", "os", "process", "thread", "time"];

/// Where a raw pointer may be named.
const POINTERS: &[&str] =
    &["crates/os/", "crates/nearcall/src/raw", "crates/threads/", "crates/c/src/handle"];

/// A raw pointer that is not followed, and why it is there.
const NOT_FOLLOWED: &[(&str, &str)] = &[(
    "crates/nearcall/src/housekeeping.rs",
    "which binding it is, by its address in private memory",
)];

pub fn check(tree: &Tree) -> Report {
    let mut report = Report::new("absences");
    let (mut core, mut above) = (0, 0);
    for file in tree.rust().filter(|file| file.path.starts_with("crates/") && !file.is_test()) {
        if file.path.starts_with("crates/core/src/") {
            core += 1;
            outside_world(file, &mut report);
        }
        let is_followed = NOT_FOLLOWED.iter().all(|(place, _)| file.path != *place);
        if is_followed && !POINTERS.iter().any(|place| file.path.starts_with(place)) {
            above += 1;
            pointers(file, &mut report);
        }
    }
    let mut grounds = 0;
    for file in tree.ending("crates/abi/src/lib.rs") {
        grounds += 1;
        let no_std = ["#", "!", "[", "no_std", "]"];
        if !(0..file.tokens.len()).any(|i| is_at(&file.tokens, i, &no_std)) {
            report.find(&file.path, 1, "must begin with `#![no_std]`");
        }
    }
    report.counted(&[
        (core, "files of core without an outside world"),
        (above, "files without a raw pointer"),
        (grounds, "crate without std"),
    ])
}

fn outside_world(file: &File, report: &mut Report) {
    let tests = test_ranges(&file.tokens);
    for (i, token) in file.tokens.iter().enumerate() {
        if tests.iter().any(|range| range.contains(&i)) {
            continue;
        }
        if OUTSIDE_WORLD.contains(&token.text.as_str()) || is_outside_module(&file.tokens, i) {
            let message = format!("core has no outside world: `{}`", token.text);
            report.find(&file.path, token.line, message);
        }
    }
}

/// Whether token `i` is the `fs` of `std::fs` or of `use std::{fs, ..}`'s first place.
fn is_outside_module(tokens: &[Token], i: usize) -> bool {
    let is_named = OUTSIDE_MODULES.contains(&text_at(tokens, i));
    let after_std = (i >= 3 && is_at(tokens, i - 3, &["std", ":", ":"]))
        || (i >= 4 && is_at(tokens, i - 4, &["std", ":", ":", "{"]));
    is_named && after_std
}

fn pointers(file: &File, report: &mut Report) {
    for (i, token) in file.tokens.iter().enumerate() {
        let next = text_at(&file.tokens, i + 1);
        // `PhantomData<*const ()>` only says that a type stays on its thread.
        let is_marker = is_at(&file.tokens, i + 2, &["(", ")"]);
        if token.text == "*" && matches!(next, "const" | "mut") && !is_marker {
            let message = format!("no crate above os sees a raw pointer: `*{next}`");
            report.find(&file.path, token.line, message);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::canary;

    #[test]
    fn a_clock_in_core_is_found() {
        let clock = "fn now() -> std::time::Instant { std::time::Instant::now() }";
        canary::finds(check, &[("crates/core/src/clock.rs", clock)], "core has no outside world");
        canary::passes(check, &[("crates/os/src/clock.rs", clock)]);
    }

    #[test]
    fn a_raw_pointer_above_os_is_found() {
        let pointer = "fn base() -> *mut u8 { todo() }";
        canary::finds(check, &[("crates/nearcall/src/a.rs", pointer)], "raw pointer");
        canary::passes(check, &[("crates/os/src/a.rs", pointer)]);
        let marker = "struct Stays(PhantomData<*const ()>);";
        canary::passes(check, &[("crates/nearcall/src/a.rs", marker)]);
    }

    #[test]
    fn an_abi_with_std_is_found() {
        canary::finds(check, &[("crates/abi/src/lib.rs", "//! abi\n")], "no_std");
    }
}
