//! What the grammars share: the cursor over the preprocessed tokens, expectations, recovery, and
//! constant expressions.
//!
//! Decides how a descent goes on after a mistake: each definition, member and operation is an
//! island, and a mistake in one costs that one. The grammars are in `omg` and `midl`.

mod expression;

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use super::ast::{Item, Name, ScopedName};
use super::dialect::Dialect;
use super::rules::syntax as rules;
use super::token::{Token, TokenKind, TokenStream};
use super::{midl, omg};
use crate::diagnostic::{Diagnostic, Rule};
use crate::source::{FileId, Span};

/// Definitions, types and expressions nest this deep at most, so that no input exhausts the stack.
pub(super) const DEPTH_MAX: u32 = 64;

/// What a parse leaves.
pub struct Parsed {
    /// Everything that had a form, in the order of the text.
    pub items: Vec<Item>,
    /// What it was written in.
    pub dialect: Dialect,
    /// What was wrong with the rest.
    pub diagnostics: Vec<Diagnostic>,
    /// Some names come from where this compiler does not look (`import`), so that an unknown name
    /// says nothing.
    pub has_foreign_names: bool,
    /// Words that were reported for being like a keyword: that nobody declares them is no news.
    pub misspelled: HashSet<Rc<str>>,
}

/// A diagnostic has been made; the caller skips to where it can go on.
pub(super) struct Failed;

pub(super) type Result<T> = std::result::Result<T, Failed>;

pub(super) struct Parser {
    pub(super) dialect: Dialect,
    /// Without pragmas and file marks.
    pub(super) tokens: Vec<Token>,
    /// Pragmas and file marks, and the token each stands before.
    pub(super) marks: Vec<(usize, Item)>,
    pub(super) at: usize,
    pub(super) marks_taken: usize,
    pub(super) include_depth: u32,
    pub(super) depth: u32,
    pub(super) diagnostics: Vec<Diagnostic>,
    /// Token of the last finding: a second one there is a consequence of the first.
    pub(super) failed_at: Option<usize>,
    /// Outside constructs, each with its diagnostic.
    pub(super) outside: HashMap<&'static str, usize>,
    /// Words that have been noted.
    pub(super) noted: HashSet<Rc<str>>,
    pub(super) misspelled: HashSet<Rc<str>>,
    pub(super) has_foreign_names: bool,
}

impl Parser {
    pub(super) fn new(stream: TokenStream, dialect: Dialect) -> Parser {
        let mut tokens = Vec::with_capacity(stream.tokens.len() + 1);
        let mut marks = Vec::new();
        for token in stream.tokens {
            match token.kind {
                TokenKind::Pragma(pragma) => {
                    marks.push((tokens.len(), Item::Pragma(pragma, token.span)));
                }
                TokenKind::FileStart => marks.push((tokens.len(), Item::FileStart)),
                TokenKind::FileEnd => marks.push((tokens.len(), Item::FileEnd)),
                _ => tokens.push(token),
            }
        }
        if tokens.last().is_none_or(|last| last.kind != TokenKind::End) {
            let nowhere = Span { file: FileId(0), start: 0, end: 0 };
            let span = tokens.last().map_or(nowhere, |last| last.span);
            tokens.push(Token { kind: TokenKind::End, span, doc: None });
        }
        Parser {
            dialect,
            tokens,
            marks,
            at: 0,
            marks_taken: 0,
            include_depth: 0,
            depth: 0,
            diagnostics: Vec::new(),
            failed_at: None,
            outside: HashMap::new(),
            noted: HashSet::new(),
            misspelled: HashSet::new(),
            has_foreign_names: false,
        }
    }

    /// What is left when the text has ended.
    pub(super) fn into_parsed(self, items: Vec<Item>) -> Parsed {
        Parsed {
            items,
            dialect: self.dialect,
            diagnostics: self.diagnostics,
            has_foreign_names: self.has_foreign_names,
            misspelled: self.misspelled,
        }
    }

