//! The preprocessor (clause 7.3): files, directives and macros in, tokens out.
//!
//! ```text
//! files      where files come from
//! word       a preprocessing token in flight
//! reading    the stack of open files; the next word outside macros
//! directives what a line that begins with `#` does
//! conditions which groups of lines count
//! condition  what the expression after `#if` is worth
//! include    finds and opens files
//! pragmas    the pragmas that have a meaning
//! macros     what a macro is
//! expand     what a macro becomes
//! midl       what MIDL has before its grammar: `import`, ids and versions, numbers of C
//! ```
//!
//! Decides what the parser sees. Does not know what it means. It ends on every input: the depth
//! and number of included files, their length together, what macros make and how deep they nest
//! all have limits, and passing one is a finding.

mod condition;
mod conditions;
mod directives;
mod expand;
pub mod files;
mod include;
mod macros;
mod midl;
mod pragmas;
mod reading;
mod word;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use crate::diagnostic::{self, Diagnostic};
use crate::front::dialect::Dialect;
use crate::front::findings::Findings;
use crate::front::lexer::value;
use crate::front::options::Options;
use crate::front::token::{Token, TokenKind, TokenStream};
use crate::source::{FileId, SourceMap, Span};

use expand::Context;
use files::{Disk, Files};
use macros::Macro;
use reading::{OpenFile, ReadFile};
use word::{Spellings, Word};

/// Reads an interface file and all it includes from disk.
///
/// What it finds goes to `sink`, in the order of the text. The tokens end with
/// [`TokenKind::End`] whatever was found; the file with index 0 of a new `sources` is `path`.
pub fn preprocess(
    path: &Path,
    options: &Options,
    sources: &mut SourceMap,
    sink: &mut Vec<Diagnostic>,
) -> TokenStream {
    preprocess_from(&Disk, path, options, sources, sink)
}

/// The same, with files from wherever `files` has them.
pub fn preprocess_from(
    files: &dyn Files,
    path: &Path,
    options: &Options,
    sources: &mut SourceMap,
    sink: &mut Vec<Diagnostic>,
) -> TokenStream {
    preprocess_within(&Limits::default(), files, path, options, sources, sink)
}

/// What keeps a hostile file from holding the compiler.
#[derive(Clone, Debug)]
pub(crate) struct Limits {
    /// Files that are open at once.
    include_depth_max: usize,
    /// Files that are opened.
    include_count_max: usize,
    /// Bytes of all files opened, each as often as it was opened.
    text_bytes_max: u64,
    /// Words that macros make.
    made_count_max: usize,
    /// Macros in arguments of macros.
    argument_depth_max: usize,
    /// Findings.
    findings_count_max: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            include_depth_max: 64,
            include_count_max: 10_000,
            text_bytes_max: 64 << 20,
            made_count_max: 4 << 20,
            argument_depth_max: 200,
            findings_count_max: 1_000,
        }
    }
}

fn preprocess_within(
    limits: &Limits,
    files: &dyn Files,
    path: &Path,
    options: &Options,
    sources: &mut SourceMap,
    sink: &mut Vec<Diagnostic>,
) -> TokenStream {
    let mut preprocessor = Preprocessor {
        limits,
        options,
        files,
        sources,
        findings: Findings::new(sink, limits.findings_count_max),
        read: HashMap::new(),
        open: Vec::new(),
        opened_count: 0,
        opened_bytes: 0,
        macros: HashMap::new(),
        contexts: Vec::new(),
        made_count: 0,
        argument_depth: 0,
        is_collecting: false,
        is_stopped: false,
        spellings: Spellings::default(),
        tokens: Vec::new(),
        dialect: Dialect::Omg,
        first_macros: None,
    };
    let stream = preprocessor.run(path);
    diagnostic::settle(sink);
    stream
}

struct Preprocessor<'a> {
    limits: &'a Limits,
    options: &'a Options,
    files: &'a dyn Files,
    sources: &'a mut SourceMap,
    findings: Findings<'a>,
    /// Files that have been read, by their canonical paths.
    read: HashMap<PathBuf, Rc<ReadFile>>,
    /// Files whose words are not all taken, innermost last.
    open: Vec<OpenFile>,
    opened_count: usize,
    opened_bytes: u64,
    macros: Macros,
    /// Replacements whose words are not all taken, innermost last.
    contexts: Vec<Context>,
    made_count: usize,
    argument_depth: usize,
    /// The arguments of a macro are being read from the file.
    is_collecting: bool,
    /// A limit was passed: there is no next word.
    is_stopped: bool,
    spellings: Spellings,
    tokens: Vec<Token>,
    dialect: Dialect,
    /// What the command line defines, once it has: imported files begin with these.
    first_macros: Option<Macros>,
}

type Macros = HashMap<Rc<str>, Rc<Macro>>;

impl Preprocessor<'_> {
    fn run(&mut self, path: &Path) -> TokenStream {
        let main = self.open_main(path);
        self.define_built_ins();
        while let Some(word) = self.next_expanded() {
            match self.dialect {
                Dialect::Midl => self.hand_over_midl(&word),
                Dialect::Omg | Dialect::Proto => self.hand_over(&word),
            }
        }
        let end = self.sources.file(main).text.len() as u32;
        self.tokens.push(marker(TokenKind::End, Span { file: main, start: end, end }));
        TokenStream { tokens: std::mem::take(&mut self.tokens), dialect: self.dialect }
    }

    /// A word leaves the preprocessor.
    fn hand_over(&mut self, word: &Word) {
        let token = value::token(word.kind, &word.text, word.site(), &mut self.findings);
        if let Some(kind) = token {
            self.tokens.push(Token { kind, span: word.span, doc: word.doc.clone() });
        }
    }

    /// The first `bytes` of a file, as a place.
    fn start_of(&self, file: FileId) -> Span {
        Span { file, start: 0, end: 0 }
    }
}

fn marker(kind: TokenKind, span: Span) -> Token {
    Token { kind, span, doc: None }
}

#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;
