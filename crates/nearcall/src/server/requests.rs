//! What an importer asks for over its binding's socket after the bind: out-of-line segments for
//! arguments (L50), more A-stacks (L49), introductions. Done by the housekeeping thread.

use std::os::fd::AsFd;
use std::sync::{Arc, PoisonError};

use nearcall_abi::message::{Message, RefusalCode};
use nearcall_abi::{AStackClass, LENT_COUNT_MAX, MESSAGE_BYTES_MAX};
use nearcall_core::RevokeReason;
use nearcall_os::descriptor::PeerDescriptor;
use nearcall_os::segment::{Sealing, Segment};

use super::binding::{ServerAStack, ServerBinding};
use super::descriptors::Next;
use super::quota::{Charge, Resource};
use crate::client::linkage::OutOfLine;
use crate::domain::DomainCore;
use crate::housekeeping::BATCH;
use crate::region::{self, RegionBytes, Segments};
use crate::wire::{Packet, WireError};

/// An extension that the importer has not sent its segments for.
#[derive(Debug)]
pub(crate) struct Growing {
    class: u32,
    replies: Segment,
    charges: [Charge; 3],
}

/// Answers what has come. False: the binding is over.
pub(crate) fn attend(core: &DomainCore, binding: &Arc<ServerBinding>) -> bool {
    for _ in 0..BATCH {
        match binding.next_packet() {
            Ok(Next::Nothing) => return true,
            Ok(Next::Parked) => {}
            Ok(Next::Packet(packet)) => {
                if let Err(reason) = answer(core, binding, packet) {
                    return broken(binding, &reason);
                }
            }
            Err(WireError::Socket(_)) => return false,
            Err(error) => return broken(binding, &error.to_string()),
        }
    }
    true
}

fn broken(binding: &ServerBinding, reason: &str) -> bool {
    tracing::warn!(name = binding.name, reason, "a client broke the protocol");
    binding.revoke(RevokeReason::Fault);
    false
}

/// A binding that is being ended gets nothing more.
fn answer(
    core: &DomainCore,
    binding: &Arc<ServerBinding>,
    mut packet: Packet,
) -> Result<(), String> {
    match packet.message().map_err(|error| error.to_string())? {
        Message::OutOfLine { astack, generation, bytes } => {
            let descriptor = packet.descriptors.remove(0);
            let is_mapped = map(binding, astack, generation, bytes, descriptor)?;
            send(
                binding,
                &match is_mapped {
                    true => Message::Mapped { astack, generation },
                    false => Message::NotMapped { astack, generation },
                },
            )
        }
        Message::Lend { number, bytes } => {
            let is_mapped = map_lent(binding, number, bytes, packet.descriptors.remove(0))?;
            send(
                binding,
                &match is_mapped {
                    true => Message::Lent { number },
                    false => Message::NotLent { number },
                },
            )
        }
        Message::LendOver { number } => {
            // One whose making failed half-way is not there.
            drop(binding.lent().remove(&number));
            Ok(())
        }
        Message::Grow { class } => {
            let Some(known) = binding.classes.get(class as usize) else {
                return Err(format!("class {class} is not below {}", binding.classes.len()));
            };
            match grow(binding, class, *known) {
                Some(()) => Ok(()),
                None => {
                    let code = RefusalCode::Overloaded;
                    send(binding, &Message::Refused { code, detail: b"no more A-stacks" })
                }
            }
        }
        Message::GrownSegments { class } => {
            let own = packet.descriptors.remove(1);
            let heads = packet.descriptors.remove(0);
            extend(binding, class, heads, own)?;
            send(binding, &Message::GrownBound { class })
        }
        Message::Introduce { number } => core.introductions.introduce(core, binding, number),
        Message::FeedOver { feed } => {
            binding.feeds.close(feed);
            Ok(())
        }
        Message::Look => {
            binding.ask_to_look();
            Ok(())
        }
        other => Err(format!("message {other:?} is not for a server")),
    }
}

fn send(binding: &ServerBinding, message: &Message<'_>) -> Result<(), String> {
    binding.socket.send(message, &[]).map_err(|error| error.to_string())
}

