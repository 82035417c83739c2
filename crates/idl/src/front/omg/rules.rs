//! The rules of OMG IDL and Nearcall's own, by area. A number is given once and never reused.
//!
//! | area | numbers |
//! |---|---|
//! | lexical | E0001-E0049 |
//! | preprocessing | E0050-E0099, N0001-N0099 |

pub mod lexical;
pub mod preprocessing;

use crate::diagnostic::Rule;

const AREAS: &[&[&Rule]] = &[lexical::ALL, preprocessing::ALL];

/// Every rule that a finding may name, in the order of the numbers within each area.
pub fn all_rules() -> impl Iterator<Item = &'static Rule> {
    AREAS.iter().flat_map(|area| area.iter().copied())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

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
            assert!(
                !rule.title.starts_with(char::is_uppercase),
                "{}: {}",
                rule.code,
                rule.title
            );
        }
    }
}
