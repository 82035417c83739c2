//! Introductions: a client passes its binding on (design note 0019).
//!
//! An introduction is one end of a socket pair that the server has made, and waits at the other.
//! Whoever imports from it makes a socket pair of its own and sends one end over: the kernel then
//! says who that is, as it does of whoever connects, and tells it in turn who the server is.
//!
//! ```text
//!   WAITS ──── presented ────▶ a bind like any, by the giver's admission
//!     └── time over, giver gone, no such message ──▶ closed
//! ```
//!
//! It is used once. Until a socket is presented, and until the bind over that is complete, its
//! giver is charged: who made a socket is known, but nothing has come yet from who that is.

use std::collections::HashMap;
use std::fmt;
use std::os::fd::AsFd;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use nearcall_abi::message::Message;
use nearcall_os::descriptor::DescriptorKind;
use nearcall_os::socket::{SocketError, Stream};

use super::binding::ServerBinding;
use super::handshake::Handshake;
use super::quota::{Charge, Resource};
use super::requests::told;
use crate::audit::no_rule;
use crate::domain::DomainCore;
use crate::wire::{Socket, WireError};

/// Those of a domain that nobody has used, by the tokens that housekeeping knows their sockets by.
#[derive(Default)]
pub(crate) struct Introductions(Mutex<HashMap<u64, Introduction>>);

struct Introduction {
    /// Our end.
    socket: Socket,
    giver: Weak<ServerBinding>,
    /// `None`: never.
    deadline: Option<Instant>,
    /// One of the binds under way, and its descriptor.
    charges: [Charge; 2],
}

/// What came over an introduction.
enum Came {
    Nothing,
    /// Whoever was introduced imports over this socket.
    Presented(Stream),
    /// Nobody has it any more.
    HungUp,
    /// What may not come.
    Other(String),
}

impl Introductions {
    /// Makes one for a client that asks for it, and sends it. `Err`: the client does not read.
    pub fn introduce(
        &self,
        core: &DomainCore,
        giver: &Arc<ServerBinding>,
        number: u32,
    ) -> Result<(), String> {
        let send = |message: &Message<'_>, theirs: &[_]| giver.socket.send(message, theirs);
        let Some((introduction, theirs)) = Introduction::new(core, giver) else {
            return told(send(&Message::NotIntroduced { number }, &[]));
        };
        match send(&Message::Introduced { number }, &[theirs.as_fd()]) {
            Ok(()) => {}
            // Of our user, whose other clients read nothing: it is not this one's fault.
            Err(WireError::Socket(SocketError::InFlight)) => {
                return told(send(&Message::NotIntroduced { number }, &[]));
            }
            refused => return told(refused),
        }
        let token = core.next_number();
        match core.housekeeping.watch_socket(&introduction.socket, token) {
            Ok(()) => drop(self.all().insert(token, introduction)),
            // Whoever is introduced finds that it is over.
            Err(error) => tracing::warn!(%error, "an introduction cannot be watched"),
        }
        Ok(())
    }

    /// Something has come over one of them, or its other end is closed. The bind that begins, if
    /// that is what has come.
    pub fn attend(&self, core: &DomainCore, token: u64) -> Option<Handshake> {
        let introduction = self.all().remove(&token)?;
        let giver = introduction.giver.upgrade().filter(|giver| giver.state.is_open());
        let Some(giver) = giver else {
            introduction.end(core);
            return None;
        };
        let came = introduction.came();
        if !matches!(came, Came::Nothing) {
            core.housekeeping.forget_socket(&introduction.socket);
        }
        match came {
            Came::Nothing => {
                self.all().insert(token, introduction);
                None
            }
            Came::Presented(stream) => {
                let token = core.next_number();
                Handshake::introduced(core, giver, stream, token, introduction.charges)
            }
            Came::HungUp => None,
            Came::Other(reason) => {
                core.audit.refused(giver.subject(), no_rule::INTRODUCTION, &reason);
                None
            }
        }
    }

    /// The giver has gone: whoever uses one of its introductions finds that it is over.
    pub fn forget(&self, core: &DomainCore, giver: &ServerBinding) {
        self.end_those(core, |introduction| std::ptr::eq(introduction.giver.as_ptr(), giver));
    }

    /// How long until one is over time.
    pub fn next_deadline(&self) -> Option<Duration> {
        let deadline = self.all().values().filter_map(|introduction| introduction.deadline).min();
        deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()))
    }

    /// Ends those that are over time.
    pub fn end_late(&self, core: &DomainCore) {
        let now = Instant::now();
        self.end_those(core, |introduction| introduction.deadline.is_some_and(|then| then <= now));
    }

    fn end_those(&self, core: &DomainCore, are_over: impl Fn(&Introduction) -> bool) {
        let is_over = |_: &u64, introduction: &mut Introduction| are_over(introduction);
        let over: Vec<_> = self.all().extract_if(is_over).collect();
        over.into_iter().for_each(|(_, introduction)| introduction.end(core));
    }

    /// Ends all.
    pub fn clear(&self) {
        self.all().clear();
    }

    fn all(&self) -> MutexGuard<'_, HashMap<u64, Introduction>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Introduction {
    /// One, and the end that travels. `None`: the giver has all that it may, or has nothing more to
    /// give, or there is no descriptor left.
    fn new(core: &DomainCore, giver: &Arc<ServerBinding>) -> Option<(Introduction, Stream)> {
        let charges = [
            giver.charge(Resource::Handshakes, 1).ok()?,
            giver.charge(Resource::OpenDescriptors, 1).ok()?,
        ];
        let (ours, theirs) = Stream::pair().ok().filter(|_| giver.state.is_open())?;
        // One so far away that the clock does not know it is none.
        let deadline = Instant::now().checked_add(core.options.introduction_timeout);
        let mut socket = Socket::new(ours);
        // Whoever has the other end by then: its giver is charged.
        socket.set_behind(core.quotas.behind(giver.class.user()));
        let giver = Arc::downgrade(giver);
        Some((Introduction { socket, giver, deadline, charges }, theirs))
    }

    /// It is over: its socket may stay open for a while, with what its other end has sent.
    fn end(self, core: &DomainCore) {
        core.housekeeping.forget_socket(&self.socket);
    }

    fn came(&self) -> Came {
        if self.socket.stream().is_behind() {
            return Came::Other("too many descriptors of its giver's wait to be closed".to_owned());
        }
        let mut packet = match self.socket.try_receive() {
            Ok(Some(packet)) => packet,
            Ok(None) => return Came::Nothing,
            Err(WireError::Socket(SocketError::HungUp)) => return Came::HungUp,
            Err(error) => return Came::Other(error.to_string()),
        };
        match packet.message() {
            Ok(Message::Present) => {}
            Ok(other) => return Came::Other(format!("message {other:?} is not due")),
            Err(error) => return Came::Other(error.to_string()),
        }
        let presented = packet.descriptors.remove(0);
        // Judged before it is taken into use: one that is refused is closed without a wait for it.
        if let Err(wrong) = DescriptorKind::Binding.check(presented.as_fd()) {
            return Came::Other(wrong.to_string());
        }
        match Stream::from_descriptor(presented.take()) {
            Ok(stream) => Came::Presented(stream),
            Err(error) => Came::Other(error.to_string()),
        }
    }
}

impl fmt::Debug for Introductions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Introductions").field("count", &self.all().len()).finish()
    }
}
