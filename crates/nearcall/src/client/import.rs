//! The client's half of a bind (L11-L13): connect, say for which interface, exchange segments. A
//! server of another version says which it has, and is asked once more, for that one (0018).
//! Whoever was introduced has no name to connect to, and presents a socket of its own (0019).

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use nearcall_abi::message::{Classes, Message, RefusalCode};
use nearcall_abi::{ABI_VERSION, AStackClass, InterfaceDescriptor};
use nearcall_core::RevokeReason;
use nearcall_os::peer::Process;
use nearcall_os::processor;
use nearcall_os::segment::{Sealing, Segment};
use nearcall_os::socket::{SocketError, Stream};

use super::binding::{ClientBinding, Parts};
use super::control::Control;
use super::deadline::NEVER_NS;
use super::interrupt::{self, is_interrupted};
use super::linkage::Linkage;
use super::ready::{self, Readiness};
use super::switching;
use super::version::{self, Unfit, Wanted};
use crate::binding::ImportOptions;
use crate::domain::Domain;
use crate::error::BindError;
use crate::name;
use crate::region::{self, RegionBytes, Segments};
use crate::wire::{Packet, Socket, WireError};

/// A server that takes a socket over refuses those who wait there, some at a time; who comes again
/// before it has done so with all is refused again. Of thousands nobody is so often.
const EARLY_TRIES: u32 = 20;

/// A bind under way.
struct Import<'i> {
    name: &'i str,
    interface: &'static InterfaceDescriptor,
    wanted: &'i Wanted,
    options: &'i ImportOptions,
    /// Longest that the whole of it takes.
    timeout: Duration,
    socket: Socket,
    /// We were introduced.
    is_introduced: bool,
    /// What is to be presented yet.
    introduction: Option<Introduction>,
    begin: Instant,
}

/// What a client was introduced by, and what it presents: the other end of the binding's socket.
struct Introduction {
    socket: Socket,
    presented: Stream,
}

/// Why there is no binding, or none yet.
enum Refused {
    /// The server has another version, for which it can be asked.
    Other(Wanted),
    /// We have connected before it listened, so that we do not know who it is.
    Early,
    Finally(Unbound),
}

/// Why there is no binding, and whether a server that comes, or comes again, may change that.
pub(super) struct Unbound {
    pub error: BindError,
    pub may_pass: bool,
}

impl Unbound {
    /// It was there, and has gone, or is about to.
    fn passing(error: BindError) -> Unbound {
        Unbound { error, may_pass: true }
    }
}

impl From<BindError> for Unbound {
    fn from(error: BindError) -> Unbound {
        let may_pass = matches!(error, BindError::NoSuchName { .. } | BindError::Overloaded { .. });
        Unbound { error, may_pass }
    }
}

impl From<Unbound> for Refused {
    fn from(unbound: Unbound) -> Refused {
        Refused::Finally(unbound)
    }
}

impl From<BindError> for Refused {
    fn from(error: BindError) -> Refused {
        Unbound::from(error).into()
    }
}

/// Our half of the segments, and what the server is sent of it.
struct Offer {
    heads: Segment,
    own: Segment,
    heads_descriptor: OwnedFd,
    own_descriptor: OwnedFd,
}

/// Binds to what is exported under `name`, once it is.
pub(crate) fn import_ready(
    domain: &Domain,
    name: &str,
    interface: &'static InterfaceDescriptor,
    options: &ImportOptions,
) -> Result<Arc<ClientBinding>, BindError> {
    let process = options.ready_pidfd.as_deref().map(ready::process).transpose()?;
    let mut readiness = Readiness::begin(options.ready_timeout, NEVER_NS);
    loop {
        match import(domain, name, interface, options, options.timeout) {
            Ok(bound) => return Ok(bound),
            Err(unbound) => readiness.wait_beside(process.as_ref(), name, unbound)?,
        }
    }
}

