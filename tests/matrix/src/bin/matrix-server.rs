//! The servers of every self-test: `matrix-server FILE NAME`.

#![forbid(unsafe_code)]

include!(concat!(env!("OUT_DIR"), "/server.rs"));

fn main() {
    run(&std::env::args().nth(1).unwrap_or_default());
}
