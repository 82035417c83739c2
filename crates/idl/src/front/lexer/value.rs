//! What a piece is worth: the step from a preprocessing token to a token (clause 7.2).
//!
//! A piece with an error in it still becomes a token, so that the parser finds no gap.

use std::rc::Rc;

use crate::diagnostic::Diagnostic;
use crate::front::findings::{Findings, quoted};
use crate::front::lexer::Kind;
use crate::front::lexer::escape::{self, Site};
use crate::front::lexer::number::{self, Number};
use crate::front::rules::lexical;
use crate::front::token::TokenKind;

/// The token that `text` is; nothing for what the finding names and the parser cannot use.
pub(crate) fn token(
    kind: Kind,
    text: &Rc<str>,
    site: Site,
    findings: &mut Findings,
) -> Option<TokenKind> {
    match kind {
        Kind::Identifier => Some(identifier(text, site, findings)),
        Kind::Number => Some(number(text, site, findings)),
        Kind::Char => Some(TokenKind::Char(character(text, site, findings))),
        Kind::WideChar => Some(TokenKind::WideChar(character(text, site, findings))),
        Kind::String => Some(TokenKind::String(string(text, site, findings))),
        Kind::WideString => Some(TokenKind::WideString(string(text, site, findings))),
        Kind::Punctuation => punctuation(text, site, findings),
        Kind::Stray => {
            stray(text, site, findings);
            None
        }
    }
}

fn identifier(text: &Rc<str>, site: Site, findings: &mut Findings) -> TokenKind {
    let unescaped = text.strip_prefix('_');
    let name = unescaped.unwrap_or(text);
    if let Some(character) = name.chars().find(|c| !c.is_ascii()) {
        let message = format!("the letter `{character}` in the identifier {}", quoted(text));
        findings.add(&lexical::IDENTIFIER_CHARACTER, site.span, message);
    } else if !name.starts_with(|c: char| c.is_ascii_alphabetic()) {
        let message = match name.chars().next() {
            Some(first) => format!("the identifier {} begins with `_{first}`", quoted(text)),
            None => "the identifier `_` has no letter".to_owned(),
        };
        findings.add(&lexical::IDENTIFIER_START, site.span, message);
    } else if unescaped.is_some() {
        return TokenKind::Identifier { name: name.into(), is_escaped: true };
    }
    TokenKind::Identifier { name: text.clone(), is_escaped: false }
}

fn number(text: &str, site: Site, findings: &mut Findings) -> TokenKind {
    match number::read(text) {
        Ok(Number::Integer(value)) => TokenKind::Integer(value),
        Ok(Number::Float(value)) => TokenKind::Float(value),
        Ok(Number::Fixed(digits)) => TokenKind::Fixed(digits),
        Err(error) => {
            let mut finding = Diagnostic::new(error.rule, site.span, error.message);
            finding.help = error.help.map(str::to_owned);
            findings.push(finding);
            // One rather than zero, which is an error of its own in many places.
            TokenKind::Integer(1)
        }
    }
}

fn character(text: &str, site: Site, findings: &mut Findings) -> char {
    let read = escape::read(text, site, findings);
    let mut characters = read.text.chars();
    let first = characters.next();
    let count = 1 + characters.count();
    if !read.is_closed {
        let message = format!("no `'` ends {} on its line", quoted(text));
        findings.add(&lexical::UNTERMINATED_CHARACTER, site.span, message);
    } else if matches!(text, "''" | "L''") {
        let message = "a character literal without a character";
        findings.add(&lexical::EMPTY_CHARACTER, site.span, message);
    } else if count > 1 {
        let message = format!("{} holds {count} characters", quoted(text));
        let finding = Diagnostic::new(&lexical::CHARACTER_COUNT, site.span, message);
        findings.push(finding.help("a string stands between `\"`"));
    } else if first.is_some_and(|c| u32::from(c) > 0xFF) && !text.starts_with('L') {
        let message = format!("{} is no character of ISO 8859-1", quoted(text));
        let finding = Diagnostic::new(&lexical::CHARACTER_RANGE, site.span, message);
        findings.push(finding.help(format!("declare it `wchar` and write `L{text}`")));
    }
    first.unwrap_or('?')
}

fn string(text: &str, site: Site, findings: &mut Findings) -> Rc<str> {
    let read = escape::read(text, site, findings);
    if !read.is_closed {
        let message = format!("no `\"` ends {} on its line", quoted(text));
        let finding = Diagnostic::new(&lexical::UNTERMINATED_STRING, site.span, message);
        findings.push(finding.help("neighbouring strings are joined: end each on its line"));
    }
    read.text.into()
}

fn punctuation(text: &str, site: Site, findings: &mut Findings) -> Option<TokenKind> {
    const OF_IDL: [&str; 26] = [
        ";", "{", "}", ":", "::", ",", "=", "+", "-", "*", "/", "%", "~", "|", "^", "&", "<<",
        ">>", "(", ")", "<", ">", "[", "]", "@", "...",
    ];
    if let Some(punctuation) = OF_IDL.iter().find(|punctuation| **punctuation == text) {
        return Some(TokenKind::Punctuation(punctuation));
    }
    let message = format!("{} outside a directive", quoted(text));
    let mut finding = Diagnostic::new(&lexical::PREPROCESSOR_TOKEN, site.span, message);
    if text.starts_with('#') {
        finding = finding.help("a directive begins a line");
    }
    findings.push(finding);
    None
}

fn stray(text: &str, site: Site, findings: &mut Findings) {
    let count = text.chars().count();
    let message = match text.chars().next() {
        Some(only) if count == 1 && only.is_control() => {
            format!("the control character U+{:04X}", u32::from(only))
        }
        Some(only) if count == 1 => {
            format!("the character {} (U+{:04X})", quoted(text), u32::from(only))
        }
        _ => format!("the {count} characters {}", quoted(text)),
    };
    findings.add(&lexical::STRAY_CHARACTER, site.span, message);
}
