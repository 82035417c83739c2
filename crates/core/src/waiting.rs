//! How a client waits for a reply: who gives a processor to whom (U5 to U20, DESIGN 5).
//!
//! The runtime polls a first burst by itself; a call that is answered then never comes here. After
//! that it asks [`Waiter::next`] and does what it says. Told all times, reads no clock.
//!
//! ```text
//!   other processor:   Spin … Spin for spin_ns ───────────────▶ Sleep, slice by slice
//!                      (who spins yields between two, unless yields are banned)
//!   same processor:    Yield … Yield, timed, yields_max ──────▶ Sleep, slice by slice
//!   either:            deadline ──────────────────────────────▶ GiveUp
//! ```
//!
//! Spinning as long as a wake-up costs is at most twice as dear as knowing in advance. On one
//! processor spinning cannot help: the server needs the processor that spins. A yield that takes
//! long may have handed the processor to a third thread; once such yields have cost more than
//! the others have saved, yields are banned for a while (without the ban a competing thread costs
//! 1.4 ms a call, with it twice what sleeping at once costs). One that is slow alone bans nothing:
//! a timer's interrupt makes a yield take 30 to 100 us on a guest, every 4 ms, and to sleep for the
//! 256 calls behind it made calls on one processor half as dear again. A wait that has spun yields
//! no more before it sleeps. While yields are banned every call sleeps, and then
//! it sleeps its longest slice at once: the end of a short one would be the next thing that the
//! processor has to wake up for, and setting its timer for every call costs a third of a call.

/// The knobs of waiting, in nanoseconds and cycles as their names say. Of a least and a most that
/// contradict each other the most holds. Programs in C have the same
/// record, `nearcall_wait_policy`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct WaitPolicy {
    /// Longest that a side leaves a line alone which it has just given away: up to that it
    /// searches for the time that suits (see `linger`). 0: polls at once.
    pub linger_cycles_max: u32,
    /// Longest spin for a server on another processor: about one wake-up of an idle processor.
    pub spin_ns_max: u32,
    /// Shortest spin that adapting may go down to, and the longest while yields are banned.
    pub spin_ns_min: u32,
    /// Polls between two looks at the clock, and between two yields of who spins.
    pub polls_per_spin: u32,
    /// Yields to a server on the same processor before sleeping.
    pub yields_max: u32,
    /// A yield that takes longer may have gone to a third thread.
    pub yield_ns_max: u32,
    /// What such yields may take together, less 2 us for each faster one since, before yields are
    /// banned: less than a competitor's slice. Of those between two spins what takes 100 us.
    pub slow_yields_ns_max: u32,
    /// Waits for which yields are banned the first time, and by those between two spins each time.
    pub yield_ban_waits_min: u32,
    /// Waits for which yields are banned at most: each ban is twice the one before.
    pub yield_ban_waits_max: u32,
    /// First sleep before liveness is looked at again.
    pub sleep_slice_ns_min: u64,
    /// Longest such sleep: each slice is twice the one before.
    pub sleep_slice_ns_max: u64,
}

/// One thread's ban on yields. Outlives the waits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct YieldBan {
    waits_left: u32,
    waits_last: u32,
    /// Fast yields in a row.
    fast_yields: u32,
    /// What slow yields have taken, less what fast ones have saved.
    slow_ns: u64,
}

/// Fast yields in a row after which the next ban is as short as the first again.
const FAST_YIELDS_MIN: u32 = 64;

/// About what a yield saves to who would sleep and be woken instead.
const FAST_YIELD_SAVES_NS: u64 = 2_000;

/// A yield between two spins that takes less has gone to nobody.
const SHARED_NS_MIN: u64 = 1_000;

/// A yield between two spins that takes longer is slow: twice the longest spin that is usual.
const SHARE_SLOW_NS_MIN: u64 = 100_000;

/// What is waited is scattered over all of 64 bits, whatever the steps of the clock are, and one in
/// 256 has none of the highest 8.
const SCATTER: u64 = 0x9e37_79b9_7f4a_7c15;
const TRIED_SHIFT: u32 = 56;

