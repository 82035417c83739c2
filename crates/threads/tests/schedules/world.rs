//! Some processors, and threads that fork two others each, yield, and join one of them: the other
//! one is detached. Where threads are cancelled, it is those that are joined, sooner or later. What
//! a thread does between two waits is one step here.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

use shuttle::sync::{Condvar, Mutex};
use shuttle::thread;

use crate::home::{Cancel, Home};
use crate::join::{End, JoinWord};
use crate::sync::AtomicU32;
use crate::team::Team;
use crate::unbegun::{Entry, LOOT_MAX};

/// Threads are a tree; this many.
pub const THREADS: usize = 15;

const RUN: u32 = 1;

/// A thread's number in words that have other states, too.
const FIRST: usize = 64;

/// The step of a thread that was cancelled before its first.
const NEVER_BEGUN: usize = usize::MAX;

/// A thread yields before it joins, up to this step.
const JOINS: usize = 4;

/// What happens in a run besides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Play {
    /// The last thread of all waits for ever.
    pub is_stuck: bool,
    /// Threads that are joined are cancelled.
    pub cancels: bool,
}

/// What a run came to.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    pub forked: usize,
    pub ended: usize,
    /// Threads that were cancelled before they began, and in the middle of a join.
    pub never_begun: usize,
    pub unwound: usize,
    /// Stacks that were given back.
    pub given: usize,
    /// Threads that began on another processor than they were forked on.
    pub moved: usize,
}

/// A thread, as the library's record has it. Only one processor at a time touches it; that it is
/// one is what `ended` and `given` would not tell otherwise.
struct Record {
    home: Home,
    begun_on: AtomicUsize,
    forked_on: AtomicUsize,
    link: AtomicUsize,
    step: AtomicUsize,
    given: AtomicUsize,
    /// It was cancelled; it waits in its join; a cancel took it out of that.
    asked: AtomicBool,
    joins: AtomicBool,
    unwinds: AtomicBool,
}

impl Record {
    fn new() -> Record {
        let [begun_on, forked_on, link, step, given] = [0; 5].map(AtomicUsize::new);
        let [asked, joins, unwinds] = [false; 3].map(AtomicBool::new);
        let home = Home::new();
        Record { home, begun_on, forked_on, link, step, given, asked, joins, unwinds }
    }
}

struct World {
    team: Team<usize>,
    /// Of the threads, and of those that tell another processor to cancel one of them.
    records: Vec<Record>,
    joins: Vec<JoinWord>,
    play: Play,
    queue: Mutex<()>,
    woken: Condvar,
    forked: AtomicUsize,
    ended: AtomicUsize,
}

/// What a step of a thread leads to.
enum Next {
    Ready,
    Waits,
    Ended,
    /// It has told what it was to tell.
    Told,
}

/// A processor's own.
struct Processor {
    world: Arc<World>,
    at: usize,
    ready: RefCell<VecDeque<usize>>,
}

