//! Rust stubs of the interface that Rust and C call each other through.

#![forbid(unsafe_code)]

include!(concat!(env!("OUT_DIR"), "/cross.rs"));
