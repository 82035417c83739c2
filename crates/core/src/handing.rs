//! Whether calls that take a while are handed over to other processors, or run one after the other
//! by the processor that finds them (L38; design note 0003).
//!
//! Which way serves more calls nobody knows beforehand: where a processor is idle, two that run
//! calls of 3 us serve more than one; where callers keep every processor, the second one only takes
//! theirs away. So a server tries the other way now and then for some batches of calls, and keeps
//! it if they took less. A batch is the time from one call's end to that of another one many calls
//! on, whoever ran them, so that it weighs what the calls' own time cannot tell: how many ran
//! beside each other, and what their clients had of the processors.
//!
//! ```text
//!   settled ──── interval ────▶ trial: the other way, 4 ms + 5 batches ─┐
//!      ▲                                                                │
//!      ├──── it serves more: that way from now on, interval short ──────┤
//!      └──── else: as before, interval twice as long ───────────────────┘
//! ```
//!
//! A trial that finds too few calls at once to weigh within 256 ms ends as one that brings nothing.
//!
//! Told all times, reads no clock.

/// Calls that take less, nanoseconds, are not worth handing over: it costs both sides some lines.
pub const WORTH_NS: u32 = 3_000;

/// Those that take as long are handed over unless that serves fewer: somebody's quick call may be
/// behind them. Shorter ones are not unless it serves more: it keeps a processor awake.
const LONG_NS: u32 = 10_000;

/// Those that take as long are handed over without a trial: it would have others wait for them.
const SURE_NS: u32 = 50_000;

/// Shortest batch, calls and nanoseconds.
const BATCH_CALLS: u64 = 16;
const BATCH_NS: u64 = 250_000;

/// Batches that are weighed of each way, of which the median counts: one of them may have met
/// somebody's slice of the processor.
const WEIGHED: usize = 5;

/// How long a trial lasts before its batches are weighed, nanoseconds: whoever was woken for it may
/// be on the processor of somebody else, until the kernel has had a tick to see that.
const SETTLE_NS: u64 = 4_000_000;

/// Shortest time between two trials, nanoseconds.
const INTERVAL_NS_MIN: u64 = 8_000_000;

/// Longest: then trials take a fiftieth of the time, where calls are long a thirtieth.
const INTERVAL_NS_MAX: u64 = 256_000_000;

/// A trial that has lasted for so long, nanoseconds, ends undecided: calls come in bursts that are
/// too short to be weighed, or what they took before it is no measure for them any more.
const TRIAL_NS_MAX: u64 = INTERVAL_NS_MAX;

/// After so long in which it was told nothing, nanoseconds, what was found is old: what comes is
/// tried soon.
const OLD_NS: u64 = 64_000_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Settled,
    /// The other way, and what a call took by the one before, nanoseconds.
    Trial {
        hands_over: bool,
        base_ns: u64,
    },
}

/// A server's search. Small, and private to who watches.
#[derive(Clone, Copy, Debug)]
pub struct HandingSearch {
    /// What was found, if it is another way than the one that needs no reason. So it says nothing
    /// of calls of which that way needs none: long ones, where short ones are handed over.
    found: Option<bool>,
    stage: Stage,
    /// Since when, nanoseconds, and for how many batches that count.
    since_ns: u64,
    batches: usize,
    /// Until the next trial, nanoseconds.
    interval_ns: u64,
    /// When it was told last, nanoseconds.
    told_ns: u64,
    /// When the batch began: how many calls had been run, and the time in nanoseconds.
    batch_begin: Option<(u64, u64)>,
    /// What a call took in the last batches, nanoseconds; the last one last.
    latest_ns: [u64; WEIGHED],
}

impl HandingSearch {
    /// Nothing was tried yet.
    pub const fn new() -> HandingSearch {
        HandingSearch {
            found: None,
            stage: Stage::Settled,
            since_ns: 0,
            batches: 0,
            interval_ns: INTERVAL_NS_MIN,
            told_ns: 0,
            batch_begin: None,
            latest_ns: [0; WEIGHED],
        }
    }