/// Binds to what is exported under `name`, within `timeout`; the binding keeps `options`, by which
/// it is renewed.
pub(super) fn import(
    domain: &Domain,
    name: &str,
    interface: &'static InterfaceDescriptor,
    options: &ImportOptions,
    timeout: Duration,
) -> Result<Arc<ClientBinding>, Unbound> {
    let begin = begin(domain, "import")?;
    let connected = |wanted: &Wanted| {
        // Before the server is woken: it finds all that it needs then, and sleeps again only once.
        let offer = Offer::new(&wanted.classes)?;
        let socket = Socket::new(connect(name, options)?);
        let (introduction, is_introduced) = (None, false);
        Import {
            name,
            interface,
            wanted,
            options,
            timeout,
            socket,
            is_introduced,
            introduction,
            begin,
        }
        .run(domain, offer)
    };
    let attempt = |wanted: &Wanted| {
        let is_early = |bound: &Result<_, _>| matches!(bound, Err(Refused::Early));
        let mut tries = (0..EARLY_TRIES).map(|_| connected(wanted));
        tries.find(|bound| !is_early(bound)).unwrap_or(Err(Refused::Early))
    };
    let bound = match attempt(&Wanted::exactly(interface)) {
        Err(Refused::Other(wanted)) => attempt(&wanted),
        bound => bound,
    };
    let changes = |reason| Unbound::passing(changes(name, reason));
    let bound = bound.map_err(|refused| match refused {
        Refused::Finally(unbound) => unbound,
        Refused::Other(_) => changes("it had another version of the interface each time"),
        Refused::Early => changes("another process took its socket over each time"),
    })?;
    Ok(watched(domain, bound)?)
}

/// Binds to what its giver is bound to.
pub(crate) fn import_introduced(
    domain: &Domain,
    introduction: OwnedFd,
    interface: &'static InterfaceDescriptor,
    options: &ImportOptions,
) -> Result<Arc<ClientBinding>, BindError> {
    let begin = begin(domain, "import")?;
    let no_introduction = |error: SocketError| BindError::NoIntroduction(error.to_string());
    let introduction = Stream::from_descriptor(introduction).map_err(no_introduction)?;
    let wanted = &Wanted::exactly(interface);
    let offer = Offer::new(&wanted.classes)?;
    let (ours, presented) = Stream::pair().map_err(|error| BindError::System {
        doing: "make a binding's socket",
        reason: io::Error::other(error.to_string()),
    })?;
    let (name, socket) = (interface.name, Socket::new(ours));
    let introduction = Some(Introduction { socket: Socket::new(introduction), presented });
    let import = Import {
        name,
        interface,
        wanted,
        options,
        timeout: options.timeout,
        socket,
        is_introduced: true,
        introduction,
        begin,
    };
    let bound = import.run(domain, offer).map_err(|refused| match refused {
        Refused::Finally(unbound) => unbound.error,
        Refused::Other(_) => {
            let difference = "an introduction is to the server's own version".to_owned();
            BindError::Hash { interface: interface.name, difference }
        }
        Refused::Early => changes(interface.name, "it was not introduced by whom it listens for"),
    })?;
    watched(domain, bound)
}

/// When an import begins, or what else is `doing`, if the domain is ours and has not ended.
pub(super) fn begin(domain: &Domain, doing: &'static str) -> Result<Instant, BindError> {
    let closed = |reason| BindError::System { doing, reason };
    domain.core().check_open().map_err(closed)?;
    switching::tell_all();
    Ok(Instant::now())
}

/// A binding whose server's end will be noticed.
fn watched(domain: &Domain, bound: ClientBinding) -> Result<Arc<ClientBinding>, BindError> {
    let binding = bound.shared();
    domain
        .core()
        .housekeeping
        .watch_exporter(&binding)
        .map_err(|reason| BindError::System { doing: "watch the server", reason })?;
    // Who ends the domain revokes whatever is watched by then.
    if let Err(reason) = domain.core().check_open() {
        binding.revoke(RevokeReason::ShutDown);
        return Err(BindError::System { doing: "import", reason });
    }
    Ok(binding)
}

/// It said one thing when it refused, and another when it was asked for that.
fn changes(name: &str, reason: &str) -> BindError {
    BindError::Peer { name: name.to_owned(), reason: reason.to_owned() }
}

