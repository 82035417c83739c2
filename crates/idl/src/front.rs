//! Front ends: text to model. They share everything but their grammars.
//!
//! ```text
//! options       what the command line says
//! dialect       which language a file is written in
//! lexer         text to pieces              token       what leaves the preprocessor
//! preprocessor  files and macros to tokens  findings    what both find
//! parser        the cursor of the grammars  ast         what they make
//! omg           the grammar of OMG IDL 4.2
//! midl          that of DCE RPC and MIDL, and its way into the same syntax tree
//! proto         files of proto3, as protox reads them, and their way into it
//! resolve       syntax tree to model        rules       what all of them demand
//! ```

pub mod ast;
pub mod dialect;
mod findings;
mod lexer;
mod midl;
mod omg;
pub mod options;
pub mod parser;
pub mod preprocessor;
mod proto;
pub mod resolve;
pub mod rules;
pub mod token;

use std::path::Path;

use self::dialect::Dialect;
use self::options::Options;
use self::preprocessor::files::{Disk, Files};
use crate::diagnostic::{self, Diagnostic, Severity};
use crate::model::Model;
use crate::source::SourceMap;

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
    compile_from(&Disk, path, options, sources)
}

/// The same, with files from wherever `files` has them.
pub fn compile_from(
    files: &dyn Files,
    path: &Path,
    options: &Options,
    sources: &mut SourceMap,
) -> Compilation {
    let parsed = if Dialect::is_proto(path, options.dialect) {
        proto::parse(files, path, options, sources)
    } else {
        let mut findings = Vec::new();
        let stream = preprocessor::preprocess_from(files, path, options, sources, &mut findings);
        let mut parsed = match stream.dialect {
            Dialect::Midl => midl::parse(stream, &findings),
            Dialect::Omg | Dialect::Proto => omg::parse(stream),
        };
        parsed.diagnostics.splice(0..0, findings);
        parsed
    };
    let (model, mut diagnostics) = resolve::resolve(parsed);
    diagnostic::settle(&mut diagnostics);
    let is_told = |finding: &Diagnostic| {
        finding.rule.severity() == Severity::Error || !options.allowed.contains(&finding.rule)
    };
    diagnostics.retain(is_told);
    Compilation { model, diagnostics }
}
