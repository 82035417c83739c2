//! What an exception tells of its members where it is shown to people: enough to know which it
//! was, and never more than a few lines, however long what was raised is.

use crate::layout::{Shape, fixed_bytes, shape};
use crate::model::{Member, Model, Type};

/// Characters of a text that are shown.
pub const SHOWN_CHARACTERS_MAX: u32 = 80;

/// Bytes of a fixed value that is shown whole.
const SHOWN_BYTES_MAX: u64 = 64;

/// How a member is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Showing {
    /// As it is.
    Whole,
    /// Its first characters.
    Text,
    /// How many there are.
    Count,
    /// Not at all.
    LeftOut,
}

/// How a member of an exception is shown.
pub fn showing(model: &Model, member: &Member) -> Showing {
    let declared = &member.declared;
    let is_short = fixed_bytes(model, declared).is_some_and(|bytes| bytes <= SHOWN_BYTES_MAX);
    if is_short || matches!(shape(model, declared), Shape::Scalar(_)) {
        return Showing::Whole;
    }
    match model.resolved(declared) {
        _ if member.is_optional => Showing::LeftOut,
        Type::String { .. } | Type::WideString { .. } => Showing::Text,
        Type::Sequence { .. } | Type::Map { .. } | Type::Array { .. } => Showing::Count,
        _ => Showing::LeftOut,
    }
}
