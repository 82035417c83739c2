//! Planting bad trees: each check must find what is wrong with one.

use tempfile::TempDir;

use super::report::Report;
use super::tree::Tree;

/// A tree of these files, each a path and its text.
pub fn plant(files: &[(&str, &str)]) -> (TempDir, Tree) {
    let directory = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = directory.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let tree = Tree::read(directory.path());
    (directory, tree)
}

/// The check refuses these files, and says so in these words.
#[track_caller]
pub fn finds(check: fn(&Tree) -> Report, files: &[(&str, &str)], words: &str) {
    let (_directory, tree) = plant(files);
    let report = check(&tree);
    let found = report.findings.iter().any(|finding| finding.message.contains(words));
    assert!(found, "nothing says `{words}` in:\n{report}");
}

/// The check has nothing to say against these files.
#[track_caller]
pub fn passes(check: fn(&Tree) -> Report, files: &[(&str, &str)]) {
    let (_directory, tree) = plant(files);
    let report = check(&tree);
    assert!(report.findings.is_empty(), "{report}");
}
