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
//! thread's stays good, and so does everything that is not `Send`. Decides who runs; knows nothing
//! of locks and results.

use std::cell::Cell;
use std::ptr::{self, NonNull};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use rustix::thread::futex;

use crate::awaited::{Awaited, AwaitedList, Enders, For, Idle, Word};
use crate::error::Outside;
use crate::fork_process;
use crate::inbox::Inbox;
use crate::ready::{Policy, ReadyList};
use crate::report::{Report, Waited, Waiting};
use crate::sleep::Sleepers;
use crate::stack::Stack;
use crate::stacks::{self, Stacks};
use crate::switch::{leave, switch};
use crate::thread::Thread;

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
    /// Which run this is. No other has the same number.
    run: u32,
    /// How many threads were forked here, and how many of them have ended.
    forked: Cell<u64>,
    ended: Cell<u64>,
    /// Those that wait for a time.
    pub sleepers: Sleepers,
    /// Those that wait for something that comes from outside and wakes nobody.
    pub awaited: AwaitedList,
    /// Switches until the inbox and the clock are looked at.
    until_look: Cell<u32>,
    /// What is to be done at each look, until it says that it is over.
    chore: Cell<Option<fn() -> bool>>,
    /// How many threads wait for another kernel thread.
    outside: Cell<usize>,
    /// Whom those have made ready.
    inbox: Inbox,
}

/// While threads are ready, the inbox and the clock are looked at after so many switches.
const SWITCHES_PER_LOOK: u32 = 32;

/// Things from outside that a poll finds missing before it ends.
const POLL_MISSES: usize = 1;

/// The same for a look, which looks at all of them in turn.
const LOOK_MISSES: usize = 8;

/// A sleep that has no end lasts so long.
const SLEEP_MAX: Duration = Duration::from_secs(3600);

/// The processor that the caller runs on, if it is a FastThread.
#[inline(always)]
pub fn here() -> Option<&'static Processor> {
    HERE.get()
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

/// In the child of a fork(2): no FastThread of its parent's goes on there.
pub fn forget_here() {
    HERE.set(None);
}

