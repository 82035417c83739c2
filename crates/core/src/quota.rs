//! What users of a server may hold of it together, how much of its time one of them may take, and
//! how much is written about it (RELIABILITY sections 4 and 5). Told the time, reads no clock;
//! decides, holds nothing.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::fmt;

/// A user: its number, or `None` for all those that the system does not tell.
pub type User = Option<u32>;

/// One thing that there is only so much of, and who holds how much.
///
/// With n users a user may hold 1/(n+1) of what is not the others'. So one user alone never has
/// more than half, there is always room for the next one, and nobody has to know how many will
/// come.
#[derive(Debug)]
pub struct Shares {
    limit: u64,
    held: BTreeMap<User, u64>,
    total: u64,
}

/// What a process keeps for itself of what the system lets it have; importers share the rest.
#[derive(Clone, Copy, Debug)]
pub struct Reserve {
    /// One part in so many.
    part: u64,
    least: u64,
    most: u64,
}

impl Reserve {
    /// Of descriptors: the program's own files, the clerk's, and what a packet has open while it
    /// is judged, which are up to 253.
    pub const DESCRIPTORS: Reserve = Reserve { part: 8, least: 64, most: 1024 };

    /// Of mappings: libraries, the allocator's, and two for each stack, of threads and E-stacks.
    pub const MAPPINGS: Reserve = Reserve { part: 4, least: 1024, most: 16_384 };

    /// What importers share of `limit`; at least half of it.
    pub fn rest(&self, limit: u64) -> u64 {
        limit - (limit / self.part).clamp(self.least, self.most).min(limit / 2)
    }
}

/// Somebody asked for more than it may hold. It may have it once it, or another one, lets go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OverLimit {
    /// What it would hold.
    pub claimed: u64,
    /// What it may hold now.
    pub limit: u64,
    /// Which limit that is.
    pub of: LimitOf,
}

/// Whose limit was met.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LimitOf {
    /// The user's share, which depends on what others hold.
    Share,
    /// What a rule of the policy allows the user.
    User,
    /// What a rule of the policy allows one binding.
    Binding,
}

impl Shares {
    /// Nobody holds any of `limit`.
    pub fn new(limit: u64) -> Shares {
        Shares { limit, held: BTreeMap::new(), total: 0 }
    }

    /// `user` takes `amount` more, and is to hold no more than `user_max` whatever its share.
    ///
    /// # Errors: [`OverLimit`]; it holds what it held.
    pub fn take(&mut self, user: User, amount: u64, user_max: u64) -> Result<(), OverLimit> {
        let own = self.held.get(&user).copied().unwrap_or(0);
        let user_count = self.held.len() as u64 + u64::from(own == 0);
        let share = self.limit.saturating_sub(self.total - own) / (user_count + 1);
        let claimed = own.saturating_add(amount);
        if claimed > user_max {
            return Err(OverLimit { claimed, limit: user_max, of: LimitOf::User });
        }
        if claimed > share {
            return Err(OverLimit { claimed, limit: share, of: LimitOf::Share });
        }
        if amount > 0 {
            self.held.insert(user, claimed);
            self.total += amount;
        }
        Ok(())
    }

    /// `user` holds `amount` more, whatever its share: it is there already.
    pub fn hold(&mut self, user: User, amount: u64) {
        *self.held.entry(user).or_default() += amount;
        self.total += amount;
    }

    /// All of it is held, and more: nobody new has a share. Only of what was held without asking.
    pub fn is_used_up(&self) -> bool {
        self.total >= self.limit
    }

    /// `user` lets `amount` go.
    ///
    /// # Panics: if it does not hold as much.
    pub fn give_back(&mut self, user: User, amount: u64) {
        let own = self.held.get(&user).copied().unwrap_or(0);
        let left = own.checked_sub(amount).expect("a user gives back what it took");
        self.total -= amount;
        if left == 0 {
            self.held.remove(&user);
        } else {
            self.held.insert(user, left);
        }
    }

    /// There is so much of it from here on. Who holds more than its share of that keeps it.
    pub fn set_limit(&mut self, limit: u64) {
        self.limit = limit;
    }

    /// What all hold together.
    pub fn total(&self) -> u64 {
        self.total
    }
}

