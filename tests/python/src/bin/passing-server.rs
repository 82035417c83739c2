//! An honest server of what goes beside messages, and of what comes and goes item by item.
//!
//! `passing-server VAULT FEEDING` exports under these names until its standard input ends.

#![forbid(unsafe_code)]

use std::io::Read;

use nearcall::{Clerk, Domain};
use python_tests::feeding::Feeder;
use python_tests::passing::{FeedingEntries, VaultEntries};
use python_tests::vault::Keeper;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let names: Vec<String> = std::env::args().skip(1).collect();
    let [vault, feeding] = names.as_slice() else {
        return Err("usage: passing-server VAULT FEEDING".into());
    };
    let domain = Domain::new()?;
    let keeper = Keeper { domain: domain.clone() };
    let _vault = Clerk::export(&domain, vault, VaultEntries::new(keeper))?;
    let _feeding = Clerk::export(&domain, feeding, FeedingEntries::new(Feeder::default()))?;
    println!("ready");
    std::io::stdin().read_to_end(&mut Vec::new())?;
    Ok(())
}
