//! Cuts a text into pieces: identifiers, numbers, literals, punctuation (clause 7.2).
//!
//! Decides where a piece begins and ends, and which comments are documentation. Does not know what
//! a piece is worth: a literal in a group that `#if` leaves out may be anything, so values and
//! their errors are found when a piece leaves the preprocessor (`lexer/value.rs`).
//!
//! A backslash before a line end joins two lines, everywhere. There are no trigraphs.

mod documentation;
pub(crate) mod escape;
pub(crate) mod number;
pub(crate) mod value;

use std::rc::Rc;

use documentation::Documentation;

/// A preprocessing token: where it is and what it looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    pub start: u32,
    pub end: u32,
    pub kind: Kind,
    /// Nothing but blanks and comments stands before it on its line.
    pub begins_line: bool,
    /// A blank or comment stands before it.
    pub follows_space: bool,
    /// A joined line runs through it; its text is that without the joint.
    pub is_spliced: bool,
}

/// What a piece looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Identifier,
    /// Begins like a number; may be none.
    Number,
    /// With its quotes, and its `L`. The closing quote may be missing.
    Char,
    WideChar,
    String,
    WideString,
    Punctuation,
    /// Characters that begin no token.
    Stray,
}

/// A whole text in pieces.
#[derive(Debug, Default)]
pub(crate) struct Pieces {
    pub pieces: Vec<Piece>,
    /// Documentation, by the index of the piece that it stands above.
    pub docs: Vec<(u32, Rc<str>)>,
    /// Where the comment begins that nothing ends.
    pub unterminated_comment: Option<u32>,
}

/// Cuts `text`. Takes time in proportion to its length, whatever it is.
pub(crate) fn scan(text: &str) -> Pieces {
    let mut scanner = Scanner {
        text,
        bytes: text.as_bytes(),
        at: 0,
        begins_line: true,
        follows_space: false,
        documentation: Documentation::default(),
        found: Pieces::default(),
    };
    scanner.scan();
    scanner.found
}

/// The text of a piece without the joints of lines.
pub(crate) fn unspliced(text: &str) -> String {
    text.replace("\\\r\n", "").replace("\\\n", "")
}

struct Scanner<'t> {
    text: &'t str,
    bytes: &'t [u8],
    at: usize,
    begins_line: bool,
    follows_space: bool,
    documentation: Documentation,
    found: Pieces,
}

