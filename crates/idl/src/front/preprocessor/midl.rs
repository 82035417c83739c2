//! What MIDL has before its grammar sees anything: `import`, the ids and versions between
//! parentheses that are no numbers, numbers with the suffixes of C, names that begin with `_`.

use std::rc::Rc;

use crate::front::findings::quoted;
use crate::front::lexer::Kind;
use crate::front::rules::midl as rules;
use crate::front::token::{Token, TokenKind};
use crate::source::Span;

use super::Preprocessor;
use super::include::Wanted;
use super::word::Word;

/// No id and no version is made of more words.
const SPELLED_WORDS_MAX: usize = 32;

impl Preprocessor<'_> {
    /// A word of MIDL leaves the preprocessor.
    pub(super) fn hand_over_midl(&mut self, word: &Word) {
        match word.kind {
            Kind::Identifier if &*word.text == "import" && self.begins_declaration() => {
                self.import(word);
            }
            Kind::Identifier
                if matches!(&*word.text, "uuid" | "version") && self.is_attribute() =>
            {
                self.hand_over(word);
                self.spelled_argument();
            }
            Kind::Identifier if word.text.starts_with('_') && word.text.is_ascii() => {
                let kind = TokenKind::Identifier { name: word.text.clone(), is_escaped: false };
                self.tokens.push(Token { kind, span: word.span, doc: word.doc.clone() });
            }
            Kind::Number => self.number_of_c(word),
            _ => self.hand_over(word),
        }
    }

    fn begins_declaration(&self) -> bool {
        let before = self.tokens.last().map(|token| &token.kind);
        matches!(
            before,
            None | Some(
                TokenKind::Punctuation(";" | "{" | "}" | ")")
                    | TokenKind::FileStart
                    | TokenKind::FileEnd
                    | TokenKind::Pragma(_)
            )
        )
    }

    fn is_attribute(&self) -> bool {
        let before = self.tokens.last().map(|token| &token.kind);
        matches!(before, Some(TokenKind::Punctuation("[" | ",")))
    }

    /// `import "a.idl", "b.idl";`: the declarations of other files, each taken in once, with
    /// macros of its own.
    fn import(&mut self, word: &Word) {
        self.hand_over(word);
        let mut wanted = Vec::new();
        while let Some(word) = self.next_expanded() {
            let is_name = word.kind == Kind::String;
            if is_name {
                let name = word.text.trim_matches('"').to_owned();
                wanted.push(Wanted { name, is_local: true, span: word.span });
            }
            self.hand_over_midl(&word);
            if !is_name && !word.is(",") {
                break;
            }
        }
        // The last one opened is the first one read.
        for wanted in wanted.into_iter().rev() {
            let Some(file) = self.find(&wanted) else {
                continue;
            };
            if self.enter(&wanted, file.clone()) {
                file.is_once.set(true);
                let first = self.first_macros.clone().unwrap_or_default();
                let outer = std::mem::replace(&mut self.macros, first);
                if let Some(open) = self.open.last_mut() {
                    open.outer_macros = Some(outer);
                }
            }
        }
    }

    /// `(1.0)`, `(12345678-9abc-...)`: what stands there, as text.
    fn spelled_argument(&mut self) {
        let Some(open) = self.next_expanded() else {
            return;
        };
        self.hand_over_midl(&open);
        if !open.is("(") {
            return;
        }
        let mut text = String::new();
        let mut span: Option<Span> = None;
        for _ in 0..SPELLED_WORDS_MAX {
            let Some(word) = self.next_expanded() else {
                return;
            };
            let is_part = matches!(word.kind, Kind::Identifier | Kind::Number)
                || ["-", ".", "{"].iter().any(|sign| word.is(sign));
            if !is_part {
                self.hand_over_spelled(text, span);
                self.hand_over_midl(&word);
                return;
            }
            text.push_str(&word.text);
            span = Some(span.map_or(word.span, |first| first.to(word.span)));
        }
        self.hand_over_spelled(text, span);
    }

    fn hand_over_spelled(&mut self, text: String, span: Option<Span>) {
        if let Some(span) = span {
            let kind = TokenKind::String(text.into());
            self.tokens.push(Token { kind, span, doc: None });
        }
    }

    /// The type decides, not the suffix. `0..9` is the bounds of an array of 10.
    fn number_of_c(&mut self, word: &Word) {
        if let Some((low, high)) = word.text.split_once("..") {
            return self.bounds(word, low, high);
        }
        let digits = word.text.trim_end_matches(['u', 'U', 'l', 'L']);
        let is_float = word.text.contains('.') && !word.text.starts_with("0x");
        let digits = if is_float { digits.trim_end_matches(['f', 'F']) } else { digits };
        if digits.len() == word.text.len() || digits.is_empty() {
            return self.hand_over(word);
        }
        let text: Rc<str> = digits.into();
        self.hand_over(&Word { text, is_exact: false, ..word.clone() });
    }

    fn bounds(&mut self, word: &Word, low: &str, high: &str) {
        let count = high.parse::<u32>().ok().and_then(|high| high.checked_add(1));
        let count = count.filter(|_| low == "0");
        if count.is_none() {
            let message = format!("the bounds {} are not `0..` and a number", quoted(&word.text));
            let finding = crate::diagnostic::Diagnostic::new(&rules::BOUNDS, word.span, message);
            self.findings.push(finding.help("begin at 0: declare the count alone"));
        }
        let kind = TokenKind::Integer(u64::from(count.unwrap_or(1)));
        self.tokens.push(Token { kind, span: word.span, doc: None });
    }
}
