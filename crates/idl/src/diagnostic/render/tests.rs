//! Findings as people read them.

use expect_test::{Expect, expect};

use super::*;
use crate::diagnostic::Rule;

static RULE: Rule = Rule { code: "E0999", clause: "7.4.1", title: "a thing is a thing" };
static OURS: Rule = Rule { code: "N0999", clause: "ours", title: "a thing is noted" };

/// A text with places to point at: each `[` opens one and the next `]` closes it.
fn marked(text: &str) -> (SourceMap, Vec<Span>) {
    let mut sources = SourceMap::default();
    let plain: String = text.chars().filter(|c| !"[]".contains(*c)).collect();
    let file = sources.add("a.idl", plain);
    let mut spans = Vec::new();
    let (mut at, mut start) = (0, 0);
    for character in text.chars() {
        match character {
            '[' => start = at,
            ']' => spans.push(Span { file, start, end: at }),
            other => at += other.len_utf8() as u32,
        }
    }
    (sources, spans)
}

/// The first place is the finding's, the others are labelled.
fn check(text: &str, want: Expect) {
    let (sources, spans) = marked(text);
    let mut finding = Diagnostic::new(&RULE, spans[0], "something is wrong").help("mend it");
    for span in &spans[1..] {
        finding = finding.label(*span, "the other");
    }
    want.assert_eq(&super::text(&finding, &sources, false));
}

#[test]
fn a_place_is_underlined() {
    check(
        "module M {\n  long [x];\n};\n",
        expect![[r#"
        error[E0999]: something is wrong
         --> a.idl:2:8
          |
        2 |   long x;
          |        ^
          |
          = note: OMG IDL 4.2, clause 7.4.1:
                  a thing is a thing
          = help: mend it
    "#]],
    );
}

#[test]
fn columns_count_characters() {
    check(
        "\"éé\" [x]\n",
        expect![[r#"
        error[E0999]: something is wrong
         --> a.idl:1:6
          |
        1 | "éé" x
          |      ^
          |
          = note: OMG IDL 4.2, clause 7.4.1:
                  a thing is a thing
          = help: mend it
    "#]],
    );
}

#[test]
fn a_label_nearby_stands_in_the_same_excerpt() {
    check(
        "[x]\n[y]\n\n\n\n[z]\n",
        expect![[r#"
        error[E0999]: something is wrong
         --> a.idl:1:1
          |
        1 | x
          | ^
        2 | y
          | - the other
        ...
        6 | z
          | - the other
          |
          = note: OMG IDL 4.2, clause 7.4.1:
                  a thing is a thing
          = help: mend it
    "#]],
    );
}

#[test]
fn a_label_far_away_stands_in_an_excerpt_of_its_own() {
    check(
        &format!("[y]\n{}[x]\n", "line\n".repeat(50)),
        expect![[r#"
        error[E0999]: something is wrong
          --> a.idl:1:1
           |
         1 | y
           | ^
           |
          ::: a.idl:52:1
           |
        52 | x
           | - the other
           |
           = note: OMG IDL 4.2, clause 7.4.1:
                   a thing is a thing
           = help: mend it
    "#]],
    );
}

#[test]
fn the_first_line_of_a_long_place_is_underlined() {
    check(
        "a [b\nc\nd] e\n",
        expect![[r#"
        error[E0999]: something is wrong
         --> a.idl:1:3
          |
        1 | a b
          |   ^
          |
          = note: OMG IDL 4.2, clause 7.4.1:
                  a thing is a thing
          = help: mend it
    "#]],
    );
}

#[test]
fn the_end_of_a_text_is_a_place() {
    check(
        "module M {\n[]",
        expect![[r#"
        error[E0999]: something is wrong
         --> a.idl:2:1
          |
        2 |
          | ^
          |
          = note: OMG IDL 4.2, clause 7.4.1:
                  a thing is a thing
          = help: mend it
    "#]],
    );
    check(
        "[]",
        expect![[r#"
        error[E0999]: something is wrong
         --> a.idl:1:1
          |
        1 |
          | ^
          |
          = note: OMG IDL 4.2, clause 7.4.1:
                  a thing is a thing
          = help: mend it
    "#]],
    );
}

#[test]
fn a_label_in_a_long_line_is_told_by_its_place() {
    check(
        &format!("[x]\n{}[y]{}\n", "a ".repeat(300), " b".repeat(300)),
        expect![[r#"
            error[E0999]: something is wrong
             --> a.idl:1:1
              |
            1 | x
              | ^
              |
              = note: the other: a.idl:2:601
              = note: OMG IDL 4.2, clause 7.4.1:
                      a thing is a thing
              = help: mend it
        "#]],
    );
}

#[test]
fn a_long_line_is_cut_round_the_place() {
    check(
        &format!("{}[yzz]{}\n", "a ".repeat(300), " b".repeat(300)),
        expect![[r#"
            error[E0999]: something is wrong
             --> a.idl:1:601
              |
              |
            1 | a a a a a a a a a a a a a a a a a a yzz b b b b b b b b b b b b b b b b b b
              |                                     ^^^
              = note: OMG IDL 4.2, clause 7.4.1:
                      a thing is a thing
              = help: mend it
        "#]],
    );
}

#[test]
fn a_rule_of_our_own_names_no_clause() {
    let (sources, spans) = marked("[x]");
    let finding = Diagnostic::new(&OURS, spans[0], "something is to be known");
    expect![[r#"
        note[N0999]: something is to be known
         --> a.idl:1:1
          |
        1 | x
          | ^
          |
          = note: rule of Nearcall:
                  a thing is noted
    "#]]
    .assert_eq(&super::text(&finding, &sources, false));
}

#[test]
fn colour_comes_when_asked_for() {
    let (sources, spans) = marked("[x]");
    let finding = Diagnostic::new(&OURS, spans[0], "something is to be known");
    assert!(super::text(&finding, &sources, true).contains('\u{1B}'));
    assert!(!super::text(&finding, &sources, false).contains('\u{1B}'));
}

#[test]
fn labels_in_another_file_name_it() {
    let mut sources = SourceMap::default();
    let span = |file| Span { file, start: 0, end: 1 };
    let (first, second) = (sources.add("a.idl", "x"), sources.add("b.idl", "y"));
    let finding = Diagnostic::new(&RULE, span(first), "wrong").label(span(second), "declared here");
    expect![[r#"
        error[E0999]: wrong
         --> a.idl:1:1
          |
        1 | x
          | ^
          |
         ::: b.idl:1:1
          |
        1 | y
          | - declared here
          |
          = note: OMG IDL 4.2, clause 7.4.1:
                  a thing is a thing
    "#]]
    .assert_eq(&super::text(&finding, &sources, false));
}
