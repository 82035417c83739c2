//! Nothing half done: no marker words, no placeholder macros, no test that is switched off.

use super::report::Report;
use super::tokens::{is_at, text_at};
use super::tree::{File, Tree};

/// Written apart, so that this file has none.
const WORDS: &[&str] = &[concat!("TO", "DO"), concat!("FIX", "ME"), concat!("XX", "X")];

const MACROS: &[&str] = &["dbg", "todo", "unimplemented"];

pub fn check(tree: &Tree) -> Report {
    let mut report = Report::new("markers");
    let (mut files, mut lines) = (0, 0);
    for file in tree.files.iter().filter(|file| !file.text.is_empty()) {
        files += 1;
        for (i, line) in file.text.lines().enumerate() {
            lines += 1;
            for word in line.split(|c: char| !c.is_alphanumeric() && c != '_') {
                if WORDS.contains(&word) {
                    report.find(&file.path, i + 1, format!("`{word}`: do it or say it elsewhere"));
                }
            }
        }
        code(file, &mut report);
    }
    report.counted(&[(files, "files"), (lines, "lines")])
}

fn code(file: &File, report: &mut Report) {
    for (i, token) in file.tokens.iter().enumerate() {
        let is_macro = MACROS.contains(&token.text.as_str());
        if is_macro && text_at(&file.tokens, i + 1) == "!" {
            report.find(&file.path, token.line, format!("`{}!` is not code", token.text));
        }
        if is_at(&file.tokens, i, &["#", "[", "ignore"]) {
            report.find(&file.path, token.line, "a test that is switched off tests nothing");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::canary;

    #[test]
    fn marker_words_are_found_in_code_and_documents() {
        for word in WORDS {
            let text = format!("// {word}: later\n");
            canary::finds(check, &[("a.rs", &text)], word);
            canary::finds(check, &[("a.md", &text)], word);
        }
        canary::passes(check, &[("a.md", "mkdtemp takes XXXXXX\n")]);
    }

    #[test]
    fn placeholder_macros_are_found() {
        for name in MACROS {
            let text = format!("fn a() {{ {name}!() }}");
            canary::finds(check, &[("a.rs", &text)], "is not code");
        }
    }

    #[test]
    fn a_test_that_is_switched_off_is_found() {
        let text = "#[test]\n#[ignore = \"slow\"]\nfn a() {}\n";
        canary::finds(check, &[("a.rs", text)], "switched off");
    }
}
