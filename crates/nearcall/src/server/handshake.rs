//! The server's half of a bind (L11-L13): one message from the importer, one answer. An importer
//! that takes its time holds nobody up.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::time::Duration;

use nearcall_abi::bell::LANES;
use nearcall_abi::message::{Classes, Message, PACKET_BYTES_MAX, RefusalCode, Version};
use nearcall_abi::{ABI_VERSION, InterfaceDescriptor};
use nearcall_core::admission::Permitted;
use nearcall_core::bell::{self, Lane};
use nearcall_core::quota::OverLimit;
use nearcall_core::{Priority, RevokeReason};
use nearcall_os::astack::AStackTable;
use nearcall_os::descriptor::PeerDescriptor;
use nearcall_os::segment::{Sealing, Segment, SegmentFault};
use nearcall_os::socket::Stream;
use nearcall_os::{futex, limits as os_limits, peer, processor};

use super::binding::{NotPermitted, Parts, ServerAStack, ServerBinding};
use super::clerk::{ClerkCore, Replies};
use super::importer::Importer;
use super::limits;
use super::quota::{Account, Charge, Resource};
use super::rules::Decision;
use super::trust::{ClassName, Member};
use crate::audit::{Subject, no_rule};
use crate::domain::DomainCore;
use crate::region::{self, RegionBytes, Segments};
use crate::wire::{Packet, Socket, WireError};

/// A bind under way: an importer that has connected and not said yet what it wants.
pub(crate) struct Handshake {
    clerk: Arc<ClerkCore>,
    /// Whose client has introduced the importer; `None`: it came by the name.
    giver: Option<Arc<ServerBinding>>,
    socket: Socket,
    /// What housekeeping knows the socket by.
    token: u64,
    /// One of the binds under way and its descriptor, until this is over.
    _charges: [Charge; 2],
}

/// How a bind stands.
pub(crate) enum Progress {
    /// For the importer's message.
    Waits(Handshake),
    /// Refused, or the importer has gone: nobody needs its socket any more.
    Over(Socket),
    /// The binding is served.
    Bound,
}

/// What an importer is given.
struct Admitted {
    importer: Importer,
    member: Member,
    lane: u32,
    region: AStackTable<ServerAStack>,
    /// Procedures that it may call; `None`: all.
    permitted: Option<Permitted>,
    not_permitted: NotPermitted,
    priority: Priority,
    account: Arc<Account>,
    charges: Vec<Charge>,
    /// Of the policy that has decided.
    edition: u64,
    /// For the importer.
    replies: OwnedFd,
}

/// What an importer wants.
struct Wish<'p> {
    abi_version: u32,
    interface_name: &'p str,
    interface_hash: [u8; 16],
    classes: Classes,
}

/// Why a bind is refused, as the importer is told.
struct Refused(RefusalCode, Vec<u8>);

impl Handshake {
    /// Begins one, if that is within the share of the importer's user. `None`: it was refused.
    pub fn begin(core: &DomainCore, clerk: Arc<ClerkCore>, stream: Stream) -> Option<Handshake> {
        let mut socket = Socket::new(stream);
        let user = peer::uid_of(socket.stream()).ok()?;
        // Before anything is read: from here on what comes is its user's.
        socket.set_behind(core.quotas.behind(user));
        let limits = clerk.limits_of_handshakes(socket.stream());
        let account = Account::new(&core.quotas, user, limits);
        let charge = |(resource, amount)| {
            account.charge(resource, amount).map_err(|over| Refused::over(resource, over))
        };
        let [own, descriptor] = limits::OF_HANDSHAKE;
        let charges = not_behind(&socket)
            .and_then(|()| charge(own))
            .and_then(|one| Ok([one, charge(descriptor)?]));
        match charges {
            Ok(charges) => {
                let token = core.next_number();
                Some(Handshake { clerk, giver: None, socket, token, _charges: charges })
            }
            Err(Refused(code, detail)) => {
                refuse(&socket, code, &detail);
                None
            }
        }
    }

