//! What an importer asks for over its binding's socket after the bind: out-of-line segments for
//! arguments (L50), more A-stacks (L49), introductions. Done by the housekeeping thread.

use std::os::fd::AsFd;
use std::sync::{Arc, PoisonError};

use nearcall_abi::message::{Message, RefusalCode};
use nearcall_abi::{AStackClass, LENT_COUNT_MAX, MESSAGE_BYTES_MAX};
use nearcall_core::RevokeReason;
use nearcall_os::descriptor::PeerDescriptor;
use nearcall_os::segment::{Sealing, Segment};
use nearcall_os::socket::SocketError;

use super::binding::{ServerAStack, ServerBinding};
use super::descriptors::Next;
use super::quota::{Charge, Resource};
use crate::audit::Cause;
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
    /// For all three segments, to be kept by one of them.
    mappings: Charge,
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
    if let Some(message) = packet.cut_message() {
        return answer_cut(binding, &message);
    }
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
                None => refuse_growth(binding),
            }
        }
        Message::GrownSegments { class } => {
            let own = packet.descriptors.remove(1);
            let heads = packet.descriptors.remove(0);
            match extend(binding, class, heads, own)? {
                true => send(binding, &Message::GrownBound { class }),
                false => refuse_growth(binding),
            }
        }
        Message::Introduce { number } => core.introductions.introduce(core, binding, number),
        Message::FeedOver { feed } => {
            binding.feeds.close(feed);
            Ok(())
        }
        Message::Look => {
            binding.house.ask_to_look();
            Ok(())
        }
        other => Err(format!("message {other:?} is not for a server")),
    }
}

/// Answers what has come without its descriptors, for which this process had no room: as what is
/// over the user's share, for it may be tried again just so.
#[cold]
fn answer_cut(binding: &ServerBinding, message: &Message<'_>) -> Result<(), String> {
    if let Some(unsaid) = binding.may_warn(Cause::Client) {
        let name = &binding.name;
        tracing::warn!(name, unsaid, "no room for the descriptors of a client's message");
    }
    binding.tell_room();
    match *message {
        Message::OutOfLine { astack, generation, .. } => {
            send(binding, &Message::NotMapped { astack, generation })
        }
        Message::Lend { number, .. } => send(binding, &Message::NotLent { number }),
        Message::GrownSegments { .. } => {
            binding.growing().take();
            refuse_growth(binding)
        }
        ref other => Err(format!("message {other:?} is not for a server")),
    }
}

fn refuse_growth(binding: &ServerBinding) -> Result<(), String> {
    let code = RefusalCode::Overloaded;
    send(binding, &Message::Refused { code, detail: b"no more A-stacks" })
}

fn send(binding: &ServerBinding, message: &Message<'_>) -> Result<(), String> {
    told(binding.socket.send(message, &[]))
}

/// What came of telling a client something. `Err`: it does not read.
pub(super) fn told(sent: Result<(), WireError>) -> Result<(), String> {
    match sent {
        // It has gone, which is no fault: its end is found behind what it has sent.
        Ok(()) | Err(WireError::Socket(SocketError::HungUp)) => Ok(()),
        Err(error) => Err(error.to_string()),
    }
}

/// Maps a segment of the client's for as long as it is kept. `None`: over its user's share, or the
/// system has no room for it; neither is the client's fault.
fn receive(
    binding: &Arc<ServerBinding>,
    descriptor: PeerDescriptor,
    bytes: u64,
) -> Result<Option<Arc<Segment>>, String> {
    let Ok(charges) = binding.charge_peer_segment(bytes as usize) else {
        return Ok(None);
    };
    let segment = received(binding, descriptor, bytes as usize, Sealing::SingleWriter)?;
    if segment.is_none() {
        // Nobody notices when the system has room again: the client is to ask.
        binding.tell_room();
    }
    Ok(segment.map(|segment| Arc::new(segment.keep(charges))))
}

/// Maps a segment of the client's. `None`: the system has no room for it.
fn received(
    binding: &ServerBinding,
    descriptor: PeerDescriptor,
    exact_bytes: usize,
    sealing: Sealing,
) -> Result<Option<Segment>, String> {
    match Segment::receive(descriptor, exact_bytes, sealing) {
        Ok(segment) => Ok(Some(segment)),
        Err(fault) if fault.is_ours() => {
            if let Some(unsaid) = binding.may_warn(Cause::Client) {
                let name = &binding.name;
                tracing::warn!(name, %fault, unsaid, "no room for a client's segment");
            }
            Ok(None)
        }
        Err(fault) => Err(fault.to_string()),
    }
}

/// Maps a segment for arguments; the one before of that A-stack goes. False: there is no room.
fn map(
    binding: &Arc<ServerBinding>,
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
    let Some(segment) = receive(binding, descriptor, bytes)? else {
        return Ok(false);
    };
    let mapped = OutOfLine { generation, segment };
    *slot.lock().unwrap_or_else(PoisonError::into_inner) = Some(mapped);
    Ok(true)
}

/// Maps a segment that the client lends. False: there is no room.
fn map_lent(
    binding: &Arc<ServerBinding>,
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
    let Some(segment) = receive(binding, descriptor, bytes)? else {
        return Ok(false);
    };
    // A call that has the one before keeps it.
    binding.lent().insert(number, segment);
    Ok(true)
}

/// Makes our half of an extension. `None`: there is no room for one.
fn grow(binding: &ServerBinding, class: u32, known: AStackClass) -> Option<()> {
    if binding.is_fully_grown() || !binding.state.is_open() {
        return None;
    }
    let bytes = RegionBytes::of(&[known]).ok()?;
    let RegionBytes { heads, blocks } = bytes;
    let charges = [
        binding.charge(Resource::AStacks, known.count.into()).ok()?,
        binding.charge(Resource::MappedBytes, (heads + blocks) as u64).ok()?,
        binding.charge(Resource::OwnBytes, blocks as u64).ok()?,
    ];
    let mappings = binding.charge(Resource::Mappings, bytes.mapping_count()).ok()?;
    let made = Segment::create("nearcall-replies", blocks, Sealing::SingleWriter);
    let (replies, descriptor) = made.ok()?;
    let grown = Message::Grown { class, count: known.count };
    binding.socket.send(&grown, &[descriptor.as_fd()]).ok()?;
    *binding.growing() = Some(Growing { class, replies, charges, mappings });
    Some(())
}

/// Puts an extension together from our half and the importer's. False: the system has no room for
/// it, and it is given up.
fn extend(
    binding: &ServerBinding,
    class: u32,
    heads: PeerDescriptor,
    requests: PeerDescriptor,
) -> Result<bool, String> {
    let growing = binding.growing().take().filter(|growing| growing.class == class);
    let growing = growing.ok_or_else(|| format!("class {class} is not growing"))?;
    let classes = [binding.classes[class as usize]];
    let bytes = RegionBytes::of(&classes).map_err(|fault| fault.to_string())?;
    let heads = received(binding, heads, bytes.heads, Sealing::BothWrite)?;
    let requests = received(binding, requests, bytes.blocks, Sealing::SingleWriter)?;
    let (Some(heads), Some(peer)) = (heads, requests) else {
        return Ok(false);
    };
    let Growing { replies: own, charges, mappings, .. } = growing;
    charges.into_iter().for_each(|charge| binding.keep(charge));
    let segments = Segments { heads: heads.keep(mappings), own, peer };
    let base = binding.astack_count();
    let astack = |index, _| ServerAStack::new(base + index, class);
    if !binding.add_extension(base, region::table(&classes, segments, astack)) {
        return Err("no further extension".to_owned());
    }
    Ok(true)
}
