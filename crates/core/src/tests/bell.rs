//! The bell, one edge at a time.

use crate::bell::{
    Lane, Opened, fall_asleep, has_sleeper, is_rung, open_gate, ring, ring_gate, take_lanes,
};
use crate::sync::{AtomicU32, AtomicU64};

fn line() -> (AtomicU32, [AtomicU64; 2]) {
    (AtomicU32::new(0), Default::default())
}

#[test]
fn a_ring_wakes_a_sleeper() {
    let (gate, lanes) = line();
    assert!(!has_sleeper(&gate));
    assert!(fall_asleep(&gate, &lanes));
    assert!(has_sleeper(&gate));
    assert!(ring(&gate, &lanes[1], 63));
    assert!(has_sleeper(&gate));
    assert_eq!(open_gate(&gate), Opened { is_rung: true, had_sleeper: true });
    assert_eq!(take_lanes(&lanes[1]), 1 << 63);
    assert_eq!(take_lanes(&lanes[1]), 0);
}

#[test]
fn a_ring_wakes_nobody_who_is_awake_and_leaves_the_gate_alone() {
    let (gate, lanes) = line();
    assert!(!is_rung(&gate, &lanes));
    assert!(!ring(&gate, &lanes[1], 0));
    assert!(is_rung(&gate, &lanes));
    assert_eq!(open_gate(&gate), Opened { is_rung: false, had_sleeper: false });
}

#[test]
fn a_lane_that_is_set_keeps_its_processor_awake() {
    let (gate, lanes) = line();
    ring(&gate, &lanes[1], 0);
    assert!(!fall_asleep(&gate, &lanes));
    assert_eq!(open_gate(&gate), Opened { is_rung: false, had_sleeper: true });
    take_lanes(&lanes[1]);
    assert!(fall_asleep(&gate, &lanes));
}

#[test]
fn a_rung_gate_without_lanes_keeps_its_processor_awake() {
    let gate = AtomicU32::new(0);
    assert!(!ring_gate(&gate));
    assert!(is_rung(&gate, &[]) && !fall_asleep(&gate, &[]));
    assert_eq!(open_gate(&gate), Opened { is_rung: true, had_sleeper: false });
    assert!(fall_asleep(&gate, &[]));
}

#[test]
fn two_processors_may_sleep_on_one_gate() {
    let (gate, lanes) = line();
    assert!(fall_asleep(&gate, &lanes));
    assert!(fall_asleep(&gate, &lanes));
}

#[test]
fn a_forged_gate_is_opened_like_any_other() {
    let gate = AtomicU32::new(0xffff_fff8);
    assert!(!fall_asleep(&gate, &[]));
    assert_eq!(open_gate(&gate), Opened { is_rung: true, had_sleeper: false });
    assert!(fall_asleep(&gate, &[]));
}

#[test]
fn lanes_past_the_last_share() {
    assert_eq!(Lane::of(65, 448), Lane { word: 1, bit: 1 });
    assert_eq!(Lane::of(448, 448), Lane { word: 0, bit: 0 });
}
