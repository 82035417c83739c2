//! Domain caching (L35 to L37): the A-stacks that a server processor polls, and which of them has
//! been used least recently. Keys are the runtime's; a processor owns its cache alone.

/// Most A-stacks that one processor polls: as many as one thread has calls outstanding on, if it
/// has many. One round over as many idle ones takes about as long as a line takes to come.
pub const HOT_MAX: usize = 64;

/// Bindings whose last ring is remembered: about as many as one processor polls faster than it
/// answers their bells.
const RINGS: usize = 8;

/// The hot A-stacks of one server processor.
#[derive(Clone, Debug)]
pub struct DomainCache {
    /// In no order; the first `count` are in use.
    entries: [Entry; HOT_MAX],
    count: usize,
    /// Where the most recently used one is.
    latest: usize,
    /// Counts touches.
    clock: u64,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    key: u64,
    used: u64,
}

impl DomainCache {
    /// An empty cache.
    pub const fn new() -> DomainCache {
        let entries = [Entry { key: 0, used: 0 }; HOT_MAX];
        DomainCache { entries, count: 0, latest: 0, clock: 0 }
    }

    /// A call came on `key`: it is now the most recently used. Gives back the key that had to
    /// leave for it; that A-stack is to be demoted.
    ///
    /// # Cost: one comparison if `key` was the last one used, else one for each key.
    #[inline]
    pub fn touch(&mut self, key: u64) -> Option<u64> {
        if self.is_latest(key) { None } else { self.touch_other(key) }
    }

    /// A call came on `key`, which is polled, and probably the `at`-th that was put in.
    ///
    /// # Cost: two comparisons if it is.
    #[inline]
    pub fn touch_at(&mut self, at: usize, key: u64) {
        if at < self.count && self.entries[at].key == key {
            self.use_entry(at);
        } else if let Some(at) = self.position(key) {
            self.use_entry(at);
        }
    }

    fn touch_other(&mut self, key: u64) -> Option<u64> {
        if let Some(at) = self.position(key) {
            self.use_entry(at);
            return None;
        }
        let evicted = if self.count == HOT_MAX { self.pop_oldest() } else { None };
        self.entries[self.count].key = key;
        self.count += 1;
        self.use_entry(self.count - 1);
        evicted
    }

    #[inline]
    fn use_entry(&mut self, at: usize) {
        self.clock += 1;
        self.entries[at].used = self.clock;
        self.latest = at;
    }

    fn position(&self, key: u64) -> Option<usize> {
        self.keys().position(|cached| cached == key)
    }

    /// Stops polling `key`; the last one takes its place. False if it was not polled.
    pub fn remove(&mut self, key: u64) -> bool {
        let Some(at) = self.position(key) else {
            return false;
        };
        self.count -= 1;
        self.entries[at] = self.entries[self.count];
        let used = |at: &usize| self.entries[*at].used;
        self.latest = (0..self.count).max_by_key(used).unwrap_or(0);
        true
    }

    /// Takes out the least recently used key, to demote it.
    pub fn pop_oldest(&mut self) -> Option<u64> {
        let oldest = self.entries[..self.count].iter().min_by_key(|entry| entry.used)?.key;
        self.remove(oldest);
        Some(oldest)
    }

    /// The keys, in no order.
    #[inline]
    pub fn keys(&self) -> impl Iterator<Item = u64> + '_ {
        self.entries[..self.count].iter().map(|entry| entry.key)
    }

    /// Whether the last call came on `key`.
    #[inline]
    pub fn is_latest(&self, key: u64) -> bool {
        self.count > 0 && self.entries[self.latest].key == key
    }

    /// Whether `key` is polled.
    pub fn contains(&self, key: u64) -> bool {
        self.position(key).is_some()
    }

    /// How many A-stacks are polled.
    pub fn count(&self) -> usize {
        self.count
    }
}

/// Bindings that rang lately. One that rings again while it is among them is called often enough to
/// be polled; another would only push out, at the price of a demotion, what is.
#[derive(Clone, Debug)]
pub struct Rings {
    keys: [u64; RINGS],
    next: usize,
}

impl Rings {
    /// Nobody has rung.
    pub const fn new() -> Rings {
        Rings { keys: [0; RINGS], next: 0 }
    }

