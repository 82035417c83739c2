//! The clients of every self-test: `matrix-client FILE NAME`.

#![forbid(unsafe_code)]

include!(concat!(env!("OUT_DIR"), "/client.rs"));

fn main() {
    run(&std::env::args().nth(1).unwrap_or_default());
}
