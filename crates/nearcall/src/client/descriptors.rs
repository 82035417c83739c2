//! Descriptors that calls carry, as their client passes and receives them (design note 0019).
//!
//! What comes back is matched by A-stack and sequence to a call that was told to expect it, and is
//! closed if there is none.

use std::collections::HashMap;
use std::os::fd::BorrowedFd;
use std::sync::atomic::Ordering::Relaxed;

use nearcall_abi::message::Message;
use nearcall_core::{PeerFault, RevokeReason, Sequence};
use nearcall_os::descriptor::{self, DescriptorKind, PeerDescriptor};

use super::binding::{ClientBinding, Grip};
use super::control::{Inbox, RESULTS_NS_MAX};
use super::deadline::{Deadline, NEVER_NS, left_ns};
use crate::error::{CallError, NotExecuted, UsageError};
use crate::passed::{self, Came, Due};
use crate::raw::Malformed;

/// Packets that are read at most to find what nobody waits for.
const DRAIN_COUNT_MAX: usize = 256;

/// Descriptors that are due, by A-stack.
#[derive(Debug, Default)]
pub(crate) struct Awaited(HashMap<u32, Expected>);

#[derive(Debug)]
struct Expected {
    sequence: Sequence,
    /// `None`: they have not come yet.
    came: Option<Vec<PeerDescriptor>>,
}

impl Awaited {
    /// Keeps descriptors that came for a call; closes them if it does not expect any.
    pub fn file(&mut self, astack: u32, sequence: u32, descriptors: Vec<PeerDescriptor>) {
        let expected = self.0.get_mut(&astack);
        let expected = expected.filter(|one| one.sequence == Sequence::from_u32(sequence));
        if let Some(expected) = expected
            && expected.came.is_none()
        {
            expected.came = Some(descriptors);
        }
    }
}

impl Grip<'_> {
    /// The call that is about to be posted brings descriptors back.
    #[cold]
    pub fn expect_descriptors(self) {
        let (linkage, binding) = (self.linkage(), self.binding);
        // Relaxed: a thread that looks for itself finds what it wrote itself.
        binding.control.has_expected.store(true, Relaxed);
        binding.close_strays();
        let expected = Expected { sequence: linkage.sequence().next(), came: None };
        binding.control.inbox().awaited.0.insert(linkage.index, expected);
    }

    /// Sends descriptors ahead of the call that is about to be posted, in the place of those that
    /// are absent what stands for them.
    #[cold]
    pub fn send_descriptors(
        self,
        procedure: u32,
        deadline: Deadline,
        descriptors: &[(&'static str, DescriptorKind, Option<BorrowedFd<'_>>)],
    ) -> Result<(), Box<CallError>> {
        passed::assert_count(descriptors.len());
        for (parameter, kind, descriptor) in descriptors {
            let Some(descriptor) = descriptor else { continue };
            kind.check(*descriptor).map_err(|wrong| {
                let wrong = UsageError::WrongDescriptor { parameter, wrong };
                Box::new(CallError::Usage(wrong))
            })?;
        }
        let (binding, linkage) = (self.binding, self.linkage());
        let sequence = linkage.sequence().next();
        let until_ns = self.until_ns(sequence, deadline);
        let (astack, sequence) = (linkage.index, sequence.as_u32());
        let message = Message::Descriptors { astack, sequence, count: descriptors.len() as u32 };
        let passed: Vec<_> = descriptors.iter().map(|(_, _, descriptor)| *descriptor).collect();
        let make = || descriptor::stand_in().map_err(|error| error.to_string());
        let sent = binding
            .control
            .stand_in
            .send(&passed, make, |passed| binding.control.send(until_ns, &message, passed));
        let Err(error) = sent else {
            return Ok(());
        };
        if left_ns(until_ns) == 0 {
            return Err(Box::new(binding.late(procedure)));
        }
        let procedure = binding.procedure_name(procedure);
        tracing::warn!(name = binding.name, %procedure, %error, "descriptors were not sent");
        let reason = NotExecuted::DescriptorsNotSent;
        Err(Box::new(CallError::NotExecuted { procedure, reason }))
    }

    /// The descriptors that came with the reply, judged, and in the place of one that is absent
    /// nothing. An honest server has sent them before it replied.
    #[cold]
    pub fn take_descriptors(self, procedure: u32, due: Due<'_>) -> Result<Came, Box<CallError>> {
        let index = self.linkage().index;
        let find = |inbox: &mut Inbox| inbox.awaited.0.get_mut(&index)?.came.take();
        let came = self.binding.await_message(NEVER_NS, RESULTS_NS_MAX, find).unwrap_or_default();
        self.binding.control.inbox().awaited.0.remove(&index);
        let fault = |malformed: Malformed| {
            let fault = PeerFault::from(malformed);
            let name = self.binding.procedure_name(procedure);
            Box::new(self.binding.fault(name, fault))
        };
        due.judge(came).map_err(fault)
    }
}

impl ClientBinding {
    /// Nobody will collect what comes with the reply on A-stack `index`, which has come.
    ///
    /// # Cost: one load, on a binding whose calls bring no descriptors.
    pub fn disclaim_descriptors(&self, index: u32) {
        // Relaxed: whoever expected some has handed the A-stack over, which orders it.
        if self.control.has_expected.load(Relaxed) {
            self.control.inbox().awaited.0.remove(&index);
            self.close_strays();
        }
    }

    /// Reads what has come and nobody waits for, unless another thread is at the socket: that one
    /// reads it.
    fn close_strays(&self) {
        let mut inbox = self.control.inbox();
        for _ in 0..DRAIN_COUNT_MAX {
            if inbox.is_read {
                return;
            }
            let packet = match self.control.socket().try_receive() {
                Ok(Some(packet)) => Ok(packet),
                Ok(None) => return,
                Err(error) => Err(error),
            };
            if self.file(&mut inbox, packet).is_err() {
                // It was read: nobody else would meet it any more.
                drop(inbox);
                return self.revoke(RevokeReason::PeerHungUp);
            }
        }
    }
}
