//! Every order that a table asks for is needed: with it weakened, some model fails.

use std::collections::BTreeSet;
use std::process::Command;

use crate::sync::VARIABLE;
use crate::{MODELS, Model};

const SOURCES: [&str; 5] = [
    include_str!("../../src/inbox.rs"),
    include_str!("../../src/join.rs"),
    include_str!("../../src/latch.rs"),
    include_str!("../../src/team.rs"),
    include_str!("../../src/unbegun.rs"),
];

/// The rows that the sources use with an order that is more than Relaxed.
fn rows() -> BTreeSet<&'static str> {
    let uses = SOURCES.iter().flat_map(|source| source.split("ord!(\"").skip(1));
    let uses = uses.filter_map(|rest| rest.split_once("\", "));
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

/// Whether a model misses it: one that names its table, or any if none does.
fn is_missed(row: &str) -> bool {
    let names = |model: &&Model| row.starts_with(|letter| model.tables.contains(letter));
    let of_table: Vec<_> = MODELS.iter().filter(names).collect();
    let models = if of_table.is_empty() { MODELS.iter().collect() } else { of_table };
    models.iter().any(|model| fails(model.name, row))
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
