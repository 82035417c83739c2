//! The rules of OMG IDL, of MIDL, of proto3 and Nearcall's own, by area. A number is given once and
//! never reused.
//!
//! | area | numbers |
//! |---|---|
//! | lexical | E0001-E0049 |
//! | preprocessing | E0050-E0099, N0001-N0099 |
//! | syntax | E0100-E0199, N0100-N0199 |
//! | semantics | E0200-E0299, N0200-N0299 |
//! | MIDL | E0300-E0399, N0300-N0399 |
//! | proto3 | E0400-E0449, N0400-N0449 |
//! | evolution, in [`crate::evolution::rules`] | E0600-E0649, N0600-N0649 |

/// Rules of an area, each a static of its name, and all of them by number.
macro_rules! rules {
    ($($name:ident = $code:literal, $clause:literal, $title:literal;)*) => {
        $(
            #[doc = $title]
            pub static $name: Rule = Rule { code: $code, clause: $clause, title: $title };
        )*
        /// Every rule of this area, in the order of the numbers.
        pub static ALL: &[&Rule] = &[$(&$name),*];
    };
}

pub mod lexical;
pub mod midl;
pub mod preprocessing;
pub mod proto;
pub mod semantics;
pub mod syntax;

use crate::diagnostic::{Rule, Severity};

const AREAS: &[&[&Rule]] =
    &[lexical::ALL, preprocessing::ALL, syntax::ALL, semantics::ALL, midl::ALL, proto::ALL];

/// Every rule that a finding may name, in the order of the numbers within each area.
pub fn all_rules() -> impl Iterator<Item = &'static Rule> {
    AREAS.iter().flat_map(|area| area.iter().copied())
}

/// What is taken here and refused elsewhere: names that differ in case alone, keywords of building
/// blocks outside, a comma too many. Whoever checks a file wants to know; stubs are the same.
pub const PORTABILITY: &[&Rule] = &[
    &syntax::WORD_NOTED,
    &syntax::TRAILING_COMMA,
    &semantics::CASE_AFTER_USE,
    &semantics::OWN_NAME_CASE,
];

/// The rule that notes by this code; none if there is none, or if what breaks it is a mistake.
pub fn note(code: &str) -> Option<&'static Rule> {
    all_rules().find(|rule| rule.code == code && rule.severity() == Severity::Note)
}

#[cfg(test)]
mod tests;