/// Maps a segment for arguments; the one before of that A-stack goes. False: over its user's share.
fn map(
    binding: &ServerBinding,
    astack: u32,
    generation: u32,
    bytes: u64,
    descriptor: PeerDescriptor,
) -> Result<bool, String> {
    let count = binding.astack_count();
    let limit = u64::from(MESSAGE_BYTES_MAX);
    if astack >= count {
        return Err(format!("A-stack index {astack} is not below {count}"));
    }
    if bytes > limit {
        return Err(format!("out-of-line segment of {bytes} bytes is over {limit}"));
    }
    if !binding.state.is_open() {
        return Ok(false);
    }
    let slot = &binding.astack(astack).record().request;
    slot.lock().unwrap_or_else(PoisonError::into_inner).take();
    let Ok(charge) = binding.charge(Resource::MappedBytes, bytes) else {
        return Ok(false);
    };
    let segment = Segment::receive(descriptor, bytes as usize, Sealing::SingleWriter)
        .map_err(|fault| fault.to_string())?;
    let segment = Arc::new(segment);
    let mapped = (OutOfLine { generation, segment }, charge);
    *slot.lock().unwrap_or_else(PoisonError::into_inner) = Some(mapped);
    Ok(true)
}

/// Maps a segment that the client lends. False: over its user's share.
fn map_lent(
    binding: &ServerBinding,
    number: u32,
    bytes: u64,
    descriptor: PeerDescriptor,
) -> Result<bool, String> {
    let limit = u64::from(MESSAGE_BYTES_MAX);
    if bytes > limit {
        return Err(format!("lent segment of {bytes} bytes is over {limit}"));
    }
    let count = binding.lent().len();
    if count >= LENT_COUNT_MAX as usize {
        return Err(format!("{count} segments are lent, the limit is {LENT_COUNT_MAX}"));
    }
    if !binding.state.is_open() {
        return Ok(false);
    }
    let Ok(charge) = binding.charge(Resource::MappedBytes, bytes) else {
        return Ok(false);
    };
    let segment = Segment::receive(descriptor, bytes as usize, Sealing::SingleWriter)
        .map_err(|fault| fault.to_string())?;
    // A call that has the one before keeps it.
    binding.lent().insert(number, (Arc::new(segment), charge));
    Ok(true)
}

/// Makes our half of an extension. `None`: there is no room for one.
fn grow(binding: &ServerBinding, class: u32, known: AStackClass) -> Option<()> {
    if binding.is_fully_grown() || !binding.state.is_open() {
        return None;
    }
    let RegionBytes { heads, blocks } = RegionBytes::of(&[known]).ok()?;
    let charges = [
        binding.charge(Resource::AStacks, known.count.into()).ok()?,
        binding.charge(Resource::MappedBytes, (heads + blocks) as u64).ok()?,
        binding.charge(Resource::OwnBytes, blocks as u64).ok()?,
    ];
    let made = Segment::create("nearcall-replies", blocks, Sealing::SingleWriter);
    let (replies, descriptor) = made.ok()?;
    let grown = Message::Grown { class, count: known.count };
    binding.socket.send(&grown, &[descriptor.as_fd()]).ok()?;
    *binding.growing() = Some(Growing { class, replies, charges });
    Some(())
}

/// Puts an extension together from our half and the importer's.
fn extend(
    binding: &ServerBinding,
    class: u32,
    heads: PeerDescriptor,
    requests: PeerDescriptor,
) -> Result<(), String> {
    let growing = binding.growing().take().filter(|growing| growing.class == class);
    let growing = growing.ok_or_else(|| format!("class {class} is not growing"))?;
    let classes = [binding.classes[class as usize]];
    let bytes = RegionBytes::of(&classes).map_err(|fault| fault.to_string())?;
    growing.charges.into_iter().for_each(|charge| binding.keep(charge));
    let heads = Segment::receive(heads, bytes.heads, Sealing::BothWrite)
        .map_err(|fault| fault.to_string())?;
    let requests = Segment::receive(requests, bytes.blocks, Sealing::SingleWriter)
        .map_err(|fault| fault.to_string())?;
    let segments = Segments { heads, own: growing.replies, peer: requests };
    let base = binding.astack_count();
    let astack = |index, _| ServerAStack::new(base + index, class);
    if !binding.add_extension(base, region::table(&classes, segments, astack)) {
        return Err("no further extension".to_owned());
    }
    Ok(())
}
