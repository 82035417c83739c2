//! Front ends: text to model.

pub mod omg;
pub mod options;

use std::path::Path;

use crate::diagnostic::Diagnostic;
use crate::model::Model;
use crate::source::SourceMap;
use options::Options;

/// What a compilation leaves.
#[derive(Clone, Debug, Default)]
pub struct Compilation {
    /// What the file means; `None` if a finding is an error.
    pub model: Option<Model>,
    /// Every finding, errors and notes, in the order of the text.
    pub diagnostics: Vec<Diagnostic>,
}

/// Compiles an interface file and all it includes. The first file of a new `sources` is `path`.
///
/// Ends on every input, in time and memory in proportion to it. Every mistake that is none of
/// another's consequences is a finding.
pub fn compile(path: &Path, options: &Options, sources: &mut SourceMap) -> Compilation {
    omg::compile(path, options, sources)
}
