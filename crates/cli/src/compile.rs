//! `nearcall compile` and `nearcall plan`: the whole compiler, and the compiler up to its last
//! step but one.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use nearcall_idl::back::python::compile_python;
use nearcall_idl::back::rust::compile_rust;
use nearcall_idl::model::Model;
use nearcall_idl::plan;

use crate::failure::Failure;
use crate::reading::{Reading, print};

/// Compiles an interface file to Rust, or to another language
#[derive(Args)]
pub struct Compile {
    /// Interface file, in OMG IDL or MIDL
    file: PathBuf,
    #[command(flatten)]
    reading: Reading,
    /// The language to write
    #[arg(short, long, value_enum, default_value_t = Language::Rust)]
    language: Language,
    /// Write here and not to standard output
    #[arg(short, value_name = "OUT")]
    output: Option<PathBuf>,
}

/// What there is a back end for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Language {
    Python,
    Rust,
}

impl Language {
    fn back_end(self) -> fn(&Model) -> String {
        match self {
            Language::Python => compile_python,
            Language::Rust => compile_rust,
        }
    }
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
        let text = (self.language.back_end())(&self.reading.read_good(&self.file)?);
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
