//! Every example is a package and says in a README what its one idea is.

use std::collections::BTreeSet;

use super::report::Report;
use super::tree::Tree;

const NEEDS: &[&str] = &["Cargo.toml", "README.md"];

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
        for name in NEEDS {
            if !tree.has(&format!("{path}/{name}")) {
                report.find(&path, 0, format!("has no {name}"));
            }
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
        let good = [("examples/01-a/Cargo.toml", ""), ("examples/01-a/README.md", "")];
        canary::passes(check, &good);
    }

    #[test]
    fn an_example_without_a_number_is_found() {
        canary::finds(check, &[("examples/a/Cargo.toml", "")], "NN-idea");
    }
}
