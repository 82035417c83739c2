//! Domain caching (L35 to L37): the few A-stacks that a server processor polls, most recently used
//! first. Keys are the runtime's; a processor owns its cache alone.

/// Most A-stacks that one processor polls. With one bell for the rest, more would slow each poll.
pub const HOT_MAX: usize = 8;

/// The hot A-stacks of one server processor.
#[derive(Clone, Debug, Default)]
pub struct DomainCache {
    /// Most recently used first; the first `count` are in use.
    keys: [u64; HOT_MAX],
    count: usize,
}

impl DomainCache {
    /// An empty cache.
    pub const fn new() -> DomainCache {
        DomainCache { keys: [0; HOT_MAX], count: 0 }
    }

    /// A call came on `key`: it is now the most recently used. Gives back the key that had to
    /// leave for it; that A-stack is to be demoted.
    ///
    /// # Cost: one comparison if `key` was the last one used.
    #[inline]
    pub fn touch(&mut self, key: u64) -> Option<u64> {
        if self.count > 0 && self.keys[0] == key {
            return None;
        }
        self.touch_other(key)
    }

    fn touch_other(&mut self, key: u64) -> Option<u64> {
        let known = self.keys().position(|cached| cached == key);
        let (end, evicted) = match known {
            Some(at) => (at, None),
            None if self.count < HOT_MAX => {
                self.count += 1;
                (self.count - 1, None)
            }
            None => (HOT_MAX - 1, Some(self.keys[HOT_MAX - 1])),
        };
        self.keys.copy_within(0..end, 1);
        self.keys[0] = key;
        evicted
    }

    /// Stops polling `key`. False if it was not polled.
    pub fn remove(&mut self, key: u64) -> bool {
        let Some(at) = self.keys().position(|cached| cached == key) else {
            return false;
        };
        self.keys.copy_within(at + 1..self.count, at);
        self.count -= 1;
        true
    }

    /// Takes out the least recently used key, to demote it.
    pub fn pop_oldest(&mut self) -> Option<u64> {
        self.count = self.count.checked_sub(1)?;
        Some(self.keys[self.count])
    }

    /// The keys, most recently used first.
    #[inline]
    pub fn keys(&self) -> impl Iterator<Item = u64> + '_ {
        self.keys[..self.count].iter().copied()
    }

    /// Whether the last call came on `key`.
    #[inline]
    pub fn is_latest(&self, key: u64) -> bool {
        self.count > 0 && self.keys[0] == key
    }

    /// Whether `key` is polled.
    pub fn contains(&self, key: u64) -> bool {
        self.keys().any(|cached| cached == key)
    }

    /// How many A-stacks are polled.
    pub fn count(&self) -> usize {
        self.count
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

    #[track_caller]
    fn check(cache: &DomainCache, want: &[u64]) {
        assert_eq!(cache.keys().collect::<Vec<_>>(), want);
    }

    #[test]
    fn the_most_recently_used_key_is_first() {
        check(&touched([1, 2, 3, 1]), &[1, 3, 2]);
    }

    #[test]
    fn a_ninth_key_replaces_the_least_recently_used() {
        let mut cache = touched([1, 2, 3, 4, 5, 6, 7, 8, 1]);
        assert_eq!(cache.touch(9), Some(2));
        check(&cache, &[9, 1, 8, 7, 6, 5, 4, 3]);
    }

    #[test]
    fn a_known_key_replaces_nothing() {
        let mut cache = touched(0..8);
        assert_eq!(cache.touch(0), None);
        assert_eq!(cache.touch(0), None);
        assert_eq!(cache.count(), 8);
    }

    #[test]
    fn a_removed_key_leaves_no_gap() {
        let mut cache = touched([1, 2, 3]);
        assert!(cache.remove(2));
        check(&cache, &[3, 1]);
        assert!(!cache.remove(2));
        assert!(!cache.contains(2));
    }

    #[test]
    fn key_zero_is_a_key_like_any_other() {
        let mut cache = DomainCache::new();
        assert!(!cache.contains(0));
        assert!(!cache.remove(0));
        cache.touch(0);
        check(&cache, &[0]);
    }

    #[test]
    fn the_oldest_key_is_popped_first() {
        let mut cache = touched([1, 2]);
        assert_eq!(cache.pop_oldest(), Some(1));
        assert_eq!(cache.pop_oldest(), Some(2));
        assert_eq!(cache.pop_oldest(), None);
    }
}
