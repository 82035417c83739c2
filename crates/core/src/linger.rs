//! How long a side leaves a line alone that it has just given away.
//!
//! A poll that comes while the line is on its way, or while the other side works on it, takes it
//! back and makes the call take longer; a poll that comes late is late by the difference. Where the
//! best moment lies depends on how far apart the two processors are: threads of one core want none
//! of it, two cores want about a transfer's time. A host moves them while a program runs, and the
//! edge is a cliff, so the moment is neither a constant nor measured once. Each side searches for
//! it: now and then it tries another time for a few batches of calls, and keeps it if they took
//! less.
//!
//! ```text
//!   settled ──── interval ────▶ base, 3 batches ────▶ trial, 3 batches ──┐
//!      ▲                                                                 │
//!      ├───── took less: the trial's time from now on, interval short ───┤
//!      └───── did not: the old time again, interval twice as long ───────┘
//! ```
//!
//! Both sides weigh the same sum, the time of a whole call, and so they settle. Two sides that
//! weigh their own early polls instead drive each other up without end.
//!
//! A server that serves several callers at once searches in the same way for how long it leaves all
//! of them alone behind a look that has found calls (design note 0007): so that more come together,
//! and their client has its lines to itself meanwhile. There a caller waits for what the others
//! gain, so that of two times that are as good the shorter one is kept.
//!
//! Told all times, reads no clock. What a client does between two calls is in what it is told:
//! calls far apart make the search wander, and then it does not matter.

/// Where a search begins: what two near cores want that do next to nothing between two calls.
const HOME_CYCLES: u32 = 110;

/// Calls in a batch. What a batch costs to weigh, 25 ns to read the clock, is divided by as many.
pub const BATCH_CALLS: u32 = 64;

/// Batches that are weighed on either side of a comparison; the fastest counts.
const TRIAL_BATCHES: u32 = 3;

/// Fewest batches between two comparisons.
const INTERVAL_MIN: u32 = 8;

/// Most: then trials are less than one batch in a hundred.
const INTERVAL_MAX: u32 = 512;

/// Batches by which a server's intervals are longer, so that the two sides do not try something at
/// the same time, each taking what comes of it for its own doing.
const SERVER_BATCHES_MORE: u32 = 5;

/// Batches in a row that differ from the base by a quarter: the processors have moved, and what was
/// found no longer holds.
const MOVED_BATCHES: u32 = 4;

/// How far apart two times are that are tried.
const STEP_CYCLES: u32 = 22;

/// What is tried for the other side's sake: near cores want no more.
const FAR_CYCLES: u32 = 176;

/// What is tried for each nanosecond that a call takes: two thirds of it where a nanosecond has
/// three. A reply is on its way then, and who waits for longer has it later.
const FARTHER_CYCLES_A_NS: u64 = 2;

/// Shortest time between two looks, other than none.
const LOOKS_CYCLES_MIN: u32 = 50;

/// What is tried across others, as [`FAR_CYCLES`].
const LOOKS_FAR_CYCLES: u32 = 400;

/// Longest time between two looks, of the longest for a line: by then ten calls and more of one
/// thread have come. Tried at once, whatever a call takes, so that it has a limit.
const LOOKS_OF_LINE: u32 = 3;
const LOOKS_CYCLES_MAX: u32 = 1_680;

/// What is left alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Subject {
    /// A line that was given away.
    Line,
    /// All A-stacks, between two looks.
    Looks,
}

/// What is tried next, and then the one after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Move {
    Down,
    Up,
    /// Back to where the search began: across a cliff no neighbour shows the way.
    Home,
    /// Further up, for the same reason: the other side does something between two calls.
    Far,
    /// Most of what a call takes: the processors are far from each other.
    Farther,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Settled,
    Base,
    Trial { cycles: u32 },
}

/// One side's search. Small, and private to the side.
#[derive(Clone, Copy, Debug)]
pub struct LingerSearch {
    subject: Subject,
    cycles: u32,
    home: u32,
    max: u32,
    stage: Stage,
    next: Move,
    /// Batches left in this stage.
    left: u32,
    interval: u32,
    interval_more: u32,
    /// Fastest batch of the base, and of this stage.
    base_ns: u64,
    fastest_ns: u64,
    /// Batches in a row that were far from the base.
    moved: u32,
}

