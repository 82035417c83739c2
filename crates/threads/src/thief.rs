//! What an idle processor takes from others: threads that have not begun, and will not soon.
//!
//! ```text
//!   two or more not begun ───────────────────────────────▶ half of them
//!   one, and it is the same as WAIT ago ─────────────────▶ that one
//!          … the same as LATE ago: its processor is stuck ─▶ that one, and it is counted
//! ```
//!
//! A single one that is forked and joined is begun within nanoseconds where it is; elsewhere its
//! closure and its stack would have to come first, a line at a time. So it is left alone for as
//! long as that takes.

use std::cell::{Cell, RefCell};
use std::time::{Duration, Instant};

use crate::kernel::now;
use crate::place::Place;
use crate::thread::NotBegun;
use crate::unbegun::{Entry, LOOT_MAX, PLENTY};
use crate::warning::warn;
use crate::whole::or_abort;

/// A single thread is left to its own processor for so long: about what taking it costs.
const WAIT: Duration = Duration::from_micros(2);

/// After so long its processor is said to be stuck in a thread that does not yield.
pub const LATE: Duration = Duration::from_millis(10);

/// What is remembered of the others.
#[derive(Debug)]
pub struct Thief {
    place: Place,
    /// Of each processor: whose turn was first, and since when.
    firsts: Box<[Cell<First>]>,
    loot: RefCell<Vec<Entry<NotBegun>>>,
    late: Cell<u64>,
}

#[derive(Clone, Copy, Debug)]
struct First {
    turn: u64,
    since: Instant,
}

/// A processor that has some to take.
#[derive(Clone, Copy, Debug)]
pub struct Victim {
    at: usize,
    is_late: bool,
}

impl Thief {
    pub fn new(place: Place) -> Thief {
        let since = now();
        let first = |_| Cell::new(First { turn: 0, since });
        Thief {
            place,
            firsts: place.team.members().iter().map(first).collect(),
            loot: RefCell::new(Vec::with_capacity(LOOT_MAX)),
            late: Cell::new(0),
        }
    }

    /// Looks for a processor from which something should be taken, the next one first.
    pub fn find(&self) -> Option<Victim> {
        let count = self.firsts.len();
        let others = (1..count).map(|step| (usize::from(self.place.at) + step) % count);
        others.filter_map(|at| self.look_at(at)).next()
    }

    fn look_at(&self, at: usize) -> Option<Victim> {
        let hint = self.place.team.members()[at].unbegun.hint();
        if hint.count == 0 {
            return None;
        }
        let (first, now) = (&self.firsts[at], now());
        if first.get().turn != hint.oldest {
            first.set(First { turn: hint.oldest, since: now });
        }
        let lain = now.saturating_duration_since(first.get().since);
        let is_due = hint.count >= PLENTY || lain >= WAIT;
        is_due.then_some(Victim { at, is_late: lain >= LATE })
    }

    /// Takes from such a processor, and gives what it takes to `fork`. False: there is none.
    pub fn steal(&self, fork: impl Fn(NotBegun)) -> bool {
        let Some(victim) = self.find() else { return false };
        let mut loot = self.loot.borrow_mut();
        self.place.team.members()[victim.at].unbegun.steal(&mut loot);
        let has_some = !loot.is_empty();
        if has_some && victim.is_late {
            self.count_late(victim.at);
        }
        loot.drain(..).for_each(|entry| fork(entry.thread));
        has_some
    }

    /// This processor is stuck in a thread that does not yield.
    fn count_late(&self, at: usize) {
        let late = self.late.get() + 1;
        self.late.set(late);
        let own = format!("processor {}", self.place.at + 1);
        warn_of_late(self.place.team.number(), at, &own, late);
    }

    /// How often a thread was taken from a processor that was stuck.
    pub fn late(&self) -> u64 {
        self.late.get()
    }
}

/// The processor at this place of that run is stuck in a thread that does not yield, and somebody
/// or nobody `begins` what waits there. That is told the first time, and then each time that it has
/// come twice as often, so that nobody is flooded.
pub fn warn_of_late(run: u32, at: usize, begins: &str, times: u64) {
    if times.is_power_of_two() {
        let (stuck, late) = (at + 1, LATE.as_millis());
        let text = format!(
            "a FastThread on processor {stuck} of run {run} has not yielded for {late} ms or more: \
             {begins} begins what waits there (time {times}); what has begun waits on"
        );
        or_abort(|| warn(&text));
    }
}