    /// A `}` where nothing is open.
    pub(super) fn stray_brace(&mut self) {
        let span = self.span();
        self.report(Diagnostic::new(&rules::STRAY_BRACE, span, "`}` closes nothing"));
        self.advance();
        self.take(";");
    }

    /// Hands on the pragmas and file marks that stand before the current token.
    pub(super) fn take_marks(&mut self, items: &mut Vec<Item>) {
        while let Some((index, item)) = self.marks.get(self.marks_taken) {
            if *index > self.at {
                return;
            }
            match item {
                Item::FileStart => self.include_depth += 1,
                Item::FileEnd => self.include_depth = self.include_depth.saturating_sub(1),
                _ => {}
            }
            items.push(item.clone());
            self.marks_taken += 1;
        }
    }

    /// `{ entries }`: each entry is an island of its own.
    pub(super) fn body<T>(
        &mut self,
        owner: &Name,
        mut entry: impl FnMut(&mut Parser) -> Result<T>,
    ) -> Result<Vec<T>> {
        let open = self.expect("{")?;
        let mut entries = Vec::new();
        while !self.is("}") {
            if self.is_end() {
                self.report_unclosed(owner, open);
                return Ok(entries);
            }
            let start = self.at;
            match entry(self) {
                Ok(parsed) => entries.push(parsed),
                Err(Failed) => self.recover(start),
            }
        }
        self.advance();
        Ok(entries)
    }

    pub(super) fn report_unclosed(&mut self, owner: &Name, open: Span) {
        let span = self.span();
        let message = format!("the text ends inside `{}`", owner.text);
        let finding = Diagnostic::new(&rules::UNCLOSED, span, message)
            .label(open, "opened here")
            .help("add the missing `}`");
        self.report(finding);
    }

    /// Skips what is left of a definition that failed: to after its `;` or its block, or to before
    /// the brace that closes what it stands in.
    pub(super) fn recover(&mut self, start: usize) {
        let mut depth = 0u32;
        if self.at == start && !self.is_end() && !self.is("{") {
            self.advance();
        }
        while !self.is_end() {
            if self.is("{") {
                depth += 1;
            } else if self.is("}") {
                match depth {
                    0 => return,
                    1 => {
                        self.advance();
                        self.take(";");
                        return;
                    }
                    _ => depth -= 1,
                }
            } else if depth == 0
                && (self.take(";") || self.word().is_some_and(|word| self.begins(word)))
            {
                return;
            }
            self.advance();
        }
    }

    /// The `;` after `what`. Where the next line plainly begins something new only the semicolon
    /// is missing, and nothing is skipped.
    pub(super) fn semicolon(&mut self, what: &str) -> Result<()> {
        if self.take(";") {
            return Ok(());
        }
        let last = self.tokens[self.at.saturating_sub(1)].span;
        let message = format!("expected `;` after {what}, found {}", self.found());
        let finding = Diagnostic::new(&rules::SEMICOLON, Span { start: last.end, ..last }, message)
            .help("add a `;`");
        self.report(finding);
        if self.is("}") || self.is("@") || self.is_end() || self.word().is_some() {
            return Ok(());
        }
        Err(Failed)
    }

    /// Takes a punctuation or fails.
    pub(super) fn expect(&mut self, wanted: &str) -> Result<Span> {
        if self.is(wanted) {
            return Ok(self.advance());
        }
        Err(self.unexpected(&format!("`{wanted}`")))
    }

    /// Takes the `>` of a template type; the first half of a `>>` will do.
    pub(super) fn expect_close(&mut self) -> Result<Span> {
        if !self.is(">>") {
            return self.expect(">");
        }
        let token = &mut self.tokens[self.at];
        token.kind = TokenKind::Punctuation(">");
        let first = Span { end: token.span.start + 1, ..token.span };
        // A token that a macro made may be shorter than its text.
        token.span.start = first.end.min(token.span.end);
        Ok(first)
    }

