//! Which class of A-stack each procedure takes, and how many there are of each (L14, L48).

use nearcall_abi::layout::BLOCK_BYTES_MAX;
use nearcall_abi::{ASTACKS_PER_PROCEDURE, AStackClass, INLINE_BYTES, LINE_BYTES, VARIABLE_BYTES};

use crate::layout::{Form, MessageLayout, OperationLayout, Payload, bytes_max, root_type};
use crate::model::{DeclarationId, Model, Operation};

/// Classes of an interface, in order of size; sets each operation's `class`.
pub fn astack_classes(
    model: &Model,
    operations: &[Operation],
    layouts: &mut [OperationLayout],
) -> Vec<AStackClass> {
    let wishes: Vec<AStackClass> = operations
        .iter()
        .zip(layouts.iter())
        .map(|(operation, layout)| {
            let count = operation.astack.count.unwrap_or(ASTACKS_PER_PROCEDURE).max(1);
            // Blocks lie between lines, so that they are whole lines themselves.
            let block_bytes = block_bytes(model, operation, layout).next_multiple_of(LINE_BYTES);
            AStackClass { count, ..AStackClass::for_block(block_bytes) }
        })
        .collect();
    let mut classes: Vec<AStackClass> = Vec::new();
    for wish in &wishes {
        match classes.iter_mut().find(|class| class.block_bytes == wish.block_bytes) {
            Some(class) => class.count = class.count.max(wish.count),
            None => classes.push(*wish),
        }
    }
    classes.sort_by_key(|class| class.block_bytes);
    for (layout, wish) in layouts.iter_mut().zip(&wishes) {
        let class = classes.iter().position(|class| class.block_bytes == wish.block_bytes);
        layout.class = class.unwrap_or_default() as u8;
    }
    if classes.is_empty() {
        // No class, no binding: even an interface without a procedure can be imported.
        classes.push(AStackClass { block_bytes: 0, count: 1 });
    }
    classes
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

/// Bytes to set aside for the payloads of a message: their bounds if these are small, what one
/// Ethernet packet carries if not, what the interface says if it says anything.
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
    let mut sum = 0u64;
    for payload in &message.payloads {
        let most = payload_bytes_max(model, operation, exception, payload);
        let most = most.unwrap_or(u64::from(VARIABLE_BYTES));
        sum = sum.saturating_add(most.saturating_add(7) / 8 * 8);
    }
    sum.min(u64::from(VARIABLE_BYTES)) as u32
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
            bytes_max(model, root_type(model, operation, exception, payload.place.root)?)
        }
        // Only a block that was too long for any A-stack is a payload inside of a struct.
        Form::Marshalled => None,
    }
}
