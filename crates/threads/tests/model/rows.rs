//! Every order that a table asks for is needed: with it weakened, some model fails.

use core::sync::atomic::Ordering;

use modelkit::weakening::{Weakening, survey, weakenings};

use crate::{MODELS, Model};

const SOURCES: &[&str] = &[
    include_str!("../../src/home.rs"),
    include_str!("../../src/inbox.rs"),
    include_str!("../../src/join.rs"),
    include_str!("../../src/latch.rs"),
    include_str!("../../src/team.rs"),
    include_str!("../../src/unbegun.rs"),
];

/// Whether a model misses it: one that names its table.
fn is_missed(weakening: &Weakening) -> bool {
    let names = |model: &&Model| weakening.row.starts_with(|row| model.tables.contains(row));
    MODELS.iter().filter(names).any(|model| weakening.fails(model.name))
}

#[test]
fn every_order_is_missed_by_some_model() {
    let all = weakenings(SOURCES);
    let missed = survey(&all, is_missed);
    assert_eq!(missed.len(), all.len(), "orders that were looked at");
    let unneeded = all.iter().zip(missed).filter(|(_, is_missed)| !is_missed);
    let unneeded: Vec<_> = unneeded.map(|(weakening, _)| weakening.to_text()).collect();
    println!("{} orders weakened, {} missed by a model", all.len(), all.len() - unneeded.len());
    assert!(!all.is_empty(), "nothing was weakened");
    assert_eq!(unneeded, Vec::<String>::new(), "orders that no model misses");
}

/// The canary: the machinery that weakens, weakens nothing here, and nothing is missed. By one
/// model: with nothing weakened each is a test of its own.
#[test]
fn a_row_that_there_is_not_is_not_missed() {
    let (from, to) = (Ordering::Release, Ordering::Relaxed);
    let weakening = Weakening { row: "X1".to_owned(), from, to };
    assert!(!weakening.fails(MODELS[0].name));
}
