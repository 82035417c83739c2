//! The server's half of a bind (L11-L13), one message at a time, so that a slow importer holds
//! nobody up.

use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;

use nearcall_abi::message::{Classes, Message, PACKET_BYTES_MAX, ProcedureList, RefusalCode};
use nearcall_abi::{ABI_VERSION, InterfaceDescriptor};
use nearcall_core::RevokeReason;
use nearcall_os::astack::AStackTable;
use nearcall_os::segment::{Sealing, Segment};
use nearcall_os::socket::Stream;

use super::binding::{Parts, ServerAStack, ServerBinding};
use super::clerk::{Admission, ClerkCore, Importer};
use super::trust::TrustClass;
use crate::domain::DomainCore;
use crate::region::{self, RegionBytes, Segments};
use crate::wire::{Packet, Socket};

/// A bind under way.
pub(crate) struct Handshake {
    clerk: Arc<ClerkCore>,
    socket: Socket,
    /// Set once the importer is admitted.
    admitted: Option<Admitted>,
    /// Set once it has sent its segments.
    region: Option<AStackTable<ServerAStack>>,
}

struct Admitted {
    importer: Importer,
    class: Arc<TrustClass>,
    lane: u32,
    /// Goes into the region.
    replies: Option<Segment>,
}

/// How a bind stands.
pub(crate) enum Progress {
    /// For the importer's next message.
    Waits,
    /// Refused, or the importer has gone.
    Over,
    /// Call [`Handshake::complete`].
    Complete,
}

/// Why a bind is refused, as the importer is told.
struct Refused(RefusalCode, Vec<u8>);

impl Handshake {
    pub fn new(clerk: Arc<ClerkCore>, stream: Stream) -> Handshake {
        Handshake { clerk, socket: Socket::new(stream), admitted: None, region: None }
    }

    pub fn socket(&self) -> &Socket {
        &self.socket
    }

    /// Tells the importer that it is refused.
    pub fn refuse(&self, code: RefusalCode, detail: &[u8]) {
        // An importer that does not read its refusal sees the hang-up.
        let _ = self.socket.send(&Message::Refused { code, detail }, &[]);
    }

    /// Something can be read.
    pub fn step(&mut self, core: &DomainCore) -> Progress {
        let packet = match self.socket.try_receive() {
            Ok(None) => return Progress::Waits,
            Ok(Some(packet)) => packet,
            Err(_) => return Progress::Over,
        };
        match self.answer(core, packet) {
            Ok(progress) => progress,
            Err(Refused(code, detail)) => {
                let name = &self.clerk.name;
                tracing::info!(name, ?code, "an importer was refused");
                self.refuse(code, &detail);
                Progress::Over
            }
        }
    }

    fn answer(&mut self, core: &DomainCore, mut packet: Packet) -> Result<Progress, Refused> {
        match packet.message().map_err(|error| Refused::protocol(error.to_string()))? {
            Message::Import { abi_version, interface_hash, interface_name }
                if self.admitted.is_none() =>
            {
                self.judge_interface(abi_version, interface_name, interface_hash)?;
                self.admit(core)?;
                Ok(Progress::Waits)
            }
            Message::Segments if self.admitted.is_some() && self.region.is_none() => {
                let requests = packet.descriptors.remove(1);
                let heads = packet.descriptors.remove(0);
                self.region = Some(self.map(heads, requests)?);
                Ok(Progress::Complete)
            }
            other => Err(Refused::protocol(format!("message {other:?} is not due"))),
        }
    }

