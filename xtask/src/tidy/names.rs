//! The glossary's "never say" words do not stand in the names of public items.

use super::report::Report;
use super::tokens::{Token, body_after, is_identifier, test_ranges, text_at};
use super::tree::{File, Tree};

/// Words with a better one in GLOSSARY.md, or that say nothing.
const NEVER: &[&str] = &[
    "acceptor",
    "buffer",
    "common",
    "connection",
    "coroutine",
    "data",
    "fiber",
    "get",
    "handle",
    "handler",
    "helper",
    "info",
    "manager",
    "marshaller",
    "proxy",
    "registrar",
    "session",
    "skeleton",
    "util",
    "vtable",
];

/// Names that may stand, where, and why. A name that ends in `*` allows all that begin so.
const ALLOWED: &[(&str, &str, &str)] = &[
    ("crates/nearcall/src/raw", "get_*", "reads from an A-stack: the other side of `put_`"),
    ("crates/", "handle_*", "how a machine without input and output is told something"),
    ("crates/core/src/", "common_count", "what two interfaces have in common"),
];

pub fn check(tree: &Tree) -> Report {
    let mut report = Report::new("names");
    let (mut files, mut names) = (0, 0);
    for file in tree.rust().filter(|file| file.path.starts_with("crates/") && !file.is_test()) {
        files += 1;
        for (name, line) in public_names(file) {
            names += 1;
            for word in never_said(&file.path, name) {
                let message = format!("public name `{name}` says `{word}`; see GLOSSARY.md");
                report.find(&file.path, line, message);
            }
        }
    }
    report.counted(&[(files, "files"), (names, "public names")])
}

fn never_said(path: &str, name: &str) -> Vec<String> {
    let is_allowed = ALLOWED.iter().any(|(place, allowed, _)| {
        let is_name = match allowed.strip_suffix('*') {
            Some(start) => name.starts_with(start),
            None => name == *allowed,
        };
        path.starts_with(place) && is_name
    });
    if is_allowed {
        return Vec::new();
    }
    words(name).into_iter().filter(|word| is_never_said(word)).collect()
}

fn is_never_said(word: &str) -> bool {
    NEVER.contains(&word) || word.strip_suffix('s').is_some_and(|word| NEVER.contains(&word))
}

/// `InfoTable`, `info_table`, `INFO_TABLE`: info, table.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut was_lower = false;
    for letter in name.chars() {
        if letter == '_' || (was_lower && letter.is_uppercase()) {
            words.push(String::new());
        }
        if letter != '_' {
            words.last_mut().expect("never empty").extend(letter.to_lowercase());
        }
        was_lower = letter.is_lowercase() || letter.is_numeric();
    }
    words
}

/// The names of `pub` items and of the items of `pub` traits, with their lines.
fn public_names(file: &File) -> Vec<(&str, usize)> {
    let tokens = &file.tokens;
    let tests = test_ranges(tokens);
    let mut found = Vec::new();
    for i in 0..tokens.len() {
        let in_tests = tests.iter().any(|range| range.contains(&i));
        if text_at(tokens, i) != "pub" || in_tests {
            continue;
        }
        let Some((keyword, name)) = item(tokens, i + 1) else {
            continue;
        };
        found.push((tokens[name].text.as_str(), tokens[name].line));
        if keyword == "trait" {
            found.extend(trait_items(tokens, name));
        }
    }
    found
}

/// The keyword of the item that begins at `at`, and where its name stands.
fn item(tokens: &[Token], mut at: usize) -> Option<(&str, usize)> {
    loop {
        let is_name = is_identifier(text_at(tokens, at + 1));
        match text_at(tokens, at) {
            "const" if matches!(text_at(tokens, at + 1), "fn" | "unsafe" | "async" | "extern") => {}
            "async" | "unsafe" | "extern" => {}
            literal if literal.starts_with('"') => {}
            "fn" | "struct" | "enum" | "union" | "trait" | "const" | "static" | "type" | "mod"
                if is_name =>
            {
                return Some((&tokens[at].text, at + 1));
            }
            _ => return None,
        }
        at += 1;
    }
}

fn trait_items(tokens: &[Token], name: usize) -> Vec<(&str, usize)> {
    let Some(open) = body_after(tokens, name) else {
        return Vec::new();
    };
    let end = tokens[open].mate.unwrap_or(open);
    let mut found = Vec::new();
    let mut i = open + 1;
    while i < end {
        let next = text_at(tokens, i + 1);
        let keyword = matches!(text_at(tokens, i), "fn" | "const" | "type");
        if keyword && is_identifier(next) && next != "fn" {
            found.push((next, tokens[i].line));
        }
        i = tokens[i].mate.unwrap_or(i) + 1;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::canary;

    const PATH: &str = "crates/nearcall/src/a.rs";

    #[test]
    fn words_of_the_never_list_are_found() {
        for text in [
            "pub struct SessionTable;",
            "pub fn get_turn() {}",
            "pub const fn util_max() -> u32 { 1 }",
            "pub const INFO_BYTES: u32 = 1;",
            "impl A { pub unsafe fn open_connections(&self) {} }",
            "pub trait Server { fn handler(&self); }",
            "macro_rules! a { () => { pub struct DataManager; } }",
        ] {
            canary::finds(check, &[(PATH, text)], "see GLOSSARY.md");
        }
    }

    #[test]
    fn private_names_and_longer_words_pass() {
        let text = "struct Session; pub(crate) fn get() {} pub struct Metadata; fn a() {}";
        canary::passes(check, &[(PATH, text)]);
        canary::passes(check, &[("xtask/src/a.rs", "pub struct Session;")]);
    }

    #[test]
    fn allowed_names_pass_where_they_are_allowed() {
        let text = "pub fn get_u8() {}";
        canary::passes(check, &[("crates/nearcall/src/raw/call.rs", text)]);
        canary::finds(check, &[(PATH, text)], "`get`");
    }
}