fn connect(name: &str, options: &ImportOptions) -> Result<Stream, BindError> {
    let searched = options.scopes.clone().unwrap_or_else(name::default_search);
    let mut tried: Vec<PathBuf> = Vec::new();
    for scope in &searched {
        let path = name::socket_path(scope, name).map_err(BindError::Name)?;
        match Stream::connect(&path) {
            Ok(stream) => return Ok(stream),
            Err(SocketError::System { source, .. }) => match source.kind() {
                io::ErrorKind::NotFound
                | io::ErrorKind::NotADirectory
                | io::ErrorKind::ConnectionRefused => tried.push(path),
                io::ErrorKind::PermissionDenied => {
                    let reason = format!("{}: {source}", path.display());
                    return Err(BindError::NotAdmitted { name: name.to_owned(), reason });
                }
                _ => {
                    return Err(BindError::System { doing: "connect", reason: source });
                }
            },
            Err(SocketError::Busy) => {
                let reason = "its queue of importers is full".to_owned();
                return Err(BindError::Overloaded { name: name.to_owned(), reason });
            }
            Err(other) => {
                let reason = other.to_string();
                return Err(BindError::Peer { name: name.to_owned(), reason });
            }
        }
    }
    Err(BindError::NoSuchName { name: name.to_owned(), tried })
}

impl Offer {
    fn new(classes: &[AStackClass]) -> Result<Offer, BindError> {
        let bytes = RegionBytes::of(classes).expect("the class list was judged");
        let create = |name, bytes, sealing| {
            Segment::create(name, bytes, sealing).map_err(|error| BindError::System {
                doing: "make A-stacks",
                reason: io::Error::other(error.to_string()),
            })
        };
        let (heads, heads_descriptor) = create("nearcall-heads", bytes.heads, Sealing::BothWrite)?;
        let (own, own_descriptor) =
            create("nearcall-requests", bytes.blocks, Sealing::SingleWriter)?;
        Ok(Offer { heads, own, heads_descriptor, own_descriptor })
    }
}

