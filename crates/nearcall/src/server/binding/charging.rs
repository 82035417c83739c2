//! What a binding is charged with, and how its client learns of room.

use std::sync::{Arc, PoisonError};

use nearcall_abi::ReplyLine;
use nearcall_core::quota::OverLimit;
use nearcall_core::room;
use nearcall_os::segment;

use super::ServerBinding;
use crate::audit::Cause;
use crate::server::quota::{Charge, Resource};

impl ServerBinding {
    /// Charges the binding and its user with `amount`.
    pub fn charge(&self, resource: Resource, amount: u64) -> Result<Charge, OverLimit> {
        let charged = self.account.charge(resource, amount);
        charged.inspect_err(|over| self.warn_over(resource, over))
    }

    /// The same, and the client is told as soon as it may be worth while to ask again.
    fn charge_and_tell(
        self: &Arc<Self>,
        resource: Resource,
        amount: u64,
    ) -> Result<Charge, OverLimit> {
        let charged = self.account.charge_of(self, resource, amount);
        charged.inspect_err(|over| self.warn_over(resource, over))
    }

    #[cold]
    fn warn_over(&self, resource: Resource, over: &OverLimit) {
        if let Some(unsaid) = self.may_warn(Cause::Client) {
            let name = &self.name;
            tracing::warn!(name, %resource, %over, unsaid, "a client has all that it may");
        }
    }

    /// Tells the client that there may be room for what there was none for.
    pub fn tell_room(&self) {
        room::tell(&self.astack(0).own_line::<ReplyLine>().room);
    }

    /// Charges the binding for a segment of this domain's: to be kept by it.
    pub fn charge_own_segment(&self, bytes: usize) -> Result<[Charge; 2], OverLimit> {
        let mappings = self.charge(Resource::Mappings, segment::mapping_count(bytes))?;
        Ok([self.charge(Resource::OwnBytes, bytes as u64)?, mappings])
    }

    /// The same for one of the client's, which is told of room when it is refused. What is taken
    /// and given back in the same breath is of another resource than what was refused.
    pub fn charge_peer_segment(self: &Arc<Self>, bytes: usize) -> Result<[Charge; 2], OverLimit> {
        let mappings = segment::mapping_count(bytes);
        let mappings = self.charge_and_tell(Resource::Mappings, mappings)?;
        Ok([self.charge_and_tell(Resource::MappedBytes, bytes as u64)?, mappings])
    }

    /// Keeps what was charged until the binding goes.
    pub fn keep(&self, charge: Charge) {
        self.charges.lock().unwrap_or_else(PoisonError::into_inner).push(charge);
    }

    /// Nobody serves it any more: its user has its share back, although a sleeping processor may
    /// still know the binding. What is mapped until then stays charged.
    pub fn give_back(&self) {
        self.member.lock().unwrap_or_else(PoisonError::into_inner).take();
        self.charges.lock().unwrap_or_else(PoisonError::into_inner).clear();
        self.growing().take();
        self.lent().clear();
        self.forget_arrived();
        self.stand_in.close();
        self.feeds.clear();
        self.suspended.clear();
    }
}