    /// Begins one over the socket that came over an introduction; the giver stays charged for it,
    /// and for what comes over it. `None`: the interface is withdrawn.
    pub fn introduced(
        core: &DomainCore,
        giver: Arc<ServerBinding>,
        stream: Stream,
        token: u64,
        charges: [Charge; 2],
    ) -> Option<Handshake> {
        let (clerk, mut socket) = (giver.clerk.upgrade()?, Socket::new(stream));
        socket.set_behind(core.quotas.behind(giver.class.user()));
        Some(Handshake { clerk, giver: Some(giver), socket, token, _charges: charges })
    }

    pub fn socket(&self) -> &Socket {
        &self.socket
    }

    pub fn token(&self) -> u64 {
        self.token
    }

    /// Looks whether the importer has said what it wants, and answers.
    pub fn step(self, core: &DomainCore) -> Progress {
        let judged = match not_behind(&self.socket) {
            Err(refused) => Err(refused),
            Ok(()) => match self.socket.try_receive() {
                Ok(None) => return Progress::Waits(self),
                Ok(Some(packet)) => self.judge(core, packet),
                Err(_) => return Progress::Over(self.socket),
            },
        };
        match judged {
            Ok((admitted, processor)) => {
                self.complete(core, admitted, processor);
                Progress::Bound
            }
            Err(Refused(code, detail)) => {
                self.note_refusal(core, code, &detail);
                refuse(&self.socket, code, &detail);
                Progress::Over(self.socket)
            }
        }
    }

    /// What the importer is given, and the processor that it runs on.
    fn judge(&self, core: &DomainCore, mut packet: Packet) -> Result<(Admitted, u32), Refused> {
        let message = packet.message().map_err(|error| match error {
            WireError::Cut => Refused::no_room(error),
            _ => Refused::protocol(error.to_string()),
        })?;
        let Message::Import {
            abi_version,
            interface_hash,
            processor,
            interface_name,
            classes,
            is_introduced,
        } = message
        else {
            return Err(Refused::protocol(format!("message {message:?} is not due")));
        };
        // Who imports by a name has meant whoever listens there: an import that its peer passes on,
        // socket and all, would be answered by us, in its name.
        if is_introduced != self.giver.is_some() {
            let reason = "import that is passed on".to_owned();
            return Err(Refused::protocol(reason));
        }
        self.judge_wish(Wish { abi_version, interface_name, interface_hash, classes })?;
        let requests = packet.descriptors.remove(1);
        let heads = packet.descriptors.remove(0);
        Ok((self.admit(core, heads, requests)?, processor))
    }

