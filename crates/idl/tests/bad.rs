//! Every rule of the parser and the resolver finds its bad input and says so in these words.
//!
//! `tests/idl/bad/CODE-name.idl`, or `.proto`, breaks rule CODE; `CODE-name.expect` is what is
//! printed. `UPDATE_EXPECT=1` rewrites them. What one finds beside it lies in
//! `tests/idl/beside/CODE-name`. Inputs that have to be long are made here.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use expect_test::{Expect, expect, expect_file};
use nearcall_idl::diagnostic::{Diagnostic, Severity, render};
use nearcall_idl::front::compile_from;
use nearcall_idl::front::options::Options;
use nearcall_idl::front::preprocessor::files::InMemory;
use nearcall_idl::front::rules::{midl, proto, semantics, syntax};
use nearcall_idl::source::SourceMap;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/idl/bad")
}

fn inputs() -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder()).expect("tests/idl/bad is there");
    let paths = entries.map(|entry| entry.expect("it can be listed").path());
    let mut files: Vec<PathBuf> = paths
        .filter(|path| path.extension().is_some_and(|end| end == "idl" || end == "proto"))
        .collect();
    files.sort();
    files
}

fn code(path: &Path) -> String {
    let name = path.file_name().expect("it is a file").to_string_lossy();
    name.split('-').next().expect("it has a first part").to_owned()
}

/// Puts the files of a directory where others find them by their path below it.
fn put(files: &mut InMemory, directory: &Path, below: &Path) {
    for entry in std::fs::read_dir(directory.join(below)).into_iter().flatten() {
        let path = below.join(entry.expect("it can be listed").file_name());
        match std::fs::read(directory.join(&path)) {
            Ok(text) => files.insert(&path, text.as_slice()),
            Err(_) => put(files, directory, &path),
        }
    }
}

/// What is found in a text, and how it is printed.
fn compile(name: &str, text: &[u8]) -> (Vec<Diagnostic>, String) {
    let mut files = InMemory::default();
    files.insert(name, text);
    let beside = folder().join("../beside").join(name).with_extension("");
    put(&mut files, &beside, Path::new(""));
    let mut sources = SourceMap::default();
    let compilation = compile_from(&files, Path::new(name), &Options::default(), &mut sources);
    let has_error =
        compilation.diagnostics.iter().any(|one| one.rule.severity() == Severity::Error);
    assert_eq!(compilation.model.is_none(), has_error, "a model if nothing is wrong: {name}");
    let printed = render::texts(&compilation.diagnostics, &sources, false);
    (compilation.diagnostics, printed)
}

#[test]
fn every_bad_file_is_explained() {
    let inputs = inputs();
    for path in &inputs {
        let name = path.file_name().expect("it is a file").to_string_lossy();
        let text = std::fs::read(path).expect("it can be read");
        let (found, printed) = compile(&name, &text);
        let code = code(path);
        assert!(
            found.iter().any(|one| one.rule.code == code),
            "{name} finds no {code}:\n{printed}"
        );
        found.iter().for_each(check_wording);
        expect_file![path.with_extension("expect")].assert_eq(&printed);
    }
    println!("{} bad files", inputs.len());
    assert!(!inputs.is_empty());
}

/// Lower-case fragments; and a note never says `error`, which build logs are searched for.
fn check_wording(finding: &Diagnostic) {
    let texts = std::iter::once(&finding.message)
        .chain(finding.labels.iter().map(|(_, text)| text))
        .chain(&finding.help);
    for text in texts {
        assert!(!text.starts_with(char::is_uppercase) && !text.ends_with('.'), "{text}");
        let is_note = finding.rule.severity() == Severity::Note;
        assert!(!is_note || !text.contains("error"), "{text}");
    }
}

