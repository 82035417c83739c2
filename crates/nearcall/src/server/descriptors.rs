//! Descriptors that clients pass with calls, from the socket to the entry stub that takes them
//! (design note 0019).
//!
//! A client sends them before it posts, so that they are there when its call is run: whoever takes
//! them looks into the socket and never waits. What is read on the way there and is not a
//! descriptor stays in order for housekeeping.

use std::collections::{HashMap, VecDeque};
use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::{MutexGuard, PoisonError};
use std::time::Duration;

use nearcall_abi::message::Message;
use nearcall_core::quota::Meter;
use nearcall_core::{Sequence, turn};
use nearcall_os::clock;
use nearcall_os::descriptor::{self, DescriptorKind, PeerDescriptor};

use super::binding::ServerBinding;
use super::current;
use super::quota::{Charge, Resource};
use crate::passed::{self, Came, Due};
use crate::raw::{Malformed, Refusal, ServedCall};
use crate::wire::{Packet, WireError};

/// Most packets that are read ahead of housekeeping: more than an honest client's conversations
/// have under way.
const QUEUE_COUNT_MAX: usize = 256;

/// What has come over a binding's socket and is not where it belongs yet.
#[derive(Default)]
pub(crate) struct Arrived {
    /// Read by a server processor that looked for descriptors; housekeeping's, in order.
    queued: VecDeque<Queued>,
    /// At most one entry an A-stack: a later one replaces the one before.
    parked: HashMap<u32, Parked>,
    /// What a server processor met after what is queued: housekeeping ends the binding for it.
    broken: Option<WireError>,
    /// Of what is logged about descriptors that came for no call.
    strays: Meter,
}

/// A packet that waits for housekeeping.
struct Queued {
    packet: Packet,
    /// What the client's user is charged with for its descriptors.
    _charge: Option<Charge>,
}

/// Descriptors of a call that is not taken yet. Dropping them closes them.
struct Parked {
    sequence: Sequence,
    descriptors: Vec<PeerDescriptor>,
    /// What the client's user is charged with meanwhile.
    _charges: [Charge; 2],
}

/// What housekeeping finds next.
pub(crate) enum Next {
    /// To be answered.
    Packet(Packet),
    /// Descriptors, and they are where they belong.
    Parked,
    Nothing,
}

impl ServerBinding {
    /// The next packet, for housekeeping.
    pub fn next_packet(&self) -> Result<Next, WireError> {
        let mut arrived = self.arrived();
        let queued = arrived.queued.pop_front();
        if queued.is_none()
            && let Some(broken) = arrived.broken.take()
        {
            return Err(broken);
        }
        let packet = match queued {
            Some(queued) => queued.packet,
            None if self.is_behind() => return Ok(Next::Nothing),
            None => match self.socket.try_receive()? {
                Some(packet) => packet,
                None => return Ok(Next::Nothing),
            },
        };
        Ok(match self.park(&mut arrived, packet)? {
            Some(packet) => Next::Packet(packet),
            None => Next::Parked,
        })
    }

    /// Too many of its user's descriptors are still being closed: nothing more is read.
    pub fn is_behind(&self) -> bool {
        self.socket.stream().is_behind()
    }

    /// A server processor has read what nobody has answered.
    pub fn has_queued(&self) -> bool {
        let arrived = self.arrived();
        !arrived.queued.is_empty() || arrived.broken.is_some()
    }

    /// The descriptors that came for call `sequence` on A-stack `index`.
    fn take_descriptors(&self, index: u32, sequence: Sequence) -> Vec<PeerDescriptor> {
        let mut arrived = self.arrived();
        let is_ours = |arrived: &Arrived| {
            arrived.parked.get(&index).is_some_and(|parked| parked.sequence == sequence)
        };
        self.read_ahead(&mut arrived, is_ours);
        let is_there = is_ours(&arrived);
        let found = if is_there { arrived.parked.remove(&index) } else { None };
        found.map(|parked| parked.descriptors).unwrap_or_default()
    }

    /// Takes out which feeds the client has said are over.
    #[cold]
    pub fn read_over_feeds(&self) -> Vec<u64> {
        let mut arrived = self.arrived();
        self.read_ahead(&mut arrived, |_| false);
        let mut over = Vec::new();
        arrived.queued.retain(|queued| match queued.packet.message() {
            Ok(Message::FeedOver { feed }) => {
                over.push(feed);
                false
            }
            _ => true,
        });
        over
    }

    /// Reads what has come, before housekeeping does, until there is enough.
    fn read_ahead(&self, arrived: &mut Arrived, is_enough: impl Fn(&Arrived) -> bool) {
        let mut has_queued = false;
        // An honest client has no more under way; another could send for ever.
        let mut left = QUEUE_COUNT_MAX + self.astack_count() as usize;
        while !is_enough(arrived) {
            let is_full = arrived.queued.len() >= QUEUE_COUNT_MAX;
            if is_full || left == 0 || arrived.broken.is_some() || self.is_behind() {
                break;
            }
            left -= 1;
            let parked = match self.socket.try_receive() {
                Ok(Some(packet)) => self.park(arrived, packet),
                Ok(None) => break,
                Err(error) => Err(error),
            };
            match parked {
                Ok(None) => continue,
                Ok(Some(packet)) => arrived.queued.push_back(self.queued(packet)),
                // It was read, so housekeeping would not meet it any more.
                Err(error) => arrived.broken = Some(error),
            }
            has_queued = true;
        }
        if has_queued {
            current::have_attended(self.token);
        }
    }