/// Plays a run on so many processors.
pub fn play(processors: usize, play: Play) -> Outcome {
    let world = Arc::new(World {
        team: Team::new(RUN, processors),
        records: (0..2 * THREADS).map(|_| Record::new()).collect(),
        joins: (0..THREADS).map(|_| JoinWord::new()).collect(),
        play,
        queue: Mutex::new(()),
        woken: Condvar::new(),
        forked: AtomicUsize::new(1),
        ended: AtomicUsize::new(0),
    });
    let other = |at| {
        let world = Arc::clone(&world);
        thread::spawn(move || Processor::new(world, at).run())
    };
    let others: Vec<_> = (1..processors).map(other).collect();
    let first = Processor::new(Arc::clone(&world), 0);
    first.settle(0);
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
            has_begun && record.begun_on.load(Relaxed) != record.forked_on.load(Relaxed)
        });
        let (forked, ended) = (self.forked.load(Relaxed), self.ended.load(Relaxed));
        let never_begun = self.count(|record| record.step.load(Relaxed) == NEVER_BEGUN);
        let unwound = self.count(|record| record.unwinds.load(Relaxed));
        let (given, moved) = (given.sum(), moved.count());
        Outcome { forked, ended, never_begun, unwound, given, moved }
    }

    fn count(&self, is_so: impl Fn(&&Record) -> bool) -> usize {
        self.records.iter().filter(is_so).count()
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
                Next::Waits | Next::Told => {}
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
                self.settle(thread);
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
        loot.iter().for_each(|entry| self.offer(entry.thread));
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

    fn settle(&self, thread: usize) {
        let record = &self.world.records[thread];
        record.begun_on.store(self.at, Relaxed);
        if record.home.settle(RUN, self.at as u16) {
            record.asked.store(true, Relaxed);
        }
    }

    fn fork(&self, thread: usize) {
        self.world.forked.fetch_add(1, Relaxed);
        self.world.records[thread].home.fork();
        self.world.records[thread].forked_on.store(self.at, Relaxed);
        self.offer(thread);
    }

    fn offer(&self, thread: usize) {
        let entry = Entry { turn: thread as u64 + 1, thread };
        self.world.wake(self.world.team.fork(self.at, entry));
    }

    fn make_ready(&self, thread: usize) {
        let home = self.world.records[thread].home.at().into();
        if home == self.at {
            return self.ready.borrow_mut().push_back(thread);
        }
        self.deliver(home, thread);
    }

    fn deliver(&self, to: usize, thread: usize) {
        let link = |before| self.world.records[thread].link.store(before, Relaxed);
        self.world.wake(self.world.team.deliver(to, FIRST + thread, link));
    }

    fn cancel(&self, thread: usize) {
        match self.world.records[thread].home.cancel() {
            Cancel::Done => {}
            Cancel::Tell(at) if usize::from(at) == self.at => self.cancel_own(thread),
            Cancel::Tell(at) => self.deliver(at.into(), THREADS + thread),
        }
    }

    fn cancel_own(&self, thread: usize) {
        let record = &self.world.records[thread];
        if !record.home.is(RUN, self.at as u16) {
            return;
        }
        record.asked.store(true, Relaxed);
        if record.joins.load(Relaxed) && self.withdraws(thread) {
            record.joins.store(false, Relaxed);
            self.ready.borrow_mut().push_back(thread);
        }
    }

    /// Takes a thread that was cancelled out of its join.
    fn withdraws(&self, thread: usize) -> bool {
        let is_out = self.world.joins[2 * thread + 1].withdraw(FIRST + thread, false);
        self.world.records[thread].unwinds.store(is_out, Relaxed);
        is_out
    }

    /// A thread joins. False: it has to wait.
    fn joins(&self, thread: usize) -> bool {
        let record = &self.world.records[thread];
        if self.world.joins[2 * thread + 1].join(FIRST + thread, false) {
            return true;
        }
        if record.asked.load(Relaxed) && self.withdraws(thread) {
            return true;
        }
        record.joins.store(true, Relaxed);
        false
    }

    fn detach(&self, thread: usize) {
        if self.world.joins[thread].detach(false) {
            self.take(thread);
        }
    }

    fn step(&self, thread: usize) -> Next {
        if let Some(cancelled) = thread.checked_sub(THREADS) {
            self.cancel_own(cancelled);
            return Next::Told;
        }
        let (world, record) = (&self.world, &self.world.records[thread]);
        let [joined, detached] = [2 * thread + 1, 2 * thread + 2];
        let step = record.step.fetch_add(1, Relaxed);
        if step == 0 && record.asked.load(Relaxed) {
            record.step.store(NEVER_BEGUN, Relaxed);
            return self.end(thread);
        }
        if joined >= THREADS {
            let is_stuck = world.play.is_stuck && thread == THREADS - 1;
            return if is_stuck { Next::Waits } else { self.end(thread) };
        }
        if step == 0 {
            [joined, detached].iter().for_each(|child| self.fork(*child));
            self.detach(detached);
        }
        if world.play.cancels && step == (thread + JOINS - 1) % JOINS {
            self.cancel(joined);
        }
        match step {
            0..JOINS => return Next::Ready,
            JOINS if !self.joins(thread) => return Next::Waits,
            _ => record.joins.store(false, Relaxed),
        }
        match record.unwinds.load(Relaxed) {
            true => self.detach(joined),
            false => self.take(joined),
        }
        self.end(thread)
    }

    /// The result of a thread that has ended.
    fn take(&self, thread: usize) {
        if self.world.joins[thread].take() {
            self.world.give(thread);
        }
    }

    fn end(&self, thread: usize) -> Next {
        match self.world.joins[thread].end() {
            End::Keep => {}
            End::Wake(joiner) => self.make_ready(joiner - FIRST),
            End::Drop => assert!(!self.world.joins[thread].take(), "the stack is in use"),
        }
        self.world.records[thread].home.leave();
        Next::Ended
    }
}
