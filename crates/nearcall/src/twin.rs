//! A binding within one process, over a heap twin of the segments: the same A-stacks, the same
//! processors, the same socket protocol for what goes out of line, but no memory files for the
//! A-stacks. Tests run the two-domain facts over it and over real processes.

use std::io;
use std::sync::Arc;

use nearcall_abi::InterfaceDescriptor;
use nearcall_core::Priority;
use nearcall_os::peer::Process;
use nearcall_os::segment::{Sealing, Segment};
use nearcall_os::socket::Stream;

use crate::binding::ImportOptions;
use crate::client::binding::{ClientBinding, Parts as ClientParts};
use crate::client::control::Control;
use crate::client::linkage::Linkage;
use crate::domain::Domain;
use crate::error::BindError;
use crate::region::{self, RegionBytes, Segments};
use crate::server::binding::{NotPermitted, Parts as ServerParts, ServerAStack, ServerBinding};
use crate::server::clerk::Clerk;
use crate::server::handshake;
use crate::server::importer::Importer;
use crate::server::limits::Limits;
use crate::server::quota::Account;
use crate::server::trust::ClassName;
use crate::wire::Socket;

/// Binds `domain` to a clerk of this process.
pub(crate) fn import(
    domain: &Domain,
    clerk: &Clerk,
    interface: &'static InterfaceDescriptor,
    options: &ImportOptions,
) -> Result<Arc<ClientBinding>, BindError> {
    make(domain, clerk, interface, options).inspect_err(|_| {
        // It may have joined a class that nobody else is in.
        clerk.domain().core().housekeeping.look_after_classes();
    })
}

fn make(
    domain: &Domain,
    clerk: &Clerk,
    interface: &'static InterfaceDescriptor,
    options: &ImportOptions,
) -> Result<Arc<ClientBinding>, BindError> {
    let server = clerk.domain().core();
    let (ours, mut theirs) = Stream::pair().map_err(refused)?;
    let importer = Importer::of(&theirs).map_err(refused)?;
    theirs.set_behind(server.quotas.behind(importer.uid()));
    let member = server.join_class(ClassName::of(importer.uid(), None)).map_err(refused)?;
    let bell = member.bell_descriptor.try_clone().map_err(refused)?;
    let bell = domain.core().bells.receive(bell).map_err(refused)?;
    let classes = interface.classes;
    let bytes = RegionBytes::of(classes).expect("the compiler made a class list");
    let (client_heads, server_heads) = Segment::heap(bytes.heads, Sealing::BothWrite);
    let (client_own, server_peer) = Segment::heap(bytes.blocks, Sealing::SingleWriter);
    let (server_own, client_peer) = Segment::heap(bytes.blocks, Sealing::SingleWriter);
    let server_segments = Segments { heads: server_heads, own: server_own, peer: server_peer };
    let lane = server.table.load().free_lane();
    let served = ServerBinding::new(ServerParts {
        account: Account::new(&server.quotas, importer.uid(), Limits::default()),
        charges: Vec::new(),
        permitted: None,
        not_permitted: NotPermitted::default(),
        priority: Priority::default(),
        audit: Arc::clone(&server.audit),
        key: server.table.new_key(lane),
        token: server.next_number(),
        name: clerk.name().to_owned(),
        entries: Arc::clone(&clerk.core().entries),
        importer,
        introducer: None,
        clerk: Arc::downgrade(clerk.core()),
        member,
        lane,
        classes: classes.to_vec(),
        socket: Socket::new(theirs),
        region: region::table(classes, server_segments, ServerAStack::new),
    });
    let watched = server.housekeeping.watch_socket(&served.socket, served.token);
    watched.map_err(|reason| BindError::System { doing: "watch a twin", reason })?;
    handshake::serve(server, clerk.core(), &served);
    let process = Process::of(&ours).map_err(refused)?;
    let binding = ClientBinding::new(ClientParts {
        name: clerk.name().to_owned(),
        is_introduced: false,
        interface,
        incarnation: clerk.core().incarnation,
        policy: options.wait.unwrap_or(domain.core().options.wait),
        options: options.clone(),
        classes: classes.to_vec(),
        agreement: None,
        control: Control::new(Socket::new(ours)),
        process,
        token: domain.core().next_number(),
        region: region::table(
            classes,
            Segments { heads: client_heads, own: client_own, peer: client_peer },
            Linkage::new,
        ),
        bell,
        lane,
        domain: domain.clone(),
    })
    .shared();
    let watched = domain.core().housekeeping.watch_exporter(&binding);
    watched.map_err(|reason| BindError::System { doing: "watch the server", reason })?;
    Ok(binding)
}

/// The system's word.
fn refused(reason: impl ToString) -> BindError {
    let reason = io::Error::other(reason.to_string());
    BindError::System { doing: "make a twin", reason }
}
