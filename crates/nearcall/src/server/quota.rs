//! What importers hold of this domain, counted by user: nobody may have what leaves nothing for the
//! others. The rule is `nearcall_core::quota`'s; a policy may say that somebody has less.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use nearcall_abi::InterfaceDescriptor;
use nearcall_core::quota::{LimitOf, OverLimit, Reserve, Shares, User};
use nearcall_os::closing::{Behind, WeakBehind};
use nearcall_os::limits;
use nearcall_os::peer::Process;

use super::binding::ServerBinding;
use super::limits::{Limits, first_bind};
use crate::domain::DomainOptions;

/// What there is only so much of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Resource {
    /// Binds that are not complete.
    Handshakes,
    /// Bindings.
    Bindings,
    /// A-stacks.
    AStacks,
    /// Bytes of importers' segments that are mapped here: A-stacks, out of line, lent.
    MappedBytes,
    /// Bytes of this domain's own that it has for importers: A-stacks, results, batches that came
    /// out of line and that nobody has taken.
    OwnBytes,
    /// Descriptors that came with calls and whose procedures have not taken them.
    Descriptors,
    /// Descriptors that are open here for importers: one a binding (some have more, design note
    /// 0016), one a bind under way, those of [`Resource::Descriptors`], those that wait to be
    /// closed, what stands for absent ones over a binding, and the bell of each user.
    OpenDescriptors,
    /// Mappings: of every segment that is mapped here for importers, whoever has made it.
    Mappings,
}

const RESOURCES: usize = 8;

/// Who holds how much of each.
#[derive(Debug)]
pub(crate) struct Quotas {
    /// By [`Resource`].
    pools: [Mutex<Pool>; RESOURCES],
    /// What users have sent and waits to be closed, of those of whom anybody wants to know.
    behind: Mutex<HashMap<User, WeakBehind>>,
}

/// One resource.
#[derive(Debug)]
struct Pool {
    shares: Shares,
    /// Bindings, by their keys, that were refused some of it since somebody gave any back.
    refused: BTreeMap<u64, Weak<ServerBinding>>,
}

/// What one binding, or one bind that is under way, holds and may hold.
#[derive(Debug)]
pub(crate) struct Account {
    quotas: Arc<Quotas>,
    user: User,
    limits: Limits,
    /// By [`Resource`].
    held: Mutex<[u64; RESOURCES]>,
}

/// What an account is charged with for one purpose; it is given back when this is dropped.
pub(crate) struct Charge {
    account: Arc<Account>,
    resource: Resource,
    amount: u64,
}

/// How much of each the options say that importers may have. By [`Resource`].
fn said(options: &DomainOptions) -> [Option<u64>; RESOURCES] {
    [
        Some(options.handshakes_max.into()),
        Some(options.bindings_max.into()),
        Some(options.astacks_max.into()),
        Some(options.mapped_bytes_max),
        Some(options.own_bytes_max),
        Some(options.descriptors_max.into()),
        options.open_descriptors_max.map(u64::from),
        options.mappings_max.map(u64::from),
    ]
}

/// The first thing of which the options leave a user that is alone less than its first bind takes:
/// what, how much all users may have, and how much it takes.
pub(crate) fn too_little_for(
    options: &DomainOptions,
    interface: &InterfaceDescriptor,
) -> Option<(Resource, u64, u64)> {
    let limits = said(options);
    // Without a limit of descriptors the answer makes no difference.
    let stays_held = options.open_descriptors_max.is_some() && Process::are_by_number();
    let held = first_bind(interface, stays_held);
    held.into_iter().find_map(|(resource, needed)| {
        let limit = limits[resource as usize]?;
        let taken = Shares::new(limit).take(None, needed, u64::MAX);
        taken.is_err().then_some((resource, limit, needed))
    })
}

impl Quotas {
    pub fn new(options: &DomainOptions) -> Quotas {
        let pool = |limit| Pool { shares: Shares::new(limit), refused: BTreeMap::new() };
        // Of what depends on the system nothing is there before something is exported.
        let pools = said(options).map(|limit| Mutex::new(pool(limit.unwrap_or(0))));
        Quotas { pools, behind: Mutex::default() }
    }

    /// Something is exported: asks the system how much this process may have of what the options
    /// leave to it.
    pub fn ask_system(&self, options: &DomainOptions) {
        if options.raises_descriptor_limit
            && let Err(error) = limits::raise_descriptors()
        {
            tracing::warn!(%error, "the limit of descriptors stays as it is");
        }
        if options.open_descriptors_max.is_none() {
            let limit = Reserve::DESCRIPTORS.rest(limits::descriptors());
            self.change(Resource::OpenDescriptors, |shares| shares.set_limit(limit));
        }
        if options.mappings_max.is_none() {
            let limit = Reserve::MAPPINGS.rest(limits::mappings());
            self.change(Resource::Mappings, |shares| shares.set_limit(limit));
        }
    }

