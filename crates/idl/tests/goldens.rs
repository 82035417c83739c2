//! What the compiler makes of the files under `tests/idl/plan`, `c`, `python`, `rust`, `selftest`
//! and `selftest-feeds`, to the letter.
//! `UPDATE_EXPECT=1 cargo test` writes the goldens anew.

use std::path::{Path, PathBuf};

use expect_test::expect_file;
use nearcall_idl::back::LANGUAGES;
use nearcall_idl::back::c::compile_c;
use nearcall_idl::back::cpp::compile_cpp;
use nearcall_idl::back::python::compile_python;
use nearcall_idl::back::rust::compile_rust;
use nearcall_idl::diagnostic::Severity;
use nearcall_idl::diagnostic::render::texts;
use nearcall_idl::front::compile;
use nearcall_idl::front::options::Options;
use nearcall_idl::model::Model;
use nearcall_idl::plan::{dump, plan};
use nearcall_idl::selftest::Selftest;
use nearcall_idl::source::SourceMap;

fn interface_files(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/idl").join(folder);
    let entries = std::fs::read_dir(folder).expect("the folder is there");
    let paths = entries.map(|entry| entry.expect("it can be listed").path());
    let is_interface =
        |path: &PathBuf| path.extension().is_some_and(|end| end == "idl" || end == "proto");
    let mut files: Vec<PathBuf> = paths.filter(is_interface).collect();
    files.sort();
    files
}

fn model(path: &Path) -> Model {
    let mut sources = SourceMap::default();
    let mut compilation = compile(path, &Options::default(), &mut sources);
    compilation.diagnostics.retain(|finding| finding.rule.severity() == Severity::Error);
    let said = texts(&compilation.diagnostics, &sources, false);
    compilation.model.unwrap_or_else(|| panic!("{}:\n{said}", path.display()))
}

fn check(folder: &str, golden: &str, least: usize, print: impl Fn(&Model) -> String) {
    let files = interface_files(folder);
    for path in &files {
        expect_file![path.with_extension(golden)].assert_eq(&print(&model(path)));
    }
    println!("{} files", files.len());
    assert!(files.len() >= least, "only {} files", files.len());
}

#[test]
fn plans_are_as_agreed() {
    check("plan", "plan", 7, |model| dump(model, &plan(model)));
}

#[test]
fn rust_is_as_agreed() {
    check("rust", "rs", 4, |model| {
        let rust = compile_rust(model);
        syn::parse_file(&rust).expect("what is printed is Rust");
        rust
    });
}

/// C++ prints what C does, and one file more.
#[test]
fn c_and_cpp_are_as_agreed() {
    let files = interface_files("c");
    let mut goldens = 0;
    for path in &files {
        let stem = path.file_stem().expect("a file").to_string_lossy();
        for output in compile_cpp(&model(path), &stem).expect("C++ can express it") {
            let golden = output.suffix.trim_start_matches(['.', '_']).replace('_', ".");
            expect_file![path.with_extension(golden)].assert_eq(&output.text);
            goldens += 1;
        }
    }
    println!("{} files, {goldens} goldens", files.len());
    assert!(files.len() >= 2 && goldens == 4 * files.len(), "{goldens} goldens");
}

/// Why C has no stubs of an operation, with types of all lengths.
fn refused_by_c(operation: &str) -> Vec<String> {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let path = directory.path().join("big.idl");
    let types = "typedef octet Big[65537]; typedef octet Huge[2097152]; typedef octet Half[32768];
        typedef string Names[8193]; struct Framed { long number; Huge pixels; string name; };
        struct Node { @optional Huge more; sequence<Huge> all; map<long, Huge> some; };
        union Either switch (boolean) { case TRUE: octet one; case FALSE: Names all; };
        exception Bad { Huge why; }; exception Poor { Half why; string name; };
        exception Lame { Half why; };
        @bit_bound(8) enum Small { A, B }; typedef Small Smalls[20000];";
    std::fs::write(&path, format!("{types} interface Store {{ {operation} }};"))
        .expect("it can be written");
    let found = compile_c(&model(&path), "big").err().unwrap_or_default();
    found.iter().map(|one| one.to_string()).collect()
}

