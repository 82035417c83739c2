//! The code in README.md is the code of an example: each block stands in a file, word for word.
//!
//! A block of a language we compile follows a line `<!-- from PATH -->`. Spaces and line breaks may
//! differ; a line `// …` stands for what is left out.

use super::report::Report;
use super::tree::Tree;

/// The languages whose blocks must come from a file.
const LANGUAGES: &[&str] = &["rust", "idl", "toml"];

const DOCUMENT: &str = "README.md";

pub fn check(tree: &Tree) -> Report {
    let mut report = Report::new("excerpts");
    let mut checked = 0;
    let text = tree.files.iter().find(|file| file.path == DOCUMENT).map_or("", |file| &file.text);
    for block in blocks(text) {
        checked += 1;
        let Some(path) = block.from else {
            report.find(DOCUMENT, block.line, "a code block without `<!-- from PATH -->` above");
            continue;
        };
        let Some(file) = tree.files.iter().find(|file| file.path == path) else {
            report.find(DOCUMENT, block.line, format!("is from {path}, which does not exist"));
            continue;
        };
        if !contains(&file.text, &block.lines) {
            report.find(DOCUMENT, block.line, format!("does not stand in {path} like this"));
        }
    }
    report.counted(&[(checked, "code blocks")])
}

struct Block<'a> {
    /// Of the opening fence.
    line: usize,
    from: Option<&'a str>,
    lines: Vec<&'a str>,
}

fn blocks(text: &str) -> Vec<Block<'_>> {
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let mut blocks = Vec::new();
    let mut at = 0;
    while at < lines.len() {
        let Some(language) = lines[at].strip_prefix("```") else {
            at += 1;
            continue;
        };
        let body = lines[at + 1..].iter().position(|line| *line == "```");
        let end = at + 1 + body.unwrap_or(lines.len() - at - 1);
        if LANGUAGES.contains(&language) {
            let above = lines[..at].iter().rev().find(|line| !line.is_empty());
            let from = above.and_then(|line| line.strip_prefix("<!-- from "));
            let from = from.and_then(|line| line.strip_suffix(" -->"));
            blocks.push(Block { line: at + 1, from, lines: lines[at + 1..end].to_vec() });
        }
        at = end + 1;
    }
    blocks
}

/// What stands for lines that are left out.
const LEFT_OUT: &str = "// …";

/// Whether the parts between the gaps stand in `text`, one after the other, however both are
/// broken into lines and indented.
fn contains(text: &str, wanted: &[&str]) -> bool {
    let text = without_space(text);
    let mut rest = text.as_str();
    for part in wanted.split(|line| *line == LEFT_OUT) {
        let part = without_space(&part.concat());
        let Some(at) = rest.find(&part).filter(|_| !part.is_empty()) else {
            return false;
        };
        rest = &rest[at + part.len()..];
    }
    true
}

fn without_space(text: &str) -> String {
    text.chars().filter(|letter| !letter.is_whitespace()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::canary;

    const FILE: (&str, &str) = ("a.rs", "fn main() {\n    one();\n    two();\n}\n");

    fn readme(block: &str) -> String {
        format!("<!-- from a.rs -->\n```rust\n{block}```\n")
    }

    #[test]
    fn a_block_that_differs_from_its_file_is_found() {
        let text = readme("one();\nthree();\n");
        canary::finds(check, &[FILE, ("README.md", &text)], "does not stand in a.rs");
        let text = readme("one();\ntwo();\n");
        canary::passes(check, &[FILE, ("README.md", &text)]);
    }

    #[test]
    fn what_is_left_out_is_between_what_stands_there_in_order() {
        let text = readme("fn main() {\n// …\ntwo();\n}\n");
        canary::passes(check, &[FILE, ("README.md", &text)]);
        let text = readme("two();\n// …\none();\n");
        canary::finds(check, &[FILE, ("README.md", &text)], "does not stand in a.rs");
        let text = readme("// …\none();\n");
        canary::finds(check, &[FILE, ("README.md", &text)], "does not stand in a.rs");
    }

    #[test]
    fn a_block_from_nowhere_is_found() {
        let text = "```rust\none();\n```\n";
        canary::finds(check, &[("README.md", text)], "without `<!-- from PATH -->`");
        let text = readme("one();\n");
        canary::finds(check, &[("README.md", &text)], "a.rs, which does not exist");
    }

    #[test]
    fn other_languages_are_not_checked() {
        canary::passes(check, &[("README.md", "```console\n$ cargo test\n```\n")]);
    }
}
