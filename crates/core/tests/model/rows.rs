//! Every order that a table asks for is needed: with it weakened, some model fails.

use core::sync::atomic::Ordering;
use std::sync::Mutex;

use modelkit::weakening::{Weakening, rows, survey, weakenings};

use crate::{MODELS, Model};

const SOURCES: &[&str] = &[
    include_str!("../../src/astack_list.rs"),
    include_str!("../../src/bell.rs"),
    include_str!("../../src/bias.rs"),
    include_str!("../../src/claim.rs"),
    include_str!("../../src/lookout.rs"),
    include_str!("../../src/progress.rs"),
    include_str!("../../src/room.rs"),
    include_str!("../../src/tally.rs"),
    include_str!("../../src/turn.rs"),
];

const DESIGN_NOTE: &str = include_str!("../../../../docs/design/0001-turns-bells-and-segments.md");

/// What no model can miss, and why it is needed all the same.
const UNMISSED: &[(&str, &str)] = &[(
    "D6 AcqRel Acquire",
    "the owner comes to it past a light fence, which is the compiler's alone; that of the model is \
     a full one, and releases as well",
)];

/// A model that fails with this row weakened, of those that name its table; `likely` is tried
/// first.
fn model_that_fails(weakening: &Weakening, likely: Option<&'static str>) -> Option<&'static str> {
    let names = |model: &&Model| weakening.row.starts_with(|row| model.tables.contains(row));
    let names: Vec<_> = MODELS.iter().filter(names).map(|model| model.name).collect();
    let likely = likely.filter(|likely| names.contains(likely));
    let others = names.into_iter().filter(|name| Some(*name) != likely);
    likely.into_iter().chain(others).find(|name| weakening.fails(name))
}

#[test]
fn every_order_is_missed_by_some_model() {
    let all = weakenings(SOURCES);
    // The rows of a table follow one another, and one model often misses several.
    let likely = Mutex::new(None);
    let failing = survey(&all, |weakening| {
        let hint = *likely.lock().expect("nobody panics with it");
        let failing = model_that_fails(weakening, hint);
        if failing.is_some() {
            *likely.lock().expect("nobody panics with it") = failing;
        }
        failing
    });
    assert_eq!(failing.len(), all.len(), "orders that were looked at");
    let mut unneeded = Vec::new();
    for (weakening, failing) in all.iter().zip(failing) {
        println!("{}: {}", weakening.to_text(), failing.unwrap_or("none"));
        if failing.is_none() {
            unneeded.push(weakening.to_text());
        }
    }
    let caught = all.len() - unneeded.len();
    println!("{} orders weakened, {caught} missed by a model", all.len());
    assert!(caught > 0, "nothing was weakened");
    let known: Vec<&str> = UNMISSED.iter().map(|(weakening, _)| *weakening).collect();
    assert_eq!(unneeded, known, "orders that no model misses");
}

/// The canary: the machinery that weakens, weakens nothing here, and nothing is missed. By one
/// model: with nothing weakened each is a test of its own.
#[test]
fn a_row_that_there_is_not_is_not_missed() {
    let (from, to) = (Ordering::Release, Ordering::Relaxed);
    let weakening = Weakening { row: "X1".to_owned(), from, to };
    assert!(!weakening.fails(MODELS[0].name));
}

#[test]
fn the_design_note_asks_for_the_same_orders() {
    let mut compared = 0;
    for (row, order) in rows(SOURCES).into_iter().filter(|(row, _)| row.starts_with(['O', 'B'])) {
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
