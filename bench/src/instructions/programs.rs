//! The peers' programs: those in Rust are one, of `bench/peers`; omniORB's is compiled here, with
//! what its distribution installs.
//!
//! ```text
//! bench/peers/omniorb ── omniidl ──▶ calls.hh callsSK.cc ──┐
//!                     ── main.cpp ─────────────────────────┴── g++ -O2 ──▶ a program
//! ```

use std::path::{Path, PathBuf};
use std::process::Command;

use super::OMNIORB;
use crate::child::Failure;
use crate::rival;

/// Where omniORB's is.
const PLACE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/peers/omniorb");

/// The package of the others.
const PEERS: &str = "bench-peers";

/// Where they are, or why not.
pub struct Programs {
    peers: Result<PathBuf, String>,
    omniorb: Result<PathBuf, String>,
}

impl Programs {
    /// Those in `compiled`, or else they are compiled now, what is not cargo's in `directory`.
    pub fn find(compiled: Option<&Path>, directory: &Path) -> Programs {
        if let Some(compiled) = compiled {
            let peers = Ok(compiled.join(PEERS));
            return Programs { peers, omniorb: Ok(compiled.join(OMNIORB)) };
        }
        let peers = rival::build(PEERS).map_err(|error| error.to_string());
        let omniorb = compile_omniorb(directory).map_err(|error| error.to_string());
        Programs { peers, omniorb }
    }

    /// The one that a peer is part of.
    pub fn of(&self, name: &str) -> Result<&Path, Failure> {
        let program = if name == OMNIORB { &self.omniorb } else { &self.peers };
        Ok(program.as_ref().map_err(Clone::clone)?)
    }
}

fn compile_omniorb(directory: &Path) -> Result<PathBuf, Failure> {
    let mut command = Command::new("omniidl");
    let stubs = command.args(["-bcxx", "-C"]).arg(directory).arg(format!("{PLACE}/calls.idl"));
    let output = stubs.output().map_err(|error| format!("no `omniidl`: {error}"))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(format!("`omniidl`: {said}").into());
    }
    let mut command = Command::new("g++");
    command.args(["-O2", "-I"]).arg(directory).arg(format!("{PLACE}/main.cpp"));
    command.arg(directory.join("callsSK.cc")).args(["-lomniORB4", "-lomnithread", "-lpthread"]);
    rival::compile(&mut command, &directory.join(OMNIORB))
}
