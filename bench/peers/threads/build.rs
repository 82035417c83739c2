//! Finds out which versions are measured.

use std::error::Error;
use std::fs;

/// Of the workspace.
const LOCK: &str = "../Cargo.lock";

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed={LOCK}");
    let lock = fs::read_to_string(LOCK)?;
    for name in ["may", "tokio"] {
        let head = format!("name = \"{name}\"\nversion = \"");
        let (_, after) = lock.split_once(&head).ok_or("a crate is not in Cargo.lock")?;
        let version = after.split('"').next().unwrap_or_default();
        println!("cargo::rustc-env={}_VERSION={version}", name.to_uppercase());
    }
    Ok(())
}