    fn interface(&self) -> &'static InterfaceDescriptor {
        self.clerk.entries.interface()
    }

    fn judge_wish(&self, wish: Wish<'_>) -> Result<(), Refused> {
        let ours = self.interface();
        if wish.abi_version != ABI_VERSION {
            let detail = format!("ABI version {} is not {ABI_VERSION}", wish.abi_version);
            return Err(Refused(RefusalCode::AbiVersion, detail.into_bytes()));
        }
        if wish.interface_name != ours.name {
            return Err(Refused(RefusalCode::OtherInterface, ours.name.as_bytes().to_vec()));
        }
        // Two files that differ in `@astack` alone have one hash.
        if (wish.interface_hash, wish.classes.as_slice()) != (ours.hash, ours.classes) {
            let mut detail = vec![0; PACKET_BYTES_MAX - 64];
            let used = Version::encode(ours, &mut detail).expect("few classes");
            detail.truncate(used);
            return Err(Refused(RefusalCode::Hash, detail));
        }
        Ok(())
    }

    /// Asks the policy; maps the importer's segments, and makes ours.
    fn admit(
        &self,
        core: &DomainCore,
        heads: PeerDescriptor,
        requests: PeerDescriptor,
    ) -> Result<Admitted, Refused> {
        let importer = Importer::of(self.socket.stream()).map_err(Refused::unidentified)?;
        let edition = self.clerk.edition();
        let Decision { rule, verdict, priority, limits, trust_class } = self.decide(&importer);
        let permitted = match verdict {
            Ok(permitted) => permitted,
            Err(reason) => {
                core.audit.refused(self.subject(&importer), &rule, &reason);
                return Err(Refused(RefusalCode::NotAdmitted, reason.into_bytes()));
            }
        };
        let snapshot = core.table.load();
        let classes = self.interface().classes;
        let bytes = RegionBytes::of(classes).expect("the compiler made a class list");
        let account = Account::new(&core.quotas, importer.uid(), limits);
        let (mut charges, mut kept) = (Vec::with_capacity(limits::FIRST_HELD), Vec::new());
        // Its process, and that of whoever stands for it.
        let held = [importer.stays_held(), self.giver.is_some()].into_iter().filter(|held| *held);
        let held = held.map(|_| limits::OF_PROCESS);
        for (resource, amount) in limits::first_held(self.interface()).into_iter().chain(held) {
            let charge = account.charge(resource, amount);
            let charge = charge.map_err(|over| Refused::over(resource, over))?;
            match resource {
                // What a processor that still knows the binding keeps is charged until then.
                Resource::Mappings | Resource::OpenDescriptors => kept.push(charge),
                _ => charges.push(charge),
            }
        }
        let refused = |which| move |fault| Refused::segment(which, &fault);
        let heads =
            Segment::receive(heads, bytes.heads, Sealing::BothWrite).map_err(refused("heads"))?;
        let peer = Segment::receive(requests, bytes.blocks, Sealing::SingleWriter)
            .map_err(refused("requests"))?;
        let made = self.clerk.replies().map_err(Refused::no_room)?;
        let Replies { segment: own, descriptor: replies } = made;
        let region = region::table(
            classes,
            Segments { heads: heads.keep(kept), own, peer },
            ServerAStack::new,
        );
        // Last, so that nobody has a class made by what is refused.
        let class = ClassName::of(importer.uid(), trust_class);
        let member = core.join_class(class).map_err(Refused::no_room)?;
        let is_written = core.audit.bound(self.subject(&importer), &rule);
        let not_permitted = match &permitted {
            Some(_) => NotPermitted::of(self.interface().procedures.len(), is_written),
            None => NotPermitted::default(),
        };
        let lane = snapshot.free_lane();
        Ok(Admitted {
            importer,
            member,
            lane,
            region,
            permitted,
            not_permitted,
            priority,
            account,
            charges,
            edition,
            replies,
        })
    }

    /// What the policy says of the importer; of one that was introduced, what it said of the giver.
    fn decide(&self, importer: &Importer) -> Decision {
        match &self.giver {
            None => self.clerk.decide(importer),
            Some(giver) if giver.state.is_open() => giver.passed_on(),
            Some(_) => {
                let reason = "whoever has introduced it is not bound any more";
                Decision::of(no_rule::INTRODUCED, Err(reason.to_owned()))
            }
        }
    }

    /// Writes a refusal down; the policy's are, with their rule.
    fn note_refusal(&self, core: &DomainCore, code: RefusalCode, detail: &[u8]) {
        let reason = match code {
            RefusalCode::NotAdmitted => return,
            RefusalCode::Hash => "another version of the interface".into(),
            RefusalCode::OtherInterface => "another interface".into(),
            _ => String::from_utf8_lossy(detail),
        };
        if let Ok(importer) = Importer::of(self.socket.stream()) {
            core.audit.refused(self.subject(&importer), no_rule::BIND, &reason);
        }
    }

    fn subject<'s>(&'s self, importer: &'s Importer) -> Subject<'s> {
        let giver = self.giver.as_ref().map(|giver| &*giver.importer);
        Subject { name: &self.clerk.name, interface: self.interface().name, importer, giver }
    }

    /// Puts the binding together, serves it, and tells the importer, which runs on `processor`.
    fn complete(mut self, core: &DomainCore, admitted: Admitted, processor: u32) {
        let Admitted { importer, member, lane, region, .. } = admitted;
        // It was its giver's, if it was introduced.
        self.socket.set_behind(core.quotas.behind(importer.uid()));
        let binding = ServerBinding::new(Parts {
            key: core.table.new_key(lane),
            token: self.token,
            name: self.clerk.name.clone(),
            classes: self.interface().classes.to_vec(),
            entries: Arc::clone(&self.clerk.entries),
            importer,
            introducer: self.giver.as_ref().map(|giver| giver.introduces()),
            clerk: Arc::downgrade(&self.clerk),
            member,
            lane,
            socket: self.socket,
            region,
            account: admitted.account,
            charges: admitted.charges,
            permitted: admitted.permitted,
            not_permitted: admitted.not_permitted,
            priority: admitted.priority,
            audit: Arc::clone(&core.audit),
        });
        serve(core, &self.clerk, &binding);
        // What a giver had may be of a policy that was replaced before the edition was read.
        if self.giver.is_some() || self.clerk.edition() != admitted.edition {
            self.clerk.judge_again(&binding);
        }
        let own_processor = processor::current();
        let incarnation = self.clerk.incarnation;
        let bound = Message::Bound { incarnation, lane, processor: own_processor };
        let descriptors = [admitted.replies.as_fd(), binding.class.bell_descriptor.as_fd()];
        // Nothing has been sent to it yet, so that there is room, unless its socket is one that it
        // has made itself and filled: that one is not waited for.
        if binding.socket.send_within(Duration::ZERO, &bound, &descriptors).is_err() {
            binding.revoke(RevokeReason::Fault);
        }
        // What can be done ahead is done now, unless the importer needs this processor itself.
        if processor != own_processor {
            expect_call(&binding);
            self.clerk.make_ready();
        }
    }
}

