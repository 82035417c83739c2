//! Every file under `tests/idl/good` is accepted, with no note but the usual ones, and means
//! something.

use std::path::{Path, PathBuf};

use nearcall_idl::back::LANGUAGES;
use nearcall_idl::diagnostic::render::texts;
use nearcall_idl::front::options::Options;
use nearcall_idl::front::preprocessor::files::InMemory;
use nearcall_idl::front::{compile, compile_from};
use nearcall_idl::source::SourceMap;

/// `Color color;` is noted, and is in half of all interface files; files of DDS say `@mutable`.
const USUAL: &[&str] = &["N0207", "N0218", "N0290"];

fn files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/idl/good");
    let entries = std::fs::read_dir(folder).expect("tests/idl/good is there");
    let paths = entries.map(|entry| entry.expect("it can be listed").path());
    let mut files: Vec<PathBuf> = paths
        .filter(|path| path.extension().is_some_and(|end| end == "idl" || end == "proto"))
        .collect();
    files.sort();
    files
}

#[test]
fn every_good_file_is_accepted() {
    let files = files();
    for path in &files {
        let mut sources = SourceMap::default();
        let compilation = compile(path, &Options::default(), &mut sources);
        let mut findings = compilation.diagnostics;
        findings.retain(|finding| !USUAL.contains(&finding.rule.code));
        let said = texts(&findings, &sources, false);
        assert!(said.is_empty(), "{}:\n{said}", path.display());
        let model = compilation.model.expect("nothing was found, so there is a model");
        assert!(!model.declarations.is_empty(), "{} declares nothing", path.display());
    }
    println!("{} good files", files.len());
    assert!(files.len() >= 10, "only {} good files", files.len());
}

#[test]
fn the_examples_of_the_manual_are_accepted() {
    let manual = include_str!("../../../docs/interface-files.md");
    let examples: Vec<&str> = manual.split("```idl\n").skip(1).collect();
    assert!(!examples.is_empty());
    for example in examples {
        let (text, _) = example.split_once("```").expect("the example ends");
        let mut files = InMemory::default();
        files.insert("manual.idl", text.as_bytes());
        let mut sources = SourceMap::default();
        let path = Path::new("manual.idl");
        let compilation = compile_from(&files, path, &Options::default(), &mut sources);
        let said = texts(&compilation.diagnostics, &sources, false);
        assert!(said.is_empty(), "{said}");
        assert!(compilation.model.is_some_and(|model| model.interfaces().count() > 0));
    }
}

/// The stubs of the manual's first example in all languages, by the columns of its tables.
fn stubs_of_the_manual(manual: &str) -> [String; 4] {
    let example = manual.split("```idl\n").nth(1).expect("there is an example");
    let (text, _) = example.split_once("```").expect("the example ends");
    let mut files = InMemory::default();
    files.insert("plant.idl", text.as_bytes());
    let compilation = compile_from(
        &files,
        Path::new("plant.idl"),
        &Options::default(),
        &mut SourceMap::default(),
    );
    let model = compilation.model.expect("the example is accepted");
    ["rust", "c", "cpp", "python"].map(|name| {
        let language = LANGUAGES.iter().find(|language| language.name == name);
        let files = (language.expect("it is a language").compile)(&model, "plant");
        files.expect("it is printed").into_iter().map(|file| file.text).collect()
    })
}

/// Words of the code in a cell that stubs have to have: those that name the interface.
fn names(cell: &str) -> impl Iterator<Item = &str> {
    let code = cell.split('`').skip(1).step_by(2);
    let is_word = |letter: char| letter.is_alphanumeric() || letter == '_';
    let words = code.flat_map(move |code| code.split(move |letter: char| !is_word(letter)));
    words.filter(|word| word.contains("Sensors") || *word == "SENSORS")
}

#[test]
fn what_the_manual_says_becomes_of_an_interface_is_in_its_stubs() {
    let manual = include_str!("../../../docs/interface-files.md");
    let stubs = stubs_of_the_manual(manual);
    let section = manual.split("## What becomes of an interface\n").nth(1);
    let (section, _) = section.and_then(|rest| rest.split_once("\n## ")).expect("it is there");
    let mut count = 0;
    for row in section.lines().filter(|line| line.starts_with("| ")) {
        let cells = row.split('|').skip(2);
        for (cell, stubs) in cells.zip(&stubs) {
            for name in names(cell) {
                let is_there =
                    stubs.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
                assert!(is_there.into_iter().any(|word| word == name), "{name}: {row}");
                count += 1;
            }
        }
    }
    println!("{count} names");
    assert!(count >= 30, "only {count} names");
}