    /// Binding `key`, which is not 0, has rung. True: it had lately.
    ///
    /// # Cost: a comparison for each that is remembered.
    #[inline]
    pub fn note(&mut self, key: u64) -> bool {
        if self.keys.contains(&key) {
            return true;
        }
        self.keys[self.next] = key;
        self.next = (self.next + 1) % RINGS;
        false
    }
}

impl Default for Rings {
    fn default() -> Rings {
        Rings::new()
    }
}

impl Default for DomainCache {
    fn default() -> DomainCache {
        DomainCache::new()
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;

    fn touched(keys: impl IntoIterator<Item = u64>) -> DomainCache {
        let mut cache = DomainCache::new();
        for key in keys {
            cache.touch(key);
        }
        cache
    }

    /// `want`: the most recently used first.
    #[track_caller]
    fn check(cache: &DomainCache, want: &[u64]) {
        let mut cache = cache.clone();
        let mut keys: Vec<u64> = core::iter::from_fn(|| cache.pop_oldest()).collect();
        keys.reverse();
        assert_eq!(keys, want);
    }

    #[test]
    fn the_most_recently_used_key_is_first() {
        check(&touched([1, 2, 3, 1]), &[1, 3, 2]);
    }

    #[test]
    fn one_key_too_many_replaces_the_least_recently_used() {
        let last = HOT_MAX as u64;
        let mut cache = touched(1..=last);
        cache.touch(1);
        assert_eq!(cache.touch(last + 1), Some(2));
        assert_eq!(cache.count(), HOT_MAX);
        assert!(cache.is_latest(last + 1));
        assert!(!cache.contains(2));
        assert_eq!(cache.touch(last + 2), Some(3));
    }

    #[test]
    fn a_known_key_replaces_nothing() {
        let mut cache = touched(0..HOT_MAX as u64);
        assert_eq!(cache.touch(0), None);
        assert_eq!(cache.touch(0), None);
        assert_eq!(cache.count(), HOT_MAX);
    }

    #[test]
    fn a_key_is_touched_where_it_is_and_where_it_was() {
        let mut cache = touched([1, 2, 3]);
        cache.touch_at(0, 1);
        check(&cache, &[1, 3, 2]);
        cache.touch_at(0, 2);
        check(&cache, &[2, 1, 3]);
        cache.touch_at(0, 4);
        check(&cache, &[2, 1, 3]);
    }

    #[test]
    fn a_removed_key_leaves_no_gap() {
        let mut cache = touched([1, 2, 3]);
        assert!(cache.remove(2));
        check(&cache, &[3, 1]);
        assert!(cache.is_latest(3));
        assert!(!cache.remove(2));
        assert!(!cache.contains(2));
    }

    #[test]
    fn when_the_latest_key_is_removed_the_one_before_it_is_the_latest() {
        let mut cache = touched([1, 2, 3]);
        assert!(cache.remove(3));
        assert!(cache.is_latest(2));
    }

    #[test]
    fn key_zero_is_a_key_like_any_other() {
        let mut cache = DomainCache::new();
        assert!(!cache.contains(0));
        assert!(!cache.is_latest(0));
        assert!(!cache.remove(0));
        cache.touch(0);
        check(&cache, &[0]);
    }

    #[test]
    fn who_rings_again_soon_has_rung_lately() {
        let mut rings = Rings::new();
        assert!(!rings.note(7));
        assert!(rings.note(7));
        let others = 8..7 + RINGS as u64;
        assert!(!others.clone().any(|key| rings.note(key)));
        assert!(rings.note(7));
        assert!(others.clone().all(|key| rings.note(key)));
    }

    #[test]
    fn one_of_many_that_ring_in_turn_has_not_rung_lately() {
        let mut rings = Rings::new();
        let mut turns = (1..=1 + RINGS as u64).cycle().take(5 * RINGS);
        assert!(!turns.any(|key| rings.note(key)));
    }

    #[test]
    fn the_oldest_key_is_popped_first() {
        let mut cache = touched([1, 2]);
        assert_eq!(cache.pop_oldest(), Some(1));
        assert_eq!(cache.pop_oldest(), Some(2));
        assert_eq!(cache.pop_oldest(), None);
    }
}
