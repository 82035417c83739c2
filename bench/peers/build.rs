//! Compiles the two interface files, and finds out which versions are measured.

use std::error::Error;
use std::fs::{self, File};
use std::path::PathBuf;

/// The crates whose versions are printed.
const MEASURED: [&str; 5] = ["capnp-rpc", "iceoryx2", "tarpc", "thrift", "tonic"];

fn main() -> Result<(), Box<dyn Error>> {
    for input in ["calls.proto", "calls.capnp.request", "Cargo.lock"] {
        println!("cargo::rerun-if-changed={input}");
    }
    tonic_prost_build::compile_fds(protox::compile(["calls.proto"], ["."])?)?;
    let out = PathBuf::from(std::env::var("OUT_DIR")?);
    let mut compiler = capnpc::codegen::CodeGenerationCommand::new();
    compiler.default_parent_module(vec!["capnp_uds".to_owned()]);
    compiler.output_directory(out).run(File::open("calls.capnp.request")?)?;
    let lock = fs::read_to_string("Cargo.lock")?;
    for name in MEASURED {
        let version = version_in(&lock, name).ok_or("a crate is not in Cargo.lock")?;
        let variable = name.replace('-', "_").to_uppercase();
        println!("cargo::rustc-env={variable}_VERSION={version}");
    }
    Ok(())
}

/// The version that stands below a package's name in a lock file.
fn version_in<'l>(lock: &'l str, name: &str) -> Option<&'l str> {
    let head = format!("name = \"{name}\"\nversion = \"");
    let (_, after) = lock.split_once(&head)?;
    after.split('"').next()
}
