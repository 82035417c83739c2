//! `nearcall check`: the front end alone.

use std::path::PathBuf;

use clap::Args;
use nearcall_abi::{ProcedureName, counted};
use nearcall_idl::diagnostic::{Severity, json};
use nearcall_idl::model::{Model, Operation};

use crate::failure::Failure;
use crate::reading::{Reading, print};

/// Checks interface files; the end code is 1 if one has a mistake
#[derive(Args)]
pub struct Check {
    /// Interface files, in OMG IDL, MIDL or proto3
    #[arg(required = true)]
    files: Vec<PathBuf>,
    #[command(flatten)]
    reading: Reading,
    /// One JSON object a finding, on standard output
    #[arg(long)]
    json: bool,
}

impl Check {
    /// Checks every file, whatever is wrong with the others.
    pub fn run(&self) -> Result<(), Failure> {
        let (mut operations, mut errors, mut notes) = (0, 0, 0);
        for file in &self.files {
            let read = self.reading.read(file);
            match self.json {
                true => print(&json::lines(&read.findings, &read.sources))?,
                false => read.show(),
            }
            operations += read.model.as_ref().map_or(0, operations_of);
            errors += read.count(Severity::Error);
            notes += read.count(Severity::Note);
        }
        eprintln!(
            "{}, {}, {}, {}",
            counted(self.files.len(), "file"),
            counted(operations, "operation"),
            counted(errors, "error"),
            counted(notes, "note"),
        );
        if errors == 0 { Ok(()) } else { Err(Failure::Shown) }
    }
}

/// Those that somebody has written: what carries a feed is part of the operation that opens it, and
/// those that an interface inherits are its base's.
fn operations_of(model: &Model) -> usize {
    let own = model.interfaces().map(|(id, _, interface)| {
        let is_own = |operation: &&Operation| {
            let written = ProcedureName::new(&operation.name).operation();
            operation.declared_in == id && operation.name == written
        };
        interface.operations.iter().filter(is_own).count()
    });
    own.sum()
}