#[test]
fn every_rule_has_a_bad_input() {
    let files = inputs();
    let made = long_inputs();
    let checked: BTreeSet<String> = files
        .iter()
        .map(|path| code(path))
        .chain(made.iter().map(|one| one.0.to_owned()))
        .collect();
    let rules: Vec<_> =
        syntax::ALL.iter().chain(semantics::ALL).chain(midl::ALL).chain(proto::ALL).collect();
    let missing: Vec<&str> =
        rules.iter().map(|rule| rule.code).filter(|code| !checked.contains(*code)).collect();
    assert!(missing.is_empty(), "no bad input for {missing:?}");
    println!("{} rules, {} bad inputs", rules.len(), files.len() + made.len());
    assert!(rules.len() > 120);
}

#[test]
fn every_expectation_has_an_input() {
    let entries = std::fs::read_dir(folder()).expect("tests/idl/bad is there");
    for entry in entries {
        let path = entry.expect("it can be listed").path();
        let has_input = ["idl", "proto"].iter().any(|end| path.with_extension(end).exists());
        assert!(has_input, "{} has no input", path.display());
    }
}

#[test]
fn what_is_too_much_is_refused() {
    let made = long_inputs();
    for (code, text, want) in &made {
        let name = if code.starts_with("E04") { "long.proto" } else { "long.idl" };
        let (found, _) = compile(name, text.as_bytes());
        let said: Vec<String> =
            found.iter().map(|one| format!("{} {}", one.rule.code, one.message)).collect();
        want.assert_eq(&said.join("\n"));
        assert!(said.iter().any(|one| one.starts_with(code)));
    }
    println!("{} long inputs", made.len());
}

/// Inputs that break a limit: the code of the rule, the text, what is said.
fn long_inputs() -> Vec<(&'static str, String, Expect)> {
    vec![
        (
            "E0105",
            (0..10_000).map(|index| format!("module m{index} {{ ")).collect(),
            expect![[r#"
                E0105 this is nested more than 64 deep
                E0104 the text ends inside `m63`"#]],
        ),
        (
            "E0106",
            format!("const long sum = 1{};", " + 1".repeat(100_000)),
            expect!["E0106 this expression has more than 256 operators"],
        ),
        ("E0295", aliases(1_000), expect!["E0295 `A64` nests more than 64 types"]),
        (
            "E0296",
            "typedef octet A[65536]; typedef A B[65536]; typedef B C[65536]; struct S { C all; };"
                .to_owned(),
            expect!["E0296 a value of `B` takes more than 1073741824 bytes"],
        ),
        ("E0297", doubled(30), expect!["E0297 `S15` comes down to more than 65536 scalars"]),
        (
            "E0298",
            heirs(1_000),
            expect!["E0298 with `I65` the interfaces have more than 65536 operations"],
        ),
        (
            "E0400",
            (0..10_000).map(|index| format!("message M{index} {{ ")).collect(),
            expect!["E0400 reached maximum recursion limit for nested messages"],
        ),
        (
            "E0404",
            format!("// {}", "x".repeat(17 << 20)),
            expect!["E0404 with this file more than 16777216 bytes are read"],
        ),
        ("E0299", bases(1_000), expect!["E0299 `Bottom` has more than 255 bases"]),
    ]
}

fn aliases(count: u32) -> String {
    (1..count).fold("typedef long A0;".to_owned(), |mut text, index| {
        let _ = write!(text, " typedef A{} A{index};", index - 1);
        text
    })
}

fn doubled(count: u32) -> String {
    (1..count).fold("struct S0 { char a; };".to_owned(), |mut text, index| {
        let _ = write!(text, " struct S{index} {{ S{0} a; S{0} b; }};", index - 1);
        text
    })
}

/// An interface of a thousand operations, and many that inherit them.
fn heirs(count: u32) -> String {
    let operations: String = (0..1_000).map(|index| format!(" void o{index}();")).collect();
    let heirs: String = (1..count).map(|index| format!(" interface I{index} : I0 {{}};")).collect();
    format!("interface I0 {{{operations} }};{heirs}")
}

fn bases(count: u32) -> String {
    let mut text: String = (0..count).map(|index| format!("interface I{index} {{}}; ")).collect();
    let names: Vec<String> = (0..count).map(|index| format!("I{index}")).collect();
    let _ = write!(text, "interface Bottom : {} {{}};", names.join(", "));
    text
}