/// Fewest processors of a server that are shared out: of fewer a share would be too small for
/// calls that come back to the server in the middle of others.
const SHARED_PROCESSORS_MIN: u32 = 16;

/// One part in so many of a server's processors is what a user leaves that has bound alone, and
/// what each has at least.
const SPARE_PROCESSORS_PART: u32 = 8;

/// Whose calls keep as many of `limit` processors as they may, of all who keep any: none of theirs
/// is begun until it is less. Who is alone leaves an eighth; where others have bound, of n users
/// who keep some each may keep 1/(n+1) of what is not the others', and an eighth at least: with
/// less, calls that come back would wait for themselves beside processors that are idle.
pub fn over_processors(kept: &BTreeMap<User, u32>, limit: u32, is_alone: bool) -> Vec<User> {
    if limit < SHARED_PROCESSORS_MIN {
        return Vec::new();
    }
    let total: u32 = kept.values().sum();
    let share = |own: u32| match is_alone && kept.len() == 1 {
        true => limit - limit / SPARE_PROCESSORS_PART,
        false => {
            let part = limit.saturating_sub(total - own) / (kept.len() as u32 + 1);
            part.max(limit / SPARE_PROCESSORS_PART)
        }
    };
    let is_over = |(_, own): &(&User, &u32)| **own >= share(**own);
    kept.iter().filter(is_over).map(|(user, _)| *user).collect()
}

/// How fast one user is answered: whoever has us spend time pauses for some times as long.
///
/// A debt of time that drains: what was spent is added to it, some times over, and a user that
/// owes more than it may waits until it does not.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    /// A user has at most one part in so many of the time.
    factor: u64,
    /// What a user may owe without a pause.
    debt_ns_max: u64,
    /// Longest pause.
    pause_ns_max: u64,
    /// When the debt is paid.
    paid_ns: u64,
}

impl Pace {
    /// Of requests to housekeeping: a quarter of its time, and some dozens of usual requests in a
    /// row. One that takes long has its user wait as long as it takes.
    pub const REQUESTS: Pace =
        Pace { factor: 4, debt_ns_max: 5_000_000, pause_ns_max: u64::MAX, paid_ns: 0 };

    /// Of bells that ring for nothing: a fortieth of a processor, and sixty of them in a row.
    /// A pause is longer than a few milliseconds only where one ring has a thousand bindings be
    /// looked at; what it keeps waiting then is heard over its socket.
    pub const RINGS: Pace =
        Pace { factor: 40, debt_ns_max: 40_000_000, pause_ns_max: 500_000_000, paid_ns: 0 };

    /// `spent_ns` were spent on the user, up to `now_ns`.
    pub fn spend(&mut self, spent_ns: u64, now_ns: u64) {
        let debt_ns = spent_ns.saturating_mul(self.factor);
        let limit_ns = now_ns.saturating_add(self.debt_ns_max).saturating_add(self.pause_ns_max);
        self.paid_ns = self.paid_ns.max(now_ns).saturating_add(debt_ns).min(limit_ns);
    }

    /// How long until the user owes nothing: whoever forgets it then forgets nothing.
    pub fn owed_ns(&self, now_ns: u64) -> u64 {
        self.paid_ns.saturating_sub(now_ns)
    }

    /// How long the user waits now.
    pub fn pause_ns(&self, now_ns: u64) -> u64 {
        self.paid_ns.saturating_sub(now_ns).saturating_sub(self.debt_ns_max)
    }
}

/// How many records about one user are written: a burst, and then so many a second. The others are
/// counted.
#[derive(Clone, Copy, Debug, Default)]
pub struct Meter {
    /// When everything written so far would have been at the even pace.
    paid_ns: u64,
    dropped: u64,
}

/// Records that may come at once.
const BURST: u64 = 64;

/// Between two records that come one after the other, on average.
const RECORD_NS: u64 = 100_000_000;

impl Meter {
    /// Whether a record is written now, and then how many were not since the last one.
    pub fn admit(&mut self, now_ns: u64) -> Option<u64> {
        let paid_ns = self.paid_ns.max(now_ns);
        if paid_ns - now_ns >= BURST * RECORD_NS {
            self.dropped += 1;
            return None;
        }
        self.paid_ns = paid_ns + RECORD_NS;
        Some(core::mem::take(&mut self.dropped))
    }

