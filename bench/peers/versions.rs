//! For the build scripts: which versions are measured, as the lock file says.

use std::error::Error;
use std::fs;

/// Gives the program the version of each of `crates` as the environment variable `NAME_VERSION`.
pub fn give(lock: &str, crates: &[&str]) -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed={lock}");
    let text = fs::read_to_string(lock)?;
    for name in crates {
        let head = format!("name = \"{name}\"\nversion = \"");
        let (_, after) = text.split_once(&head).ok_or(format!("{name} is not in {lock}"))?;
        let version = after.split('"').next().unwrap_or_default();
        println!("cargo::rustc-env={}_VERSION={version}", name.replace('-', "_").to_uppercase());
    }
    Ok(())
}