impl Import<'_> {
    fn run(mut self, domain: &Domain, offer: Offer) -> Result<ClientBinding, Refused> {
        let Offer { heads, own, heads_descriptor, own_descriptor } = offer;
        self.ask(&[heads_descriptor.as_fd(), own_descriptor.as_fd()])?;
        // What does not need the answer, while it comes.
        let process = self.present()?;
        drop((heads_descriptor, own_descriptor));
        let mut packet = self.receive()?;
        let Message::Bound { incarnation, lane, processor } = self.admitted(&packet)? else {
            return Err(self.peer("it did not answer the import").into());
        };
        let bell = packet.descriptors.remove(1);
        let replies = packet.descriptors.remove(0);
        let bell = domain.core().bells.receive(bell);
        let bell = bell.map_err(|fault| self.peer(&format!("bell segment: {fault}")))?;
        let peer = Segment::receive(replies, own.bytes(), Sealing::SingleWriter)
            .map_err(|fault| self.peer(&format!("replies segment: {fault}")))?;
        let linkage = |index, class| {
            let linkage = Linkage::new(index, class);
            linkage.set_server_processor(processor);
            linkage
        };
        let Wanted { classes, agreement, .. } = self.wanted;
        let wait = self.options.wait.unwrap_or(domain.core().options.wait);
        Ok(ClientBinding::new(Parts {
            name: self.name.to_owned(),
            is_introduced: self.is_introduced,
            interface: self.interface,
            incarnation,
            policy: wait,
            // A rebind waits for another process.
            options: ImportOptions { ready_pidfd: None, ..self.options.clone() },
            classes: classes.clone(),
            agreement: agreement.clone(),
            control: Control::new(self.socket),
            process,
            token: domain.core().next_number(),
            region: region::table(classes, Segments { heads, own, peer }, linkage),
            bell,
            lane,
            domain: domain.clone(),
        }))
    }

    /// Says what we want, with our segments.
    fn ask(&self, segments: &[BorrowedFd<'_>; 2]) -> Result<(), Refused> {
        let import = Message::Import {
            abi_version: ABI_VERSION,
            interface_hash: self.wanted.interface_hash,
            processor: processor::current(),
            interface_name: self.interface.name,
            classes: Classes::new(&self.wanted.classes).expect("the class list was judged"),
            is_introduced: self.is_introduced,
        };
        let sent = self.socket.send(&import, segments);
        sent.map_err(|error| self.refused_already().unwrap_or_else(|| self.wire(error).into()))
    }

    /// Presents our socket to whom we were introduced, if we were. The server's process: that of
    /// whoever listens at the name, or has made the introduction.
    fn present(&mut self) -> Result<Process, Refused> {
        // Its other end goes with it: only the server's is left, whose end we are to notice.
        let introduction = self.introduction.take();
        if let Some(Introduction { socket, presented }) = &introduction {
            let left = self.timeout.saturating_sub(self.begin.elapsed());
            let sent = socket.send_within(left, &Message::Present, &[presented.as_fd()]);
            sent.map_err(|error| self.wire(error))?;
        }
        let socket =
            introduction.as_ref().map_or(&self.socket, |introduction| &introduction.socket);
        let process = Process::of(socket.stream());
        process.map_err(|reason| BindError::System { doing: "identify the server", reason }.into())
    }

    /// A server that is overloaded refuses before it has read what we want.
    fn refused_already(&self) -> Option<Refused> {
        let packet = self.socket.try_receive().ok().flatten()?;
        self.admitted(&packet).err()
    }

    fn receive(&self) -> Result<Packet, Refused> {
        let received = loop {
            let left = self.timeout.saturating_sub(self.begin.elapsed());
            let slice = interrupt::slice(left);
            match self.socket.receive_soon(slice) {
                Err(WireError::Socket(SocketError::TimedOut))
                    if slice < left && !is_interrupted() => {}
                received => break received,
            }
        };
        // One that has hung up on us may have said why before.
        received.map_err(|error| self.refused_already().unwrap_or_else(|| self.wire(error).into()))
    }

    /// The message, unless it is a refusal.
    fn admitted<'p>(&self, packet: &'p Packet) -> Result<Message<'p>, Refused> {
        match packet.message().map_err(|error| self.wire(error))? {
            Message::Refused { code, detail } => Err(self.refused(code, detail)),
            message => Ok(message),
        }
    }

    fn refused(&self, code: RefusalCode, detail: &[u8]) -> Refused {
        if code == RefusalCode::Hash {
            return match version::judge(self.interface, detail) {
                Ok(wanted) => Refused::Other(wanted),
                Err(Unfit::Peer(reason)) => self.peer(&reason).into(),
                Err(Unfit::Difference(difference)) => {
                    BindError::Hash { interface: self.interface.name, difference }.into()
                }
            };
        }
        let name = self.name.to_owned();
        let reason = String::from_utf8_lossy(detail).into_owned();
        let error = match code {
            RefusalCode::Early => return Refused::Early,
            RefusalCode::NotAdmitted => BindError::NotAdmitted { name, reason },
            RefusalCode::OtherInterface => {
                let expected = self.interface.name;
                BindError::OtherInterface { name, expected, exported: reason }
            }
            RefusalCode::Overloaded => BindError::Overloaded { name, reason },
            RefusalCode::AbiVersion | RefusalCode::Protocol | RefusalCode::Hash => {
                BindError::Peer { name, reason }
            }
        };
        error.into()
    }

    fn peer(&self, reason: &str) -> BindError {
        BindError::Peer { name: self.name.to_owned(), reason: reason.to_owned() }
    }

    fn wire(&self, error: WireError) -> Unbound {
        let name = self.name.to_owned();
        match error {
            WireError::Socket(SocketError::TimedOut) => {
                BindError::TimedOut { name, waited: self.begin.elapsed() }.into()
            }
            WireError::Socket(SocketError::HungUp) if self.is_introduced => {
                BindError::IntroductionOver { interface: self.interface.name }.into()
            }
            WireError::Socket(SocketError::HungUp) => {
                Unbound::passing(self.peer(&SocketError::HungUp.to_string()))
            }
            other => self.peer(&other.to_string()).into(),
        }
    }
}
