//! The bounds inside a value: where to look, what to count, how much is too much.

use crate::model::{Model, Type};

/// One bound inside a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BoundCheck {
    /// From the value to what is counted.
    pub hops: Vec<Hop>,
    /// What is counted there.
    pub count: Count,
    /// The most there may be.
    pub limit: u32,
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

/// Every bound inside values of a type. Structs and unions check their own members where they are
/// marshalled, so that the walk ends at them.
pub fn bound_checks(model: &Model, declared: &Type, is_optional: bool) -> Vec<BoundCheck> {
    let mut checks = Vec::new();
    let hops = if is_optional {
        vec![Hop::Present]
    } else {
        Vec::new()
    };
    walk(model, declared, &hops, &mut checks);
    checks
}

fn walk(model: &Model, declared: &Type, hops: &[Hop], checks: &mut Vec<BoundCheck>) {
    let mut bounded = |bound: Option<u32>, count| {
        if let Some(limit) = bound {
            checks.push(BoundCheck {
                hops: hops.to_vec(),
                count,
                limit,
            });
        }
    };
    let and = |hop| [hops, &[hop]].concat();
    match model.resolved(declared) {
        Type::String { bound } => bounded(*bound, Count::Bytes),
        Type::WideString { bound } => bounded(*bound, Count::Characters),
        Type::Sequence { element, bound } => {
            bounded(*bound, Count::Items);
            walk(model, element, &and(Hop::Each), checks);
        }
        Type::Map { key, value, bound } => {
            bounded(*bound, Count::Items);
            walk(model, key, &and(Hop::Keys), checks);
            walk(model, value, &and(Hop::Values), checks);
        }
        Type::Array {
            element,
            dimensions,
        } => {
            let each = dimensions.iter().map(|_| Hop::Each);
            let hops: Vec<Hop> = hops.iter().copied().chain(each).collect();
            walk(model, element, &hops, checks);
        }
        Type::Primitive(_) | Type::Named(_) => {}
    }
}
