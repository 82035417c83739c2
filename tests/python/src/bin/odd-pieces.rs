//! Sends a judge of pieces the oneofs that no stub writes.
//!
//! `odd-pieces NAME` says how many were read and how many refused, and fails if anything came out
//! otherwise than their table says.

#![forbid(unsafe_code)]

use nearcall::{Domain, ImportOptions};
use stubs_c_tests::odd;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let name = std::env::args().nth(1).ok_or("usage: odd-pieces NAME")?;
    let domain = Domain::new()?;
    let [read, refused] = odd::send_all(&domain, &name, ImportOptions::default());
    println!("{read} {refused}");
    domain.shut_down();
    Ok(())
}
