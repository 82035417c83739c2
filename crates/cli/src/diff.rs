//! `nearcall diff`: what becomes of programs when an interface file changes.

use std::path::{Path, PathBuf};

use clap::Args;
use nearcall_abi::counted;
use nearcall_idl::diagnostic::{Diagnostic, json, render};
use nearcall_idl::evolution::{self, Finding};
use nearcall_idl::model::Model;
use nearcall_idl::source::SourceMap;

use crate::failure::Failure;
use crate::reading::{Reading, is_coloured, print};

/// Says what breaks whom between two versions of an interface file; the end code is 0 if nothing
/// does, 1 if something does, 2 if one of them is no good interface file
#[derive(Args)]
pub struct Diff {
    /// The version that programs are made from
    old: PathBuf,
    /// The one that they shall be made from
    new: PathBuf,
    /// Search this directory for files that the old version includes, before those of `-I`
    #[arg(long, value_name = "DIR")]
    include_old: Vec<PathBuf>,
    /// The same for the new version. What is found by `-I` is the same file for both, and has no
    /// changes
    #[arg(long, value_name = "DIR")]
    include_new: Vec<PathBuf>,
    #[command(flatten)]
    reading: Reading,
    /// One JSON object a finding, on standard output
    #[arg(long)]
    json: bool,
}

impl Diff {
    /// Compares nothing if there is a mistake in one of the two.
    pub fn run(&self) -> Result<(), Failure> {
        let mut sources = SourceMap::default();
        let old = self.read(&self.old, &self.include_old, &mut sources);
        let new = self.read(&self.new, &self.include_new, &mut sources);
        let findings = evolution::compare(&old?, &new?);
        match self.json {
            true => print(&evolution::json_lines(&findings, &sources))?,
            false => show(&findings, &sources),
        }
        let breaking = findings.iter().filter(|finding| finding.is_breaking()).count();
        eprintln!(
            "{}, {}",
            counted(breaking, "breaking change"),
            counted(findings.len() - breaking, "other change")
        );
        if breaking == 0 { Ok(()) } else { Err(Failure::Shown) }
    }

    /// What is noted of either version alone is none of a comparison's business.
    fn read(
        &self,
        path: &Path,
        include: &[PathBuf],
        sources: &mut SourceMap,
    ) -> Result<Model, Failure> {
        let (model, findings) = self.reading.read_into(path, include, sources);
        if let Some(model) = model {
            return Ok(model);
        }
        match self.json {
            true => print(&json::lines(&findings, sources))?,
            false => eprint!("{}", render::texts(&findings, sources, is_coloured())),
        }
        Err(Failure::BadInput)
    }
}

fn show(findings: &[Finding], sources: &SourceMap) {
    let diagnostics: Vec<Diagnostic> =
        findings.iter().map(|finding| finding.diagnostic.clone()).collect();
    eprint!("{}", render::texts(&diagnostics, sources, is_coloured()));
}