impl Scanner<'_> {
    fn scan(&mut self) {
        while let Some(byte) = self.peek() {
            match byte {
                b'\n' => {
                    self.bump();
                    self.documentation.handle_line_end();
                    self.begins_line = true;
                    self.follows_space = true;
                }
                b' ' | b'\t' | b'\r' | 0x0B | 0x0C => {
                    self.bump();
                    self.follows_space = true;
                }
                b'/' if self.peek_second() == Some(b'/') => self.line_comment(),
                b'/' if self.peek_second() == Some(b'*') => self.block_comment(),
                _ => self.piece(byte),
            }
        }
    }

    fn line_comment(&mut self) {
        let start = self.joined(self.at);
        while self.peek().is_some_and(|byte| byte != b'\n') {
            self.bump();
        }
        let comment = &self.text[start..self.at];
        self.documentation.handle_line_comment(comment, self.begins_line);
        self.follows_space = true;
    }

    fn block_comment(&mut self) {
        let start = self.joined(self.at);
        self.bump();
        self.bump();
        let mut before = 0;
        loop {
            let Some(byte) = self.peek() else {
                self.found.unterminated_comment = Some(start as u32);
                return;
            };
            self.bump();
            if before == b'*' && byte == b'/' {
                break;
            }
            before = byte;
        }
        let comment = &self.text[start..self.at];
        self.documentation.handle_block_comment(comment, self.begins_line);
        self.follows_space = true;
    }

    fn piece(&mut self, first: u8) {
        let start = self.joined(self.at);
        self.at = start;
        let second = self.peek_second();
        let kind = match first {
            b'L' if second == Some(b'\'') => self.quoted(Kind::WideChar),
            b'L' if second == Some(b'"') => self.quoted(Kind::WideString),
            b'\'' => self.quoted(Kind::Char),
            b'"' => self.quoted(Kind::String),
            b'0'..=b'9' => self.number(),
            b'.' if second.is_some_and(|byte| byte.is_ascii_digit()) => self.number(),
            _ if self.word_character() > 0 => self.identifier(),
            _ => self.punctuation_or_stray(),
        };
        let is_spliced = self.text.as_bytes()[start..self.at].contains(&b'\n');
        let index = self.found.pieces.len() as u32;
        if let Some(doc) = self.documentation.take() {
            self.found.docs.push((index, doc));
        }
        self.found.pieces.push(Piece {
            start: start as u32,
            end: self.at as u32,
            kind,
            begins_line: self.begins_line,
            follows_space: self.follows_space,
            is_spliced,
        });
        self.begins_line = false;
        self.follows_space = false;
    }

    fn quoted(&mut self, kind: Kind) -> Kind {
        if matches!(kind, Kind::WideChar | Kind::WideString) {
            self.bump();
        }
        let quote = self.peek();
        self.bump();
        while let Some(byte) = self.peek().filter(|_| !self.is_at_line_end()) {
            self.bump();
            if Some(byte) == quote {
                break;
            }
            if byte == b'\\' && !self.is_at_line_end() {
                self.bump();
            }
        }
        kind
    }

    fn number(&mut self) -> Kind {
        let is_hexadecimal =
            self.peek() == Some(b'0') && matches!(self.peek_second(), Some(b'x' | b'X'));
        loop {
            let is_exponent = matches!(self.peek(), Some(b'e' | b'E')) && !is_hexadecimal;
            if self.peek() != Some(b'.') && self.word_character() == 0 {
                return Kind::Number;
            }
            self.bump();
            if is_exponent && matches!(self.peek(), Some(b'+' | b'-')) {
                self.bump();
            }
        }
    }

    fn identifier(&mut self) -> Kind {
        while self.word_character() > 0 {
            self.bump();
        }
        Kind::Identifier
    }

    fn punctuation_or_stray(&mut self) -> Kind {
        let length = self.punctuation_length();
        if length > 0 {
            (0..length).for_each(|_| self.bump());
            return Kind::Punctuation;
        }
        self.bump();
        while self.peek().is_some_and(|byte| self.is_stray(byte)) {
            self.bump();
        }
        Kind::Stray
    }

    /// Characters of the longest punctuation that begins here; 0 if none does.
    fn punctuation_length(&self) -> usize {
        let second = self.peek_second();
        match self.peek() {
            Some(b'.') => {
                let third = self.after(self.after(self.joined(self.at)));
                let is_ellipsis = second == Some(b'.') && self.bytes.get(third) == Some(&b'.');
                if is_ellipsis { 3 } else { 0 }
            }
            Some(first @ (b':' | b'<' | b'>' | b'#' | b'&' | b'|' | b'='))
                if second == Some(first) =>
            {
                2
            }
            Some(b'<' | b'>' | b'!') if second == Some(b'=') => 2,
            Some(first) if is_punctuation(first) => 1,
            _ => 0,
        }
    }

    fn is_stray(&self, byte: u8) -> bool {
        let is_blank = matches!(byte, b'\n' | b' ' | b'\t' | b'\r' | 0x0B | 0x0C);
        let is_quote = matches!(byte, b'\'' | b'"');
        !is_blank
            && !is_quote
            && !is_punctuation(byte)
            && byte != b'.'
            && byte != b'/'
            && self.word_character() == 0
    }

    /// Bytes of the next character if it can stand in an identifier or number, 0 if not. Letters
    /// beyond ASCII cannot; they are taken with the rest of the word so that it is reported whole.
    fn word_character(&self) -> usize {
        match self.peek() {
            Some(byte) if byte.is_ascii_alphanumeric() || byte == b'_' => 1,
            Some(byte) if byte >= 0x80 => {
                let character = self.text[self.joined(self.at)..].chars().next();
                character.filter(|c| c.is_alphanumeric()).map_or(0, char::len_utf8)
            }
            _ => 0,
        }
    }

    fn is_at_line_end(&self) -> bool {
        match self.peek() {
            None | Some(b'\n') => true,
            Some(b'\r') => self.peek_second() == Some(b'\n'),
            Some(_) => false,
        }
    }

    /// The first byte of the next character.
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.joined(self.at)).copied()
    }

    /// The first byte of the character after the next.
    fn peek_second(&self) -> Option<u8> {
        self.bytes.get(self.after(self.joined(self.at))).copied()
    }

    /// Passes the next character.
    fn bump(&mut self) {
        let at = self.joined(self.at);
        self.at = (at + self.character_length(at)).min(self.bytes.len());
    }

    /// Where the character after the one at `at` begins.
    fn after(&self, at: usize) -> usize {
        self.joined(at + self.character_length(at))
    }

    fn character_length(&self, at: usize) -> usize {
        match self.bytes.get(at) {
            Some(0xF0..) => 4,
            Some(0xE0..) => 3,
            Some(0xC0..) => 2,
            _ => 1,
        }
    }

    /// `at`, or if lines are joined there, the first place that is not a joint.
    fn joined(&self, mut at: usize) -> usize {
        while self.bytes.get(at) == Some(&b'\\') {
            at += match (self.bytes.get(at + 1), self.bytes.get(at + 2)) {
                (Some(b'\n'), _) => 2,
                (Some(b'\r'), Some(b'\n')) => 3,
                _ => break,
            };
        }
        at
    }
}

fn is_punctuation(byte: u8) -> bool {
    b";{}:,=+-*/%~|^&<>()[]@#!?".contains(&byte)
}

#[cfg(test)]
mod tests;
