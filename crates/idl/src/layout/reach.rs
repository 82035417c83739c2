//! Which declared types the messages of an operation hold, at whatever depth.

use std::collections::BTreeSet;

use crate::layout::members;
use crate::model::{DeclarationId, Kind, Model, Operation, Type};

/// Every declared type in the messages of an operation, aliases and bases among them.
pub fn reached(model: &Model, operation: &Operation) -> BTreeSet<DeclarationId> {
    let mut reached = BTreeSet::new();
    let parameters = operation.parameters.iter().map(|parameter| &parameter.declared);
    for declared in parameters.chain(&operation.returns) {
        reach(model, declared, &mut reached);
    }
    for raised in &operation.raises {
        reach(model, &Type::Named(*raised), &mut reached);
    }
    reached
}

fn reach(model: &Model, declared: &Type, reached: &mut BTreeSet<DeclarationId>) {
    match declared {
        Type::Sequence { element, .. } | Type::Array { element, .. } => {
            reach(model, element, reached);
        }
        Type::Map { key, value, .. } => {
            reach(model, key, reached);
            reach(model, value, reached);
        }
        Type::Named(id) => {
            if !reached.insert(*id) {
                return;
            }
            match &model.declaration(*id).kind {
                Kind::Alias(behind) => reach(model, behind, reached),
                Kind::Union(union) => {
                    reach(model, &union.discriminator, reached);
                    let cases = union.cases.iter().map(|case| &case.member.declared);
                    cases.for_each(|declared| reach(model, declared, reached));
                }
                Kind::Struct(shape) => {
                    if let Some(base) = shape.base {
                        reach(model, &Type::Named(base), reached);
                    }
                    let own = members(model, *id).into_iter().map(|member| &member.declared);
                    own.for_each(|declared| reach(model, declared, reached));
                }
                Kind::Exception(own) => {
                    own.iter().for_each(|member| reach(model, &member.declared, reached));
                }
                _ => {}
            }
        }
        _ => {}
    }
}
