//! All claims.

use crate::any::Any;
use crate::{heads, layouts, packets, shares, times, turns, untrue};

/// Something that is said of all values.
#[derive(Clone, Copy, Debug)]
pub struct Claim {
    /// Its path, as its symbol has it.
    pub name: &'static str,
    /// Whether it is true. One that is not is there for the proof to refute, which proves nothing
    /// else if it does not.
    pub is_true: bool,
    /// Panics if it is not true of these values. False: it says nothing of them.
    pub holds: fn(&mut Any) -> bool,
}

macro_rules! claims {
    ($is_true:literal: $($file:ident::$name:ident),* $(,)?) => {
        [$(Claim {
            name: concat!("proofs::", stringify!($file), "::", stringify!($name)),
            is_true: $is_true,
            holds: $file::$name,
        }),*]
    };
}

// Those that take the longest to be proven first.
const TRUE: [Claim; 29] = claims!(true:
    times::a_deadline_crosses_rounded_down,
    layouts::an_astack_of_any_size_lies_within_its_segments,
    layouts::an_astack_of_any_class_lies_within_its_segments,
    layouts::two_astacks_share_no_byte,
    layouts::an_astack_is_of_the_class_whose_range_has_it,
    layouts::a_lane_is_one_of_its_line,
    layouts::a_gate_lies_in_its_segment,
    shares::what_users_hold_is_within_the_limit,
    times::a_deadline_that_has_crossed_crosses_as_it_is,
    packets::a_packet_that_is_a_message_is_written_the_same,
    heads::a_message_that_is_within_is_in_place_and_fits,
    heads::a_length_that_is_judged_fits_where_it_is_said_to_be,
    heads::a_usual_reply_is_a_reply_that_returned,
    heads::exact_words_are_just_these,
    heads::a_status_is_its_word,
    heads::an_index_is_below_what_it_was_held_against,
    heads::what_was_not_permitted_is_not_allowed,
    heads::a_client_that_copies_still_is_between_what_was_seen_and_the_end,
    turns::a_poll_tells_replies_of_this_call_alone,
    turns::a_post_finds_the_call_before_idle_or_says_what_is_wrong,
    turns::a_look_finds_the_call_after_the_last_claimed_alone,
    turns::a_claim_is_had_once,
    turns::a_reply_leaves_the_word_idle_at_its_call,
    turns::a_client_moves_a_word_from_its_own_calls_alone,
    turns::a_call_is_ahead_by_as_many_as_come_between,
    times::who_has_used_its_round_up_waits_for_the_next,
    times::a_pause_is_no_longer_than_the_longest,
    times::records_come_at_their_pace,
    shares::a_process_keeps_at_most_half,
);

const UNTRUE: [Claim; 4] = claims!(false:
    untrue::no_number_is_that_one,
    untrue::there_is_a_number_after_each,
    untrue::a_product_is_as_long_as_its_factors,
    untrue::an_index_that_is_not_above_the_count_is_in_the_list,
);

/// All of them, the true ones first.
pub fn claims() -> impl Iterator<Item = Claim> {
    TRUE.into_iter().chain(UNTRUE)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values that each true claim is played with.
    const PLAYED: u32 = 20_000;

    /// Numbers as they come, but many near 0 and near the end, and many that are equal.
    fn values(chances: &mut fastrand::Rng) -> Any {
        let mut bytes = [0; Any::BYTES];
        for word in bytes.chunks_exact_mut(4) {
            let number = match chances.u8(..6) {
                0 => chances.u32(..),
                1 => chances.u32(..100),
                2 => 1 << chances.u32(..32),
                3 => u32::MAX - chances.u32(..100),
                _ => 0,
            };
            word.copy_from_slice(&number.to_le_bytes());
        }
        Any::of(&bytes)
    }

    #[test]
    fn what_is_claimed_holds_of_some_values() {
        let mut chances = fastrand::Rng::with_seed(12);
        for claim in TRUE {
            let held = (0..PLAYED).filter(|_| (claim.holds)(&mut values(&mut chances))).count();
            assert!(held > 0, "{} says nothing of {PLAYED} values", claim.name);
        }
    }
}
