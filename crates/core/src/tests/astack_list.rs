//! The A-stack lists, one edge at a time.

use core::sync::atomic::Ordering::Relaxed;

use crate::astack_list::Claimer::{Task, Thread};
use crate::astack_list::{AStackLists, Waiting};

fn three() -> AStackLists {
    let lists = AStackLists::new(2, 8);
    for index in 0..3 {
        assert_eq!(lists.push(1, index), Waiting::NOBODY);
    }
    lists
}

#[test]
fn the_astack_used_last_is_taken_first() {
    let lists = three();
    assert_eq!(lists.pop(1), Some(2));
    assert_eq!(lists.pop(1), Some(1));
    assert_eq!(lists.push(1, 2), Waiting::NOBODY);
    assert_eq!(lists.pop(1), Some(2));
    assert_eq!(lists.pop(1), Some(0));
    assert_eq!(lists.pop(1), None);
}

#[test]
fn a_class_has_its_own_list() {
    assert_eq!(three().pop(0), None);
}

#[test]
fn an_astack_of_a_later_extent_is_taken_like_any_other() {
    let lists = three();
    assert_eq!(lists.push(1, 7), Waiting::NOBODY);
    assert_eq!(lists.pop(1), Some(7));
}

#[test]
fn nobody_waits_while_an_astack_is_free() {
    let lists = three();
    assert_eq!(lists.prepare_wait(1, Thread), None);
    assert_eq!(lists.prepare_wait(1, Task), None);
    assert_eq!(lists.push(1, 3), Waiting::NOBODY);
}

#[test]
fn a_release_wakes_whoever_waits_once() {
    let lists = AStackLists::new(1, 3);
    assert_eq!(lists.prepare_wait(0, Thread), Some(0));
    assert_eq!(lists.prepare_wait(0, Thread), Some(0));
    assert_eq!(lists.push(0, 1), Waiting { threads: true, tasks: false });
    assert_eq!(lists.push(0, 0), Waiting::NOBODY);
    assert_eq!(lists.pop(0), Some(0));
    assert_eq!(lists.pop(0), Some(1));
    assert_eq!(lists.prepare_wait(0, Thread), Some(1));
    assert_eq!(lists.prepare_wait(0, Task), Some(1));
    assert_eq!(lists.push(0, 2), Waiting { threads: true, tasks: true });
    assert_eq!(lists.pop(0), Some(2));
    // Of tasks no thread hears.
    assert_eq!(lists.prepare_wait(0, Task), Some(2));
    assert_eq!(lists.push(0, 0), Waiting { threads: false, tasks: true });
    assert_eq!(lists.wakes(0).load(Relaxed), 2);
}

#[test]
#[should_panic(expected = "out of bounds")]
fn an_index_past_the_last_is_our_own_bug() {
    let _ = three().push(1, 8);
}
