//! Tokens (clause 7.2 of OMG IDL 4.2; C706, chapter 4), as they leave the preprocessor.

use std::rc::Rc;

use super::dialect::Dialect;
use crate::source::Span;

/// One token of the expanded text.
#[derive(Clone, Debug, PartialEq)]
pub struct Token {
    /// What it is.
    pub kind: TokenKind,
    /// Where it stands. A token that a macro made carries the place where the macro was used; one
    /// that came to it as an argument keeps its own.
    pub span: Span,
    /// The comment lines directly above it that begin with `///` or stand in `/** */`, without
    /// those marks.
    pub doc: Option<Rc<str>>,
}

/// Kinds of token. Keywords are identifiers here; the parser knows them, because some are words
/// only in their place and any may stand in an annotation (clause 7.2.4).
#[derive(Clone, Debug, PartialEq)]
pub enum TokenKind {
    /// An identifier or keyword, without an escaping `_`.
    Identifier { name: Rc<str>, is_escaped: bool },
    /// An integer literal of any base. Larger ones than `u64` are a diagnostic of the lexer.
    Integer(u64),
    /// A floating-point literal.
    Float(f64),
    /// A fixed-point literal, `1.5d`: its text.
    Fixed(Rc<str>),
    /// A character literal, `'a'`.
    Char(char),
    /// A wide character literal, `L'a'`.
    WideChar(char),
    /// A string literal; neighbours are joined by the parser.
    String(Rc<str>),
    /// A wide string literal, `L"a"`.
    WideString(Rc<str>),
    /// Punctuation: one of `; { } : :: , = + - * / % ~ | ^ & << >> ( ) < > [ ] @ ...`
    Punctuation(&'static str),
    /// `#pragma prefix`, `ID` or `version`, at its place in the text. Unknown pragmas are noted
    /// by the preprocessor and dropped.
    Pragma(Pragma),
    /// An included file begins: `#pragma prefix` starts anew.
    FileStart,
    /// The included file has ended.
    FileEnd,
    /// The end of everything.
    End,
}

/// The pragmas that have a meaning (clause 7.4.6.4.1).
#[derive(Clone, Debug, PartialEq)]
pub enum Pragma {
    /// `#pragma prefix "omg.org"`
    Prefix(Rc<str>),
    /// `#pragma ID A::B "IDL:x:1.0"`
    Id { name: Rc<str>, id: Rc<str> },
    /// `#pragma version A::B 1.2`
    Version { name: Rc<str>, version: Rc<str> },
}

/// What the preprocessor hands to the parser.
#[derive(Clone, Debug, Default)]
pub struct TokenStream {
    /// Ends with [`TokenKind::End`].
    pub tokens: Vec<Token>,
    /// What the file that was named is written in.
    pub dialect: Dialect,
}
