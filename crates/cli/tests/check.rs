//! `nearcall check`.

mod program;

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use program::{nearcall, outcome};
use tempfile::TempDir;

/// Checks files of these names and texts; returns end code, standard output, standard error.
fn check(arguments: &[&str], files: &[(&str, &str)]) -> (i32, String, String) {
    let directory = TempDir::new().unwrap();
    for (name, text) in files {
        write(&directory.path().join(name), text);
    }
    let mut command = nearcall(&["check"]);
    outcome(command.args(arguments).current_dir(directory.path()))
}

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

const GOOD: &str = "interface Adder { long add(in long a, in long b); void reset(); };";

/// Two mistakes, in lines 2 and 3.
const BAD: &str = "interface Adder {\n  Lon add();\n  void reset(in Shor a);\n};\n";

#[test]
fn a_good_file_passes_and_its_operations_are_counted() {
    let (code, output, errors) = check(&["a.idl"], &[("a.idl", GOOD)]);
    assert_eq!((code, output.as_str()), (0, ""));
    assert_eq!(errors, "1 file, 2 operations, 0 errors, 0 notes\n");
}

#[test]
fn an_inherited_operation_is_counted_once() {
    let text =
        "interface Base { void first(); }; interface Derived : Base { attribute long second; };";
    let (code, _, errors) = check(&["a.idl"], &[("a.idl", text)]);
    assert_eq!((code, errors.as_str()), (0, "1 file, 3 operations, 0 errors, 0 notes\n"));
}

#[test]
fn an_operation_with_feeds_is_counted_once() {
    let text = "interface Ledger {\n  @feed long rows();\n  long load(@feed in long row);\n  \
                @feed long talk(@feed in long line);\n};\n";
    let (code, _, errors) = check(&["a.idl"], &[("a.idl", text)]);
    assert_eq!((code, errors.as_str()), (0, "1 file, 3 operations, 0 errors, 0 notes\n"));
}

#[test]
fn every_mistake_of_a_bad_file_is_shown_with_its_place() {
    let (code, output, errors) = check(&["a.idl"], &[("a.idl", BAD)]);
    assert_eq!((code, output.as_str()), (1, ""));
    for place in ["error[", "a.idl:2:3", "a.idl:3:17"] {
        assert!(errors.contains(place), "{place} is missing:\n{errors}");
    }
    assert!(errors.ends_with("1 file, 0 operations, 2 errors, 0 notes\n"), "{errors}");
}

#[test]
fn a_bad_file_does_not_hide_the_next() {
    let files = [("bad.idl", BAD), ("good.idl", GOOD)];
    let (code, _, errors) = check(&["bad.idl", "good.idl"], &files);
    assert_eq!(code, 1);
    assert!(errors.ends_with("2 files, 2 operations, 2 errors, 0 notes\n"), "{errors}");
}

#[test]
fn a_note_that_is_allowed_is_not_told() {
    let text = "enum Color { red }; struct S { Color color; };";
    let (code, _, errors) = check(&["a.idl"], &[("a.idl", text)]);
    assert!(code == 0 && errors.contains("note[N0207]"), "{errors}");
    for allow in ["--allow=N0207", "--allow=N0290,N0207"] {
        let (code, _, errors) = check(&[allow, "a.idl"], &[("a.idl", text)]);
        assert_eq!((code, errors.as_str()), (0, "1 file, 0 operations, 0 errors, 0 notes\n"));
    }
    for allow in ["--allow=E0203", "--allow=N0000"] {
        let (code, _, errors) = check(&[allow, "a.idl"], &[("a.idl", text)]);
        assert!(code == 2 && errors.contains("there is no such note"), "{errors}");
    }
}

#[test]
fn a_note_is_no_mistake() {
    let text = "enum Kind { ONE }; struct Entry { Kind kind; };";
    let (code, _, errors) = check(&["a.idl"], &[("a.idl", text)]);
    assert_eq!(code, 0);
    assert!(errors.contains("note["), "{errors}");
    assert!(errors.ends_with("1 file, 0 operations, 0 errors, 1 note\n"), "{errors}");
}

#[test]
fn with_json_there_is_one_object_a_finding_and_nothing_else() {
    let files = [("bad.idl", BAD), ("good.idl", GOOD)];
    let (code, output, errors) = check(&["--json", "bad.idl", "good.idl"], &files);
    assert_eq!(code, 1);
    assert_eq!(errors, "2 files, 2 operations, 2 errors, 0 notes\n");
    let findings: Vec<serde_json::Value> =
        output.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let places: Vec<_> =
        findings.iter().map(|f| (f["file"].as_str(), f["line"].as_u64())).collect();
    assert_eq!(places, [(Some("bad.idl"), Some(2)), (Some("bad.idl"), Some(3))]);
    assert!(findings.iter().all(|f| f["severity"] == "error" && f["code"].is_string()));
}

