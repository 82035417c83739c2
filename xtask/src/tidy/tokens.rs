//! Rust as a flat list of tokens.
//!
//! Tokens, not text, so that strings and comments are never taken for code; tokens, not a syntax
//! tree, so that what stands inside a macro call is seen like everything else.

use std::ops::Range;
use std::str::FromStr;

use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// One token. Doc comments are tokens of a `#[doc = ".."]`; other comments are gone.
#[derive(Clone, Debug)]
pub struct Token {
    pub text: String,
    /// From 1.
    pub line: usize,
    /// For an opening bracket, the index of the one that closes it.
    pub mate: Option<usize>,
}

/// The tokens of a file, or why it has none.
pub fn tokens(text: &str) -> Result<Vec<Token>, String> {
    let stream = TokenStream::from_str(text).map_err(|error| {
        let line = error.span().start().line;
        format!("not Rust: {error} at line {line}")
    })?;
    let mut flat = Vec::new();
    flatten(stream, &mut flat);
    Ok(flat)
}

fn flatten(stream: TokenStream, flat: &mut Vec<Token>) {
    for tree in stream {
        let line = tree.span().start().line;
        let TokenTree::Group(group) = tree else {
            flat.push(Token { text: tree.to_string(), line, mate: None });
            continue;
        };
        let (open, close) = match group.delimiter() {
            Delimiter::Parenthesis => ("(", ")"),
            Delimiter::Bracket => ("[", "]"),
            Delimiter::Brace => ("{", "}"),
            Delimiter::None => ("", ""),
        };
        let at = flat.len();
        flat.push(Token { text: open.to_owned(), line, mate: None });
        flatten(group.stream(), flat);
        flat[at].mate = Some(flat.len());
        let line = group.span_close().end().line;
        flat.push(Token { text: close.to_owned(), line, mate: None });
    }
}

/// Whether the tokens from `at` on are exactly these.
pub fn is_at(tokens: &[Token], at: usize, texts: &[&str]) -> bool {
    texts.iter().enumerate().all(|(i, text)| text_at(tokens, at + i) == *text)
}

/// The text of a token; empty past the end.
pub fn text_at(tokens: &[Token], at: usize) -> &str {
    tokens.get(at).map_or("", |token| token.text.as_str())
}

/// The first `{` from `at` on that is not inside another bracket and comes before a `;`.
pub fn body_after(tokens: &[Token], at: usize) -> Option<usize> {
    let mut i = at;
    while let Some(token) = tokens.get(i) {
        match (token.text.as_str(), token.mate) {
            ("{", _) => return Some(i),
            (";" | ")" | "]" | "}", _) => return None,
            (_, Some(mate)) => i = mate,
            _ => {}
        }
        i += 1;
    }
    None
}

/// A function with a body.
pub struct Function<'a> {
    pub name: &'a str,
    pub line: usize,
    /// From the line of `fn` to that of the closing brace.
    pub lines: usize,
}

/// Every function with a body, in macros too.
pub fn functions(tokens: &[Token]) -> Vec<Function<'_>> {
    let mut found = Vec::new();
    for (i, token) in tokens.iter().enumerate() {
        let name = text_at(tokens, i + 1);
        if token.text != "fn" || !is_identifier(name) {
            continue;
        }
        let Some(end) = body_after(tokens, i + 2).and_then(|open| tokens[open].mate) else {
            continue;
        };
        let lines = tokens[end].line - token.line + 1;
        found.push(Function { name, line: token.line, lines });
    }
    found
}

/// The token ranges of what stands under `#[cfg(test)]` in braces.
pub fn test_ranges(tokens: &[Token]) -> Vec<Range<usize>> {
    let cfg = ["#", "[", "cfg", "(", "test", ")", "]"];
    let starts = (0..tokens.len()).filter(|i| is_at(tokens, *i, &cfg));
    let bodies = starts.filter_map(|i| body_after_attributes(tokens, i));
    bodies.filter_map(|open| Some(open..tokens[open].mate?)).collect()
}

fn body_after_attributes(tokens: &[Token], mut at: usize) -> Option<usize> {
    while is_at(tokens, at, &["#", "["]) {
        at = tokens[at + 1].mate? + 1;
    }
    body_after(tokens, at)
}

pub fn is_identifier(text: &str) -> bool {
    text.starts_with(|first: char| first.is_alphabetic() || first == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_and_comments_are_not_tokens() {
        let tokens = tokens("let a = \"unsafe {}\"; // unsafe\n").unwrap();
        assert!(tokens.iter().all(|token| token.text != "unsafe"));
    }

    #[test]
    fn functions_in_macros_are_found_with_their_length() {
        let tokens = tokens("model! {\n  fn a() -> [u8; 2] {\n    1\n  }\n}\nfn b();").unwrap();
        let found = functions(&tokens);
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].name, found[0].line, found[0].lines), ("a", 2, 3));
    }

    #[test]
    fn test_modules_are_ranges() {
        let tokens = tokens("fn a() {} #[cfg(test)] #[rustfmt::skip] mod tests { x }").unwrap();
        let ranges = test_ranges(&tokens);
        let x = tokens.iter().position(|token| token.text == "x").unwrap();
        assert!(ranges.len() == 1 && ranges[0].contains(&x));
    }

    #[test]
    fn what_is_not_rust_is_said() {
        assert!(tokens("fn a( {").unwrap_err().starts_with("not Rust"));
    }
}
