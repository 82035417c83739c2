//! How many bytes a marshalled value takes: exactly, at least, at most.
//!
//! The conventional encoding packs everything, little endian; lengths and counts are 4 bytes, an
//! optional value has one byte before it, an empty struct is one zero byte, so that no value takes
//! none. An appendable struct has its length before it, and any number of bytes behind that:
//! nothing else about it is known, as another version may have more members.

use std::collections::HashMap;

use crate::layout::shape::members;
use crate::layout::{Scalar, Shape, shape};
use crate::model::{DeclarationId, Kind, Member, Model, Primitive, Type};

/// Bytes of a length or count.
const COUNT_BYTES: u64 = 4;

/// Bytes of a word in memory.
const WORD_BYTES: u64 = 8;

/// Most bytes in memory of what points to what it holds: a string, a sequence, a map.
const HANDLE_BYTES: u64 = 48;

/// Bytes of every value of a type; `None` if they differ.
pub fn fixed_bytes(model: &Model, declared: &Type) -> Option<u64> {
    match model.resolved(declared) {
        Type::Primitive(primitive) => Some(u64::from(primitive.bytes())),
        Type::Array { element, dimensions } => times(fixed_bytes(model, element)?, dimensions),
        Type::Named(id) => match &model.declaration(*id).kind {
            _ if model.declaration(*id).is_appendable() => None,
            Kind::Struct(_) => {
                let all = members(model, *id);
                if all.iter().any(|member| member.is_optional) {
                    return None;
                }
                let bytes = all.iter().try_fold(0u64, |sum, member| {
                    sum.checked_add(fixed_bytes(model, &member.declared)?)
                })?;
                Some(bytes.max(1))
            }
            _ => word_bytes(model, declared),
        },
        _ => None,
    }
}

/// Bytes of each element of a sequence in a message, if all are as long, so that none holds memory,
/// and they lie side by side in memory as well. Booleans alone do not, in C++.
pub fn item_bytes(model: &Model, declared: &Type) -> Option<u32> {
    let Type::Sequence { element, .. } = model.resolved(declared) else { return None };
    match model.resolved(element) {
        Type::Primitive(Primitive::Boolean) => None,
        element => fixed_bytes(model, element).and_then(|bytes| u32::try_from(bytes).ok()),
    }
}

/// Bytes of an enum, bitmask or bitset.
fn word_bytes(model: &Model, declared: &Type) -> Option<u64> {
    let Type::Named(id) = model.resolved(declared) else {
        return None;
    };
    match &model.declaration(*id).kind {
        Kind::Enum(_) | Kind::Bitmask(_) | Kind::Bitset(_) => match shape(model, declared) {
            Shape::Scalar(scalar) => Some(u64::from(Scalar::width(scalar))),
            _ => None,
        },
        _ => None,
    }
}

/// Fewest bytes a value of a type takes; 1 for a type that contains itself.
pub fn bytes_min(model: &Model, declared: &Type) -> u64 {
    if let Some(bytes) = fixed_bytes(model, declared) {
        return bytes;
    }
    match model.resolved(declared) {
        Type::Array { element, dimensions } => {
            times(bytes_min(model, element), dimensions).unwrap_or(u64::MAX)
        }
        Type::Named(id) => declared_bytes_min(model, *id),
        _ => COUNT_BYTES,
    }
}

/// Fewest bytes a value of a declared type takes.
pub fn declared_bytes_min(model: &Model, id: DeclarationId) -> u64 {
    if model.declaration(id).is_appendable() {
        return COUNT_BYTES;
    }
    if is_recursive(model, id) {
        return 1;
    }
    let member_min = |member: &Member| {
        if member.is_optional { 1 } else { bytes_min(model, &member.declared) }
    };
    match &model.declaration(id).kind {
        Kind::Struct(_) | Kind::Exception(_) => {
            let bytes: u64 = members(model, id).into_iter().map(member_min).sum();
            bytes.max(1)
        }
        Kind::Union(union) => {
            let smallest = match union.default {
                crate::model::UnionDefault::Implicit => 0,
                _ => union.cases.iter().map(|case| member_min(&case.member)).min().unwrap_or(0),
            };
            bytes_min(model, &union.discriminator) + smallest
        }
        _ => bytes_min(model, &Type::Named(id)),
    }
}

