//! Types and values as messages spell them: as OMG IDL does, but for the fields of .proto files.

use crate::layout::Range;
use crate::model::{Model, Primitive, Type, Value};

/// A type.
pub(super) fn declared(model: &Model, declared_type: &Type) -> String {
    let bounded = |name: &str, bound: &Option<u32>| match bound {
        Some(bound) => format!("{name}<{bound}>"),
        None => name.to_owned(),
    };
    let inside = |bound: &Option<u32>| bound.map(|n| format!(", {n}")).unwrap_or_default();
    match declared_type {
        Type::Primitive(one) => one.spelled().to_owned(),
        Type::String { bound } => bounded("string", bound),
        Type::WideString { bound } => bounded("wstring", bound),
        Type::Sequence { element, bound } => {
            format!("sequence<{}{}>", declared(model, element), inside(bound))
        }
        Type::Array { element, dimensions } => {
            let sizes: String = dimensions.iter().map(|size| format!("[{size}]")).collect();
            declared(model, element) + &sizes
        }
        Type::Map { key, value, bound } => {
            let (key, value) = (declared(model, key), declared(model, value));
            format!("map<{key}, {value}{}>", inside(bound))
        }
        Type::Named(id) => model.declaration(*id).name.to_string(),
    }
}

/// A type as the field of a .proto file has it.
pub(super) fn of_field(model: &Model, declared_type: &Type) -> String {
    match declared_type {
        Type::Primitive(Primitive::Boolean) => "bool".to_owned(),
        Type::Primitive(Primitive::Int32) => "int32".to_owned(),
        Type::Primitive(Primitive::Int64) => "int64".to_owned(),
        Type::Primitive(Primitive::Uint32) => "uint32".to_owned(),
        Type::Primitive(Primitive::Uint64) => "uint64".to_owned(),
        Type::Sequence { element, .. } => match **element {
            Type::Primitive(Primitive::Octet) => "bytes".to_owned(),
            _ => format!("repeated {}", of_field(model, element)),
        },
        Type::Map { key, value, .. } => {
            format!("map<{}, {}>", of_field(model, key), of_field(model, value))
        }
        _ => declared(model, declared_type),
    }
}

/// A value.
pub(super) fn value(model: &Model, one: &Value) -> String {
    match one {
        Value::Boolean(true) => "TRUE".to_owned(),
        Value::Boolean(false) => "FALSE".to_owned(),
        Value::Integer(number) => number.to_string(),
        Value::Float(number) => number.to_string(),
        Value::Char(character) => format!("{character:?}"),
        Value::String(text) => format!("{text:?}"),
        Value::Enumerator(id, place) => match &model.declaration(*id).kind {
            crate::model::Kind::Enum(shape) => shape.enumerators[*place as usize].name.clone(),
            _ => place.to_string(),
        },
    }
}

/// A range, or that there is none.
pub(super) fn range(model: &Model, one: Option<&Range>) -> String {
    let Some(one) = one else { return "any value".to_owned() };
    let end = |end: &Option<Value>, absent: &str| {
        end.as_ref().map_or_else(|| absent.to_owned(), |end| value(model, end))
    };
    format!("{} to {}", end(&one.least, "the least"), end(&one.greatest, "the greatest"))
}
