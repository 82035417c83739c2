//! A processor: a kernel thread that runs FastThreads, and which one runs next.
//!
//! ```text
//!   running ──yield──▶ ready list ──▶ running            a thread goes on with the next itself:
//!      │ block            ▲                              there is no scheduler between two threads
//!      ▼                  │ wake
//!   some list of a lock, condition, joined thread …
//! ```
//!
//! A thread stays with the processor that it began on: a reference to a thread-local of the kernel
//! thread's stays good, and so does everything that is not `Send`. One that has not begun may be
//! taken by another processor of the run that is idle (`thief.rs`). Decides who runs; knows nothing
//! of locks and results.

use std::cell::Cell;
use std::ptr::{self, NonNull};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use crate::awaited::{Awaited, AwaitedList, For, Idle, WaitEnd};
use crate::circle;
use crate::error::Outside;
use crate::fork_process;
use crate::kernel::{self, panicking, thread_local};
use crate::latch::NOBODY;
use crate::place::Place;
use crate::ready::{Policy, ReadyList};
use crate::report::{Report, Waited, Waiting};
use crate::sleep::Sleepers;
use crate::stacks::{self, Stacks};
use crate::switch::{leave, switch};
use crate::thread::Thread;
use crate::watch::{self, Watched, Watching, Words};
use crate::whole::or_abort;
use seeking::watch_of;

// With their paths, because the schedules (`tests/schedules`) have this file as a module, too.
#[path = "processor/cancelling.rs"]
mod cancelling;
#[path = "processor/hosting.rs"]
mod hosting;
#[path = "processor/seeking.rs"]
mod seeking;
#[path = "processor/sleeping.rs"]
mod sleeping;

thread_local! {
    static HERE: Cell<Option<&'static Processor>> = const { Cell::new(None) };
}

/// A kernel thread that runs FastThreads.
#[derive(Debug)]
pub struct Processor {
    running: Cell<&'static Thread>,
    ready: ReadyList,
    /// The kernel thread itself, on its own stack: it goes on when no FastThread can.
    root: &'static Thread,
    /// Free ones.
    pub stacks: Stacks,
    /// It has slept for so long that what was touched of those is to go back to the system.
    has_idled: Cell<bool>,
    /// Which run this is. No other has the same number.
    run: u32,
    /// The same, if no other processor belongs to the run; else a number that no run has.
    alone_in: u32,
    /// The number of the thread that is forked next, and how far it is from one to the next.
    next_number: Cell<u64>,
    number_step: u64,
    /// How many threads have ended here.
    ended: Cell<u64>,
    /// One that has ended, while the kernel thread sees to it that its stack is left.
    left: Cell<Option<&'static Thread>>,
    /// Those that wait for a time.
    pub sleepers: Sleepers,
    /// Those that wait for something that comes from outside and wakes nobody.
    pub awaited: AwaitedList,
    /// Switches until the inbox and the clock are looked at.
    until_look: Cell<usize>,
    /// How often that was done.
    looks: Cell<usize>,
    /// What is to be done at each look, until it says that it is over.
    chore: Cell<Option<fn() -> bool>>,
    /// How many threads wait for another kernel thread.
    outside: Cell<usize>,
    /// Where whom those have made ready is, and what has not begun.
    place: Place,
    /// The kernel thread has a loop of its own, which decides who goes on: see `host.rs`.
    is_hosted: bool,
    /// If no other processor belongs to the run: what is known to who watches it.
    watched: Watched,
}

/// While threads are ready, the inbox and the clock are looked at after so many switches.
const SWITCHES_PER_LOOK: usize = 32;

/// Things from outside that a poll finds missing before it ends.
const POLL_MISSES: usize = 1;

/// The same for a look, which looks at all of them in turn.
const LOOK_MISSES: usize = 8;

/// A sleep that has no end lasts so long.
const SLEEP_MAX: Duration = Duration::from_secs(3600);

