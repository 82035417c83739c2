//! Every order that a table asks for is needed: with it weakened, some model fails.

use std::process::Command;

use crate::MODELS;
use crate::sync::VARIABLE;

const SOURCE: &str = include_str!("../../src/inbox.rs");

/// The rows that the source uses with an order that is more than Relaxed.
fn rows() -> Vec<&'static str> {
    let uses = SOURCE.split("ord!(\"").skip(1).filter_map(|rest| rest.split_once("\", "));
    let strong = uses.filter(|(_, rest)| !rest.starts_with("Relaxed"));
    strong.map(|(row, _)| row).collect()
}

/// Whether a model fails with this row weakened; in a process of its own, because a model that
/// fails may leave loom unable to unwind.
fn fails(model: &str, row: &str) -> bool {
    let mut command = Command::new(std::env::current_exe().expect("the path of this test"));
    command.args(["--exact", model, "--nocapture"]);
    command.env(VARIABLE, row).env("RUST_BACKTRACE", "0");
    let output = command.output().expect("a run of this test");
    let said = |what: &str, stream: &[u8]| String::from_utf8_lossy(stream).contains(what);
    let passed = output.status.success() && said("1 passed", &output.stdout);
    let failed = !output.status.success() && said("panicked", &output.stderr);
    assert!(passed != failed, "{model} neither passed nor failed: {output:?}");
    failed
}

fn is_missed(row: &str) -> bool {
    MODELS.iter().any(|(model, _)| fails(model, row))
}

#[test]
fn every_order_is_missed_by_some_model() {
    let rows = rows();
    let unneeded: Vec<_> = rows.iter().filter(|row| !is_missed(row)).collect();
    println!("{} orders weakened, {} missed by a model", rows.len(), rows.len() - unneeded.len());
    assert!(!rows.is_empty(), "nothing was weakened");
    assert_eq!(unneeded, Vec::<&&str>::new(), "orders that no model misses");
}

/// The canary: the machinery that weakens, weakens nothing here, and nothing is missed.
#[test]
fn a_row_that_there_is_not_is_missed_by_no_model() {
    assert!(!is_missed("X1"));
}
