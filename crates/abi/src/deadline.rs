//! How long a client still waits, in the 13 bits of a head's origin word that nothing else needs.
//! So it crosses in the line that a call moves anyway.
//!
//! Relative, counted from the post: clocks of two time namespaces differ. A code `e * 256 + m` is
//! `m` microseconds for `e = 0`, and `(256 + m) << (e - 1)` for others: 8 bits of precision, up to
//! six days. Rounded down, so that nobody waits for what is decided already.

use crate::head::flag;

/// Where the code begins in the word.
const SHIFT: u32 = flag::DEADLINE.trailing_zeros();

/// The largest code.
const CODE_MAX: u64 = (flag::DEADLINE >> SHIFT) as u64;

/// Bits of an origin word that say `left_ns`; 0, no deadline, is never among them.
pub const fn to_word(left_ns: u64) -> u32 {
    let microseconds = left_ns / 1_000;
    let code = match microseconds {
        0 => 1,
        1..=255 => microseconds,
        _ => {
            let shift = (microseconds.ilog2() - 8) as u64;
            ((shift + 1) << 8) | (microseconds >> shift & 0xff)
        }
    };
    let code = if code > CODE_MAX { CODE_MAX } else { code };
    (code as u32) << SHIFT
}

/// What an origin word says: nanoseconds; `None`: no deadline. Any word of a peer's is some time.
pub const fn from_word(origin: u32) -> Option<u64> {
    let code = ((origin & flag::DEADLINE) >> SHIFT) as u64;
    let (exponent, mantissa) = (code >> 8, code & 0xff);
    match (exponent, mantissa) {
        (0, 0) => None,
        (0, microseconds) => Some(microseconds * 1_000),
        _ => Some(((256 + mantissa) << (exponent - 1)) * 1_000),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_crosses_rounded_down_by_less_than_a_two_hundredth() {
        for shift in 10..48 {
            for left_ns in [1u64 << shift, (1 << shift) + 1, (1 << shift) * 5 / 3, (2 << shift) - 1]
            {
                let crossed_ns = from_word(to_word(left_ns)).unwrap();
                assert!(crossed_ns <= left_ns, "{left_ns} crossed as {crossed_ns}");
                let lost_ns = left_ns - crossed_ns;
                assert!(lost_ns < 1_000.max(left_ns / 200), "{left_ns} crossed as {crossed_ns}");
            }
        }
    }

    #[test]
    fn what_is_too_short_or_too_long_is_cut_and_stays_a_deadline() {
        assert_eq!(from_word(to_word(0)), Some(1_000));
        let longest_ns = (511 << 30) * 1_000;
        assert_eq!(from_word(to_word(u64::MAX)), Some(longest_ns));
        assert_eq!(from_word(to_word(longest_ns)), Some(longest_ns));
    }

    #[test]
    fn a_word_without_the_bits_has_no_deadline_and_no_other_bits_are_touched() {
        assert_eq!(from_word(!flag::DEADLINE), None);
        assert_eq!(to_word(u64::MAX) & !flag::DEADLINE, 0);
    }
}
