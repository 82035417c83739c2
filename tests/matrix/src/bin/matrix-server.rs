//! The servers of every self-test: `matrix-server FILE NAME`.

#![forbid(unsafe_code)]
#![deny(warnings)]

#[cfg(not(clippy))]
include!(concat!(env!("OUT_DIR"), "/server.rs"));
#[cfg(clippy)]
include!(concat!(env!("OUT_DIR"), "/server_linted.rs"));

fn main() {
    run(&std::env::args().nth(1).unwrap_or_default());
}
