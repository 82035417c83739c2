//! The ready list: in the order in which threads became ready, or as the application says (U27).
//!
//! ```text
//!   one processor        fork, wake, yield ──▶ FIFO ──▶ running
//!   several              wake, yield ────────▶ FIFO ──┬▶ running, whose turn is first
//!                        fork ──▶ not begun ──────────┤
//!                                                     └▶ another processor's not begun
//! ```

use std::cell::{Cell, RefCell, RefMut};
use std::fmt;
use std::sync::atomic::Ordering;

use crate::place::Place;
use crate::thief::Thief;
use crate::thread::{Fifo, NotBegun, Thread};
use crate::unbegun::Entry;
use crate::whole::or_abort;

/// Which thread runs next on a processor, decided by the application.
///
/// Is asked between two threads, on the stack of one of them: it should decide soon, and must not
/// itself fork, yield, wait or wake a thread. One that panics ends the process, and so does
/// one that does such a thing, or gives a thread of another run.
///
/// ```
/// use nearcall_threads::{Policy, Ready, Setup, fork};
/// /// The thread that became ready last runs first.
/// #[derive(Default)]
/// struct Last(Vec<Ready>);
/// impl Policy for Last {
///     fn add(&mut self, thread: Ready) {
///         self.0.push(thread);
///     }
///     fn next(&mut self) -> Option<Ready> {
///         self.0.pop()
///     }
/// }
/// let setup = Setup::default().policy(Last::default);
/// assert_eq!(setup.run(|| fork(|| 3).unwrap().join().unwrap()).unwrap(), 3);
/// ```
pub trait Policy {
    /// A thread is ready.
    fn add(&mut self, thread: Ready);

    /// Gives the thread that is to run next; none only if it has none.
    fn next(&mut self) -> Option<Ready>;
}

/// A thread that is ready. Whoever drops it never runs the thread, and the run ends in a deadlock,
/// whose report says so.
#[must_use = "the thread runs when a policy gives this back, and never else"]
pub struct Ready(&'static Thread);

impl Ready {
    /// Its number: 1 is the first of a run.
    pub fn number(&self) -> u64 {
        self.0.number.get()
    }

    /// Its name, if it has one.
    pub fn name(&self) -> Option<String> {
        self.0.rare.borrow().name.as_deref().map(str::to_owned)
    }
}

/// What ends the process when a policy makes a thread ready, or asks for one, while it is asked.
const REENTERED: &str = "a policy forks, yields, waits or wakes a thread while it is asked";

/// The ready list of a processor.
pub struct ReadyList {
    fifo: Fifo,
    /// It is all there is: neither a policy nor other processors.
    is_plain: Cell<bool>,
    run: u32,
    /// Where the threads are instead, if there is one, and how many it has.
    policy: RefCell<Option<Box<dyn Policy>>>,
    held: Cell<usize>,
    /// Where those are that have not begun, if there are other processors.
    common: Option<Common>,
    /// The kernel thread's own loop takes threads out, and nobody else.
    is_hosted: bool,
}

/// What other processors have to do with it.
struct Common {
    place: Place,
    /// How many threads have become ready here: the next one's turn.
    turns: Cell<u64>,
    thief: Thief,
}

impl Common {
    fn turn(&self) -> u64 {
        self.turns.replace(self.turns.get() + 1)
    }

    /// A thread may begin here, or anywhere.
    fn fork(&self, thread: NotBegun) {
        self.place.fork(Entry { turn: self.turn(), thread });
    }

    /// The oldest thread that has not begun, if its turn is before this one.
    fn begin_before(&self, turn: u64) -> Option<&'static Thread> {
        let NotBegun(thread) = self.place.member().unbegun.pop_before(turn)?;
        thread.settle(self.place);
        Some(thread)
    }
}

impl ReadyList {
    /// A list with that policy, or first come, first served; of a processor that is alone, or not.
    pub fn new(policy: Option<Box<dyn Policy>>, place: Place, is_hosted: bool) -> ReadyList {
        let new = |place| Common { place, turns: Cell::new(1), thief: Thief::new(place) };
        let common = (!place.is_alone()).then(|| new(place));
        let is_plain = Cell::new(policy.is_none() && common.is_none());
        let (policy, held) = (RefCell::new(policy), Cell::new(0));
        let run = place.team.number();
        ReadyList { fifo: Fifo::new(), is_plain, run, policy, held, common, is_hosted }
    }

    /// Whether it is nothing but a list.
    #[inline(always)]
    pub fn is_plain(&self) -> bool {
        self.is_plain.get()
    }

