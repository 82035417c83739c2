//! `nearcall compile` and `nearcall plan`.

mod program;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Stdio;

use program::{nearcall, outcome};
use tempfile::TempDir;

const GOOD: &str = "interface Adder { long add(in long a, in long b); };";

/// A directory with `good.idl` and `bad.idl` in it.
fn directory() -> TempDir {
    let directory = TempDir::new().unwrap();
    fs::write(directory.path().join("good.idl"), GOOD).unwrap();
    fs::write(directory.path().join("bad.idl"), "interface Adder { Lon add(); };").unwrap();
    directory
}

/// Runs the program there; returns end code, standard output, standard error.
fn run(directory: &TempDir, arguments: &[&str]) -> (i32, String, String) {
    outcome(nearcall(arguments).current_dir(directory.path()))
}

#[test]
fn rust_goes_to_standard_output_or_where_it_is_told_to() {
    let directory = directory();
    let (code, output, errors) = run(&directory, &["compile", "good.idl"]);
    assert_eq!((code, errors.as_str()), (0, ""));
    assert!(output.contains("pub trait AdderServer"), "{output}");
    let (code, nothing, _) = run(&directory, &["compile", "good.idl", "-o", "good.rs"]);
    assert_eq!((code, nothing.as_str()), (0, ""));
    assert_eq!(fs::read_to_string(directory.path().join("good.rs")).unwrap(), output);
    // A directory will do, as it does for languages of several files.
    fs::create_dir(directory.path().join("made")).unwrap();
    let (code, nothing, errors) = run(&directory, &["compile", "good.idl", "-o", "made"]);
    assert_eq!((code, nothing.as_str(), errors.as_str()), (0, "", ""));
    assert_eq!(fs::read_to_string(directory.path().join("made/good.rs")).unwrap(), output);
}

#[test]
fn what_only_other_compilers_mind_is_not_noted_and_what_else_is_may_be_allowed() {
    let directory = directory();
    let text = "enum Color { red }; @mutable struct Pen { Color color; };
                interface Pens { void draw(in Pen pen); };";
    fs::write(directory.path().join("pens.idl"), text).unwrap();
    let (code, _, errors) = run(&directory, &["check", "pens.idl"]);
    assert!(code == 0 && errors.contains("N0207") && errors.contains("N0290"), "{errors}");
    for command in ["compile", "plan"] {
        let (code, _, errors) = run(&directory, &[command, "pens.idl"]);
        assert!(code == 0 && errors.contains("note[N0290]"), "{errors}");
        assert!(!errors.contains("N0207"), "{errors}");
        let (code, output, errors) = run(&directory, &[command, "--allow=N0290", "pens.idl"]);
        assert_eq!((code, errors.as_str()), (0, ""));
        assert!(output.contains("Pens"), "{output}");
    }
}

#[test]
fn another_language_is_written_when_it_is_named() {
    let directory = directory();
    let (code, output, errors) = run(&directory, &["compile", "-l", "python", "good.idl"]);
    assert_eq!((code, errors.as_str()), (0, ""));
    assert!(output.contains("class AdderClient(_raw.Client):"), "{output}");
    let (code, output, errors) = run(&directory, &["compile", "-l", "cobol", "good.idl"]);
    assert_eq!((code, output.as_str()), (2, ""));
    assert!(errors.contains("[possible values: rust, c, cpp, python]"), "{errors}");
}

#[test]
fn a_language_of_several_files_wants_a_directory() {
    let directory = directory();
    let (code, _, errors) = run(&directory, &["compile", "--language", "c", "good.idl"]);
    assert_eq!(code, 1);
    assert!(errors.contains("c takes 3 files: name their directory, -o DIR"), "{errors}");
    let (code, _, errors) = run(&directory, &["compile", "-l", "c", "good.idl", "-o", "stubs/"]);
    assert_eq!(code, 1);
    assert!(errors.contains("-o DIR (stubs/ is not there: make it first)"), "{errors}");
    fs::write(directory.path().join("good.h"), "").unwrap();
    let (code, _, errors) = run(&directory, &["compile", "-l", "c", "good.idl", "-o", "good.h"]);
    assert_eq!(code, 1);
    assert!(errors.contains("name their directory, -o DIR (good.h is none)"), "{errors}");
    // A link to what is not there, one to itself, and what lies behind a file.
    symlink("gone", directory.path().join("dangling")).unwrap();
    symlink("turning", directory.path().join("turning")).unwrap();
    symlink("good.h", directory.path().join("linked")).unwrap();
    for (output, why) in [
        ("dangling", "(dangling is a link that cannot be followed: No such file"),
        ("dangling/", "(dangling/ is a link that cannot be followed: No such file"),
        ("turning", "(turning is a link that cannot be followed: Too many levels"),
        ("linked", "(linked is none)"),
        ("turning/stubs", "(turning/stubs cannot be looked at: Too many levels"),
        ("good.h/stubs", "(good.h/stubs cannot be looked at: Not a directory"),
    ] {
        let (code, _, errors) = run(&directory, &["compile", "-l", "c", "good.idl", "-o", output]);
        assert!(code == 1 && errors.contains(why), "{errors}");
    }
    let (code, nothing, errors) =
        run(&directory, &["compile", "--language", "c", "good.idl", "-o", "."]);
    assert_eq!((code, nothing.as_str(), errors.as_str()), (0, "", ""));
    for name in ["good.h", "good.c", "good_server.c"] {
        let text = fs::read_to_string(directory.path().join(name)).unwrap();
        assert!(text.contains("Adder"), "{name}");
    }
    let (code, _, errors) = run(&directory, &["compile", "--language", "pascal", "good.idl"]);
    assert_eq!(code, 2);
    assert!(errors.contains("rust, c"), "{errors}");
}

