//! The floors of the workspace: a crate looks down only.
//!
//! A crate that is not on a floor (examples, benchmarks, test kits, this one) is for ourselves
//! and is not published.

use std::collections::{BTreeMap, BTreeSet};

use cargo_metadata::{DependencyKind, Metadata, MetadataCommand, Package};

use super::report::Report;
use super::tree::Tree;

/// From the ground up. Crates on one floor do not know each other.
const FLOORS: &[&[&str]] = &[
    &["nearcall-abi"],
    &["nearcall-core", "nearcall-os", "nearcall-idl"],
    &["nearcall-threads"],
    &["nearcall"],
    &["nearcall-log", "nearcall-policy"],
    &["nearcall-grpc", "nearcall-firefly", "nearcall-c"],
    &["nearcall-cli"],
];

/// The crates that run in a program that calls; the compiler and they never meet.
const RUNTIME: &[&str] = &[
    "nearcall-core",
    "nearcall-os",
    "nearcall-threads",
    "nearcall",
    "nearcall-grpc",
    "nearcall-firefly",
    "nearcall-c",
    "nearcall-log",
    "nearcall-policy",
];

const COMPILER: &str = "nearcall-idl";

/// Edges from a floor to a crate that is on none.
const ALLOWED: &[(&str, &str, &str)] =
    &[("nearcall-cli", "files-example", "the program shows this example as its demo")];

/// Crates that would bring an async runtime or a network into every local program.
const NEVER_LOCAL: &[&str] = &[
    "async-io",
    "async-std",
    "h2",
    "hyper",
    "mio",
    "quinn",
    "rustls",
    "smol",
    "tokio",
    "tonic",
    "tower",
];

pub fn check(tree: &Tree) -> Report {
    let mut report = Report::new("floors");
    let metadata = match metadata(tree, false) {
        Ok(metadata) => metadata,
        Err(error) => {
            report.find("Cargo.toml", 0, error);
            return report;
        }
    };
    let members = metadata.workspace_packages();
    let mut edges = 0;
    for package in &members {
        published(package, &mut report);
        for (to, kind) in edges_of(package) {
            edges += 1;
            if let Some(reason) = refused(&package.name, &to, kind) {
                report.find(&manifest(&metadata, package), 0, reason);
            }
        }
        grounded(package, &metadata, &mut report);
    }
    let linked = linked_locally(tree, &mut report);
    report.counted(&[
        (members.len(), "crates"),
        (edges, "edges"),
        (linked, "crates in a local program"),
    ])
}

fn metadata(tree: &Tree, with_dependencies: bool) -> Result<Metadata, String> {
    let mut command = MetadataCommand::new();
    command.manifest_path(tree.root.join("Cargo.toml"));
    if with_dependencies {
        let platform = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
        command.other_options(vec!["--filter-platform".to_owned(), platform]);
    } else {
        command.no_deps();
    }
    command.exec().map_err(|error| error.to_string())
}

fn floor(name: &str) -> Option<usize> {
    FLOORS.iter().position(|names| names.contains(&name))
}

/// The dependencies that are crates of the workspace.
fn edges_of(package: &Package) -> Vec<(String, DependencyKind)> {
    let own = package.dependencies.iter().filter(|dependency| dependency.path.is_some());
    own.map(|dependency| (dependency.name.clone(), dependency.kind)).collect()
}

/// Why this edge may not be.
fn refused(from: &str, to: &str, kind: DependencyKind) -> Option<String> {
    let (Some(upper), lower) = (floor(from), floor(to)) else {
        return None;
    };
    let meet =
        (from == COMPILER && RUNTIME.contains(&to)) || (to == COMPILER && RUNTIME.contains(&from));
    if meet {
        return Some(format!("{from} depends on {to}: the compiler and the runtime never meet"));
    }
    let is_allowed = ALLOWED.iter().any(|(a, b, _)| (*a, *b) == (from, to));
    match lower {
        _ if is_allowed || kind == DependencyKind::Development => None,
        None => Some(format!("{from} depends on {to}, which is on no floor and unpublished")),
        Some(lower) if lower >= upper => {
            Some(format!("{from} (floor {upper}) depends on {to} (floor {lower}): look down only"))
        }
        Some(_) => None,
    }
}

/// On a floor means published, and the other way round.
fn published(package: &Package, report: &mut Report) {
    let is_published = package.publish.as_ref().is_none_or(|registries| !registries.is_empty());
    let name = package.name.as_str();
    match (floor(name), is_published) {
        (Some(_), false) => report.find(name, 0, "is on a floor and must be publishable"),
        (None, true) => report.find(name, 0, "is on no floor and must say `publish = false`"),
        _ => {}
    }
}

