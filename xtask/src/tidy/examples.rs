//! Every example can be built, by cargo or by make, and says in a README what its one idea is.

use std::collections::BTreeSet;

use super::report::Report;
use super::tree::Tree;

/// One of the first, and the other.
const BUILDS: &[&str] = &["Cargo.toml", "Makefile"];
const SAYS: &str = "README.md";

pub fn check(tree: &Tree) -> Report {
    let mut report = Report::new("examples");
    let below = tree.files.iter().filter_map(|file| file.path.strip_prefix("examples/"));
    let examples: BTreeSet<_> = below.filter_map(|path| path.split_once('/')).map(first).collect();
    for example in &examples {
        let path = format!("examples/{example}");
        let (number, idea) = example.split_once('-').unwrap_or(("", ""));
        if number.len() != 2 || number.parse::<u8>().is_err() || idea.is_empty() {
            report.find(&path, 0, "is not named NN-idea");
        }
        let has = |name: &&str| tree.has(&format!("{path}/{name}"));
        if !BUILDS.iter().any(has) {
            report.find(&path, 0, format!("has no {}", BUILDS.join(" and no ")));
        }
        if !has(&SAYS) {
            report.find(&path, 0, format!("has no {SAYS}"));
        }
    }
    report.counted(&[(examples.len(), "examples")])
}

fn first<'a>((folder, _): (&'a str, &'a str)) -> &'a str {
    folder
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::canary;

    #[test]
    fn an_example_without_a_readme_is_found() {
        canary::finds(check, &[("examples/01-a/Cargo.toml", "")], "has no README.md");
        canary::finds(check, &[("examples/01-a/README.md", "")], "has no Cargo.toml");
        for builds in ["examples/01-a/Cargo.toml", "examples/01-a/Makefile"] {
            canary::passes(check, &[(builds, ""), ("examples/01-a/README.md", "")]);
        }
    }

    #[test]
    fn an_example_without_a_number_is_found() {
        canary::finds(check, &[("examples/a/Cargo.toml", "")], "NN-idea");
    }
}
