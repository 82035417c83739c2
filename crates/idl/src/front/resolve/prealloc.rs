//! Where `@prealloc` may stand (docs/design/0014).

use crate::diagnostic::Diagnostic;
use crate::front::rules::semantics as rules;
use crate::layout::{Form, Shape, item_bytes, shape};
use crate::model::{Direction, Model, Operation, Parameter, Primitive, Type};

/// Why something cannot come to memory of a client's, and the way out.
type Unfit = (&'static str, &'static str);

/// Findings about a whole model.
pub(super) fn check(model: &Model) -> Vec<Diagnostic> {
    let operations = model.interfaces().flat_map(|(id, _, interface)| {
        interface.operations.iter().filter(move |operation| operation.declared_in == id)
    });
    let checked = operations.flat_map(|operation| {
        let parameters = operation.parameters.iter().filter(|one| one.is_prealloc);
        let parameters = parameters.filter_map(|one| check_parameter(model, one));
        parameters.chain(check_returned(model, operation))
    });
    checked.collect()
}

fn check_parameter(model: &Model, parameter: &Parameter) -> Option<Diagnostic> {
    let (what, help) = match parameter.direction {
        Direction::In | Direction::Inout => {
            ("goes to the server", "use a parameter `in` for what goes, and one `out` beside it")
        }
        Direction::Out => unfit(model, &parameter.declared)?,
    };
    let message = format!("`{}` is `prealloc`, and {what}", parameter.name);
    Some(Diagnostic::new(&rules::PREALLOC_TYPE, parameter.at, message).help(help))
}

fn check_returned(model: &Model, operation: &Operation) -> Option<Diagnostic> {
    if !operation.returns_prealloc {
        return None;
    }
    let has_feed = operation.returns_feed || operation.parameters.iter().any(|one| one.is_feed);
    let (what, help) = match &operation.returns {
        None => ("is nothing", "leave that out"),
        Some(_) if has_feed => {
            ("comes with a feed", "leave that out: the stub has memory for what a feed brings")
        }
        Some(declared) => unfit(model, declared)?,
    };
    let message = format!("what `{}` returns is `prealloc`, and {what}", operation.name);
    Some(Diagnostic::new(&rules::PREALLOC_TYPE, operation.at, message).help(help))
}

fn unfit(model: &Model, declared: &Type) -> Option<Unfit> {
    match shape(model, declared) {
        Shape::Payload { form: Form::Marshalled, .. } => marshalled(model, declared),
        Shape::Payload { .. } => None,
        _ => Some(("has one size", "leave that out: it always comes to where its caller says")),
    }
}

fn marshalled(model: &Model, declared: &Type) -> Option<Unfit> {
    if item_bytes(model, declared).is_some() {
        return None;
    }
    let Type::Sequence { element, .. } = model.resolved(declared) else {
        return Some((
            "is neither text nor a sequence",
            "leave that out: the stub has memory for it",
        ));
    };
    Some(match model.resolved(element) {
        Type::Primitive(Primitive::Boolean) => (
            "has booleans for elements, which have no addresses in C++",
            "make it a sequence of octets, or of structs that hold a boolean",
        ),
        _ => (
            "has elements of different lengths",
            "leave that out, or have elements of numbers, characters, enumerators and bits alone",
        ),
    })
}
