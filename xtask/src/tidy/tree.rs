//! The files of the tree, read once for all checks.

use std::path::Path;

use walkdir::{DirEntry, WalkDir};

use super::report::Report;
use super::tokens::{Token, tokens};

/// Where the compiler's inputs and goldens stand.
pub const GOLDENS: &str = "tests/idl/";

/// A directory and every file below it that is part of the project.
pub struct Tree {
    pub root: std::path::PathBuf,
    /// Sorted by path.
    pub files: Vec<File>,
}

/// One file; only text that a check reads is kept.
pub struct File {
    /// From the root, with `/`.
    pub path: String,
    pub text: String,
    /// Of a Rust file.
    pub tokens: Vec<Token>,
    broken: Option<String>,
}

impl Tree {
    /// Reads the tree at `root`, without version control and what was built.
    pub fn read(root: &Path) -> Self {
        let mut files = Vec::new();
        let walk = WalkDir::new(root).sort_by_file_name();
        for entry in walk.into_iter().filter_entry(is_ours).filter_map(Result::ok) {
            if entry.file_type().is_file() {
                files.push(File::read(root, entry.path()));
            }
        }
        Self { root: root.to_path_buf(), files }
    }

    /// The Rust files that people write.
    pub fn rust(&self) -> impl Iterator<Item = &File> {
        self.all_rust().filter(|file| !file.path.starts_with(GOLDENS))
    }

    /// The Rust files, goldens among them.
    pub fn all_rust(&self) -> impl Iterator<Item = &File> {
        self.files.iter().filter(|file| file.is_rust())
    }

    pub fn ending<'a>(&'a self, suffix: &'a str) -> impl Iterator<Item = &'a File> {
        self.files.iter().filter(move |file| file.path.ends_with(suffix))
    }

    pub fn has(&self, path: &str) -> bool {
        self.root.join(path).exists()
    }
}

impl File {
    fn read(root: &Path, path: &Path) -> Self {
        let relative = path.strip_prefix(root).expect("walked from the root");
        let mut file = Self {
            path: relative.to_string_lossy().replace('\\', "/"),
            text: String::new(),
            tokens: Vec::new(),
            broken: None,
        };
        if !file.is_text() {
            return file;
        }
        match std::fs::read_to_string(path) {
            Ok(text) => file.text = text,
            Err(error) => file.broken = Some(format!("cannot be read: {error}")),
        }
        if file.is_rust() {
            match tokens(&file.text) {
                Ok(tokens) => file.tokens = tokens,
                Err(error) => file.broken = Some(error),
            }
        }
        file
    }

    pub fn is_rust(&self) -> bool {
        self.path.ends_with(".rs")
    }

    fn is_text(&self) -> bool {
        self.is_code() || [".md", ".toml", ".idl"].iter().any(|end| self.path.ends_with(end))
    }

    /// A file that is compiled, and has comments of two strokes, or of a stroke and a star.
    pub fn is_code(&self) -> bool {
        [".rs", ".c", ".cpp"].iter().any(|end| self.path.ends_with(end))
    }

    /// A file of tests: nothing of it is compiled into what is shipped.
    pub fn is_test(&self) -> bool {
        let path = self.path.as_str();
        path.ends_with("/tests.rs") || path.split('/').any(|part| part == "tests")
    }
}

fn is_ours(entry: &DirEntry) -> bool {
    let name = entry.file_name().to_string_lossy();
    let is_hidden = name.starts_with('.') && name.len() > 1;
    let is_listed = matches!(&*name, ".ci" | ".cargo" | ".gitignore");
    entry.depth() == 0 || (name != "target" && (!is_hidden || is_listed))
}

/// Every Rust file can be read and split into tokens; the other checks rely on it.
pub fn check(tree: &Tree) -> Report {
    let mut report = Report::new("files");
    for file in &tree.files {
        if let Some(error) = &file.broken {
            report.find(&file.path, 0, error);
        }
    }
    let rust = tree.all_rust().count();
    report.counted(&[(tree.files.len(), "files"), (rust, "of them Rust")])
}

/// The comment that belongs to the statement on `line` (from 1): on the line itself, or right
/// above the statement's first line. The module's own documentation belongs to none.
pub fn comment_for(text: &str, line: usize) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let mut comment = String::new();
    let own = lines.get(line - 1).copied().unwrap_or("");
    if let Some((_, after)) = own.split_once("//") {
        comment.push_str(after);
    }
    let mut above = lines[..line - 1].iter().rev().map(|line| line.trim()).peekable();
    let mut continued = 0;
    while let Some(line) = above.peek() {
        let ends = line.is_empty() || line.ends_with([';', '{', '}']);
        if line.starts_with("//") || ends || continued == STATEMENT_LINES_MAX {
            break;
        }
        continued += usize::from(!line.starts_with("#["));
        above.next();
    }
    let is_part = |line: &&str| line.starts_with("//") || line.starts_with("#[");
    for line in above.take_while(|line| is_part(line) && !line.starts_with("//!")) {
        comment.insert(0, '\n');
        comment.insert_str(0, line);
    }
    comment
}

/// A comment further above its statement's line than this does not count.
const STATEMENT_LINES_MAX: usize = 8;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::canary;

    #[test]
    fn a_file_that_is_not_rust_is_found() {
        canary::finds(check, &[("src/lib.rs", "fn a( {")], "not Rust");
        canary::passes(check, &[("src/lib.rs", "fn a() {}")]);
    }

    #[test]
    fn what_was_built_is_not_read() {
        let (_directory, tree) = canary::plant(&[("target/x.rs", "("), ("a/.git/y.rs", "(")]);
        assert_eq!(tree.files.len(), 0);
    }

    #[test]
    fn a_comment_is_above_its_statement_or_on_its_line() {
        let text = "// SAFETY: one\nlet a =\n    unsafe { b() };\nlet c = unsafe { d() };";
        assert!(comment_for(text, 3).contains("one"));
        assert!(comment_for(text, 4).is_empty());
        assert!(comment_for("x; // SAFETY: two", 1).contains("two"));
    }
}
