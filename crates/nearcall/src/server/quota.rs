//! What importers hold of this domain, counted by user: nobody may have what leaves nothing for the
//! others. The rule is `nearcall_core::quota`'s.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use nearcall_core::quota::{OverShare, Shares, User};

use crate::domain::DomainOptions;

/// What there is only so much of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Resource {
    /// Binds that are not complete.
    Handshakes,
    /// Bindings; each holds two descriptors.
    Bindings,
    /// Bytes of importers' segments that are mapped here: A-stacks, out of line, lent.
    MappedBytes,
    /// Bytes of this domain's own that only importers have a use for: A-stacks, results.
    OwnBytes,
    /// Descriptors that came with calls and whose procedures have not taken them.
    Descriptors,
}

/// Who holds how much of each.
#[derive(Debug)]
pub(crate) struct Quotas {
    handshakes: Mutex<Shares>,
    bindings: Mutex<Shares>,
    mapped_bytes: Mutex<Shares>,
    own_bytes: Mutex<Shares>,
    descriptors: Mutex<Shares>,
}

/// What one user holds for one purpose; it is given back when this is dropped.
pub(crate) struct Charge {
    quotas: Arc<Quotas>,
    resource: Resource,
    user: User,
    amount: u64,
}

impl Quotas {
    pub fn new(options: &DomainOptions) -> Quotas {
        let shares = |limit: u64| Mutex::new(Shares::new(limit));
        Quotas {
            handshakes: shares(options.handshakes_max.into()),
            bindings: shares(options.bindings_max.into()),
            mapped_bytes: shares(options.mapped_bytes_max),
            own_bytes: shares(options.own_bytes_max),
            descriptors: shares(options.descriptors_max.into()),
        }
    }

    /// Charges `user` with `amount`, unless that is over its share.
    pub fn charge(
        self: &Arc<Quotas>,
        resource: Resource,
        user: User,
        amount: u64,
    ) -> Result<Charge, OverShare> {
        self.shares(resource).take(user, amount)?;
        Ok(Charge { quotas: Arc::clone(self), resource, user, amount })
    }

    fn shares(&self, resource: Resource) -> MutexGuard<'_, Shares> {
        let shares = match resource {
            Resource::Handshakes => &self.handshakes,
            Resource::Bindings => &self.bindings,
            Resource::MappedBytes => &self.mapped_bytes,
            Resource::OwnBytes => &self.own_bytes,
            Resource::Descriptors => &self.descriptors,
        };
        shares.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Charge {
    fn drop(&mut self) {
        self.quotas.shares(self.resource).give_back(self.user, self.amount);
    }
}

impl fmt::Debug for Charge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {:?}", self.amount, self.resource)
    }
}

impl fmt::Display for Resource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Resource::Handshakes => "binds under way",
            Resource::Bindings => "bindings",
            Resource::MappedBytes => "bytes mapped",
            Resource::OwnBytes => "bytes of the server's",
            Resource::Descriptors => "descriptors of calls",
        })
    }
}
