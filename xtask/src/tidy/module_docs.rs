//! Every module says first what it decides and what it refuses to know.

use super::report::Report;
use super::tree::Tree;

pub fn check(tree: &Tree) -> Report {
    let mut report = Report::new("module docs");
    let mut files = 0;
    for file in tree.rust() {
        files += 1;
        let first = file.text.lines().next().unwrap_or("");
        let words = first.strip_prefix("//!").map(str::trim);
        if words.is_none_or(str::is_empty) {
            report.find(&file.path, 1, "does not begin with `//!` and what the module is");
        }
    }
    report.counted(&[(files, "files")])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::canary;

    #[test]
    fn a_module_without_documentation_is_found() {
        canary::finds(check, &[("a.rs", "fn a() {}\n")], "does not begin");
        canary::finds(check, &[("a.rs", "//!\nfn a() {}\n")], "does not begin");
        canary::passes(check, &[("a.rs", "//! What it is.\n")]);
    }
}