impl Processor {
    /// The processor that the calling kernel thread is for a run, for stacks of so many bytes.
    pub fn new(
        run: u32,
        stack_bytes: usize,
        policy: Option<Box<dyn Policy>>,
    ) -> &'static Processor {
        let root: &'static Thread = Box::leak(Box::new(Thread::new(0, Stack::NONE)));
        Box::leak(Box::new(Processor {
            running: Cell::new(root),
            ready: ReadyList::new(policy),
            root,
            stacks: Stacks::new(stack_bytes),
            run,
            forked: Cell::new(0),
            ended: Cell::new(0),
            sleepers: Sleepers::default(),
            until_look: Cell::new(SWITCHES_PER_LOOK),
            chore: Cell::new(None),
            outside: Cell::new(0),
            awaited: AwaitedList::default(),
            inbox: Inbox::new(),
        }))
    }

    /// Makes the calling kernel thread this processor, and runs what is ready and what that makes
    /// ready. True if no thread is left; false if those that are left wait for each other.
    pub fn run(&'static self) -> bool {
        HERE.set(Some(self));
        self.go_on(self.root, self.next());
        HERE.set(None);
        self.forked.get() == self.ended.get()
    }

    /// The run's number.
    #[inline(always)]
    pub fn run_number(&self) -> u32 {
        self.run
    }

    /// The thread that runs.
    #[inline(always)]
    pub fn running(&self) -> &'static Thread {
        self.running.get()
    }

    /// A prepared thread is to run here.
    #[inline(always)]
    pub fn begin(&self, thread: &'static Thread) {
        let number = self.forked.get() + 1;
        self.forked.set(number);
        thread.number.set(number);
        // Relaxed: tells no more than itself.
        thread.run.store(self.run, Ordering::Relaxed);
        self.ready.push(thread);
    }

    /// Lets every ready thread run before the caller goes on.
    #[inline(always)]
    pub fn yield_now(&self) {
        if std::thread::panicking() {
            return;
        }
        let running = self.running.get();
        self.ready.push(running);
        self.go_on(running, self.next());
    }

    /// Suspends the running thread, which somebody's list has, until it is made ready.
    #[inline(always)]
    pub fn block(&self, waited: &dyn Waited) {
        if std::thread::panicking() {
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
        self.go_on(running, self.next());
        running.waits_for.set(None);
    }

    /// Makes a blocked thread of this processor ready.
    #[inline(always)]
    pub fn wake(&self, thread: &'static Thread) {
        self.ready.push(thread);
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

    /// Makes a thread of this processor that is in `block_outside` ready; from any kernel thread.
    pub fn wake_from_outside(&self, thread: &'static Thread) {
        let link = |before: usize| {
            let before = ptr::with_exposed_provenance::<Thread>(before);
            // SAFETY: 0, or the address of a record that was pushed here; records stay for good.
            thread.next.set(unsafe { before.as_ref() });
        };
        if self.inbox.push(ptr::from_ref(thread).expose_provenance(), link) {
            // Refused only for words that are not mapped or not aligned.
            let _ = futex::wake(self.inbox.wakes(), futex::Flags::PRIVATE, 1);
        }
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
        self.until_look.set(SWITCHES_PER_LOOK);
        if let Some(chore) = self.chore.take()
            && chore()
        {
            self.at_each_switch(chore);
        }
        let last = ptr::with_exposed_provenance::<Thread>(self.inbox.take());
        // SAFETY: 0, or the address of a record that was pushed; records stay for good.
        let mut last: Option<&'static Thread> = unsafe { last.as_ref() };
        let mut first = None;
        while let Some(thread) = last {
            last = thread.next.replace(first);
            first = Some(thread);
        }
        while let Some(thread) = first {
            first = thread.next.get();
            self.ready.push(thread);
        }
        if !self.awaited.is_empty() {
            self.poll();
            self.awaited.sweep_some(LOOK_MISSES, |thread| self.wake_awaiting(thread));
        }
        if self.sleepers.next().is_some() {
            let now = Instant::now();
            while let Some(thread) = self.sleepers.pop(now) {
                if thread.awaits.get().is_some() {
                    self.awaited.remove(thread);
                }
                self.ready.push(thread);
            }
        }
    }

    /// Looks at what has been awaited longest, and at what follows as long as it is there. True: a
    /// thread is ready, or may be.
    #[inline]
    pub fn poll(&self) -> bool {
        self.awaited.sweep(POLL_MISSES, |thread| self.wake_awaiting(thread));
        self.has_ready() || self.inbox.has_some()
    }

    /// Whether a thread is ready.
    #[inline]
    pub fn has_ready(&self) -> bool {
        !self.ready.is_empty()
    }

    /// What it has awaited is there, and it is in no list.
    #[inline]
    fn wake_awaiting(&self, thread: &'static Thread) {
        thread.awaits.set(None);
        self.sleepers.remove(thread);
        self.ready.push(thread);
    }

    /// Suspends the running thread until that is over, at most until then; false: it was late.
    pub fn wait_for(&self, awaited: &dyn Awaited, until: Option<Instant>) -> bool {
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
        self.block(&For(awaited));
        running.awaits.take().is_none()
    }

    /// Waits until a thread is ready, on the stack of whoever was the last to run (U28), which may
    /// be the next.
    #[cold]
    fn idle(&self) -> &'static Thread {
        loop {
            self.look();
            if let Some(next) = self.ready.pop() {
                return next;
            }
            if let Some(awaited) = self.awaited.oldest().and_then(Thread::awaited) {
                awaited.idle(&Idle(self));
                continue;
            }
            if self.sleepers.next().is_none() && self.outside.get() == 0 {
                return self.root;
            }
            self.sleep(|word, left| {
                let Ok(left) = left.try_into() else { return };
                let flags = futex::Flags::PRIVATE;
                // Whatever it says, `idle` looks again.
                let _ = futex::wait(word.word, flags, word.expected, Some(&left));
            });
        }
    }

    /// Has `sleep` sleep until something is in the inbox, at most so long. May wake for nothing.
    fn sleep(&self, sleep: impl FnOnce(Word<'_>, Duration)) {
        while self.stacks.trim(self.running.get()) {
            if self.inbox.has_some() {
                return;
            }
        }
        if !self.inbox.fall_asleep() {
            return;
        }
        if let Some(expected) = self.inbox.prepare_wait() {
            let left = |until: Instant| until.saturating_duration_since(Instant::now());
            let left = self.sleepers.next().map_or(SLEEP_MAX, left);
            sleep(Word { word: self.inbox.wakes(), expected, is_own: true }, left.min(SLEEP_MAX));
        }
        self.inbox.wake_up();
    }

    /// See [`Idle::sleep`].
    pub fn sleep_for_awaited(
        &self,
        enders: Enders,
        sleep: impl FnOnce(&[Word<'_>], Duration) -> bool,
    ) -> bool {
        let (first, count_max) = match enders {
            Enders::Oldest(count) => (self.awaited.first(), count),
            Enders::Newest => (self.awaited.newest(), 1),
        };
        let threads = || std::iter::successors(first, |thread| thread.next.get()).take(count_max);
        let mut asleep = 0;
        let mut is_late = false;
        self.sleep(|inbox, left| {
            let mut words = vec![inbox];
            let fall_asleep = |thread: &'static Thread| thread.awaited()?.fall_asleep();
            words.extend(threads().map_while(fall_asleep));
            asleep = words.len() - 1;
            if asleep == threads().count() {
                is_late = sleep(&words, left);
            }
        });
        for awaited in threads().take(asleep).filter_map(Thread::awaited) {
            awaited.wake_up(is_late);
        }
        self.awaited.sweep(usize::MAX, |thread| self.wake_awaiting(thread));
        is_late
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

    /// Every thread of this run that has not ended.
    pub fn report(&self) -> Report {
        let mut waiting = Vec::new();
        stacks::for_each(|thread| {
            // Relaxed: a thread of this run is this processor's, which wrote it.
            if thread.run.load(Ordering::Relaxed) == self.run {
                waiting.push(Waiting::of(thread));
            }
        });
        Report::new(waiting)
    }

    #[cold]
    fn refuse_to_block(&self, waited: &dyn Waited) -> ! {
        // The kernel thread counts its panics; another FastThread's would be mixed up with this.
        let title = self.running.get().title();
        eprintln!("{title} would wait for {} while it unwinds: aborting", waited.describe());
        std::process::abort()
    }
}