impl LingerSearch {
    /// A client's search, which never goes over `max` cycles. With `max` 0 it stays 0.
    pub const fn of_client(max: u32) -> LingerSearch {
        LingerSearch::new(Subject::Line, max, 0)
    }

    /// The same of a server.
    pub const fn of_server(max: u32) -> LingerSearch {
        LingerSearch::new(Subject::Line, max, SERVER_BATCHES_MORE)
    }

    /// A server's between two looks at several callers, where a line is left alone for `max` cycles
    /// at most.
    pub const fn of_looks(max: u32) -> LingerSearch {
        let max = max.saturating_mul(LOOKS_OF_LINE);
        let max = if max < LOOKS_CYCLES_MAX { max } else { LOOKS_CYCLES_MAX };
        LingerSearch::new(Subject::Looks, max, SERVER_BATCHES_MORE)
    }

    const fn new(subject: Subject, max: u32, interval_more: u32) -> LingerSearch {
        let home = match subject {
            Subject::Line if HOME_CYCLES < max => HOME_CYCLES,
            Subject::Line => max,
            Subject::Looks => 0,
        };
        LingerSearch {
            subject,
            cycles: home,
            home,
            max,
            interval_more,
            stage: Stage::Settled,
            next: Move::Down,
            left: INTERVAL_MIN,
            interval: INTERVAL_MIN,
            base_ns: u64::MAX,
            fastest_ns: u64::MAX,
            moved: 0,
        }
    }

    /// A batch took `batch_ns`. How long to linger in the next one, in cycles.
    pub fn told(&mut self, batch_ns: u64) -> u32 {
        self.fastest_ns = self.fastest_ns.min(batch_ns);
        self.left = self.left.saturating_sub(1);
        if self.stage == Stage::Settled && self.has_moved(batch_ns) {
            self.interval = INTERVAL_MIN;
            self.left = 0;
        }
        if self.left == 0 {
            self.end_stage();
            self.fastest_ns = u64::MAX;
        }
        self.cycles()
    }

    /// How long to linger now, in cycles.
    pub fn cycles(&self) -> u32 {
        match self.stage {
            Stage::Trial { cycles } => cycles,
            Stage::Settled | Stage::Base => self.cycles,
        }
    }

    fn has_moved(&mut self, batch_ns: u64) -> bool {
        let is_far = batch_ns.abs_diff(self.base_ns) > self.base_ns / 4;
        self.moved = if is_far { self.moved + 1 } else { 0 };
        self.moved >= MOVED_BATCHES
    }

    fn end_stage(&mut self) {
        self.moved = 0;
        match self.stage {
            Stage::Settled => {
                self.stage = Stage::Base;
                self.left = TRIAL_BATCHES;
            }
            Stage::Base => {
                self.base_ns = self.fastest_ns;
                let cycles = self.next_candidate();
                self.stage = Stage::Trial { cycles };
                self.left = TRIAL_BATCHES;
            }
            Stage::Trial { cycles } => {
                if self.is_better(cycles) {
                    self.cycles = cycles;
                    self.interval = INTERVAL_MIN;
                } else {
                    self.next = self.next.after();
                    self.interval = (self.interval * 2).min(INTERVAL_MAX);
                }
                self.stage = Stage::Settled;
                self.left = self.interval + self.interval_more;
            }
        }
    }

    /// Whether what was tried is to be kept. A thirty-second is gained: batches vary by about as
    /// much.
    fn is_better(&self, cycles: u32) -> bool {
        match self.subject {
            Subject::Looks if cycles < self.cycles => self.fastest_ns <= self.base_ns,
            _ => self.fastest_ns < self.base_ns - self.base_ns / 32,
        }
    }

    /// The next one that is another time than now; this one, if there is none.
    fn next_candidate(&mut self) -> u32 {
        for _ in 0..Move::COUNT {
            let cycles = self.candidate().min(self.max);
            if cycles != self.cycles {
                return cycles;
            }
            self.next = self.next.after();
        }
        self.cycles
    }

