//! The front end under mutations of every interface file of the tests: it ends, does not panic,
//! and says of each finding where it is, inside its file and between two characters.
//!
//! `NEARCALL_FUZZ_SEED` and `NEARCALL_FUZZ_COUNT` say which mutations, and how many of each file;
//! `NEARCALL_FUZZ_FOLDER` names a folder of interface files to take in the place of the tests'.
//! What fails is printed with its seed and its text.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::{env, fs};

use nearcall_idl::diagnostic::{Diagnostic, Severity, json, render};
use nearcall_idl::front::compile_from;
use nearcall_idl::front::options::Options;
use nearcall_idl::front::preprocessor::files::InMemory;
use nearcall_idl::plan;
use nearcall_idl::source::{SourceMap, Span};

const SEED: u64 = 1989;

/// Mutations of each file.
const COUNT: u64 = 100;

/// What one more byte of input may add to the findings.
const FINDINGS_PER_BYTE: usize = 2;

/// No input is longer: what is repeated is cut here.
const BYTES_MAX: usize = 64 * 1024;

/// Numbers from a seed: xorshift64*.
struct Dice(u64);

impl Dice {
    fn new(seed: u64) -> Dice {
        // Zero would stay zero.
        Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let high = self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33;
        high as usize % limit.max(1)
    }

    fn pick<'t, T: ?Sized>(&mut self, from: &[&'t T]) -> &'t T {
        from[self.below(from.len())]
    }
}

/// A file of the tests.
struct Seed {
    name: String,
    bytes: Vec<u8>,
}

fn seeds() -> Vec<Seed> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/idl");
    let folders = match env::var_os("NEARCALL_FUZZ_FOLDER") {
        Some(folder) => vec![PathBuf::from(folder)],
        None => ["bad", "good", "plan", "rust"].map(|folder| root.join(folder)).to_vec(),
    };
    let mut paths: Vec<PathBuf> = Vec::new();
    for folder in folders {
        let entries = fs::read_dir(folder).expect("the folder is there");
        paths.extend(entries.map(|entry| entry.expect("it can be listed").path()));
    }
    let is_input = |path: &PathBuf| {
        let end = path.extension().unwrap_or_default().to_string_lossy();
        end.starts_with("idl") || end == "proto"
    };
    paths.retain(is_input);
    paths.sort();
    let seed = |path: &PathBuf| Seed {
        name: path.file_name().expect("it is a file").to_string_lossy().into_owned(),
        bytes: fs::read(path).expect("it can be read"),
    };
    paths.iter().map(seed).chain(preprocessed()).collect()
}

impl Seed {
    /// What a mutation of it is called: the ending says how it is read.
    fn input_name(&self) -> &'static str {
        if self.name.ends_with(".proto") { "input.proto" } else { "input.idl" }
    }
}

/// What the files of the tests have little of.
fn preprocessed() -> impl Iterator<Item = Seed> {
    const TEXTS: &[(&str, &str)] = &[
        ("macros", "#define NAME(a, b) a ## b\n#define TEXT(a) #a\nconst string S = TEXT(x y);\n"),
        ("calls", "#define TWICE(x) x x\n#define MORE TWICE(TWICE(long a;))\nstruct S { MORE };\n"),
        ("choices", "#if defined(A) && (1 << 3) / 2 == 4\nstruct A;\n#elif !B\n#else\n#endif\n"),
        (
            "around",
            "#ifndef GUARD\n#define GUARD\n#include \"seed.idl\"\n#include <seed.idl>\n#endif\n",
        ),
        (
            "pragmas",
            "#pragma prefix \"a.b\"\n#pragma ID S \"x:y\"\n#pragma version S 1.2\n#pragma once\n",
        ),
        (
            "lines",
            "#line 7 \"other.idl\"\nconst long \\\nA = 1; /* c */ // d\n#error no\n#warning yes\n",
        ),
        (
            "attributes",
            "[uuid(1), version(1.0)] interface i { import \"seed.idl\";\n\
             [string] char *f([in, out, size_is(, *n)] struct t { struct t *u; } **a);\n\
             void g([in] long *n, [out, size_is(10)] byte b[*][0..3]);\n\
             typedef [switch_type(long)] union { [case(1, A)] hyper b; [default] ; } *c; };\n",
        ),
        ("letters", "const wstring W = L\"\\u20ac\\x41\\101\" L\"\\n\"; const char C = '\\'';\n"),
    ];
    TEXTS.iter().map(|(name, text)| Seed {
        name: format!("{name} (of this file)"),
        bytes: text.as_bytes().to_vec(),
    })
}

