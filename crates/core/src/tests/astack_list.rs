//! The A-stack lists, one edge at a time.

use crate::astack_list::AStackLists;

fn three() -> AStackLists {
    let lists = AStackLists::new(2, 8);
    for index in 0..3 {
        lists.push(1, index);
    }
    lists
}

#[test]
fn the_astack_used_last_is_taken_first() {
    let lists = three();
    assert_eq!(lists.pop(1), Some(2));
    assert_eq!(lists.pop(1), Some(1));
    assert!(!lists.push(1, 2));
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
    lists.push(1, 7);
    assert_eq!(lists.pop(1), Some(7));
}

#[test]
fn nobody_waits_while_an_astack_is_free() {
    let lists = three();
    assert_eq!(lists.prepare_wait(1), None);
    assert!(!lists.push(1, 3));
}

#[test]
fn a_release_wakes_those_who_wait_once() {
    let lists = AStackLists::new(1, 2);
    assert_eq!(lists.prepare_wait(0), Some(0));
    assert_eq!(lists.prepare_wait(0), Some(0));
    assert!(lists.push(0, 1));
    assert!(!lists.push(0, 0));
    assert_eq!(lists.pop(0), Some(0));
    assert_eq!(lists.pop(0), Some(1));
    assert_eq!(lists.prepare_wait(0), Some(1));
}

#[test]
#[should_panic(expected = "out of bounds")]
fn an_index_past_the_last_is_our_own_bug() {
    three().push(1, 8);
}
