//! A FastThread's record: what is known of it besides its stack.
//!
//! Records of stacks are never freed. One whose thread has ended waits in a pool, with its stack,
//! for the next thread. Everything in it belongs to the thread's processor, and before the thread
//! begins to whoever has it out of a list; what others may touch says so.

use std::cell::{Cell, RefCell};
use std::num::NonZeroUsize;
use std::ptr::{self, NonNull};
use std::sync::atomic::AtomicU32;

use crate::awaited::Awaited;
use crate::cancel::Asked;
use crate::error::Title;
use crate::home::Home;
use crate::join::JoinWord;
use crate::local::Value;
use crate::place::Place;
use crate::processor::here;
use crate::report::Waited;
use crate::scope::Family;
use crate::sleep::Key;
use crate::stack::Stack;
use crate::switch::Context;

/// What is known of a FastThread. Its first line is all that a switch and an end touch.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Thread {
    /// Where it goes on; first, because a thread is told this address when it begins.
    pub context: Context,
    /// The next in the one list that it is in.
    pub next: Cell<Option<&'static Thread>>,
    /// Its end, and who waits for that.
    pub join: JoinWord,
    /// Below this its closure lies before it begins, and its result after it has ended: the top of
    /// its stack, a little lower, so that the tops of many stacks do not compete for the same lines
    /// of a cache.
    pub base: *mut u8,
    /// Its number, from 1.
    pub number: Cell<u64>,
    /// The run that it is a thread of; 0 when it has ended. Every processor may read it.
    pub run: AtomicU32,
    /// Whether there is something in `rare`, or its run has several processors.
    pub is_rare: Cell<bool>,
    /// Whether its stack has been used since it was given back to the system.
    pub is_touched: Cell<bool>,
    /// Whether it is to end where it waits.
    pub asked: Asked,
    /// The processor that it began on, in a run with several.
    pub home: Home,
    /// What it waits for, while it does and is not cancelled.
    pub waits_for: Cell<Option<NonNull<dyn Waited>>>,
    /// What comes from outside that it waits for, as long as it has not come.
    pub awaits: Cell<Option<NonNull<dyn Awaited>>>,
    /// Who is before it in a list of those that wait for such things, or for a monitor; of one that
    /// is in no list of the latter, or the first there, nobody.
    pub before: Cell<Option<&'static Thread>>,
    /// Which of their queues it stands in, if in one.
    pub queue: Cell<Option<NonZeroUsize>>,
    /// Its entry among those that wait for a time.
    pub sleeps: Cell<Option<Key>>,
    /// Its turn among the ready threads of its processor, in a run with several.
    pub turn: Cell<u64>,
    /// A lock is to be its alone; see `RwLock`.
    pub is_writer: Cell<bool>,
    /// Of an E-stack of a host: its number there, from 1; and what its guest is called.
    pub estack: Cell<usize>,
    pub guest: Cell<&'static str>,
    /// Of one that a guest has forked: what the host's loop keeps for it while it waits. 0 before
    /// it begins, while it runs, and when it has ended.
    pub kept: Cell<u64>,
    /// What most threads have not.
    pub rare: RefCell<Rare>,
    /// Its stack.
    pub stack: Stack,
}

/// What most threads have not.
#[derive(Debug, Default)]
pub struct Rare {
    /// What it is called.
    pub name: Option<Box<str>>,
    /// Its thread-locals, in the order in which they were made.
    pub locals: Vec<Value>,
    /// The threads of the scope that it is in, until it has left them.
    pub family: Option<NonNull<Family>>,
}

/// Tops of neighbouring stacks lie so far apart in their pages.
const OFFSET_BYTES: usize = 192;

/// So many different places.
const OFFSETS: usize = 16;

impl Thread {
    /// A record for a kernel thread, which has its own stack.
    pub fn of_kernel_thread() -> Thread {
        Thread::new(0, Stack::NONE)
    }

    /// A record for the `index`th stack of a slab.
    pub fn new(index: usize, stack: Stack) -> Thread {
        Thread {
            context: Context::default(),
            next: Cell::new(None),
            join: JoinWord::new(),
            base: stack.top().wrapping_sub(index % OFFSETS * OFFSET_BYTES),
            number: Cell::new(0),
            run: AtomicU32::new(0),
            is_rare: Cell::new(false),
            is_touched: Cell::new(false),
            asked: Asked::default(),
            home: Home::new(),
            waits_for: Cell::new(None),
            awaits: Cell::new(None),
            before: Cell::new(None),
            queue: Cell::new(None),
            sleeps: Cell::new(None),
            turn: Cell::new(0),
            is_writer: Cell::new(false),
            estack: Cell::new(0),
            guest: Cell::new(""),
            kept: Cell::new(0),
            rare: RefCell::default(),
            stack,
        }
    }

    /// It is to begin on this processor, the caller's, and stays there.
    pub fn settle(&self, place: Place) {
        if self.home.settle(place.team.number(), place.at) {
            self.asked.ask();
        }
    }