#[test]
fn a_missing_file_and_a_directory_are_mistakes() {
    let (code, _, errors) = check(&["no-such.idl", "."], &[]);
    assert_eq!(code, 1);
    assert!(errors.contains("no-such.idl: no such file"), "{errors}");
    assert!(errors.contains(".: is a directory"), "{errors}");
    assert!(errors.ends_with("2 files, 0 operations, 2 errors, 0 notes\n"), "{errors}");
}

#[test]
fn a_missing_include_is_a_mistake_at_its_place() {
    let text = "\n#include \"no-such.idl\"\n";
    let (code, _, errors) = check(&["a.idl"], &[("a.idl", text)]);
    assert_eq!(code, 1);
    assert!(errors.contains("a.idl:2:") && errors.contains("no-such.idl"), "{errors}");
}

#[test]
fn included_files_are_searched_where_the_command_line_says() {
    let text = "#include <number.idl>\ninterface Adder { Number add(); };";
    let files = [("a.idl", text), ("deep/below/number.idl", "typedef long Number;")];
    assert_eq!(check(&["a.idl", "-I", "deep/below"], &files).0, 0);
    assert_eq!(check(&["a.idl", "-Ideep"], &files).0, 1);
}

#[test]
fn macros_are_what_the_command_line_says() {
    let text = "#if N == 3 && defined FLAG\ninterface Adder { void add(); };\n#endif";
    let files = [("a.idl", text)];
    let (code, _, errors) = check(&["a.idl", "-D", "N=3", "-DFLAG"], &files);
    assert_eq!((code, errors.as_str()), (0, "1 file, 1 operation, 0 errors, 0 notes\n"));
    let (_, _, errors) = check(&["a.idl", "-D", "N=4", "-DFLAG"], &files);
    assert_eq!(errors, "1 file, 0 operations, 0 errors, 0 notes\n");
    let (code, _, errors) = check(&["a.idl", "-D", "=3"], &files);
    assert_eq!(code, 2);
    assert!(errors.contains("a macro needs a name"), "{errors}");
}

#[test]
fn a_thousand_operations_pass() {
    let mut text = "interface Wide {\n".to_owned();
    for number in 0..1_000 {
        let _ = writeln!(text, "  string operation_{number}(in long a, inout sequence<long> b);");
    }
    text += "};\n";
    let (code, _, errors) = check(&["a.idl"], &[("a.idl", &text)]);
    assert_eq!((code, errors.as_str()), (0, "1 file, 1000 operations, 0 errors, 0 notes\n"));
}

#[test]
fn nothing_to_check_is_a_mistake_of_the_command_line() {
    assert_eq!(check(&[], &[]).0, 2);
    assert_eq!(check(&["--no-such-option", "a.idl"], &[("a.idl", GOOD)]).0, 2);
}

#[test]
fn a_file_with_attributes_is_read_as_midl() {
    let text = "interface adder { long add([in] long a, [in, size_is(n)] long *b, [in] long n); }";
    let (code, _, errors) = check(&["a.idl"], &[("a.idl", text)]);
    assert_eq!((code, errors.as_str()), (0, "1 file, 1 operation, 0 errors, 0 notes\n"));
}

#[test]
fn two_services_of_a_proto_file_are_checked_with_what_it_imports() {
    let services = "syntax = \"proto3\";\nimport \"acme/sums.proto\";\n\
                    service Adder { rpc Add(acme.Terms) returns (acme.Sum); }\n\
                    service Resetter { rpc Reset(acme.Terms) returns (acme.Sum); }\n";
    let sums = "syntax = \"proto3\";\npackage acme;\n\
                message Terms { repeated int32 all = 1; }\nmessage Sum { int64 value = 1; }\n";
    let files = [("services.proto", services), ("include/acme/sums.proto", sums)];
    let (code, _, errors) = check(&["-Iinclude", "services.proto"], &files);
    assert_eq!((code, errors.as_str()), (0, "1 file, 2 operations, 0 errors, 0 notes\n"));
    let (code, _, errors) = check(&["services.proto"], &files);
    assert_eq!(code, 1);
    assert!(errors.contains("E0401") && errors.contains("services.proto:2:1"), "{errors}");
}

#[test]
fn a_file_that_tells_nothing_is_midl_when_asked_for() {
    let text = "interface resetter { void reset(void); }";
    let files = [("a.idl", text), ("a.midl", text)];
    let (code, _, errors) = check(&["a.midl"], &files);
    assert_eq!((code, errors.as_str()), (0, "1 file, 1 operation, 0 errors, 0 notes\n"));
    let (code, _, errors) = check(&["--midl", "a.idl"], &files);
    assert_eq!((code, errors.as_str()), (0, "1 file, 1 operation, 0 errors, 0 notes\n"));
    let (code, _, _) = check(&["a.idl"], &files);
    assert_eq!(code, 1);
}