#[test]
fn c_does_not_print_stubs_that_no_stack_holds() {
    let said = |what: &str, bytes| {
        let end = "a stub in C has room for 65536: declare large arrays as sequences";
        vec![format!("Store::f: {what} {bytes} bytes, and {end}")]
    };
    let fixed = said("its fixed parameters take", 65_537);
    assert_eq!(refused_by_c("void f(in Big big);"), fixed);
    assert_eq!(refused_by_c("Big f();"), fixed);
    let values = |bytes| said("the values that go one way take", bytes);
    // These go behind the fixed part, from a length on or since they hold text.
    for (operation, bytes) in [
        ("void f(in Huge huge);", 2_097_152),
        ("Huge f();", 2_097_152),
        ("void f(inout Huge huge);", 2_097_152),
        ("void f(out Huge huge);", 2_097_152),
        ("@oneway void f(in Huge huge);", 2_097_152),
        ("void f(in Framed framed);", 2_097_168),
        ("void f(in Names names);", 65_544),
        ("void f(in Either either);", 65_552),
        // On the way each takes a byte.
        ("void f(in Smalls smalls, in string name);", 80_008),
    ] {
        assert_eq!(refused_by_c(operation), values(bytes), "{operation}");
    }
    let raised = |bytes| said("its exceptions take", bytes);
    assert_eq!(refused_by_c("void f() raises (Bad);"), raised(2_097_152));
    assert_eq!(refused_by_c("void f() raises (Lame, Poor);"), raised(65_544));
    for operation in ["@feed Framed f();", "void f(@feed in Framed item);"] {
        assert_eq!(refused_by_c(operation), said("an item takes", 2_097_168), "{operation}");
    }
    let none: [&str; 0] = [];
    for operation in [
        "void f(in sequence<Huge> huge, in Node node);",
        "sequence<Framed> f();",
        "void f(in Half one, in Half other, out Half third);",
        "void f() raises (Poor);",
    ] {
        assert_eq!(refused_by_c(operation), none, "{operation}");
    }
}

#[test]
fn what_a_client_in_python_has_besides_is_no_name_of_an_operation() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let path = directory.path().join("names.idl");
    std::fs::write(&path, "interface Names { void binding(); void posting(); };")
        .expect("it can be written");
    let text = compile_python(&model(&path));
    // In the two clients, the two servers, and what posts.
    for name in ["binding_", "posting_"] {
        assert_eq!(text.matches(&format!("def {name}(self)")).count(), 5, "{name} in {text}");
    }
    assert_eq!(text.matches("def posting(self) -> NamesPosting:").count(), 1);
}

/// What Python's stubs of a text have for the cases of its unions.
fn cases_in_python(text: &str) -> Vec<String> {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let path = directory.path().join("unions.idl");
    std::fs::write(&path, text).expect("it can be written");
    let printed = compile_python(&model(&path));
    let cases = printed.lines().filter(|line| line.contains("= _raw.Case["));
    cases.map(|line| line.trim().replace("_raw.Case", "Case")).collect()
}

#[test]
fn a_case_in_python_gets_a_line_behind_a_name_that_is_taken() {
    let cases =
        "case 1: long value; case 2: long discriminator; case 3: long from; case 4: long x;";
    let found = cases_in_python(&format!("union Taken switch (long) {{ {cases} }};"));
    let names = found.iter().map(|line| line.split(' ').next().unwrap_or_default());
    assert_eq!(names.collect::<Vec<_>>(), ["value_", "discriminator_", "from_", "x"]);
}

#[test]
fn a_case_in_python_is_selected_by_its_first_label_as_python_has_it() {
    let found = cases_in_python(
        "enum Size { TINY, BIG };
         union Number switch (long) { case 7: case -2: string a; };
         union Letter switch (char) { case 'a': string a; };
         union Truth switch (boolean) { case TRUE: string a; };
         union Sized switch (Size) { case BIG: string a; };",
    );
    let labels = ["7, -2", "\"a\"", "True", "Size.BIG"];
    assert_eq!(found, labels.map(|labels| format!("a = Case[\"str\"]({labels})")));
}