/// Words, and what stands between them byte by byte.
fn words(bytes: &[u8]) -> Vec<Vec<u8>> {
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_' || !byte.is_ascii();
    let runs = bytes.chunk_by(|one, next| is_word(one) && is_word(next));
    runs.map(<[u8]>::to_vec).collect()
}

const NUMBERS: &[&str] = &[
    "0",
    "-1",
    "08",
    "0x",
    "4294967295",
    "4294967296",
    "18446744073709551615",
    "18446744073709551616",
    "99999999999999999999999999999999999999999",
    "0xffffffffffffffffffff",
    "1e999999999",
    "1e-999999999",
    ".5e+",
    "123456789012345678901234567890123456789.5d",
];

const OPENERS: &[&str] = &[
    "{",
    "(",
    "[",
    "<",
    "sequence<",
    "map<long, ",
    "module m { ",
    "struct s { ",
    "union u switch (long) { case 0: ",
    "- ",
    "~(",
    "[in, ",
    "[size_is(",
    "typedef ",
    "*",
    "@a(",
    "::a",
    "\n#if 1\n",
    "\n#ifdef A\n",
    "/*",
    "\"",
    "L'",
    "\\\n",
    "TWICE(",
    "#define A A A\n",
    "A",
];

const BYTES: &[&[u8]] = &[
    b"\0",
    b"\xff",
    b"\xc3",
    b"\xe2\x82",
    b"\xef\xbb\xbf",
    b"\r",
    b"\x0c",
    b"\x1a",
    b"\\",
    b"#",
    b"\"",
    b"'",
    b"\xc2\xa0",
    b"\xf0\x9f\x92\xa9",
    b"??/",
    b"`",
    b"$",
];

/// Changes `words` in one way.
fn mutate(words: &mut Vec<Vec<u8>>, others: &[Vec<u8>], dice: &mut Dice) {
    let at = dice.below(words.len());
    match dice.below(12) {
        0 => drop(words.splice(at..(at + 1).min(words.len()), [])),
        1 => {
            let end = (at + 1 + dice.below(12)).min(words.len());
            drop(words.splice(at..end, []));
        }
        2 => words.insert(at, words.get(at).cloned().unwrap_or_default()),
        3 => {
            let end = (at + 1 + dice.below(20)).min(words.len());
            let piece = words.get(at..end).unwrap_or_default().to_vec();
            let pieces = std::iter::repeat_n(piece, 1 + dice.below(40));
            drop(words.splice(at..at, pieces.flatten()));
        }
        4 => {
            let other = dice.below(words.len());
            if !words.is_empty() {
                words.swap(at, other);
            }
        }
        5 => words.insert(at, others[dice.below(others.len())].clone()),
        6 => {
            let end = (at + 1).min(words.len());
            drop(words.splice(at..end, [others[dice.below(others.len())].clone()]));
        }
        7 => words.insert(at, dice.pick(BYTES).to_vec()),
        8 => words.insert(at, (0..dice.below(9)).map(|_| dice.below(256) as u8).collect()),
        9 => words.insert(at, dice.pick(OPENERS).repeat(1 + dice.below(300)).into_bytes()),
        10 => change_number(words, dice),
        _ => words.truncate(at),
    }
}

/// Puts another number in the place of one, if there is one.
fn change_number(words: &mut [Vec<u8>], dice: &mut Dice) {
    let is_number = |word: &Vec<u8>| word.first().is_some_and(u8::is_ascii_digit);
    let places: Vec<usize> = (0..words.len()).filter(|place| is_number(&words[*place])).collect();
    if let Some(place) = places.get(dice.below(places.len())) {
        words[*place] = dice.pick(NUMBERS).as_bytes().to_vec();
    }
}

fn mutated(seed: &Seed, others: &[Vec<u8>], dice: &mut Dice) -> Vec<u8> {
    let mut words = words(&seed.bytes);
    for _ in 0..=dice.below(5) {
        mutate(&mut words, others, dice);
    }
    let mut bytes = words.concat();
    bytes.truncate(BYTES_MAX);
    bytes
}

