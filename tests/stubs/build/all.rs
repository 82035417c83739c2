//! The stubs of every good interface file, of those with names that Rust keeps for itself, and of
//! those that have each type in each form of call that the others have few of.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use nearcall_idl::build::Builder;

const FORMS: [&str; 3] =
    ["../matrix/idl/fed.idl", "../matrix/idl/opened.idl", "../matrix/idl/talked.idl"];

/// Those files; cargo watches for others.
pub fn files() -> Vec<PathBuf> {
    let mut files = Vec::new();
    for folder in ["../idl/good", "../idl/rust"] {
        files.extend(interface_files(Path::new(folder)));
        println!("cargo::rerun-if-changed={folder}");
    }
    assert!(files.len() > 10, "only {} interface files", files.len());
    for file in FORMS {
        files.push(PathBuf::from(file));
        println!("cargo::rerun-if-changed={file}");
    }
    files
}

/// Writes the stubs of each, and `all_stubs.rs`, which has a module for each.
pub fn write(out: &Path, files: &[PathBuf]) {
    let mut stubs = String::new();
    for path in files {
        Builder::new().include("../idl/good").compile(path);
        module(&mut stubs, path);
    }
    fs::write(out.join("all_stubs.rs"), stubs).expect("OUT_DIR can be written");
}

fn interface_files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("the folder is there");
    let paths = entries.map(|entry| entry.expect("it can be listed").path());
    let is_interface =
        |path: &PathBuf| path.extension().is_some_and(|end| end == "idl" || end == "proto");
    let mut files: Vec<PathBuf> = paths.filter(is_interface).collect();
    files.sort();
    files
}

/// A module with the stubs of one file.
pub fn module(text: &mut String, path: &Path) {
    let stem = path.file_stem().expect("a file").to_string_lossy();
    let name = stem.replace(['-', '.'], "_");
    let include = format!("include!(concat!(env!(\"OUT_DIR\"), \"/{stem}.rs\"));");
    // Writing to a string does not fail.
    let file = path.file_name().expect("a file").to_string_lossy();
    let _ = writeln!(text, "/// `{file}`\npub mod {name} {{\n    {include}\n}}");
}