    /// Whether calls are handed over that take `run_ns` each.
    pub fn hands_over(&self, run_ns: u32) -> bool {
        match self.stage {
            _ if run_ns < WORTH_NS => false,
            _ if run_ns >= SURE_NS => true,
            Stage::Trial { hands_over, .. } => hands_over,
            Stage::Settled => self.found.unwrap_or(is_long(run_ns)),
        }
    }

    /// A trial is under way: it ends the sooner the more often it is told.
    pub fn is_trying(&self) -> bool {
        self.stage != Stage::Settled
    }

    /// Whether it is to be told of calls that take `run_ns` each. Of those that come one at a time
    /// it need not hear: there is nothing to be handed over. Of long ones it does: a look at
    /// several bindings may end with the first, whoever waits behind it.
    pub fn hears(&self, run_ns: u32, were_several: bool) -> bool {
        were_several || is_long(run_ns) || self.is_trying() || self.hands_over(run_ns)
    }

    /// At `now_ns` so many calls had been run in all, which take `run_ns` each.
    pub fn told(&mut self, calls: u64, now_ns: u64, run_ns: u32) {
        if !(WORTH_NS..SURE_NS).contains(&run_ns) {
            return self.rest();
        }
        if now_ns.saturating_sub(self.told_ns) >= OLD_NS && !self.is_trying() {
            self.rest();
            self.interval_ns = INTERVAL_NS_MIN;
            self.begin(Stage::Settled, now_ns);
        }
        if self.is_trying() && now_ns.saturating_sub(self.since_ns) >= TRIAL_NS_MAX {
            self.rest();
            self.end_in_vain(now_ns);
        }
        self.told_ns = now_ns;
        let (calls_before, before_ns) = *self.batch_begin.get_or_insert((calls, now_ns));
        let count = calls.wrapping_sub(calls_before);
        let batch_ns = now_ns.saturating_sub(before_ns);
        if count >= BATCH_CALLS && batch_ns >= BATCH_NS {
            self.batch_begin = Some((calls, now_ns));
            self.latest_ns.rotate_left(1);
            self.latest_ns[WEIGHED - 1] = batch_ns / count;
            self.end_batch(now_ns, run_ns);
        }
    }

    /// The calls that come next come after a time in which nobody waited for any.
    pub fn rest(&mut self) {
        self.batch_begin = None;
    }

    fn end_batch(&mut self, now_ns: u64, run_ns: u32) {
        let passed_ns = now_ns.saturating_sub(self.since_ns);
        if self.is_trying() && passed_ns < SETTLE_NS {
            return;
        }
        self.batches += 1;
        if self.batches < WEIGHED {
            return;
        }
        let median_ns = self.median_ns();
        match self.stage {
            Stage::Settled if passed_ns < self.interval_ns => {}
            Stage::Settled => {
                let hands_over = !self.hands_over(run_ns);
                self.begin(Stage::Trial { hands_over, base_ns: median_ns }, now_ns);
            }
            Stage::Trial { hands_over, base_ns } => {
                if is_better((hands_over, median_ns), base_ns, run_ns) {
                    self.found = (hands_over != is_long(run_ns)).then_some(hands_over);
                    self.interval_ns = INTERVAL_NS_MIN;
                    self.begin(Stage::Settled, now_ns);
                } else {
                    self.end_in_vain(now_ns);
                }
            }
        }
    }

    /// What was tried brings nothing.
    fn end_in_vain(&mut self, now_ns: u64) {
        self.interval_ns = (self.interval_ns * 2).min(INTERVAL_NS_MAX);
        self.begin(Stage::Settled, now_ns);
    }

    fn begin(&mut self, stage: Stage, now_ns: u64) {
        (self.stage, self.since_ns, self.batches) = (stage, now_ns, 0);
    }