    /// A record is written whatever was written before; how many were not since the last one.
    pub fn write(&mut self, now_ns: u64) -> u64 {
        let paid_ns = self.paid_ns.max(now_ns) + RECORD_NS;
        self.paid_ns = paid_ns.min(now_ns + BURST * RECORD_NS);
        core::mem::take(&mut self.dropped)
    }
}

/// A meter for each user, of no more users than there may be.
#[derive(Debug, Default)]
pub struct Meters {
    by_user: BTreeMap<User, Meter>,
    /// Of all those who are not in `by_user`, and what was dropped of those who have left it.
    others: Meter,
    /// When it is worth while to look again for users that can be forgotten.
    look_ns: u64,
}

/// Most users that a meter each is kept for.
const METERS_MAX: usize = 1024;

impl Meters {
    /// Whether a record about `user` is written now, and then how many were not since the last one.
    ///
    /// A user about whom nothing was written for a while is forgotten once there are many; if as
    /// many are written about at once, further ones are one user.
    pub fn admit(&mut self, user: User, now_ns: u64) -> Option<u64> {
        self.meter(user, now_ns).admit(now_ns)
    }

    /// A record about `user` is written, as by [`Meter::write`].
    pub fn write(&mut self, user: User, now_ns: u64) -> u64 {
        self.meter(user, now_ns).write(now_ns)
    }

    fn meter(&mut self, user: User, now_ns: u64) -> &mut Meter {
        let is_known = self.by_user.contains_key(&user);
        if !is_known && self.by_user.len() >= METERS_MAX && self.look_ns <= now_ns {
            self.forget_silent(now_ns);
            self.look_ns = now_ns + RECORD_NS;
        }
        if is_known || self.by_user.len() < METERS_MAX {
            self.by_user.entry(user).or_default()
        } else {
            &mut self.others
        }
    }

    fn forget_silent(&mut self, now_ns: u64) {
        let others = &mut self.others;
        self.by_user.retain(|_, meter| {
            let is_silent = meter.paid_ns <= now_ns;
            if is_silent {
                others.dropped += meter.dropped;
            }
            !is_silent
        });
    }
}

impl fmt::Display for OverLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let OverLimit { claimed, limit, of } = self;
        match of {
            LimitOf::Share => write!(f, "{claimed} is over its user's share, which is {limit} now"),
            LimitOf::User => write!(f, "{claimed} is over its user's limit, which is {limit}"),
            LimitOf::Binding => {
                write!(f, "{claimed} is over the binding's limit, which is {limit}")
            }
        }
    }
}

