//! The messages of one operation: which values go, where each lies.
//!
//! Words first, in falling width, then blocks and images in falling alignment, so that no byte is
//! wasted between two of a group and what is most likely small and hot lies in the head line. The
//! gap that a group of words may leave is filled from the next group.

use std::collections::BTreeSet;
use std::ops::Range;

use nearcall_abi::INLINE_BYTES;
use nearcall_abi::layout::BLOCK_BYTES_MAX;

use crate::layout::{
    Form, Item, ItemKind, MessageLayout, OperationLayout, Payload, Place, Root, Shape, members,
    shape,
};
use crate::model::{DeclarationId, Descriptor, Direction, Model, Operation, Parameter, Type};

/// Bytes of a length word.
const LENGTH_BYTES: u32 = 4;

/// Most bytes of a fixed part: what the largest A-stack holds.
const FIXED_BYTES_MAX: u64 = (BLOCK_BYTES_MAX + INLINE_BYTES) as u64;

/// Groups of one message, in the order in which they are placed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Group {
    InoutWord,
    OwnWord,
    InoutBlock,
    OwnBlock,
}

/// Something that needs room in the fixed part.
struct Wanted {
    group: Group,
    place: Place,
    kind: ItemKind,
    bytes: u64,
}

/// A root on its way through a message.
struct Passenger<'m> {
    root: Root,
    declared: &'m Type,
    is_inout: bool,
    is_lent: bool,
    /// It may be absent, as a member of an exception may.
    is_optional: bool,
    /// It goes beside the message, which has no more of it than whether it is there.
    is_descriptor: bool,
}

/// The messages of an operation; its class is chosen later.
pub fn operation(model: &Model, operation: &Operation) -> OperationLayout {
    let lent_result = lent_result(operation);
    let mut reply = message(model, &reply_passengers(operation, lent_result));
    // The server writes the lent result before it knows how long the others are.
    reply.payloads.sort_by_key(|payload| payload.form != Form::Lent);
    let raised = operation.raises.iter().map(|id| exception_passengers(model, *id));
    OperationLayout {
        request: message(model, &request_passengers(operation, lent_result)),
        reply,
        raised: raised.map(|passengers| message(model, &passengers)).collect(),
        lent_result,
        class: 0,
    }
}

fn lent_result(operation: &Operation) -> Option<Root> {
    if operation.returns_opaque && operation.returns.is_some() {
        return Some(Root::Returned);
    }
    let is_lent =
        |parameter: &Parameter| parameter.is_opaque && parameter.direction != Direction::In;
    operation.parameters.iter().position(is_lent).map(|index| Root::Parameter(index as u32))
}

fn request_passengers(operation: &Operation, lent_result: Option<Root>) -> Vec<Passenger<'_>> {
    let is_lent = |parameter: &Parameter, index| {
        let is_result = lent_result == Some(Root::Parameter(index));
        parameter.is_opaque && (parameter.direction == Direction::In || is_result)
    };
    let parameters = operation.parameters.iter().zip(0u32..);
    let sent = parameters.filter(|(parameter, _)| {
        parameter.direction != Direction::Out && travels(parameter.descriptor)
    });
    sent.map(|(parameter, index)| Passenger {
        root: Root::Parameter(index),
        declared: &parameter.declared,
        is_inout: parameter.direction == Direction::Inout,
        is_lent: is_lent(parameter, index),
        is_optional: false,
        is_descriptor: parameter.descriptor.is_some(),
    })
    .collect()
}

/// Whether the message has something of a value: of a descriptor only if it may be absent.
fn travels(descriptor: Option<Descriptor>) -> bool {
    descriptor.is_none_or(|descriptor| descriptor.is_optional)
}

/// The returned value, then the parameters.
fn reply_passengers(operation: &Operation, lent_result: Option<Root>) -> Vec<Passenger<'_>> {
    let returned = operation.returns.as_ref();
    let returned = returned.filter(|_| travels(operation.returns_descriptor));
    let returned = returned.map(|declared| Passenger {
        root: Root::Returned,
        declared,
        is_inout: false,
        is_lent: lent_result == Some(Root::Returned),
        is_optional: false,
        is_descriptor: operation.returns_descriptor.is_some(),
    });
    let parameters = operation.parameters.iter().zip(0u32..);
    let sent = parameters.filter(|(parameter, _)| {
        parameter.direction != Direction::In && travels(parameter.descriptor)
    });
    let sent = sent.map(|(parameter, index)| Passenger {
        root: Root::Parameter(index),
        declared: &parameter.declared,
        is_inout: parameter.direction == Direction::Inout,
        is_lent: lent_result == Some(Root::Parameter(index)),
        is_optional: false,
        is_descriptor: parameter.descriptor.is_some(),
    });
    returned.into_iter().chain(sent).collect()
}

fn exception_passengers(model: &Model, id: DeclarationId) -> Vec<Passenger<'_>> {
    members(model, id)
        .into_iter()
        .zip(0u32..)
        .map(|(member, index)| Passenger {
            root: Root::Member(index),
            declared: &member.declared,
            is_inout: false,
            is_lent: false,
            is_optional: member.is_optional,
            is_descriptor: false,
        })
        .collect()
}

