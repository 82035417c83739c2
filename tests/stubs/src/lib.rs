//! Stubs of every good interface file, of those with names that Rust keeps for itself, and of a
//! batch of random ones. That they compile here is the first test: no warning, no lint of clippy's
//! usual ones, no undocumented item, no unsafe code.

#![forbid(unsafe_code)]
#![deny(warnings, clippy::all, missing_docs)]

include!(concat!(env!("OUT_DIR"), "/all_stubs.rs"));

/// Stubs of random interfaces.
pub mod random {
    include!(concat!(env!("OUT_DIR"), "/random_stubs.rs"));
}

/// The same once more where nothing is used: what a program does not call is no mistake of its own.
/// Clippy says so, and rustc's lints with it; no test needs it compiled.
#[cfg(clippy)]
mod unused {
    include!(concat!(env!("OUT_DIR"), "/all_stubs.rs"));
}
