//! The bindings that a domain serves, as its processors see them: a snapshot, so that reading it
//! takes no lock once it is loaded.
//!
//! ```text
//! snapshot ──▶ 30 groups ──▶ 16 lanes each ──▶ the bindings that ring the lane: mostly one
//! ```
//!
//! A change copies the way to the lane that it changes and shares the rest with the snapshot
//! before: what it costs depends little on how many bindings there are.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use nearcall_abi::bell::LANES;

use super::binding::ServerBinding;
use super::trust::TrustClass;

/// Lanes whose bindings are copied together: about as many as there are groups.
const GROUP_LANES: usize = 16;

/// Groups of lanes.
const GROUPS: usize = LANES as usize / GROUP_LANES;

const _: () = assert!(GROUPS * GROUP_LANES == LANES as usize);

/// Bits of a key that are the binding's lane.
const KEY_LANE_BITS: u32 = 9;

const _: () = assert!(LANES <= 1 << KEY_LANE_BITS);

/// The table and how often it has changed.
#[derive(Debug, Default)]
pub(crate) struct Table {
    current: RwLock<Arc<Snapshot>>,
    epoch: AtomicU64,
    /// How many keys were given out.
    keys: AtomicU64,
}

/// The bindings at one moment.
#[derive(Clone, Debug, Default)]
pub(crate) struct Snapshot {
    /// How often the table had changed.
    pub epoch: u64,
    /// Every trust class with a binding.
    pub classes: Vec<Arc<TrustClass>>,
    groups: [Arc<Group>; GROUPS],
}

/// Of each lane of a group the bindings that ring it, of whatever class.
type Group = [Arc<[Arc<ServerBinding>]>; GROUP_LANES];

