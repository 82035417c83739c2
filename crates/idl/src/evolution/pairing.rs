//! Which old thing is which new one, in two lists of what they are known by: names, and numbers in
//! .proto files.
//!
//! What has kept its name is the same thing, wherever it stands. What has not was renamed if a new
//! thing is otherwise just as it was, and is gone if none is.

use std::collections::HashMap;
use std::hash::Hash;

/// Places in the old list and in the new one.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Pairing {
    /// In the order of the new list.
    pub kept: Vec<(usize, usize)>,
    pub renamed: Vec<(usize, usize)>,
    pub gone: Vec<usize>,
    pub added: Vec<usize>,
}

/// Pairs two lists. `is_alike` says of an old and a new thing whether all but the name is the same.
pub(super) fn pair<K: Eq + Hash>(
    old: &[K],
    new: &[K],
    is_alike: impl Fn(usize, usize) -> bool,
) -> Pairing {
    let places: HashMap<&K, usize> = old.iter().zip(0..).collect();
    let mut pairing = Pairing::default();
    let mut is_paired = vec![false; old.len()];
    for (name, place) in new.iter().zip(0..) {
        match places.get(name) {
            Some(before) => {
                is_paired[*before] = true;
                pairing.kept.push((*before, place));
            }
            None => pairing.added.push(place),
        }
    }
    pairing.gone = (0..old.len()).filter(|before| !is_paired[*before]).collect();
    let Pairing { renamed, gone, added, .. } = &mut pairing;
    gone.retain(|before| {
        let Some(at) = added.iter().position(|place| is_alike(*before, *place)) else {
            return true;
        };
        renamed.push((*before, added.remove(at)));
        false
    });
    pairing
}

impl Pairing {
    /// Of what was kept, the fewest that have to be moved for the others to stand in their old
    /// order; in the order of the new list.
    pub fn moved(&self) -> Vec<(usize, usize)> {
        // The longest rising run of old places: `best[n]` ends the one of length n + 1 that ends
        // lowest, `before` chains each to the one it goes on from.
        let old = |place: usize| self.kept[place].0;
        let mut best: Vec<usize> = Vec::new();
        let mut before: Vec<Option<usize>> = Vec::new();
        for place in 0..self.kept.len() {
            let length = best.partition_point(|end| old(*end) < old(place));
            before.push(length.checked_sub(1).map(|shorter| best[shorter]));
            match best.get_mut(length) {
                Some(end) => *end = place,
                None => best.push(place),
            }
        }
        let mut stays = vec![false; self.kept.len()];
        let mut at = best.last().copied();
        while let Some(place) = at {
            stays[place] = true;
            at = before[place];
        }
        let moved = (0..self.kept.len()).filter(|place| !stays[*place]);
        moved.map(|place| self.kept[place]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn moved(old: &str, new: &str) -> String {
        let names = |text: &'static str| text.split(' ').collect::<Vec<_>>();
        let (old, new): (Vec<_>, Vec<_>) = (names(leak(old)), names(leak(new)));
        let moved = pair(&old, &new, |_, _| false).moved();
        moved.into_iter().map(|(before, _)| old[before]).collect::<Vec<_>>().join(" ")
    }

    fn leak(text: &str) -> &'static str {
        Box::leak(text.to_owned().into_boxed_str())
    }

    #[test]
    fn what_keeps_its_name_is_the_same() {
        let pairing = pair(&["a", "b", "c"], &["c", "d", "a"], |_, _| false);
        assert_eq!(pairing.kept, [(2, 0), (0, 2)]);
        assert_eq!((pairing.gone, pairing.added), (vec![1], vec![1]));
    }

    #[test]
    fn what_is_alike_under_another_name_was_renamed_once() {
        let pairing = pair(&["a", "b"], &["x", "y", "z"], |old, new| old == new);
        assert_eq!(pairing.renamed, [(0, 0), (1, 1)]);
        assert_eq!((pairing.gone, pairing.added), (vec![], vec![2]));
    }

    #[test]
    fn as_few_as_can_be_were_moved() {
        assert_eq!(moved("a b c d", "a b c d"), "");
        assert_eq!(moved("a b c d", "b c d a"), "a");
        assert_eq!(moved("a b c d", "d a b c"), "d");
        assert_eq!(moved("a b", "b a"), "b");
        assert_eq!(moved("a b c", "x c y a b"), "c");
    }
}
