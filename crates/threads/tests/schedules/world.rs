//! Some processors, and threads that fork two others each, yield, and join one of them: the other
//! one is detached. What a thread does between two waits is one step here.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use shuttle::sync::{Condvar, Mutex};
use shuttle::thread;

use crate::join::{End, JoinWord};
use crate::sync::AtomicU32;
use crate::team::Team;
use crate::unbegun::{Entry, LOOT_MAX};

/// Threads are a tree; this many.
pub const THREADS: usize = 15;

/// A thread's number in words that have other states, too.
const FIRST: usize = 64;

/// What a run came to.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    pub ended: usize,
    /// Stacks that were given back.
    pub given: usize,
    /// Threads that began on another processor than they were forked on.
    pub moved: usize,
}

/// A thread, as the library's record has it. Only one processor at a time touches it; that it is
/// one is what `ended` and `given` would not tell otherwise.
#[derive(Default)]
struct Record {
    home: AtomicUsize,
    forked_on: AtomicUsize,
    link: AtomicUsize,
    step: AtomicUsize,
    given: AtomicUsize,
}

struct World {
    team: Team<usize>,
    records: Vec<Record>,
    joins: Vec<JoinWord>,
    /// A leaf waits for ever.
    is_stuck: bool,
    queue: Mutex<()>,
    woken: Condvar,
    ended: AtomicUsize,
}

/// What a step of a thread leads to.
enum Next {
    Ready,
    Waits,
    Ended,
}

/// A processor's own.
struct Processor {
    world: Arc<World>,
    at: usize,
    ready: RefCell<VecDeque<usize>>,
}

/// Plays a run on so many processors; in one that is stuck, a thread never ends.
pub fn play(processors: usize, is_stuck: bool) -> Outcome {
    let world = Arc::new(World {
        team: Team::new(1, processors),
        records: (0..THREADS).map(|_| Record::default()).collect(),
        joins: (0..THREADS).map(|_| JoinWord::new()).collect(),
        is_stuck,
        queue: Mutex::new(()),
        woken: Condvar::new(),
        ended: AtomicUsize::new(0),
    });
    let other = |at| {
        let world = Arc::clone(&world);
        thread::spawn(move || Processor::new(world, at).run())
    };
    let others: Vec<_> = (1..processors).map(other).collect();
    let first = Processor::new(Arc::clone(&world), 0);
    first.ready.borrow_mut().push_back(0);
    first.run();
    others.into_iter().for_each(|other| other.join().unwrap());
    world.outcome()
}

impl World {
    fn outcome(&self) -> Outcome {
        let given = self.records.iter().map(|record| record.given.load(Relaxed));
        let moved = self.records.iter().filter(|record| {
            let has_begun = record.step.load(Relaxed) > 0;
            has_begun && record.home.load(Relaxed) != record.forked_on.load(Relaxed)
        });
        Outcome { ended: self.ended.load(Relaxed), given: given.sum(), moved: moved.count() }
    }

    /// FUTEX_WAKE, of all who sleep: each looks at its own word again.
    fn wake(&self, word: Option<&AtomicU32>) {
        if word.is_some() {
            let _queue = self.queue.lock().unwrap();
            self.woken.notify_all();
        }
    }

    fn give(&self, thread: usize) {
        assert_eq!(self.records[thread].given.fetch_add(1, Relaxed), 0, "a stack is given twice");
    }
}

impl Processor {
    fn new(world: Arc<World>, at: usize) -> Processor {
        Processor { world, at, ready: RefCell::default() }
    }

    fn run(&self) {
        while let Some(thread) = self.next() {
            match self.step(thread) {
                Next::Ready => self.ready.borrow_mut().push_back(thread),
                Next::Waits => {}
                Next::Ended => {
                    self.world.ended.fetch_add(1, Relaxed);
                    if self.world.joins[thread].leave() {
                        self.world.give(thread);
                    }
                }
            }
        }
    }

    /// What runs next; sleeps while there is nothing. Nothing: the run is over.
    fn next(&self) -> Option<usize> {
        let team = &self.world.team;
        loop {
            self.look();
            if let Some(thread) = team.members()[self.at].unbegun.pop_before(u64::MAX) {
                self.world.records[thread].home.store(self.at, Relaxed);
                return Some(thread);
            }
            if let Some(thread) = self.ready.borrow_mut().pop_front() {
                return Some(thread);
            }
            if team.is_over() {
                return None;
            }
            if !self.steal() {
                self.sleep();
            }
        }
    }

    fn look(&self) {
        let mut last = self.world.team.members()[self.at].inbox.take();
        while let Some(thread) = last.checked_sub(FIRST) {
            self.ready.borrow_mut().push_front(thread);
            last = self.world.records[thread].link.load(Relaxed);
        }
    }

    fn steal(&self) -> bool {
        let mut loot = Vec::with_capacity(LOOT_MAX);
        for (at, member) in self.world.team.members().iter().enumerate() {
            if at != self.at && member.unbegun.hint().count > 0 {
                member.unbegun.steal(&mut loot);
            }
        }
        loot.iter().for_each(|entry| self.fork(entry.thread));
        !loot.is_empty()
    }

    fn sleep(&self) {
        let team = &self.world.team;
        if !team.fall_asleep(self.at) {
            return;
        }
        let inbox = &team.members()[self.at].inbox;
        if team.rest() {
            for member in team.members() {
                self.world.wake(member.inbox.rouse().then(|| member.inbox.wakes()));
            }
        } else if !team.has_plenty_for(self.at)
            && let Some(expected) = inbox.prepare_wait()
        {
            let mut queue = self.world.queue.lock().unwrap();
            while inbox.wakes().load(Relaxed) == expected {
                queue = self.world.woken.wait(queue).unwrap();
            }
        }
        team.wake_up(self.at, true);
    }

    fn fork(&self, thread: usize) {
        let entry = Entry { turn: thread as u64 + 1, thread };
        self.world.wake(self.world.team.fork(self.at, entry));
    }

    fn make_ready(&self, thread: usize) {
        let record = &self.world.records[thread];
        let home = record.home.load(Relaxed);
        if home == self.at {
            return self.ready.borrow_mut().push_back(thread);
        }
        let link = |before| record.link.store(before, Relaxed);
        self.world.wake(self.world.team.deliver(home, FIRST + thread, link));
    }

    fn step(&self, thread: usize) -> Next {
        let world = &self.world;
        let [joined, detached] = [2 * thread + 1, 2 * thread + 2];
        match world.records[thread].step.fetch_add(1, Relaxed) {
            0 if joined < THREADS => {
                for child in [joined, detached] {
                    world.records[child].forked_on.store(self.at, Relaxed);
                    self.fork(child);
                }
                if world.joins[detached].detach(false) {
                    self.take(detached);
                }
                Next::Ready
            }
            1 if joined < THREADS && !world.joins[joined].join(FIRST + thread, false) => {
                Next::Waits
            }
            0 if world.is_stuck && thread == THREADS - 1 => Next::Waits,
            _ => {
                if joined < THREADS {
                    self.take(joined);
                }
                self.end(thread);
                Next::Ended
            }
        }
    }

    /// The result of a thread that has ended.
    fn take(&self, thread: usize) {
        if self.world.joins[thread].take() {
            self.world.give(thread);
        }
    }

    fn end(&self, thread: usize) {
        match self.world.joins[thread].end() {
            End::Keep => {}
            End::Wake(joiner) => self.make_ready(joiner - FIRST),
            End::Drop => assert!(!self.world.joins[thread].take(), "the stack is in use"),
        }
    }
}
