//! What the model must find.

use super::{Flaw, explore};

#[track_caller]
fn check(flaw: Flaw, says: &str) {
    let wrong = explore(flaw).wrong.expect("a flaw is found");
    assert!(wrong.contains(says), "{wrong}");
}

#[test]
fn a_call_that_two_processors_run_is_found() {
    check(Flaw::RunsUnclaimed, "ran more than once");
}

#[test]
fn a_client_that_nobody_wakes_is_found() {
    check(Flaw::WakesNobody, "sleeps on its reply");
}

#[test]
fn an_astack_that_does_not_come_back_is_found() {
    check(Flaw::KeepsGivenUp, "no end can be reached");
}
