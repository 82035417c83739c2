//! What `@appendable` and `@mutable` ask for, and what becomes of it (docs/design/0030).

use std::collections::BTreeSet;

use crate::diagnostic::Diagnostic;
use crate::front::rules::semantics as rules;
use crate::layout::{MISSING_BYTES_MAX, members, missing, reached};
use crate::model::{Declaration, DeclarationId, Model};

/// Findings about a whole model.
pub(super) fn check(model: &Model) -> Vec<Diagnostic> {
    let operations = model.interfaces().flat_map(|(_, _, interface)| &interface.operations);
    let sent: BTreeSet<DeclarationId> =
        operations.flat_map(|operation| reached(model, operation)).collect();
    let appendable = sent.iter().filter(|id| model.declaration(**id).is_appendable());
    let long = appendable.flat_map(|id| long_defaults(model, *id));
    long.chain(sent.iter().filter_map(|id| kept_final(model.declaration(*id)))).collect()
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
fn kept_final(declaration: &Declaration) -> Option<Diagnostic> {
    let asked = declaration.extensibility().filter(|asked| *asked != "FINAL")?;
    if declaration.is_appendable() {
        return None;
    }
    let asked = asked.to_lowercase();
    let message = format!("`{}` is `@{asked}`, and laid out as if `@final`", declaration.name);
    let help = "a struct that is `@appendable` may get members at its end; nothing else may change";
    Some(Diagnostic::new(&rules::KEPT_FINAL, declaration.at, message).help(help))
}