/// Callers on one processor whose turns, of one or two microseconds each, are together not as long
/// as a yield that is slow.
const CALLERS_A_YIELD: u32 = 8;

/// What a yield of `duration_ns` counts for where `callers` threads may call from this processor,
/// by turns: it comes back when all of them have had theirs, and is slow only if somebody else has
/// had one, too, which is as long as thousands of theirs.
pub fn yield_share_ns(duration_ns: u64, callers: u32) -> u64 {
    duration_ns / u64::from((callers / CALLERS_A_YIELD).max(1))
}

/// One wait for one reply.
#[derive(Clone, Copy, Debug)]
pub struct Waiter<'p> {
    policy: &'p WaitPolicy,
    /// When it was first asked what time it is.
    start_ns: Option<u64>,
    spin_ns: u32,
    deadline_ns: u64,
    yields_left: u32,
    is_banned: bool,
    has_spun: bool,
    shared_ns: u64,
    /// Sleeps so far.
    slices: u32,
}

/// What to do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Poll this often, one pause between two polls, and ask again.
    Spin {
        /// How often.
        polls: u32,
    },
    /// Yield the processor, tell [`Waiter::told_yield`] how long it took, poll, and ask again.
    Yield,
    /// Sleep on the turn word, look whether the server is alive, and ask again.
    Sleep {
        /// At most this long.
        slice_ns: u64,
    },
    /// The deadline has passed.
    GiveUp,
}

impl Default for WaitPolicy {
    fn default() -> WaitPolicy {
        WaitPolicy {
            linger_cycles_max: 176,
            spin_ns_max: 50_000,
            spin_ns_min: 2_000,
            polls_per_spin: 64,
            yields_max: 16,
            yield_ns_max: 30_000,
            slow_yields_ns_max: 500_000,
            yield_ban_waits_min: 256,
            yield_ban_waits_max: 65_536,
            sleep_slice_ns_min: 200_000,
            sleep_slice_ns_max: 20_000_000,
        }
    }
}

impl WaitPolicy {
    /// How long to spin next time for a procedure that was spun `spin_ns` for and whose reply
    /// came after `waited_ns`. A reply soon after the spin would have ended pulls the spin up to
    /// `spin_ns_max`; one that no spin would have reached halves it. After one such in 256, by
    /// chance, the longest is tried all the same: who sleeps waits for its own
    /// wake-up as well, and could not tell by a wait that has ended so how short it might be.
    pub fn adapt(&self, spin_ns: u32, waited_ns: u64) -> u32 {
        if waited_ns <= u64::from(self.spin_ns_max) {
            let wanted = (waited_ns as u32).saturating_mul(2);
            spin_ns.max(wanted).max(self.spin_ns_min).min(self.spin_ns_max)
        } else if waited_ns.wrapping_mul(SCATTER) >> TRIED_SHIFT == 0 {
            self.spin_ns_max
        } else {
            (spin_ns / 2).max(self.spin_ns_min).min(self.spin_ns_max)
        }
    }

    /// How long to wait before liveness is looked at again, after so many slices that nothing has
    /// ended.
    pub fn slice_ns(&self, slices: u32) -> u64 {
        let times = 1u64.checked_shl(slices).unwrap_or(u64::MAX);
        self.sleep_slice_ns_min.saturating_mul(times).min(self.sleep_slice_ns_max)
    }
}

impl<'p> Waiter<'p> {
    /// A wait that starts now and never gives up. `ban` is the thread's; `spin_ns` the
    /// procedure's, or `policy.spin_ns_max`.
    pub fn new(policy: &'p WaitPolicy, ban: &mut YieldBan, spin_ns: u32) -> Waiter<'p> {
        let may_yield = ban.waits_left == 0;
        ban.waits_left = ban.waits_left.saturating_sub(1);
        // Somebody else wants this processor for more than a moment.
        let longest_ns = if may_yield { policy.spin_ns_max } else { policy.spin_ns_min };
        Waiter {
            policy,
            start_ns: None,
            spin_ns: spin_ns.min(longest_ns).min(policy.spin_ns_max),
            deadline_ns: u64::MAX,
            yields_left: if may_yield { policy.yields_max } else { 0 },
            is_banned: !may_yield,
            has_spun: false,
            shared_ns: 0,
            slices: 0,
        }
    }

    /// The same wait, given up at `deadline_ns` on the clock that [`Waiter::next`] is told.
    pub fn until(self, deadline_ns: u64) -> Waiter<'p> {
        Waiter { deadline_ns, ..self }
    }

