//! Tokens as text that looks as people format Rust: four spaces for each level, lines of up to 100
//! columns where there is a bracket to break them at.
//!
//! | what                                   | how                                              |
//! |----------------------------------------|--------------------------------------------------|
//! | blocks, arms, fields of a declaration  | one to a line                                    |
//! | lists that fit, with what follows them | on the line                                      |
//! | lists whose last item ends in a block  | on the line, the block below                     |
//! | lists of one item that ends in a list  | on the line, the items of that one below         |
//! | lists of short words and numbers       | as many to a line as there is room for           |
//! | other lists                            | one item to a line, each with a comma            |
//! | what follows `=` and does not fit      | on the next line, if it fits there               |
//! | calls of methods, one after the other  | each on a line, if all do not fit on one         |
//! | sums                                   | the same                                         |
//!
//! Knows what brackets and keywords mean (`scan`), and no grammar: a parser and a formatter for
//! all of Rust took ten times as long.

mod documentation;
mod scan;

use crate::back::rust::print::documentation::documentation;
use crate::back::rust::print::scan::{Holds, Kind, Scan, Token};
use crate::back::rust::tokens::TokenStream;

const COLUMNS: usize = 100;
const INDENT: &str = "    ";
/// How long an item may be that shares its line with others.
const ROW_ITEM_BYTES: usize = 10;

/// Items that are public and seldom all used; impls of a trait are used with it.
const MAYBE_DEAD: [&str; 8] = ["const", "enum", "impl", "mod", "static", "struct", "trait", "type"];

/// Is a program told what it does not use? It is seldom client and server of all that is declared,
/// so that this is no mistake of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unused {
    Allowed,
    Warned,
}

/// The text of a file.
pub fn print(items: &TokenStream, unused: Unused) -> String {
    let mut scan = Scan::default();
    // About what it comes to: spaces take the place of line ends.
    let mut lines = Lines { text: String::with_capacity(items.bytes()), ..Lines::default() };
    let mut texts = Vec::new();
    let mut depth = 0;
    let mut tokens = items.tokens().peekable();
    while let Some(token) = tokens.next() {
        texts.push(token);
        match token {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth -= 1,
            _ => {}
        }
        let is_end = match token {
            ";" => true,
            "}" => tokens.peek() != Some(&";"),
            _ => false,
        };
        if (depth == 0 && is_end) || tokens.peek().is_none() {
            scan.scan(&texts);
            Printer { tokens: &scan.tokens, lines: &mut lines }.item(unused);
            texts.clear();
        }
    }
    lines.text
}

/// Text, line by line.
#[derive(Debug, Default)]
struct Lines {
    text: String,
    /// Where the line begins.
    line: usize,
    /// Levels before what begins a line.
    depth: usize,
    /// Bytes that come on the line behind what is printed now.
    tail_bytes: usize,
}

impl Lines {
    fn columns(&self) -> usize {
        match self.text.len() == self.line {
            true => self.depth * INDENT.len(),
            false => self.text.len() - self.line,
        }
    }

    fn end(&mut self) {
        self.text.push('\n');
        self.line = self.text.len();
    }

    fn put(&mut self, text: &str, is_apart: bool) {
        if self.text.len() == self.line {
            for _ in 0..self.depth {
                self.text.push_str(INDENT);
            }
        } else if is_apart {
            self.text.push(' ');
        }
        self.text.push_str(text);
    }
}

/// Where else than in brackets an expression is broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Breaks {
    Nowhere,
    /// Before each call of a method.
    Calls,
    /// Before each `+`.
    Terms,
}

/// Prints the tokens of one item.
struct Printer<'p, 't> {
    tokens: &'p [Token<'t>],
    lines: &'p mut Lines,
}

impl Printer<'_, '_> {
    /// The whole item.
    fn item(&mut self, unused: Unused) {
        let begin = self.attributes(0, self.tokens.len());
        if unused == Unused::Allowed && self.is_maybe_dead(begin) {
            self.lines.put("#[allow(dead_code)]", false);
            self.lines.end();
        }
        self.block(begin, self.tokens.len());
    }

    fn is_maybe_dead(&self, begin: usize) -> bool {
        let mut words = self.tokens[begin..].iter().filter(|token| token.text != "pub");
        let first = words.next().map_or("", |token| token.text);
        let is_of_trait = || {
            let head = words.take_while(|token| token.text != "{");
            head.into_iter().any(|token| token.text == "for")
        };
        MAYBE_DEAD.contains(&first) && !(first == "impl" && is_of_trait())
    }

