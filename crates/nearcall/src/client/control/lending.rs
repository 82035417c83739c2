//! Segments that a client lends to its server, for arguments of any call.

use std::os::fd::AsFd;
use std::sync::atomic::Ordering::Relaxed;

use nearcall_abi::message::Message;
use nearcall_abi::{LENT_COUNT_MAX, PAGE_BYTES, ProcedureName};
use nearcall_core::room::NoRoom;
use nearcall_os::segment::SoleSegment;

use super::{EXCHANGE_NS_MAX, NO_ROOM, no_memory};
use crate::client::binding::ClientBinding;
use crate::client::deadline::NEVER_NS;
use crate::error::{CallError, NotExecuted};

impl ClientBinding {
    /// A segment that the server has mapped, for arguments of any call.
    pub fn lend(&self, bytes: usize) -> Result<(u32, SoleSegment), CallError> {
        if self.state.is_parents() {
            return Err(self.forked());
        }
        let bytes = bytes.max(1).next_multiple_of(PAGE_BYTES as usize);
        // Relaxed: a counter that orders nothing.
        if self.control.lent_count.fetch_add(1, Relaxed) >= LENT_COUNT_MAX {
            // Relaxed: as above.
            self.control.lent_count.fetch_sub(1, Relaxed);
            return Err(no_memory(bytes, format_args!("{LENT_COUNT_MAX} segments are lent")));
        }
        // Relaxed: as above.
        let number = self.control.lends.fetch_add(1, Relaxed).wrapping_add(1);
        let lent = self.lend_as(number, bytes);
        if lent.is_err() {
            self.let_go(number);
        }
        lent.map(|segment| (number, segment))
    }

    fn lend_as(&self, number: u32, bytes: usize) -> Result<SoleSegment, CallError> {
        let revoked = || CallError::NotExecuted {
            procedure: ProcedureName::new("lend"),
            reason: NotExecuted::Revoked,
        };
        let room = self.room();
        if self.control.no_room().is_known(room, bytes as u64) {
            return Err(no_memory(bytes, NO_ROOM));
        }
        let made = SoleSegment::create("nearcall-lent", bytes);
        let (segment, descriptor) = made.map_err(|error| no_memory(bytes, error))?;
        let message = Message::Lend { number, bytes: bytes as u64 };
        let sent = self.control.socket.send(&message, &[descriptor.as_fd()]);
        sent.map_err(|error| match self.is_hung_up(&error) {
            true => revoked(),
            false => no_memory(bytes, error),
        })?;
        let is_mapped = self.await_message(NEVER_NS, EXCHANGE_NS_MAX, |inbox| {
            let refused = inbox.not_lent.remove(&number).then_some(false);
            inbox.lent.remove(&number).then_some(true).or(refused)
        });
        match is_mapped {
            Ok(true) => Ok(segment),
            Ok(false) => {
                self.control.no_room().note(room, bytes as u64);
                Err(no_memory(bytes, NO_ROOM))
            }
            Err(_) => Err(revoked()),
        }
    }

    /// No further call names lent segment `number`.
    pub fn end_lend(&self, number: u32) {
        self.let_go(number);
        // What is asked for next comes behind that.
        *self.control.no_room() = NoRoom::default();
    }

    fn let_go(&self, number: u32) {
        // A server that does not hear of it keeps its mapping until the binding goes.
        let _ = self.control.socket.send(&Message::LendOver { number }, &[]);
        // Relaxed: a counter that orders nothing.
        self.control.lent_count.fetch_sub(1, Relaxed);
    }
}
