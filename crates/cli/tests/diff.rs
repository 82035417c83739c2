//! `nearcall diff`.

mod program;

use std::fs;

use program::{nearcall, outcome};
use tempfile::TempDir;

/// Compares two texts in files of this ending; returns end code, standard output, standard error.
fn diff(ending: &str, old: &str, new: &str, arguments: &[&str]) -> (i32, String, String) {
    let directory = TempDir::new().unwrap();
    for (folder, text) in [("old", old), ("new", new)] {
        fs::create_dir(directory.path().join(folder)).unwrap();
        fs::write(directory.path().join(format!("{folder}/a.{ending}")), text).unwrap();
    }
    let files = [format!("old/a.{ending}"), format!("new/a.{ending}")];
    let mut command = nearcall(&["diff"]);
    outcome(command.args(arguments).args(files).current_dir(directory.path()))
}

const OLD: &str = "interface Adder {\n  long add(in long a);\n};\n";
const LONGER: &str = "interface Adder {\n  long add(in long a);\n  void reset();\n};\n";
const OTHER: &str = "interface Adder {\n\n  long add(in short a);\n};\n";

#[test]
fn nothing_breaks_by_what_is_added_at_the_end() {
    let (code, output, errors) = diff("idl", OLD, LONGER, &[]);
    assert_eq!((code, output.as_str()), (0, ""), "{errors}");
    assert!(errors.contains("note[N0605]") && errors.contains("Adder::reset"), "{errors}");
    assert!(errors.ends_with("0 breaking changes, 1 other change\n"), "{errors}");
    let (code, _, errors) = diff("idl", OLD, OLD, &[]);
    assert_eq!((code, errors.as_str()), (0, "0 breaking changes, 0 other changes\n"));
}

#[test]
fn a_breaking_change_is_shown_where_it_was_and_where_it_is() {
    let (code, output, errors) = diff("idl", OLD, OTHER, &[]);
    assert_eq!((code, output.as_str()), (1, ""), "{errors}");
    for part in [
        "error[E0611]",
        "parameter `a` of `Adder::add` is `short`, was `long`",
        "new/a.idl:3:21",
        "old/a.idl:2",
        "breaks old clients of a new server, new clients of an old server",
        "a bind between the two is refused and names `Adder::add`",
    ] {
        assert!(errors.contains(part), "{part} is missing:\n{errors}");
    }
}

#[test]
fn with_json_there_is_one_object_a_change_and_who_breaks_by_it() {
    let (code, output, _) = diff("idl", OLD, OTHER, &["--json"]);
    assert_eq!(code, 1);
    let lines: Vec<serde_json::Value> =
        output.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 1, "{output}");
    assert_eq!((&lines[0]["code"], &lines[0]["file"]), (&"E0611".into(), &"new/a.idl".into()));
    assert_eq!(lines[0]["labels"][0]["file"], "old/a.idl");
    let breaks = ["old-client", "new-client", "client-source", "server-source"];
    assert_eq!(lines[0]["breaks"], serde_json::json!(breaks));
    assert_eq!(lines[0]["refused_at"], "Adder::add");
}

#[test]
fn a_bad_file_is_neither_an_answer() {
    let bad = "interface Adder { Lon add(); };";
    for (old, new) in [(OLD, bad), (bad, OLD)] {
        let (code, output, errors) = diff("idl", old, new, &[]);
        assert_eq!((code, output.as_str()), (2, ""));
        assert!(errors.contains("a.idl:1:19"), "{errors}");
        // As `nearcall check` tells it.
        let (code, output, errors) = diff("idl", old, new, &["--json"]);
        assert_eq!((code, errors.as_str()), (2, ""));
        let line: serde_json::Value = serde_json::from_str(&output).unwrap();
        assert_eq!((&line["severity"], &line["line"]), (&"error".into(), &1.into()), "{output}");
    }
    let (code, _, errors) = outcome(nearcall(&["diff"]).args(["no-such.idl", "no-other.idl"]));
    assert_eq!(code, 2);
    assert!(errors.contains("no-such.idl") && errors.contains("no-other.idl"), "{errors}");
    assert_eq!(outcome(nearcall(&["diff"]).arg("one.idl")).0, 2);
}

