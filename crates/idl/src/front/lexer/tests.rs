//! What good text becomes.

use expect_test::{Expect, expect};

use crate::front::preprocessor::testing::read_text;
use crate::front::token::Token;

/// `text` has no error and becomes these tokens.
fn check(text: &str, want: Expect) {
    let outcome = read_text(text);
    want.assert_eq(&outcome.spelled());
    assert_eq!(outcome.rendered(), "");
}

/// The first token of `text` has this documentation.
fn check_doc(text: &str, want: Option<&str>) {
    let outcome = read_text(text);
    let doc = outcome.tokens.first().and_then(|token: &Token| token.doc.as_deref());
    assert_eq!(doc, want);
}

#[test]
fn an_empty_text_is_the_end() {
    check("", expect!["[end]"]);
    check(" \t\r\n\u{B}\u{C}", expect!["[end]"]);
}

#[test]
fn identifiers_keep_their_case() {
    check("long Long L _in a_1 x\n", expect!["long Long L _in a_1 x [end]"]);
}

#[test]
fn integers_have_three_bases() {
    check(
        "0 7 0777 0x1F 0Xff 18446744073709551615 0xffffffffffffffff",
        expect!["0 7 511 31 255 18446744073709551615 18446744073709551615 [end]"],
    );
}

#[test]
fn a_hexadecimal_e_takes_no_sign() {
    check("0x1e+1 1e+1", expect!["30 + 1 10.0 [end]"]);
}

#[test]
fn floats_have_a_point_or_an_exponent() {
    check(
        "1.5 1. .5 1e3 1.5E-3 2.e+2 1.7976931348623157e308",
        expect!["1.5 1.0 0.5 1000.0 0.0015 200.0 1.7976931348623157e308 [end]"],
    );
}

#[test]
fn fixed_numbers_keep_their_digits() {
    check(
        "1.50d 10D .5d 1.d 0000000001234567890123456789012345678901d",
        expect!["1.50d 10D .5d 1.d 0000000001234567890123456789012345678901d [end]"],
    );
}

#[test]
fn characters_and_their_escapes() {
    check(
        r"'a' '\n' '\t' '\v' '\b' '\r' '\f' '\a'",
        expect![[r#"'a' '\n' '\t' '\u{b}' '\u{8}' '\r' '\u{c}' '\u{7}' [end]"#]],
    );
    check(
        r#"'\\' '\?' '\'' '\"' '\0' '\101' '\xE9' 'é'"#,
        expect![[r#"'\\' '?' '\'' '"' '\0' 'A' 'é' 'é' [end]"#]],
    );
}

#[test]
fn wide_characters_reach_beyond() {
    check(
        r"L'a' L'€' L'\u20AC' L'\u20' L'\uD83D\uDE00' L'\x41'",
        expect!["L'a' L'€' L'€' L' ' L'😀' L'A' [end]"],
    );
}

#[test]
fn strings_and_their_escapes() {
    check(
        r#""" "a\"b\\c" "\x41\1012" "// no /* comment" L"w\u20AC" "1" "2""#,
        expect![[r#""" "a\"b\\c" "AA2" "// no /* comment" L"w€" "1" "2" [end]"#]],
    );
}

#[test]
fn punctuation_is_as_long_as_it_can_be() {
    check(
        ":::; << >> >>> < > ( ) [ ] { } , = + - * / % ~ | ^ & @ ...",
        expect![":: : ; << >> >> > < > ( ) [ ] { } , = + - * / % ~ | ^ & @ ... [end]"],
    );
}

#[test]
fn comments_are_blanks() {
    check("a/* x */b // y\n/**/c /* ** / */ d /*/ e */ f//", expect!["a b c d f [end]"]);
}

#[test]
fn a_backslash_joins_lines() {
    check(
        "mod\\\nule M\\\r\n1 \"a\\\nb\" 1\\\n2 :\\\n: // x \\\ny\nz",
        expect![[r#"module M1 "ab" 12 :: z [end]"#]],
    );
}

#[test]
fn lines_end_as_on_any_system() {
    check("a\r\n#define B c\r\nB\r\n\"d\"\r\n", expect![[r#"a c "d" [end]"#]]);
}

#[test]
fn line_documentation_is_joined() {
    check_doc("/// one\n///  two\n///\nmodule M", Some("one\n two\n"));
}

#[test]
fn block_documentation_has_no_margin() {
    check_doc("/**\n * one\n *\n *  two\n */\nmodule M", Some("one\n\n two"));
    check_doc("/** one */ module M", Some("one"));
}

#[test]
fn an_empty_line_parts_documentation_from_what_follows() {
    check_doc("/** the licence */\n\nmodule M", None);
    check_doc("/// old\n\n/// new\nmodule M", Some("new"));
}

#[test]
fn a_plain_comment_does_not_part_them() {
    check_doc("/// one\n// two\n/// three\nmodule M", Some("one\nthree"));
}

#[test]
fn ornaments_are_no_documentation() {
    check_doc("//// x\nmodule M", None);
    check_doc("/*** x */\nmodule M", None);
    check_doc("/**/\nmodule M", None);
}

#[test]
fn a_comment_behind_a_token_documents_nothing() {
    let outcome = read_text("long a; ///< of a\nlong b;");
    assert!(outcome.tokens.iter().all(|token| token.doc.is_none()));
}

#[test]
fn a_directive_takes_the_documentation_above_it() {
    check_doc("/// of the directive\n#pragma once\nmodule M", None);
}

#[test]
fn a_span_holds_the_token_and_no_more() {
    let outcome = read_text("module  M { // x\n");
    let texts: Vec<&str> =
        outcome.tokens.iter().map(|token| outcome.sources.text(token.span)).collect();
    assert_eq!(texts, ["module", "M", "{", ""]);
}
