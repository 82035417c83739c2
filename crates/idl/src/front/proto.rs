//! The .proto front end: services of proto3 as protox reads them, and their way into the syntax
//! tree that OMG IDL comes to as well.
//!
//! ```text
//! load       the named file and all it imports, each after those it needs
//! missing    what to do about an import that is not found
//! refused    protox's findings as ours
//! places     where things stand, and what the comments before them say
//! names      which message or enum a name means
//! older      files that are not of proto3
//! order      which message is declared before which
//! lower      from descriptors to the syntax tree: services       fields    messages and enums
//! own        Nearcall's own options: what annotations are in OMG IDL
//! status     what procedures raise
//! ```
//!
//! What maps to what is in `docs/design/0012-proto.md`.

mod fields;
mod load;
mod lower;
mod missing;
mod names;
mod older;
mod order;
mod own;
mod places;
mod refused;
mod status;

use std::collections::HashSet;
use std::path::Path;

use super::dialect::Dialect;
use super::options::Options;
use super::parser::Parsed;
use super::preprocessor::files::Files;
use crate::source::SourceMap;

/// Reads a whole compilation. What is wrong with a file that cannot be read as proto3 is all that
/// is said.
pub fn parse(files: &dyn Files, path: &Path, options: &Options, sources: &mut SourceMap) -> Parsed {
    let (items, diagnostics) = match load::load(files, path, options, sources) {
        Ok((loaded, notes)) => {
            let (items, findings) = lower::lower(&loaded, sources);
            (items, [notes, findings].concat())
        }
        Err(findings) => (Vec::new(), findings),
    };
    Parsed {
        items,
        dialect: Dialect::Proto,
        diagnostics,
        has_foreign_names: false,
        misspelled: HashSet::new(),
    }
}
