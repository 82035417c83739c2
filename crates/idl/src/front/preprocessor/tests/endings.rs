//! Every input comes to an end, without a panic and in time that its length bounds.

use proptest::prelude::*;

use super::*;
use crate::front::preprocessor::testing::{read, read_text};

/// The codes found in `text`.
fn codes(text: &str) -> Vec<&'static str> {
    read_text(text).findings.iter().map(|finding| finding.rule.code).collect()
}

#[test]
fn a_loop_of_a_hundred_files_names_its_chain() {
    let names: Vec<String> = (0..100).map(|index| format!("{index}.idl")).collect();
    let texts: Vec<String> =
        (1..=100).map(|next| format!("#include \"{}.idl\"\n", next % 100)).collect();
    let mut files = vec![("a.idl", "#include \"0.idl\"\n")];
    files.extend(names.iter().zip(&texts).map(|(name, text)| (name.as_str(), text.as_str())));
    let outcome = read(&files);
    assert_eq!(outcome.findings.len(), 1);
    let message = &outcome.findings[0].message;
    assert!(message.starts_with("files nest deeper than 64: a.idl -> 0.idl -> 1.idl -> 2.idl"));
}

#[test]
fn a_file_that_includes_itself_twice_ends() {
    let outcome = read(&[("a.idl", "#include \"a.idl\"\n#include \"a.idl\"\nx\n")]);
    let codes: Vec<&str> = outcome.findings.iter().map(|finding| finding.rule.code).collect();
    assert_eq!(codes, ["E0053"]);
}

#[test]
fn files_that_double_at_each_step_end() {
    let texts: Vec<String> =
        (1..60).map(|next| format!("#include \"{next}.idl\"\n").repeat(2)).collect();
    let names: Vec<String> = (0..59).map(|index| format!("{index}.idl")).collect();
    let mut files = vec![("a.idl", "#include \"0.idl\"\n"), ("59.idl", "")];
    files.extend(names.iter().zip(&texts).map(|(name, text)| (name.as_str(), text.as_str())));
    let outcome = read(&files);
    let codes: Vec<&str> = outcome.findings.iter().map(|finding| finding.rule.code).collect();
    assert_eq!(codes, ["E0054"]);
}

#[test]
fn macros_that_double_at_each_step_end() {
    let mut text = "#define M0 x x\n".to_owned();
    for step in 1..64 {
        text += &format!("#define M{step} M{0} M{0}\n", step - 1);
    }
    assert_eq!(codes(&(text + "M63\n")), ["E0068"]);
}

#[test]
fn pasted_names_that_double_at_each_step_end() {
    let mut text = "#define P(x) x ## x\n#define E(x) P(x)\n".to_owned();
    text += &format!("{}a{}\n", "E(".repeat(60), ")".repeat(60));
    assert_eq!(codes(&text), ["E0068"]);
}

#[test]
fn a_long_chain_of_macros_is_followed() {
    let mut text = "#define M0 x\n".to_owned();
    for step in 1..20_000 {
        text += &format!("#define M{step} M{}\n", step - 1);
    }
    let outcome = read_text(&(text + "M19999\n"));
    assert_eq!(outcome.spelled() + &outcome.rendered(), "x [end]");
}

#[test]
fn deep_arguments_end() {
    let deep =
        |depth: usize| format!("#define F(x) x\n{}1{}\n", "F(".repeat(depth), ")".repeat(depth));
    assert_eq!(codes(&deep(200)), [""; 0]);
    assert_eq!(codes(&deep(201)), ["E0069"]);
    // Each level reads the rest again, so that the words give out before the depth does.
    assert_eq!(codes(&deep(50_000)), ["E0068"]);
}

#[test]
fn arguments_that_never_end_are_read_once() {
    let text = format!("#define F(x) x\n{}\n", "F(".repeat(200_000));
    assert_eq!(codes(&text), ["E0066"]);
}

#[test]
fn deep_conditions_end() {
    for deep in ["(", "!", "-", "1?", "1+(", "0?0:"] {
        assert_eq!(codes(&format!("#if {}1\n#endif\n", deep.repeat(50_000))), ["E0075"], "{deep}");
    }
}

#[test]
fn many_nested_groups_are_read() {
    let text = format!("{}{}", "#if 1\n".repeat(20_000), "#endif\n".repeat(20_000));
    assert_eq!(codes(&text), [""; 0]);
}

#[test]
fn a_line_of_megabytes_is_cut_when_shown() {
    let text = format!("{} $ {}", "a \"é\" ".repeat(1 << 19), "b ".repeat(1 << 19));
    let outcome = read_text(&text);
    let rendered = outcome.rendered();
    assert!(rendered.lines().all(|line| line.len() < 300), "{}", rendered.len());
    assert!(rendered.contains("a.idl:1:3145730"));
}

#[test]
fn findings_without_end_are_cut() {
    let found = codes(&"$ a ".repeat(100_000));
    assert_eq!(found.len(), 1001);
    assert_eq!(found[1000], "E0023");
}

#[test]
fn joined_lines_without_end_are_read() {
    let outcome = read_text(&format!("a{}b", "\\\n".repeat(1 << 20)));
    assert_eq!(outcome.spelled(), "ab [end]");
}

/// Words that directives, macros and literals are made of.
fn word() -> impl Strategy<Value = String> {
    let words = [
        "#",
        "##",
        "#define",
        "#undef",
        "#if",
        "#ifdef",
        "#elif",
        "#else",
        "#endif",
        "#include",
        "#pragma",
        "#line",
        "prefix",
        "ID",
        "version",
        "defined",
        "\n#define",
        "\n#if",
        "\n#endif",
        "\n",
        "\\\n",
        "(",
        ")",
        ",",
        "A",
        "B(x)",
        "F(",
        "F",
        "x",
        "__VA_ARGS__",
        "...",
        "\"a.idl\"",
        "<b.idl>",
        "1",
        "0",
        "/",
        "%",
        "<<",
        "?",
        ":",
        "&&",
        "'",
        "\"",
        "L'",
        "\\",
        "\\u",
        "/*",
        "*/",
        "//",
        "1.5e",
        "0x",
        "é",
        "€",
        "\0",
        ".",
        "::",
        "_",
        "$",
        "__LINE__",
        "__FILE__",
    ];
    prop_oneof![
        4 => proptest::sample::select(words.to_vec()).prop_map(str::to_owned),
        1 => "\\PC{0,3}",
    ]
}

fn ends(files: &[(&str, &str)]) {
    let outcome = testing::read_narrowly(files);
    assert_eq!(outcome.tokens.last().map(|token| &token.kind), Some(&TokenKind::End));
    for token in &outcome.tokens {
        outcome.sources.text(token.span);
    }
    for finding in &outcome.findings {
        assert!(crate::front::rules::all_rules().any(|rule| rule == finding.rule));
    }
    outcome.rendered();
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_come_to_an_end(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let text = crate::source::decode(bytes);
        ends(&[("a.idl", &text)]);
    }

    #[test]
    fn any_words_come_to_an_end(
        first in proptest::collection::vec(word(), 0..60),
        second in proptest::collection::vec(word(), 0..30),
        blank in proptest::sample::select(vec!["", " "]),
    ) {
        ends(&[("a.idl", &first.join(blank)), ("b.idl", &second.join(blank))]);
    }
}
