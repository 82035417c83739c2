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

/// A model, by the name of its test, and the tables, by their letters, whose orders it asks for: it
/// can miss no other.
struct Model {
    name: &'static str,
    tables: &'static str,
    run: fn(),
}

const fn model(name: &'static str, tables: &'static str, run: fn()) -> Model {
    Model { name, tables, run }
}

/// Every model.
const MODELS: &[Model] = &[
    model("two_calls_in_a_row", "CO", calls::two_calls_in_a_row),
    model("doze_against_reply", "CO", calls::doze_against_reply),
    model("rouse_against_reply", "CO", calls::rouse_against_reply),
    model("two_processors_one_call", "CO", calls::two_processors_one_call),
    model("two_processors_two_calls", "CO", calls::two_processors_two_calls),
    model("copy_behind_copy", "P", copies::copy_behind_copy),
    model("abort_against_reply", "CO", endings::abort_against_reply),
    model("bury_against_reply", "CO", endings::bury_against_reply),
    model("death_at_any_step", "CO", endings::death_at_any_step),
    model("revoke_against_take", "CO", endings::revoke_against_take),
    model("ring_against_fall_asleep", "BCOY", bells::ring_against_fall_asleep),
    model("post_against_demote", "BCOY", bells::post_against_demote),
    model("tally_against_demote", "BCOY", bells::tally_against_demote),
    model("two_lanes_one_gate", "BCOY", bells::two_lanes_one_gate),
    model("two_sleepers_one_gate", "BCOY", bells::two_sleepers_one_gate),
    model("forged_open_gate", "BCOY", bells::forged_open_gate),
    model("forged_asleep_gate", "BCOY", bells::forged_asleep_gate),
    model("forged_odd_gate", "BCOY", bells::forged_odd_gate),
    model("one_astack_two_threads", "A", lists::one_astack_two_threads),
    model("two_astacks_two_threads", "A", lists::two_astacks_two_threads),
    model("wait_against_push", "A", lists::wait_against_push),
    model("give_up_against_push", "A", lists::give_up_against_push),
    model("claim_against_revoke", "D", biases::claim_against_revoke),
    model("two_kept_against_revoke", "D", biases::two_kept_against_revoke),
    model("establish_against_revoke", "D", biases::establish_against_revoke),
    model("first_establish_against_revoke", "D", biases::first_establish_against_revoke),
    model("capture_against_revoke", "D", biases::capture_against_revoke),
    model("resident_against_watcher", "BCOY", bells::resident_against_watcher),
    model("post_against_end_of_looks", "K", lookouts::post_against_end_of_looks),
    model("two_posts_against_end_of_looks", "K", lookouts::two_posts_against_end_of_looks),
    model("refuse_against_give_back", "Q", rooms::refuse_against_give_back),
];

macro_rules! holds {
    ($($model:ident),* $(,)?) => {
        $(
            #[test]
            fn $model() {
                let found = MODELS.iter().find(|model| model.name == stringify!($model));
                (found.expect("a model of this name").run)();
            }
        )*

        #[test]
        fn every_model_is_a_test() {
            let names: Vec<_> = MODELS.iter().map(|model| model.name).collect();
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
