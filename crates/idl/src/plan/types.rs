//! What the conventional encoding of each declared type needs to know.

use crate::layout::{self, declared_bytes_min, is_recursive};
use crate::model::{DeclarationId, Kind, Member, Model, Type, Value};
use crate::plan::times::{Time, time};
use crate::plan::{LimitCheck, limit_checks};

/// The conventional encoding of one declared type.
#[derive(Clone, Debug, PartialEq)]
pub struct TypePlan {
    /// A struct, union, enum, bitmask or bitset.
    pub id: DeclarationId,
    /// Fewest bytes a value takes.
    pub bytes_min: u64,
    /// A value may contain others of its type: depth is limited.
    pub is_recursive: bool,
    /// Its members stand behind their length in bytes, a `u32`; whoever reads takes what is missing
    /// from [`MemberPlan::missing`], and leaves out what it does not know (docs/design/0030). So
    /// does what a oneof of a .proto file holds: one whose case is not known is not set.
    pub is_appendable: bool,
    /// The time of Protocol Buffers that it is.
    pub time: Option<Time>,
    /// Members of a struct, inherited ones first; cases of a union; none of a word.
    pub members: Vec<MemberPlan>,
}

/// One member of a struct, or one case of a union.
#[derive(Clone, Debug, PartialEq)]
pub struct MemberPlan {
    /// Bounds inside of it.
    pub checks: Vec<LimitCheck>,
    /// It lies elsewhere: it is `@external`, and holds its struct's own type without a sequence or
    /// map between. In every circle of types there is one.
    pub is_boxed: bool,
    /// What is read where a member of an appendable struct did not come; none of what is no such
    /// member, or of what no operation carries and is too long.
    pub missing: Vec<u8>,
}

/// Every type that can be marshalled, in the order of the text.
pub fn types(model: &Model) -> Vec<TypePlan> {
    let ids = (0u32..).map(DeclarationId).take(model.declarations.len());
    ids.filter(|id| {
        let kind = &model.declaration(*id).kind;
        !matches!(
            kind,
            Kind::Constant(_) | Kind::Alias(_) | Kind::Exception(_) | Kind::Interface(_)
        )
    })
    .map(|id| type_plan(model, id))
    .collect()
}

fn type_plan(model: &Model, id: DeclarationId) -> TypePlan {
    let is_appendable = model.declaration(id).is_appendable();
    let is_struct = matches!(model.declaration(id).kind, Kind::Struct(_));
    let missing = |member: &Member| match is_appendable && is_struct {
        // One that is too long is refused in what operations carry (E0289).
        true => layout::missing(model, member).unwrap_or_default(),
        false => Vec::new(),
    };
    let member = |member: &Member| MemberPlan {
        checks: limit_checks(model, &member.declared, &member.annotations, member.is_optional),
        is_boxed: is_external(member)
            && holds_directly(model, &member.declared, id, &mut Vec::new()),
        missing: missing(member),
    };
    let members = match &model.declaration(id).kind {
        Kind::Union(union) => union.cases.iter().map(|case| member(&case.member)).collect(),
        _ => layout::members(model, id).into_iter().map(member).collect(),
    };
    TypePlan {
        id,
        bytes_min: declared_bytes_min(model, id),
        is_recursive: is_recursive(model, id),
        is_appendable,
        time: time(model, id),
        members,
    }
}

fn is_external(member: &Member) -> bool {
    let is_false = Some(&Value::Boolean(false));
    let mut all = member.annotations.iter();
    all.any(|one| one.name == "external" && one.parameters.get("value") != is_false)
}

/// Does a value of `declared` hold one of `target` in itself, not in memory of its own?
fn holds_directly(
    model: &Model,
    declared: &Type,
    target: DeclarationId,
    seen: &mut Vec<DeclarationId>,
) -> bool {
    match model.resolved(declared) {
        Type::Array { element, .. } => holds_directly(model, element, target, seen),
        Type::Named(id) if *id == target => true,
        Type::Named(id) if seen.contains(id) => false,
        Type::Named(id) => {
            seen.push(*id);
            let inner: Vec<&Type> = match &model.declaration(*id).kind {
                Kind::Union(union) => {
                    union.cases.iter().map(|case| &case.member.declared).collect()
                }
                _ => {
                    let members = layout::members(model, *id);
                    members.into_iter().map(|member| &member.declared).collect()
                }
            };
            inner.into_iter().any(|inner| holds_directly(model, inner, target, seen))
        }
        _ => false,
    }
}
