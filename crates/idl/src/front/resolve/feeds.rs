//! Feeds: an operation that streams items, as the procedures that carry them (design note 0020).
//!
//! ```text
//! @feed T f(in A a)           f(a) → feed   _next_f(feed, number) → items, is_last
//! R f(@feed in U u, in A a)   f(a) → feed   _put_f(feed, number, items)   _end_f(feed) → R
//! @feed T f(@feed in U u, in A a)
//!                 f(a) → feed, sink   _next_f as above   _put_f and _end_f as above, of the sink
//! ```
//!
//! From here on nothing knows of items but the back ends: layout, plan and hashes see procedures
//! whose A-stacks carry batches.

use nearcall_abi::procedure_name::{END, NEXT, PUT};

use crate::layout::fixed_bytes;
use crate::model::{
    Annotation, Direction, Feed, FeedPart, Kind, Model, Operation, Parameter, Primitive, Type,
};
use crate::source::Span;

/// Bytes of a batch: with its words it fits the A-stack that most variable arguments have.
const BATCH_BYTES: u64 = 1984;

/// Most items of a batch.
const BATCH_COUNT_MAX: u64 = 1024;

/// What an item without a fixed size is taken for; a batch that is longer goes out of line.
const ITEM_BYTES: u64 = 64;

/// Puts the procedures that carry feeds in the places of the operations that open them.
pub fn expand(model: &mut Model) {
    for index in 0..model.declarations.len() {
        let Kind::Interface(interface) = &mut model.declarations[index].kind else { continue };
        if !interface.operations.iter().any(is_feed) {
            continue;
        }
        let operations = std::mem::take(&mut interface.operations);
        let expanded = operations.into_iter().flat_map(|one| carried(model, one)).collect();
        if let Kind::Interface(interface) = &mut model.declarations[index].kind {
            interface.operations = expanded;
        }
    }
}

fn is_feed(operation: &Operation) -> bool {
    operation.returns_feed || operation.parameters.iter().any(|one| one.is_feed)
}

/// The procedures of one operation.
fn carried(model: &Model, operation: Operation) -> Vec<Operation> {
    if !is_feed(&operation) {
        return vec![operation];
    }
    let name = operation.name.clone();
    let sent = operation.parameters.iter().find(|one| one.is_feed);
    let is_exchange = operation.returns_feed && sent.is_some();
    let part = |part| Some(Feed { part, opened_by: name.clone(), is_exchange });
    let named = |prefix: &str, feed_part, parameters| Operation {
        name: format!("{prefix}{name}"),
        doc: None,
        returns: None,
        parameters,
        feed: part(feed_part),
        returns_feed: false,
        ..operation.clone()
    };
    let value = |name, direction, primitive| value(operation.at, name, direction, primitive);
    let feed = || value("feed", Direction::In, Primitive::Uint64);
    let number = || value("number", Direction::In, Primitive::Uint32);
    let mut parameters: Vec<_> =
        operation.parameters.iter().filter(|one| !one.is_feed).cloned().collect();
    if is_exchange {
        // No identifier of an interface file is spelled so.
        parameters.push(value("_sink", Direction::Out, Primitive::Uint64));
    }
    let opening = Operation {
        returns: Some(Type::Primitive(Primitive::Uint64)),
        returns_feed: false,
        parameters,
        feed: part(FeedPart::Open),
        ..operation.clone()
    };
    let mut procedures = vec![opening];
    if operation.returns_feed {
        let item = operation.returns.clone().expect("an operation that returns a feed of nothing");
        let is_last = value("is_last", Direction::Out, Primitive::Boolean);
        let mut next = named(NEXT, FeedPart::Next, vec![feed(), number(), is_last]);
        next.returns = Some(batch(model, item));
        procedures.push(next);
    }
    let Some(sent) = sent else {
        return procedures;
    };
    let items = Parameter {
        name: String::from("items"),
        declared: batch(model, sent.declared.clone()),
        is_feed: false,
        annotations: Vec::<Annotation>::new(),
        ..sent.clone()
    };
    let mut put = named(PUT, FeedPart::Put, vec![feed(), number(), items]);
    let mut end = named(END, FeedPart::End, vec![feed()]);
    if is_exchange {
        // What the procedure raises comes with the items.
        put.raises.clear();
        end.raises.clear();
    } else {
        end.returns = operation.returns.clone();
    }
    procedures.extend([put, end]);
    procedures
}

fn value(at: Span, name: &str, direction: Direction, primitive: Primitive) -> Parameter {
    Parameter {
        name: name.to_owned(),
        at,
        direction,
        declared: Type::Primitive(primitive),
        is_opaque: false,
        is_prealloc: false,
        typical_bytes: None,
        descriptor: None,
        is_feed: false,
        annotations: Vec::new(),
    }
}

fn batch(model: &Model, item: Type) -> Type {
    let bytes = fixed_bytes(model, &item).unwrap_or(ITEM_BYTES).max(1);
    let bound = (BATCH_BYTES / bytes).clamp(1, BATCH_COUNT_MAX) as u32;
    Type::Sequence { element: Box::new(item), bound: Some(bound) }
}
