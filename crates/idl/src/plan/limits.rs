//! The limits inside a value: where to look, what to judge, what is too much.

use crate::layout::{Range, range};
use crate::model::{Annotation, Kind, Model, Type};

/// One limit inside a value.
#[derive(Clone, Debug, PartialEq)]
pub struct LimitCheck {
    /// From the value to what is judged.
    pub hops: Vec<Hop>,
    /// What it has to keep.
    pub limit: Limit,
}

/// What a value has to keep.
#[derive(Clone, Debug, PartialEq)]
pub enum Limit {
    /// There may be so many and no more.
    AtMost {
        /// What is counted.
        count: Count,
        /// The most there may be.
        limit: u32,
    },
    /// It lies in a range.
    Within(Range),
}

/// One hop on the way to what is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hop {
    /// The value of an optional one, if it is there.
    Present,
    /// Each element of a sequence or array.
    Each,
    /// Each key of a map.
    Keys,
    /// Each value of a map.
    Values,
}

/// What is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Count {
    /// Bytes of a string.
    Bytes,
    /// Characters of a wide string.
    Characters,
    /// Elements of a sequence, pairs of a map.
    Items,
}

/// Every limit inside values of a type, and those that annotations put on the values themselves.
/// Structs and unions check their own members where they are marshalled, so that the walk ends at
/// them.
pub fn limit_checks(
    model: &Model,
    declared: &Type,
    annotations: &[Annotation],
    is_optional: bool,
) -> Vec<LimitCheck> {
    let mut checks = Vec::new();
    let hops: &[Hop] = if is_optional { &[Hop::Present] } else { &[] };
    walk(model, declared, annotations, hops, &mut checks);
    checks
}

fn walk(
    model: &Model,
    declared: &Type,
    annotations: &[Annotation],
    hops: &[Hop],
    checks: &mut Vec<LimitCheck>,
) {
    let mut keep = |limit| checks.push(LimitCheck { hops: hops.to_vec(), limit });
    if let Some(range) = range(model, annotations, declared) {
        keep(Limit::Within(range));
    }
    let mut at_most = |bound: Option<u32>, count| {
        if let Some(limit) = bound {
            keep(Limit::AtMost { count, limit });
        }
    };
    let and = |hop| [hops, &[hop]].concat();
    match declared {
        Type::String { bound } => at_most(*bound, Count::Bytes),
        Type::WideString { bound } => at_most(*bound, Count::Characters),
        Type::Sequence { element, bound } => {
            at_most(*bound, Count::Items);
            walk(model, element, &[], &and(Hop::Each), checks);
        }
        Type::Map { key, value, bound } => {
            at_most(*bound, Count::Items);
            walk(model, key, &[], &and(Hop::Keys), checks);
            walk(model, value, &[], &and(Hop::Values), checks);
        }
        Type::Array { element, dimensions } => {
            let each = dimensions.iter().map(|_| Hop::Each);
            let hops: Vec<Hop> = hops.iter().copied().chain(each).collect();
            walk(model, element, &[], &hops, checks);
        }
        Type::Named(id) => {
            let declaration = model.declaration(*id);
            if let Kind::Alias(behind) = &declaration.kind {
                walk(model, behind, &declaration.annotations, hops, checks);
            }
        }
        Type::Primitive(_) => {}
    }
}
