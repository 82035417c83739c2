//! The checks of the tree itself. Each says how many things it looked at and fails on none.
//!
//! Tidy reads files and `cargo metadata`; it compiles nothing and changes nothing. Every check
//! has a canary: a bad tree, planted in a temporary directory, that it must refuse.

mod report;
mod tokens;
mod tree;

mod absences;
mod examples;
mod excerpts;
mod fence;
mod floors;
mod goldens;
mod lengths;
mod markers;
mod module_docs;
mod names;
mod orderings;
mod paths;

#[cfg(test)]
mod canary;

use std::path::Path;

pub use report::{Finding, Report};
pub use tree::Tree;

use crate::step::Failed;

/// Every check, in the order they are printed.
pub const CHECKS: &[fn(&Tree) -> Report] = &[
    tree::check,
    floors::check,
    absences::check,
    fence::check,
    orderings::check,
    lengths::check,
    module_docs::check,
    markers::check,
    names::check,
    paths::check,
    excerpts::check,
    examples::check,
    goldens::check,
];

/// Runs every check, prints each, and fails if one did.
pub fn run(root: &Path) -> Result<(), Failed> {
    let reports = reports(root);
    for report in &reports {
        eprint!("{report}");
    }
    let failed: Vec<_> = reports.iter().filter(|report| !report.is_ok()).collect();
    match failed.len() {
        0 => Ok(()),
        count => Err(Failed(format!("{count} of {} tidy checks failed", reports.len()))),
    }
}

fn reports(root: &Path) -> Vec<Report> {
    let tree = Tree::read(root);
    CHECKS.iter().map(|check| check(&tree)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tree_is_tidy() {
        let mut text = String::new();
        for report in reports(&crate::step::root()) {
            if !report.is_ok() {
                text.push_str(&report.to_string());
            }
        }
        assert!(text.is_empty(), "\n{text}");
    }

    #[test]
    fn no_check_passes_on_an_empty_tree() {
        let empty = tempfile::tempdir().unwrap();
        for report in reports(empty.path()) {
            assert!(!report.is_ok(), "{report}");
        }
    }
}
