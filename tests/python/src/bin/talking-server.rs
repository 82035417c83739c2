//! An honest server of streams both ways.
//!
//! `talking-server NAME` exports under this name until its standard input ends.

#![forbid(unsafe_code)]

use std::io::Read;

use nearcall::{Clerk, Domain};
use stubs_c_tests::said::talking::TalkingEntries;
use stubs_c_tests::talker::Talker;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let name = std::env::args().nth(1).ok_or("usage: talking-server NAME")?;
    let domain = Domain::new()?;
    let _clerk = Clerk::export(&domain, &name, TalkingEntries::new(Talker::default()))?;
    println!("ready");
    std::io::stdin().read_to_end(&mut Vec::new())?;
    Ok(())
}