    pub(super) fn unexpected(&mut self, wanted: &str) -> Failed {
        let finding = match self.dialect == Dialect::Midl && self.is("@") {
            true => self.of_omg("an annotation"),
            false => {
                let message = format!("expected {wanted}, found {}", self.found());
                Diagnostic::new(&rules::UNEXPECTED, self.span(), message)
            }
        };
        self.report(finding);
        Failed
    }

    /// Runs `inner` one level deeper, unless that is too deep.
    pub(super) fn nested<T>(&mut self, inner: impl FnOnce(&mut Parser) -> Result<T>) -> Result<T> {
        if self.depth == DEPTH_MAX {
            let span = self.span();
            let message = format!("this is nested more than {DEPTH_MAX} deep");
            let finding = Diagnostic::new(&rules::TOO_NESTED, span, message)
                .help("give the inner parts names of their own");
            self.report_once(finding);
            return Err(Failed);
        }
        self.depth += 1;
        let result = inner(self);
        self.depth -= 1;
        result
    }

    /// Items of one kind with commas between.
    pub(super) fn list<T>(
        &mut self,
        mut item: impl FnMut(&mut Parser) -> Result<T>,
    ) -> Result<Vec<T>> {
        let mut items = vec![item(self)?];
        while self.take(",") {
            items.push(item(self)?);
        }
        Ok(items)
    }

    /// The name that a definition introduces.
    pub(super) fn name(&mut self, what: &str) -> Result<Name> {
        let TokenKind::Identifier { name, is_escaped } = &self.tokens[self.at].kind else {
            return Err(self.unexpected(&format!("the name of {what}")));
        };
        let (text, is_escaped) = (name.clone(), *is_escaped);
        match self.dialect {
            Dialect::Omg if !is_escaped => self.check_word(&text, what)?,
            Dialect::Midl if midl::words::is_reserved(&text) => {
                let message = format!("expected the name of {what}, found the word `{text}`");
                let finding = Diagnostic::new(&rules::KEYWORD_AS_NAME, self.span(), message)
                    .help("choose another name");
                self.report(finding);
                return Err(Failed);
            }
            _ => {}
        }
        Ok(Name { text, span: self.advance() })
    }

    /// Does a definition begin with this word, whatever stands before it?
    fn begins(&self, word: &str) -> bool {
        match self.dialect {
            Dialect::Midl => midl::words::begins_declaration(word),
            Dialect::Omg | Dialect::Proto => omg::words::begins_definition(word),
        }
    }

    pub(super) fn check_word(&mut self, text: &Rc<str>, what: &str) -> Result<()> {
        let span = self.span();
        let Some(keyword) = omg::words::keyword_like(text) else {
            return Ok(());
        };
        let help = format!("write `_{text}`: the escaped name is `{text}`");
        if !omg::words::is_reserved(keyword) {
            let message = format!("`{keyword}` is a keyword of a building block outside");
            let note = Diagnostic::new(&rules::WORD_NOTED, span, message)
                .help(format!("other compilers may refuse it; `_{text}` is the same name to all"));
            if self.noted.insert(text.clone()) {
                self.diagnostics.push(note);
            }
            return Ok(());
        }
        let is_exact = keyword == &**text;
        if is_exact {
            let message = format!("expected the name of {what}, found the keyword `{keyword}`");
            self.report(Diagnostic::new(&rules::KEYWORD_AS_NAME, span, message).help(help));
        } else if self.misspelled.insert(text.clone()) {
            let message = format!("`{text}` differs from the keyword `{keyword}` only in case");
            let help = format!("write `{keyword}` if you mean it; `_{text}` is a name, `{text}`");
            self.report(Diagnostic::new(&rules::KEYWORD_CASE, span, message).help(help));
        }
        let follows = &self.tokens[(self.at + 1).min(self.tokens.len() - 1)].kind;
        match follows {
            TokenKind::Punctuation(";" | "," | "{" | "(" | ")" | ":" | "=" | "[" | "}") => Ok(()),
            _ if !is_exact => Ok(()),
            _ => Err(Failed),
        }
    }