    fn candidate(&self) -> u32 {
        match (self.subject, self.next) {
            (Subject::Line, Move::Down) => self.cycles.saturating_sub(STEP_CYCLES),
            (Subject::Line, Move::Up) => self.cycles.saturating_add(STEP_CYCLES),
            (_, Move::Home) => self.home,
            (Subject::Line, Move::Far) => FAR_CYCLES,
            (Subject::Line, Move::Farther) => {
                let call_ns = self.base_ns / u64::from(BATCH_CALLS);
                let cycles = call_ns.saturating_mul(FARTHER_CYCLES_A_NS);
                cycles.min(self.max.into()) as u32
            }
            (Subject::Looks, Move::Down) if self.cycles / 2 < LOOKS_CYCLES_MIN => 0,
            (Subject::Looks, Move::Down) => self.cycles / 2,
            (Subject::Looks, Move::Up) => (self.cycles * 2).max(LOOKS_CYCLES_MIN),
            (Subject::Looks, Move::Far) => LOOKS_FAR_CYCLES,
            (Subject::Looks, Move::Farther) => self.max,
        }
    }
}

impl Move {
    /// How many there are.
    const COUNT: u32 = 5;

    fn after(self) -> Move {
        match self {
            Move::Down => Move::Up,
            Move::Up => Move::Home,
            Move::Home => Move::Far,
            Move::Far => Move::Farther,
            Move::Farther => Move::Down,
        }
    }
}

#[cfg(test)]
mod tests {
    use core::ops::RangeInclusive;

    use super::*;

    /// Two near processors: below the edge a poll takes the line back.
    fn near(cycles: u32) -> u64 {
        if cycles < 100 { 80 } else { 50 + u64::from(cycles - 100) / 4 }
    }

    /// Threads of one core: the time is lost.
    fn siblings(cycles: u32) -> u64 {
        25 + u64::from(cycles) / 2
    }

    /// Two near processors, of which one does something between two calls.
    fn busy(cycles: u32) -> u64 {
        if cycles < 150 { 150 } else { 110 + u64::from(cycles - 150) / 4 }
    }

    /// Far processors: no matter.
    fn far(_: u32) -> u64 {
        200
    }

    /// Others, where a poll costs as much as between near ones.
    fn distant(cycles: u32) -> u64 {
        if cycles < 250 { 213 } else { 127 + u64::from(cycles - 250) / 4 }
    }

    /// Sixty calls of one thread under way: each look costs it a transfer.
    fn crowded(cycles: u32) -> u64 {
        60 + 50 * 400 / (400 + u64::from(cycles))
    }

    /// Two: a reply that is late is all that a later look brings.
    fn sparse(cycles: u32) -> u64 {
        200 + u64::from(cycles) / 10
    }

    /// Tells `search` of so many batches, and of some noise in each.
    fn run(search: &mut LingerSearch, batches: u32, call_ns: fn(u32) -> u64) {
        for batch in 0..batches {
            let noise = u64::from(batch.wrapping_mul(2_654_435_761) >> 26);
            search.told(call_ns(search.cycles()) * u64::from(BATCH_CALLS) + noise);
        }
    }

    const MAX: u32 = 560;

    /// A client's search that has come to `cycles`.
    fn search_at(cycles: u32) -> LingerSearch {
        LingerSearch { cycles, ..LingerSearch::of_client(MAX) }
    }

    #[track_caller]
    fn check_settles(
        search: &mut LingerSearch,
        call_ns: fn(u32) -> u64,
        want: RangeInclusive<u32>,
    ) {
        run(search, 20_000, call_ns);
        assert!(want.contains(&search.cycles), "{} is not in {want:?}", search.cycles);
    }

    #[test]
    fn the_edge_of_a_cliff_is_kept() {
        check_settles(&mut search_at(110), near, 100..=122);
    }

    #[test]
    fn time_that_is_lost_is_given_up() {
        check_settles(&mut search_at(110), siblings, 0..=0);
    }

