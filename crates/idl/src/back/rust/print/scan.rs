//! What each token of an item is: where its bracket ends, what kind of list or block that holds,
//! and whether there is a space before it. Knows nothing of lines.

/// What a token is to those beside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A name or a literal, or what ends a value as such.
    Value,
    Keyword,
    Lifetime,
    Open,
    Close,
    /// `<` before generic parameters.
    Angle,
    /// Between two items of a list.
    Comma,
    /// The same before the bracket that ends it.
    LastComma,
    Semicolon,
    /// `=`
    Equals,
    /// `=>`
    Arrow,
    /// `.` and `?`, with which an expression goes on.
    Postfix,
    Hash,
    /// Everything else.
    Operator,
}

/// What a bracket holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holds {
    /// Items with commas between them.
    List,
    /// Statements, or items of a file.
    Block,
    /// Fields or variants of a declaration.
    Fields,
    /// Arms of a `match`.
    Arms,
}

/// A token of an item.
#[derive(Clone, Copy, Debug)]
pub struct Token<'t> {
    pub text: &'t str,
    pub kind: Kind,
    /// Is there a space before it, where a line does not begin with it?
    pub is_apart: bool,
    /// Of what opens a bracket, or generic parameters: where they end. Of anything else: itself.
    pub close: usize,
    pub holds: Holds,
    /// Of what opens a bracket: is there something inside that is never on one line?
    pub is_tall: bool,
    /// The same, but because an item of its own list has an attribute.
    pub has_attributes: bool,
    /// Of what opens a bracket, or generic parameters: would a comma after the last item mean
    /// something else?
    pub is_no_list: bool,
    /// Bytes to its end, were everything on one line.
    pub end_bytes: usize,
}

/// An open bracket.
#[derive(Clone, Copy, Debug, Default)]
struct Frame {
    open: usize,
    /// What the next brace holds, because a keyword said so.
    pending: Option<Holds>,
    /// How many lists of generic parameters are open.
    angles: usize,
    /// Is one of them that of an `impl`?
    is_impl: bool,
    /// Between the bars of a closure?
    is_closure: bool,
    commas: u32,
    has_semicolon: bool,
}

/// Finds out about the tokens of one item after the other; keeps its memory.
#[derive(Debug, Default)]
pub struct Scan<'t> {
    pub tokens: Vec<Token<'t>>,
    frames: Vec<Frame>,
    /// Where lists of generic parameters begin that are open.
    angles: Vec<usize>,
    frame: Frame,
    /// Wants the token before no space after it?
    is_glued: bool,
}

impl<'t> Scan<'t> {
    /// Takes the tokens of an item.
    pub fn scan(&mut self, texts: &[&'t str]) {
        self.tokens.clear();
        self.frames.clear();
        self.angles.clear();
        (self.frame, self.is_glued) = (Frame::default(), true);
        for (index, text) in texts.iter().enumerate() {
            self.token(text, texts.get(index + 1).copied().unwrap_or_default());
        }
    }

    fn before(&self) -> Option<&Token<'t>> {
        self.tokens.last()
    }

    /// Does a value end before this token, so that what follows is no beginning of one?
    fn is_after_value(&self) -> bool {
        self.before().is_some_and(|before| match before.kind {
            Kind::Value => true,
            Kind::Close => before.text != "}",
            Kind::Postfix => before.text == "?",
            _ => false,
        })
    }

    /// Appends a token that wants no space on the one side or on the other.
    fn put(&mut self, text: &'t str, kind: Kind, [left, right]: [bool; 2]) {
        let is_apart = !(left || self.is_glued);
        self.is_glued = right;
        let before = self.before().map_or(0, |before| before.end_bytes);
        self.tokens.push(Token {
            text,
            kind,
            is_apart,
            close: self.tokens.len(),
            holds: Holds::List,
            is_tall: false,
            has_attributes: false,
            is_no_list: false,
            end_bytes: before + usize::from(is_apart) + text.len(),
        });
    }

