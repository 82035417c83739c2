//! `@range`, `@min` and `@max`: values that a type has and a place does not (L44).

use crate::layout::members;
use crate::model::{Annotation, Kind, Model, Primitive, Type, Value};

/// The values that a place may have. At least one end is given, and none that the type gives.
#[derive(Clone, Debug, PartialEq)]
pub struct Range {
    /// The least; the type's own if not given.
    pub least: Option<Value>,
    /// The greatest; the type's own if not given.
    pub greatest: Option<Value>,
    /// What the values are of, without aliases.
    pub of: Type,
}

/// The range that annotations give a place of this type.
pub fn range(model: &Model, annotations: &[Annotation], declared: &Type) -> Option<Range> {
    let of = model.resolved(declared);
    let (type_least, type_greatest) = ends(model, of)?;
    let given = |name: &str, parameter: &str| {
        let annotation = annotations.iter().find(|one| one.name == name)?;
        annotation.parameters.get(parameter)
    };
    let least = given("range", "min").or_else(|| given("min", "value"));
    let greatest = given("range", "max").or_else(|| given("max", "value"));
    let least = least.filter(|least| type_least.is_none_or(|end| **least != Value::Integer(end)));
    let greatest =
        greatest.filter(|most| type_greatest.is_none_or(|end| **most != Value::Integer(end)));
    (least.is_some() || greatest.is_some()).then(|| Range {
        least: least.cloned(),
        greatest: greatest.cloned(),
        of: of.clone(),
    })
}

/// Is there a range on a value of this type, or inside of one?
pub fn is_ranged(model: &Model, declared: &Type) -> bool {
    match declared {
        Type::Array { element, .. } => is_ranged(model, element),
        Type::Named(id) => {
            let declaration = model.declaration(*id);
            match &declaration.kind {
                Kind::Alias(behind) => {
                    range(model, &declaration.annotations, behind).is_some()
                        || is_ranged(model, behind)
                }
                Kind::Struct(_) => members(model, *id).into_iter().any(|member| {
                    range(model, &member.annotations, &member.declared).is_some()
                        || is_ranged(model, &member.declared)
                }),
                _ => false,
            }
        }
        _ => false,
    }
}

/// The ends of an integer type, no ends of another that has an order; `None` for what has none.
fn ends(model: &Model, resolved: &Type) -> Option<(Option<i128>, Option<i128>)> {
    if let Some((least, greatest)) = integer_ends(resolved) {
        return Some((Some(least), Some(greatest)));
    }
    let has_order = match resolved {
        Type::Primitive(primitive) => {
            !matches!(primitive, Primitive::Boolean | Primitive::LongDouble)
        }
        Type::Named(id) => matches!(model.declaration(*id).kind, Kind::Enum(_)),
        _ => false,
    };
    has_order.then_some((None, None))
}

/// The least and the greatest value of an integer type.
pub(crate) fn integer_ends(resolved: &Type) -> Option<(i128, i128)> {
    let Type::Primitive(primitive) = resolved else { return None };
    let (bits, is_signed) = match primitive {
        Primitive::Octet | Primitive::Uint8 => (8, false),
        Primitive::Uint16 => (16, false),
        Primitive::Uint32 => (32, false),
        Primitive::Uint64 => (64, false),
        Primitive::Int8 => (8, true),
        Primitive::Int16 => (16, true),
        Primitive::Int32 => (32, true),
        Primitive::Int64 => (64, true),
        _ => return None,
    };
    let all = 1i128 << bits;
    Some(if is_signed { (-all / 2, all / 2 - 1) } else { (0, all - 1) })
}
