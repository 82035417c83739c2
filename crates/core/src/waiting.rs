//! How a client waits for a reply: who gives a processor to whom (U5 to U20, DESIGN 5).
//!
//! The runtime polls a first burst by itself; a call that is answered then never comes here. After
//! that it asks [`Waiter::next`] and does what it says. Told all times, reads no clock.
//!
//! ```text
//!   other processor:   Spin … Spin for spin_ns ───────────────▶ Sleep, slice by slice
//!                      (who spins yields between two, unless yields are banned)
//!   same processor:    Yield … Yield, timed, yields_max ──────▶ Sleep, slice by slice
//!                      (one comes first that is not timed, while all are fast)
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

#[cfg(test)]
mod tests;

/// The knobs of waiting, in nanoseconds and cycles as their names say. Of a least and a most that
/// contradict each other the most holds. Programs in C have the same
/// record, `nearcall_wait_policy`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct WaitPolicy {
    /// Longest that a side leaves a line alone which it has just given away: up to that it
    /// searches for the time that suits (see `linger`). A server of several calls at once leaves
    /// all of them alone for up to three times as long, and 1,680 cycles at most. 0: polls at once.
    pub linger_cycles_max: u32,
    /// Longest spin for a server on another processor: about one wake-up of an idle processor.
    pub spin_ns_max: u32,
    /// Shortest spin that adapting may go down to, and the longest while yields are banned.
    pub spin_ns_min: u32,
    /// Polls between two looks at the clock, and between two yields of who spins.
    pub polls_per_spin: u32,
    /// Yields to a server on the same processor before sleeping; one more that is not timed may
    /// come first.
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
    /// Waits in a row that were to yield untimed.
    untimed_waits: u32,
    /// What slow yields have taken, less what fast ones have saved.
    slow_ns: u64,
}

/// Fast yields in a row after which the next ban is as short as the first again.
const FAST_YIELDS_MIN: u32 = 64;

/// Of waits after as many fast yields, one in so many is timed from its beginning.
const TIMED_EACH: u32 = 16;

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
            linger_cycles_max: 560,
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
        ban.pass();
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
            (ban.slow_ns, ban.fast_yields) = (0, 0);
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
        if same_processor && self.deadline_ns == u64::MAX {
            return if may_yield { self.yield_once() } else { self.sleep_slice(true, u64::MAX) };
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
            return self.yield_once();
        }
        self.sleep_slice(same_processor, self.deadline_ns - now_ns)
    }

    fn yield_once(&mut self) -> Step {
        self.yields_left -= 1;
        Step::Yield
    }

    fn sleep_slice(&mut self, same_processor: bool, left_ns: u64) -> Step {
        if same_processor && self.is_banned {
            self.slices = u32::MAX;
        }
        let slice_ns = self.policy.slice_ns(self.slices).min(left_ns);
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
        YieldBan { waits_left: 0, waits_last: 0, fast_yields: 0, untimed_waits: 0, slow_ns: 0 };

    /// One more wait, which [`Waiter::new`] counts where it has not ended at once.
    pub fn pass(&mut self) {
        self.waits_left = self.waits_left.saturating_sub(1);
    }

    /// Waits for which yields are still banned.
    pub fn waits_left(&self) -> u32 {
        self.waits_left
    }

    /// Whether the wait that begins now, on one processor with whom it waits for, may yield once
    /// before anything is timed: the clocks of both sides, five looks, take a twentieth of a call
    /// where one takes 23 ns. Only where yields are not banned and many in a row were fast, and
    /// not of every such wait: a third thread that comes is noticed by one of the next few.
    #[inline]
    pub fn may_yield_untimed(&mut self, policy: &WaitPolicy) -> bool {
        let is_steady = self.waits_left == 0 && self.fast_yields >= FAST_YIELDS_MIN;
        let may = is_steady && policy.yields_max > 0 && self.untimed_waits < TIMED_EACH - 1;
        self.untimed_waits = if may { self.untimed_waits + 1 } else { 0 };
        may
    }

    fn extend(&mut self, policy: &WaitPolicy) {
        let doubled = self.waits_last.saturating_mul(2);
        self.waits_last = doubled.max(policy.yield_ban_waits_min).min(policy.yield_ban_waits_max);
        self.waits_left = self.waits_last;
        self.slow_ns = 0;
    }
}