/// Refuses an importer of whose user too much waits to be closed already: nothing of it is read.
fn not_behind(socket: &Socket) -> Result<(), Refused> {
    match socket.stream().is_behind() {
        true => Err(Refused::no_room("too many descriptors of its user wait to be closed")),
        false => Ok(()),
    }
}

/// Tells an importer that it is refused.
pub(super) fn refuse(socket: &Socket, code: RefusalCode, detail: &[u8]) {
    // An importer that does not read its refusal sees the hang-up.
    let _ = socket.send_within(Duration::ZERO, &Message::Refused { code, detail }, &[]);
}

/// From here on the binding is served and watched, unless its server ends.
pub(crate) fn serve(core: &DomainCore, clerk: &ClerkCore, binding: &Arc<ServerBinding>) {
    core.table.add(Arc::clone(binding));
    core.housekeeping.watch_importer(binding);
    if clerk.is_withdrawn() || core.is_ending() {
        binding.revoke(RevokeReason::ShutDown);
        // A call of it may run already, and wait for that.
        core.housekeeping.tell_of_ending();
    }
}

/// Has a server processor awake when the first call comes, which is soon: a wake-up takes longer
/// than everything that the importer still has to do.
fn expect_call(binding: &ServerBinding) {
    let line = binding.class.watch();
    let lane = Lane::of(binding.lane, LANES);
    if bell::ring(&line.gate, &line.lanes[lane.word as usize], lane.bit) {
        futex::wake_all(&line.gate);
    }
}

impl Refused {
    fn protocol(reason: String) -> Refused {
        Refused(RefusalCode::Protocol, reason.into_bytes())
    }

    fn over(resource: Resource, over: OverLimit) -> Refused {
        Refused(RefusalCode::Overloaded, format!("{resource}: {over}").into_bytes())
    }

    /// Nobody's fault: this process has no room.
    fn no_room(reason: impl ToString) -> Refused {
        Refused(RefusalCode::Overloaded, reason.to_string().into_bytes())
    }

    fn segment(which: &str, fault: &SegmentFault) -> Refused {
        let reason = format!("{which} segment: {fault}");
        if fault.is_ours() { Refused::no_room(reason) } else { Refused::protocol(reason) }
    }

    /// The system does not tell who the importer is: it has gone, or this process has no room for
    /// the answer.
    fn unidentified(error: io::Error) -> Refused {
        let reason = format!("identity of the importer: {error}");
        match os_limits::is_no_room(&error) {
            true => Refused::no_room(reason),
            false => Refused::protocol(reason),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn want_of_room_is_no_breach_of_the_importers() {
        let code = |fault| Refused::segment("heads", &fault).0;
        let source = io::Error::from(io::ErrorKind::OutOfMemory);
        assert_eq!(code(SegmentFault::Map { source }), RefusalCode::Overloaded);
        assert_eq!(code(SegmentFault::Unsealable), RefusalCode::Protocol);
        let gone = io::Error::from(io::ErrorKind::NotFound);
        assert_eq!(Refused::unidentified(gone).0, RefusalCode::Protocol);
    }
}
