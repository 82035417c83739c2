//! OMG IDL 4.2: files, tokens, syntax tree, model.

pub mod ast;
mod findings;
mod lexer;
pub mod parser;
pub mod preprocessor;
pub mod resolve;
pub mod rules;
pub mod token;

use std::path::Path;

use self::preprocessor::files::Files;
use self::token::TokenStream;
use super::Compilation;
use super::options::Options;
use crate::diagnostic::{self, Diagnostic};
use crate::source::SourceMap;

/// Compiles the file at `path` and all it includes.
pub fn compile(path: &Path, options: &Options, sources: &mut SourceMap) -> Compilation {
    let mut findings = Vec::new();
    let stream = preprocessor::preprocess(path, options, sources, &mut findings);
    compile_tokens(stream, findings)
}

/// The same, with files from wherever `files` has them.
pub fn compile_from(
    files: &dyn Files,
    path: &Path,
    options: &Options,
    sources: &mut SourceMap,
) -> Compilation {
    let mut findings = Vec::new();
    let stream = preprocessor::preprocess_from(files, path, options, sources, &mut findings);
    compile_tokens(stream, findings)
}

fn compile_tokens(stream: TokenStream, findings: Vec<Diagnostic>) -> Compilation {
    let mut parsed = parser::parse(stream);
    parsed.diagnostics.splice(0..0, findings);
    let (model, mut diagnostics) = resolve::resolve(parsed);
    diagnostic::settle(&mut diagnostics);
    Compilation { model, diagnostics }
}
