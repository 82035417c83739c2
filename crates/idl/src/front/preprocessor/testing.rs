//! Runs the preprocessor on files in memory, for tests.

use std::path::Path;

use super::files::InMemory;
use super::{Limits, preprocess_within};
use crate::diagnostic::{Diagnostic, render};
use crate::front::options::Options;
use crate::front::token::{Pragma, Token, TokenKind};
use crate::source::SourceMap;

/// What came of `a.idl`.
pub(crate) struct Outcome {
    pub tokens: Vec<Token>,
    pub findings: Vec<Diagnostic>,
    pub sources: SourceMap,
}

/// Reads `a.idl` of `files`.
pub(crate) fn read(files: &[(&str, &str)]) -> Outcome {
    read_within(&Limits::default(), &Options::default(), files)
}

/// Reads `a.idl` with the text given.
pub(crate) fn read_text(text: &str) -> Outcome {
    read(&[("a.idl", text)])
}

/// Reads with limits that a few lines can pass.
pub(crate) fn read_narrowly(files: &[(&str, &str)]) -> Outcome {
    let limits = Limits {
        include_depth_max: 4,
        include_count_max: 6,
        text_bytes_max: 200,
        made_count_max: 100,
        argument_depth_max: 3,
        findings_count_max: 5,
    };
    read_within(&limits, &Options::default(), files)
}

pub(crate) fn read_within(limits: &Limits, options: &Options, files: &[(&str, &str)]) -> Outcome {
    let memory = InMemory::of(files);
    let (mut sources, mut findings) = (SourceMap::default(), Vec::new());
    let path = Path::new("a.idl");
    let stream = preprocess_within(limits, &memory, path, options, &mut sources, &mut findings);
    Outcome { tokens: stream.tokens, findings, sources }
}

impl Outcome {
    /// The findings as people read them.
    pub fn rendered(&self) -> String {
        render::texts(&self.findings, &self.sources, false)
    }

    /// The tokens, one blank between them, values as they are.
    pub fn spelled(&self) -> String {
        let spelled: Vec<String> = self.tokens.iter().map(spelled).collect();
        spelled.join(" ")
    }
}

fn spelled(token: &Token) -> String {
    match &token.kind {
        TokenKind::Identifier { name, is_escaped: true } => format!("_{name}"),
        TokenKind::Identifier { name, .. } => name.to_string(),
        TokenKind::Integer(value) => value.to_string(),
        TokenKind::Float(value) => format!("{value:?}"),
        TokenKind::Fixed(text) => text.to_string(),
        TokenKind::Char(value) => format!("{value:?}"),
        TokenKind::WideChar(value) => format!("L{value:?}"),
        TokenKind::String(value) => format!("{value:?}"),
        TokenKind::WideString(value) => format!("L{value:?}"),
        TokenKind::Punctuation(text) => (*text).to_owned(),
        TokenKind::Pragma(Pragma::Prefix(prefix)) => format!("[prefix {prefix}]"),
        TokenKind::Pragma(Pragma::Id { name, id }) => format!("[ID {name} {id}]"),
        TokenKind::Pragma(Pragma::Version { name, version }) => {
            format!("[version {name} {version}]")
        }
        TokenKind::FileStart => "[file".to_owned(),
        TokenKind::FileEnd => "file]".to_owned(),
        TokenKind::End => "[end]".to_owned(),
    }
}