/// Files that import by a path from a root of their own, as `.proto` files do.
#[test]
fn each_version_includes_what_is_its_own() {
    let directory = TempDir::new().unwrap();
    for (root, field) in [("old", "int32 x = 1;"), ("new", "int64 x = 1;")] {
        let folder = directory.path().join(root).join("a");
        fs::create_dir_all(&folder).unwrap();
        let types = format!("syntax = \"proto3\";\nmessage M {{ {field} }}\n");
        let service = "syntax = \"proto3\";\nimport \"a/types.proto\";\n\
                       service S { rpc A(M) returns (M); }\n";
        fs::write(folder.join("types.proto"), types).unwrap();
        fs::write(folder.join("service.proto"), service).unwrap();
    }
    let compare = |arguments: &[&str]| {
        let files = ["old/a/service.proto", "new/a/service.proto"];
        let mut command = nearcall(&["diff"]);
        outcome(command.args(arguments).args(files).current_dir(directory.path()))
    };
    let (code, _, errors) = compare(&["--include-old", "old", "--include-new", "new"]);
    assert_eq!(code, 1, "{errors}");
    assert!(errors.contains("field `x` of `M` is `int64`, was `int32`"), "{errors}");
    let (code, _, errors) = compare(&["--include-old", "old", "-I", "new"]);
    assert_eq!(code, 1, "{errors}");
    let (code, _, errors) = compare(&["-I", "new"]);
    assert_eq!(code, 0, "{errors}");
}

#[test]
fn midl_and_proto_are_compared_as_well() {
    let old = "interface adder { long add([in] long a, [in, size_is(n)] long *b, [in] long n); }";
    let new = "interface adder { long add([in] long a, [in, size_is(n)] short *b, [in] long n); }";
    let (code, _, errors) = diff("midl", old, new, &[]);
    assert_eq!(code, 1, "{errors}");
    assert!(errors.contains("E0611") && errors.contains("adder::add"), "{errors}");
    let proto = |fields: &str, more: &str| {
        format!(
            "syntax = \"proto3\";\npackage p;\nmessage M {{ {fields} }}\n\
             service S {{ rpc A(M) returns (M); {more} }}\n"
        )
    };
    let old = proto("int32 x = 1;", "");
    let (code, _, errors) = diff("proto", &old, &proto("int32 x = 1; int32 y = 2;", ""), &[]);
    assert_eq!(code, 0, "{errors}");
    assert!(errors.contains("N0629") && errors.contains("`y = 2`"), "{errors}");
    let late = proto("int32 x = 4;", "");
    let (code, _, errors) = diff("proto", &late, &proto("int32 y = 2; int32 x = 4;", ""), &[]);
    assert_eq!(code, 1, "{errors}");
    assert!(errors.contains("E0606") && errors.contains("p::S::"), "{errors}");
    let (code, _, errors) = diff("proto", &old, &proto("int32 x = 7;", ""), &[]);
    assert_eq!(code, 1, "{errors}");
    assert!(errors.contains("E0606") && errors.contains("`x = 7`"), "{errors}");
    let (code, _, errors) = diff("proto", &old, &proto("int32 y = 1;", ""), &[]);
    assert_eq!(code, 1, "{errors}");
    assert!(errors.contains("E0607") && !errors.contains("is refused"), "{errors}");
    let (code, _, errors) =
        diff("proto", &old, &proto("int32 x = 1;", "rpc B(M) returns (M);"), &[]);
    assert_eq!(code, 0, "{errors}");
}

#[test]
fn one_language_is_compared_with_another() {
    let directory = TempDir::new().unwrap();
    let at = |name: &str| directory.path().join(name);
    fs::write(at("a.idl"), "interface adder { long add(in long a); };").unwrap();
    fs::write(at("a.midl"), "interface adder { long add([in] long a); }").unwrap();
    let (code, _, errors) =
        outcome(nearcall(&["diff"]).args(["a.idl", "a.midl"]).current_dir(directory.path()));
    assert_eq!((code, errors.as_str()), (0, "0 breaking changes, 0 other changes\n"));
}