/// The ground has no dependencies at all; the protocol has only the ground.
fn grounded(package: &Package, metadata: &Metadata, report: &mut Report) {
    let may_have: &[&str] = match package.name.as_str() {
        "nearcall-abi" => &[],
        "nearcall-core" => &["nearcall-abi"],
        _ => return,
    };
    for dependency in &package.dependencies {
        let is_shipped = dependency.kind == DependencyKind::Normal;
        // loom stands under `cfg(loom)` only.
        let is_loom = dependency.name == "loom" && dependency.target.is_some();
        if is_shipped && !is_loom && !may_have.contains(&dependency.name.as_str()) {
            let message = format!("{} may not depend on {}", package.name, dependency.name);
            report.find(&manifest(metadata, package), 0, message);
        }
    }
}

/// Everything that a program with local calls only links; returns how many crates that is.
fn linked_locally(tree: &Tree, report: &mut Report) -> usize {
    let metadata = match metadata(tree, true) {
        Ok(metadata) => metadata,
        Err(error) => {
            report.find("Cargo.toml", 0, error);
            return 0;
        }
    };
    let names: BTreeMap<_, _> =
        metadata.packages.iter().map(|package| (&package.id, package.name.as_str())).collect();
    let nodes = metadata.resolve.iter().flat_map(|resolve| &resolve.nodes);
    let nodes: BTreeMap<_, _> = nodes.map(|node| (&node.id, node)).collect();
    let mut waiting: Vec<_> =
        names.iter().filter(|(_, name)| **name == "nearcall").map(|(id, _)| *id).collect();
    let mut linked = BTreeSet::new();
    while let Some(id) = waiting.pop() {
        if !linked.insert(id) {
            continue;
        }
        for dependency in nodes.get(id).iter().flat_map(|node| &node.deps) {
            let mut kinds = dependency.dep_kinds.iter();
            if kinds.any(|info| info.kind == DependencyKind::Normal) {
                waiting.push(&dependency.pkg);
            }
        }
    }
    for name in linked.iter().filter_map(|id| names.get(id)) {
        if NEVER_LOCAL.contains(name) {
            report.find("crates/nearcall/Cargo.toml", 0, format!("a local program links {name}"));
        }
    }
    linked.len()
}

fn manifest(metadata: &Metadata, package: &Package) -> String {
    let path = &package.manifest_path;
    path.strip_prefix(&metadata.workspace_root).unwrap_or(path).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::canary;

    const ROOT: (&str, &str) =
        ("Cargo.toml", "[workspace]\nresolver = \"3\"\nmembers = [\"a\", \"b\"]\n");
    const LIB: &str = "//! empty\n";

    fn package(name: &str, rest: &str) -> String {
        format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n{rest}")
    }

    #[track_caller]
    fn finds(a: &str, b: &str, words: &str) {
        let files = [ROOT, ("a/Cargo.toml", a), ("a/src/lib.rs", LIB), ("b/Cargo.toml", b)];
        canary::finds(check, &[&files[..], &[("b/src/lib.rs", LIB)]].concat(), words);
    }

    #[test]
    fn a_crate_that_looks_up_is_found() {
        let up = package("nearcall-core", "[dependencies]\nnearcall = { path = \"../b\" }\n");
        finds(&up, &package("nearcall", ""), "look down only");
    }

    #[test]
    fn neighbours_that_meet_are_found() {
        let os = "[dependencies]\nnearcall-os = { path = \"../b\" }\n";
        finds(&package("nearcall-core", os), &package("nearcall-os", ""), "look down only");
    }

    #[test]
    fn the_compiler_meeting_the_runtime_is_found_even_in_its_tests() {
        let dev = "[dev-dependencies]\nnearcall = { path = \"../b\" }\n";
        finds(&package("nearcall-idl", dev), &package("nearcall", ""), "never meet");
        let build = "[build-dependencies]\nnearcall-idl = { path = \"../b\" }\n";
        finds(&package("nearcall", build), &package("nearcall-idl", ""), "never meet");
    }

    #[test]
    fn a_dependency_that_is_on_no_floor_is_found() {
        let kit = "[dependencies]\ntestkit = { path = \"../b\" }\n";
        let testkit = package("testkit", "publish = false\n");
        finds(&package("nearcall", kit), &testkit, "on no floor and unpublished");
    }

    #[test]
    fn a_published_crate_on_no_floor_is_found() {
        finds(&package("a", ""), &package("nearcall-abi", ""), "publish = false");
    }

    #[test]
    fn a_ground_with_dependencies_is_found() {
        let other = "[dependencies]\nb = { path = \"../b\" }\n";
        finds(&package("nearcall-abi", other), &package("b", ""), "may not depend on b");
    }

    #[test]
    fn an_async_runtime_in_a_local_program_is_found() {
        let tokio = "[dependencies]\ntokio = { path = \"../b\" }\n";
        finds(&package("nearcall", tokio), &package("tokio", ""), "local program links tokio");
    }
}
