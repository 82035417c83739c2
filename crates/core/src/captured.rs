//! A-stacks whose call the client gave up while the server held it (L55). They are nobody's until
//! the server replies; then they go back to their list.

use alloc::vec::Vec;

use crate::index::AStackIndex;
use crate::turn::Sequence;

/// The captured A-stacks of a binding. Allocates once, when made.
#[derive(Debug)]
pub struct Captured {
    calls: Vec<(AStackIndex, Sequence)>,
}

impl Captured {
    /// Room for every A-stack of a binding.
    pub fn new(astack_count_max: u32) -> Captured {
        Captured { calls: Vec::with_capacity(astack_count_max as usize) }
    }

    /// Call `sequence` on A-stack `index` was aborted.
    ///
    /// # Panics: if that A-stack is captured already, or there are more than there is room for.
    pub fn add(&mut self, index: AStackIndex, sequence: Sequence) {
        assert!(self.calls.iter().all(|call| call.0 != index), "{index} is captured twice");
        assert!(self.calls.len() < self.calls.capacity(), "{index} is past the last");
        self.calls.push((index, sequence));
    }

    /// The longest captured A-stack that `is_idle` says has come back; it is the caller's to push.
    /// Call until `None`.
    pub fn reap(&mut self, is_idle: impl Fn(AStackIndex, Sequence) -> bool) -> Option<AStackIndex> {
        let at = self.calls.iter().position(|&(index, sequence)| is_idle(index, sequence))?;
        Some(self.calls.remove(at).0)
    }

    /// What is captured, the longest first.
    pub fn calls(&self) -> impl Iterator<Item = (AStackIndex, Sequence)> + '_ {
        self.calls.iter().copied()
    }

    /// How many A-stacks are captured.
    pub fn count(&self) -> u32 {
        self.calls.len() as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::ClaimedIndex;

    fn astack(index: u32) -> AStackIndex {
        ClaimedIndex(index).check(8).unwrap()
    }

    fn two() -> Captured {
        let mut captured = Captured::new(8);
        captured.add(astack(3), Sequence::from_u32(7));
        captured.add(astack(5), Sequence::from_u32(1));
        captured
    }

    #[test]
    fn an_astack_that_came_back_is_reaped_once() {
        let mut captured = two();
        let is_idle = |index, _| index == astack(5);
        assert_eq!(captured.reap(is_idle), Some(astack(5)));
        assert_eq!(captured.reap(is_idle), None);
        assert_eq!(captured.count(), 1);
    }

    #[test]
    fn an_astack_that_did_not_come_back_stays() {
        let mut captured = two();
        assert_eq!(captured.reap(|_, _| false), None);
        assert_eq!(captured.calls().map(|call| call.0.as_u32()).collect::<Vec<_>>(), [3, 5]);
        assert_eq!(captured.count(), 2);
    }

    #[test]
    fn each_astack_is_asked_about_with_its_own_call() {
        let mut captured = two();
        let reaped = captured.reap(|_, sequence| sequence == Sequence::from_u32(7));
        assert_eq!(reaped, Some(astack(3)));
    }

    #[test]
    #[should_panic(expected = "A-stack 3 is captured twice")]
    fn an_astack_is_not_captured_twice() {
        two().add(astack(3), Sequence::from_u32(8));
    }
}