    fn token(&mut self, text: &'t str, next: &str) {
        let is_after_value = self.is_after_value();
        match text.as_bytes() {
            [b'(' | b'[' | b'{'] => self.open(text, is_after_value),
            [b')' | b']' | b'}'] => self.close(text),
            [b'a'..=b'z' | b'A'..=b'Z' | b'_' | 128.., ..] => self.word(text),
            [b'0'..=b'9' | b'"', ..] => self.put(text, Kind::Value, [false; 2]),
            [b'\'', .., last] => {
                let kind = if *last == b'\'' { Kind::Value } else { Kind::Lifetime };
                self.put(text, kind, [false; 2]);
            }
            b"," => self.comma(),
            b";" => {
                (self.frame.pending, self.frame.has_semicolon) = (None, true);
                self.put(text, Kind::Semicolon, [true, false]);
            }
            b":" => self.put(text, Kind::Operator, [true, false]),
            b"::" => self.put(text, Kind::Operator, [is_after_value, true]),
            b"." => self.put(text, Kind::Postfix, [true; 2]),
            b"?" => self.put(text, Kind::Postfix, [true, false]),
            b".." | b"..=" => self.put(text, Kind::Operator, [is_after_value, true]),
            b"=" => self.put(text, Kind::Equals, [false; 2]),
            b"=>" => {
                self.frame.pending = None;
                self.put(text, Kind::Arrow, [false; 2]);
            }
            b"->" => {
                self.expect(Holds::Block);
                self.put(text, Kind::Operator, [false; 2]);
            }
            b"#" => self.hash(),
            b"!" => {
                let is_macro = is_after_value || self.before().is_some_and(is_hash);
                let is_macro = is_macro && matches!(next, "(" | "[" | "{");
                self.put(text, Kind::Operator, [is_macro, true]);
            }
            b"|" => self.bar(is_after_value),
            b"<" => self.angle(is_after_value),
            b">" | b">>" if self.frame.angles >= text.len() => {
                text.split_inclusive('>').for_each(|one| self.angle_end(one));
            }
            b"&" | b"*" | b"-" | b"&&" => {
                self.put(text, Kind::Operator, [false, !is_after_value]);
            }
            _ => self.put(text, Kind::Operator, [false; 2]),
        }
    }

    fn expect(&mut self, holds: Holds) {
        self.frame.pending.get_or_insert(holds);
    }

    fn word(&mut self, text: &'t str) {
        let is_keyword = is_keyword(text);
        if !is_keyword {
            return self.put(text, Kind::Value, [false; 2]);
        }
        match text {
            "struct" | "enum" => self.expect(Holds::Fields),
            "match" => self.expect(Holds::Arms),
            "fn" | "impl" | "trait" | "mod" | "if" | "else" | "loop" | "for" | "while"
            | "unsafe" | "async" => self.expect(Holds::Block),
            _ => {}
        }
        self.put(text, Kind::Keyword, [false; 2]);
    }

    /// `#` before an attribute: where an item of a list begins with it, the list is tall.
    fn hash(&mut self) {
        let is_item = matches!(self.before(), Some(before)
            if matches!(before.kind, Kind::Open | Kind::Comma));
        if is_item && !self.frames.is_empty() {
            let open = &mut self.tokens[self.frame.open];
            (open.is_tall, open.has_attributes) = (true, true);
        }
        self.put("#", Kind::Hash, [false, true]);
    }

    fn open(&mut self, text: &'t str, is_after_value: bool) {
        let is_brace = text == "{";
        let before = self.before().copied();
        let is_called = is_after_value
            || before.is_some_and(|before| {
                matches!(before.text, "fn" | "pub" | "#") || (before.text == "!" && self.is_glued)
            });
        let holds = match self.frame.pending.take_if(|_| is_brace) {
            Some(holds) => holds,
            None if !is_brace || is_after_value => Holds::List,
            None if before.is_some_and(|before| before.text == "::") => Holds::List,
            None => Holds::Block,
        };
        self.put(text, Kind::Open, [!is_brace && is_called, !is_brace]);
        self.frames.push(self.frame);
        let open = self.tokens.len() - 1;
        self.frame = Frame { open, ..Frame::default() };
        self.tokens[open].holds = holds;
        // A tuple of one, the type of a slice, an index; what is in parentheses.
        self.tokens[open].is_no_list =
            text == "[" || (text == "(" && (!is_called || is_macro(before)));
    }

