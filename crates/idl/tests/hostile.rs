//! Whatever the input is, the compiler ends and does not panic.

use std::path::Path;

use nearcall_idl::diagnostic::{Severity, render};
use nearcall_idl::front::compile_from;
use nearcall_idl::front::options::Options;
use nearcall_idl::front::preprocessor::files::InMemory;
use nearcall_idl::source::SourceMap;
use proptest::prelude::*;

const WORDS: &[&str] = &[
    "module",
    "interface",
    "struct",
    "union",
    "switch",
    "case",
    "default",
    "enum",
    "bitmask",
    "bitset",
    "bitfield",
    "exception",
    "typedef",
    "const",
    "attribute",
    "readonly",
    "oneway",
    "void",
    "in",
    "out",
    "inout",
    "raises",
    "getraises",
    "setraises",
    "long",
    "short",
    "unsigned",
    "octet",
    "boolean",
    "char",
    "wchar",
    "float",
    "double",
    "string",
    "wstring",
    "sequence",
    "map",
    "any",
    "Object",
    "fixed",
    "native",
    "valuetype",
    "abstract",
    "local",
    "component",
    "home",
    "import",
    "typeid",
    "typeprefix",
    "context",
    "TRUE",
    "FALSE",
    "A",
    "B",
    "C",
    "a",
    "b",
    "_x",
    "0",
    "1",
    "2",
    "7",
    "64",
    "4294967296",
    "1.5",
    "1.5d",
    "'c'",
    "L'c'",
    "\"s\"",
    "L\"s\"",
    ";",
    ";",
    ";",
    "{",
    "{",
    "}",
    "}",
    ":",
    "::",
    ",",
    "=",
    "+",
    "-",
    "*",
    "/",
    "%",
    "~",
    "|",
    "^",
    "&",
    "<<",
    ">>",
    "(",
    ")",
    "<",
    ">",
    "[",
    "]",
    "@",
    "@id",
    "@key",
    "@default",
    "@annotation",
    "@range",
    "@value",
    "@opaque",
    "\n#pragma prefix \"p\"\n",
    "\n#pragma version A 1.2\n",
    "\n#pragma ID A \"x:y\"\n",
    "\n#include \"b.idl\"\n",
];

/// Whole pieces, so that a soup gets far.
const PIECES: &[&str] = &[
    "struct A { long x; };",
    "struct B : A { sequence<A> y; };",
    "struct A;",
    "interface A {",
    "interface C : A, B {",
    "module A {",
    "module B {",
    "};",
    "typedef sequence<B, 3> C;",
    "union C switch (A) { case 1: long a; default: B b; };",
    "enum A { B, C };",
    "const long A = 1 << 3;",
    "const A B = C;",
    "void a(in A b, out B c) raises(C);",
    "exception C { A a; };",
    "attribute A b;",
    "typedef A B[2][C];",
    "typedef map<A, B> C;",
    "@annotation C { A a default B; };",
    "@C(a = 1)",
    "bitset A : B { bitfield<3> a; };",
];

fn compile(text: &str) {
    let mut files = InMemory::default();
    files.insert("a.idl", text);
    files.insert("b.idl", "typedef long A;\n#pragma prefix \"q\"\nmodule B { ");
    let mut sources = SourceMap::default();
    let compilation = compile_from(&files, Path::new("a.idl"), &Options::default(), &mut sources);
    let has_error =
        compilation.diagnostics.iter().any(|one| one.rule.severity() == Severity::Error);
    assert_eq!(compilation.model.is_none(), has_error, "{text}");
    let printed = render::texts(&compilation.diagnostics, &sources, false);
    assert_eq!(printed.is_empty(), compilation.diagnostics.is_empty());
}

fn good_texts() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/idl/good");
    let entries = std::fs::read_dir(folder).expect("tests/idl/good is there");
    let paths = entries.map(|entry| entry.expect("it can be listed").path());
    let mut files: Vec<_> =
        paths.filter(|path| path.extension().is_some_and(|end| end == "idl")).collect();
    files.sort();
    files.iter().map(|path| std::fs::read_to_string(path).expect("it is text")).collect()
}