    /// The thread whose address this is.
    ///
    /// # Safety
    ///
    /// - S1 record: it is 0, or the exposed address of a record; those are never freed.
    #[inline(always)]
    pub unsafe fn at(address: usize) -> Option<&'static Thread> {
        // SAFETY: S1.
        unsafe { ptr::with_exposed_provenance::<Thread>(address).as_ref() }
    }

    /// Its address, by which words name it that kernel threads share.
    #[inline(always)]
    pub fn address(&self) -> usize {
        ptr::from_ref(self).expose_provenance()
    }

    /// What it awaits, if it does. Only on its processor.
    #[inline]
    pub fn awaited(&self) -> Option<&dyn Awaited> {
        // SAFETY: the thread borrows it, on its own stack, until it goes on, and takes it out of
        // here then; its processor is the caller's, so that it does not go on meanwhile.
        self.awaits.get().map(|awaited| unsafe { awaited.as_ref() })
    }

    /// Whether what it awaits is there.
    #[inline]
    pub fn is_awaited_over(&self) -> bool {
        self.awaited().is_none_or(|awaited| awaited.is_over())
    }

    /// Its number and name, as messages say it; the number alone of a thread that may be running on
    /// another processor.
    pub fn title(&self) -> String {
        self.told().to_string()
    }

    /// The same, as errors have it.
    pub fn told(&self) -> Title {
        let is_seen = here().is_none_or(|processor| processor.is_home_of(self));
        let name = if is_seen { self.rare.borrow().name.clone() } else { None };
        Title::new(self.number.get(), name)
    }
}

/// A thread that has not begun: a `Send` closure on a stack that nobody uses yet.
#[derive(Clone, Copy, Debug)]
pub struct NotBegun(pub &'static Thread);

// SAFETY: its record and its stack are nobody's but of who has this, and its closure is `Send`.
unsafe impl Send for NotBegun {}

/// Threads in the order in which they came. A thread is in at most one such list.
#[derive(Debug, Default)]
pub struct Fifo {
    first: Cell<Option<&'static Thread>>,
    last: Cell<Option<&'static Thread>>,
}

impl Fifo {
    pub const fn new() -> Fifo {
        Fifo { first: Cell::new(None), last: Cell::new(None) }
    }

    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.first.get().is_none()
    }

    /// The first, who stays.
    #[inline(always)]
    pub fn first(&self) -> Option<&'static Thread> {
        self.first.get()
    }

    /// The word that is 0 while it is empty.
    pub fn word(&self) -> *const usize {
        self.first.as_ptr().cast()
    }

    #[inline(always)]
    pub fn push(&self, thread: &'static Thread) {
        thread.next.set(None);
        match self.last.get() {
            Some(last) if !self.is_empty() => last.next.set(Some(thread)),
            _ => self.first.set(Some(thread)),
        }
        self.last.set(Some(thread));
    }

    #[inline(always)]
    pub fn pop(&self) -> Option<&'static Thread> {
        let first = self.first.get()?;
        self.first.set(first.next.get());
        Some(first)
    }
}

/// Threads that wait for a monitor, in the order in which they came. Whoever is among them can be
/// taken out at once, however many there are.
#[derive(Debug, Default)]
pub struct Waiters(Fifo);

impl Waiters {
    pub const fn new() -> Waiters {
        Waiters(Fifo::new())
    }

    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The first, who stays.
    #[inline(always)]
    pub fn first(&self) -> Option<&'static Thread> {
        self.0.first()
    }

    /// All of them, in their order.
    pub fn take(&self) -> Waiters {
        let Fifo { first, last } = &self.0;
        Waiters(Fifo { first: Cell::new(first.take()), last: Cell::new(last.take()) })
    }

    /// The same, so that whoever looks for one of them finds it in no list of this kind.
    pub fn hide(&self) -> Fifo {
        let Waiters(hidden) = self.take();
        let all = std::iter::successors(hidden.first(), |thread| thread.next.get());
        all.for_each(|thread| thread.before.set(None));
        hidden
    }

    #[inline(always)]
    pub fn push(&self, thread: &'static Thread) {
        if !self.is_empty() {
            thread.before.set(self.0.last.get());
        }
        self.0.push(thread);
    }

    #[inline(always)]
    pub fn pop(&self) -> Option<&'static Thread> {
        let first = self.0.pop()?;
        first.before.set(None);
        Some(first)
    }

    /// Takes this one out, which is in no other list of this kind, if it is in this one.
    pub fn remove(&self, thread: &'static Thread) -> bool {
        let Fifo { first, last } = &self.0;
        let is_first = first.get().is_some_and(|first| ptr::eq(first, thread));
        // Who was before the first has gone.
        let before = thread.before.take().filter(|_| !is_first);
        if !is_first && before.is_none() {
            return false;
        }
        // Not before this: of one that is in no list somebody else may write it.
        let next = thread.next.get();
        match before {
            Some(before) => before.next.set(next),
            None => first.set(next),
        }
        match next {
            Some(next) => next.before.set(before),
            None => last.set(before),
        }
        true
    }
}