#[test]
fn the_comment_of_a_case_stands_above_its_name_in_python() {
    let text = "union Told switch (long) {\n/// By name.\ncase 1: string a;\n};";
    let directory = tempfile::tempdir().expect("a temporary directory");
    let path = directory.path().join("unions.idl");
    std::fs::write(&path, text).expect("it can be written");
    let printed = compile_python(&model(&path));
    assert!(printed.contains("    #: By name.\n    a = _raw.Case[\"str\"](1)\n"), "{printed}");
}

#[test]
fn a_default_in_python_is_selected_by_what_is_no_label() {
    let least: String = (0..128).map(|label| format!("case {label}: ")).collect();
    let found = cases_in_python(&format!(
        "enum Size {{ TINY, BIG }};
         @range(min = 5, max = 9) typedef octet Few;
         union Number switch (long) {{ case 0: case 2: long a; default: string z; }};
         union Byte switch (int8) {{ {least} long a; default: string z; }};
         union Letter switch (char) {{ case '\\0': long a; default: string z; }};
         union Truth switch (boolean) {{ case FALSE: long a; default: string z; }};
         union Sized switch (Size) {{ case TINY: long a; default: string z; }};
         union Ranged switch (Few) {{ case 5: long a; default: string z; }};
         union Both switch (long) {{ case 1: long a; case 5: default: string z; }};"
    ));
    let rest = found.iter().filter_map(|line| line.strip_prefix("z = Case[\"str\"]("));
    let selecting = rest.map(|rest| rest.split(", unless=").next().unwrap_or_default());
    let wanted = ["1", "-1", "\"\\U00000001\"", "True", "Size.BIG", "6", "5"];
    assert_eq!(selecting.collect::<Vec<_>>(), wanted);
}

#[test]
fn every_language_passes_descriptors_and_feeds() {
    for file in ["descriptors", "feeds"] {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/idl/rust");
        let model = model(&folder.join(file).with_extension("idl"));
        for language in LANGUAGES {
            let printed = (language.compile)(&model, file);
            let printed = printed.unwrap_or_else(|found| panic!("{}: {found:?}", language.name));
            let is_there = |text: &str| printed.iter().any(|output| output.text.contains(text));
            assert!(is_there("open") || is_there("rows"), "{}: {file}", language.name);
        }
    }
}

#[test]
fn every_language_has_exchanges() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/idl/plan");
    let model = model(&folder.join("exchanges.idl"));
    for language in LANGUAGES {
        let printed = (language.compile)(&model, "exchanges");
        let printed = printed.unwrap_or_else(|found| panic!("{}: {found:?}", language.name));
        let names_both = |text: &str| text.contains("nlet") && text.contains("utlet");
        assert!(printed.iter().any(|output| names_both(&output.text)), "{}", language.name);
    }
}

#[test]
fn python_is_as_agreed() {
    check("python", "py", 3, compile_python);
}

/// What the programs share is in files of its own, which compilers see.
#[test]
fn self_tests_are_as_agreed() {
    let files = ["selftest", "selftest-feeds"].map(interface_files).concat();
    let (mut programs, mut goldens) = (0, 0);
    for path in &files {
        let (stem, model) = (path.file_stem().expect("a file").to_string_lossy(), model(path));
        let test = Selftest::new(&model, 1).expect("it has operations");
        for language in LANGUAGES {
            let outputs = (language.selftest)(&model, &stem, &test).expect("it is in every one");
            programs += 2;
            for output in outputs {
                if let Some(golden) = output.suffix.strip_prefix("_selftest_") {
                    expect_file![path.with_extension(golden)].assert_eq(&output.text);
                    goldens += 1;
                }
            }
        }
    }
    println!("{} files, {goldens} goldens", files.len());
    assert_eq!((goldens, programs), (32, 32));
}

#[test]
fn output_is_the_same_every_time() {
    for path in interface_files("rust") {
        assert_eq!(compile_rust(&model(&path)), compile_rust(&model(&path)));
    }
}

#[test]
fn output_has_neither_unsafe_code_nor_paths_of_this_machine() {
    for path in interface_files("rust") {
        let text = compile_rust(&model(&path));
        assert!(!text.contains("unsafe"), "{}", path.display());
        assert!(!text.contains("/tests/"), "{}", path.display());
    }
}
