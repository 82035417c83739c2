//! What is named exists: paths in backticks and links in documents, and the documents that a
//! comment cites by number.

use super::report::Report;
use super::tree::{File, Tree};

/// A span that begins with one of these is a path from the root.
const PLACES: &[&str] = &[
    ".cargo/",
    ".ci/",
    "bench/",
    "bindings/",
    "crates/",
    "docs/",
    "examples/",
    "testkit/",
    "tests/",
    "xtask/",
];

/// A span with one of these endings and no directory is a file in the root.
const ROOT_FILES: &[&str] = &[".md", ".toml"];

/// Where a cited document may stand.
const CITED_IN: &[&str] = &["", "docs/"];

/// A shorter word in capitals is not taken for a document.
const TITLE_LETTERS_MIN: usize = 5;

pub fn check(tree: &Tree) -> Report {
    let mut report = Report::new("paths");
    let (mut documents, mut named, mut cited) = (0, 0, 0);
    for file in tree.ending(".md") {
        documents += 1;
        for (line, path) in paths_of(file) {
            named += 1;
            if !tree.has(&path) {
                let message = format!("names `{path}`, which does not exist");
                report.find(&file.path, line, message);
            }
        }
    }
    for file in &tree.files {
        for (line, title) in citations_of(file) {
            cited += 1;
            let exists = CITED_IN.iter().any(|place| tree.has(&format!("{place}{title}.md")));
            if !exists {
                let message = format!("cites {title}, but there is no {title}.md");
                report.find(&file.path, line, message);
            }
        }
    }
    report.counted(&[(documents, "documents"), (named + cited, "paths and citations")])
}

/// The documents that comments and documents cite, as in a title in capitals and a number.
fn citations_of(file: &File) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    for (i, line) in file.text.lines().enumerate() {
        let is_comment = ["//", "/*", "*"].iter().any(|begin| line.trim_start().starts_with(begin));
        if file.is_code() && !is_comment {
            continue;
        }
        let mut words = line.split(' ').map(|word| word.trim_start_matches(['(', '`'])).peekable();
        while let Some(word) = words.next() {
            let is_title = word.len() >= TITLE_LETTERS_MIN
                && word.chars().all(|letter| letter.is_ascii_uppercase());
            let is_numbered =
                words.peek().is_some_and(|next| next.starts_with(|c: char| c.is_ascii_digit()));
            if is_title && is_numbered {
                found.push((i + 1, word));
            }
        }
    }
    found
}

/// The paths that a document names, from the root, each with its line.
fn paths_of(file: &File) -> Vec<(usize, String)> {
    let folder = file.path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let mut found = Vec::new();
    let mut is_fenced = false;
    for (i, line) in file.text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            is_fenced = !is_fenced;
        } else if !is_fenced {
            found.extend(spans(line).filter_map(path_in_span).map(|path| (i + 1, path)));
            found.extend(links(line).map(|link| (i + 1, joined(folder, link))));
        }
    }
    found
}

/// What stands in backticks.
fn spans(line: &str) -> impl Iterator<Item = &str> {
    line.split('`').skip(1).step_by(2)
}

fn path_in_span(span: &str) -> Option<String> {
    let is_path = PLACES.iter().any(|place| span.starts_with(place));
    let is_root_file = !span.contains('/') && ROOT_FILES.iter().any(|end| span.ends_with(end));
    if !(is_path || is_root_file) || span.contains([' ', '(']) {
        return None;
    }
    let span = span.split([':', '#']).next().unwrap_or(span);
    // Of a pattern, the part before its first wild word.
    let parts = span.split('/').take_while(|part| !part.contains(['*', '<', '{', '.', 'N']));
    let fixed: Vec<_> = parts.collect();
    let is_whole = !span.contains(['*', '<', '{']) && !span.contains("NN");
    Some(if is_whole { span.to_owned() } else { fixed.join("/") })
}

/// The targets of `[text](target)` that are files.
fn links(line: &str) -> impl Iterator<Item = &str> {
    let targets = line.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    let files = targets.filter(|target| !target.contains("://") && !target.starts_with('#'));
    files.map(|target| target.split('#').next().unwrap_or(target))
}

fn joined(folder: &str, link: &str) -> String {
    let mut parts: Vec<_> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in link.split('/') {
        match part {
            ".." => drop(parts.pop()),
            "." | "" => {}
            _ => parts.push(part),
        }
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::canary;

    #[test]
    fn a_path_that_does_not_exist_is_found() {
        canary::finds(check, &[("a.md", "see `crates/moved/src/lib.rs`")], "crates/moved");
        canary::finds(check, &[("a.md", "see `crates/*/src`")], "names `crates`");
        canary::finds(check, &[("a.md", "see `GONE.md`")], "GONE.md");
    }

    #[test]
    fn a_link_that_leads_nowhere_is_found() {
        canary::finds(check, &[("docs/a.md", "see [b](../b.md)")], "names `b.md`");
        canary::passes(check, &[("docs/a.md", "see [b](../b.md#c)"), ("b.md", "# b")]);
        canary::passes(check, &[("a.md", "see [b](https://example.org/b) and [c](#c)")]);
    }

    #[test]
    fn a_citation_of_a_document_that_is_not_there_is_found() {
        let text = "// As it was decided (NOWHERE 3).\n";
        canary::finds(check, &[("a.rs", text)], "cites NOWHERE");
        canary::finds(check, &[("a.md", text)], "cites NOWHERE");
        canary::passes(check, &[("a.rs", text), ("docs/NOWHERE.md", "")]);
        canary::passes(check, &[("a.rs", "// NOWHERE, RFC 3, ABCDE x\nf(\"NOWHERE 3\")")]);
        canary::finds(check, &[("a.c", "/* As decided\n * (NOWHERE 3). */\n")], "cites NOWHERE");
        canary::passes(check, &[("a.c", "#define NOWHERE 3\n")]);
    }

    #[test]
    fn what_exists_and_what_is_no_path_passes() {
        let text = "`docs/a.md:3` and `docs/NNNN-title.md`, `u8`, `a/b`, `cargo run`\n";
        canary::passes(check, &[("docs/a.md", text)]);
        canary::passes(check, &[("a.md", "```\n`crates/in/code`\n```\n")]);
    }
}
