//! Who is served next when a server processor finds calls of several bindings at once: the
//! more urgent first, and among equals deficit round robin (design note 0024).
//!
//! ```text
//!  a pass finds calls of   one binding ──▶ serves all, and forgives what is owed
//!                          several     ──▶ those of the first priority that has any, and in one
//!                                          pass of 16 the others, too; each binding has a quantum
//!                                          a round, and is served while it has some of it left;
//!                                          what it takes too much it owes to the rounds to come
//! ```
//!
//! Of the watching processor alone. A debt is forgiven, too, when another one takes the watch over.

use core::sync::atomic::{AtomicI64, AtomicU64, Ordering};

/// What a user has a round at least, nanoseconds: about four of the shortest calls, or one whose
/// caller has to be woken. The bindings of one user share it, unless there is nobody else.
pub const QUANTUM_NS: u32 = 1_000;

/// Most that a binding owes, nanoseconds: who has run for long waits for the others, not for ever.
const DEBT_NS_MAX: i64 = 1_000_000_000;

/// What a search is counted for at most: one that took longer was interrupted.
const SEARCH_NS_MAX: u64 = 1_000_000;

/// What a user has a round before which it took `found_ns` to find calls of so many `users`, over
/// so many `bindings`: all of them together as long as that, so that with hundreds of bindings as
/// much time goes into calls as into looking for them. The bindings of one user that is alone
/// keep nobody else waiting, and have a whole quantum each: by a share of one, who sleeps until its
/// reply, and so costs a wake-up, had one call for ten of who does not.
pub fn user_quantum_ns(found_ns: u64, users: usize, bindings: u32) -> u32 {
    let each_ns = found_ns.min(SEARCH_NS_MAX) / (users as u64).max(1);
    let shares = if users == 1 { bindings } else { 1 };
    (each_ns as u32).max(QUANTUM_NS.saturating_mul(shares))
}

/// Passes in a row in which calls wait for more urgent ones.
const PASSED_OVER_MAX: u32 = 15;

/// Which calls go first, of those that a server finds at once. A rule of the server's policy says
/// it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Priority {
    /// Before all others.
    Urgent,
    /// What nothing else is said of.
    #[default]
    Normal,
    /// When nothing else is to be done; one pass in 16 else.
    Background,
}

/// What a binding has left of its round, or owes.
#[derive(Debug, Default)]
pub struct Deficit {
    /// Era and round of its priority that it was last given something in.
    era: AtomicU64,
    round: AtomicU64,
    left_ns: AtomicI64,
}

/// The rounds of one priority, counted in eras: a debt ends with the era.
#[derive(Clone, Copy, Debug)]
pub struct Rounds {
    era: u64,
    now: u64,
}

/// Which priorities a pass serves.
#[derive(Clone, Copy, Debug, Default)]
pub struct Passes {
    passed_over: u32,
}

impl Priority {
    /// Those that there are, the first first.
    pub const ALL: [Priority; 3] = [Priority::Urgent, Priority::Normal, Priority::Background];
}

impl Rounds {
    /// None yet, of an era that no rounds of these bindings had before: the moment will do.
    pub fn new(era: u64) -> Rounds {
        Rounds { era, now: 0 }
    }

    /// Begins a round of which bindings have these `quanta`, none 0, and with it as many more as it
    /// takes for one of them to have something left.
    pub fn begin<'d>(&mut self, quanta: impl Iterator<Item = (&'d Deficit, u32)>) {
        self.now += 1;
        let begun = *self;
        let needed = quanta.map(|(deficit, quantum_ns)| deficit.needed(begun, quantum_ns)).min();
        self.now += needed.unwrap_or(0);
    }

    /// Calls of one binding alone were found: nobody has waited for what others owe. Asks for an
    /// era if there has been a round since the last.
    pub fn forgive(&mut self, era: impl FnOnce() -> u64) {
        if self.now > 0 {
            *self = Rounds::new(era());
        }
    }

    /// Whether the binding may be served in this round, of which it has `quantum_ns`.
    pub fn admit(&self, deficit: &Deficit, quantum_ns: u32) -> bool {
        let left_ns = deficit.left_ns_in(*self, quantum_ns);
        deficit.set(*self, left_ns);
        left_ns > 0
    }
}

impl Deficit {
    /// It was served, and that took so long.
    pub fn charge(&self, took_ns: u64) {
        let took_ns = i64::try_from(took_ns).unwrap_or(i64::MAX);
        let (rounds, left_ns) = self.get();
        self.set(rounds, left_ns.saturating_sub(took_ns).max(-DEBT_NS_MAX));
    }

    fn get(&self) -> (Rounds, i64) {
        // Relaxed: about whose turn it is; no word in shared memory depends on it.
        let era = self.era.load(Ordering::Relaxed);
        // Relaxed: as above.
        let now = self.round.load(Ordering::Relaxed);
        // Relaxed: as above.
        (Rounds { era, now }, self.left_ns.load(Ordering::Relaxed))
    }

