//! What `@appendable` and `@mutable` ask for, and what becomes of it (docs/design/0030).

use std::collections::BTreeSet;

use crate::diagnostic::Diagnostic;
use crate::front::rules::semantics as rules;
use crate::layout::{MISSING_BYTES_MAX, members, missing, reached};
use crate::model::{DeclarationId, Kind, Model};

/// Findings about a whole model.
pub(super) fn check(model: &Model) -> Vec<Diagnostic> {
    let operations = model.interfaces().flat_map(|(_, _, interface)| &interface.operations);
    let sent: BTreeSet<DeclarationId> =
        operations.flat_map(|operation| reached(model, operation)).collect();
    let appendable = sent.iter().filter(|id| model.declaration(**id).is_appendable());
    let long = appendable.flat_map(|id| long_defaults(model, *id));
    long.chain(sent.iter().filter_map(|id| kept_final(model, *id))).collect()
}

/// Members whose defaults no stub should have to carry.
fn long_defaults(model: &Model, id: DeclarationId) -> Vec<Diagnostic> {
    let name = &model.declaration(id).name;
    let long = members(model, id).into_iter().filter(|member| missing(model, member).is_none());
    long.map(|member| {
        let message = format!(
            "the default of `{}` in `{name}` takes more than {MISSING_BYTES_MAX} bytes",
            member.name
        );
        Diagnostic::new(&rules::DEFAULT_TOO_LONG, member.at, message)
            .help("make it `@optional`, or a sequence: one that did not come is absent or empty")
    })
    .collect()
}

/// A type in a message that asks for more than it is given.
fn kept_final(model: &Model, id: DeclarationId) -> Option<Diagnostic> {
    let declaration = model.declaration(id);
    let asked = declaration.extensibility().filter(|asked| *asked != "FINAL")?;
    if model.may_grow(id) {
        return None;
    }
    let (what, instead) = match &declaration.kind {
        Kind::Enum(_) if model.is_discriminator(id) => (
            "enum",
            "one that a peer does not know would select another case of a union: \
             choose the case by an enum of its own, which stays as it is",
        ),
        Kind::Enum(_) => (
            "enum",
            "say which enumerator stands for one that a peer does not know: `@default_literal`",
        ),
        Kind::Union(_) => (
            "union",
            "a case that a peer does not know has nothing that stands for it: \
             let its cases hold structs that are `@appendable`, or pass another union",
        ),
        Kind::Exception(_) => {
            ("exception", "give it a member whose type is a struct that is `@appendable`")
        }
        Kind::Bitmask(_) | Kind::Bitset(_) => {
            ("bitmask or bitset", "declare now the flags and fields that later versions may need")
        }
        _ => ("struct", "one that is `@appendable` may get members at its end"),
    };
    let asked = asked.to_lowercase();
    let name = &declaration.name;
    let message = format!("{what} `{name}` is `@{asked}`, and laid out as if `@final`");
    Some(Diagnostic::new(&rules::KEPT_FINAL, declaration.at, message).help(instead))
}
