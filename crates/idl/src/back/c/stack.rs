//! What stubs have on the stack, of a thread that may have little: fixed parts of messages, and
//! values as C has them, also those that go behind a fixed part. What is too long is refused when
//! it is compiled, and not where a thread runs out of stack.

use crate::back::Unsupported;
use crate::back::c::C;
use crate::back::c::client::{fixed_bytes, reply_bytes};
use crate::back::c::interface::Procedure;
use crate::layout::{Scalar, Shape, members, shape};
use crate::model::{DeclarationId, Direction, Kind, Operation, Type};

/// Most bytes of a message's fixed part, of what an operation is given, of what it gives, and of
/// one element or item.
const STACK_BYTES_MAX: u32 = 64 << 10;

/// What an enumerator takes in C.
const ENUM_BYTES: u64 = 4;

/// What a pointer takes, and what a list does, which is a count and one.
const POINTER: Room = Room { bytes: 8, alignment: 8 };
const LIST: Room = Room { bytes: 16, alignment: 8 };

/// What a type takes in memory.
#[derive(Clone, Copy)]
struct Room {
    bytes: u64,
    alignment: u64,
}

impl Room {
    fn word(bytes: u64) -> Room {
        Room { bytes, alignment: bytes.min(8) }
    }

    /// With something behind it.
    fn before(self, next: Room) -> Room {
        let at = self.bytes.checked_next_multiple_of(next.alignment).unwrap_or(u64::MAX);
        let alignment = self.alignment.max(next.alignment);
        Room { bytes: at.saturating_add(next.bytes), alignment }
    }

    /// As one of an array.
    fn padded(self) -> Room {
        let bytes = self.bytes.checked_next_multiple_of(self.alignment).unwrap_or(u64::MAX);
        Room { bytes, ..self }
    }
}

const NOTHING: Room = Room { bytes: 0, alignment: 1 };

impl C<'_> {
    /// Operations whose messages, values, or elements that come to memory of a caller's, are too
    /// long for a stub's stack.
    pub fn too_long(&self) -> Vec<Unsupported> {
        let all = self.plan.interfaces.iter().flat_map(|plan| self.procedures(plan));
        let found = all.flat_map(|procedure| {
            let declaration = self.model.declaration(procedure.interface);
            let place = format!("{}::{}", declaration.name, procedure.operation.name);
            let reasons = self.too_long_of(procedure);
            reasons.map(move |reason| Unsupported { place: place.clone(), reason })
        });
        found.collect()
    }

    fn too_long_of(&self, procedure: Procedure<'_>) -> impl Iterator<Item = String> {
        let (operation, plan) = (procedure.operation, procedure.plan);
        let fixed: u64 = fixed_bytes(&plan.client.request).max(reply_bytes(plan)).into();
        // What carries its items is not what somebody has written.
        let feed = self.feed_here(procedure).filter(|_| !operation.carries_feed());
        let item = feed.map_or(0, |feed| self.room(feed.item).bytes);
        let has_room = format!("a stub in C has room for {STACK_BYTES_MAX}");
        let large = "declare large arrays as sequences";
        let limits = [
            (fixed, format!("its fixed parameters take {fixed} bytes"), large),
            (item, format!("an item takes {item} bytes"), large),
            {
                let bytes = self.values(procedure);
                // Of those it was said already.
                let bytes = if fixed > STACK_BYTES_MAX.into() { 0 } else { bytes };
                (bytes, format!("the values that go one way take {bytes} bytes"), large)
            },
            {
                let bytes = self.raised_bytes(operation);
                (bytes, format!("its exceptions take {bytes} bytes"), large)
            },
            {
                let bytes = self.spread_bytes(operation);
                let what = format!("an element of a `prealloc` result takes {bytes} bytes");
                (bytes, what, "leave `prealloc` out")
            },
        ];
        let beyond = limits.into_iter().filter(|limit| limit.0 > STACK_BYTES_MAX.into());
        beyond.map(move |(_, what, way_out)| format!("{what}, and {has_room}: {way_out}"))
    }

    /// Most bytes of all values that a procedure is given, or gives.
    fn values(&self, procedure: Procedure<'_>) -> u64 {
        let operation = procedure.operation;
        let sum = |direction| {
            let all = operation.parameters.iter().filter(|one| one.direction != direction);
            all.map(|one| self.room(&one.declared).bytes).fold(0, u64::saturating_add)
        };
        let returned = operation.returns.as_ref().map_or(0, |declared| self.room(declared).bytes);
        sum(Direction::Out).max(sum(Direction::In).saturating_add(returned))
    }

    /// Bytes of all exceptions that it may raise: a call stub has one of each.
    fn raised_bytes(&self, operation: &Operation) -> u64 {
        let raised = operation.raises.iter().map(|id| self.room(&Type::Named(*id)).bytes);
        raised.fold(0, u64::saturating_add)
    }

    /// What a type takes where pointers have 8 bytes: exactly, since what is refused by it works
    /// nowhere, where `memory_bytes` rounds up for C++.
    fn room(&self, declared: &Type) -> Room {
        if let Shape::Scalar(scalar) = shape(self.model, declared) {
            let width = match scalar {
                // An `enum`, however few bits of it go.
                Scalar::Enum { .. } => ENUM_BYTES,
                _ => scalar.width().into(),
            };
            return Room::word(width);
        }
        match self.resolved(declared) {
            Type::Primitive(primitive) => Room { bytes: primitive.bytes().into(), alignment: 1 },
            Type::String { .. } | Type::WideString { .. } => POINTER,
            Type::Sequence { .. } | Type::Map { .. } => LIST,
            Type::Array { element, dimensions } => {
                let one = self.room(element);
                let count =
                    dimensions.iter().fold(1u64, |all, many| all.saturating_mul((*many).into()));
                Room { bytes: one.bytes.saturating_mul(count), ..one }
            }
            Type::Named(id) => self.declared_room(*id),
        }
    }

    fn declared_room(&self, id: DeclarationId) -> Room {
        let boxed = self.boxed(id);
        let own = |(member, is_boxed): (&crate::model::Member, &bool)| {
            let is_pointer = member.is_optional || *is_boxed;
            if is_pointer { POINTER } else { self.room(&member.declared) }
        };
        match &self.model.declaration(id).kind {
            Kind::Union(union) => {
                let cases = union.cases.iter().map(|case| &case.member).zip(&boxed).map(own);
                let largest = cases.fold(NOTHING, |all, one| Room {
                    bytes: all.bytes.max(one.bytes),
                    alignment: all.alignment.max(one.alignment),
                });
                self.room(&union.discriminator).before(largest.padded()).padded()
            }
            _ => {
                let all = members(self.model, id).into_iter().zip(&boxed).map(own);
                all.fold(NOTHING, Room::before).padded()
            }
        }
    }
}
