//! Compiles the interface files; that of the calls to C and C++, too, for the table
//! `stubs`, and to Python for the table `python`.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use nearcall_idl::back::LANGUAGES;
use nearcall_idl::front::{compile, options::Options};
use nearcall_idl::source::SourceMap;

fn main() {
    nearcall_idl::build("calls.idl");
    nearcall_idl::build("workload.idl");
    let directory = PathBuf::from(env::var_os("OUT_DIR").expect("cargo says where"));
    // What is wrong with the file was said above.
    let compilation =
        compile(Path::new("calls.idl"), &Options::default(), &mut SourceMap::default());
    let model = compilation.model.expect("it was compiled to Rust");
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
