//! Leaving A-stacks alone for a moment behind a look that has found calls, where several callers
//! are served at once: more of them come together, and their client, which posts one after the
//! other, has its lines to itself meanwhile (L38; design note 0007). For how long is searched for.

use nearcall_core::linger::{BATCH_CALLS, LingerSearch};
use nearcall_os::clock;
use nearcall_os::processor::Linger;

/// Between two looks.
#[derive(Debug)]
pub(super) struct Gathering {
    search: LingerSearch,
    until_next_look: Linger,
    /// Number of the last look that came behind another one of these.
    look: u32,
    /// Calls since the batch began, and those of them that the last look had seen.
    calls: u32,
    seen: u32,
    /// When the batch began, in ticks.
    begin: u64,
}

impl Gathering {
    pub fn new(linger_cycles_max: u32) -> Gathering {
        let search = LingerSearch::of_looks(linger_cycles_max);
        let until_next_look = Linger::of_cycles(search.cycles());
        Gathering { search, until_next_look, look: 0, calls: 0, seen: 0, begin: 0 }
    }

    /// A call was served.
    #[inline]
    pub fn note(&mut self) {
        self.calls = self.calls.wrapping_add(1);
    }

    /// Look number `look` is about to begin, and callers that are elsewhere call in turn.
    #[inline]
    pub fn pass_before(&mut self, look: u32) {
        let is_next = look == self.look.wrapping_add(1);
        self.look = look;
        if !is_next {
            return self.begin();
        }
        if self.calls == self.seen {
            return;
        }
        self.seen = self.calls;
        if self.calls >= BATCH_CALLS {
            self.weigh();
        }
        self.until_next_look.pass();
    }

    /// The next look comes behind something else: a processor that was let go.
    #[inline]
    pub fn interrupt(&mut self) {
        self.look = self.look.wrapping_sub(1);
    }

    fn begin(&mut self) {
        (self.calls, self.seen) = (0, 0);
        self.begin = clock::ticks();
    }

    #[inline(never)]
    fn weigh(&mut self) {
        let batch_ns = clock::ns_since(self.begin) * u64::from(BATCH_CALLS) / u64::from(self.calls);
        self.until_next_look = Linger::of_cycles(self.search.told(batch_ns));
        self.begin();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAX: u32 = 560;

    fn gathering_from(look: u32) -> Gathering {
        let mut gathering = Gathering::new(MAX);
        gathering.pass_before(look);
        gathering
    }

    fn serve(gathering: &mut Gathering, calls: u32) {
        (0..calls).for_each(|_| gathering.note());
    }

    #[test]
    fn calls_of_looks_one_behind_the_other_make_a_batch() {
        let mut gathering = gathering_from(1);
        serve(&mut gathering, BATCH_CALLS - 1);
        gathering.pass_before(2);
        assert_eq!((gathering.calls, gathering.seen), (BATCH_CALLS - 1, BATCH_CALLS - 1));
        serve(&mut gathering, 10);
        gathering.pass_before(3);
        // Weighed, and the next one has begun.
        assert_eq!((gathering.calls, gathering.seen), (0, 0));
    }

    #[test]
    fn a_batch_begins_anew_behind_anything_else() {
        let mut gathering = gathering_from(1);
        serve(&mut gathering, 10);
        gathering.pass_before(3);
        assert_eq!(gathering.calls, 0, "a look was between");
        serve(&mut gathering, 10);
        gathering.interrupt();
        gathering.pass_before(4);
        assert_eq!(gathering.calls, 0, "the processor was let go");
    }

    #[test]
    fn looks_come_apart_where_that_is_tried() {
        let mut gathering = gathering_from(0);
        let mut come_apart = |look| {
            serve(&mut gathering, BATCH_CALLS);
            gathering.pass_before(look);
            gathering.until_next_look != Linger::of_cycles(0)
        };
        assert!((1..=1_000).any(&mut come_apart));
    }

    #[test]
    fn without_a_limit_looks_stay_together() {
        let mut gathering = Gathering::new(0);
        for look in 1..=1_000 {
            serve(&mut gathering, BATCH_CALLS);
            gathering.pass_before(look);
            assert_eq!(gathering.until_next_look, Linger::of_cycles(0));
        }
    }
}
