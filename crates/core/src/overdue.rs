//! How long calls that were posted, and that nobody waits for, have been under way: counted in
//! looks at all of them, so that a post reads no clock (design note 0003).

use alloc::vec::Vec;

use crate::turn::Sequence;

/// What was seen of each A-stack of a binding. Grows to as many as it is told of.
#[derive(Debug, Default)]
pub struct Overdue {
    astacks: Vec<Seen>,
}

#[derive(Clone, Copy, Debug)]
struct Seen {
    /// None: there was none.
    call: Option<Sequence>,
    looks: u32,
    /// A server processor has it.
    is_taken: bool,
}

impl Seen {
    const fn first(call: Option<Sequence>) -> Seen {
        Seen { call, looks: 0, is_taken: false }
    }
}

impl Overdue {
    /// A look at A-stack `index`, on which `call` is under way. How many looks before this one have
    /// seen the same call; `None`: there is none that anybody would have to take.
    pub fn look(&mut self, index: u32, call: Option<Sequence>) -> Option<u32> {
        let at = index as usize;
        if self.astacks.len() <= at {
            self.astacks.resize(at + 1, Seen::first(None));
        }
        let seen = &mut self.astacks[at];
        match seen.call == call {
            true => seen.looks = seen.looks.saturating_add(1),
            false => *seen = Seen::first(call),
        }
        (call.is_some() && !seen.is_taken).then_some(seen.looks)
    }

    /// The call that was seen on A-stack `index` was taken: it is not overdue, however long it
    /// takes.
    pub fn take(&mut self, index: u32) {
        self.astacks[index as usize].is_taken = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(sequence: u32) -> Option<Sequence> {
        Some(Sequence::from_u32(sequence))
    }

    #[test]
    fn a_call_that_stays_is_counted() {
        let mut overdue = Overdue::default();
        let looks: Vec<_> = (0..4).map(|_| overdue.look(3, call(7))).collect();
        assert_eq!(looks, [Some(0), Some(1), Some(2), Some(3)]);
    }

    #[test]
    fn another_call_begins_anew() {
        let mut overdue = Overdue::default();
        overdue.look(3, call(7));
        assert_eq!(overdue.look(3, call(7)), Some(1));
        assert_eq!(overdue.look(3, call(8)), Some(0));
        assert_eq!(overdue.look(3, None), None);
        assert_eq!(overdue.look(3, call(8)), Some(0));
    }

    #[test]
    fn nothing_is_never_overdue() {
        let mut overdue = Overdue::default();
        assert_eq!((overdue.look(0, None), overdue.look(0, None)), (None, None));
    }

    #[test]
    fn what_was_taken_is_not_overdue_and_the_next_call_may_be() {
        let mut overdue = Overdue::default();
        overdue.look(0, call(1));
        overdue.take(0);
        assert_eq!(overdue.look(0, call(1)), None);
        assert_eq!(overdue.look(0, call(2)), Some(0));
    }

    #[test]
    fn astacks_are_counted_apart() {
        let mut overdue = Overdue::default();
        overdue.look(0, call(1));
        assert_eq!(overdue.look(5, call(1)), Some(0));
        assert_eq!(overdue.look(0, call(1)), Some(1));
    }
}
