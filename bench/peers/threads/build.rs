//! Finds out which versions are measured.

#[path = "../versions.rs"]
mod versions;

use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    versions::give("../Cargo.lock", &["may", "tokio"])
}
