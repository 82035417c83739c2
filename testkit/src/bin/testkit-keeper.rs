//! A server process of the tests of the failure contract: `testkit-keeper DIRECTORY NAME`;
//! `testkit-keeper DIRECTORY NAME relay NEXT` is a client that has it call `NEXT` for a minute.

#![forbid(unsafe_code)]

use std::path::Path;

use nearcall::Domain;
use testkit::confined::{List, confine};
use testkit::contract;

const MINUTE_MS: u32 = 60_000;

fn main() {
    confine(List::Playing);
    let arguments: Vec<String> = std::env::args().collect();
    match &arguments[1..] {
        [directory, name] => contract::run(Path::new(directory), name),
        [directory, name, relay, next] if relay == "relay" => {
            let domain = Domain::new().expect("a domain");
            let client = contract::import(&domain, Path::new(directory), name);
            println!("{:?}", client.relay(next, MINUTE_MS));
        }
        _ => {
            eprintln!("usage: testkit-keeper DIRECTORY NAME [relay NEXT]");
            std::process::exit(2);
        }
    }
}
