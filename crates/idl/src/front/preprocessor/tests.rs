//! What good files become, and that every file comes to an end.

mod endings;
mod macros;

use expect_test::{Expect, expect};

use super::testing::{Outcome, read, read_text, read_within};
use super::*;

/// `a.idl` has no error and becomes these tokens.
fn check_files(files: &[(&str, &str)], want: Expect) {
    expect_tokens(&read(files), want);
}

fn check(text: &str, want: Expect) {
    check_files(&[("a.idl", text)], want);
}

fn check_with(options: &Options, files: &[(&str, &str)], want: Expect) {
    expect_tokens(&read_within(&Limits::default(), options, files), want);
}

fn expect_tokens(outcome: &Outcome, want: Expect) {
    want.assert_eq(&outcome.spelled());
    assert_eq!(outcome.rendered(), "");
}

#[test]
fn an_included_file_is_marked() {
    check_files(
        &[("a.idl", "a\n#include \"b.idl\"\nc"), ("b.idl", "b")],
        expect!["a [file b file] c [end]"],
    );
}

#[test]
fn a_name_in_quotes_is_beside_the_file_that_includes() {
    let files = [
        ("a.idl", "#include \"sub/b.idl\"\n"),
        ("sub/b.idl", "#include \"c.idl\"\n#include \"../d.idl\"\n"),
        ("sub/c.idl", "right"),
        ("c.idl", "wrong"),
        ("d.idl", "up"),
    ];
    check_files(&files, expect!["[file [file right file] [file up file] file] [end]"]);
}

#[test]
fn include_directories_are_searched_in_their_order() {
    let options =
        Options { include_directories: vec!["one".into(), "two".into()], ..Options::default() };
    let files = [
        ("a.idl", "#include <x.idl>\n#include \"y.idl\"\n"),
        ("x.idl", "wrong"),
        ("one/x.idl", "one"),
        ("two/x.idl", "wrong"),
        ("two/y.idl", "two"),
    ];
    check_with(&options, &files, expect!["[file one file] [file two file] [end]"]);
}

#[test]
fn an_include_may_be_spelled_by_macros() {
    let options = Options { include_directories: vec!["inc".into()], ..Options::default() };
    let files = [
        ("a.idl", "#define B \"b.idl\"\n#define C <c-1.idl>\n#include B\n#include C\n"),
        ("b.idl", "b"),
        ("inc/c-1.idl", "c"),
    ];
    check_with(&options, &files, expect!["[file b file] [file c file] [end]"]);
}

#[test]
fn a_guard_keeps_a_file_from_coming_twice() {
    let guarded = "#ifndef B\n#define B\nb\n#endif\n";
    check_files(
        &[("a.idl", "#include \"b.idl\"\n#include \"b.idl\"\n"), ("b.idl", guarded)],
        expect!["[file b file] [file file] [end]"],
    );
}

#[test]
fn once_counts_by_file_and_not_by_name() {
    let files = [
        ("a.idl", "#include \"b.idl\"\n#include \"sub/../b.idl\"\n#include \"a.idl\"\n"),
        ("b.idl", "#pragma once\nb\n"),
    ];
    let text = format!("#pragma once\n{}", files[0].1);
    check_files(&[("a.idl", &text), files[1]], expect!["[file b file] [end]"]);
}

#[test]
fn the_command_line_defines() {
    let define = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    let defines =
        vec![define("N", "3"), define("F(x)", "x x"), define("E", ""), define("A", "a\nb\\")];
    let options = Options { defines, ..Options::default() };
    check_with(&options, &[("a.idl", "N F(1) E A __NEARCALL_IDL__")], expect!["3 1 1 a b 1 [end]"]);
}

