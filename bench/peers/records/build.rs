//! Compiles the interface file, and finds out which versions are measured.

#[path = "../versions.rs"]
mod versions;

use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    nearcall_idl::build("records.idl");
    versions::give("../Cargo.lock", &["nearcall", "rkyv", "wincode"])
}
