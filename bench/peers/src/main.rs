//! The calls of the benchmark program, over other people's ways to call.
//!
//! ```text
//! bench ── SUBJECT HERE THERE ──▶ client ── --server SUBJECT … ──▶ server
//!       ◀── lines, see `client` ──▶      ◀──── what is measured ───▶
//! ```
//!
//! One way to call in each module; a client and a server, each a process of its own on a processor
//! of its own, as the benchmark program's are.

#![forbid(unsafe_code)]

mod call;
mod capnp_uds;
mod client;
mod iceoryx;
mod processor;
mod server;
mod tarpc_uds;
mod thrift_uds;
mod tonic_uds;
mod walked;

use std::process::ExitCode;

use call::Failure;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("bench-peers: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &[String]) -> Result<(), Failure> {
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words[..] {
        ["--server", subject, here, there, address] => {
            server::play(subject, here.parse()?, there.parse()?, address)
        }
        [subject, here, there] => client::play(subject, here.parse()?, there.parse()?),
        _ => Err("which subject, from which processor to which?".into()),
    }
}
