//! The stack of open files, and the next word that stands in them outside every macro.

use std::cell::Cell;
use std::path::PathBuf;
use std::rc::Rc;

use crate::diagnostic::Diagnostic;
use crate::front::lexer::{self, Kind, Piece, Pieces};
use crate::front::rules::{lexical, preprocessing as rules};
use crate::front::token::TokenKind;
use crate::source::{FileId, Span};

use super::conditions::Conditional;
use super::word::Word;
use super::{Macros, Preprocessor, marker};

/// A file in pieces. It is read once however often it is included.
#[derive(Debug)]
pub(super) struct ReadFile {
    pub id: FileId,
    pub pieces: Pieces,
    /// Where it stands, for what it includes by `"name"`.
    pub directory: PathBuf,
    /// `#pragma once`
    pub is_once: Cell<bool>,
}

/// A file that is being taken word by word.
#[derive(Debug)]
pub(super) struct OpenFile {
    pub file: Rc<ReadFile>,
    /// Its beginning and end are marked for the parser.
    is_included: bool,
    /// Index of the next piece.
    next: usize,
    /// Index of the next documentation.
    next_doc: usize,
    pub conditionals: Vec<Conditional>,
    /// It is imported: the macros of the file that imports it, to go on with.
    pub outer_macros: Option<Macros>,
}

impl Preprocessor<'_> {
    /// Takes in a text: cuts it and reports a comment without an end.
    pub(super) fn take_in(&mut self, id: FileId, directory: PathBuf) -> Rc<ReadFile> {
        let pieces = lexer::scan(&self.sources.file(id).text);
        if let Some(start) = pieces.unterminated_comment {
            let span = Span { file: id, start, end: start + 2 };
            let message = "no `*/` ends this comment";
            self.findings.add(&lexical::UNTERMINATED_COMMENT, span, message);
        }
        Rc::new(ReadFile { id, pieces, directory, is_once: Cell::new(false) })
    }

    pub(super) fn open(&mut self, file: Rc<ReadFile>, is_included: bool) {
        if is_included {
            self.tokens.push(marker(TokenKind::FileStart, self.start_of(file.id)));
        }
        let (next, next_doc, conditionals) = (0, 0, Vec::new());
        let outer_macros = None;
        let open = OpenFile { file, is_included, next, next_doc, conditionals, outer_macros };
        self.open.push(open);
    }

    /// The next word of the innermost open file. Directives before it are followed. Nothing at the
    /// end of everything; while arguments are collected, nothing at the end of the file.
    pub(super) fn next_in_file(&mut self) -> Option<Word> {
        while !self.is_stopped {
            let open = self.open.last_mut()?;
            let Some(piece) = open.file.pieces.pieces.get(open.next).copied() else {
                if self.is_collecting {
                    return None;
                }
                self.close();
                continue;
            };
            let is_skipped = open.conditionals.last().is_some_and(Conditional::is_skipping);
            let file = open.file.id;
            if piece.begins_line && self.is_piece(file, piece, "#") {
                self.directive(is_skipped);
            } else if is_skipped {
                self.pass();
            } else {
                return self.take_word();
            }
        }
        None
    }

    /// The next piece is `(`, and no directive stands before it.
    pub(super) fn paren_follows_in_file(&self) -> bool {
        let Some(open) = self.open.last() else {
            return false;
        };
        let Some(piece) = open.file.pieces.pieces.get(open.next) else {
            return false;
        };
        self.is_piece(open.file.id, *piece, "(")
    }

    /// The words from here to the end of the line.
    pub(super) fn take_line(&mut self) -> Vec<Word> {
        let mut line = Vec::new();
        while self.next_piece().is_some_and(|piece| !piece.begins_line) {
            line.extend(self.take_word());
        }
        line
    }

    /// Passes what is left of the line.
    pub(super) fn skip_line(&mut self) {
        while self.next_piece().is_some_and(|piece| !piece.begins_line) {
            self.pass();
        }
    }

    pub(super) fn next_piece(&self) -> Option<Piece> {
        let open = self.open.last()?;
        open.file.pieces.pieces.get(open.next).copied()
    }

    pub(super) fn take_word(&mut self) -> Option<Word> {
        let open = self.open.last_mut()?;
        let file = open.file.clone();
        let piece = *file.pieces.pieces.get(open.next)?;
        let doc = open.take_doc();
        open.next += 1;
        let span = Span { file: file.id, start: piece.start, end: piece.end };
        let text = self.sources.text(span);
        let text = match piece.is_spliced {
            true => self.spellings.keep(&lexer::unspliced(text)),
            false => self.spellings.keep(text),
        };
        Some(Word {
            kind: piece.kind,
            text,
            span,
            is_exact: !piece.is_spliced,
            follows_space: piece.follows_space,
            is_painted: false,
            doc,
        })
    }

    fn is_piece(&self, file: FileId, piece: Piece, punctuation: &str) -> bool {
        let span = Span { file, start: piece.start, end: piece.end };
        piece.kind == Kind::Punctuation && self.sources.text(span) == punctuation
    }

    /// Passes a piece.
    fn pass(&mut self) {
        if let Some(open) = self.open.last_mut() {
            open.next += 1;
        }
    }

    fn close(&mut self) {
        let Some(open) = self.open.pop() else { return };
        if self.first_macros.is_none() {
            // The command line is the first to end.
            self.first_macros = Some(self.macros.clone());
        }
        if let Some(outer) = open.outer_macros {
            self.macros = outer;
        }
        for conditional in &open.conditionals {
            let message = format!("no `#endif` ends this `#{}`", conditional.directive);
            let mut finding =
                Diagnostic::new(&rules::CONDITIONAL_UNTERMINATED, conditional.span, message);
            if let Some(span) = conditional.else_span {
                finding = finding.label(span, "its `#else`");
            }
            self.findings.push(finding);
        }
        if open.is_included {
            let end = self.sources.file(open.file.id).text.len() as u32;
            let span = Span { file: open.file.id, start: end, end };
            self.tokens.push(marker(TokenKind::FileEnd, span));
        }
    }
}

impl OpenFile {
    /// The documentation of the next piece.
    fn take_doc(&mut self) -> Option<Rc<str>> {
        let docs = &self.file.pieces.docs;
        while let Some((index, doc)) = docs.get(self.next_doc) {
            if *index as usize > self.next {
                return None;
            }
            self.next_doc += 1;
            if *index as usize == self.next {
                return Some(doc.clone());
            }
        }
        None
    }
}
