//! The code in what users read first is that of programs which are compiled: each block stands in a
//! file, word for word.
//!
//! A block of a language we compile follows a line `<!-- from PATH -->`. Spaces and line breaks may
//! differ; a line `// …` stands for what is left out.

use super::report::Report;
use super::tree::Tree;

/// The languages whose blocks must come from a file.
const LANGUAGES: &[&str] = &["rust", "idl", "toml", "c", "cpp"];

const DOCUMENTS: [&str; 3] = ["README.md", "docs/c-and-cpp.md", "docs/system-calls.md"];

pub fn check(tree: &Tree) -> Report {
    let mut report = Report::new("excerpts");
    let mut checked = 0;
    for document in tree.files.iter().filter(|file| DOCUMENTS.contains(&file.path.as_str())) {
        for block in blocks(&document.text) {
            checked += 1;
            if let Some(what) = wrong(tree, &block) {
                report.find(&document.path, block.line, what);
            }
        }
    }
    report.counted(&[(checked, "code blocks")])
}

/// What is wrong with a block.
fn wrong(tree: &Tree, block: &Block<'_>) -> Option<String> {
    let Some(path) = block.from else {
        return Some("a code block without `<!-- from PATH -->` above".to_owned());
    };
    match tree.files.iter().find(|file| file.path == path) {
        None => Some(format!("is from {path}, which does not exist")),
        Some(file) if contains(&file.text, &block.lines) => None,
        Some(_) => Some(format!("does not stand in {path} like this")),
    }
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
    fn blocks_in_c_are_from_programs_in_c() {
        let guide = "<!-- from a.c -->\n```c\none();\n```\n";
        let program = ("a.c", "int main(void) {\n    one();\n}\n");
        canary::passes(check, &[program, ("docs/c-and-cpp.md", guide)]);
        let other = ("a.c", "int main(void) {\n    two();\n}\n");
        canary::finds(check, &[other, ("docs/c-and-cpp.md", guide)], "does not stand in a.c");
    }

    #[test]
    fn other_languages_are_not_checked() {
        canary::passes(check, &[("README.md", "```console\n$ cargo test\n```\n")]);
    }
}
