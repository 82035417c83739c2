//! Several processors: what has not begun, who sleeps, and when a run is over.

use loom::sync::atomic::Ordering::Relaxed;
use loom::sync::{Arc, Condvar, Mutex};
use loom::thread;

use crate::sync::{AtomicU32, UnsafeCell};
use crate::team::Team;
use crate::unbegun::{Entry, LOOT_MAX};

/// A thread's number, as an inbox sees it.
const FIRST: usize = 2;

struct World {
    team: Team<usize>,
    /// What each thread needs to begin, written by who forks or wakes it.
    needs: [UnsafeCell<u32>; 3],
    /// The kernel's side of the processors' futexes.
    queue: Mutex<()>,
    woken: Condvar,
}

impl World {
    fn new(processors: usize) -> Arc<World> {
        let needs = [0, 1, 2].map(|_| UnsafeCell::new(0));
        let (queue, woken) = (Mutex::new(()), Condvar::new());
        Arc::new(World { team: Team::new(1, processors), needs, queue, woken })
    }

    /// FUTEX_WAKE, of all who sleep: each looks at its own word again.
    fn wake(&self, word: Option<&AtomicU32>) {
        if word.is_some() {
            let queue = self.queue.lock().unwrap();
            self.woken.notify_all();
            drop(queue);
        }
    }

    /// FUTEX_WAIT.
    fn wait(&self, at: usize, expected: u32) {
        let mut queue = self.queue.lock().unwrap();
        while self.team.members()[at].inbox.wakes().load(Relaxed) == expected {
            queue = self.woken.wait(queue).unwrap();
        }
    }

    fn prepare(&self, thread: usize) {
        // SAFETY: nobody else looks before the thread is in a list; loom checks it.
        self.needs[thread].with_mut(|needs| unsafe { *needs = 1 });
    }

    fn begin(&self, thread: usize) {
        // SAFETY: it was taken out of a list by this processor alone; loom checks it.
        let needs = self.needs[thread].with_mut(|needs| std::mem::take(unsafe { &mut *needs }));
        assert_eq!(needs, 1);
    }

    fn fork(&self, at: usize, thread: usize) {
        self.prepare(thread);
        self.wake(self.team.fork(at, Entry { turn: thread as u64 + 1, thread }));
    }

    fn deliver(&self, to: usize, thread: usize) {
        self.prepare(thread);
        // Each thread is alone in its inbox.
        self.wake(self.team.deliver(to, FIRST + thread, |before| assert_eq!(before, 0)));
    }

    /// Begins the oldest of its own that have not begun.
    fn pop(&self, at: usize) -> usize {
        let popped = self.team.members()[at].unbegun.pop_before(u64::MAX);
        popped.inspect(|thread| self.begin(*thread)).iter().count()
    }

    /// Begins what another one has.
    fn steal(&self, from: usize) -> usize {
        let mut loot = Vec::with_capacity(LOOT_MAX);
        self.team.members()[from].unbegun.steal(&mut loot);
        loot.iter().for_each(|entry| self.begin(entry.thread));
        loot.len()
    }

    /// Begins what was delivered.
    fn look(&self, at: usize) {
        let delivered = self.team.members()[at].inbox.take().checked_sub(FIRST);
        delivered.into_iter().for_each(|thread| self.begin(thread));
    }

    /// A processor has nothing left to do. True: it says that nobody has.
    fn rest(&self, at: usize) -> bool {
        assert!(self.team.fall_asleep(at));
        self.team.rest()
    }

    /// The same; it sleeps until the run is over.
    fn rest_until_over(&self, at: usize) {
        while !self.team.is_over() {
            if self.rest(at) {
                for member in self.team.members() {
                    self.wake(member.inbox.rouse().then(|| member.inbox.wakes()));
                }
            } else if let Some(expected) = self.team.members()[at].inbox.prepare_wait() {
                self.wait(at, expected);
            }
            self.team.wake_up(at, true);
        }
    }
}

/// With few preemptions, which is where such things go wrong.
fn check(model: impl Fn() + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(2);
    builder.check(model);
}

/// One was forked; both processors take what they find.
pub fn steal_against_pop() {
    check(|| {
        let world = World::new(2);
        world.fork(0, 0);
        let theirs = Arc::clone(&world);
        let thief = thread::spawn(move || theirs.steal(0));
        let popped = world.pop(0);
        let stolen = thief.join().unwrap();
        assert_eq!(popped + stolen, 1);
    });
}

/// A processor that has one forks another one and does nothing more; a second processor falls
/// asleep meanwhile.
pub fn fork_against_sleep() {
    check(|| {
        let world = World::new(2);
        world.fork(0, 0);
        let theirs = Arc::clone(&world);
        let sleeper = thread::spawn(move || {
            assert!(theirs.team.fall_asleep(1));
            if !theirs.team.has_plenty_for(1)
                && let Some(expected) = theirs.team.members()[1].inbox.prepare_wait()
            {
                theirs.wait(1, expected);
            }
            theirs.team.wake_up(1, false);
        });
        world.fork(0, 1);
        sleeper.join().unwrap();
        assert_eq!(world.steal(0), 1);
    });
}

/// One of three rests already. The second delivers something to it and rests, while the first
/// rests.
pub fn deliver_against_rest() {
    check(|| {
        let world = World::new(3);
        assert!(!world.rest(2));
        let theirs = Arc::clone(&world);
        let second = thread::spawn(move || {
            theirs.deliver(2, 0);
            theirs.rest(1)
        });
        let is_over = world.rest(0);
        assert!(!second.join().unwrap() && !is_over, "something was delivered");
    });
}

/// Two of three rest already, and one of them has been delivered something. It rises, delivers
/// something to the other and rests, while the first rests.
pub fn rise_against_rest() {
    check(|| {
        let world = World::new(3);
        assert!(!world.rest(1) && !world.rest(2));
        world.deliver(2, 0);
        let theirs = Arc::clone(&world);
        let third = thread::spawn(move || {
            theirs.team.wake_up(2, true);
            theirs.look(2);
            theirs.deliver(1, 1);
            theirs.rest(2)
        });
        let is_over = world.rest(0);
        assert!(!third.join().unwrap() && !is_over, "something was delivered");
    });
}

/// Two have nothing left to do.
pub fn both_rest() {
    check(|| {
        let world = World::new(2);
        let theirs = Arc::clone(&world);
        let second = thread::spawn(move || theirs.rest_until_over(1));
        world.rest_until_over(0);
        second.join().unwrap();
    });
}

#[test]
fn what_is_stolen_is_not_popped() {
    steal_against_pop();
}

#[test]
fn who_falls_asleep_finds_what_is_forked() {
    fork_against_sleep();
}

#[test]
fn what_was_delivered_keeps_a_run_from_being_over() {
    deliver_against_rest();
}

#[test]
fn what_who_rises_delivers_keeps_a_run_from_being_over() {
    rise_against_rest();
}

#[test]
fn who_rests_is_told_when_the_run_is_over() {
    both_rest();
}