    fn set(&self, rounds: Rounds, left_ns: i64) {
        // Relaxed: as above; one thread watches.
        self.era.store(rounds.era, Ordering::Relaxed);
        // Relaxed: as above.
        self.round.store(rounds.now, Ordering::Relaxed);
        // Relaxed: as above.
        self.left_ns.store(left_ns, Ordering::Relaxed);
    }

    /// What it has in this round: a quantum for each since the last, of which nothing is kept that
    /// was not used.
    fn left_ns_in(&self, rounds: Rounds, quantum_ns: u32) -> i64 {
        let (given_in, left_ns) = self.get();
        if given_in.era != rounds.era {
            return quantum_ns.into();
        }
        let passed = i64::try_from(rounds.now.saturating_sub(given_in.now)).unwrap_or(i64::MAX);
        let given_ns = passed.saturating_mul(quantum_ns.into());
        left_ns.saturating_add(given_ns).min(quantum_ns.into())
    }

    /// Rounds past this one until it has something left.
    fn needed(&self, rounds: Rounds, quantum_ns: u32) -> u64 {
        match self.left_ns_in(rounds, quantum_ns) {
            1.. => 0,
            owed_ns => owed_ns.unsigned_abs() / u64::from(quantum_ns) + 1,
        }
    }
}

