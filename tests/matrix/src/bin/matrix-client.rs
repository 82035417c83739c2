//! The clients of every self-test: `matrix-client FILE NAME`.

#![forbid(unsafe_code)]
#![deny(warnings)]

#[cfg(not(clippy))]
include!(concat!(env!("OUT_DIR"), "/client.rs"));
#[cfg(clippy)]
include!(concat!(env!("OUT_DIR"), "/client_linted.rs"));

fn main() {
    run(&std::env::args().nth(1).unwrap_or_default());
}
