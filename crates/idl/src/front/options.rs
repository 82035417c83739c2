//! What the command line says about reading: where included files are, what is defined.

use std::path::PathBuf;

use super::dialect::Dialect;
use super::rules::PORTABILITY;
use crate::diagnostic::Rule;

/// How to read interface files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Searched in this order: by `#include <x>` alone, by `#include "x"` after the directory
    /// of the file that includes.
    pub include_directories: Vec<PathBuf>,
    /// Macros to define, name and value. A name may have parameters: `MAX(a)`.
    pub defines: Vec<(String, String)>,
    /// What every file is written in; if nothing is said, each file tells by its ending and text.
    pub dialect: Option<Dialect>,
    /// Rules whose notes are not told. A mistake always is.
    pub allowed: Vec<&'static Rule>,
}

impl Options {
    /// The same, without what is noted for other compilers' sake alone.
    pub fn for_stubs(mut self) -> Options {
        self.allowed.extend(PORTABILITY);
        self
    }
}