/// Most bytes a value of a type takes; `None` if there is no bound.
pub fn bytes_max(model: &Model, declared: &Type) -> Option<u64> {
    let counted = |bound: &Option<u32>, each: u64| {
        u64::from((*bound)?).checked_mul(each)?.checked_add(COUNT_BYTES)
    };
    if let Some(bytes) = fixed_bytes(model, declared) {
        return Some(bytes);
    }
    match model.resolved(declared) {
        Type::String { bound } => counted(bound, 1),
        Type::WideString { bound } => counted(bound, 4),
        Type::Sequence { element, bound } => {
            bound.as_ref()?;
            counted(bound, bytes_max(model, element)?)
        }
        Type::Map { key, value, bound } => {
            bound.as_ref()?;
            counted(bound, bytes_max(model, key)?.checked_add(bytes_max(model, value)?)?)
        }
        Type::Array { element, dimensions } => times(bytes_max(model, element)?, dimensions),
        Type::Named(id) if is_recursive(model, *id) => None,
        Type::Named(id) => declared_bytes_max(model, *id),
        Type::Primitive(_) => None,
    }
}

fn declared_bytes_max(model: &Model, id: DeclarationId) -> Option<u64> {
    let member_max = |member: &Member| {
        bytes_max(model, &member.declared)?.checked_add(u64::from(member.is_optional))
    };
    match &model.declaration(id).kind {
        _ if model.declaration(id).is_appendable() => None,
        Kind::Struct(_) => members(model, id)
            .into_iter()
            .try_fold(0u64, |sum, member| sum.checked_add(member_max(member)?)),
        Kind::Union(union) => {
            let mut largest = 0;
            for case in &union.cases {
                largest = largest.max(member_max(&case.member)?);
            }
            bytes_max(model, &union.discriminator)?.checked_add(largest)
        }
        _ => None,
    }
}

/// Bytes that a value of a type takes in memory, as C or C++ has it, at most: without what it
/// points to.
pub fn memory_bytes(model: &Model, declared: &Type) -> u64 {
    in_memory(model, declared, &mut HashMap::new())
}

/// The same, where the bytes of some declared types are known.
fn in_memory(model: &Model, declared: &Type, known: &mut HashMap<DeclarationId, u64>) -> u64 {
    match model.resolved(declared) {
        Type::Primitive(primitive) => primitive.bytes().into(),
        Type::Array { element, dimensions } => {
            times(in_memory(model, element, known), dimensions).unwrap_or(u64::MAX)
        }
        Type::Named(id) => match known.get(id) {
            Some(bytes) => *bytes,
            None => {
                // Of its own type a value holds what it points to.
                known.insert(*id, HANDLE_BYTES);
                let bytes = declared_in_memory(model, *id, known);
                known.insert(*id, bytes);
                bytes
            }
        },
        _ => HANDLE_BYTES,
    }
}

fn declared_in_memory(
    model: &Model,
    id: DeclarationId,
    known: &mut HashMap<DeclarationId, u64>,
) -> u64 {
    let mut member_bytes = |member: &Member| {
        let flag = if member.is_optional { WORD_BYTES } else { 0 };
        let bytes = in_memory(model, &member.declared, known).saturating_add(flag);
        bytes.checked_next_multiple_of(WORD_BYTES).unwrap_or(u64::MAX)
    };
    match &model.declaration(id).kind {
        Kind::Struct(_) | Kind::Exception(_) => {
            members(model, id).into_iter().map(member_bytes).fold(WORD_BYTES, u64::saturating_add)
        }
        Kind::Union(union) => {
            let cases = union.cases.iter().map(|case| member_bytes(&case.member));
            cases.max().unwrap_or_default().saturating_add(2 * WORD_BYTES)
        }
        _ => WORD_BYTES,
    }
}

/// Does a value of this struct or union contain values of the same type, at whatever depth?
pub fn is_recursive(model: &Model, id: DeclarationId) -> bool {
    let mut seen = Vec::new();
    let mut open = referred(model, id);
    while let Some(next) = open.pop() {
        if next == id {
            return true;
        }
        if !seen.contains(&next) {
            seen.push(next);
            open.extend(referred(model, next));
        }
    }
    false
}

/// Declared types that a declared type's values contain directly.
fn referred(model: &Model, id: DeclarationId) -> Vec<DeclarationId> {
    let mut found = Vec::new();
    match &model.declaration(id).kind {
        Kind::Struct(_) | Kind::Exception(_) => {
            for member in members(model, id) {
                named(model, &member.declared, &mut found);
            }
        }
        Kind::Union(union) => {
            for case in &union.cases {
                named(model, &case.member.declared, &mut found);
            }
        }
        _ => {}
    }
    found
}

fn named(model: &Model, declared: &Type, found: &mut Vec<DeclarationId>) {
    match model.resolved(declared) {
        Type::Named(id) => found.push(*id),
        Type::Sequence { element, .. } | Type::Array { element, .. } => {
            named(model, element, found);
        }
        Type::Map { key, value, .. } => {
            named(model, key, found);
            named(model, value, found);
        }
        _ => {}
    }
}

fn times(bytes: u64, dimensions: &[u32]) -> Option<u64> {
    dimensions.iter().try_fold(bytes, |bytes, dimension| bytes.checked_mul(u64::from(*dimension)))
}
