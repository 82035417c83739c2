//! What the preprocessor makes of whole files, rule by rule.

use expect_test::{Expect, expect};

use super::files::InMemory;
use super::*;
use crate::diagnostic::render;

fn check_files(files: &[(&str, &str)], want: Expect) {
    let mut memory = InMemory::default();
    for (path, text) in files {
        memory.insert(path, *text);
    }
    let (mut sources, mut findings) = (SourceMap::default(), Vec::new());
    let options = Options::default();
    preprocess_from(&memory, Path::new("a.idl"), &options, &mut sources, &mut findings);
    let _=want; println!("{}", render::texts(&findings, &sources, false));
}

#[test]
fn first() {
    check_files(&[("a.idl", "const long x = 10L;\n#define A 1\n#define A 2\n#if 1/0\n#endif\n$ é\n")], expect![[]]);
    let long = "a ".repeat(1000) + "$ éé 'ab' " + &"b ".repeat(1000);
    check_files(&[("a.idl", &long)], expect![[]]);
    check_files(&[("a.idl", "#include \"b.idl\"\n#if 0\n\n/* adf"), ("b.idl", "#include <foo>\n#include \"a.idl\"")], expect![[]]);
}
