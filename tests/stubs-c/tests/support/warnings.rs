//! Warnings that projects ask for, of what they include and of what is generated, too. Not asked
//! for is `-Weffc++`, which wants an initializer for what is empty by itself, and `-Wc++-compat`,
//! since `x.c` and `x_server.c` are C.

use std::path::Path;

/// In both languages.
const ASKED_FOR: &[&str] = &[
    "-Wpedantic",
    "-Wshadow",
    "-Wconversion",
    "-Wsign-conversion",
    "-Wdouble-promotion",
    "-Wcast-qual",
    "-Wcast-align",
    "-Wundef",
    "-Wmissing-declarations",
    "-Wredundant-decls",
    "-Wnull-dereference",
    "-Wformat=2",
    "-Wswitch-enum",
    "-Wswitch-default",
];
const ASKED_FOR_OF_C: &[&str] =
    &["-Wstrict-prototypes", "-Wmissing-prototypes", "-Wold-style-definition"];
const ASKED_FOR_OF_CPP: &[&str] = &[
    "-Wold-style-cast",
    "-Wzero-as-null-pointer-constant",
    "-Wnon-virtual-dtor",
    "-Woverloaded-virtual",
    "-Wextra-semi",
];
/// What clang does not know.
const ASKED_FOR_OF_GCC: &[&str] = &["-Wlogical-op", "-Wduplicated-cond", "-Wduplicated-branches"];
const ASKED_FOR_OF_GPP: &[&str] = &["-Wuseless-cast"];

/// Those that a compiler knows for a source.
pub fn asked_for(compiler: &str, source: &Path) -> Vec<&'static str> {
    let (is_cpp, is_gnu) = (super::is_cpp(source), compiler.starts_with('g'));
    let own = if is_cpp { ASKED_FOR_OF_CPP } else { ASKED_FOR_OF_C };
    let gnu = if is_gnu { ASKED_FOR_OF_GCC } else { &[] };
    let gpp = if is_gnu && is_cpp { ASKED_FOR_OF_GPP } else { &[] };
    [ASKED_FOR, own, gnu, gpp].concat()
}