    /// Whether no thread that has begun is ready.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.fifo.is_empty() && self.held.get() == 0
    }

    /// A thread of this processor is ready.
    #[inline(always)]
    pub fn push(&self, thread: &'static Thread) {
        if self.is_plain.get() { self.fifo.push(thread) } else { self.add(thread) }
    }

    /// A thread that another processor has prepared is to tell this one something, and nothing
    /// else: no policy is asked when.
    pub fn push_teller(&self, teller: &'static Thread) {
        self.add_in_turn(teller);
    }

    /// A thread is to begin, here or on another processor.
    #[inline(always)]
    pub fn fork(&self, thread: &'static Thread) {
        if self.is_plain.get() { self.fifo.push(thread) } else { self.offer(thread) }
    }

    /// A thread is to begin here, and nowhere else.
    pub fn begin_here(&self, thread: &'static Thread) {
        self.settle(thread);
        self.push(thread);
    }

    /// A thread that is in no list stays on this processor, whichever it was forked on.
    pub fn settle(&self, thread: &'static Thread) {
        if let Some(common) = &self.common {
            thread.is_rare.set(true);
            thread.settle(common.place);
        }
    }

    /// Takes the next thread out.
    #[inline(always)]
    pub fn pop(&self) -> Option<&'static Thread> {
        if self.is_plain.get() { self.fifo.pop() } else { self.next() }
    }

    #[inline(never)]
    fn add(&self, thread: &'static Thread) {
        if !or_abort(|| self.add_by_policy(thread)) {
            self.add_in_turn(thread);
        }
    }

    /// False: there is no policy.
    fn add_by_policy(&self, thread: &'static Thread) -> bool {
        let mut policy = self.asked_policy();
        if let Some(policy) = &mut *policy {
            policy.add(Ready(thread));
            self.held.set(self.held.get() + 1);
        }
        policy.is_some()
    }

    /// The policy, which is asked one thing at a time.
    fn asked_policy(&self) -> RefMut<'_, Option<Box<dyn Policy>>> {
        let policy = self.policy.try_borrow_mut();
        policy.unwrap_or_else(|_| panic!("{REENTERED}"))
    }

    fn add_in_turn(&self, thread: &'static Thread) {
        thread.turn.set(self.common.as_ref().map_or(0, Common::turn));
        self.fifo.push(thread);
    }

    #[inline(never)]
    fn offer(&self, thread: &'static Thread) {
        match &self.common {
            Some(common) => {
                thread.is_rare.set(true);
                thread.home.fork();
                common.fork(NotBegun(thread));
            }
            None => self.add(thread),
        }
    }

    #[inline(never)]
    fn next(&self) -> Option<&'static Thread> {
        if self.is_hosted { None } else { self.next_of_several() }
    }

    /// The next thread, for the host.
    pub fn pop_hosted(&self) -> Option<&'static Thread> {
        self.next_of_several()
    }

    fn next_of_several(&self) -> Option<&'static Thread> {
        let Some(common) = &self.common else { return self.next_by_policy() };
        if self.policy.borrow().is_some() {
            // It decides among all, so they stay here.
            while let Some(thread) = common.begin_before(u64::MAX) {
                self.add(thread);
            }
            // What is in the list beside a policy tells the processor something: it goes first.
            return self.fifo.pop().or_else(|| self.next_by_policy());
        }
        let turn = self.fifo.first().map_or(u64::MAX, |first| first.turn.get());
        common.begin_before(turn).or_else(|| self.fifo.pop())
    }

    fn next_by_policy(&self) -> Option<&'static Thread> {
        let next = or_abort(|| {
            let next = self.asked_policy().as_mut()?.next();
            next.inspect(|Ready(thread)| self.refuse_foreign(thread))
        });
        // One that says it has none has dropped the others.
        self.held.set(if next.is_some() { self.held.get().saturating_sub(1) } else { 0 });
        next.map(|Ready(thread)| thread)
    }

    /// The run is over, and nobody is ready any more.
    pub fn drop_policy(&self) {
        // Without a borrow: its drop is anybody's code.
        let policy = self.policy.take();
        drop(policy);
    }

    /// A policy may have kept a thread of a run that has ended in a deadlock.
    fn refuse_foreign(&self, thread: &Thread) {
        // Relaxed: a thread that began on this kernel thread, which wrote it.
        let run = thread.run.load(Ordering::Relaxed);
        let own = self.run;
        assert!(run == own, "a policy of run {own} gives {} of run {run}", thread.title());
    }

    /// Whether another processor has threads that have waited too long to begin.
    pub fn finds_loot(&self) -> bool {
        self.common.as_ref().is_some_and(|common| common.thief.find().is_some())
    }

    /// Takes such threads from another processor. True: some may begin here now.
    pub fn steal(&self) -> bool {
        let Some(common) = &self.common else { return false };
        common.thief.steal(|thread| common.fork(thread))
    }

    /// Words of which one is not 0 while a thread is ready, for `watch.rs`.
    pub fn words(&self) -> [*const usize; 2] {
        [self.fifo.word(), self.held.as_ptr()]
    }

    /// How many threads were begun here because their own processor was late.
    pub fn late(&self) -> u64 {
        self.common.as_ref().map_or(0, |common| common.thief.late())
    }
}

impl fmt::Debug for Ready {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (number, name) = (self.number(), self.name());
        f.debug_struct("Ready").field("number", &number).field("name", &name).finish()
    }
}

impl fmt::Debug for ReadyList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReadyList").field("fifo", &self.fifo).finish_non_exhaustive()
    }
}