/// Compiles as a file of this name, and judges what is found.
fn check(name: &str, bytes: &[u8], beside: &[u8]) {
    let mut files = InMemory::default();
    files.insert(name, bytes);
    for seed in ["seed.idl", "seed.proto", "library_people.proto"] {
        files.insert(seed, beside);
    }
    let mut sources = SourceMap::default();
    let compilation = compile_from(&files, Path::new(name), &Options::default(), &mut sources);
    let found = &compilation.diagnostics;
    let read = bytes.len() + beside.len();
    assert!(found.len() <= FINDINGS_PER_BYTE * read + 2, "{} findings", found.len());
    found.iter().for_each(|finding| check_places(finding, &sources));
    let has_error = found.iter().any(|one| one.rule.severity() == Severity::Error);
    assert_eq!(compilation.model.is_none(), has_error, "a model if nothing is wrong");
    assert_eq!(render::texts(found, &sources, false).is_empty(), found.is_empty());
    assert_eq!(json::lines(found, &sources).lines().count(), found.len());
    if let Some(model) = &compilation.model {
        plan::dump(model, &plan::plan(model));
        let rust = nearcall_idl::back::rust::compile_rust(model);
        if let Err(error) = syn::parse_file(&rust) {
            panic!("what is printed is no Rust: {error}");
        }
    }
}

fn check_places(finding: &Diagnostic, sources: &SourceMap) {
    let check = |span: Span| {
        let text = &sources.file(span.file).text;
        let range = span.start as usize..span.end as usize;
        assert!(text.get(range.clone()).is_some(), "{}: {range:?}", finding.rule.code);
    };
    check(finding.span);
    finding.labels.iter().for_each(|(span, _)| check(*span));
}

fn number(variable: &str, otherwise: u64) -> u64 {
    match env::var(variable) {
        Ok(text) => text.parse().unwrap_or_else(|_| panic!("{variable}={text} is no number")),
        Err(_) => otherwise,
    }
}

/// Every second mutation of each file, from `first` on: two tests, so that two processors have
/// something to do.
fn check_mutations(first: u64) {
    let (seed, count) = (number("NEARCALL_FUZZ_SEED", SEED), number("NEARCALL_FUZZ_COUNT", COUNT));
    let seeds = seeds();
    let others: Vec<Vec<u8>> = seeds.iter().flat_map(|one| words(&one.bytes)).collect();
    let (mut inputs, mut bytes_read) = (0, 0);
    for (index, one) in seeds.iter().enumerate() {
        for turn in (first..count).step_by(2) {
            let mut dice = Dice::new(seed ^ (index as u64) << 40 ^ turn);
            let input = mutated(one, &others, &mut dice);
            let beside = &seeds[dice.below(seeds.len())].bytes;
            let judged = catch_unwind(AssertUnwindSafe(|| check(one.input_name(), &input, beside)));
            if judged.is_err() {
                let text = String::from_utf8_lossy(&input);
                panic!("{} of seed {seed}, mutation {turn}:\n{text}", one.name);
            }
            inputs += 1;
            bytes_read += input.len();
        }
    }
    println!("{inputs} inputs of {} files, {bytes_read} bytes", seeds.len());
    assert!(inputs > 5_000 || count < COUNT, "only {inputs} inputs");
}

#[test]
fn mutated_files_end_and_every_finding_has_its_place() {
    check_mutations(0);
}

#[test]
fn other_mutated_files_end_and_every_finding_has_its_place() {
    check_mutations(1);
}

/// A file of MIDL or proto3 that ends anywhere, in the middle of a word too.
#[test]
fn a_file_that_is_cut_anywhere_ends() {
    let seeds = seeds();
    let find =
        |name: &str| &seeds.iter().find(|seed| seed.name == name).expect("it is there").bytes;
    let mut inputs = 0;
    let people = find("library_people.proto");
    const FILES: &[&str] = &[
        "midl.idl",
        "midl_types.idl",
        "pfs.idl",
        "E0302-com.idl",
        "E0303-pidl.idl",
        "library.proto",
    ];
    for name in FILES {
        let (bytes, seed) = (find(name), seeds.iter().find(|seed| seed.name == *name));
        let input = seed.expect("it is there").input_name();
        for end in 0..bytes.len() {
            let judged = catch_unwind(AssertUnwindSafe(|| check(input, &bytes[..end], people)));
            assert!(judged.is_ok(), "{name} cut at byte {end}");
            inputs += 1;
        }
    }
    println!("{inputs} cuts");
    assert!(inputs > 3_000, "only {inputs} cuts");
}

/// A judge that lets everything pass would be no judge.
#[test]
fn a_finding_outside_its_file_is_noticed() {
    let mut sources = SourceMap::default();
    let file = sources.add("a.idl", "const");
    static RULE: nearcall_idl::diagnostic::Rule =
        nearcall_idl::diagnostic::Rule { code: "E0999", clause: "ours", title: "none" };
    let finding = Diagnostic::new(&RULE, Span { file, start: 2, end: 6 }, "outside");
    assert!(catch_unwind(AssertUnwindSafe(|| check_places(&finding, &sources))).is_err());
}
