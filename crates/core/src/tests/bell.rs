//! The bell, one edge at a time.

use crate::bell::{Lane, Opened, fall_asleep, has_sleeper, is_rung, open_gate, ring, take_lanes};
use crate::sync::AtomicU32;

fn line() -> (AtomicU32, AtomicU32) {
    (AtomicU32::new(0), AtomicU32::new(0))
}

#[test]
fn a_ring_wakes_a_sleeper() {
    let (gate, lanes) = line();
    assert!(!has_sleeper(&gate));
    assert!(fall_asleep(&gate));
    assert!(has_sleeper(&gate));
    assert!(ring(&gate, &lanes, 3));
    assert!(has_sleeper(&gate));
    assert_eq!(open_gate(&gate), Opened { is_rung: true, had_sleeper: true });
    assert_eq!(take_lanes(&lanes), 1 << 3);
    assert_eq!(take_lanes(&lanes), 0);
}

#[test]
fn a_ring_wakes_nobody_who_is_awake() {
    let (gate, lanes) = line();
    assert!(!ring(&gate, &lanes, 0));
    assert!(is_rung(&gate));
}

#[test]
fn a_rung_gate_keeps_its_processor_awake() {
    let (gate, lanes) = line();
    ring(&gate, &lanes, 0);
    assert!(!fall_asleep(&gate));
    open_gate(&gate);
    assert!(fall_asleep(&gate));
}

#[test]
fn two_processors_may_sleep_on_one_gate() {
    let (gate, _) = line();
    assert!(fall_asleep(&gate));
    assert!(fall_asleep(&gate));
}

#[test]
fn a_forged_gate_is_opened_like_any_other() {
    let gate = AtomicU32::new(0xffff_fff8);
    assert!(!fall_asleep(&gate));
    assert_eq!(open_gate(&gate), Opened { is_rung: true, had_sleeper: false });
    assert!(fall_asleep(&gate));
}

#[test]
fn lanes_past_the_last_share() {
    assert_eq!(Lane::of(33, 480), Lane { word: 1, bit: 1 });
    assert_eq!(Lane::of(480, 480), Lane { word: 0, bit: 0 });
}
