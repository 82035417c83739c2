//! The stubs of `tests/stubs` where nothing is used: what a program does not call is no mistake of
//! its own. Clippy says so, and rustc's lints with it; no test needs it compiled. A crate of its
//! own, so that both are looked at at once.

#![forbid(unsafe_code)]
#![deny(warnings, clippy::all, missing_docs)]

#[cfg(clippy)]
mod unused {
    include!(concat!(env!("OUT_DIR"), "/all_stubs.rs"));
}
