//! A preprocessing token in flight, and the store that keeps each spelling once.

use std::collections::HashSet;
use std::rc::Rc;

use crate::front::lexer::Kind;
use crate::front::lexer::escape::Site;
use crate::source::Span;

/// A piece with its text, on its way from a file through macros to the parser.
#[derive(Clone, Debug)]
pub(super) struct Word {
    pub kind: Kind,
    pub text: Rc<str>,
    /// Where it stands, or where the macro was used that made it.
    pub span: Span,
    /// Its text is that of its span, byte for byte.
    pub is_exact: bool,
    pub follows_space: bool,
    /// It names a macro but was met inside that macro's own replacement: never replaced again.
    pub is_painted: bool,
    pub doc: Option<Rc<str>>,
}

impl Word {
    /// A word that a macro makes where it is used.
    pub fn made(kind: Kind, text: Rc<str>, span: Span) -> Word {
        let (is_exact, follows_space, is_painted) = (false, false, false);
        Word { kind, text, span, is_exact, follows_space, is_painted, doc: None }
    }

    pub fn is(&self, punctuation: &str) -> bool {
        self.kind == Kind::Punctuation && &*self.text == punctuation
    }

    pub fn is_identifier(&self) -> bool {
        self.kind == Kind::Identifier
    }

    pub fn site(&self) -> Site {
        Site { span: self.span, is_exact: self.is_exact }
    }
}

/// The text of a row of words, with one blank where there were any.
pub(super) fn spelling(words: &[Word]) -> String {
    let mut text = String::new();
    for word in words {
        if word.follows_space && !text.is_empty() {
            text.push(' ');
        }
        text.push_str(&word.text);
    }
    text
}

/// Every spelling once, so that a word is cheap to copy.
#[derive(Debug, Default)]
pub(super) struct Spellings {
    known: HashSet<Rc<str>>,
}

impl Spellings {
    pub fn keep(&mut self, text: &str) -> Rc<str> {
        if let Some(known) = self.known.get(text) {
            return known.clone();
        }
        let new: Rc<str> = text.into();
        self.known.insert(new.clone());
        new
    }
}
