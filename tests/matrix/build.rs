//! Writes the self-tests of every interface file, and a client and a server that hold them all,
//! whose stubs are the library's: compiled once for both.
//!
//! `NEARCALL_SELFTEST_SEED` says which values.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

use nearcall_idl::back::LANGUAGES;
use nearcall_idl::diagnostic::render;
use nearcall_idl::front::compile;
use nearcall_idl::front::options::Options;
use nearcall_idl::model::Model;
use nearcall_idl::selftest::{NOTHING_TO_CALL, Selftest};
use nearcall_idl::source::SourceMap;

/// Where interface files are; `cargo xtask matrix` looks there too.
const FOLDERS: &[&str] = &[
    "../idl/good",
    "../idl/rust",
    "../idl/python",
    "../idl/selftest",
    "../idl/selftest-feeds",
    "idl",
];

/// Whose stubs `tests/stubs` has compiled: folders, and files of others.
const COMPILED: [&str; 2] = ["../idl/good", "../idl/rust"];
const FORMS: [&str; 3] = ["fed", "opened", "talked"];

/// Files whose self-test would call nothing, a line each; `cargo xtask matrix` reads it, too.
const CALLING_NOTHING: &str = include_str!("calling_nothing.txt");

/// Files whose programs are there with another seed's values too: `cargo xtask matrix` has them
/// not understand each other.
const CANARIES: &[&str] = &["echo", "vault", "drip", "talk"];

/// What clippy looks at: each form of call and most types once. All files would take it a minute a
/// program, most of it for stubs, which it looks at in `tests/stubs`.
const LINTED: [&str; 6] = ["drip", "everything", "library", "opened", "talk", "vault"];

fn main() {
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("this is a build script"));
    println!("cargo::rerun-if-env-changed=NEARCALL_SELFTEST_SEED");
    println!("cargo::rerun-if-changed=calling_nothing.txt");
    let seed = env::var("NEARCALL_SELFTEST_SEED").unwrap_or_else(|_| "1".to_owned());
    let seed =
        seed.parse().unwrap_or_else(|_| panic!("NEARCALL_SELFTEST_SEED={seed} is no number"));
    let (mut stems, mut stubs, mut nothing) = (Vec::new(), Vec::new(), Vec::new());
    for folder in FOLDERS {
        println!("cargo::rerun-if-changed={folder}");
        for path in interface_files(Path::new(folder)) {
            let stem = path.file_stem().expect("a file").to_string_lossy().into_owned();
            assert!(!stems.contains(&stem), "{path:?}: another file is called {stem}");
            let model = model(&path);
            let Some(test) = selftest(&stem, &model, seed) else {
                nothing.push(stem);
                continue;
            };
            write(&out, &stem, &model, &test);
            if CANARIES.contains(&&*stem) {
                let other = Selftest::new(&model, seed.wrapping_add(1));
                let (name, test) = (format!("{stem}_other"), other.expect("as before"));
                write(&out, &name, &model, &test);
                stubs.push(name.clone());
                stems.push(name);
            }
            if !COMPILED.contains(folder) && !FORMS.contains(&&*stem) {
                stubs.push(stem.clone());
            }
            stems.push(stem);
        }
    }
    nothing.sort();
    assert!(
        CALLING_NOTHING.lines().eq(&nothing),
        "listed as calling nothing, and met: {nothing:?}"
    );
    assert!(stems.len() > 10, "only {} interface files", stems.len());
    for stem in LINTED {
        assert!(stems.iter().any(|one| one == stem), "{stem} has no self-test");
    }
    let linted = LINTED.map(str::to_owned);
    for side in ["client", "server"] {
        for (name, stems) in [(side.to_owned(), &*stems), (format!("{side}_linted"), &linted)] {
            let path = out.join(name).with_extension("rs");
            fs::write(path, program(&out, side, stems)).expect("OUT_DIR can be written");
        }
    }
    let linted: Vec<String> = stubs.iter().filter(|stem| linted.contains(stem)).cloned().collect();
    for (name, stems) in [("stubs.rs", &stubs), ("stubs_linted.rs", &linted)] {
        fs::write(out.join(name), library(&out, stems)).expect("OUT_DIR can be written");
    }
}

/// The self-test of a file; `None` of those that are listed as calling nothing, for that reason
/// alone.
fn selftest(stem: &str, model: &Model, seed: u64) -> Option<Selftest> {
    let is_listed = CALLING_NOTHING.lines().any(|listed| listed == stem);
    match Selftest::new(model, seed) {
        Ok(test) if !is_listed => Some(test),
        Ok(_) => panic!("{stem} is listed as calling nothing, and calls"),
        Err(reasons) => {
            let is_meant = reasons.iter().all(|given| given.reason == NOTHING_TO_CALL);
            assert!(is_listed && is_meant, "{stem} has no self-test: {reasons:?}");
            None
        }
    }
}

/// Stubs and programs of one file.
fn write(out: &Path, stem: &str, model: &Model, test: &Selftest) {
    let rust = &LANGUAGES[0];
    let mut files = (rust.compile)(model, stem).expect("Rust has stubs for everything");
    files.extend((rust.selftest)(model, stem, test).expect("and self-tests"));
    for file in files {
        let path = out.join(format!("{stem}{}", file.suffix));
        let own = format!("#[path = \"{stem}.rs\"]\nmod ");
        let text = file.text.replace(&own, "use matrix_tests::");
        fs::write(path, text).expect("OUT_DIR can be written");
    }
}

/// A module for each file's stubs.
fn library(out: &Path, stems: &[String]) -> String {
    let mut modules = String::new();
    for stem in stems {
        let (path, name) = (out.join(format!("{stem}.rs")), stem.replace(['-', '.'], "_"));
        // Writing to a string does not fail.
        let _ = writeln!(modules, "#[path = {path:?}]\npub mod {name};");
    }
    modules
}

/// A module for each file's program, and a function that runs the one that is named.
fn program(out: &Path, side: &str, stems: &[String]) -> String {
    let (mut modules, mut arms) = (String::new(), String::new());
    for (index, stem) in stems.iter().enumerate() {
        let path = out.join(format!("{stem}_selftest_{side}.rs"));
        // Writing to a string does not fail.
        let _ = writeln!(modules, "#[path = {path:?}]\nmod file_{index};");
        let _ = writeln!(arms, "        {stem:?} => file_{index}::main(),");
    }
    format!(
        "{modules}\nfn run(file: &str) {{\n    match file {{\n{arms}        \
         _ => panic!(\"{{file}} is no interface file\"),\n    }}\n}}\n"
    )
}

fn model(path: &Path) -> Model {
    let options = Options { include_directories: vec!["../idl/good".into()], ..Options::default() };
    let mut sources = SourceMap::default();
    let compilation = compile(path, &options, &mut sources);
    let said = render::texts(&compilation.diagnostics, &sources, false);
    compilation.model.unwrap_or_else(|| panic!("{}:\n{said}", path.display()))
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
