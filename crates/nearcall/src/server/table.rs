//! The bindings that a domain serves, as its processors see them: a snapshot that is replaced
//! whole, so that reading it takes no lock once it is loaded.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use nearcall_abi::bell::LANES;

use super::binding::ServerBinding;
use super::trust::TrustClass;

/// The table and how often it has changed.
#[derive(Debug, Default)]
pub(crate) struct Table {
    current: RwLock<Arc<Snapshot>>,
    epoch: AtomicU64,
}

/// The bindings at one moment.
#[derive(Debug, Default)]
pub(crate) struct Snapshot {
    /// How often the table had changed.
    pub epoch: u64,
    /// Every trust class with a binding.
    pub classes: Vec<Arc<TrustClass>>,
    /// By key.
    bindings: HashMap<u64, Arc<ServerBinding>>,
    /// By uid of the class and lane.
    lanes: HashMap<(Option<u32>, u32), Vec<Arc<ServerBinding>>>,
}

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

    pub fn add(&self, binding: Arc<ServerBinding>) {
        self.change(|next| {
            next.bindings.insert(binding.key, binding);
        });
    }

    pub fn remove(&self, key: u64) {
        self.change(|next| {
            next.bindings.remove(&key);
        });
    }

    /// Forgets every binding.
    pub fn clear(&self) {
        self.change(|next| next.bindings.clear());
    }

    pub fn set_classes(&self, classes: Vec<Arc<TrustClass>>) {
        self.change(|next| next.classes = classes);
    }

    fn change(&self, change: impl FnOnce(&mut Snapshot)) {
        let mut current = self.current.write().unwrap_or_else(PoisonError::into_inner);
        let mut next = Snapshot {
            epoch: current.epoch + 1,
            classes: current.classes.clone(),
            bindings: current.bindings.clone(),
            lanes: HashMap::new(),
        };
        change(&mut next);
        for binding in next.bindings.values() {
            let lane = (binding.class.uid, binding.lane % LANES);
            next.lanes.entry(lane).or_default().push(Arc::clone(binding));
        }
        let epoch = next.epoch;
        *current = Arc::new(next);
        // Release: pairs with `epoch`.
        self.epoch.store(epoch, Ordering::Release);
    }
}

impl Snapshot {
    /// The binding with this key.
    pub fn binding(&self, key: u64) -> Option<&Arc<ServerBinding>> {
        self.bindings.get(&key)
    }

    /// All bindings.
    pub fn bindings(&self) -> impl Iterator<Item = &Arc<ServerBinding>> {
        self.bindings.values()
    }

    /// How many bindings there are.
    pub fn count(&self) -> usize {
        self.bindings.len()
    }

    /// The bindings that ring this lane of this class: mostly one.
    pub fn rung(&self, class: &TrustClass, lane: u32) -> &[Arc<ServerBinding>] {
        self.lanes.get(&(class.uid, lane)).map_or(&[], Vec::as_slice)
    }

    /// The lane that fewest bindings of the class ring.
    pub fn free_lane(&self, class: &TrustClass) -> u32 {
        let crowd = |lane: &u32| self.rung(class, *lane).len();
        (0..LANES).min_by_key(crowd).unwrap_or(0)
    }
}