    /// Whether a wait that spins is to let others have the processor between two spins: while
    /// yields are not banned. [`Waiter::told_share`] is to be told how long it took.
    pub fn may_share(&self) -> bool {
        !self.is_banned
    }

    /// A yield between two spins took `duration_ns`. Slow is one that no spin of somebody else's
    /// explains. Once those have taken too long together, less what is fast, yields are banned, for
    /// as short as any: none of these is on the way of a call that does not come meanwhile. False:
    /// nobody has had the processor.
    pub fn told_share(&mut self, ban: &mut YieldBan, duration_ns: u64) -> bool {
        let is_shared = duration_ns >= SHARED_NS_MIN;
        if is_shared {
            self.shared_ns = self.shared_ns.saturating_add(duration_ns);
        }
        if duration_ns <= SHARE_SLOW_NS_MIN {
            ban.slow_ns = ban.slow_ns.saturating_sub(FAST_YIELD_SAVES_NS);
            return is_shared;
        }
        ban.slow_ns = ban.slow_ns.saturating_add(duration_ns);
        if ban.slow_ns > u64::from(self.policy.slow_yields_ns_max) {
            let waits = self.policy.yield_ban_waits_min.min(self.policy.yield_ban_waits_max);
            ban.waits_left = ban.waits_left.max(waits);
            ban.slow_ns = 0;
        }
        true
    }

    /// How long others have had the processor between spins.
    pub fn shared_ns(&self) -> u64 {
        self.shared_ns
    }

    /// What to do next, now that there is still no reply. `same_processor`: the server wrote last
    /// from the processor that this thread runs on. What time it is, is asked only if it matters:
    /// on one processor the clocks of both sides are a fiftieth of a call.
    #[inline]
    pub fn next(&mut self, now_ns: impl FnOnce() -> u64, same_processor: bool) -> Step {
        let may_yield = same_processor && !self.has_spun && self.yields_left > 0;
        if may_yield && self.deadline_ns == u64::MAX {
            self.yields_left -= 1;
            return Step::Yield;
        }
        let now_ns = now_ns();
        let start_ns = *self.start_ns.get_or_insert(now_ns);
        if now_ns >= self.deadline_ns {
            return Step::GiveUp;
        }
        if !same_processor && now_ns.saturating_sub(start_ns) < u64::from(self.spin_ns) {
            self.has_spun = true;
            return Step::Spin { polls: self.policy.polls_per_spin };
        }
        if may_yield {
            self.yields_left -= 1;
            return Step::Yield;
        }
        if same_processor && self.is_banned {
            self.slices = u32::MAX;
        }
        let slice_ns = self.policy.slice_ns(self.slices).min(self.deadline_ns - now_ns);
        self.slices = self.slices.saturating_add(1);
        Step::Sleep { slice_ns }
    }

    /// A yield took `duration_ns`.
    #[inline]
    pub fn told_yield(&mut self, ban: &mut YieldBan, duration_ns: u64) {
        if duration_ns > u64::from(self.policy.yield_ns_max) {
            ban.fast_yields = 0;
            ban.slow_ns = ban.slow_ns.saturating_add(duration_ns);
            if ban.slow_ns > u64::from(self.policy.slow_yields_ns_max) {
                self.yields_left = 0;
                ban.extend(self.policy);
            }
            return;
        }
        ban.slow_ns = ban.slow_ns.saturating_sub(FAST_YIELD_SAVES_NS);
        ban.fast_yields = ban.fast_yields.saturating_add(1);
        if ban.fast_yields >= FAST_YIELDS_MIN {
            // The third thread has gone.
            ban.waits_last = 0;
        }
    }
}

