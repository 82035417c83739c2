//! Which class of A-stack each procedure takes, and how many there are of each (L14, L48).

use nearcall_abi::layout::BLOCK_BYTES_MAX;
use nearcall_abi::message::CLASSES_MAX;
use nearcall_abi::{ASTACKS_PER_PROCEDURE, AStackClass, INLINE_BYTES, LINE_BYTES, VARIABLE_BYTES};

use crate::layout::{
    Form, MessageLayout, OperationLayout, Payload, Root, bytes_max, is_optional, root_type,
};
use crate::model::{DeclarationId, FeedPart, Model, Operation};

/// What procedures share a class: those with blocks of one size, or, of what waits for an exchange,
/// those that do the same for theirs. Its A-stacks are taken for as long as the other side pleases:
/// others would wait for those, and what has to come first for what comes after it.
#[derive(Clone, Copy, PartialEq)]
enum Sharing {
    Of(u32),
    Waiting(FeedPart),
}

/// Classes of an interface, in order of size; sets each operation's `class`.
pub fn astack_classes(
    model: &Model,
    operations: &[Operation],
    layouts: &mut [OperationLayout],
) -> Vec<AStackClass> {
    let mut wishes: Vec<(Sharing, AStackClass)> = operations
        .iter()
        .zip(layouts.iter())
        .map(|(operation, layout)| {
            let count = operation.astack.count.unwrap_or(ASTACKS_PER_PROCEDURE).max(1);
            // Blocks lie between lines, so that they are whole lines themselves.
            let block_bytes = block_bytes(model, operation, layout).next_multiple_of(LINE_BYTES);
            let class = AStackClass { count, ..AStackClass::for_block(block_bytes) };
            (sharing(operation, class), class)
        })
        .collect();
    let mut shared: Vec<(Sharing, AStackClass)> = Vec::new();
    for (sharing, wish) in &wishes {
        match shared.iter_mut().find(|(others, _)| others == sharing) {
            Some((_, class)) => {
                class.count = class.count.max(wish.count);
                class.block_bytes = class.block_bytes.max(wish.block_bytes);
            }
            None => shared.push((*sharing, *wish)),
        }
    }
    shared.sort_by_key(|(_, class)| class.block_bytes);
    while shared.len() > CLASSES_MAX {
        join_smallest(&mut shared, &mut wishes);
    }
    for (layout, (sharing, _)) in layouts.iter_mut().zip(&wishes) {
        let class = shared.iter().position(|(others, _)| others == sharing);
        layout.class = class.unwrap_or_default() as u8;
    }
    let mut classes: Vec<AStackClass> = shared.into_iter().map(|(_, class)| class).collect();
    if classes.is_empty() {
        // No class, no binding: even an interface without a procedure can be imported.
        classes.push(AStackClass { block_bytes: 0, count: 1 });
    }
    classes
}

/// There are as many sizes as a bind lists classes: the smallest one gives way to what waits.
fn join_smallest(shared: &mut Vec<(Sharing, AStackClass)>, wishes: &mut [(Sharing, AStackClass)]) {
    let is_sized = |(sharing, _): &(Sharing, AStackClass)| matches!(sharing, Sharing::Of(_));
    let smallest = shared.iter().position(is_sized).expect("two classes wait at most");
    let (gone, class) = shared.remove(smallest);
    let next = shared.iter_mut().find(|one| is_sized(one)).expect("two classes wait at most");
    next.1.count = next.1.count.max(class.count);
    let joined = next.0;
    wishes.iter_mut().filter(|(sharing, _)| *sharing == gone).for_each(|one| one.0 = joined);
}

fn sharing(operation: &Operation, class: AStackClass) -> Sharing {
    let part = operation.feed.as_ref().filter(|_| operation.waits_for_exchange());
    part.map_or(Sharing::Of(class.block_bytes), |feed| Sharing::Waiting(feed.part))
}

/// Bytes past the head line that the longest usual message of an operation needs.
fn block_bytes(model: &Model, operation: &Operation, layout: &OperationLayout) -> u32 {
    let exceptions = operation.raises.iter().copied().map(Some);
    let sources = [None, None].into_iter().chain(exceptions);
    let needed = layout.messages().zip(sources).map(|(message, exception)| {
        let variable = variable_bytes(model, operation, exception, message);
        message.bytes_before_payloads().saturating_add(variable).saturating_sub(INLINE_BYTES)
    });
    needed.max().unwrap_or(0).min(BLOCK_BYTES_MAX)
}

/// Bytes to set aside for the payloads of a message: what the interface says if it says anything of
/// all, or of one; of the others their bounds if these are small, what one Ethernet packet carries
/// if not.
fn variable_bytes(
    model: &Model,
    operation: &Operation,
    exception: Option<DeclarationId>,
    message: &MessageLayout,
) -> u32 {
    if message.payloads.is_empty() {
        return 0;
    }
    if let Some(bytes) = operation.astack.bytes {
        return bytes;
    }
    let padded = |bytes: u64| bytes.saturating_add(7) / 8 * 8;
    let (mut typical, mut others) = (0u64, 0u64);
    for payload in &message.payloads {
        let most = payload_bytes_max(model, operation, exception, payload);
        let most = padded(most.unwrap_or(u64::MAX));
        match typical_bytes(operation, payload.place.root) {
            Some(bytes) => typical += most.min(padded(bytes.into())),
            None => others = others.saturating_add(most),
        }
    }
    (typical + others.min(VARIABLE_BYTES.into())).min(BLOCK_BYTES_MAX.into()) as u32
}

/// What the interface says that a value usually takes.
fn typical_bytes(operation: &Operation, root: Root) -> Option<u32> {
    match root {
        Root::Returned => operation.returns_typical_bytes,
        Root::Parameter(index) => operation.parameters[index as usize].typical_bytes,
        Root::Member(_) => None,
    }
}

fn payload_bytes_max(
    model: &Model,
    operation: &Operation,
    exception: Option<DeclarationId>,
    payload: &Payload,
) -> Option<u64> {
    let bound = payload.bound.map(u64::from);
    match payload.form {
        Form::Text | Form::Octets | Form::Lent => bound,
        Form::WideText => bound?.checked_mul(4),
        Form::Elements { width } => bound?.checked_mul(u64::from(width)),
        Form::Marshalled if payload.place.path.is_empty() => {
            let root = payload.place.root;
            let bytes = bytes_max(model, root_type(model, operation, exception, root)?)?;
            bytes.checked_add(u64::from(is_optional(model, exception, root)))
        }
        // Only a block that was too long for any A-stack is a payload inside of a struct.
        Form::Marshalled => None,
    }
}
