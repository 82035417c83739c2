//! Where `@prealloc` may stand (docs/design/0014).

use crate::diagnostic::Diagnostic;
use crate::front::rules::semantics as rules;
use crate::layout::{Form, Shape, shape};
use crate::model::{Direction, Model, Parameter};

/// Findings about a whole model.
pub(super) fn check(model: &Model) -> Vec<Diagnostic> {
    let operations = model.interfaces().flat_map(|(id, _, interface)| {
        interface.operations.iter().filter(move |operation| operation.declared_in == id)
    });
    let parameters = operations.flat_map(|operation| &operation.parameters);
    parameters.filter(|one| one.is_prealloc).filter_map(|one| check_one(model, one)).collect()
}

fn check_one(model: &Model, parameter: &Parameter) -> Option<Diagnostic> {
    let (what, help) = match (parameter.direction, shape(model, &parameter.declared)) {
        (Direction::In | Direction::Inout, _) => {
            ("goes to the server", "use a parameter `in` for what goes, and one `out` beside it")
        }
        (Direction::Out, Shape::Payload { form: Form::Marshalled, .. }) => {
            ("is not text, octets or numbers", "leave that out: the stub has memory for it")
        }
        (Direction::Out, Shape::Payload { .. }) => return None,
        (Direction::Out, _) => {
            ("has one size", "leave that out: it always comes to where its caller says")
        }
    };
    let message = format!("`{}` is `prealloc`, and {what}", parameter.name);
    Some(Diagnostic::new(&rules::PREALLOC_TYPE, parameter.at, message).help(help))
}
