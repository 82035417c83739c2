//! Findings as programs read them.

use expect_test::expect;

use super::*;
use crate::diagnostic::Rule;

static RULE: Rule = Rule { code: "E0999", clause: "7.4.1", title: "a thing is a thing" };
static NOTE: Rule = Rule { code: "N0999", clause: "ours", title: "a thing is noted" };

#[test]
fn a_finding_is_one_object_a_line() {
    let mut sources = SourceMap::default();
    let file = sources.add("a.idl", "é \"x\"\ny\n");
    let span = |start, end| Span { file, start, end };
    let first = Diagnostic::new(&RULE, span(3, 6), "not \"x\"\n").label(span(7, 8), "y");
    let second = Diagnostic::new(&NOTE, span(0, 8), "all").help("mend it");
    let pretty = lines(&[first, second], &sources).replace(",\"", ",\n\"");
    expect![[r#"
        {"code":"E0999",
        "severity":"error",
        "clause":"7.4.1",
        "message":"not \"x\"\n",
        "file":"a.idl",
        "line":1,
        "column":3,
        "end_line":1,
        "end_column":6,
        "labels":[{"message":"y",
        "file":"a.idl",
        "line":2,
        "column":1,
        "end_line":2,
        "end_column":2}],
        "help":null}
        {"code":"N0999",
        "severity":"note",
        "clause":"ours",
        "message":"all",
        "file":"a.idl",
        "line":1,
        "column":1,
        "end_line":2,
        "end_column":2,
        "labels":[],
        "help":"mend it"}
    "#]]
    .assert_eq(&pretty);
}
