//! `nearcall compile` and `nearcall plan`: the whole compiler, and the compiler up to its last
//! step but one.

use std::path::PathBuf;

use clap::Args;
use nearcall_idl::back::rust::compile_rust;
use nearcall_idl::plan;

use crate::failure::Failure;
use crate::reading::{Reading, print};

/// Compiles an interface file to Rust
#[derive(Args)]
pub struct Compile {
    /// Interface file, in OMG IDL or MIDL
    file: PathBuf,
    #[command(flatten)]
    reading: Reading,
    /// Write here and not to standard output
    #[arg(short, value_name = "OUT.rs")]
    output: Option<PathBuf>,
}

/// Prints what the stubs of an interface file do, one step a line
#[derive(Args)]
pub struct Plan {
    /// Interface file, in OMG IDL or MIDL
    file: PathBuf,
    #[command(flatten)]
    reading: Reading,
}

impl Compile {
    /// Writes nothing if there is a mistake.
    pub fn run(&self) -> Result<(), Failure> {
        let text = compile_rust(&self.reading.read_good(&self.file)?);
        match &self.output {
            Some(output) => std::fs::write(output, text).map_err(Failure::doing("write", output)),
            None => print(&text),
        }
    }
}

impl Plan {
    /// Prints nothing if there is a mistake.
    pub fn run(&self) -> Result<(), Failure> {
        let model = self.reading.read_good(&self.file)?;
        print(&plan::dump(&model, &plan::plan(&model)))
    }
}
