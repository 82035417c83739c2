//! Where every value of a message lies: offsets of the fixed part, payloads of the variable part,
//! and which class of A-stack a procedure takes.
//!
//! Decides sizes, offsets and which form a value crosses in; the shift from straight-line stores
//! to conventional marshalling happens here, at compile time (L33). Knows no target language and
//! no step of a stub.
//!
//! ```text
//! request  │ inout words │ in words  │ blocks │ pad to 8 │ payloads, each padded to 8 │
//! reply    │ inout words │ out words │ blocks │ pad to 8 │ payloads, each padded to 8 │
//! ```
//!
//! IDL4 sorts `in < inout < out < variable` so that the inout words lie at the same place of the
//! request and of the reply (I8). Here both messages begin at byte 0 of the same line, so that the
//! inout words come first in both.

mod class;
mod extended;
mod message;
mod missing;
mod range;
mod reach;
mod shape;
mod size;

pub use class::astack_classes;
pub use extended::extended;
pub use missing::{MISSING_BYTES_MAX, given, missing};
pub(crate) use range::integer_ends;
pub use range::{Range, is_ranged, range};
pub use reach::reached;
pub use shape::{Form, Scalar, Shape, element_bytes, members, shape};
pub use size::{
    bytes_max, bytes_min, declared_bytes_min, fixed_bytes, is_recursive, item_bytes, memory_bytes,
};

use nearcall_abi::AStackClass;

use crate::model::{DeclarationId, Descriptor, Interface, Model, Operation};

/// Most scalars that a fixed struct is taken apart into; a larger one crosses as an image.
pub const LEAVES_MAX: usize = 64;

/// A value of a message: what it belongs to, and the way down to it through structs.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// What it belongs to.
    pub root: Root,
    /// Indices of members, outermost first.
    pub path: Vec<u32>,
}

/// What the values of a message belong to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Root {
    /// The value that the operation returns.
    Returned,
    /// The parameter of this index.
    Parameter(u32),
    /// The exception's member of this index.
    Member(u32),
}

/// Something in the fixed part.
#[derive(Clone, Debug, PartialEq)]
pub struct Item {
    /// The value it belongs to.
    pub place: Place,
    /// Byte it begins at.
    pub at: u32,
    /// What stands there.
    pub kind: ItemKind,
}

/// What stands in the fixed part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ItemKind {
    /// The value itself, in a word of 1, 2, 4 or 8 bytes that is a multiple of its width away from
    /// the beginning.
    Scalar(Scalar),
    /// The value as it lies in memory: arrays of elements.
    Block {
        /// How long it is.
        bytes: u32,
    },
    /// The value, marshalled to a length that is known now.
    Image {
        /// How long it is.
        bytes: u32,
    },
    /// How long its payload in the variable part is, in what its form counts: 4 bytes.
    Length,
    /// Whether a descriptor, which goes beside the message, is there: a byte, 0 or 1.
    Presence,
}

/// Something in the variable part.
#[derive(Clone, Debug, PartialEq)]
pub struct Payload {
    /// The value.
    pub place: Place,
    /// How it is written.
    pub form: Form,
    /// Most of what its form counts.
    pub bound: Option<u32>,
}

/// One message.
#[derive(Clone, Debug, PartialEq)]
pub struct MessageLayout {
    /// The fixed part, by offset.
    pub items: Vec<Item>,
    /// Bytes of the fixed part, without padding at the end.
    pub fixed_bytes: u32,
    /// Where the variable part begins, a multiple of 8; what `fixed_bytes` rounds up to if there is
    /// none.
    pub variable_at: u32,
    /// The variable part, in order.
    pub payloads: Vec<Payload>,
}

/// The messages of one operation.
#[derive(Clone, Debug, PartialEq)]
pub struct OperationLayout {
    /// To the server.
    pub request: MessageLayout,
    /// Back, when it returned.
    pub reply: MessageLayout,
    /// Back, when it raised; in the order of `raises`.
    pub raised: Vec<MessageLayout>,
    /// The parameter or return value that the server writes in place (L43): the first `@opaque`
    /// result. Others cross as ordinary octets.
    pub lent_result: Option<Root>,
    /// Index into [`InterfaceLayout::classes`].
    pub class: u8,
}

/// The messages of an interface.
#[derive(Clone, Debug, PartialEq)]
pub struct InterfaceLayout {
    /// In the order of the procedure indices.
    pub operations: Vec<OperationLayout>,
    /// A-stack classes, in order of size.
    pub classes: Vec<AStackClass>,
}

/// Lays out every message of an interface.
pub fn interface(model: &Model, interface: &Interface) -> InterfaceLayout {
    let messages = |operation| message::operation(model, operation);
    let mut operations: Vec<OperationLayout> = interface.operations.iter().map(messages).collect();
    let classes = astack_classes(model, &interface.operations, &mut operations);
    InterfaceLayout { operations, classes }
}

impl Place {
    /// All of a root.
    pub fn whole(root: Root) -> Place {
        Place { root, path: Vec::new() }
    }

    /// The member of this index.
    pub fn member(&self, index: u32) -> Place {
        let mut path = self.path.clone();
        path.push(index);
        Place { root: self.root, path }
    }
}

impl MessageLayout {
    /// Bytes up to the end of the fixed part, or up to the variable part if there is one.
    pub fn bytes_before_payloads(&self) -> u32 {
        if self.payloads.is_empty() { self.fixed_bytes } else { self.variable_at }
    }
}

impl OperationLayout {
    /// Every message.
    pub fn messages(&self) -> impl Iterator<Item = &MessageLayout> {
        [&self.request, &self.reply].into_iter().chain(&self.raised)
    }
}

/// The type of a root: `None` for a root that the operation does not have.
pub fn root_type<'m>(
    model: &'m Model,
    operation: &'m Operation,
    exception: Option<DeclarationId>,
    root: Root,
) -> Option<&'m crate::model::Type> {
    match root {
        Root::Returned => operation.returns.as_ref(),
        Root::Parameter(index) => {
            operation.parameters.get(index as usize).map(|parameter| &parameter.declared)
        }
        Root::Member(index) => {
            members(model, exception?).get(index as usize).map(|member| &member.declared)
        }
    }
}

/// Whether the value of a root may be absent: a member of an exception may.
pub fn is_optional(model: &Model, exception: Option<DeclarationId>, root: Root) -> bool {
    match (root, exception) {
        (Root::Member(index), Some(id)) => {
            members(model, id).get(index as usize).is_some_and(|member| member.is_optional)
        }
        _ => false,
    }
}

impl Operation {
    /// What descriptor a root is, if it is one.
    pub fn descriptor(&self, root: Root) -> Option<Descriptor> {
        match root {
            Root::Returned => self.returns_descriptor,
            Root::Parameter(index) => self.parameters.get(index as usize)?.descriptor,
            Root::Member(_) => None,
        }
    }
}

#[cfg(test)]
mod tests;
