//! What a rule of a policy lets those hold whom it admits, beside their shares (design note 0016).

use nearcall_abi::{InterfaceDescriptor, bell};
use nearcall_os::segment;

use super::quota::Resource;
use crate::region::RegionBytes;

/// What those may hold whom a rule admits. What is not said is bounded by shares alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Of each user, over all that it has bound to in the domain.
    pub user: UserLimits,
    /// Of each binding.
    pub binding: BindingLimits,
}

/// What a user may hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UserLimits {
    /// Binds that are not complete.
    pub handshakes_max: Option<u32>,
    /// Bindings.
    pub bindings_max: Option<u32>,
    /// A-stacks.
    pub astacks_max: Option<u32>,
    /// Bytes of its segments that the domain maps.
    pub mapped_bytes_max: Option<u64>,
    /// Bytes of the domain's own that are there for it.
    pub own_bytes_max: Option<u64>,
    /// Descriptors that came with calls and that no procedure has taken.
    pub descriptors_max: Option<u32>,
}

/// What a binding may hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BindingLimits {
    /// A-stacks: those that it begins with, and those that it grows by.
    pub astacks_max: Option<u32>,
    /// Bytes of the client's segments that the domain maps.
    pub mapped_bytes_max: Option<u64>,
    /// Bytes of the domain's own that are there for it.
    pub own_bytes_max: Option<u64>,
    /// Descriptors that came with calls and that no procedure has taken.
    pub descriptors_max: Option<u32>,
}

impl Limits {
    /// What both let hold.
    pub(crate) fn least(&self, other: &Limits) -> Limits {
        fn least<T: Ord>(one: Option<T>, other: Option<T>) -> Option<T> {
            one.into_iter().chain(other).min()
        }
        let (user, its) = (self.user, other.user);
        let user = UserLimits {
            handshakes_max: least(user.handshakes_max, its.handshakes_max),
            bindings_max: least(user.bindings_max, its.bindings_max),
            astacks_max: least(user.astacks_max, its.astacks_max),
            mapped_bytes_max: least(user.mapped_bytes_max, its.mapped_bytes_max),
            own_bytes_max: least(user.own_bytes_max, its.own_bytes_max),
            descriptors_max: least(user.descriptors_max, its.descriptors_max),
        };
        let (binding, its) = (self.binding, other.binding);
        let binding = BindingLimits {
            astacks_max: least(binding.astacks_max, its.astacks_max),
            mapped_bytes_max: least(binding.mapped_bytes_max, its.mapped_bytes_max),
            own_bytes_max: least(binding.own_bytes_max, its.own_bytes_max),
            descriptors_max: least(binding.descriptors_max, its.descriptors_max),
        };
        Limits { user, binding }
    }

    /// Most that the user may hold of `resource`.
    pub(crate) fn user_max(&self, resource: Resource) -> u64 {
        let UserLimits { handshakes_max, bindings_max, astacks_max, .. } = self.user;
        let UserLimits { mapped_bytes_max, own_bytes_max, descriptors_max, .. } = self.user;
        let limit = match resource {
            Resource::Handshakes => handshakes_max.map(u64::from),
            Resource::Bindings => bindings_max.map(u64::from),
            Resource::AStacks => astacks_max.map(u64::from),
            Resource::MappedBytes => mapped_bytes_max,
            Resource::OwnBytes => own_bytes_max,
            Resource::Descriptors => descriptors_max.map(u64::from),
            // Shares of what the process may have: bindings and bytes are what rules speak of.
            Resource::OpenDescriptors | Resource::Mappings => None,
        };
        limit.unwrap_or(u64::MAX)
    }

    /// Most that one binding may hold of `resource`.
    pub(crate) fn binding_max(&self, resource: Resource) -> u64 {
        let BindingLimits { astacks_max, mapped_bytes_max, own_bytes_max, descriptors_max } =
            self.binding;
        let limit = match resource {
            Resource::Handshakes | Resource::Bindings => None,
            Resource::OpenDescriptors | Resource::Mappings => None,
            Resource::AStacks => astacks_max.map(u64::from),
            Resource::MappedBytes => mapped_bytes_max,
            Resource::OwnBytes => own_bytes_max,
            Resource::Descriptors => descriptors_max.map(u64::from),
        };
        limit.unwrap_or(u64::MAX)
    }

    /// The first thing that these limits allow less of than a binding begins with: what, how much
    /// is allowed, and how much is needed.
    pub(crate) fn too_small_for(
        &self,
        interface: &InterfaceDescriptor,
    ) -> Option<(Resource, u64, u64)> {
        first_held(interface).into_iter().find_map(|(resource, needed)| {
            let limit = self.user_max(resource).min(self.binding_max(resource));
            (limit < needed).then_some((resource, limit, needed))
        })
    }
}

/// What a bind holds while it is under way: its socket, too.
pub(crate) const OF_HANDSHAKE: [(Resource, u64); 2] =
    [(Resource::Handshakes, 1), (Resource::OpenDescriptors, 1)];

/// What a binding holds besides where a process stays held for it.
pub(crate) const OF_PROCESS: (Resource, u64) = (Resource::OpenDescriptors, 1);

/// What a class holds: its bell.
pub(crate) fn of_class() -> [(Resource, u64); 2] {
    let mappings = segment::mapping_count(bell::SEGMENT_BYTES);
    [(Resource::OpenDescriptors, 1), (Resource::Mappings, mappings)]
}

/// What the first bind of a user that has nothing else holds at its end: each thing once.
pub(crate) fn first_bind(
    interface: &InterfaceDescriptor,
    stays_held: bool,
) -> Vec<(Resource, u64)> {
    let process = stays_held.then_some(OF_PROCESS);
    let each = OF_HANDSHAKE.into_iter().chain(first_held(interface));
    let mut all: Vec<(Resource, u64)> = Vec::new();
    for (resource, amount) in each.chain(process).chain(of_class()) {
        match all.iter_mut().find(|(known, _)| *known == resource) {
            Some((_, sum)) => *sum += amount,
            None => all.push((resource, amount)),
        }
    }
    all
}

/// How many things [`first_held`] names.
pub(crate) const FIRST_HELD: usize = 6;

/// What a binding holds when it begins.
pub(crate) fn first_held(interface: &InterfaceDescriptor) -> [(Resource, u64); FIRST_HELD] {
    let classes = interface.classes;
    let bytes = RegionBytes::of(classes).expect("the compiler made a class list");
    [
        (Resource::Bindings, 1),
        (Resource::AStacks, classes.iter().map(|class| u64::from(class.count)).sum()),
        (Resource::MappedBytes, (bytes.heads + bytes.blocks) as u64),
        (Resource::OwnBytes, bytes.blocks as u64),
        // Its socket.
        (Resource::OpenDescriptors, 1),
        (Resource::Mappings, bytes.mapping_count()),
    ]
}