impl core::error::Error for OverLimit {}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use super::*;

    const A: User = Some(1);
    const B: User = Some(2);

    /// No rule says anything.
    const ANY: u64 = u64::MAX;

    fn over_share(claimed: u64, limit: u64) -> Result<(), OverLimit> {
        Err(OverLimit { claimed, limit, of: LimitOf::Share })
    }

    #[test]
    fn one_user_has_half_at_most_and_the_next_finds_room() {
        let mut shares = Shares::new(120);
        assert_eq!(shares.take(A, 61, ANY), over_share(61, 60));
        assert_eq!(shares.take(A, 60, ANY), Ok(()));
        assert_eq!(shares.take(A, 1, ANY), over_share(61, 60));
        // B: (120 - 60) / 3.
        assert_eq!(shares.take(B, 21, ANY), over_share(21, 20));
        assert_eq!(shares.take(B, 20, ANY), Ok(()));
        // C: (120 - 80) / 4.
        assert_eq!(shares.take(Some(3), 10, ANY), Ok(()));
        assert_eq!(shares.total(), 90);
    }

    #[test]
    fn a_rule_bounds_its_user_below_its_share_and_never_above() {
        let mut shares = Shares::new(120);
        assert_eq!(shares.take(A, 7, 7), Ok(()));
        let over = OverLimit { claimed: 8, limit: 7, of: LimitOf::User };
        assert_eq!(shares.take(A, 1, 7), Err(over));
        assert_eq!(over.to_string(), "8 is over its user's limit, which is 7");
        assert_eq!(shares.take(A, 54, 100), over_share(61, 60));
        assert_eq!(shares.take(A, 53, 100), Ok(()));
    }

    #[test]
    fn users_that_are_not_told_share_one_share() {
        let mut shares = Shares::new(10);
        assert_eq!(shares.take(None, 5, ANY), Ok(()));
        assert_eq!(shares.take(None, 1, ANY), over_share(6, 5));
    }

    #[test]
    fn what_is_given_back_can_be_taken_again() {
        let mut shares = Shares::new(10);
        for _ in 0..100 {
            shares.take(A, 5, ANY).unwrap();
            shares.give_back(A, 5);
        }
        assert_eq!(shares.total(), 0);
        assert_eq!(shares.take(B, 5, ANY), Ok(()));
    }

    #[test]
    fn a_refusal_changes_nothing_and_no_amount_overflows() {
        let mut shares = Shares::new(u64::MAX);
        shares.take(A, 1, ANY).unwrap();
        assert!(shares.take(A, u64::MAX, ANY).is_err());
        assert_eq!(shares.total(), 1);
    }

    #[test]
    #[should_panic(expected = "a user gives back what it took")]
    fn nobody_gives_back_what_it_does_not_hold() {
        Shares::new(10).give_back(A, 1);
    }

    #[test]
    fn whoever_asks_now_and_then_never_waits() {
        let mut pace = Pace::REQUESTS;
        for round in 0..1_000u64 {
            let now_ns = round * 1_000_000;
            assert_eq!(pace.pause_ns(now_ns), 0);
            pace.spend(100_000, now_ns);
        }
    }

    #[test]
    fn whoever_asks_without_pause_has_a_quarter_of_the_time() {
        let mut pace = Pace::REQUESTS;
        let (mut now_ns, mut spent_ns) = (0u64, 0u64);
        while now_ns < 1_000_000_000 {
            now_ns += pace.pause_ns(now_ns) + 100_000;
            spent_ns += 100_000;
            pace.spend(100_000, now_ns);
        }
        let part = now_ns / spent_ns;
        assert!((3..=4).contains(&part), "one part in {part}");
    }

    #[test]
    fn records_come_in_a_burst_and_then_at_their_pace_and_what_is_dropped_is_counted() {
        let mut meter = Meter::default();
        let written = (0..1_000).filter(|_| meter.admit(7).is_some()).count() as u64;
        assert_eq!(written, BURST);
        assert_eq!(meter.admit(7 + RECORD_NS), Some(1_000 - BURST));
        assert_eq!(meter.admit(7 + RECORD_NS), None);
        assert_eq!(meter.admit(7 + 1_000 * RECORD_NS), Some(1));
    }

    #[test]
    fn a_record_that_is_always_written_says_what_was_dropped_and_owes_no_more_than_a_burst() {
        let mut meters = Meters::default();
        let written = (0..1_000).filter(|_| meters.admit(A, 7).is_some()).count() as u64;
        assert_eq!(meters.write(A, 7), 1_000 - written);
        let dropped = (0..1_000).map(|_| meters.write(A, 7)).sum::<u64>();
        assert_eq!((dropped, meters.admit(A, 7)), (0, None));
        assert_eq!(meters.admit(A, 7 + RECORD_NS), Some(1));
        // One that is written takes the place of one that is not.
        assert_eq!(meters.write(B, 7), 0);
        assert_eq!((0..BURST).filter(|_| meters.admit(B, 7).is_some()).count() as u64, BURST - 1);
    }

    #[test]
    fn users_of_whom_nothing_is_written_any_more_are_forgotten_and_what_was_dropped_is_told() {
        let mut meters = Meters::default();
        for user in 0..METERS_MAX as u32 {
            assert_eq!(meters.admit(Some(user), 7), Some(0));
        }
        let dropped = (0..BURST).filter(|_| meters.admit(A, 7).is_none()).count();
        assert_eq!(dropped, 1);
        let later_ns = 7 + 2 * BURST * RECORD_NS;
        assert_eq!(meters.admit(Some(u32::MAX), later_ns), Some(0));
        assert_eq!(meters.by_user.len(), 1);
        assert_eq!(meters.others.admit(later_ns), Some(1));
    }

    #[test]
    fn more_users_at_once_than_there_are_meters_are_one_user() {
        let mut meters = Meters::default();
        let users = 0..4 * METERS_MAX as u32;
        let written = users.filter(|user| meters.admit(Some(*user), 7).is_some()).count();
        assert_eq!((written, meters.by_user.len()), (METERS_MAX + BURST as usize, METERS_MAX));
        assert_eq!(meters.admit(A, 7), Some(0));
    }

    #[test]
    fn a_process_keeps_a_part_of_what_it_may_have_and_half_at_most() {
        let descriptors = [0, 64, 1024, 4096, 20_000, 1 << 30];
        let rest = descriptors.map(|limit| Reserve::DESCRIPTORS.rest(limit));
        assert_eq!(rest, [0, 32, 896, 3584, 18_976, (1 << 30) - 1024]);
        assert_eq!(Reserve::MAPPINGS.rest(65_530), 65_530 - 16_382);
    }

    #[test]
    fn what_is_held_without_asking_leaves_less_for_its_user_and_nothing_too_little_for_others() {
        let mut shares = Shares::new(120);
        shares.hold(A, 59);
        assert_eq!(shares.take(A, 2, ANY), over_share(61, 60));
        shares.take(B, 20, ANY).unwrap();
        shares.hold(A, 50);
        assert!(shares.is_used_up());
        assert_eq!(shares.take(B, 1, ANY), over_share(21, 3));
        shares.give_back(A, 109);
        assert!(!shares.is_used_up());
        shares.take(B, 20, ANY).unwrap();
    }

    fn check_over(kept: &[(User, u32)], limit: u32, is_alone: bool, want: &[User]) {
        let kept = kept.iter().copied().collect();
        assert_eq!(over_processors(&kept, limit, is_alone), want);
    }

    #[test]
    fn who_has_bound_alone_keeps_all_processors_but_a_reserve() {
        check_over(&[(A, 55)], 64, true, &[]);
        check_over(&[(A, 56)], 64, true, &[A]);
    }

    #[test]
    fn beside_others_a_user_keeps_its_share_of_processors_and_an_eighth_at_least() {
        check_over(&[(A, 31)], 64, false, &[]);
        check_over(&[(A, 32)], 64, false, &[A]);
        check_over(&[(A, 56), (B, 1)], 64, false, &[A]);
        check_over(&[(A, 56), (B, 7)], 64, false, &[A]);
        check_over(&[(A, 56), (B, 8)], 64, false, &[A, B]);
        check_over(&[(A, 60), (B, 2), (None, 1)], 64, true, &[A]);
    }

    #[test]
    fn few_processors_are_not_shared_out() {
        check_over(&[(A, 15)], 15, true, &[]);
        check_over(&[(A, 1), (B, 14)], 15, false, &[]);
    }

    #[test]
    fn a_limit_that_is_lowered_takes_nothing_away() {
        let mut shares = Shares::new(120);
        shares.take(A, 60, ANY).unwrap();
        shares.set_limit(20);
        assert_eq!(shares.take(A, 1, ANY), over_share(61, 10));
        assert_eq!(shares.take(B, 1, ANY), over_share(1, 0));
        shares.give_back(A, 60);
        assert_eq!(shares.take(B, 10, ANY), Ok(()));
    }

    #[test]
    fn a_debt_that_is_paid_is_as_none() {
        let mut pace = Pace::REQUESTS;
        assert_eq!(pace.owed_ns(0), 0);
        pace.spend(1_000, 7);
        assert_eq!([7, 8, 4_007, 5_000].map(|now_ns| pace.owed_ns(now_ns)), [4_000, 3_999, 0, 0]);
    }

    #[test]
    fn a_pause_for_rings_is_no_longer_than_the_longest() {
        let mut pace = Pace::RINGS;
        for _ in 0..1_000 {
            pace.spend(1_000_000, 7);
        }
        assert_eq!(pace.pause_ns(7), pace.pause_ns_max);
        assert_eq!(pace.pause_ns(7 + pace.pause_ns_max), 0);
    }

    #[test]
    fn one_request_that_takes_long_has_its_user_wait() {
        let mut pace = Pace::REQUESTS;
        pace.spend(100_000_000, 100_000_000);
        assert_eq!(pace.pause_ns(100_000_000), 400_000_000 - pace.debt_ns_max);
        assert_eq!(pace.pause_ns(500_000_000), 0);
    }
}
