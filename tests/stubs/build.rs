//! Compiles every good interface file, those with names that Rust keeps for itself, and a batch of
//! random ones with the programs that call them; and self-tests of the files, to be lied to.
//!
//! `NEARCALL_RANDOM_SEED` and `NEARCALL_RANDOM_COUNT` say which batch.

#[path = "build/all.rs"]
mod all;
#[path = "build/prey.rs"]
mod prey;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

use nearcall_idl::build::Builder;
use random_interface::batch;

const SEED: u64 = 1989;
const COUNT: usize = 6;

fn main() {
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("this is a build script"));
    let files = all::files();
    prey::write(&out, &files);
    all::write(&out, &files);
    random(&out);
}

fn random(out: &Path) {
    let seed = number("NEARCALL_RANDOM_SEED", SEED);
    let count = number("NEARCALL_RANDOM_COUNT", COUNT as u64) as usize;
    let (mut stubs, mut programs) = (String::new(), String::new());
    let mut runs = String::from("const PROGRAMS: &[(&str, Run)] = &[\n");
    for (index, interface) in batch(seed, count).into_iter().enumerate() {
        let name = format!("random_{index}");
        let path = out.join(&name).with_extension("idl");
        fs::write(&path, interface.idl(&name)).expect("OUT_DIR can be written");
        Builder::new().compile(&path);
        all::module(&mut stubs, &path);
        let path = format!("stubs_tests::random::{name}::{name}");
        let program = interface.program(&path);
        // What a random program is made of has no better form.
        let lints = "clippy::type_complexity, clippy::unit_cmp, clippy::unused_unit";
        let _ = writeln!(programs, "#[allow({lints})]\nmod program_{index} {{\n{program}}}");
        let _ = writeln!(
            runs,
            "    (\"{name}\", |kind| {{\n        \
             let entries = {path}::RandomEntries::new(program_{index}::Server);\n        \
             let bound = bind(kind, entries, &{path}::RANDOM);\n        \
             program_{index}::run(&{path}::RandomClient::new(bound.binding.clone()));\n    }}),"
        );
    }
    runs.push_str("];\n");
    fs::write(out.join("random_stubs.rs"), stubs).expect("OUT_DIR can be written");
    fs::write(out.join("random_programs.rs"), programs + &runs).expect("OUT_DIR can be written");
}

/// A number from the environment.
fn number(variable: &str, otherwise: u64) -> u64 {
    println!("cargo::rerun-if-env-changed={variable}");
    match env::var(variable) {
        Ok(text) => text.parse().unwrap_or_else(|_| panic!("{variable}={text} is no number")),
        Err(_) => otherwise,
    }
}