/// What is in each file of a directory that was compiled to.
fn compiled(languages: &str, more: &[&str]) -> BTreeMap<String, String> {
    let directory = directory();
    let arguments = ["compile", "-l", languages, "good.idl", "-o", "."];
    let (code, said, errors) = run(&directory, &[&arguments[..], more].concat());
    assert_eq!((code, said.as_str(), errors.as_str()), (0, "", ""), "{languages}");
    let entries = fs::read_dir(directory.path()).unwrap().map(|entry| entry.unwrap().path());
    let made = entries.filter(|path| path.extension().is_none_or(|end| end != "idl"));
    let name = |path: &Path| path.file_name().unwrap().to_string_lossy().into_owned();
    made.map(|path| (name(&path), fs::read_to_string(&path).unwrap())).collect()
}

#[test]
fn several_languages_at_once_are_what_each_of_them_is_alone() {
    for (more, count) in [(&[][..], 6), (&["--selftest"], 18)] {
        let at_once = compiled("rust,c,cpp,python", more);
        let alone = ["c", "cpp"].map(|language| compiled(language, more));
        for (name, text) in alone.iter().flatten() {
            assert_eq!(at_once.get(name), Some(text), "{name}");
        }
        let others = at_once.keys().filter(|name| name.ends_with(".rs") || name.ends_with(".py"));
        let in_c = alone.iter().flatten().map(|(name, _)| name).collect::<BTreeSet<_>>();
        assert_eq!((in_c.len() + others.count(), at_once.len()), (count, count));
    }
}

#[test]
fn several_languages_want_a_directory() {
    let arguments = ["compile", "-l", "python", "-l", "rust", "good.idl"];
    let (code, said, errors) = run(&directory(), &arguments);
    assert_eq!((code, said.as_str()), (1, ""));
    assert!(errors.contains("python and rust take 2 files: name their directory"), "{errors}");
}

#[test]
fn a_self_test_stands_beside_the_stubs() {
    for (language, end, shared) in
        [("rust", "rs", "rs"), ("c", "c", "h"), ("cpp", "cpp", "hpp"), ("python", "py", "py")]
    {
        let directory = directory();
        let written = |seed: &str| {
            let arguments = ["compile", "-l", language, "--selftest", "--seed", seed, "good.idl"];
            let arguments = [&arguments[..], &["-o", "."]].concat();
            assert_eq!(run(&directory, &arguments), (0, String::new(), String::new()));
            let read = |name| fs::read_to_string(directory.path().join(name)).unwrap();
            assert!(read(format!("good_selftest.{shared}")).contains("differ"), "{language}");
            [format!("good_selftest_client.{end}"), format!("good_selftest_server.{end}")].map(read)
        };
        let (first, again, other) = (written("7"), written("7"), written("8"));
        assert!(first.iter().all(|text| text.contains("Adder::add")), "{language}");
        assert!(first[0].contains("seed 7: `good_selftest_client") || language == "python");
        assert!(first == again && first != other, "{language}");
    }
}

#[test]
fn what_a_self_test_cannot_be_made_of_is_said() {
    let directory = directory();
    fs::write(directory.path().join("idle.idl"), "interface Idle {};").unwrap();
    let (code, _, errors) = run(&directory, &["compile", "--selftest", "idle.idl", "-o", "."]);
    assert_eq!(code, 1);
    assert!(errors.contains("self-test: the file has no interface of its own"), "{errors}");
    let (code, _, errors) = run(&directory, &["compile", "--selftest", "good.idl"]);
    assert_eq!(code, 1);
    assert!(errors.contains("rust takes 4 files: name their directory, -o DIR"), "{errors}");
    let (code, _, errors) = run(&directory, &["compile", "--seed", "7", "good.idl"]);
    assert_eq!(code, 2);
    assert!(errors.contains("--selftest"), "{errors}");
}

#[test]
fn a_bad_file_leaves_what_was_there() {
    let directory = directory();
    fs::write(directory.path().join("bad.rs"), "old").unwrap();
    let (code, output, errors) = run(&directory, &["compile", "bad.idl", "-o", "bad.rs"]);
    assert_eq!((code, output.as_str()), (1, ""));
    assert!(errors.contains("bad.idl:1:19"), "{errors}");
    assert_eq!(fs::read_to_string(directory.path().join("bad.rs")).unwrap(), "old");
}

#[test]
fn output_that_cannot_be_written_is_named_with_the_reason() {
    let (code, _, errors) = run(&directory(), &["compile", "good.idl", "-o", "no/such/good.rs"]);
    assert_eq!(code, 1);
    assert!(errors.contains("cannot write no/such/good.rs: No such file"), "{errors}");
}

#[test]
fn whoever_reads_the_output_may_stop_reading() {
    let directory = directory();
    let mut command = nearcall(&["compile", "good.idl"]);
    command.current_dir(directory.path()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "");
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn a_plan_has_the_steps_of_every_stub() {
    let directory = directory();
    let (code, output, errors) = run(&directory, &["plan", "good.idl"]);
    assert_eq!((code, errors.as_str()), (0, ""));
    for part in ["interface Adder", "procedure 0 add", "client request", "server reply"] {
        assert!(output.contains(part), "{part} is missing:\n{output}");
    }
    assert_eq!(run(&directory, &["plan", "bad.idl"]).0, 1);
}
