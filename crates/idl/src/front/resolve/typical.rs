//! Where `@typical` may stand (I10; docs/design/0032).

use crate::diagnostic::Diagnostic;
use crate::front::dialect::Dialect;
use crate::front::rules::semantics as rules;
use crate::layout::{Shape, shape};
use crate::model::{AttributeHalf, Model, Operation, Type};
use crate::source::Span;

/// Findings about a whole model, whose feeds are operations yet.
pub(super) fn check(model: &Model, dialect: Dialect) -> Vec<Diagnostic> {
    let operations = model.interfaces().flat_map(|(id, _, interface)| {
        interface.operations.iter().filter(move |operation| operation.declared_in == id)
    });
    // An attribute is told of once.
    let operations = operations.filter(|one| one.attribute != Some(AttributeHalf::Setter));
    operations.flat_map(|operation| check_operation(model, dialect, operation)).collect()
}

/// A value that is said to have a typical length.
struct Said<'m> {
    name: &'m str,
    at: Span,
    declared: Option<&'m Type>,
    is_feed: bool,
    is_returned: bool,
}

fn check_operation<'m>(
    model: &'m Model,
    dialect: Dialect,
    operation: &'m Operation,
) -> impl Iterator<Item = Diagnostic> + 'm {
    let returned = operation.returns_typical_bytes.map(|_| Said {
        name: operation.name.strip_prefix("_get_").unwrap_or(&operation.name),
        at: operation.at,
        declared: operation.returns.as_ref(),
        is_feed: operation.returns_feed,
        is_returned: true,
    });
    let parameters = operation.parameters.iter().filter(|one| one.typical_bytes.is_some());
    let parameters = parameters.map(|one| Said {
        name: &one.name,
        at: one.at,
        declared: Some(&one.declared),
        is_feed: one.is_feed,
        is_returned: false,
    });
    let said = returned.into_iter().chain(parameters);
    said.filter_map(move |said| {
        let (what, help) = wrong(model, operation, &said)?;
        let finding = |name: String, help: &str| {
            let message = format!("{name} has a typical length, and {what}");
            Diagnostic::new(&rules::TYPICAL, said.at, message).help(help)
        };
        Some(match dialect {
            Dialect::Omg | Dialect::Midl => finding(format!("`{}`", said.name), help),
            // Of one size is all that it can be there: what else is wrong its options say.
            Dialect::Proto => {
                let side = if said.is_returned { "response" } else { "request" };
                let name = format!("the {side} of `{}`", operation.name);
                let option = format!("`option (nearcall.{side}).typical`");
                finding(name, &format!("leave {option} out: how much room it takes is known"))
            }
        })
    })
}

/// What is wrong with it, and the way out.
fn wrong(
    model: &Model,
    operation: &Operation,
    said: &Said<'_>,
) -> Option<(&'static str, &'static str)> {
    let is_fixed = |declared| !matches!(shape(model, declared), Shape::Payload { .. });
    match said.declared {
        None => Some(("returns nothing", "put it before the parameter that it is about")),
        Some(_) if said.is_feed => Some((
            "is a feed",
            "leave that out: items go in batches, which have a length of theirs",
        )),
        Some(declared) if is_fixed(declared) => {
            Some(("has one size", "leave that out: how much room it takes is known"))
        }
        Some(_) if operation.astack.bytes.is_some() => Some((
            "`@astack(bytes)` says how much room there is for all",
            "leave one of the two out",
        )),
        Some(_) => None,
    }
}