impl Passes {
    /// Whether this pass goes on to the priorities behind the first that has calls.
    pub fn is_for_all(&mut self) -> bool {
        let is_for_all = self.passed_over == PASSED_OVER_MAX;
        self.passed_over = if is_for_all { 0 } else { self.passed_over + 1 };
        is_for_all
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec;
    use alloc::vec::Vec;

    use super::*;

    /// A binding with calls that take so long, so many a round at most; how long
    /// it was served.
    struct Caller {
        deficit: Deficit,
        call_ns: u64,
        ready: u32,
        served_ns: u64,
    }

    fn caller(call_ns: u64, ready: u32) -> Caller {
        Caller { deficit: Deficit::default(), call_ns, ready, served_ns: 0 }
    }

    /// Serves them for so many rounds, each with its quantum.
    fn serve(callers: &mut [Caller], quanta: &[u32], count: usize) {
        let mut rounds = Rounds::new(0);
        for _ in 0..count {
            rounds.begin(callers.iter().map(|caller| &caller.deficit).zip(quanta.iter().copied()));
            for (caller, quantum_ns) in callers.iter_mut().zip(quanta) {
                for _ in 0..caller.ready {
                    if !rounds.admit(&caller.deficit, *quantum_ns) {
                        break;
                    }
                    caller.deficit.charge(caller.call_ns);
                    caller.served_ns += caller.call_ns;
                }
            }
        }
    }

    fn shares(callers: &[Caller]) -> Vec<u64> {
        let all: u64 = callers.iter().map(|caller| caller.served_ns).sum();
        callers.iter().map(|caller| caller.served_ns * 100 / all).collect()
    }

    #[test]
    fn long_calls_and_short_ones_have_the_same_time() {
        let mut callers = [caller(1_000_000, 8), caller(200, 64), caller(5_000, 16)];
        serve(&mut callers, &[QUANTUM_NS; 3], 100_000);
        assert!(shares(&callers).iter().all(|share| (32..=34).contains(share)));
    }

    #[test]
    fn a_user_has_no_more_by_having_more_bindings() {
        let mut callers = [caller(300, 64), caller(300, 64), caller(300, 64), caller(300, 64)];
        let third = QUANTUM_NS / 3;
        serve(&mut callers, &[QUANTUM_NS, third, third, third], 100_000);
        let shares = shares(&callers);
        assert!((49..=51).contains(&shares[0]), "{shares:?}");
    }

    #[test]
    fn looking_for_calls_takes_no_longer_than_serving_them() {
        // One user's of two; a look takes as long as it does in a cold line.
        const BINDINGS: usize = 500;
        const FOUND_NS: u64 = BINDINGS as u64 * 2 * 50;
        let mut callers: Vec<_> = (0..BINDINGS as u64).map(|one| caller(600 + one, 2)).collect();
        let quantum_ns = user_quantum_ns(FOUND_NS, 2, 2 * BINDINGS as u32) / BINDINGS as u32;
        let rounds = 10_000;
        serve(&mut callers, &[quantum_ns; BINDINGS], rounds);
        let served_ns: u64 = callers.iter().map(|caller| caller.served_ns).sum();
        let found_ns = FOUND_NS / 2 * rounds as u64;
        assert!(served_ns * 10 >= found_ns * 9, "{served_ns} served, {found_ns} looking");
        let [least, most] = [
            callers.iter().map(|one| one.served_ns).min(),
            callers.iter().map(|one| one.served_ns).max(),
        ];
        assert!(least.zip(most).is_some_and(|(least, most)| most - least < most / 10));
        assert_eq!(user_quantum_ns(100, 3, 9), QUANTUM_NS);
    }

    #[test]
    fn who_has_to_be_woken_does_not_wait_for_many_calls_of_who_does_not() {
        // One that calls again at once, and seven that sleep.
        let mut callers: Vec<_> = (0..8).map(|one| caller(100 + one.min(1) * 1_400, 1)).collect();
        let quantum_ns = user_quantum_ns(100, 1, 8) / 8;
        serve(&mut callers, &[quantum_ns; 8], 1_000);
        let calls = callers.iter().map(|caller| caller.served_ns / caller.call_ns);
        assert!(calls.skip(1).all(|calls| calls >= 500));
        let of_two = user_quantum_ns(100, 2, 8) / 7;
        assert!(of_two < quantum_ns, "whoever has more bindings has no more beside another user");
    }

    #[test]
    fn one_that_has_few_calls_waits_for_none_of_a_flooder_s() {
        let mut callers = [caller(250, 64), caller(250, 1)];
        serve(&mut callers, &[QUANTUM_NS; 2], 1_000);
        // Its one call is served in every round.
        assert_eq!(callers[1].served_ns, 1_000 * 250);
    }

    #[test]
    fn a_round_has_somebody_to_serve_whatever_all_of_them_owe() {
        let mut rounds = Rounds::new(0);
        let deficits = [Deficit::default(), Deficit::default()];
        deficits[0].charge(5_000_000);
        deficits[1].charge(3_000_000);
        let all = || deficits.iter().map(|deficit| (deficit, QUANTUM_NS));
        rounds.begin(all());
        let admitted: Vec<_> =
            deficits.iter().map(|deficit| rounds.admit(deficit, QUANTUM_NS)).collect();
        assert_eq!(admitted, vec![false, true]);
        assert_eq!(rounds.now, 3_001);
    }

    #[test]
    fn what_was_not_used_is_not_kept() {
        let deficit = Deficit::default();
        let rounds = Rounds { era: 0, now: 1_000_000 };
        assert!(rounds.admit(&deficit, QUANTUM_NS));
        deficit.charge(QUANTUM_NS.into());
        assert!(!rounds.admit(&deficit, QUANTUM_NS));
    }

    #[test]
    fn a_debt_ends_with_the_contention() {
        let deficit = Deficit::default();
        let mut rounds = Rounds::new(0);
        rounds.begin([(&deficit, QUANTUM_NS)].into_iter());
        assert!(rounds.admit(&deficit, QUANTUM_NS));
        deficit.charge(5_000_000);
        assert!(!rounds.admit(&deficit, QUANTUM_NS));
        rounds.forgive(|| 1);
        assert!(rounds.admit(&deficit, QUANTUM_NS));
        // Once: nobody has come into debt since.
        rounds.forgive(|| unreachable!("there was no round"));
    }

    #[test]
    fn a_debt_of_an_era_before_does_not_come_back() {
        let deficit = Deficit::default();
        let mut rounds = Rounds::new(0);
        rounds.begin([(&deficit, QUANTUM_NS)].into_iter());
        assert!(rounds.admit(&deficit, QUANTUM_NS));
        deficit.charge(5_000_000);
        rounds.forgive(|| 1);
        (0..100).for_each(|_| rounds.begin(core::iter::empty()));
        assert!(rounds.admit(&deficit, QUANTUM_NS));
    }

    #[test]
    fn another_watch_forgives_debts() {
        let deficit = Deficit::default();
        assert!(Rounds { era: 7, now: 50 }.admit(&deficit, QUANTUM_NS));
        deficit.charge(5_000_000);
        let mut other = Rounds::new(8);
        other.begin([(&deficit, QUANTUM_NS)].into_iter());
        assert!(other.admit(&deficit, QUANTUM_NS));
        assert_eq!(other.now, 1);
    }

    #[test]
    fn a_debt_without_measure_is_paid() {
        let deficit = Deficit::default();
        deficit.charge(u64::MAX);
        deficit.charge(u64::MAX);
        let mut rounds = Rounds::new(0);
        rounds.begin([(&deficit, 1)].into_iter());
        assert!(rounds.admit(&deficit, 1));
        assert_eq!(rounds.now, DEBT_NS_MAX as u64 + 1);
    }

    #[test]
    fn every_priority_has_one_pass_in_sixteen() {
        let mut passes = Passes::default();
        let for_all: Vec<_> = (0..48).filter(|_| passes.is_for_all()).collect();
        assert_eq!(for_all, [15, 31, 47]);
    }
}