    fn median_ns(&self) -> u64 {
        let mut sorted_ns = self.latest_ns;
        sorted_ns.sort_unstable();
        sorted_ns[WEIGHED / 2]
    }
}

/// Whether calls that take so long need no reason to be handed over: shorter ones need none not to.
fn is_long(run_ns: u32) -> bool {
    run_ns >= LONG_NS
}

/// Whether a way that was tried, and by which a call takes so long, is to be kept. The one that
/// needs no reason is, unless the other one is better by an eighth. That one has to be better by a
/// fifth: else the two would take turns where they are about as good.
fn is_better((hands_over, median_ns): (bool, u64), base_ns: u64, run_ns: u32) -> bool {
    if hands_over == is_long(run_ns) {
        base_ns >= median_ns - median_ns / 8
    } else {
        median_ns < base_ns - base_ns / 5
    }
}

impl Default for HandingSearch {
    fn default() -> HandingSearch {
        HandingSearch::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Serves so many calls that take `run_ns`, each way as `call_ns` says; how many of them were
    /// handed over.
    fn serve(
        search: &mut HandingSearch,
        calls: u64,
        run_ns: u32,
        call_ns: impl Fn(bool, u64) -> u64,
    ) -> u64 {
        // Behind whatever it was told before.
        let (mut now_ns, mut handed_count) = (search.told_ns, 0);
        search.rest();
        for call in 0..calls {
            let hands_over = search.hands_over(run_ns);
            handed_count += u64::from(hands_over);
            now_ns += call_ns(hands_over, call);
            search.told(call, now_ns, run_ns);
        }
        handed_count
    }

    /// Another processor is idle.
    fn idle(hands_over: bool, _: u64) -> u64 {
        if hands_over { 3_000 } else { 5_000 }
    }

    /// Callers keep all processors.
    fn busy(hands_over: bool, _: u64) -> u64 {
        if hands_over { 9_000 } else { 5_000 }
    }

    /// Who calls does so too seldom for either way to matter.
    fn seldom(_: bool, _: u64) -> u64 {
        20_000
    }

    const CALLS: u64 = 500_000;

    #[test]
    fn short_calls_are_handed_over_where_that_serves_more() {
        let handed_count = serve(&mut HandingSearch::new(), CALLS, 5_000, idle);
        assert!(handed_count > CALLS * 9 / 10, "{handed_count}");
    }

    #[test]
    fn where_it_serves_fewer_trials_are_few() {
        for run_ns in [3_000, 5_000, 12_000, 49_000] {
            let handed_count = serve(&mut HandingSearch::new(), CALLS, run_ns, busy);
            assert!((1..CALLS / 20).contains(&handed_count), "{run_ns} {handed_count}");
        }
    }

    #[test]
    fn where_it_does_not_matter_long_calls_alone_are_handed_over() {
        let short_count = serve(&mut HandingSearch::new(), CALLS, 9_999, seldom);
        assert!((1..CALLS / 20).contains(&short_count), "{short_count}");
        let long_count = serve(&mut HandingSearch::new(), CALLS, 10_000, seldom);
        assert!((CALLS * 19 / 20..CALLS).contains(&long_count), "{long_count}");
    }

    #[test]
    fn calls_of_no_length_in_doubt_are_not_tried() {
        let search = &mut HandingSearch::new();
        assert_eq!(serve(search, CALLS, WORTH_NS - 1, idle), 0);
        assert_eq!(serve(search, CALLS, SURE_NS, busy), CALLS);
    }

    #[test]
    fn what_was_found_is_left_when_it_serves_more_no_longer() {
        let search = &mut HandingSearch::new();
        for _ in 0..3 {
            serve(search, CALLS, 5_000, idle);
            assert!(search.hands_over(5_000));
            serve(search, CALLS, 5_000, busy);
            assert!(!search.hands_over(5_000));
        }
    }

    #[test]
    fn long_calls_are_tried_again_though_looks_find_one_at_a_time() {
        let search = &mut HandingSearch::new();
        serve(search, CALLS, 12_000, busy);
        assert!(!search.hands_over(12_000));
        let mut now_ns = search.told_ns;
        search.rest();
        for call in 0..CALLS {
            now_ns += idle(search.hands_over(12_000), call);
            if search.hears(12_000, false) {
                search.told(call, now_ns, 12_000);
            }
        }
        assert!(search.hands_over(12_000));
        assert!(!HandingSearch::new().hears(9_999, false));
    }

    #[test]
    fn somebody_elses_slices_decide_nothing() {
        // Of the processor that tries something, and of the one that does not.
        for slices_beside in [false, true] {
            let disturbed = |hands_over: bool, call: u64| {
                let has_slice = hands_over == slices_beside && call.is_multiple_of(400);
                busy(hands_over, call) + if has_slice { 3_000_000 } else { 0 }
            };
            let handed_count = serve(&mut HandingSearch::new(), CALLS, 5_000, disturbed);
            assert!((1..CALLS / 10).contains(&handed_count), "{slices_beside} {handed_count}");
        }
    }

    #[test]
    fn after_a_while_without_calls_at_once_the_other_way_is_tried_soon() {
        let search = &mut HandingSearch::new();
        serve(search, CALLS, 5_000, busy);
        assert_eq!(search.interval_ns, INTERVAL_NS_MAX);
        // Not a trial that waits for its end.
        while search.is_trying() {
            serve(search, 100, 5_000, busy);
        }
        search.told(0, search.told_ns + OLD_NS, 5_000);
        let soon = 2 * INTERVAL_NS_MIN / 3_000;
        let handed_count = serve(search, soon, 5_000, idle);
        assert!(handed_count > 0);
        assert_eq!(search.interval_ns, INTERVAL_NS_MIN);
    }

    #[test]
    fn a_trial_ends_where_calls_come_in_bursts_too_short_to_be_weighed() {
        for run_ns in [5_000, 12_000] {
            let search = &mut HandingSearch::new();
            let by_default = search.hands_over(run_ns);
            while !search.is_trying() {
                serve(search, 100, run_ns, busy);
            }
            // Eight calls, and a millisecond in which who watches sleeps.
            let (begin_ns, mut calls) = (search.told_ns, 0);
            while search.told_ns < begin_ns + 2 * TRIAL_NS_MAX {
                search.rest();
                for call in 1..=8 {
                    let now_ns = search.told_ns + if call == 1 { 1_000_000 } else { 5_000 };
                    calls += 1;
                    search.told(calls, now_ns, run_ns);
                }
            }
            assert!(!search.is_trying(), "{run_ns}");
            assert_eq!(search.hands_over(run_ns), by_default, "{run_ns}");
        }
    }

    #[test]
    fn what_was_found_of_short_calls_says_nothing_of_long_ones() {
        let search = &mut HandingSearch::new();
        serve(search, CALLS, 5_000, idle);
        serve(search, CALLS, 5_000, busy);
        while search.is_trying() {
            serve(search, 100, 5_000, busy);
        }
        assert!(!search.hands_over(LONG_NS - 1));
        assert!(search.hands_over(LONG_NS));
    }

    #[test]
    fn a_time_of_rest_belongs_to_no_batch() {
        let search = &mut HandingSearch::new();
        search.told(0, 0, 5_000);
        search.told(BATCH_CALLS - 1, BATCH_NS, 5_000);
        search.rest();
        search.told(BATCH_CALLS, 1_000 * BATCH_NS, 5_000);
        assert_eq!(search.latest_ns, [0; WEIGHED]);
        search.told(2 * BATCH_CALLS, 1_001 * BATCH_NS, 5_000);
        assert_eq!(search.latest_ns[WEIGHED - 1], BATCH_NS / BATCH_CALLS);
    }
}
