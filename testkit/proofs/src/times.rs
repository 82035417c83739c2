//! Times that cross, and times that are owed.

use core::hint::black_box;

use nearcall_abi::deadline;
use nearcall_abi::head::flag;
use nearcall_core::fairness::{Deficit, Rounds, user_quantum_ns};
use nearcall_core::quota::{Meter, Pace};

use crate::any::Any;

/// 146 years: no clock says more.
const NOW_NS_MAX: u64 = u64::MAX / 4;

/// Never longer than it was, so that no server runs a call whose client has gone (F12), and shorter
/// by less than a two hundredth or a microsecond. Of times of up to four seconds: of longer ones
/// the division takes the proof too long.
#[inline(never)]
pub fn a_deadline_crosses_rounded_down(any: &mut Any) -> bool {
    let left_ns = u64::from(any.u32());
    let word = deadline::to_word(left_ns);
    assert_eq!(word & !flag::DEADLINE, 0);
    let crossed_ns = deadline::from_word(word).expect("a deadline stays one");
    assert!(crossed_ns <= left_ns.max(1_000));
    let lost_ns = left_ns.saturating_sub(crossed_ns);
    assert!(lost_ns < 1_000 || lost_ns * 200 <= left_ns);
    true
}

/// Whatever word a peer has written. Its exponents one by one: then the solver knows by what each
/// time is shifted.
#[inline(never)]
pub fn a_deadline_that_has_crossed_crosses_as_it_is(any: &mut Any) -> bool {
    let origin = any.u32();
    let code = (origin & flag::DEADLINE) >> flag::DEADLINE.trailing_zeros();
    let exponent = (0..32).find(|exponent| black_box(*exponent) == code >> 8).expect("13 bits");
    let word = (exponent << 8 | code & 0xff) << flag::DEADLINE.trailing_zeros();
    match deadline::from_word(word) {
        Some(left_ns) => assert_eq!(deadline::to_word(left_ns), word),
        None => assert_eq!(code, 0),
    }
    code != 0
}

/// Whatever it took, and whatever it had left.
#[inline(never)]
pub fn who_has_used_its_round_up_waits_for_the_next(any: &mut Any) -> bool {
    let (found_ns, bindings) = (any.u64(), any.u32());
    // Nobody asks for a user without any.
    if bindings == 0 {
        return false;
    }
    let quantum_ns = user_quantum_ns(found_ns, 1, bindings);
    let (deficit, mut rounds) = (Deficit::default(), Rounds::new(any.u64()));
    rounds.begin([(&deficit, quantum_ns)].into_iter());
    assert!(rounds.admit(&deficit, quantum_ns));
    let took_ns = any.u64();
    deficit.charge(took_ns);
    let may_go_on = rounds.admit(&deficit, quantum_ns);
    assert_eq!(may_go_on, took_ns < quantum_ns.into());
    may_go_on
}

#[inline(never)]
pub fn a_pause_is_no_longer_than_the_longest(any: &mut Any) -> bool {
    let (mut pace, now_ns, later_ns) = (Pace::RINGS, any.u64(), any.u64());
    if now_ns > NOW_NS_MAX || later_ns > NOW_NS_MAX {
        return false;
    }
    pace.spend(any.u64(), now_ns);
    pace.spend(any.u64(), later_ns);
    let longest_ns = 500_000_000;
    let pause_ns = pace.pause_ns(now_ns.max(later_ns));
    assert!(pause_ns <= longest_ns);
    assert!(pause_ns <= pace.owed_ns(now_ns.max(later_ns)));
    pause_ns > 0
}

#[inline(never)]
pub fn records_come_at_their_pace(any: &mut Any) -> bool {
    let (mut meter, now_ns, later_ns) = (Meter::default(), any.u64(), any.u64());
    if now_ns > NOW_NS_MAX || later_ns > NOW_NS_MAX {
        return false;
    }
    // The first is always written. So is the next, unless the clock went back by a burst less one.
    assert_eq!(meter.admit(now_ns), Some(0));
    assert_eq!(
        meter.admit(later_ns),
        if later_ns + 6_300_000_000 > now_ns { Some(0) } else { None }
    );
    true
}