impl YieldBan {
    /// No ban.
    pub const NONE: YieldBan =
        YieldBan { waits_left: 0, waits_last: 0, fast_yields: 0, slow_ns: 0 };

    /// Waits for which yields are still banned.
    pub fn waits_left(&self) -> u32 {
        self.waits_left
    }

    fn extend(&mut self, policy: &WaitPolicy) {
        let doubled = self.waits_last.saturating_mul(2);
        self.waits_last = doubled.max(policy.yield_ban_waits_min).min(policy.yield_ban_waits_max);
        self.waits_left = self.waits_last;
        self.slow_ns = 0;
    }
}

#[cfg(test)]
mod tests {
    use core::iter;

    use super::*;

    const POLICY: WaitPolicy = WaitPolicy {
        linger_cycles_max: 0,
        spin_ns_max: 50_000,
        spin_ns_min: 2_000,
        polls_per_spin: 64,
        yields_max: 2,
        yield_ns_max: 30_000,
        slow_yields_ns_max: 90_000,
        yield_ban_waits_min: 4,
        yield_ban_waits_max: 8,
        sleep_slice_ns_min: 1_000_000,
        sleep_slice_ns_max: 3_000_000,
    };

    fn wait(ban: &mut YieldBan) -> Waiter<'static> {
        Waiter::new(&POLICY, ban, POLICY.spin_ns_max)
    }

    /// A wait that has begun to spin, at 1,000 ns.
    fn spinning(ban: &mut YieldBan) -> Waiter<'static> {
        let mut waiter = wait(ban);
        waiter.next(|| 1_000, false);
        waiter
    }

    fn slow_yield(ban: &mut YieldBan) {
        let mut waiter = wait(ban);
        assert_eq!(waiter.next(|| 1_000, true), Step::Yield);
        waiter.told_yield(ban, 90_001);
    }

    /// How many waits do not yield.
    fn waits_without_yield(ban: &mut YieldBan) -> u32 {
        let banned = |_: &u32| wait(ban).next(|| 1_000, true) != Step::Yield;
        (0..100).take_while(banned).count() as u32
    }

    #[test]
    fn another_processor_is_spun_for_and_then_slept_for() {
        let mut waiter = wait(&mut YieldBan::NONE.clone());
        assert_eq!(waiter.next(|| 1_000, false), Step::Spin { polls: 64 });
        assert_eq!(waiter.next(|| 50_999, false), Step::Spin { polls: 64 });
        let sleep = Step::Sleep { slice_ns: 1_000_000 };
        assert_eq!(waiter.next(|| 51_000, false), sleep);
    }

    #[test]
    fn a_most_below_its_least_holds() {
        let policy = WaitPolicy {
            spin_ns_max: 0,
            yield_ban_waits_max: 1,
            sleep_slice_ns_max: 7,
            ..WaitPolicy::default()
        };
        assert_eq!((policy.adapt(0, 0), policy.adapt(50_000, 1_000_000)), (0, 0));
        assert_eq!(policy.slice_ns(3), 7);
        let mut ban = YieldBan::NONE;
        ban.extend(&policy);
        assert_eq!(ban.waits_left(), 1);
    }

    #[test]
    fn the_same_processor_is_yielded_and_then_slept_for() {
        let mut waiter = wait(&mut YieldBan::NONE.clone());
        assert_eq!(waiter.next(|| 1_000, true), Step::Yield);
        assert_eq!(waiter.next(|| 1_001, true), Step::Yield);
        assert!(matches!(waiter.next(|| 1_002, true), Step::Sleep { .. }));
    }

    #[test]
    fn a_wait_that_has_spun_does_not_yield() {
        let mut waiter = wait(&mut YieldBan::NONE.clone());
        waiter.next(|| 1_000, false);
        assert!(matches!(waiter.next(|| 1_001, true), Step::Sleep { .. }));
    }

    #[test]
    fn a_slice_of_sleep_is_twice_the_last_up_to_the_longest() {
        let mut waiter = spinning(&mut YieldBan::NONE.clone());
        for slice_ns in [1_000_000, 2_000_000, 3_000_000, 3_000_000] {
            assert_eq!(waiter.next(|| 60_000, false), Step::Sleep { slice_ns });
        }
    }

    #[test]
    fn a_slice_after_however_many_is_the_longest() {
        for slices in [2, 63, 64, u32::MAX] {
            assert_eq!(POLICY.slice_ns(slices), 3_000_000);
        }
    }

    #[test]
    fn while_yields_are_banned_the_first_slice_is_the_longest() {
        let mut ban = YieldBan::NONE;
        slow_yield(&mut ban);
        let longest = Step::Sleep { slice_ns: 3_000_000 };
        assert_eq!(wait(&mut ban).next(|| 1_000, true), longest);
        let shortest = Step::Sleep { slice_ns: 1_000_000 };
        assert_eq!(spinning(&mut ban).next(|| 60_000, false), shortest);
    }

    #[test]
    fn a_sleep_ends_at_the_deadline() {
        let mut waiter = spinning(&mut YieldBan::NONE.clone()).until(60_500);
        assert_eq!(waiter.next(|| 60_000, false), Step::Sleep { slice_ns: 500 });
        assert_eq!(waiter.next(|| 60_500, false), Step::GiveUp);
    }

    #[test]
    fn a_wait_without_a_deadline_is_not_given_up() {
        let mut waiter = spinning(&mut YieldBan::NONE.clone());
        assert!(matches!(waiter.next(|| u64::MAX - 1, false), Step::Sleep { .. }));
    }

    #[test]
    fn a_slow_yield_ends_the_yields_of_its_wait() {
        let mut ban = YieldBan::NONE;
        let mut waiter = wait(&mut ban);
        waiter.next(|| 1_000, true);
        waiter.told_yield(&mut ban, 90_001);
        assert!(matches!(waiter.next(|| 1_001, true), Step::Sleep { .. }));
    }

    #[test]
    fn a_fast_yield_bans_nothing() {
        let mut ban = YieldBan::NONE;
        let mut waiter = wait(&mut ban);
        waiter.next(|| 1_000, true);
        waiter.told_yield(&mut ban, 30_000);
        assert_eq!(ban.waits_left(), 0);
        assert_eq!(waiter.next(|| 1_001, true), Step::Yield);
    }

    #[test]
    fn slow_yields_ban_once_they_have_taken_too_long_together() {
        let mut ban = YieldBan::NONE;
        for (duration_ns, waits) in [(40_000, 0), (50_000, 0), (30_001, 4)] {
            let mut waiter = wait(&mut ban);
            assert_eq!(waiter.next(|| 1_000, true), Step::Yield);
            waiter.told_yield(&mut ban, duration_ns);
            assert_eq!(ban.waits_left(), waits);
        }
    }

    #[test]
    fn a_yield_is_as_slow_as_each_of_those_makes_it_that_call_by_turns() {
        let is_slow = |duration_ns, callers| {
            yield_share_ns(duration_ns, callers) > POLICY.yield_ns_max.into()
        };
        let (turn_ns, slice_ns) = (1_500, 3_000_000);
        for callers in [1, 7, 8, 15, 64, 1_000] {
            let round_ns = u64::from(callers) * turn_ns;
            assert!(!is_slow(round_ns, callers), "{callers} callers");
            assert!(is_slow(round_ns + slice_ns, callers), "{callers} callers");
        }
        assert!(is_slow(30_001, 0) && is_slow(30_001, 1));
    }

    #[test]
    fn fast_yields_make_up_for_slow_ones() {
        let mut ban = YieldBan::NONE;
        for round in 0..100 {
            for duration_ns in iter::once(80_000).chain(iter::repeat_n(30_000, 40)) {
                let mut waiter = wait(&mut ban);
                assert_eq!(waiter.next(|| 1_000, true), Step::Yield);
                waiter.told_yield(&mut ban, duration_ns);
            }
            assert_eq!(ban.waits_left(), 0, "round {round}");
        }
    }

    #[test]
    fn each_slow_yield_bans_yields_for_twice_as_long_up_to_the_longest() {
        let mut ban = YieldBan::NONE;
        for waits in [4, 8, 8] {
            slow_yield(&mut ban);
            assert_eq!(ban.waits_left(), waits);
            assert_eq!(waits_without_yield(&mut ban), waits);
        }
    }

    #[test]
    fn what_others_have_between_two_spins_is_told_apart_from_what_nobody_has() {
        let mut ban = YieldBan::NONE;
        let mut waiter = wait(&mut ban);
        assert!(waiter.may_share());
        assert!(!waiter.told_share(&mut ban, SHARED_NS_MIN - 1));
        assert!(waiter.told_share(&mut ban, SHARED_NS_MIN));
        assert!(waiter.told_share(&mut ban, SHARE_SLOW_NS_MIN + 1));
        assert_eq!(waiter.shared_ns(), SHARED_NS_MIN + SHARE_SLOW_NS_MIN + 1);
    }

    #[test]
    fn shares_that_are_slow_together_ban_yields_and_long_spins_for_a_while() {
        let mut ban = YieldBan::NONE;
        let policy = WaitPolicy { slow_yields_ns_max: 500_000, ..POLICY };
        let mut share = |duration_ns| {
            let mut waiter = Waiter::new(&policy, &mut ban, 0);
            waiter.told_share(&mut ban, duration_ns);
            ban.waits_left()
        };
        assert_eq!(share(300_000), 0);
        // One that is fast makes up for a part.
        assert_eq!(share(SHARE_SLOW_NS_MIN), 0);
        assert_eq!(share(201_000), 0);
        assert_eq!(share(SHARE_SLOW_NS_MIN + 1), POLICY.yield_ban_waits_min);
        let mut banned = wait(&mut ban);
        assert!(!banned.may_share());
        assert!(matches!(banned.next(|| 0, false), Step::Spin { .. }));
        let after_ns = u64::from(POLICY.spin_ns_min);
        assert!(matches!(banned.next(|| after_ns, false), Step::Sleep { .. }));
        let never = WaitPolicy { yield_ban_waits_max: 0, ..POLICY };
        let mut ban = YieldBan::NONE;
        Waiter::new(&never, &mut ban, 0).told_share(&mut ban, u64::MAX);
        assert_eq!(ban.waits_left(), 0);
    }

    #[test]
    fn enough_fast_yields_in_a_row_forget_the_ban() {
        let mut ban = YieldBan::NONE;
        slow_yield(&mut ban);
        waits_without_yield(&mut ban);
        for _ in 0..FAST_YIELDS_MIN {
            let mut waiter = wait(&mut ban);
            assert_eq!(waiter.next(|| 1_000, true), Step::Yield);
            waiter.told_yield(&mut ban, 1);
        }
        slow_yield(&mut ban);
        assert_eq!(ban.waits_left(), POLICY.yield_ban_waits_min);
    }

    #[test]
    fn a_procedure_that_outlasts_the_spin_is_spun_for_less() {
        assert_eq!(POLICY.adapt(50_000, 1_000_000), 25_000);
        assert_eq!(POLICY.adapt(2_000, u64::MAX), 2_000);
    }

    #[test]
    fn one_wait_in_256_that_no_spin_would_have_reached_has_the_longest_tried() {
        for step_ns in [1, 10, 16, 40, 256] {
            let waits = (0..16 * 256).map(|at| 100_000 + at * step_ns);
            let is_tried = |waited_ns| POLICY.adapt(2_000, waited_ns) == POLICY.spin_ns_max;
            let tried = waits.filter(|&waited_ns| is_tried(waited_ns)).count();
            assert!((8..=24).contains(&tried), "{tried} of 16 with steps of {step_ns} ns");
        }
    }

    #[test]
    fn a_procedure_that_a_spin_would_reach_is_spun_for_again() {
        assert_eq!(POLICY.adapt(2_000, 20_000), 40_000);
        assert_eq!(POLICY.adapt(2_000, 40_000), 50_000);
        assert_eq!(POLICY.adapt(40_000, 1_000), 40_000);
    }
}
