//! Which form a type crosses in.

use crate::layout::{is_ranged, size};
use crate::model::{DeclarationId, Kind, Member, Model, Primitive, Type};

/// A value that is one word: what to check when a peer wrote it follows from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scalar {
    /// Any built-in scalar but `long double`.
    Primitive(Primitive),
    /// An enum.
    Enum {
        /// Which.
        id: DeclarationId,
        /// Bytes of its word.
        width: u8,
    },
    /// A bitmask or bitset.
    Bits {
        /// Which.
        id: DeclarationId,
        /// Bytes of its word.
        width: u8,
    },
}

/// How a payload is written, and what its length word counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// UTF-8; bytes. The bound is in bytes.
    Text,
    /// UTF-8; bytes. The bound is in characters.
    WideText,
    /// Octets that the receiver copies before it looks; bytes.
    Octets,
    /// Octets that the receiver does not look at (L43); bytes.
    Lent,
    /// Elements as they lie in memory; elements.
    Elements {
        /// Bytes of one.
        width: u32,
    },
    /// Marshalled in the conventional way (L32); bytes.
    Marshalled,
}

/// How a type crosses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// One word of the fixed part.
    Scalar(Scalar),
    /// A fixed struct of at most [`super::LEAVES_MAX`] scalars and arrays: member by member.
    Leaves(DeclarationId),
    /// An array of elements, in the fixed part.
    Block {
        /// How long it is.
        bytes: u64,
    },
    /// Another fixed thing, marshalled into the fixed part.
    Image {
        /// How long it is.
        bytes: u64,
    },
    /// A payload.
    Payload {
        /// Its form.
        form: Form,
        /// Most of what the form counts.
        bound: Option<u32>,
    },
}

/// How a type crosses.
pub fn shape(model: &Model, declared: &Type) -> Shape {
    if let Some(scalar) = scalar(model, declared) {
        return Shape::Scalar(scalar);
    }
    if let Some(bytes) = element_bytes(model, declared) {
        return Shape::Block { bytes };
    }
    let resolved = model.resolved(declared);
    match (resolved, size::fixed_bytes(model, resolved)) {
        (Type::Named(id), Some(_)) if is_taken_apart(model, *id) => Shape::Leaves(*id),
        // An image is copied without a look inside.
        (_, Some(bytes)) if !is_ranged(model, declared) => Shape::Image { bytes },
        _ => payload(model, resolved),
    }
}

fn scalar(model: &Model, declared: &Type) -> Option<Scalar> {
    match model.resolved(declared) {
        Type::Primitive(Primitive::LongDouble) => None,
        Type::Primitive(primitive) => Some(Scalar::Primitive(*primitive)),
        Type::Named(id) => match &model.declaration(*id).kind {
            Kind::Enum(shape) => Some(Scalar::Enum { id: *id, width: word(shape.bit_bound) }),
            Kind::Bitmask(shape) => Some(Scalar::Bits { id: *id, width: word(shape.bit_bound) }),
            Kind::Bitset(shape) => Some(Scalar::Bits { id: *id, width: word(shape.width) }),
            _ => None,
        },
        _ => None,
    }
}

/// Bytes of the smallest word with so many bits.
fn word(bits: u8) -> u8 {
    bits.max(1).div_ceil(8).next_power_of_two()
}

fn payload(model: &Model, resolved: &Type) -> Shape {
    let (form, bound) = match resolved {
        Type::String { bound } => (Form::Text, *bound),
        Type::WideString { bound } => (Form::WideText, *bound),
        Type::Sequence { element, bound } => (sequence_form(model, element), *bound),
        _ => (Form::Marshalled, None),
    };
    // A conventional payload counts bytes: its bounds are checked where it is marshalled.
    let bound = if form == Form::Marshalled { None } else { bound };
    Shape::Payload { form, bound }
}

fn sequence_form(model: &Model, element: &Type) -> Form {
    match (model.resolved(element), element_bytes(model, element)) {
        (Type::Primitive(Primitive::Octet), _) => Form::Octets,
        (_, Some(bytes)) if bytes <= u64::from(u32::MAX) => Form::Elements { width: bytes as u32 },
        _ => Form::Marshalled,
    }
}

/// Bytes of a type whose values are the same bytes in memory and in a message, whatever the bytes:
/// built-in scalars but boolean and wide char, and arrays of them.
pub fn element_bytes(model: &Model, declared: &Type) -> Option<u64> {
    match model.resolved(declared) {
        Type::Primitive(Primitive::Boolean | Primitive::WideChar) => None,
        Type::Primitive(primitive) => Some(u64::from(primitive.bytes())),
        Type::Array { element, dimensions } => {
            dimensions.iter().try_fold(element_bytes(model, element)?, |bytes, dimension| {
                bytes.checked_mul(u64::from(*dimension))
            })
        }
        _ => None,
    }
}

/// Has a struct members, and few enough? One without is one byte, as wherever it is marshalled.
fn is_taken_apart(model: &Model, id: DeclarationId) -> bool {
    (1..=super::LEAVES_MAX).contains(&leaf_count(model, id))
}

/// Scalars and arrays that a struct comes apart into; stops counting past the limit.
fn leaf_count(model: &Model, id: DeclarationId) -> usize {
    let mut count = 0;
    for member in members(model, id) {
        count += match model.resolved(&member.declared) {
            Type::Named(inner) if matches!(model.declaration(*inner).kind, Kind::Struct(_)) => {
                leaf_count(model, *inner).max(1)
            }
            _ => 1,
        };
        if count > super::LEAVES_MAX {
            break;
        }
    }
    count
}

/// Members of a struct, inherited ones first, or of an exception; none of anything else.
pub fn members(model: &Model, id: DeclarationId) -> Vec<&Member> {
    match &model.declaration(id).kind {
        Kind::Struct(own) => {
            let mut all = own.base.map(|base| members(model, base)).unwrap_or_default();
            all.extend(&own.members);
            all
        }
        Kind::Exception(own) => own.iter().collect(),
        _ => Vec::new(),
    }
}

impl Scalar {
    /// Bytes of its word.
    pub fn width(self) -> u8 {
        match self {
            Scalar::Primitive(primitive) => primitive.bytes(),
            Scalar::Enum { width, .. } | Scalar::Bits { width, .. } => width,
        }
    }
}
