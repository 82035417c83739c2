//! What is said of .proto files, whose fields and values are known by their numbers: in their
//! words, and with what else to do.

use super::rules::{self, EvolutionRule};

/// What members, cases and enumerators are called there.
pub(super) const FIELD: &str = "field";
pub(super) const ONEOF: &str = "oneof";
pub(super) const ONEOF_FIELD: &str = "oneof field";
pub(super) const VALUE: &str = "value";

const READ: &str = "who has the new file reads zero, or what its range has nearest to it, empty or \
     absent in what comes from the old one, who has the old one leaves it out; a source in Rust \
     that makes one gives it, or ends in `..Default::default()`";
const READ_VALUE: &str = "who has the old file reads the value 0 instead; a source in Rust whose \
     match has every value has to have the new one";
const READ_ZERO: &str = "who has the new file reads the value 0 where the old one has it";
const LEAVE: &str = "leave it in the file, `[deprecated = true]`";
const NEXT: &str = "give it a number above all others of its message";
const OTHER: &str = "leave it as it is, `[deprecated = true]`, and add a field whose number is \
     above all others of its message";
const READ_UNSET: &str = "who has the old file reads a oneof of which nothing is set instead; a \
     source in Rust whose match has every field has to have the new one";

/// What is said of a change of one of those that `what` names: the rule's own words, if there are
/// none for .proto files. One that `is_new` was not there before.
pub(super) fn help(
    rule: &EvolutionRule,
    what: &str,
    is_new: bool,
    is_refused: bool,
) -> &'static str {
    let is = |other: &EvolutionRule| rule.rule.code == other.rule.code;
    let is_of_message = matches!(what, FIELD | ONEOF_FIELD);
    match what {
        VALUE if is(&rules::ENUMERATOR_ADDED) => READ_VALUE,
        VALUE if is(&rules::ENUMERATORS) => READ_ZERO,
        FIELD if is(&rules::MEMBER_ADDED) => READ,
        ONEOF_FIELD if is(&rules::MEMBER_ADDED) => READ_UNSET,
        _ if is_refused && is_of_message && is_new => NEXT,
        _ if is_refused && is_of_message && is(&rules::PARTS) => LEAVE,
        _ if is_refused && is_of_message => OTHER,
        _ => rule.help,
    }
}
