//! The words that kernel threads share, under every interleaving and every order of memory that
//! their rows allow (loom): the library's own sources over atomics of the model's.

#![allow(dead_code)]

#[path = "../../src/home.rs"]
mod home;
#[path = "../../src/inbox.rs"]
mod inbox;
#[path = "../../src/join.rs"]
mod join;
#[path = "../../src/latch.rs"]
mod latch;
#[path = "../../src/team.rs"]
mod team;
#[path = "../../src/unbegun.rs"]
mod unbegun;

mod cancelling;
mod joining;
mod latching;
mod processors;
mod rows;
mod sync;

use core::sync::atomic::Ordering::Relaxed;

use loom::cell::UnsafeCell;
use loom::sync::{Arc, Condvar, Mutex};
use loom::thread;

use inbox::Inbox;

/// The model's threads have these addresses, as far as an inbox is concerned.
const FIRST: usize = 2;

/// A processor's inbox, and what others do for two of its threads before they make them ready.
struct World {
    inbox: Inbox,
    /// Written by who makes the thread ready, read by the processor, with no order of its own.
    done: [UnsafeCell<u32>; 2],
    links: [UnsafeCell<usize>; 2],
    /// The kernel's side of the inbox's futex.
    queue: Mutex<()>,
    woken: Condvar,
}

impl World {
    fn new() -> Arc<World> {
        let done = [UnsafeCell::new(0), UnsafeCell::new(0)];
        let links = [UnsafeCell::new(0), UnsafeCell::new(0)];
        let (queue, woken) = (Mutex::new(()), Condvar::new());
        Arc::new(World { inbox: Inbox::new(), done, links, queue, woken })
    }

    /// Another kernel thread does something for thread `index` and makes it ready.
    fn make_ready(&self, index: usize) {
        // SAFETY: nobody else looks before the thread is in the inbox; loom checks it.
        self.done[index].with_mut(|done| unsafe { *done = 1 });
        let link = |before| {
            // SAFETY: as above.
            self.links[index].with_mut(|link| unsafe { *link = before });
        };
        if self.inbox.push(FIRST + index, link) {
            // FUTEX_WAKE.
            let queue = self.queue.lock().unwrap();
            self.woken.notify_all();
            drop(queue);
        }
    }

    /// The processor takes what is there; how many threads that is.
    fn look(&self) -> usize {
        let mut count = 0;
        let mut last = self.inbox.take();
        while last != 0 {
            let index = last - FIRST;
            // SAFETY: the thread is the processor's now; loom checks it.
            assert_eq!(self.done[index].with(|done| unsafe { *done }), 1);
            // SAFETY: as above.
            last = self.links[index].with(|link| unsafe { *link });
            count += 1;
        }
        count
    }

    /// FUTEX_WAIT: sleeps if the word is still what is expected.
    fn wait(&self, expected: u32) {
        let queue = self.queue.lock().unwrap();
        if self.inbox.wakes().load(Relaxed) == expected {
            drop(self.woken.wait(queue).unwrap());
        }
    }

    /// The processor goes on until it has had so many threads; sleeps while there is none.
    fn run(&self, threads: usize) {
        let mut had = self.look();
        while had < threads {
            if self.inbox.fall_asleep() {
                if let Some(expected) = self.inbox.prepare_wait() {
                    self.wait(expected);
                }
                self.inbox.wake_up();
            }
            had += self.look();
        }
        assert_eq!(had, threads);
    }
}

/// One is made ready while the processor looks, falls asleep or sleeps.
fn one_waker() {
    loom::model(|| {
        let world = World::new();
        let theirs = Arc::clone(&world);
        let waker = thread::spawn(move || theirs.make_ready(0));
        world.run(1);
        waker.join().unwrap();
    });
}

/// Two are made ready at once.
fn two_wakers() {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(2);
    model.check(|| {
        let world = World::new();
        let wakers = [0, 1].map(|index| {
            let theirs = Arc::clone(&world);
            thread::spawn(move || theirs.make_ready(index))
        });
        world.run(2);
        for waker in wakers {
            waker.join().unwrap();
        }
    });
}

/// A model, by the name of its test, and the tables, by their letters, of which it may miss a row.
struct Model {
    name: &'static str,
    tables: &'static str,
}

const fn model(name: &'static str, tables: &'static str) -> Model {
    Model { name, tables }
}

/// Every model.
const MODELS: &[Model] = &[
    model("a_wake_is_not_lost", "N"),
    model("two_wakes_are_not_lost", "N"),
    model("latching::one_at_a_time_is_inside", "H"),
    model("latching::who_enters_after_another_run_sees_what_it_did", "H"),
    model("latching::who_drops_a_guard_of_a_run_that_is_over_is_alone_inside", "H"),
    model("joining::a_result_is_read_when_it_is_there", "J"),
    model("joining::one_side_gives_the_stack_back", "J"),
    model("cancelling::who_begins_a_thread_and_who_cancels_it_agree", "Q"),
    model("cancelling::who_asks_whose_a_record_is_is_told_by_one_word", "Q"),
    model("cancelling::a_waiter_is_woken_or_cancelled", "HN"),
    model("cancelling::a_joiner_is_woken_or_cancelled", "J"),
    model("processors::what_is_stolen_is_not_popped", "P"),
    model("processors::who_falls_asleep_finds_what_is_forked", "MP"),
    model("processors::what_was_delivered_keeps_a_run_from_being_over", "M"),
    model("processors::what_who_rises_delivers_keeps_a_run_from_being_over", "MN"),
    model("processors::who_rests_is_told_when_the_run_is_over", "M"),
];

#[test]
fn a_wake_is_not_lost() {
    one_waker();
}

#[test]
fn two_wakes_are_not_lost() {
    two_wakers();
}