    fn close(&mut self, text: &'t str) {
        let Frame { open, commas, has_semicolon, angles, .. } = self.frame;
        // Those were numbers that are less than others.
        self.angles.truncate(self.angles.len() - angles);
        let is_empty = open + 1 == self.tokens.len();
        let opened = self.tokens[open];
        let is_macro = is_macro(open.checked_sub(1).map(|before| self.tokens[before]));
        // One comma in parentheses that nothing calls makes a tuple.
        let is_tuple = text == ")" && commas == 1 && opened.is_no_list && !is_macro;
        if !is_tuple {
            self.end_list();
        }
        let is_apart = text == "}" && !is_empty;
        self.is_glued = false;
        self.put(text, Kind::Close, [!is_apart, false]);
        let close = self.tokens.len() - 1;
        let opened = &mut self.tokens[open];
        opened.close = close;
        opened.is_no_list = has_semicolon || is_macro || (opened.is_no_list && commas == 0);
        opened.is_tall |= opened.holds != Holds::List && !is_empty;
        let is_tall = opened.is_tall;
        self.frame = self.frames.pop().unwrap_or_default();
        if is_tall && !self.frames.is_empty() {
            self.tokens[self.frame.open].is_tall = true;
        }
    }

    fn comma(&mut self) {
        let kind = if self.frame.is_closure { Kind::Operator } else { Kind::Comma };
        if kind == Kind::Comma && self.frame.angles == 0 {
            self.frame.pending = None;
            self.frame.commas += 1;
        }
        self.put(",", kind, [true, false]);
    }

    /// `|` around the parameters of a closure, or between two.
    fn bar(&mut self, is_after_value: bool) {
        if self.frame.is_closure {
            self.frame.is_closure = false;
            return self.put("|", Kind::Operator, [true, false]);
        }
        self.frame.is_closure = !is_after_value;
        self.put("|", Kind::Operator, [false, !is_after_value]);
    }

    /// `<` before generic parameters, or between two numbers.
    fn angle(&mut self, is_after_value: bool) {
        let before = self.before().map_or("", |before| before.text);
        let is_less = before == ")" || before.starts_with(|first: char| first.is_ascii_digit());
        if is_less {
            return self.put("<", Kind::Operator, [false; 2]);
        }
        let is_impl = before == "impl";
        self.frame.angles += 1;
        self.frame.is_impl |= is_impl;
        let left = is_after_value || is_impl || before == "for";
        self.put("<", Kind::Angle, [left, true]);
        let open = self.tokens.len() - 1;
        // `<T as Trait>` is one thing.
        self.tokens[open].is_no_list = !left;
        self.angles.push(open);
    }

    fn angle_end(&mut self, text: &'t str) {
        self.frame.angles -= 1;
        self.end_list();
        // A path that begins after it is the trait's.
        let is_impl = self.frame.is_impl && self.frame.angles == 0;
        let kind = if is_impl { Kind::Operator } else { Kind::Value };
        self.frame.is_impl &= !is_impl;
        self.put(text, kind, [true, false]);
        if let Some(open) = self.angles.pop() {
            self.tokens[open].close = self.tokens.len() - 1;
        }
    }

    /// A comma before the end of a list is there only if the list is not on one line.
    fn end_list(&mut self) {
        if let Some(last) = self.tokens.last_mut().filter(|last| last.kind == Kind::Comma) {
            last.kind = Kind::LastComma;
            last.end_bytes -= 1;
        }
    }
}

/// Is it a word after which an expression or a type begins?
fn is_keyword(word: &str) -> bool {
    match word.len() {
        2 => matches!(word, "as" | "fn" | "if" | "in"),
        3 => matches!(word, "dyn" | "for" | "let" | "mod" | "mut" | "pub" | "ref" | "use"),
        4 => matches!(word, "else" | "enum" | "impl" | "loop" | "move" | "type"),
        5 => matches!(word, "async" | "break" | "const" | "match" | "trait" | "where" | "while"),
        6 => matches!(word, "extern" | "return" | "static" | "struct" | "unsafe"),
        _ => word == "continue",
    }
}

fn is_hash(token: &Token<'_>) -> bool {
    token.kind == Kind::Hash
}

fn is_macro(before: Option<Token<'_>>) -> bool {
    before.is_some_and(|before| before.text == "!")
}
