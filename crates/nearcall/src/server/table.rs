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
    count: usize,
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
            next.count += 1;
        });
    }

    pub fn remove(&self, key: u64) {
        self.change(|next| {
            let lane = next.lane_mut(lane_of(key));
            let before = lane.len();
            *lane = lane.iter().filter(|binding| binding.key != key).cloned().collect();
            let removed = before - lane.len();
            next.count -= removed;
        });
    }

    /// Forgets every binding.
    pub fn clear(&self) {
        self.change(|next| {
            next.count = 0;
            next.groups = Default::default();
        });
    }

    pub fn set_classes(&self, classes: Vec<Arc<TrustClass>>) {
        self.change(|next| next.classes = classes);
    }

    fn change(&self, change: impl FnOnce(&mut Snapshot)) {
        let mut current = self.current.write().unwrap_or_else(PoisonError::into_inner);
        let mut next = Snapshot::clone(&current);
        next.epoch += 1;
        change(&mut next);
        let epoch = next.epoch;
        let before = std::mem::replace(&mut *current, Arc::new(next));
        // Release: pairs with `epoch`.
        self.epoch.store(epoch, Ordering::Release);
        drop(current);
        // Outside of the lock: it may be the last that knew a binding, which is unmapped then.
        drop(before);
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

    /// How many bindings there are.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The bindings that ring this lane of this class: mostly one.
    pub fn rung(&self, class: &TrustClass, lane: u32) -> impl Iterator<Item = &Arc<ServerBinding>> {
        let uid = class.uid;
        self.lane(lane).iter().filter(move |binding| binding.class.uid == uid)
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
