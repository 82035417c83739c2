//! Every interface file under `tests/idl/` has all its goldens, and no golden is without one.
//!
//! A golden stands beside its input and begins with the input's name: `sum.idl`, `sum.plan`. An
//! input is of IDL or of proto3; no two of a folder have one name.

use std::collections::{BTreeMap, BTreeSet};

use super::report::Report;
use super::tree::{GOLDENS, Tree};

/// Folders whose inputs have no goldens, and why.
const WITHOUT: &[(&str, &str)] = &[
    ("tests/idl/good", "these are accepted without a word, so there is nothing to keep"),
    ("tests/idl/beside", "these are what inputs of tests/idl/bad find beside them"),
];

/// How the names of inputs end.
const INPUTS: &[&str] = &[".idl", ".proto"];

/// A file of documentation is neither.
const NEITHER: &[&str] = &["README.md"];

pub fn check(tree: &Tree) -> Report {
    let mut report = Report::new("goldens");
    let (mut inputs, mut goldens) = (0, 0);
    let folders = folders(tree).into_iter();
    for (folder, names) in folders.filter(|(folder, _)| !is_without(folder)) {
        let (kinds, with_input, without) = sorted(&names);
        for name in without {
            report.find(&format!("{folder}/{name}"), 0, "is a golden without its input");
        }
        for (stem, found) in with_input {
            inputs += 1;
            goldens += found.len();
            let path = format!("{folder}/{stem}");
            if found.is_empty() {
                report.find(&path, 0, "has no golden");
            }
            for kind in kinds.difference(&found) {
                report.find(&path, 0, format!("has no golden `{stem}.{kind}`, its neighbours do"));
            }
        }
    }
    report.counted(&[(inputs, "inputs"), (goldens, "goldens")])
}

/// The folders that hold interface files, with the names of all their files.
fn folders(tree: &Tree) -> BTreeMap<&str, Vec<&str>> {
    let mut folders: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for file in tree.files.iter().filter(|file| file.path.starts_with(GOLDENS)) {
        let (folder, name) = file.path.rsplit_once('/').expect("below the root");
        if !NEITHER.contains(&name) {
            folders.entry(folder).or_default().push(name);
        }
    }
    folders.retain(|_, names| names.iter().any(|name| stem_of_input(name).is_some()));
    folders
}

/// The name of an input without its ending; none of what is no input.
fn stem_of_input(name: &str) -> Option<&str> {
    INPUTS.iter().find_map(|ending| name.strip_suffix(ending))
}

fn is_without(folder: &str) -> bool {
    WITHOUT.iter().any(|(without, _)| folder.starts_with(without))
}

type Kinds<'a> = BTreeSet<&'a str>;

/// All kinds of golden; each input's own; the goldens that have no input.
fn sorted<'a>(names: &[&'a str]) -> (Kinds<'a>, BTreeMap<&'a str, Kinds<'a>>, Vec<&'a str>) {
    let stems = names.iter().filter_map(|name| stem_of_input(name));
    let mut inputs: BTreeMap<_, Kinds<'a>> = stems.map(|stem| (stem, Kinds::new())).collect();
    let (mut kinds, mut without) = (Kinds::new(), Vec::new());
    for name in names.iter().filter(|name| stem_of_input(name).is_none()) {
        let (stem, kind) = name.split_once('.').unwrap_or((name, ""));
        match inputs.get_mut(stem) {
            Some(found) => {
                kinds.insert(kind);
                found.insert(kind);
            }
            None => without.push(*name),
        }
    }
    (kinds, inputs, without)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::canary;

    #[test]
    fn an_input_without_goldens_is_found() {
        canary::finds(check, &[("tests/idl/plan/a.idl", "")], "has no golden");
    }

    #[test]
    fn an_input_with_fewer_goldens_than_its_neighbours_is_found() {
        let files = [
            ("tests/idl/plan/a.idl", ""),
            ("tests/idl/plan/a.plan", ""),
            ("tests/idl/plan/a.layout", ""),
            ("tests/idl/plan/b.idl", ""),
            ("tests/idl/plan/b.plan", ""),
        ];
        canary::finds(check, &files, "has no golden `b.layout`");
        canary::passes(check, &files[..3]);
    }

    #[test]
    fn an_input_of_proto3_is_one_too() {
        let input = ("tests/idl/bad/a.proto", "");
        canary::finds(check, &[input], "has no golden");
        canary::passes(check, &[input, ("tests/idl/bad/a.expect", "")]);
    }

    #[test]
    fn a_golden_without_its_input_is_found() {
        let files = [
            ("tests/idl/plan/a.idl", ""),
            ("tests/idl/plan/a.plan", ""),
            ("tests/idl/plan/b.plan", ""),
        ];
        canary::finds(check, &files, "without its input");
    }
}
