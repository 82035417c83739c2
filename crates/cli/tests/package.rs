//! The program can be published: so can every crate of the workspace that it is made of.

use std::collections::BTreeMap;
use std::process::Command;

use serde_json::Value;

/// Packages of the workspace, by name.
fn packages() -> BTreeMap<String, Value> {
    let mut command = Command::new(env!("CARGO"));
    command.args(["metadata", "--no-deps", "--offline", "--format-version", "1"]);
    let output = command.current_dir(env!("CARGO_MANIFEST_DIR")).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    let packages = metadata["packages"].as_array().unwrap().iter();
    packages.map(|one| (one["name"].as_str().unwrap().to_owned(), one.clone())).collect()
}

/// Not those that are for tests only: they are not published.
fn dependencies(package: &Value) -> impl Iterator<Item = &Value> {
    let all = package["dependencies"].as_array().unwrap().iter();
    all.filter(|dependency| dependency["kind"] != "dev" && !dependency["path"].is_null())
}

/// What of a package of these keeps it from being published, and how many were looked at.
fn hindrances(packages: &BTreeMap<String, Value>, root: &str) -> (Vec<String>, usize) {
    let (mut found, mut names) = (Vec::new(), vec![root.to_owned()]);
    let mut at = 0;
    while at < names.len() {
        let name = names[at].clone();
        at += 1;
        let package = &packages[&name];
        if !package["publish"].is_null() {
            found.push(format!("`{name}` is not published"));
        }
        for dependency in dependencies(package) {
            let target = dependency["name"].as_str().unwrap();
            if dependency["req"] == "*" {
                found.push(format!("`{name}` names no version of `{target}`"));
            }
            if !names.iter().any(|known| known == target) {
                names.push(target.to_owned());
            }
        }
    }
    (found, names.len())
}

#[test]
fn every_crate_of_the_workspace_that_it_is_made_of_is_published() {
    let (found, count) = hindrances(&packages(), "nearcall-cli");
    println!("{count} crates");
    assert!(found.is_empty(), "{found:?}");
    assert!(count > 1, "it is made of nothing");
}

#[test]
fn one_that_is_not_published_is_noticed() {
    let (found, _) = hindrances(&packages(), "stubs-tests");
    assert!(found.iter().any(|one| one.contains("`stubs-tests` is not published")), "{found:?}");
    assert!(found.iter().any(|one| one.contains("no version of `random-interface`")), "{found:?}");
}
