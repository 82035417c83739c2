//! What a wait does at each moment, and what it learns of its yields.

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
fn on_the_same_processor_the_time_matters_to_a_deadline_alone() {
    let unasked = || -> u64 { panic!("asked what time it is") };
    let mut ban = YieldBan::NONE;
    let mut waiter = wait(&mut ban);
    assert_eq!(waiter.next(unasked, true), Step::Yield);
    waiter.told_yield(&mut ban, 90_001);
    assert_eq!(waiter.next(unasked, true), Step::Sleep { slice_ns: 1_000_000 });
    assert_eq!(wait(&mut ban).next(unasked, true), Step::Sleep { slice_ns: 3_000_000 });
    let mut waiter = wait(&mut ban).until(1_500);
    assert_eq!(waiter.next(|| 1_000, true), Step::Sleep { slice_ns: 500 });
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
fn a_wait_that_ends_at_once_is_one_of_those_that_a_ban_counts() {
    let mut ban = YieldBan::NONE;
    slow_yield(&mut ban);
    (0..3).for_each(|_| ban.pass());
    assert_eq!(waits_without_yield(&mut ban), POLICY.yield_ban_waits_min - 3);
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
    let is_slow =
        |duration_ns, callers| yield_share_ns(duration_ns, callers) > POLICY.yield_ns_max.into();
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
    tell_fast_yields(&mut ban, FAST_YIELDS_MIN);
    slow_yield(&mut ban);
    assert_eq!(ban.waits_left(), POLICY.yield_ban_waits_min);
}

fn tell_fast_yields(ban: &mut YieldBan, count: u32) {
    for _ in 0..count {
        wait(ban).told_yield(ban, 1);
    }
}

#[test]
fn of_waits_after_many_fast_yields_one_in_so_many_is_timed() {
    let mut ban = YieldBan::NONE;
    tell_fast_yields(&mut ban, FAST_YIELDS_MIN - 1);
    assert!(!ban.may_yield_untimed(&POLICY));
    tell_fast_yields(&mut ban, 1);
    let timed = (0..8 * TIMED_EACH).filter(|_| !ban.may_yield_untimed(&POLICY)).count();
    assert_eq!(timed, 8);
    assert!(!ban.may_yield_untimed(&WaitPolicy { yields_max: 0, ..POLICY }));
    assert!(ban.may_yield_untimed(&POLICY));
}

#[test]
fn after_a_slow_yield_all_are_timed_until_many_were_fast() {
    let mut ban = YieldBan::NONE;
    tell_fast_yields(&mut ban, FAST_YIELDS_MIN);
    assert!(ban.may_yield_untimed(&POLICY));
    wait(&mut ban).told_yield(&mut ban, 30_001);
    assert_eq!(ban.waits_left(), 0);
    tell_fast_yields(&mut ban, FAST_YIELDS_MIN - 1);
    assert!(!ban.may_yield_untimed(&POLICY));
    tell_fast_yields(&mut ban, 1);
    assert!(ban.may_yield_untimed(&POLICY));
    slow_yield(&mut ban);
    assert!(ban.waits_left() > 0 && !ban.may_yield_untimed(&POLICY));
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
