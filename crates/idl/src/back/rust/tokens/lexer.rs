//! Tokens of a text in Rust, which is what the back end itself wrote as text: self-tests.

use crate::back::rust::tokens::{ToTokens, TokenStream};

/// Longest first, so that none is found as the beginning of another.
const OPERATORS: [&str; 24] = [
    "..=", "...", "<<=", ">>=", "::", "->", "=>", "==", "!=", "<=", ">=", "&&", "||", "..", "+=",
    "-=", "*=", "/=", "%=", "^=", "&=", "|=", "<<", ">>",
];

/// The tokens, with doc comments as attributes.
pub fn tokens(text: &str) -> TokenStream {
    let mut all = TokenStream::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        rest = match rest.strip_prefix("//") {
            Some(comment) => {
                let (line, after) = comment.split_once('\n').unwrap_or((comment, ""));
                push_comment(&mut all, line);
                after
            }
            None => {
                let (token, after) = rest.split_at(token_bytes(rest));
                all.push(token);
                all.push("\n");
                after
            }
        }
        .trim_start();
    }
    all
}

fn push_comment(all: &mut TokenStream, line: &str) {
    let (head, text) = match (line.strip_prefix('/'), line.strip_prefix('!')) {
        (Some(text), _) => ("#\n[\ndoc\n=\n", text),
        (_, Some(text)) => ("#\n!\n[\ndoc\n=\n", text),
        _ => return,
    };
    all.push(head);
    text.to_tokens(all);
    all.push("]\n");
}

/// How long the token at the beginning is.
fn token_bytes(text: &str) -> usize {
    let first = text.chars().next().unwrap_or_default();
    let is_inside = |letter: char| letter.is_alphanumeric() || letter == '_';
    let word = |text: &str| text.find(|letter| !is_inside(letter)).unwrap_or(text.len());
    if first == '"' || text.starts_with("b\"") {
        let begin = text.find('"').unwrap_or_default() + 1;
        return begin + quoted_bytes(&text[begin..], b'"');
    }
    if let Some(rest) = text.strip_prefix("b'") {
        return 2 + quoted_bytes(rest, b'\'');
    }
    if first == '\'' {
        let after = text[1..].chars().next().unwrap_or_default();
        let is_lifetime = is_inside(after) && !text[1 + after.len_utf8()..].starts_with('\'');
        return 1 + if is_lifetime { word(&text[1..]) } else { quoted_bytes(&text[1..], b'\'') };
    }
    if let Some(rest) = text.strip_prefix("r#") {
        return 2 + word(rest);
    }
    if first.is_ascii_digit() {
        let whole = word(text);
        let fraction = text[whole..].strip_prefix('.').filter(|rest| rest.starts_with(is_digit));
        return whole + fraction.map_or(0, |rest| 1 + word(rest));
    }
    if is_inside(first) {
        return word(text);
    }
    let operator = OPERATORS.iter().find(|operator| text.starts_with(**operator));
    operator.map_or(first.len_utf8(), |operator| operator.len())
}

fn is_digit(letter: char) -> bool {
    letter.is_ascii_digit()
}

/// How long the rest of a literal is, with the quotation mark at its end.
fn quoted_bytes(text: &str, mark: u8) -> usize {
    let mut is_escaped = false;
    let end = text.bytes().position(|byte| {
        let is_end = byte == mark && !is_escaped;
        is_escaped = byte == b'\\' && !is_escaped;
        is_end
    });
    end.map_or(text.len(), |end| end + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, want: &[&str]) {
        assert_eq!(tokens(text).tokens().collect::<Vec<_>>(), want, "{text}");
    }

    #[test]
    fn text_is_cut_into_tokens() {
        check("let a_1=b::c(-1);", &["let", "a_1", "=", "b", "::", "c", "(", "-", "1", ")", ";"]);
        check("0..=x.0 1.5f32 0x1f", &["0", "..=", "x", ".", "0", "1.5f32", "0x1f"]);
        check(r#"f("a \" b")"#, &["f", "(", r#""a \" b""#, ")"]);
        check(r"'a '\'' 'x' '\u{e9}' 'é'", &["'a", r"'\''", "'x'", r"'\u{e9}'", "'é'"]);
        check("r#fn b' ' Vec<Vec<u8>>", &["r#fn", "b' '", "Vec", "<", "Vec", "<", "u8", ">>"]);
    }

    #[test]
    fn documentation_is_kept_and_comments_are_not() {
        check("/// One \"two\"\n// no\nx", &["#", "[", "doc", "=", r#"" One \"two\"""#, "]", "x"]);
        check("//! One", &["#", "!", "[", "doc", "=", "\" One\"", "]"]);
    }
}
