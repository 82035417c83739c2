//! What stands between quotes (clauses 7.2.6.2 and 7.2.6.3): escape sequences become characters.

use std::ops::Range;

use crate::diagnostic::{Diagnostic, Rule};
use crate::front::findings::{Findings, quoted};
use crate::front::rules::lexical;
use crate::source::Span;

/// Where a literal stands, for findings about a part of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Site {
    /// The literal, or the macro that made it.
    pub span: Span,
    /// The literal's bytes are those of the span, one for one.
    pub is_exact: bool,
}

impl Site {
    /// The bytes `part` of the literal.
    pub fn part(self, part: Range<usize>) -> Span {
        if !self.is_exact {
            return self.span;
        }
        let start = self.span.start + part.start as u32;
        Span { start, end: self.span.start + part.end as u32, ..self.span }
    }
}

/// A literal without its quotes and escapes.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Unescaped {
    pub text: String,
    /// The closing quote is there.
    pub is_closed: bool,
}

/// Reads a literal that begins with a quote, or `L` and a quote.
pub(crate) fn read(text: &str, site: Site, findings: &mut Findings) -> Unescaped {
    let is_wide = text.starts_with('L');
    let body_start = if is_wide { 2 } else { 1 };
    let quote = text[..body_start].chars().next_back();
    let mut reader = Reader { text, at: body_start, is_wide, site, findings };
    let mut read = Unescaped::default();
    while let Some(next) = reader.text[reader.at..].chars().next() {
        let start = reader.at;
        reader.at += next.len_utf8();
        if Some(next) == quote {
            read.is_closed = true;
            break;
        }
        let meant = if next == '\\' { reader.escape(start) } else { Some(next) };
        if meant == Some('\0') && quote == Some('"') {
            let span = reader.site.part(start..reader.at);
            let message = "the character NUL in a string, whose end it marks in C";
            reader.findings.add(&lexical::STRING_NUL, span, message);
        }
        read.text.extend(meant);
    }
    read
}

struct Reader<'t, 'f, 's> {
    text: &'t str,
    at: usize,
    is_wide: bool,
    site: Site,
    findings: &'f mut Findings<'s>,
}

impl<'t> Reader<'t, '_, '_> {
    /// The character that an escape sequence stands for. `start` is where its backslash stands.
    fn escape(&mut self, start: usize) -> Option<char> {
        let letter = self.text[self.at..].chars().next()?;
        if letter.is_digit(8) {
            let digits = self.digits(8, 3);
            return self.character(start, u32::from_str_radix(digits, 8).ok());
        }
        self.at += letter.len_utf8();
        match letter {
            'n' => Some('\n'),
            't' => Some('\t'),
            'v' => Some('\u{B}'),
            'b' => Some('\u{8}'),
            'r' => Some('\r'),
            'f' => Some('\u{C}'),
            'a' => Some('\u{7}'),
            '\\' | '?' | '\'' | '"' => Some(letter),
            'x' => self.hexadecimal(start, 2),
            'u' => self.unicode(start),
            _ => {
                let message = format!("the unknown escape {}", quoted(&format!("\\{letter}")));
                let help = "a backslash is written `\\\\`";
                self.find(&lexical::UNKNOWN_ESCAPE, start, message, Some(help));
                Some(letter)
            }
        }
    }

    fn hexadecimal(&mut self, start: usize, count_max: usize) -> Option<char> {
        let digits = self.digits(16, count_max);
        if digits.is_empty() {
            let message =
                format!("no hexadecimal digit after {}", quoted(&self.text[start..self.at]));
            self.find(&lexical::ESCAPE_DIGITS, start, message, None);
            return None;
        }
        self.character(start, u32::from_str_radix(digits, 16).ok())
    }

    fn unicode(&mut self, start: usize) -> Option<char> {
        if !self.is_wide {
            let end = self.at;
            let character = self.hexadecimal(start, 4);
            let message = "`\\u` in a literal that is not wide".to_owned();
            let help = "put `L` before the quote, or write the character itself";
            if self.at > end {
                self.find(&lexical::NARROW_UNICODE_ESCAPE, start, message, Some(help));
            }
            return character;
        }
        let before = self.at;
        let high = code_unit(self.digits(16, 4)).filter(|unit| (0xD800..0xDC00).contains(unit));
        let low = self.text[self.at..].strip_prefix("\\u").and_then(|text| text.get(..4));
        let low = low.and_then(code_unit).filter(|unit| (0xDC00..0xE000).contains(unit));
        if let (Some(high), Some(low)) = (high, low) {
            self.at += "\\uXXXX".len();
            return char::from_u32(0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00));
        }
        self.at = before;
        self.hexadecimal(start, 4)
    }

    /// Passes at most `count_max` digits.
    fn digits(&mut self, radix: u32, count_max: usize) -> &'t str {
        let rest: &'t str = &self.text[self.at..];
        let is_digit = |c: &u8| char::from(*c).is_digit(radix);
        let count = rest.bytes().take(count_max).take_while(is_digit).count();
        self.at += count;
        &rest[..count]
    }

    fn character(&mut self, start: usize, code: Option<u32>) -> Option<char> {
        let largest = if self.is_wide { u32::MAX } else { 0xFF };
        let is_narrow_unicode = self.text[start..].starts_with("\\u");
        let in_range = code.filter(|code| *code <= largest || is_narrow_unicode);
        if let Some(character) = in_range.and_then(char::from_u32) {
            return Some(character);
        }
        let escape = quoted(&self.text[start..self.at]);
        let message = match self.is_wide || is_narrow_unicode {
            true => format!("{escape} is half of a surrogate pair, no character"),
            false => format!("{escape} is larger than `\\377`, the last character of ISO 8859-1"),
        };
        self.find(&lexical::ESCAPE_RANGE, start, message, None);
        None
    }

    fn find(&mut self, rule: &'static Rule, start: usize, message: String, help: Option<&str>) {
        let mut finding = Diagnostic::new(rule, self.site.part(start..self.at), message);
        finding.help = help.map(str::to_owned);
        self.findings.push(finding);
    }
}

fn code_unit(digits: &str) -> Option<u32> {
    let is_code_unit = digits.len() == 4 && digits.bytes().all(|b| b.is_ascii_hexdigit());
    is_code_unit.then(|| u32::from_str_radix(digits, 16).ok()).flatten()
}
