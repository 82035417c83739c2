//! Names of an interface file as Rust writes them, and words that Rust keeps for itself.

use crate::back::rust::tokens::Ident;

/// How a kind of thing is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Case {
    /// Types, variants.
    Camel,
    /// Functions, fields, modules.
    Snake,
    /// Constants.
    Screaming,
}

/// Keywords of any edition that can be written `r#so`.
const KEYWORDS: &[&str] = &[
    "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "do", "dyn",
    "else", "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "let",
    "loop", "macro", "match", "mod", "move", "mut", "override", "priv", "pub", "ref", "return",
    "static", "struct", "trait", "true", "try", "type", "typeof", "unsafe", "unsized", "use",
    "virtual", "where", "while", "yield",
];

/// Keywords that cannot be escaped.
const FIXED: &[&str] = &["self", "Self", "super", "crate"];

/// A name in this case; one that Rust does not allow gets a `_` behind it.
pub fn cased(name: &str, case: Case) -> String {
    let words = words(name);
    let mut text = match case {
        Case::Camel => words.iter().map(|word| capitalized(word)).collect(),
        Case::Snake => words.join("_").to_lowercase(),
        Case::Screaming => words.join("_").to_uppercase(),
    };
    if text.is_empty() || text.starts_with(|first: char| first.is_ascii_digit()) {
        text.insert(0, '_');
    }
    if FIXED.contains(&text.as_str()) || text == "_" {
        text.push('_');
    }
    text
}

/// The identifier; a keyword becomes a raw one.
pub fn ident(name: &str) -> Ident {
    if KEYWORDS.contains(&name) { Ident::new(format!("r#{name}")) } else { Ident::new(name) }
}

/// Words of a name: between underscores, and where the case says that one begins.
fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for part in name.split('_').filter(|part| !part.is_empty()) {
        let letters: Vec<char> = part.chars().collect();
        let mut word = String::new();
        for (index, letter) in letters.iter().enumerate() {
            let before = index.checked_sub(1).map(|before| letters[before]);
            let is_rise = before.is_some_and(|before| !before.is_uppercase());
            let is_last_of_run =
                letters.get(index + 1).is_some_and(|after| after.is_lowercase()) && index > 0;
            if letter.is_uppercase() && (is_rise || is_last_of_run) {
                words.push(std::mem::take(&mut word));
            }
            word.push(*letter);
        }
        words.push(word);
    }
    words
}

fn capitalized(word: &str) -> String {
    let mut letters = word.chars();
    let first = letters.next().map(|first| first.to_uppercase().to_string());
    first.unwrap_or_default() + &letters.as_str().to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(name: &str, want: [&str; 3]) {
        let all = [Case::Camel, Case::Snake, Case::Screaming];
        assert_eq!(all.map(|case| cased(name, case)), want.map(String::from), "{name}");
    }

    #[test]
    fn words_are_found_by_underscores_and_by_case() {
        check("pfs_write", ["PfsWrite", "pfs_write", "PFS_WRITE"]);
        check("readOnly", ["ReadOnly", "read_only", "READ_ONLY"]);
        check("HTTPServer", ["HttpServer", "http_server", "HTTP_SERVER"]);
        check("READ_WRITE", ["ReadWrite", "read_write", "READ_WRITE"]);
        check("Vec3D", ["Vec3D", "vec3_d", "VEC3_D"]);
        check("__a__b__", ["AB", "a_b", "A_B"]);
    }

    #[test]
    fn a_name_that_rust_keeps_gets_an_underscore() {
        check("self", ["Self_", "self_", "SELF"]);
        check("crate", ["Crate", "crate_", "CRATE"]);
        check("_1", ["_1", "_1", "_1"]);
    }

    #[test]
    fn a_keyword_becomes_a_raw_identifier() {
        assert_eq!(ident("gen").to_string(), "r#gen");
        assert_eq!(ident("generation").to_string(), "generation");
    }
}