#[test]
fn a_bad_definition_of_the_command_line_is_shown() {
    let options =
        Options { defines: vec![("1X".to_owned(), "2".to_owned())], ..Options::default() };
    let outcome = read_within(&Limits::default(), &options, &[("a.idl", "a")]);
    expect![[r#"
        error[E0060]: `1X` is no name of a macro
         --> <command line>:2:9
          |
        2 | #define 1X 2
          |         ^^
          |
          = note: OMG IDL 4.2, clause 7.3:
                  the name of a macro is an identifier
    "#]]
    .assert_eq(&outcome.rendered());
    assert_eq!(outcome.sources.paths(), [Path::new("a.idl")]);
}

#[test]
fn groups_are_chosen() {
    check("#if 0\n1\n#elif 1\n2\n#elif 1\n3\n#else\n4\n#endif", expect!["2 [end]"]);
    check("#ifdef A\n1\n#else\n2\n#endif\n#ifndef A\n3\n#else\n4\n#endif", expect!["2 3 [end]"]);
    check("#if 0\n#if 1\n1\n#else\n2\n#endif\n3\n#else\n4\n#endif", expect!["4 [end]"]);
}

#[test]
fn what_is_left_out_may_be_anything() {
    check(
        "#if 0\ndon't \"x 0x $ #\n#frob\n#include\n#error no\n#define 1\n#elsewhere\n#endif\na",
        expect!["a [end]"],
    );
}

#[test]
fn a_group_past_the_chosen_one_is_not_evaluated() {
    check("#if 1\na\n#elif 1/0\nb\n#endif", expect!["a [end]"]);
}

/// Each condition holds.
#[test]
fn conditions_hold() {
    let conditions = [
        "1",
        "!0",
        "-1 < 0",
        "2 + 3 * 4 == 14",
        "(2 + 3) * 4 == 20",
        "10 - 4 - 3 == 3",
        "7 / 2 == 3",
        "-7 / 2 == -3",
        "7 % 4 == 3",
        "1 << 4 == 16",
        "-8 >> 1 == -4",
        "5 & 3 == 3",
        "(5 & 3) == 1",
        "(5 | 3) == 7",
        "(5 ^ 3) == 6",
        "~0 == -1",
        "1 || 1/0",
        "!(0 && 1/0)",
        "1 ? 2 : 1/0",
        "0 ? 0 : 1 ? 1 : 0",
        "'a' == 97",
        "L'a' == 0x61",
        r"'\n' == 10",
        "010 == 8",
        "10UL == 10",
        "-1 > 0u",
        "18446744073709551615 > 0",
        "unknown == 0",
        "!defined unknown",
        "defined(__NEARCALL_IDL__)",
        "defined __NEARCALL_IDL__ && __NEARCALL_IDL__ >= 1",
        "1 /* x */ // y",
        "1 != 2 && 2 >= 2 && 2 <= 2",
        "+1",
        "- - 1 == 1",
        "(((((1)))))",
        "1 \\\n",
        "__LINE__ > 0",
        "9223372036854775807 + 1 < 0",
        "true == 0",
    ];
    for condition in conditions {
        let outcome = read_text(&format!("#if {condition}\nyes\n#endif\n"));
        assert_eq!(outcome.spelled() + &outcome.rendered(), "yes [end]", "{condition}");
    }
    println!("{} conditions", conditions.len());
}

#[test]
fn macros_are_replaced_in_conditions() {
    check(
        "#define A B\n#define B 2\n#define F(x) x + A\n#if F(1) == 3\na\n#endif",
        expect!["a [end]"],
    );
    check("#define D defined\n#define X\n#if D X && D(X) && !D Y\na\n#endif", expect!["a [end]"]);
}

#[test]
fn pragmas_stand_at_their_place() {
    check(
        "a\n#pragma prefix \"omg.org\"\nb\n#pragma prefix \"\"\nc",
        expect!["a [prefix omg.org] b [prefix ] c [end]"],
    );
    check(
        "# pragma ID A::B \"IDL:x:1.0\"\n#pragma version ::A 1.2\n",
        expect!["[ID A::B IDL:x:1.0] [version ::A 1.2] [end]"],
    );
}

#[test]
fn a_null_directive_is_nothing() {
    check("#\na\n  # // x\n#/* y */\nb", expect!["a b [end]"]);
}

#[test]
fn a_line_directive_moves_what_follows() {
    let outcome = read_text("#line 40 \"grammar.y\"\n$\n# 7 \"b.idl\" 2\n$\n#line 90\n$\n");
    let places: Vec<String> = outcome
        .findings
        .iter()
        .map(|finding| {
            let place = outcome.sources.place(finding.span);
            format!("{}:{}", outcome.sources.path(finding.span).display(), place.line)
        })
        .collect();
    assert_eq!(places, ["grammar.y:40", "b.idl:7", "b.idl:90"]);
}

#[test]
fn a_file_included_twice_is_reported_once() {
    let files = [("a.idl", "#include \"b.idl\"\n#include \"b.idl\"\n"), ("b.idl", "$ /* x\n")];
    let outcome = read(&files);
    let codes: Vec<&str> = outcome.findings.iter().map(|finding| finding.rule.code).collect();
    assert_eq!(codes, ["E0001", "E0002"]);
}

#[test]
fn findings_are_in_the_order_of_the_text() {
    let files = [("a.idl", "#include \"b.idl\"\n#if 1\n$\n"), ("b.idl", "1x $")];
    let outcome = read(&files);
    let places: Vec<Span> = outcome.findings.iter().map(|finding| finding.span).collect();
    assert!(places.is_sorted());
    assert_eq!(places.len(), 4);
}

#[test]
fn files_are_read_from_disk() -> std::io::Result<()> {
    let directory = tempfile::tempdir()?;
    let main = directory.path().join("a.idl");
    std::fs::write(&main, "#include \"caf\u{E9}.idl\"\n#include <.>\n")?;
    std::fs::write(directory.path().join("caf\u{E9}.idl"), b"#pragma once\n\"\xE9\"")?;
    let (mut sources, mut findings) = (SourceMap::default(), Vec::new());
    let include_directories = vec![directory.path().to_owned()];
    let options = Options { include_directories, ..Options::default() };
    let stream = preprocess(&main, &options, &mut sources, &mut findings);
    let kinds: Vec<TokenKind> = stream.tokens.into_iter().map(|token| token.kind).collect();
    let want =
        [TokenKind::FileStart, TokenKind::String("é".into()), TokenKind::FileEnd, TokenKind::End];
    assert_eq!(kinds, want);
    let codes: Vec<&str> = findings.iter().map(|finding| finding.rule.code).collect();
    assert_eq!(codes, ["E0051"]);
    assert_eq!(sources.paths().len(), 2);
    Ok(())
}
