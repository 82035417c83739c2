//! The shared words under every interleaving that loom finds, and under every order of memory that
//! their rows allow.
//!
//! The sources are the library's own, compiled against the `sync` of this file. Each model is a
//! test. One more test weakens each row in turn and demands that some model then fails: an order
//! that no model misses is not to be asked for.

#![allow(dead_code)]

extern crate alloc;

#[path = "../../src/astack_list.rs"]
mod astack_list;
#[path = "../../src/bell.rs"]
mod bell;
#[path = "../../src/bias.rs"]
mod bias;
#[path = "../../src/claim.rs"]
mod claim;
#[path = "../../src/fault.rs"]
mod fault;
#[path = "../../src/lookout.rs"]
mod lookout;
#[path = "../../src/progress.rs"]
mod progress;
#[path = "../../src/room.rs"]
mod room;
#[path = "../../src/tally.rs"]
mod tally;
#[path = "../../src/termination.rs"]
mod termination;
#[path = "../../src/turn.rs"]
mod turn;

mod bells;
mod biases;
mod calls;
mod copies;
mod endings;
mod lists;
mod lookouts;
mod rooms;
mod rows;
mod sync;
mod world;

/// Every model, by name.
const MODELS: &[(&str, fn())] = &[
    ("two_calls_in_a_row", calls::two_calls_in_a_row),
    ("doze_against_reply", calls::doze_against_reply),
    ("rouse_against_reply", calls::rouse_against_reply),
    ("two_processors_one_call", calls::two_processors_one_call),
    ("two_processors_two_calls", calls::two_processors_two_calls),
    ("copy_behind_copy", copies::copy_behind_copy),
    ("abort_against_reply", endings::abort_against_reply),
    ("bury_against_reply", endings::bury_against_reply),
    ("death_at_any_step", endings::death_at_any_step),
    ("revoke_against_take", endings::revoke_against_take),
    ("ring_against_fall_asleep", bells::ring_against_fall_asleep),
    ("post_against_demote", bells::post_against_demote),
    ("tally_against_demote", bells::tally_against_demote),
    ("two_lanes_one_gate", bells::two_lanes_one_gate),
    ("two_sleepers_one_gate", bells::two_sleepers_one_gate),
    ("forged_open_gate", bells::forged_open_gate),
    ("forged_asleep_gate", bells::forged_asleep_gate),
    ("forged_odd_gate", bells::forged_odd_gate),
    ("one_astack_two_threads", lists::one_astack_two_threads),
    ("two_astacks_two_threads", lists::two_astacks_two_threads),
    ("wait_against_push", lists::wait_against_push),
    ("give_up_against_push", lists::give_up_against_push),
    ("claim_against_revoke", biases::claim_against_revoke),
    ("two_kept_against_revoke", biases::two_kept_against_revoke),
    ("establish_against_revoke", biases::establish_against_revoke),
    ("first_establish_against_revoke", biases::first_establish_against_revoke),
    ("capture_against_revoke", biases::capture_against_revoke),
    ("resident_against_watcher", bells::resident_against_watcher),
    ("post_against_end_of_looks", lookouts::post_against_end_of_looks),
    ("two_posts_against_end_of_looks", lookouts::two_posts_against_end_of_looks),
    ("refuse_against_give_back", rooms::refuse_against_give_back),
];

macro_rules! holds {
    ($($model:ident),* $(,)?) => {
        $(
            #[test]
            fn $model() {
                let found = MODELS.iter().find(|model| model.0 == stringify!($model));
                found.expect("a model of this name").1();
            }
        )*

        #[test]
        fn every_model_is_a_test() {
            let names: Vec<_> = MODELS.iter().map(|model| model.0).collect();
            assert_eq!(names, [$(stringify!($model)),*]);
        }
    };
}

holds! {
    two_calls_in_a_row,
    doze_against_reply,
    rouse_against_reply,
    two_processors_one_call,
    two_processors_two_calls,
    copy_behind_copy,
    abort_against_reply,
    bury_against_reply,
    death_at_any_step,
    revoke_against_take,
    ring_against_fall_asleep,
    post_against_demote,
    tally_against_demote,
    two_lanes_one_gate,
    two_sleepers_one_gate,
    forged_open_gate,
    forged_asleep_gate,
    forged_odd_gate,
    one_astack_two_threads,
    two_astacks_two_threads,
    wait_against_push,
    give_up_against_push,
    claim_against_revoke,
    two_kept_against_revoke,
    establish_against_revoke,
    first_establish_against_revoke,
    capture_against_revoke,
    resident_against_watcher,
    post_against_end_of_looks,
    two_posts_against_end_of_looks,
    refuse_against_give_back,
}
