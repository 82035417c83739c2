//! Every order that a table asks for is needed: with it weakened, some model fails.

use core::sync::atomic::Ordering;
use std::collections::BTreeSet;
use std::process::Command;

use crate::MODELS;
use crate::sync::{VARIABLE, Weakening};

const SOURCES: &[&str] = &[
    include_str!("../../src/astack_list.rs"),
    include_str!("../../src/bell.rs"),
    include_str!("../../src/bias.rs"),
    include_str!("../../src/claim.rs"),
    include_str!("../../src/progress.rs"),
    include_str!("../../src/turn.rs"),
];

const DESIGN_NOTE: &str = include_str!("../../../../docs/design/0001-turns-bells-and-segments.md");

/// What no model can miss, and why it is needed all the same.
const UNMISSED: &[(&str, &str)] = &[(
    "D6 AcqRel Acquire",
    "the owner comes to it past a light fence, which is the compiler's alone; that of the model is \
     a full one, and releases as well",
)];

/// Each row and order that the sources name.
fn rows() -> BTreeSet<(String, String)> {
    let uses = SOURCES.iter().flat_map(|source| source.split("ord!(\"").skip(1));
    let parts = uses.map(|rest| {
        let (row, rest) = rest.split_once("\", ").expect("a row and an order");
        let (order, _) = rest.split_once(')').expect("the end of an order");
        (row.to_owned(), order.to_owned())
    });
    parts.collect()
}

/// Each order that is stronger than it would have to be if nothing needed it, and each weaker one
/// to put in its place.
fn weakenings() -> Vec<Weakening> {
    use Ordering::{AcqRel, Acquire, Relaxed, Release};
    let mut all = Vec::new();
    for (row, order) in rows() {
        let (from, weaker) = match order.as_str() {
            "Relaxed" => continue,
            "Acquire" => (Acquire, vec![Relaxed]),
            "Release" => (Release, vec![Relaxed]),
            "AcqRel" => (AcqRel, vec![Relaxed, Acquire, Release]),
            other => panic!("row {row} has order {other}"),
        };
        all.extend(weaker.into_iter().map(|to| Weakening { row: row.clone(), from, to }));
    }
    all
}

/// A model that fails with this row weakened; `likely` is tried first. Each runs in a process of
/// its own, because a model that fails may leave loom unable to unwind.
fn model_that_fails(weakening: &Weakening, likely: Option<&'static str>) -> Option<&'static str> {
    let others = MODELS.iter().map(|model| model.0).filter(|name| Some(*name) != likely);
    likely.into_iter().chain(others).find(|name| fails(name, weakening))
}

fn fails(model: &str, weakening: &Weakening) -> bool {
    let mut command = Command::new(std::env::current_exe().expect("the path of this test"));
    command.args(["--exact", model, "--nocapture"]);
    command.env(VARIABLE, weakening.to_text());
    command.env("RUST_BACKTRACE", "0");
    let output = command.output().expect("a run of this test");
    let said = |what: &str, stream: &[u8]| String::from_utf8_lossy(stream).contains(what);
    let passed = output.status.success() && said("1 passed", &output.stdout);
    let failed = !output.status.success() && said("panicked", &output.stderr);
    assert!(passed != failed, "{model} neither passed nor failed: {output:?}");
    failed
}

#[test]
fn every_order_is_missed_by_some_model() {
    let all = weakenings();
    let mut unneeded = Vec::new();
    // The rows of a table follow one another, and one model often misses several.
    let mut likely = None;
    for weakening in &all {
        let failing = model_that_fails(weakening, likely);
        println!("{}: {}", weakening.to_text(), failing.unwrap_or("none"));
        match failing {
            Some(_) => likely = failing,
            None => unneeded.push(weakening.to_text()),
        }
    }
    let caught = all.len() - unneeded.len();
    println!("{} orders weakened, {caught} missed by a model", all.len());
    assert!(caught > 0, "nothing was weakened");
    let known: Vec<&str> = UNMISSED.iter().map(|(weakening, _)| *weakening).collect();
    assert_eq!(unneeded, known, "orders that no model misses");
}

/// The canary: the machinery that weakens, weakens nothing here, and nothing is missed.
#[test]
fn a_row_that_there_is_not_is_missed_by_no_model() {
    let (from, to) = (Ordering::Release, Ordering::Relaxed);
    let weakening = Weakening { row: "X1".to_owned(), from, to };
    assert_eq!(model_that_fails(&weakening, None), None);
}

#[test]
fn the_design_note_asks_for_the_same_orders() {
    let mut compared = 0;
    for (row, order) in rows().into_iter().filter(|(row, _)| row.starts_with(['O', 'B'])) {
        let start = format!("| {row} |");
        let line = DESIGN_NOTE.lines().find(|line| line.starts_with(&start));
        let line = line.unwrap_or_else(|| panic!("row {row} is not in the design note"));
        let strong =
            ["Acquire", "Release", "AcqRel"].into_iter().filter(|strong| line.contains(strong));
        if order != "Relaxed" {
            assert_eq!(strong.collect::<Vec<_>>(), [order.as_str()], "row {row}");
        }
        compared += 1;
    }
    assert!(compared > 0, "nothing was compared");
}
