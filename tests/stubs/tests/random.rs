//! Random values of random interfaces arrive as they were sent, results and exceptions too.
//!
//! `NEARCALL_RANDOM_SEED` and `NEARCALL_RANDOM_COUNT` choose another batch.

#![forbid(unsafe_code)]

mod support;

use support::{KINDS, Kind, bind};

/// Runs one program.
type Run = fn(Kind);

include!(concat!(env!("OUT_DIR"), "/random_programs.rs"));

#[test]
fn every_random_value_arrives_as_it_was_sent() {
    for (name, run) in PROGRAMS {
        for kind in KINDS {
            println!("{name} {kind:?}");
            run(kind);
        }
    }
    println!("{} interfaces", PROGRAMS.len());
    assert!(!PROGRAMS.is_empty());
}