    fn interface(&self) -> &'static InterfaceDescriptor {
        self.clerk.entries.interface()
    }

    fn judge_interface(&self, version: u32, name: &str, hash: [u8; 16]) -> Result<(), Refused> {
        let ours = self.interface();
        if version != ABI_VERSION {
            let detail = format!("ABI version {version} is not {ABI_VERSION}");
            return Err(Refused(RefusalCode::AbiVersion, detail.into_bytes()));
        }
        if name != ours.name {
            return Err(Refused(RefusalCode::OtherInterface, ours.name.as_bytes().to_vec()));
        }
        if hash != ours.hash {
            let mut detail = vec![0; PACKET_BYTES_MAX - 64];
            let procedures = ours.procedures.iter().map(|each| (each.name, each.hash));
            let used = ProcedureList::encode(procedures, &mut detail);
            detail.truncate(used);
            return Err(Refused(RefusalCode::Hash, detail));
        }
        Ok(())
    }

    /// Asks the policy, and sends our half of the segments.
    fn admit(&mut self, core: &DomainCore) -> Result<(), Refused> {
        let importer = Importer::of(self.socket.stream())
            .map_err(|error| Refused::protocol(format!("identity of the importer: {error}")))?;
        if let Admission::Refuse(reason) = self.clerk.admit(&importer) {
            return Err(Refused(RefusalCode::NotAdmitted, reason.into_bytes()));
        }
        let snapshot = core.table.load();
        if snapshot.count() >= core.options.bindings_max as usize {
            return Err(Refused::overloaded());
        }
        let class = core.trust_class(importer.uid()).map_err(|_| Refused::overloaded())?;
        let lane = snapshot.free_lane();
        let classes = self.interface().classes;
        let bytes = RegionBytes::of(classes).expect("the compiler made a class list");
        let made = Segment::create("nearcall-replies", bytes.blocks, Sealing::SingleWriter);
        let (replies, descriptor) = made.map_err(|_| Refused::overloaded())?;
        let admitted = Message::Admit {
            incarnation: self.clerk.incarnation,
            lane,
            classes: Classes::new(classes).expect("the compiler keeps to the limit"),
        };
        let descriptors = [descriptor.as_fd(), class.bell_descriptor.as_fd()];
        self.socket
            .send(&admitted, &descriptors)
            .map_err(|error| Refused::protocol(error.to_string()))?;
        self.admitted = Some(Admitted { importer, class, lane, replies: Some(replies) });
        Ok(())
    }

    /// Maps the importer's half.
    fn map(
        &mut self,
        heads: OwnedFd,
        requests: OwnedFd,
    ) -> Result<AStackTable<ServerAStack>, Refused> {
        let classes = self.interface().classes;
        let bytes = RegionBytes::of(classes).expect("the compiler made a class list");
        let refused = |which: &'static str| {
            move |fault| Refused::protocol(format!("{which} segment: {fault}"))
        };
        let heads =
            Segment::receive(heads, bytes.heads, Sealing::BothWrite).map_err(refused("heads"))?;
        let requests = Segment::receive(requests, bytes.blocks, Sealing::SingleWriter)
            .map_err(refused("requests"))?;
        let admitted = self.admitted.as_mut().expect("admitted before it sent segments");
        let replies = admitted.replies.take().expect("segments come once");
        let segments = Segments { heads, own: replies, peer: requests };
        Ok(region::table(classes, segments, ServerAStack::new))
    }

    /// Puts the binding together, serves it, and tells the importer.
    pub fn complete(self, core: &DomainCore) {
        let (Some(admitted), Some(region)) = (self.admitted, self.region) else {
            unreachable!("complete after both messages");
        };
        let binding = Arc::new(ServerBinding::new(Parts {
            key: core.table.new_key(admitted.lane),
            name: self.clerk.name.clone(),
            classes: self.clerk.entries.interface().classes.to_vec(),
            entries: Arc::clone(&self.clerk.entries),
            importer: Arc::new(admitted.importer),
            class: admitted.class,
            lane: admitted.lane,
            socket: self.socket,
            region,
        }));
        serve(core, &binding);
        if self.clerk.is_withdrawn() || core.is_stopping() {
            binding.revoke(RevokeReason::ShutDown);
        }
        // An importer that does not read this sees the hang-up of a binding that it never used.
        let _ = binding.socket.send(&Message::Bound, &[]);
    }
}

/// From here on the binding is served and watched.
pub(crate) fn serve(core: &DomainCore, binding: &Arc<ServerBinding>) {
    core.table.add(Arc::clone(binding));
    if let Err(error) = core.housekeeping.watch_importer(core, binding) {
        tracing::warn!(%error, "an importer cannot be watched");
        binding.revoke(RevokeReason::Released);
    }
}

impl Refused {
    fn protocol(reason: String) -> Refused {
        Refused(RefusalCode::Protocol, reason.into_bytes())
    }

    fn overloaded() -> Refused {
        Refused(RefusalCode::Overloaded, Vec::new())
    }
}