    /// Attributes that stand before `end`, each on a line; where they end.
    fn attributes(&mut self, begin: usize, end: usize) -> usize {
        let mut at = begin;
        while at < end && self.tokens[at].kind == Kind::Hash {
            let is_inner = self.tokens[at + 1].text == "!";
            let open = at + 1 + usize::from(is_inner);
            let close = self.tokens[open].close;
            match documentation(&self.tokens[open + 1..close]) {
                Some(text) => {
                    self.lines.put(if is_inner { "//!" } else { "///" }, false);
                    self.lines.text.push_str(&text);
                }
                None => self.line(at, close + 1),
            }
            self.lines.end();
            at = close + 1;
        }
        at
    }

    /// Statements, or items of a file.
    fn block(&mut self, begin: usize, end: usize) {
        self.lines.tail_bytes = 0;
        let mut at = begin;
        while at < end {
            at = self.attributes(at, end);
            let next = self.statement_end(at, end);
            self.line(at, next);
            if next > at {
                self.lines.end();
            }
            at = next;
        }
    }

    /// Where a statement ends: with its `;`, or with the block that it is.
    fn statement_end(&self, begin: usize, end: usize) -> usize {
        let mut is_block = self.is_block(begin, end);
        let mut at = begin;
        while at < end {
            let token = &self.tokens[at];
            at = token.close + 1;
            match token.kind {
                Kind::Semicolon => return at,
                Kind::Open if is_block && token.text == "{" && token.holds != Holds::List => {
                    let next = self.tokens.get(at).filter(|_| at < end);
                    match next.map(|next| (next.kind, next.text)) {
                        Some((_, "else")) => {}
                        Some((Kind::Postfix, _)) => is_block = false,
                        _ => return at,
                    }
                }
                _ => {}
            }
        }
        end
    }

    /// Is a statement one that needs no `;`?
    fn is_block(&self, begin: usize, end: usize) -> bool {
        let mut words = self.tokens[begin..end].iter().map(|token| token.text);
        let first = words.find(|word| {
            !matches!(*word, "pub" | "(" | "crate" | ")" | "const" | "async" | "unsafe" | "move")
        });
        let first = first.unwrap_or_default();
        let kept = ["{", "fn", "impl", "trait", "mod", "struct", "enum", "match", "if", "loop"];
        kept.contains(&first) || matches!(first, "for" | "while")
    }

    /// What has no line end in it but inside of brackets, if there is room.
    fn line(&mut self, begin: usize, end: usize) {
        let depth = self.lines.depth;
        let mut breaks = self.breaks(begin, end);
        let mut at = begin;
        while at < end {
            let token = &self.tokens[at];
            if at > begin && self.is_break(at, breaks) {
                self.lines.end();
                self.lines.depth = depth + 1;
            }
            if matches!(token.kind, Kind::Open | Kind::Angle) && token.close > at + 1 {
                let next = self.next(token.close + 1, end, |at| self.is_break(at, breaks));
                self.bracket(at, next);
                at = token.close + 1;
                continue;
            }
            if token.kind != Kind::LastComma {
                self.lines.put(token.text, token.is_apart);
            }
            at += 1;
            if breaks == Breaks::Nowhere && at < end {
                if token.kind == Kind::Equals && self.is_better_below(at, end) {
                    self.lines.end();
                    self.lines.depth = depth + 1;
                } else if matches!(token.kind, Kind::Equals | Kind::Arrow) {
                    breaks = self.breaks(at, end);
                }
            }
        }
        self.lines.depth = depth;
    }

    /// The first token outside of brackets that is wanted, or the end.
    fn next(&self, begin: usize, end: usize, is_wanted: impl Fn(usize) -> bool) -> usize {
        let mut at = begin;
        while at < end && !is_wanted(at) {
            at = self.tokens[at].close + 1;
        }
        at.min(end)
    }

    /// Where an expression is broken for which there is no room on the line.
    fn breaks(&self, begin: usize, end: usize) -> Breaks {
        if begin == end || self.tokens[begin].kind == Kind::Keyword {
            return Breaks::Nowhere;
        }
        let bytes = 1 + self.bytes(begin, end) + self.lines.tail_bytes;
        if self.lines.columns() + bytes <= COLUMNS {
            return Breaks::Nowhere;
        }
        let (mut calls, mut methods, mut terms, mut at) = (0, 0, 0, begin);
        while at < end {
            let token = &self.tokens[at];
            if token.is_tall || matches!(token.kind, Kind::Equals | Kind::Arrow | Kind::Comma) {
                return Breaks::Nowhere;
            }
            // One call alone is broken only if not even its `(` fits.
            let is_far = || self.lines.columns() + 1 + self.bytes(begin, at + 1) > COLUMNS;
            calls += usize::from(token.text == "(") * (1 + usize::from(is_far()));
            methods += usize::from(self.is_break(at, Breaks::Calls));
            terms += usize::from(self.is_break(at, Breaks::Terms));
            at = token.close + 1;
        }
        match (terms, methods) {
            (1.., _) => Breaks::Terms,
            (_, 1..) if calls > 1 => Breaks::Calls,
            _ => Breaks::Nowhere,
        }
    }

