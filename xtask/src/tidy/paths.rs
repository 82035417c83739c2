//! What a document names exists: paths in backticks, and links to files.

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

pub fn check(tree: &Tree) -> Report {
    let mut report = Report::new("paths");
    let (mut documents, mut named) = (0, 0);
    for file in tree.ending(".md") {
        documents += 1;
        for (line, path) in paths_of(file) {
            named += 1;
            if !tree.has(&path) {
                report.find(
                    &file.path,
                    line,
                    format!("names `{path}`, which does not exist"),
                );
            }
        }
    }
    report.counted(&[(documents, "documents"), (named, "paths")])
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
            found.extend(
                spans(line)
                    .filter_map(path_in_span)
                    .map(|path| (i + 1, path)),
            );
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
    let parts = span
        .split('/')
        .take_while(|part| !part.contains(['*', '<', '{', '.', 'N']));
    let fixed: Vec<_> = parts.collect();
    let is_whole = !span.contains(['*', '<', '{']) && !span.contains("NN");
    Some(if is_whole {
        span.to_owned()
    } else {
        fixed.join("/")
    })
}

/// The targets of `[text](target)` that are files.
fn links(line: &str) -> impl Iterator<Item = &str> {
    let targets = line
        .split("](")
        .skip(1)
        .filter_map(|rest| rest.split(')').next());
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
        canary::finds(
            check,
            &[("a.md", "see `crates/moved/src/lib.rs`")],
            "crates/moved",
        );
        canary::finds(check, &[("a.md", "see `crates/*/src`")], "names `crates`");
        canary::finds(check, &[("a.md", "see `GONE.md`")], "GONE.md");
    }

    #[test]
    fn a_link_that_leads_nowhere_is_found() {
        canary::finds(check, &[("docs/a.md", "see [b](../b.md)")], "names `b.md`");
        canary::passes(
            check,
            &[("docs/a.md", "see [b](../b.md#c)"), ("b.md", "# b")],
        );
        canary::passes(
            check,
            &[("a.md", "see [b](https://example.org/b) and [c](#c)")],
        );
    }

    #[test]
    fn what_exists_and_what_is_no_path_passes() {
        let text = "`docs/a.md:3` and `docs/NNNN-title.md`, `u8`, `a/b`, `cargo run`\n";
        canary::passes(check, &[("docs/a.md", text)]);
        canary::passes(check, &[("a.md", "```\n`crates/in/code`\n```\n")]);
    }
}