/// The processor that the caller runs on, if it is a FastThread.
#[inline(always)]
pub fn here() -> Option<&'static Processor> {
    HERE.with(Cell::get)
}

/// The same, for what only a FastThread can do.
///
/// # Panics
///
/// If the caller is none.
#[inline(always)]
#[track_caller]
pub fn here_for(what: &str) -> &'static Processor {
    match here() {
        Some(processor) => processor,
        None => refuse(what),
    }
}

#[cold]
#[track_caller]
fn refuse(what: &str) -> ! {
    panic!("{what}: {}", outside())
}

/// Why there is no processor here.
#[cold]
pub fn outside() -> Outside {
    if fork_process::is_child() { Outside::ForkedProcess } else { Outside::KernelThread }
}

#[inline(always)]
fn set_here(processor: Option<&'static Processor>) {
    HERE.with(|here| here.set(processor));
}

/// In the child of a fork(2): no FastThread of its parent's goes on there.
pub fn forget_here() {
    set_here(None);
}

impl Processor {
    /// The processor at this place that the calling kernel thread is, whose record this is, for
    /// stacks of so many bytes.
    pub fn new(
        root: &'static Thread,
        place: Place,
        stack_bytes: usize,
        policy: Option<Box<dyn Policy>>,
    ) -> Processor {
        Processor::make(root, place, stack_bytes, policy, false)
    }

    fn make(
        root: &'static Thread,
        place: Place,
        stack_bytes: usize,
        policy: Option<Box<dyn Policy>>,
        is_hosted: bool,
    ) -> Processor {
        let run = place.team.number();
        Processor {
            running: Cell::new(root),
            ready: ReadyList::new(policy, place, is_hosted),
            root,
            stacks: Stacks::new(stack_bytes),
            has_idled: Cell::new(false),
            run,
            alone_in: if place.is_alone() { run } else { NOBODY },
            next_number: Cell::new(u64::from(place.at) + 1),
            number_step: place.team.members().len() as u64,
            ended: Cell::new(0),
            left: Cell::new(None),
            sleepers: Sleepers::default(),
            until_look: Cell::new(SWITCHES_PER_LOOK),
            looks: Cell::new(0),
            chore: Cell::new(None),
            outside: Cell::new(0),
            awaited: AwaitedList::default(),
            place,
            is_hosted,
            watched: Watched::new(),
        }
    }

    /// The run is over: its policy is dropped on the kernel thread that has made it.
    pub fn drop_policy(&self) {
        self.ready.drop_policy();
    }

    /// Makes the calling kernel thread this processor, and runs what is ready and what that makes
    /// ready, until nothing on any processor of the run can make anything ready.
    pub fn run(&'static self) -> Tally {
        set_here(Some(self));
        or_abort(|| {
            loop {
                self.go_on(self.root, self.next());
                if !self.give_left() {
                    break;
                }
            }
        });
        set_here(None);
        self.tally()
    }

    /// If a thread has ended and its stack is left, sees to whose that is. False: none has.
    #[inline]
    fn give_left(&self) -> bool {
        let Some(ended) = self.left.take() else { return false };
        if ended.join.leave() {
            self.stacks.give(ended);
        }
        true
    }

    /// What has been forked here, and has ended.
    pub fn tally(&self) -> Tally {
        let forked = (self.next_number.get() - 1 - u64::from(self.place.at)) / self.number_step;
        Tally { forked, ended: self.ended.get(), late: self.late() }
    }

    /// The run's number.
    #[inline(always)]
    pub fn run_number(&self) -> u32 {
        self.run
    }

    /// The same, if the run has no other processor; else a number that is no run's.
    #[inline(always)]
    pub fn alone_in(&self) -> u32 {
        self.alone_in
    }

    /// Whether the run has no other processor.
    #[inline(always)]
    pub fn is_alone(&self) -> bool {
        self.alone_in != NOBODY
    }