    #[test]
    fn what_makes_no_difference_is_left_as_it_is() {
        check_settles(&mut search_at(110), far, 110..=110);
    }

    #[test]
    fn a_search_that_is_too_late_comes_back_to_the_edge() {
        check_settles(&mut search_at(176), near, 100..=122);
    }

    #[test]
    fn a_cliff_is_crossed_after_the_processors_have_moved() {
        let mut search = search_at(110);
        check_settles(&mut search, siblings, 0..=0);
        check_settles(&mut search, near, 100..=122);
    }

    #[test]
    fn a_cliff_that_is_further_up_is_found_and_left_again() {
        let mut search = search_at(110);
        check_settles(&mut search, busy, 150..=172);
        check_settles(&mut search, near, 100..=122);
    }

    #[test]
    fn a_cliff_between_far_processors_is_found_and_left_again() {
        let mut search = search_at(110);
        check_settles(&mut search, distant, 250..=272);
        check_settles(&mut search, near, 100..=122);
    }

    #[test]
    fn nothing_over_the_limit_is_tried() {
        let mut search = LingerSearch::of_client(200);
        let mut longest = 0;
        for _ in 0..20_000 {
            search.told(distant(search.cycles()) * u64::from(BATCH_CALLS));
            longest = longest.max(search.cycles());
        }
        assert_eq!(longest, 200);
    }

    #[test]
    fn processors_that_have_moved_are_noticed_at_once() {
        let mut search = search_at(110);
        run(&mut search, 20_000, far);
        assert_eq!(search.interval, INTERVAL_MAX);
        // Less than half of what it would have waited for its next trial alone: one or two
        // milliseconds of calls.
        run(&mut search, 200, siblings);
        assert_eq!(search.cycles, 0);
    }

    #[test]
    fn two_sides_settle_together() {
        let sum = |client: u32, server: u32| near(client) + near(server);
        let (mut client, mut server) = (search_at(176), LingerSearch::of_server(MAX));
        for _ in 0..20_000 {
            let call_ns = sum(client.cycles(), server.cycles());
            client.told(call_ns * u64::from(BATCH_CALLS));
            server.told(call_ns * u64::from(BATCH_CALLS));
        }
        assert_eq!((client.cycles, server.cycles), (110, 110));
    }

    #[test]
    fn trials_are_rare_once_it_has_settled() {
        let mut search = search_at(110);
        run(&mut search, 20_000, near);
        let is_trial = |_: &u32| {
            search.told(near(search.cycles()) * u64::from(BATCH_CALLS));
            matches!(search.stage, Stage::Trial { .. })
        };
        let trials = (0..10_000).filter(is_trial).count();
        assert!((1..100).contains(&trials), "{trials} of 10000");
    }

    #[test]
    fn looks_at_a_crowd_come_apart_and_together_again() {
        let mut search = LingerSearch::of_looks(MAX);
        check_settles(&mut search, crowded, 800..=1_680);
        check_settles(&mut search, sparse, 0..=50);
    }

    #[test]
    fn looks_are_no_further_apart_than_gains_anything() {
        let mut search = LingerSearch { cycles: 1_600, ..LingerSearch::of_looks(MAX) };
        check_settles(&mut search, far, 0..=0);
    }

    #[test]
    fn a_limit_beyond_all_others_is_none() {
        let mut search = LingerSearch::of_looks(u32::MAX);
        let mut longest = 0;
        for _ in 0..20_000 {
            search.told(crowded(search.cycles()) * u64::from(BATCH_CALLS));
            longest = longest.max(search.cycles());
        }
        assert_eq!(longest, LOOKS_CYCLES_MAX);
        let mut search = LingerSearch { cycles: u32::MAX, ..LingerSearch::of_client(u32::MAX) };
        run(&mut search, 1_000, far);
    }

    #[test]
    fn without_a_limit_there_is_no_lingering() {
        for mut search in [LingerSearch::of_client(0), LingerSearch::of_looks(0)] {
            run(&mut search, 1_000, near);
            assert_eq!(search.cycles(), 0);
        }
    }
}