    fn is_break(&self, at: usize, breaks: Breaks) -> bool {
        match breaks {
            Breaks::Nowhere => false,
            Breaks::Calls => self.is_method_call(at),
            Breaks::Terms => self.tokens[at].text == "+",
        }
    }

    /// `.name(` or `.name::<T>(`
    fn is_method_call(&self, at: usize) -> bool {
        if self.tokens[at].text != "." {
            return false;
        }
        let mut after = at + 2;
        if self.tokens.get(after).is_some_and(|token| token.text == "::") {
            after = self.tokens[after + 1].close + 1;
        }
        self.tokens.get(after).is_some_and(|token| token.text == "(")
    }

    /// Does what follows `=` fit on the next line, but not on this one?
    fn is_better_below(&self, begin: usize, end: usize) -> bool {
        let bytes = self.bytes(begin, end) + self.lines.tail_bytes;
        self.lines.columns() + 1 + bytes > COLUMNS && self.fits_below(begin, end)
    }

    fn fits_below(&self, begin: usize, end: usize) -> bool {
        let bytes = self.bytes(begin, end) + self.lines.tail_bytes;
        (self.lines.depth + 1) * INDENT.len() + bytes <= COLUMNS
            && !self.tokens[begin..end].iter().any(|token| token.is_tall)
    }

    /// How long it is on one line, without the space before it.
    fn bytes(&self, begin: usize, end: usize) -> usize {
        let before = begin.checked_sub(1).map_or(0, |before| self.tokens[before].end_bytes);
        self.tokens[end - 1].end_bytes - before - usize::from(self.tokens[begin].is_apart)
    }

    /// A bracket that is not empty, in a line that goes on to `end`.
    fn bracket(&mut self, open: usize, end: usize) {
        let token = &self.tokens[open];
        let (close, tail_bytes) = (token.close, self.lines.tail_bytes);
        match token.holds {
            Holds::List if !token.is_tall && self.fits(open, end) => {
                for at in open..=close {
                    let token = &self.tokens[at];
                    if token.kind != Kind::LastComma {
                        self.lines.put(token.text, token.is_apart);
                    }
                }
            }
            Holds::List if token.is_no_list || self.ends_in_bracket(open) => {
                self.lines.put(token.text, token.is_apart);
                self.lines.tail_bytes = self.tail_bytes(close, end);
                self.line(open + 1, close);
                let close = &self.tokens[close];
                self.lines.put(close.text, close.is_apart);
                self.lines.tail_bytes = tail_bytes;
            }
            holds => {
                self.lines.put(token.text, token.is_apart);
                self.lines.end();
                self.lines.depth += 1;
                match holds {
                    Holds::Block => self.block(open + 1, close),
                    Holds::Arms => self.arms(open + 1, close),
                    Holds::List if self.is_row(open) => self.row(open + 1, close),
                    Holds::List | Holds::Fields => self.list(open + 1, close),
                }
                self.lines.depth -= 1;
                self.lines.tail_bytes = tail_bytes;
                self.lines.put(self.tokens[close].text, false);
            }
        }
    }

    /// Is there room on the line for a list, and for what follows it?
    fn fits(&self, open: usize, end: usize) -> bool {
        let (token, close) = (&self.tokens[open], &self.tokens[self.tokens[open].close]);
        let bytes = self.bytes(open, token.close + 1) + usize::from(token.is_apart);
        let tail_bytes = self.tail_bytes(token.close, end) - close.text.len();
        self.lines.columns() + bytes + tail_bytes <= COLUMNS
    }

    /// From where a list ends to the next that could be broken, or to the end of the line.
    fn tail_bytes(&self, close: usize, end: usize) -> usize {
        let is_angle = self.tokens[close].text == ">";
        let next = self.next(close + 1, end, |at| {
            let token = &self.tokens[at];
            let is_list = token.close > at + 1;
            match token.kind {
                Kind::Open => is_list,
                Kind::Angle => is_list && is_angle,
                Kind::Equals => at + 1 < end && self.fits_below(at + 1, end),
                _ => false,
            }
        });
        match next == end {
            true => self.bytes(close, end) + self.lines.tail_bytes,
            false => self.bytes(close, next + 1),
        }
    }