/// Lays one message out. Blocks that would make the fixed part longer than the largest A-stack
/// become payloads, the largest first.
fn message(model: &Model, passengers: &[Passenger<'_>]) -> MessageLayout {
    let mut moved_out = BTreeSet::new();
    loop {
        let mut wanted = Vec::new();
        let mut payloads = Vec::new();
        for passenger in passengers {
            let mut sorter = Sorter { model, passenger, moved_out: &moved_out };
            let place = Place::whole(passenger.root);
            if passenger.is_descriptor {
                wanted.push(sorter.wanted(&place, ItemKind::Presence, 1));
                continue;
            }
            if passenger.is_optional {
                // Marshalled, as an optional member of a struct is.
                sorter.payload(&place, Form::Marshalled, None, &mut wanted, &mut payloads);
                continue;
            }
            sorter.sort(&place, passenger.declared, &mut wanted, &mut payloads);
        }
        let fixed: u64 = wanted.iter().map(|wanted| wanted.bytes).sum();
        let largest = wanted.iter().filter(|wanted| wanted.group >= Group::InoutBlock);
        match largest.max_by_key(|wanted| wanted.bytes) {
            // Placing wastes less than 64 bytes in all.
            Some(largest) if fixed + 64 > FIXED_BYTES_MAX => {
                moved_out.insert(largest.place.clone());
            }
            _ => return placed(wanted, payloads),
        }
    }
}

/// Sorts one passenger's values into the two parts.
struct Sorter<'p, 'm> {
    model: &'m Model,
    passenger: &'p Passenger<'m>,
    moved_out: &'p BTreeSet<Place>,
}

impl<'m> Sorter<'_, 'm> {
    fn sort(
        &mut self,
        place: &Place,
        declared: &'m Type,
        wanted: &mut Vec<Wanted>,
        payloads: &mut Vec<Payload>,
    ) {
        match shape(self.model, declared) {
            Shape::Scalar(scalar) => {
                let kind = ItemKind::Scalar(scalar);
                wanted.push(self.wanted(place, kind, u64::from(scalar.width())));
            }
            Shape::Leaves(id) => {
                for (member, index) in members(self.model, id).into_iter().zip(0u32..) {
                    self.sort(&place.member(index), &member.declared, wanted, payloads);
                }
            }
            Shape::Payload { form, bound } => self.payload(place, form, bound, wanted, payloads),
            Shape::Block { .. } | Shape::Image { .. } if self.moved_out.contains(place) => {
                self.payload(place, Form::Marshalled, None, wanted, payloads);
            }
            Shape::Block { bytes } => {
                let kind = ItemKind::Block { bytes: narrowed(bytes) };
                wanted.push(self.wanted(place, kind, bytes));
            }
            Shape::Image { bytes } => {
                let kind = ItemKind::Image { bytes: narrowed(bytes) };
                wanted.push(self.wanted(place, kind, bytes));
            }
        }
    }

    fn payload(
        &self,
        place: &Place,
        form: Form,
        bound: Option<u32>,
        wanted: &mut Vec<Wanted>,
        payloads: &mut Vec<Payload>,
    ) {
        let form = if self.passenger.is_lent { Form::Lent } else { form };
        wanted.push(self.wanted(place, ItemKind::Length, u64::from(LENGTH_BYTES)));
        payloads.push(Payload { place: place.clone(), form, bound });
    }

    fn wanted(&self, place: &Place, kind: ItemKind, bytes: u64) -> Wanted {
        let is_word = matches!(kind, ItemKind::Scalar(_) | ItemKind::Length | ItemKind::Presence);
        let group = match (is_word, self.passenger.is_inout) {
            (true, true) => Group::InoutWord,
            (true, false) => Group::OwnWord,
            (false, true) => Group::InoutBlock,
            (false, false) => Group::OwnBlock,
        };
        Wanted { group, place: place.clone(), kind, bytes }
    }
}

/// What does not fit 32 bits is moved out before anyone looks at its width.
fn narrowed(bytes: u64) -> u32 {
    u32::try_from(bytes).unwrap_or(u32::MAX)
}

/// Largest power of two, up to 8, that divides a length: packed in falling order, blocks leave no
/// gap.
fn alignment(bytes: u64) -> u64 {
    1 << bytes.trailing_zeros().min(3)
}

fn placed(mut wanted: Vec<Wanted>, payloads: Vec<Payload>) -> MessageLayout {
    wanted.sort_by_key(|wanted| (wanted.group, std::cmp::Reverse(alignment(wanted.bytes))));
    let mut room = Room::default();
    let mut items: Vec<Item> = wanted
        .into_iter()
        .map(|wanted| {
            let at = room.take(wanted.bytes as u32, alignment(wanted.bytes) as u32);
            Item { place: wanted.place, at, kind: wanted.kind }
        })
        .collect();
    items.sort_by_key(|item| item.at);
    let fixed_bytes = room.end;
    let is_lending = payloads.iter().any(|payload| payload.form == Form::Lent);
    let aligned = fixed_bytes.next_multiple_of(8);
    // What is lent lies in one piece, and results do not overwrite it: never in the head.
    let variable_at = if is_lending { aligned.max(INLINE_BYTES) } else { aligned };
    MessageLayout { items, fixed_bytes, variable_at, payloads }
}

/// The fixed part while it fills.
#[derive(Default)]
struct Room {
    holes: Vec<Range<u32>>,
    end: u32,
}

impl Room {
    /// The first place with this alignment where so many bytes are free.
    fn take(&mut self, bytes: u32, align: u32) -> u32 {
        let fits = |hole: &Range<u32>| hole.start.next_multiple_of(align) + bytes <= hole.end;
        if let Some(index) = self.holes.iter().position(fits) {
            let hole = self.holes[index].clone();
            let at = hole.start.next_multiple_of(align);
            let rest = [hole.start..at, at + bytes..hole.end];
            self.holes.splice(index..=index, rest.into_iter().filter(|hole| !hole.is_empty()));
            return at;
        }
        let at = self.end.next_multiple_of(align);
        if at > self.end {
            self.holes.push(self.end..at);
        }
        self.end = at + bytes;
        at
    }
}