/// What is done to a good text: where, and how.
fn mutated(text: &str, changes: &[(usize, u8, usize)]) -> String {
    let mut words: Vec<&str> = text.split_inclusive(|c: char| !c.is_alphanumeric()).collect();
    for (place, how, what) in changes {
        if words.is_empty() {
            break;
        }
        let place = place % words.len();
        match how % 4 {
            0 => drop(words.remove(place)),
            1 => words.insert(place, WORDS[what % WORDS.len()]),
            2 => words[place] = WORDS[what % WORDS.len()],
            _ => {
                let other = what % words.len();
                words.swap(place, other);
            }
        }
    }
    words.concat()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn a_soup_of_words_ends(words in prop::collection::vec(0..WORDS.len(), 0..120)) {
        let text: Vec<&str> = words.iter().map(|word| WORDS[*word]).collect();
        compile(&text.join(" "));
    }

    #[test]
    fn a_soup_of_pieces_ends(pieces in prop::collection::vec(0..PIECES.len(), 0..60)) {
        let text: Vec<&str> = pieces.iter().map(|piece| PIECES[*piece]).collect();
        compile(&text.join("\n"));
    }

    #[test]
    fn a_good_file_that_was_spoilt_ends(
        file in 0..100usize,
        changes in prop::collection::vec((any::<usize>(), any::<u8>(), any::<usize>()), 1..6),
    ) {
        let texts = good_texts();
        compile(&mutated(&texts[file % texts.len()], &changes));
    }

    #[test]
    fn any_text_ends(text in "\\PC{0,200}") {
        compile(&text);
    }
}

/// Found by the tests above.
#[test]
fn what_once_did_not_end_ends() {
    for text in ["module m < 3 ;", "module m <", "module m<typename T> {"] {
        compile(text);
    }
}

/// Inputs of about a megabyte that would take minutes if anything were quadratic in them.
fn long_texts() -> Vec<String> {
    let repeated = |piece: &str, count: usize| piece.repeat(count);
    let numbered = |make: &dyn Fn(usize) -> String| (0..20_000).map(make).collect::<String>();
    let ring = |i: usize| format!("struct S{i} {{ @external S{} a; }}; ", (i + 1) % 20_000);
    vec![
        numbered(&|i| format!("struct S{i}; ")) + &numbered(&ring),
        numbered(&|i| format!("struct S{i} {{ @external S{i} a; @external S{i} b; }}; ")),
        numbered(&|i| format!("struct S{i}; struct T{i} {{ sequence<S{i}> a; }}; ")),
        repeated("{", 200_000),
        repeated("struct S { ", 50_000),
        repeated("(", 200_000),
        format!("const long A = {}1;", repeated("(", 200_000)),
        format!("const long A = {}1;", repeated("-", 200_000)),
        format!("typedef {}long T;", repeated("sequence<", 50_000)),
        repeated("@a(b = 1) ", 50_000),
        repeated("@id(1) @key ", 50_000),
        repeated("A::", 200_000),
        repeated("struct S { Missing a; }; ", 20_000),
        repeated("valuetype V { long a; }; ", 20_000),
        repeated("= ; ", 100_000),
        numbered(&|i| format!("struct S{i} {{ Unknown{i} a; }}; ")),
        numbered(&|i| format!("struct S{i}; ")),
        numbered(&|i| format!("const long C{} = C{i} + 1; ", i + 1)),
        numbered(&|i| format!("struct S{} : S{i} {{ long a{i}; }}; ", i + 1)),
        numbered(&|i| format!("interface I{} : I{i} {{ void o{i}(); }}; ", i + 1)),
        numbered(&|i| format!("module M{i} {{ typedef long T; }}; ")),
        format!("interface I {{ {} }};", numbered(&|i| format!("void o{i}(in long a{i}); "))),
        format!("enum E {{ {} }};", numbered(&|i| format!("E{i}, "))),
        format!("interface I : {} B {{}};", repeated("A, ", 100_000)),
        format!("struct S {{ {} }};", numbered(&|i| format!("long a{i}; "))),
    ]
}

/// Every second one: two tests, so that two processors have something to do.
fn check_long_texts(first: usize) {
    let texts = long_texts();
    let mut count = 0;
    for text in texts.iter().skip(first).step_by(2) {
        compile(text);
        count += 1;
    }
    println!("{count} of {} long texts", texts.len());
    assert!(count >= texts.len() / 2, "only {count}");
}

#[test]
fn long_texts_end_soon_enough_for_a_test() {
    check_long_texts(0);
}

#[test]
fn other_long_texts_end_soon_enough_for_a_test() {
    check_long_texts(1);
}