    /// Is what has to be on several lines the end of the last item of a list, and does the line
    /// have room up to there?
    fn ends_in_bracket(&self, open: usize) -> bool {
        let token = &self.tokens[open];
        if token.has_attributes || token.kind == Kind::Angle {
            return false;
        }
        if !token.is_tall {
            return self.is_one_call(open);
        }
        let mut at = open + 1;
        while at < token.close {
            let one = &self.tokens[at];
            if one.is_tall {
                let is_last = !self.level(at, token.close).any(|one| one.kind == Kind::Comma);
                let bytes = self.bytes(open, at + 1) + 1;
                return is_last && self.lines.columns() + bytes <= COLUMNS;
            }
            at = one.close + 1;
        }
        false
    }

    /// Is a path with a list, and nothing else, in a list?
    fn is_one_call(&self, open: usize) -> bool {
        let close = self.tokens[open].close;
        let mut level = self.level(open + 1, close).peekable();
        while level.next_if(|one| one.kind == Kind::Value || one.text == "::").is_some() {}
        let Some(inner) = level.next_if(|one| one.kind == Kind::Open) else { return false };
        let is_last = level.all(|one| one.kind == Kind::LastComma);
        let bytes = self.bytes(open, close + 1) - (self.tokens[close].end_bytes - inner.end_bytes);
        is_last && !inner.is_no_list && self.lines.columns() + bytes < COLUMNS
    }

    /// Tokens that are in no bracket inside of the range, but those of brackets.
    fn level(&self, begin: usize, end: usize) -> impl Iterator<Item = &Token<'_>> {
        let mut at = begin;
        std::iter::from_fn(move || {
            let token = self.tokens[..end].get(at)?;
            at = token.close + 1;
            Some(token)
        })
    }

    /// Items of a list, one to a line.
    fn list(&mut self, begin: usize, end: usize) {
        let mut at = begin;
        while at < end {
            at = self.attributes(at, end);
            let mut next = at;
            while next < end && !matches!(self.tokens[next].kind, Kind::Comma | Kind::LastComma) {
                next = self.tokens[next].close + 1;
            }
            self.lines.tail_bytes = 1;
            self.line(at, next);
            // Nothing may follow what says that there is more.
            if self.tokens[at].text != ".." {
                self.lines.put(",", false);
            }
            self.lines.end();
            at = next + 1;
        }
    }

    /// Is every item of a list a short word or number?
    fn is_row(&self, open: usize) -> bool {
        let mut items = self.tokens[open + 1..self.tokens[open].close].iter();
        items.all(|item| match item.kind {
            Kind::Value => item.text.len() <= ROW_ITEM_BYTES,
            kind => matches!(kind, Kind::Comma | Kind::LastComma),
        })
    }

    /// Items of a list, as many to a line as there is room for.
    fn row(&mut self, begin: usize, end: usize) {
        let items = self.tokens[begin..end].iter().filter(|item| item.kind == Kind::Value);
        for item in items {
            if self.lines.columns() + 1 + item.text.len() + 1 > COLUMNS {
                self.lines.end();
            }
            self.lines.put(item.text, true);
            self.lines.put(",", false);
        }
        self.lines.end();
    }

    /// Arms of a `match`, one to a line. One that is a block has no comma.
    fn arms(&mut self, begin: usize, end: usize) {
        let mut at = begin;
        while at < end {
            at = self.attributes(at, end);
            let next = self.arm_end(at, end);
            self.lines.tail_bytes = 1;
            self.line(at, next);
            let is_block = self.tokens[next - 1].text == "}" && self.is_block_arm(at, next);
            if !is_block {
                self.lines.put(",", false);
            }
            self.lines.end();
            let comma = self.tokens[..end].get(next);
            let has_comma =
                comma.is_some_and(|one| matches!(one.kind, Kind::Comma | Kind::LastComma));
            at = next + usize::from(has_comma);
        }
    }

    fn arm_end(&self, begin: usize, end: usize) -> usize {
        let mut at = begin;
        while at < end {
            let token = &self.tokens[at];
            if matches!(token.kind, Kind::Comma | Kind::LastComma) {
                return at;
            }
            let is_body = at > begin && self.tokens[at - 1].kind == Kind::Arrow;
            at = token.close + 1;
            let goes_on = at < end && self.tokens[at].kind == Kind::Postfix;
            if is_body && token.text == "{" && token.holds == Holds::Block && !goes_on {
                return at;
            }
        }
        end
    }

    /// Is all that follows `=>` one block?
    fn is_block_arm(&self, begin: usize, end: usize) -> bool {
        let mut level = self.level(begin, end).skip_while(|token| token.kind != Kind::Arrow);
        let body = level.nth(1);
        body.is_some_and(|body| body.holds == Holds::Block) && level.next().is_none()
    }
}

#[cfg(test)]
mod tests;
