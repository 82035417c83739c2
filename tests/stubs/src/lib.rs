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
