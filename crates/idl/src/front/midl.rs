//! MIDL: the IDL of DCE RPC (C706, chapter 4), as Microsoft's MIDL and IDL4 read it (I11).
//!
//! ```text
//! words       the words that are no names
//! ast         what the grammar sees                 parser, types   the grammar
//! lower       from there to the syntax tree that OMG IDL comes to as well
//! ```
//!
//! What maps to what is in `docs/design/0010-midl.md`.

mod ast;
mod attributes;
mod lengths;
mod lower;
mod members;
mod operation;
mod own;
mod parser;
mod shape;
mod types;
pub(super) mod words;

use super::dialect::Dialect;
use super::parser::{Parsed, Parser};
use super::rules::preprocessing;
use super::token::TokenStream;
use crate::diagnostic::Diagnostic;

/// Parses a whole compilation. `findings` are those of the preprocessor: what an imported file
/// that is missing declares is no news.
pub fn parse(stream: TokenStream, findings: &[Diagnostic]) -> Parsed {
    let mut parser = Parser::new(stream, Dialect::Midl);
    let declarations = parser::parse(&mut parser);
    let (items, diagnostics) = lower::lower(declarations);
    parser.diagnostics.extend(diagnostics);
    parser.has_foreign_names |=
        findings.iter().any(|finding| *finding.rule == preprocessing::INCLUDE_MISSING);
    parser.into_parsed(items)
}
