//! Comments of the interface file as doc comments, so that rustdoc and clippy take them for text.

use crate::back::rust::tokens::{TokenStream, quote};

/// The comment, or `otherwise` if there is none.
pub fn doc(comment: &Option<String>, otherwise: &str) -> TokenStream {
    let lines = match comment {
        Some(comment) if !comment.trim().is_empty() => lines(comment),
        _ => otherwise.lines().map(String::from).collect(),
    };
    let lines = lines.iter().map(|line| {
        let line = if line.is_empty() { String::new() } else { format!(" {line}") };
        quote!(#[doc = #line])
    });
    quote!(#(#lines)*)
}

/// The comment, or nothing.
pub fn optional_doc(comment: &Option<String>) -> TokenStream {
    match comment {
        Some(comment) if !comment.trim().is_empty() => doc(&Some(comment.clone()), ""),
        _ => TokenStream::new(),
    }
}

/// Lines without indentation, which would be a doc test, but for what continues a list item;
/// without brackets, which would be links or tags. A fence without a language is text. What turns
/// the direction of text, which rustc refuses in comments, is left out.
fn lines(comment: &str) -> Vec<String> {
    let turns = |letter: &char| matches!(letter, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let comment: String = comment.chars().filter(|letter| !turns(letter)).collect();
    let mut lines: Vec<String> = Vec::new();
    let mut is_code = false;
    let mut continued = 0;
    for line in comment.trim().lines() {
        let text = line.trim().replace('\t', " ");
        if text.starts_with("```") {
            lines.push(if is_code { String::from("```") } else { String::from("```text") });
            is_code = !is_code;
            continued = 0;
        } else if is_code {
            lines.push(line.trim_end().replace('\t', "    "));
        } else {
            let marker = list_marker(&text);
            let indent = if marker > 0 || text.is_empty() { 0 } else { continued };
            continued = match (marker, text.is_empty()) {
                (_, true) => 0,
                (0, false) => continued,
                (marker, false) => marker,
            };
            lines.push(format!("{:indent$}{}", "", escaped(&text)).trim_end().to_owned());
        }
    }
    if is_code {
        lines.push(String::from("```"));
    }
    lines
}

/// Bytes of the marker that begins a list item, with its space; 0 if none does.
fn list_marker(text: &str) -> usize {
    if text.starts_with("- ") || text.starts_with("* ") || text.starts_with("+ ") {
        return 2;
    }
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let rest = &text[digits..];
    if digits > 0 && (rest.starts_with(". ") || rest.starts_with(") ")) { digits + 2 } else { 0 }
}

/// Brackets outside of code, escaped.
fn escaped(text: &str) -> String {
    let mut is_code = false;
    let mut escaped = String::new();
    for letter in text.chars() {
        is_code ^= letter == '`';
        if !is_code && matches!(letter, '[' | ']' | '<' | '>') {
            escaped.push('\\');
        }
        escaped.push(letter);
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indented_text_is_no_doc_test() {
        assert_eq!(lines("One.\n\n    let x = 1;"), ["One.", "", "let x = 1;"]);
        assert_eq!(lines("```\nx\n```"), ["```text", "x", "```"]);
        assert_eq!(lines("```\nx"), ["```text", "x", "```"]);
    }

    #[test]
    fn a_list_item_goes_on_under_its_text() {
        assert_eq!(lines("- one\ntwo\n- three\n\nfour"), ["- one", "  two", "- three", "", "four"]);
        assert_eq!(lines("1. one\n two"), ["1. one", "   two"]);
    }

    #[test]
    fn what_rustc_refuses_in_comments_is_left_out() {
        assert_eq!(
            lines("to \u{202e}left\u{202c}\n```\n\u{2066}x\n```"),
            ["to left", "```text", "x", "```"]
        );
    }

    #[test]
    fn brackets_are_text_outside_of_code() {
        assert_eq!(lines("see [x] and sequence<octet>"), [r"see \[x\] and sequence\<octet\>"]);
        assert_eq!(lines("see `a[x]`"), ["see `a[x]`"]);
    }
}
