//! Which type is defined before which: the order of the text is not enough where a member is
//! `@external`, and its type comes later.

use crate::layout::members;
use crate::model::{DeclarationId, Kind, Member, Model, Type};
use crate::need::needed_first;
use crate::plan::{MemberPlan, Plan};

/// Every declaration, each behind what its values hold in themselves.
pub fn held_first(model: &Model, plan: &Plan) -> Vec<DeclarationId> {
    let mut plans: Vec<&[MemberPlan]> = vec![&[]; model.declarations.len()];
    for plan in &plan.types {
        plans[plan.id.0 as usize] = &plan.members;
    }
    let all: Vec<usize> = (0..model.declarations.len()).collect();
    let order = needed_first(&all, |one| held(model, DeclarationId(one as u32), plans[one]));
    order.into_iter().map(|one| DeclarationId(one as u32)).collect()
}

/// What has to be defined before a type is.
fn held(model: &Model, id: DeclarationId, plans: &[MemberPlan]) -> Vec<usize> {
    let within = |all: Vec<&Member>| {
        let boxed = plans.iter().map(|plan| plan.is_boxed).chain(std::iter::repeat(false));
        let all = all.into_iter().zip(boxed).filter(|(_, is_boxed)| !is_boxed);
        all.filter_map(|(member, _)| named(&member.declared)).collect()
    };
    match &model.declaration(id).kind {
        Kind::Alias(behind) => named(behind).into_iter().collect(),
        Kind::Struct(_) | Kind::Exception(_) => within(members(model, id)),
        Kind::Union(union) => within(union.cases.iter().map(|case| &case.member).collect()),
        _ => Vec::new(),
    }
}

/// The declaration that a type names, or an array of it.
fn named(declared: &Type) -> Option<usize> {
    match declared {
        Type::Array { element, .. } => named(element),
        Type::Named(id) => Some(id.0 as usize),
        _ => None,
    }
}
