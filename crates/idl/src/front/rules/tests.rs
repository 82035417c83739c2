//! What holds of every rule, and that each lexical and preprocessing rule finds its bad input.

mod clauses;
mod conditions;
mod lexical;
mod macros;
mod preprocessing;

use expect_test::Expect;

use std::collections::BTreeSet;

use super::*;
use crate::front::preprocessor::testing;

#[test]
fn a_number_is_given_once() {
    let codes: BTreeSet<&str> = all_rules().map(|rule| rule.code).collect();
    assert_eq!(codes.len(), all_rules().count());
    assert!(!codes.is_empty());
}

#[test]
fn a_code_is_a_letter_and_four_digits() {
    for rule in all_rules() {
        let (letter, digits) = rule.code.split_at(1);
        assert!(letter == "E" || letter == "N", "{}", rule.code);
        assert!(digits.len() == 4 && digits.bytes().all(|b| b.is_ascii_digit()));
    }
}

#[test]
fn a_title_is_a_lower_case_fragment() {
    for rule in all_rules() {
        assert!(!rule.title.ends_with('.'), "{}: {}", rule.code, rule.title);
        assert!(!rule.title.starts_with(char::is_uppercase), "{}: {}", rule.code, rule.title);
    }
}

/// A rule, files that break it, and what is said of them. The first file is `a.idl`.
struct Case {
    rule: &'static Rule,
    files: &'static [(&'static str, &'static str)],
    want: Expect,
}

#[test]
fn each_lexical_rule_finds_its_bad_input() {
    check_area(super::lexical::ALL, lexical::cases());
}

#[test]
fn each_preprocessing_rule_finds_its_bad_input() {
    let cases =
        preprocessing::cases().into_iter().chain(conditions::cases()).chain(macros::cases());
    check_area(super::preprocessing::ALL, cases.collect());
}

/// Every case says what it should; every rule of `area` has one, and so none is there in vain.
fn check_area(area: &[&'static Rule], cases: Vec<Case>) {
    let checked: BTreeSet<&str> = cases.iter().map(|case| case.rule.code).collect();
    for rule in area {
        assert!(checked.contains(rule.code), "no bad input for {}: {}", rule.code, rule.title);
    }
    assert!(!cases.is_empty());
    println!("{} rules, {} bad inputs", area.len(), cases.len());
    for case in cases {
        let outcome = testing::read_narrowly(case.files);
        let found = outcome.findings.iter().any(|finding| finding.rule == case.rule);
        case.want.assert_eq(&outcome.rendered());
        assert!(found, "{} is not found in {:?}", case.rule.code, case.files);
    }
}