    /// `A::B`, `::A::B`: a reference.
    pub(super) fn scoped_name(&mut self, what: &str) -> Result<ScopedName> {
        let is_global = self.take("::");
        let mut parts = vec![self.reference(what)?];
        while self.take("::") {
            parts.push(self.reference("something in this scope")?);
        }
        Ok(ScopedName { is_global, parts })
    }

    pub(super) fn reference(&mut self, what: &str) -> Result<Name> {
        let TokenKind::Identifier { name, is_escaped } = &self.tokens[self.at].kind else {
            return Err(self.unexpected(what));
        };
        let (text, is_escaped) = (name.clone(), *is_escaped);
        if self.dialect == Dialect::Omg && !is_escaped {
            match omg::words::keyword_like(&text) {
                Some(keyword) if keyword == &*text && omg::words::is_reserved(keyword) => {
                    return Err(self.unexpected(what));
                }
                Some(keyword) if omg::words::is_reserved(keyword) => {
                    self.check_word(&text, what)?
                }
                _ => {}
            }
        }
        Ok(Name { text, span: self.advance() })
    }

    /// The identifier that stands here, unless it is escaped: what may be a keyword.
    pub(super) fn word(&self) -> Option<&str> {
        self.word_at(self.at)
    }

    pub(super) fn word_at(&self, index: usize) -> Option<&str> {
        match &self.tokens.get(index)?.kind {
            TokenKind::Identifier { name, is_escaped: false } => Some(name),
            _ => None,
        }
    }

    pub(super) fn is_word(&self, wanted: &str) -> bool {
        self.word() == Some(wanted)
    }

    pub(super) fn take_word(&mut self, wanted: &str) -> Option<Span> {
        if self.is_word(wanted) { Some(self.advance()) } else { None }
    }

    pub(super) fn is(&self, wanted: &str) -> bool {
        self.is_at(self.at, wanted)
    }

    pub(super) fn is_at(&self, index: usize, wanted: &str) -> bool {
        let token = self.tokens.get(index);
        token.is_some_and(|t| matches!(t.kind, TokenKind::Punctuation(sign) if sign == wanted))
    }

    pub(super) fn take(&mut self, wanted: &str) -> bool {
        let is_there = self.is(wanted);
        if is_there {
            self.advance();
        }
        is_there
    }

    pub(super) fn is_end(&self) -> bool {
        self.tokens[self.at].kind == TokenKind::End
    }

    pub(super) fn span(&self) -> Span {
        self.tokens[self.at].span
    }

    pub(super) fn doc(&self) -> Option<Rc<str>> {
        self.tokens[self.at].doc.clone()
    }

    /// Goes on by one token and says where that one stood.
    pub(super) fn advance(&mut self) -> Span {
        let span = self.span();
        if !self.is_end() {
            self.at += 1;
        }
        span
    }

    pub(super) fn found(&self) -> String {
        match &self.tokens[self.at].kind {
            TokenKind::Identifier { name, .. } => format!("`{name}`"),
            TokenKind::Integer(value) => format!("`{value}`"),
            TokenKind::Float(value) => format!("`{value}`"),
            TokenKind::Fixed(text) => format!("`{text}`"),
            TokenKind::Char(value) | TokenKind::WideChar(value) => format!("{value:?}"),
            TokenKind::String(text) | TokenKind::WideString(text) => format!("{text:?}"),
            TokenKind::Punctuation(sign) => format!("`{sign}`"),
            _ => "the end of the text".to_owned(),
        }
    }

    pub(super) fn report(&mut self, finding: Diagnostic) {
        if self.failed_at != Some(self.at) {
            self.failed_at = Some(self.at);
            self.diagnostics.push(finding);
        }
    }

    pub(super) fn report_once(&mut self, finding: Diagnostic) {
        let is_known = |rule: &Rule| self.diagnostics.iter().any(|d| d.rule.code == rule.code);
        if !is_known(finding.rule) {
            self.diagnostics.push(finding);
        }
        self.failed_at = Some(self.at);
    }
}