impl Table {
    /// The table as it is now.
    pub fn load(&self) -> Arc<Snapshot> {
        Arc::clone(&self.current.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// How often the table has changed. Cost: one load.
    #[inline]
    pub fn epoch(&self) -> u64 {
        // Acquire: whoever sees the number finds the snapshot.
        self.epoch.load(Ordering::Acquire)
    }

    /// A key for a binding on `lane`: no other has or had it, and it is not 0.
    pub fn new_key(&self, lane: u32) -> u64 {
        // Relaxed: all that matters is that no two are alike.
        let number = self.keys.fetch_add(1, Ordering::Relaxed) + 1;
        number << KEY_LANE_BITS | u64::from(lane)
    }

    pub fn add(&self, binding: Arc<ServerBinding>) {
        self.change(|next| {
            let lane = next.lane_mut(binding.lane);
            *lane = lane.iter().cloned().chain([binding]).collect();
        });
    }

    pub fn remove(&self, key: u64) {
        self.change(|next| {
            let lane = next.lane_mut(lane_of(key));
            *lane = lane.iter().filter(|binding| binding.key != key).cloned().collect();
        });
    }

    /// Forgets every binding.
    pub fn clear(&self) {
        self.change(|next| next.groups = Default::default());
    }

    /// Returns the snapshot before, which is to be dropped outside of any lock.
    #[must_use]
    pub fn set_classes(&self, classes: Vec<Arc<TrustClass>>) -> Arc<Snapshot> {
        self.replace(|next| next.classes = classes)
    }

    fn change(&self, change: impl FnOnce(&mut Snapshot)) {
        // Outside of the lock: it may be the last that knew a binding, which is unmapped then.
        drop(self.replace(change));
    }

    /// Returns what was there before.
    fn replace(&self, change: impl FnOnce(&mut Snapshot)) -> Arc<Snapshot> {
        let mut current = self.current.write().unwrap_or_else(PoisonError::into_inner);
        let mut next = Snapshot::clone(&current);
        next.epoch += 1;
        change(&mut next);
        let epoch = next.epoch;
        let before = std::mem::replace(&mut *current, Arc::new(next));
        // Release: pairs with `epoch`.
        self.epoch.store(epoch, Ordering::Release);
        before
    }
}

/// The lane of the binding with this key.
fn lane_of(key: u64) -> u32 {
    (key & ((1 << KEY_LANE_BITS) - 1)) as u32
}

impl Snapshot {
    /// The binding with this key.
    pub fn binding(&self, key: u64) -> Option<&Arc<ServerBinding>> {
        self.lane(lane_of(key)).iter().find(|binding| binding.key == key)
    }

    /// All bindings.
    pub fn bindings(&self) -> impl Iterator<Item = &Arc<ServerBinding>> {
        self.groups.iter().flat_map(|group| group.iter()).flat_map(|lane| lane.iter())
    }

    /// The bindings that ring this lane of this class: mostly one.
    pub fn rung(&self, class: &TrustClass, lane: u32) -> impl Iterator<Item = &Arc<ServerBinding>> {
        let number = class.number;
        self.lane(lane).iter().filter(move |binding| binding.class.number == number)
    }

    /// The lane that fewest bindings ring, of whatever class.
    pub fn free_lane(&self) -> u32 {
        (0..LANES).min_by_key(|lane| self.lane(*lane).len()).unwrap_or(0)
    }

    fn lane(&self, lane: u32) -> &[Arc<ServerBinding>] {
        let (group, lane) = place(lane);
        &self.groups[group][lane]
    }

    fn lane_mut(&mut self, lane: u32) -> &mut Arc<[Arc<ServerBinding>]> {
        let (group, lane) = place(lane);
        &mut Arc::make_mut(&mut self.groups[group])[lane]
    }
}

/// A lane's group, and its place in it.
fn place(lane: u32) -> (usize, usize) {
    let lane = (lane % LANES) as usize;
    (lane / GROUP_LANES, lane % GROUP_LANES)
}

#[cfg(test)]
mod tests {
    use std::sync::Weak;

    use nearcall_abi::{AStackClass, InterfaceDescriptor};
    use nearcall_core::Priority;
    use nearcall_os::segment::{Sealing, Segment};
    use nearcall_os::socket::Stream;

    use super::*;
    use crate::domain::DomainOptions;
    use crate::raw::{Arguments, Entries, Outcome};
    use crate::region::{self, RegionBytes, Segments};
    use crate::server::binding::{NotPermitted, Parts, ServerAStack};
    use crate::server::exported::Exported;
    use crate::server::importer::Importer;
    use crate::server::limits::Limits;
    use crate::server::quota::{Account, Quotas};
    use crate::server::surroundings::Surroundings;
    use crate::server::trust::{ClassName, Member};
    use crate::wire::Socket;

    const CLASSES: &[AStackClass] = &[AStackClass { block_bytes: 0, count: 1 }];

    struct Nothing;

    impl Entries for Nothing {
        fn interface(&self) -> &'static InterfaceDescriptor {
            &InterfaceDescriptor {
                name: "",
                hash: [0; 16],
                procedures: &[],
                classes: CLASSES,
                appendables: &[],
            }
        }

        fn enter(&self, _: usize, _: Arguments<'_>) -> Outcome {
            unreachable!("nothing is called")
        }
    }

    fn class(uid: u32) -> Arc<TrustClass> {
        Arc::new(TrustClass::new(ClassName::of(Some(uid), None)).unwrap())
    }

    /// Adds a binding of `class` where there is room; its key.
    fn add(table: &Table, class: &Arc<TrustClass>) -> u64 {
        let RegionBytes { heads, blocks } = RegionBytes::of(CLASSES).unwrap();
        let (heads, _) = Segment::heap(heads, Sealing::BothWrite);
        let (own, peer) = Segment::heap(blocks, Sealing::SingleWriter);
        let (stream, _) = Stream::pair().unwrap();
        let lane = table.load().free_lane();
        let key = table.new_key(lane);
        let quotas = Arc::new(Quotas::new(&DomainOptions::default()));
        table.add(ServerBinding::new(Parts {
            account: Account::new(&quotas, None, Limits::default()),
            charges: Vec::new(),
            permitted: None,
            not_permitted: NotPermitted::default(),
            priority: Priority::default(),
            audit: Arc::default(),
            key,
            token: 0,
            name: String::new(),
            entries: Arc::new(Exported {
                entries: Box::new(Nothing),
                surroundings: Surroundings::default(),
            }),
            importer: Importer::of(&stream).unwrap(),
            introducer: None,
            clerk: Weak::new(),
            member: Member::of(Arc::clone(class)),
            lane,
            classes: CLASSES.to_vec(),
            socket: Socket::new(stream),
            region: region::table(CLASSES, Segments { heads, own, peer }, ServerAStack::new),
        }));
        key
    }

    #[test]
    fn a_binding_is_found_by_its_key_and_by_its_lane_until_it_is_removed() {
        let (table, class) = (Table::default(), class(1));
        let keys = [add(&table, &class), add(&table, &class)];
        let snapshot = table.load();
        for key in keys {
            assert_eq!(snapshot.binding(key).map(|binding| binding.key), Some(key));
            let rung: Vec<_> = snapshot.rung(&class, lane_of(key)).map(|each| each.key).collect();
            assert_eq!(rung, [key]);
        }
        table.remove(keys[0]);
        let after = table.load();
        assert!(after.binding(keys[0]).is_none() && after.binding(keys[1]).is_some());
        assert_eq!((snapshot.bindings().count(), after.bindings().count()), (2, 1));
        assert!(snapshot.binding(keys[0]).is_some());
    }

    #[test]
    fn a_key_that_is_removed_twice_or_was_never_there_changes_nothing() {
        let (table, class) = (Table::default(), class(1));
        let key = add(&table, &class);
        table.remove(table.new_key(lane_of(key)));
        assert_eq!(table.load().bindings().count(), 1);
        table.remove(key);
        table.remove(key);
        assert_eq!(table.load().bindings().count(), 0);
    }

    #[test]
    fn bindings_spread_over_the_lanes_and_a_class_hears_its_own() {
        let (table, first, second) = (Table::default(), class(1), class(2));
        for _ in 0..LANES {
            add(&table, &first);
        }
        let keys = [add(&table, &second), add(&table, &second)];
        let snapshot = table.load();
        let all_ring = |lane| snapshot.rung(&first, lane).count() == 1;
        assert!((0..LANES).all(all_ring));
        for key in keys {
            assert_eq!(snapshot.rung(&second, lane_of(key)).count(), 1);
        }
        assert_ne!(lane_of(keys[0]), lane_of(keys[1]));
    }

    #[test]
    fn each_change_is_counted_and_clearing_leaves_nothing() {
        let table = Table::default();
        add(&table, &class(1));
        assert_eq!((table.epoch(), table.load().epoch), (1, 1));
        table.clear();
        assert_eq!((table.epoch(), table.load().bindings().count()), (2, 0));
    }
}