    /// Where others reach it.
    pub fn place(&self) -> Place {
        self.place
    }

    /// Whether this thread of the run began here.
    pub fn is_home_of(&self, thread: &Thread) -> bool {
        self.is_alone() || thread.home.is(self.run, self.place.at)
    }

    /// The thread that runs.
    #[inline(always)]
    pub fn running(&self) -> &'static Thread {
        self.running.get()
    }

    /// A prepared thread of this run is to run; on this processor, if `stays`.
    #[inline(always)]
    pub fn begin(&self, thread: &'static Thread, stays: bool) {
        if stays { self.ready.begin_here(thread) } else { self.ready.fork(thread) }
    }

    /// A prepared thread is one of this run's from now on.
    #[inline(always)]
    pub fn number(&self, thread: &'static Thread) {
        let number = self.next_number.get();
        self.next_number.set(number + self.number_step);
        thread.number.set(number);
        // Relaxed: tells no more than itself.
        thread.run.store(self.run, Ordering::Relaxed);
    }

    /// Lets every ready thread run before the caller goes on.
    #[inline(always)]
    pub fn yield_now(&self) {
        if panicking() {
            return;
        }
        let running = self.running.get();
        self.ready.push(running);
        self.go_on(running, self.next());
    }

    /// Suspends the running thread, which somebody's list has, until it is made ready.
    #[inline(always)]
    pub fn block(&self, waited: &dyn Waited) {
        self.suspend(waited).waits_for.set(None);
    }

    /// The same, which leaves what it waits for where a cancel looks for it.
    #[inline(always)]
    fn suspend(&self, waited: &dyn Waited) -> &'static Thread {
        if panicking() {
            self.refuse_to_block(waited);
        }
        let running = self.running.get();
        // SAFETY: only the lifetime changes. The thread has borrowed it until this returns, and
        // then it is forgotten.
        let waited = unsafe {
            std::mem::transmute::<NonNull<dyn Waited + '_>, NonNull<dyn Waited + 'static>>(
                NonNull::from(waited),
            )
        };
        running.waits_for.set(Some(waited));
        if cfg!(debug_assertions) {
            or_abort(|| circle::begin(self, running, waited));
        }
        self.go_on(running, self.next());
        if cfg!(debug_assertions) {
            circle::end(running);
        }
        running
    }

    /// Makes a blocked thread of the run ready.
    #[inline(always)]
    pub fn wake(&self, thread: &'static Thread) {
        if self.ready.is_plain() { self.ready.push(thread) } else { self.wake_at_home(thread) }
    }

    #[inline(never)]
    fn wake_at_home(&self, thread: &'static Thread) {
        if self.is_home_of(thread) {
            return self.ready.push(thread);
        }
        Place { at: thread.home.at(), ..self.place }.deliver(thread);
    }

    /// The running thread has ended, in a run with other processors, which may take its result from
    /// its stack. Who takes that and who leaves the stack agree on whose it is.
    pub fn end_among_others(&self, thread: &'static Thread) -> ! {
        self.ended.set(self.ended.get() + 1);
        self.left.set(Some(thread));
        self.running.set(self.root);
        // SAFETY: S1: the kernel thread is suspended in `run`, whose loop is all that goes on with
        // it. S3: it is this processor's own.
        unsafe { leave(&self.root.context) }
    }

    /// The running thread has ended. Its record and its stack are somebody else's after this, or
    /// free already; its frames are used until this jumps, on this processor, so by nobody.
    #[inline(always)]
    pub fn end(&self) -> ! {
        self.ended.set(self.ended.get() + 1);
        let next = self.next();
        self.running.set(next);
        // SAFETY: `next` was prepared or suspended and is in no list now, and threads in lists of
        // this processor are this kernel thread's. Nobody goes on with a thread that has ended.
        unsafe { leave(&next.context) }
    }

    /// The same as [`Processor::block`] for a thread that another kernel thread makes ready.
    pub fn block_outside(&self, waited: &dyn Waited) {
        self.outside.set(self.outside.get() + 1);
        self.block(waited);
        self.outside.set(self.outside.get() - 1);
    }

    /// Who goes on now: the kernel thread itself if no other can.
    #[inline(always)]
    fn next(&self) -> &'static Thread {
        let left = self.until_look.get() - 1;
        self.until_look.set(left);
        if left == 0 {
            self.look();
        }
        match self.ready.pop() {
            Some(next) => next,
            None => self.idle(),
        }
    }

    /// See [`crate::at_each_switch`].
    pub fn at_each_switch(&self, chore: fn() -> bool) {
        self.chore.set(Some(chore));
        self.until_look.set(1);
    }

    /// Makes those ready whom other kernel threads or the clock have made ready.
    #[cold]
    pub fn look(&self) {
        or_abort(|| self.look_at_all());
    }

    fn look_at_all(&self) {
        self.looks.set(self.looks.get().wrapping_add(1));
        self.until_look.set(SWITCHES_PER_LOOK);
        if let Some(chore) = self.chore.take()
            && chore()
        {
            self.at_each_switch(chore);
        }
        self.accept();
        if !self.is_alone() {
            self.stacks.share();
        }
        if !self.awaited.is_empty() {
            self.poll();
            self.awaited.sweep_some(LOOK_MISSES, |thread| self.wake_awaiting(thread));
        }
        if self.sleepers.next().is_some() {
            self.wake_late();
        }
    }

    /// Makes those ready that were delivered here.
    fn accept(&self) {
        let mut next = self.place.take_delivered();
        while let Some(thread) = next {
            next = thread.next.get();
            // Relaxed: who delivers a thread has seen what is written there. Nothing but a thread
            // that is to tell something is no run's yet.
            match thread.run.load(Ordering::Relaxed) == self.run {
                true => self.ready.push(thread),
                false => self.ready.push_teller(thread),
            }
        }
    }

    /// Looks at what has been awaited longest, and at what follows as long as it is there. True: a
    /// thread is ready, or may be.
    #[inline]
    pub fn poll(&self) -> bool {
        self.awaited.sweep(POLL_MISSES, |thread| self.wake_awaiting(thread));
        !self.ready.is_empty() || self.is_wanted()
    }

    /// Whether another kernel thread has made a thread ready, or has more than it can begin.
    #[inline]
    fn is_wanted(&self) -> bool {
        self.place.member().inbox.has_some()
            || (!self.is_alone() && self.place.team.seems_to_have_plenty_for(self.place.at.into()))
    }

    /// Whether a thread is ready, or there is one to take from another processor.
    #[inline]
    pub fn has_ready(&self) -> bool {
        !self.ready.is_empty() || self.ready.finds_loot()
    }

    /// What it has awaited is there, and it is in no list.
    #[inline]
    fn wake_awaiting(&self, thread: &'static Thread) {
        thread.awaits.set(None);
        self.sleepers.remove(thread);
        self.ready.push(thread);
    }

    /// Suspends the running thread until that is over, at most until then.
    #[inline]
    pub fn wait_for(&self, awaited: &dyn Awaited, until: Option<Instant>) -> WaitEnd {
        let running = self.running.get();
        // SAFETY: only the lifetime changes. The thread has borrowed it until this returns, and
        // then it is forgotten.
        let awaits = unsafe {
            std::mem::transmute::<NonNull<dyn Awaited + '_>, NonNull<dyn Awaited + 'static>>(
                NonNull::from(awaited),
            )
        };
        running.awaits.set(Some(awaits));
        self.awaited.push(running);
        if let Some(until) = until {
            self.sleepers.push(until, running);
        }
        let ended = self.block_unless_cancelled(&For(awaited));
        match (ended, running.awaits.take()) {
            (Err(unwind), _) => WaitEnd::Cancelled(unwind),
            (Ok(()), None) => WaitEnd::Over,
            (Ok(()), Some(_)) => WaitEnd::Late,
        }
    }

    /// Waits until a thread is ready, on the stack of whoever was the last to run (U28), which may
    /// be the next.
    #[cold]
    fn idle(&self) -> &'static Thread {
        if self.is_hosted { self.root } else { or_abort(|| self.wait_for_next()) }
    }

    fn wait_for_next(&self) -> &'static Thread {
        let mut seeks = 0;
        loop {
            self.look();
            if let Some(next) = self.ready.pop() {
                return next;
            }
            if self.ready.steal() {
                continue;
            }
            if let Some(awaited) = self.awaited.oldest().and_then(Thread::awaited) {
                awaited.idle(&Idle(self));
                continue;
            }
            let is_over = match self.is_alone() {
                true => !self.waits_outside(),
                false => self.place.team.is_over(),
            };
            if is_over {
                return self.root;
            }
            if self.seek(&mut seeks) {
                continue;
            }
            let processors = self.place.team.members().len();
            let longest = if self.is_alone() { SLEEP_MAX } else { watch_of(processors) };
            self.sleep(longest, |word, left| {
                kernel::wait(word.word, word.expected, left);
            });
        }
    }

    /// Whether something from outside may make a thread ready that is in no list of those that are
    /// looked at.
    fn waits_outside(&self) -> bool {
        self.sleepers.next().is_some() || self.outside.get() > 0
    }

    #[inline(always)]
    fn go_on(&self, from: &'static Thread, to: &'static Thread) {
        if ptr::eq(from, to) {
            return;
        }
        self.running.set(to);
        // SAFETY: `to` was prepared or suspended and is in no list now, `from` runs, and whoever
        // goes on with it does so on this processor, so after the jump.
        unsafe { switch(&from.context, &to.context) };
    }

    /// In a run without others, has a kernel thread look whether this one is stuck.
    pub fn watch(&'static self) -> Option<Watching> {
        let (until_look, looks) = (self.until_look.as_ptr(), self.looks.as_ptr());
        let words = Words { until_look, looks, ready: self.ready.words() };
        self.is_alone().then(|| watch::begin(self.run, words, &self.watched))
    }

    /// How many threads were begun here because another processor was stuck; of one that is alone,
    /// how often it was stuck itself.
    pub fn late(&self) -> u64 {
        self.ready.late() + self.watched.late()
    }

    /// Every thread that began here and has not ended; of a run that stands still, every thread.
    pub fn report(&self, late: u64) -> Report {
        let is_seen = |thread: &Thread| here().is_none() || self.is_home_of(thread);
        let mut waiting = Vec::new();
        stacks::for_each(|thread| {
            // Relaxed: a thread that began here is this kernel thread's, which wrote it.
            if thread.run.load(Ordering::Relaxed) == self.run && is_seen(thread) {
                waiting.push(Waiting::of(thread));
            }
        });
        Report::new(waiting, late)
    }

    #[cold]
    fn refuse_to_block(&self, waited: &dyn Waited) -> ! {
        let (title, waited) = (self.running.get().title(), waited.describe());
        eprintln!(
            "{title} would wait for {waited} while it unwinds: aborting. Panics are counted for \
             the kernel thread, so that no other FastThread can run there until this one has \
             unwound; in a destructor, try a lock, or fork a thread that waits for it"
        );
        std::process::abort()
    }
}

/// How many threads a processor has forked, how many have ended on it, and how many it has begun
/// because another one was stuck.
#[derive(Clone, Copy, Debug)]
pub struct Tally {
    pub forked: u64,
    pub ended: u64,
    pub late: u64,
}

impl Tally {
    pub fn add(self, other: Tally) -> Tally {
        let Tally { forked, ended, late } = other;
        Tally { forked: self.forked + forked, ended: self.ended + ended, late: self.late + late }
    }
}
