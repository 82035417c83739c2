//! The stubs that both programs call: those of `tests/stubs`, and of every other interface file.

#![forbid(unsafe_code)]
#![deny(warnings)]

#[doc(no_inline)]
pub use stubs_tests::*;

#[cfg(not(clippy))]
include!(concat!(env!("OUT_DIR"), "/stubs.rs"));
#[cfg(clippy)]
include!(concat!(env!("OUT_DIR"), "/stubs_linted.rs"));