    /// A packet that housekeeping is to answer. Over its user's share it comes without descriptors.
    fn queued(&self, mut packet: Packet) -> Queued {
        let count = packet.descriptors.len() as u64;
        let charge = match count {
            0 => None,
            _ => self.charge(Resource::OpenDescriptors, count).ok(),
        };
        if charge.is_none() {
            packet.lose_descriptors();
        }
        Queued { packet, _charge: charge }
    }

    /// Call on A-stack `index` is over: what came with it and nobody took is closed.
    pub fn forget_descriptors(&self, index: u32) {
        self.arrived().parked.remove(&index);
    }

    /// The binding is over.
    pub fn forget_arrived(&self) {
        *self.arrived() = Arrived::default();
    }

    /// Its user is charged for it as for its socket, until the binding is given back.
    fn make_stand_in(&self) -> Result<OwnedFd, String> {
        let charge = self.charge(Resource::OpenDescriptors, 1);
        let charge = charge.map_err(|over| format!("open descriptors: {over}"))?;
        let made = descriptor::stand_in().map_err(|error| error.to_string())?;
        self.keep(charge);
        Ok(made)
    }

    /// Parks a packet of descriptors if their call has not been taken; any other packet comes back.
    /// Late and forged ones are closed: no call can match them any more.
    fn park(&self, arrived: &mut Arrived, packet: Packet) -> Result<Option<Packet>, WireError> {
        if let Some(message) = packet.cut_message() {
            // Its call will not find them.
            let is_gone = matches!(message, Message::Descriptors { .. });
            return Ok((!is_gone).then_some(packet));
        }
        let Message::Descriptors { astack, sequence, count } = packet.message()? else {
            return Ok(Some(packet));
        };
        arrived.parked.retain(|astack, parked| self.is_due(*astack, parked.sequence));
        let sequence = Sequence::from_u32(sequence);
        if astack >= self.astack_count() || !self.is_due(astack, sequence) {
            // As often as the client likes: not every one is logged.
            if let Some(unsaid) = arrived.strays.admit(clock::now_ns()) {
                let name = &self.name;
                tracing::warn!(name, astack, unsaid, "descriptors came for no call, are closed");
            }
            return Ok(None);
        }
        // Over its share: its call will not find them.
        let charge = |resource| self.charge(resource, count.into());
        let charges = charge(Resource::Descriptors)
            .and_then(|one| Ok([one, charge(Resource::OpenDescriptors)?]));
        if let Ok(charges) = charges {
            let descriptors = packet.descriptors;
            arrived.parked.insert(astack, Parked { sequence, descriptors, _charges: charges });
        }
        Ok(None)
    }

    /// Whether call `sequence` on an A-stack is the next one there, or the one that is run now.
    fn is_due(&self, index: u32, sequence: Sequence) -> bool {
        let claimed = self.claimed(index);
        let is_run = || turn::is_pending(&self.astack(index).head().turn);
        sequence == claimed.next() || (sequence == claimed && is_run())
    }

    fn arrived(&self) -> MutexGuard<'_, Arrived> {
        self.arrived.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ServedCall<'_> {
    /// The descriptors that the call carries, judged, and in the place of one that is absent
    /// nothing.
    #[cold]
    pub(crate) fn take_descriptors(&self, due: Due<'_>) -> Result<Came, Malformed> {
        let index = self.astack.record().index;
        let sequence = self.binding.claimed(index);
        due.judge(self.binding.take_descriptors(index, sequence))
    }

    /// Sends descriptors ahead of the reply, unless nobody waits for it any more, and in the place
    /// of those that are absent what stands for them.
    #[cold]
    pub(crate) fn send_descriptors(
        &self,
        descriptors: &[(DescriptorKind, Option<BorrowedFd<'_>>)],
    ) -> Result<(), Box<Refusal>> {
        passed::assert_count(descriptors.len());
        let astack = self.astack.record().index;
        let sequence = self.binding.claimed(astack);
        for (kind, descriptor) in descriptors {
            let Some(descriptor) = descriptor else { continue };
            kind.check(*descriptor).map_err(|wrong| Box::new(Refusal::Descriptor(wrong)))?;
        }
        if turn::is_given_up(&self.astack.head().turn, sequence) {
            return Ok(());
        }
        let (sequence, count) = (sequence.as_u32(), descriptors.len() as u32);
        let message = Message::Descriptors { astack, sequence, count };
        let passed: Vec<_> = descriptors.iter().map(|(_, descriptor)| *descriptor).collect();
        let binding = &self.binding;
        let sent = binding.stand_in.send(
            &passed,
            || binding.make_stand_in(),
            // A client that does not read its socket is not waited for.
            |passed| binding.socket.send_within(Duration::ZERO, &message, passed),
        );
        sent.map_err(|error| Box::new(Refusal::NotSent(error)))
    }
}
