//! Compiles the interface file of the workload, and that of the calls to C and C++ for the table
//! `stubs`, and to Python for the table `python`.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use nearcall_idl::back::LANGUAGES;
use nearcall_idl::diagnostic::render::texts;
use nearcall_idl::front::{compile, options::Options};
use nearcall_idl::source::SourceMap;

/// What `bench-subject` has in Rust.
const CALLS: &str = "subject/calls.idl";

fn main() {
    nearcall_idl::build("workload.idl");
    println!("cargo::rerun-if-changed={CALLS}");
    let directory = PathBuf::from(env::var_os("OUT_DIR").expect("cargo says where"));
    let mut sources = SourceMap::default();
    let compilation = compile(Path::new(CALLS), &Options::default(), &mut sources);
    let said = texts(&compilation.diagnostics, &sources, false);
    let model = compilation.model.unwrap_or_else(|| panic!("{CALLS}:\n{said}"));
    for language in
        LANGUAGES.iter().filter(|language| ["c", "cpp", "python"].contains(&language.name))
    {
        let outputs = (language.compile)(&model, "calls").expect("it uses what all languages have");
        for output in outputs {
            let path = directory.join(format!("calls{}", output.suffix));
            fs::write(&path, output.text).unwrap_or_else(|error| panic!("{path:?}: {error}"));
        }
    }
}