    /// What `user` has sent and waits to be closed, over all its connections. It is charged as
    /// open, without being asked whether it may: it is open.
    pub fn behind(self: &Arc<Quotas>, user: User) -> Behind {
        let mut known = self.behind.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(behind) = known.get(&user).and_then(WeakBehind::upgrade) {
            return behind;
        }
        known.retain(|_, behind| !behind.is_gone());
        let account = Account::new(self, user, Limits::default());
        let behind = Behind::new(move || Box::new(account.hold(Resource::OpenDescriptors, 1)));
        known.insert(user, behind.downgrade());
        behind
    }

    /// Whether importers have every descriptor open that they may, together: some user has sent
    /// what cannot be closed.
    pub fn has_no_descriptor(&self) -> bool {
        self.pool(Resource::OpenDescriptors).shares.is_used_up()
    }

    /// A change by which somebody may have more: those who were refused are told.
    fn change(&self, resource: Resource, change: impl FnOnce(&mut Shares)) {
        let mut pool = self.pool(resource);
        change(&mut pool.shares);
        let refused = std::mem::take(&mut pool.refused);
        // A binding that goes with this gives back what it holds.
        drop(pool);
        refused.into_values().filter_map(|binding| binding.upgrade()).for_each(|binding| {
            binding.tell_room();
        });
    }

    fn pool(&self, resource: Resource) -> MutexGuard<'_, Pool> {
        self.pools[resource as usize].lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Account {
    /// Of `user`, within `limits`.
    pub fn new(quotas: &Arc<Quotas>, user: User, limits: Limits) -> Arc<Account> {
        let quotas = Arc::clone(quotas);
        Arc::new(Account { quotas, user, limits, held: Mutex::default() })
    }

    /// Charges it with `amount`, unless that is over what it or its user may hold.
    pub fn charge(
        self: &Arc<Account>,
        resource: Resource,
        amount: u64,
    ) -> Result<Charge, OverLimit> {
        self.charge_or(resource, amount, |_| {})
    }

    /// The same for `binding`, which is told as soon as it may be worth while to ask again.
    pub fn charge_of(
        self: &Arc<Account>,
        binding: &Arc<ServerBinding>,
        resource: Resource,
        amount: u64,
    ) -> Result<Charge, OverLimit> {
        self.charge_or(resource, amount, |refused| {
            refused.insert(binding.key, Arc::downgrade(binding));
        })
    }

    /// `refuse` is told of a refusal before anything more can be given back.
    fn charge_or(
        self: &Arc<Account>,
        resource: Resource,
        amount: u64,
        refuse: impl FnOnce(&mut BTreeMap<u64, Weak<ServerBinding>>),
    ) -> Result<Charge, OverLimit> {
        let mut held = self.held();
        let own = &mut held[resource as usize];
        let (claimed, limit) = (own.saturating_add(amount), self.limits.binding_max(resource));
        let user_max = self.limits.user_max(resource);
        let mut pool = self.quotas.pool(resource);
        let taken = match claimed > limit {
            true => Err(OverLimit { claimed, limit, of: LimitOf::Binding }),
            false => pool.shares.take(self.user, amount, user_max),
        };
        taken.inspect_err(|_| refuse(&mut pool.refused))?;
        *own = claimed;
        Ok(Charge { account: Arc::clone(self), resource, amount })
    }

    /// Charges it with `amount` that it holds already, whatever it may.
    fn hold(self: &Arc<Account>, resource: Resource, amount: u64) -> Charge {
        self.quotas.pool(resource).shares.hold(self.user, amount);
        self.held()[resource as usize] += amount;
        Charge { account: Arc::clone(self), resource, amount }
    }

    /// What it and its user may hold.
    pub fn limits(&self) -> Limits {
        self.limits
    }

    fn held(&self) -> MutexGuard<'_, [u64; RESOURCES]> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Charge {
    fn drop(&mut self) {
        let Charge { account, resource, amount } = self;
        account.held()[*resource as usize] -= *amount;
        account.quotas.change(*resource, |shares| shares.give_back(account.user, *amount));
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
            Resource::AStacks => "A-stacks",
            Resource::MappedBytes => "bytes mapped",
            Resource::OwnBytes => "bytes of the server's",
            Resource::Descriptors => "descriptors of calls",
            Resource::OpenDescriptors => "open descriptors",
            Resource::Mappings => "mappings",
        })
    }
}
