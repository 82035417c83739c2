//! A kernel thread that has a loop of its own, and some of whose work may have to wait: it does
//! that on E-stacks, and goes on with its loop meanwhile (L26 to L29).
//!
//! ```text
//!   loop of the kernel thread                E-stacks: FastThreads that wait for the next guest
//!      begin ──────────── switch ──────────▶ run ──▶ returns ─┐
//!        ◀── its output ◀─────────────────────────────────────┘ free, used last
//!        ◀── nothing yet ◀─── it waits ◀──── run ──▶ waits for a lock, a reply, a time …
//!      run_ready ───────── switch ─────────────────▶ … ──▶ returns ──▶ finish ──▶ free
//!      sleep ─▶ those that were used longest ago end; their memory goes back to the system
//! ```
//!
//! Every switch goes from the loop to a thread or back, so that the loop may set up what belongs to
//! a guest. Several such kernel threads are one run, so that their guests may share locks; each has
//! its own guests, which stay (0011).

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::fmt;
use std::rc::Rc;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::awaited::Word;
use crate::error::RunError;
use crate::fork::fork_guest;
use crate::fork_process;
use crate::local;
use crate::overflow;
use crate::place::Place;
use crate::processor::{Processor, here_for};
use crate::report::Waited;
use crate::run::PROCESSORS_MAX;
use crate::runs;
use crate::stack::{STACK_BYTES_MAX, STACK_BYTES_MIN, STACK_BYTES_STEP};
use crate::stacks::Stacks;
use crate::team::Team;
use crate::thread::{NotBegun, Thread};
use crate::whole::or_abort;

/// A processor that sleeps keeps so many free E-stacks.
const KEPT: usize = 32;

/// After the system has refused memory for an E-stack none is made for so long: guests wait for
/// those that there are.
const RETRY: Duration = Duration::from_millis(10);

/// Something that runs on an E-stack. None of it may panic: that ends the process.
pub trait Guest: 'static {
    /// What comes of it.
    type Output: 'static;

    /// What it is called: for the message about a stack's overflow.
    fn name(&self) -> &'static str;

    /// Runs, as a FastThread.
    fn run(&self) -> Self::Output;

    /// The loop is about to go on with it, after it has waited.
    fn resume(&self);

    /// It waits: the loop goes on without it.
    fn suspend(&self);

    /// It has returned after it has waited; called on its E-stack.
    fn finish(&self, output: Self::Output);

    /// The loop is about to go on with a thread that a guest has forked, for which `kept` is kept;
    /// 0: it begins, or nothing is.
    fn resume_forked(kept: u64) {
        let _ = kept;
    }

    /// Such a thread waits or has ended: the loop goes on without it, and keeps that for it.
    fn suspend_forked() -> u64 {
        0
    }
}

/// Kernel threads with loops of their own, whose guests may share locks.
pub struct Hosts {
    team: &'static Team<NotBegun>,
    stack_bytes: usize,
    places: Mutex<Places>,
}

/// Which places of the team are taken.
struct Places {
    /// So many were taken at some time.
    used: usize,
    /// Of those the ones that are not any more.
    vacant: Vec<Vacant>,
}

/// A processor that no kernel thread is. All that may be left there is what others have told it of
/// threads that have ended: who takes it hears that.
struct Vacant(&'static Processor);

// SAFETY: it has no threads that have begun, and nobody touches it but whoever takes it out of the
// list.
unsafe impl Send for Vacant {}

/// Where what hosts were ever made of lies. It stays, as records of threads do, and nobody reaches
/// it from here: but a checker of leaks finds it, like the one of C's address sanitizer.
pub(crate) type Made = Vec<usize>;

static MADE: Mutex<Made> = Mutex::new(Vec::new());

/// One of them, on its kernel thread.
pub struct Host<G: Guest> {
    hosts: Arc<Hosts>,
    processor: &'static Processor,
    /// All that there are, by number.
    estacks: RefCell<Vec<Rc<EStack<G>>>>,
    /// Those that wait for a guest, the one that was used last at the end.
    free: RefCell<Vec<usize>>,
    /// Numbers of those that have ended.
    vacant: RefCell<Vec<usize>>,
    /// Guests that wait for an E-stack.
    queue: RefCell<VecDeque<G>>,
    /// The next to run is one of those, if it can begin.
    is_queues_turn: Cell<bool>,
    estacks_max: usize,
    /// Until then none is made.
    refused_until: Cell<Option<Instant>>,
    _overflow: overflow::Watch,
}

/// A FastThread that runs one guest after another.
struct EStack<G: Guest> {
    thread: Cell<Option<&'static Thread>>,
    guest: RefCell<Option<G>>,
    /// It waits for a guest, and for nothing else.
    is_free: Cell<bool>,
    /// The loop has gone on without the guest.
    has_waited: Cell<bool>,
    output: Cell<Option<G::Output>>,
}

/// What a free E-stack waits for.
struct NextGuest;

impl Waited for NextGuest {
    fn describe(&self) -> String {
        "its next guest".to_owned()
    }
}

impl Hosts {
    /// Room for so many kernel threads, and stacks of so many bytes.
    ///
    /// # Errors: either number is out of its range.
    pub fn new(count: usize, stack_bytes: usize) -> Result<Arc<Hosts>, RunError> {
        if !(STACK_BYTES_MIN..=STACK_BYTES_MAX).contains(&stack_bytes) {
            return Err(RunError::StackBytes(stack_bytes));
        }
        if !(1..=PROCESSORS_MAX).contains(&count) {
            return Err(RunError::Processors(count));
        }
        fork_process::watch();
        // With two there are always others: what one host alone would spare is not worth a case.
        let count = count.max(2);
        let team: &_ = Box::leak(Box::new(Team::new(runs::begin(false), count)));
        made().push(std::ptr::from_ref(team).addr());
        let stack_bytes = stack_bytes.next_multiple_of(STACK_BYTES_STEP);
        let places = Mutex::new(Places { used: 0, vacant: Vec::new() });
        Ok(Arc::new(Hosts { team, stack_bytes, places }))
    }

    /// Makes the calling kernel thread one of them, with so many E-stacks at most. `None`: there is
    /// no room for it.
    pub fn enter<G: Guest>(self: &Arc<Self>, estacks_max: usize) -> Option<Host<G>> {
        Some(Host {
            hosts: Arc::clone(self),
            processor: self.processor()?,
            estacks: RefCell::default(),
            free: RefCell::default(),
            vacant: RefCell::default(),
            queue: RefCell::default(),
            is_queues_turn: Cell::new(false),
            estacks_max,
            refused_until: Cell::new(None),
            _overflow: overflow::watch(),
        })
    }

    fn processor(&self) -> Option<&'static Processor> {
        let mut places = self.places();
        if let Some(Vacant(processor)) = places.vacant.pop() {
            return Some(processor);
        }
        let at = places.used;
        if at == self.team.members().len() {
            return None;
        }
        places.used += 1;
        let place = Place { team: self.team, at: at as u16 };
        let processor = Processor::hosted(place, self.stack_bytes);
        made().push(std::ptr::from_ref(processor).addr());
        Some(processor)
    }

    fn places(&self) -> MutexGuard<'_, Places> {
        self.places.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Hosts {
    fn drop(&mut self) {
        let places = self.places();
        // Where a host has left threads behind, its place is gone, and the run goes on for ever.
        if places.vacant.len() < places.used {
            return;
        }
        let stacks = Stacks::new(self.stack_bytes);
        places.vacant.iter().for_each(|Vacant(processor)| processor.forget_told(&stacks));
        drop(places);
        runs::end(self.team.number(), &stacks);
        stacks.return_all();
    }
}

pub(crate) fn made() -> MutexGuard<'static, Made> {
    MADE.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<G: Guest> Host<G> {
    /// Runs a guest on an E-stack. `None`: it waits, or waits for an E-stack, and will finish by
    /// itself.
    ///
    /// # Panics
    ///
    /// If the caller is a FastThread.
    ///
    /// # Cost: two switches while an E-stack is free, and no allocation.
    pub fn begin(&self, guest: G) -> Option<G::Output> {
        // Behind those that wait for an E-stack already.
        if self.queue.borrow().is_empty()
            && let Some(number) = self.free_estack()
        {
            return self.begin_on(number, guest, false);
        }
        self.queue.borrow_mut().push_back(guest);
        None
    }

    /// Goes on with guests that do not wait any more, and begins those that have waited for an
    /// E-stack, in turn: so many at most, and one at least, as long as there `is_time`. False:
    /// there was none.
    ///
    /// # Panics
    ///
    /// If the caller is a FastThread.
    pub fn run_ready(&self, count_max: usize, is_time: impl Fn() -> bool) -> bool {
        self.processor.look();
        let mut count = 0;
        while count < count_max && self.run_next() {
            count += 1;
            if !is_time() {
                break;
            }
        }
        count > 0
    }

    /// Goes on with one guest or begins one that is queued, in turn where there are both.
    fn run_next(&self) -> bool {
        let is_queues_turn = self.is_queues_turn.get();
        self.is_queues_turn.set(!is_queues_turn);
        match is_queues_turn {
            true => self.begin_queued() || self.go_on_with_ready(),
            false => self.go_on_with_ready() || self.begin_queued(),
        }
    }

    fn go_on_with_ready(&self) -> bool {
        let ready = self.processor.pop_hosted();
        ready.inspect(|thread| self.go_on(thread)).is_some()
    }

    fn begin_queued(&self) -> bool {
        if self.queue.borrow().is_empty() {
            return false;
        }
        let Some(number) = self.free_estack() else { return false };
        let guest = self.queue.borrow_mut().pop_front().expect("it is not empty");
        self.begin_on(number, guest, true);
        true
    }

    /// Looks whether a guest that has waited can go on, or one that is queued can begin.
    pub fn look(&self) -> bool {
        self.processor.look();
        self.processor.has_some() || self.can_begin_queued()
    }

    fn can_begin_queued(&self) -> bool {
        let has_room = || !self.free.borrow().is_empty() || self.may_make();
        !self.queue.borrow().is_empty() && has_room()
    }

    /// Whether a guest has begun and not ended, or is to begin, or a thread that one has forked; or
    /// another host has told it something that it has not heard.
    pub fn is_busy(&self) -> bool {
        let tally = self.processor.tally();
        let live = tally.forked - tally.ended;
        let is_told = self.processor.has_some();
        is_told || live != self.free.borrow().len() as u64 || !self.queue.borrow().is_empty()
    }

    /// Whether a guest waits for something from outside that wakes nobody.
    pub fn awaits_something(&self) -> bool {
        self.processor.waits_for_look()
    }

    /// Has so many of these things at most looked at more closely, all of them in turn: see
    /// [`crate::Awaited::look_closer`].
    pub fn look_closer(&self, count_max: usize) {
        self.processor.awaited.look_closer(count_max);
    }

    /// How many E-stacks there are, and how many of them are free.
    pub fn counts(&self) -> (usize, usize) {
        let ended = self.vacant.borrow().len();
        (self.estacks.borrow().len() - ended, self.free.borrow().len())
    }

    /// Has `sleep` sleep while all these words hold what they should, `words_max` at most and one
    /// at least, until that time has passed if there is one; it says whether it has slept for as
    /// long as it wanted to. Does not if a guest can go on.
    pub fn sleep(
        &self,
        words_max: usize,
        sleep: impl FnOnce(&[Word<'_>], Option<Duration>) -> bool,
    ) {
        self.reclaim(KEPT);
        if self.processor.has_some() || self.can_begin_queued() {
            return;
        }
        let has_queue = !self.queue.borrow().is_empty();
        let until = self.refused_until.get().filter(|_| has_queue);
        let longest = until.map(|until| until.saturating_duration_since(Instant::now()));
        self.processor.sleep_hosted(words_max, |words, left| {
            sleep(words, left.into_iter().chain(longest).min())
        });
    }

    /// Shows `look` the guest that the caller is on the E-stack of.
    pub fn with_running<R>(&self, look: impl FnOnce(&G) -> R) -> Option<R> {
        let at = self.processor.running().estack.get().checked_sub(1)?;
        let estack = Rc::clone(&self.estacks.borrow()[at]);
        let guest = estack.guest.borrow();
        guest.as_ref().map(look)
    }

    fn estack(&self, number: usize) -> Rc<EStack<G>> {
        Rc::clone(&self.estacks.borrow()[number - 1])
    }

    /// The free one that was used last, or a new one.
    fn free_estack(&self) -> Option<usize> {
        let free = self.free.borrow_mut().pop();
        free.or_else(|| self.may_make().then(|| self.make())?)
    }

    /// Whether there may be one more: after a refusal it is tried again, but not at once.
    fn may_make(&self) -> bool {
        let is_refused = |until| Instant::now() < until;
        self.counts().0 < self.estacks_max && !self.refused_until.get().is_some_and(is_refused)
    }

    /// A new one. `None`: there is no memory for it.
    #[cold]
    fn make(&self) -> Option<usize> {
        let vacant = self.vacant.borrow_mut().pop();
        let count = self.estacks.borrow().len();
        let estack = Rc::new(EStack {
            thread: Cell::new(None),
            guest: RefCell::new(None),
            is_free: Cell::new(true),
            has_waited: Cell::new(false),
            output: Cell::new(None),
        });
        let theirs = Rc::clone(&estack);
        let Ok(thread) = fork_guest(self.processor, move || or_abort(|| live(&theirs))) else {
            self.vacant.borrow_mut().extend(vacant);
            self.refused_until.set(Some(Instant::now() + RETRY));
            return None;
        };
        self.refused_until.set(None);
        estack.thread.set(Some(thread));
        let mut estacks = self.estacks.borrow_mut();
        let number = vacant.unwrap_or(count + 1);
        match estacks.get_mut(number - 1) {
            Some(ended) => *ended = estack,
            None => estacks.push(estack),
        }
        thread.estack.set(number);
        Some(number)
    }

    fn begin_on(&self, number: usize, guest: G, has_waited: bool) -> Option<G::Output> {
        let estack = self.estack(number);
        let thread = estack.thread.get().expect("an E-stack that is free has a thread");
        thread.guest.set(guest.name());
        if has_waited {
            guest.resume();
        }
        estack.has_waited.set(has_waited);
        estack.guest.replace(Some(guest));
        estack.is_free.set(false);
        self.let_run(&estack, thread);
        estack.output.take()
    }

    /// Goes on with a thread that is ready: an E-stack's, or one that a guest has forked.
    fn go_on(&self, thread: &'static Thread) {
        let number = thread.estack.get();
        if number == 0 {
            return self.go_on_with_forked(thread);
        }
        let estack = self.estack(number);
        if let Some(guest) = &*estack.guest.borrow() {
            guest.resume();
        }
        self.let_run(&estack, thread);
    }

    fn go_on_with_forked(&self, thread: &'static Thread) {
        let ended = self.processor.tally().ended;
        G::resume_forked(thread.kept.take());
        self.processor.let_run(thread);
        let kept = G::suspend_forked();
        // The record of one that has ended may be another processor's by now.
        if self.processor.tally().ended == ended {
            thread.kept.set(kept);
        }
    }

    fn let_run(&self, estack: &EStack<G>, thread: &'static Thread) {
        self.processor.let_run(thread);
        if estack.is_free.get() {
            return self.free.borrow_mut().push(thread.estack.get());
        }
        estack.has_waited.set(true);
        if let Some(guest) = &*estack.guest.borrow() {
            guest.suspend();
        }
    }

    /// Ends all free E-stacks but so many, those first that were used longest ago.
    fn reclaim(&self, kept: usize) {
        let mut free = self.free.borrow_mut();
        let ending = free.len().saturating_sub(kept);
        for number in free.drain(..ending) {
            let estack = self.estack(number);
            if let Some(thread) = estack.thread.take() {
                thread.estack.set(0);
                thread.guest.set("");
                self.processor.let_run(thread);
            }
            self.vacant.borrow_mut().push(number);
        }
    }
}

/// The life of an E-stack: it begins when it has its first guest, and ends when it is gone on with
/// and has none.
fn live<G: Guest>(estack: &EStack<G>) {
    loop {
        {
            let guest = estack.guest.borrow();
            let Some(guest) = &*guest else { return };
            let output = guest.run();
            drop_locals();
            if estack.has_waited.get() {
                guest.finish(output);
            } else {
                estack.output.set(Some(output));
            }
        }
        drop(estack.guest.take());
        drop_locals();
        estack.is_free.set(true);
        here_for("an E-stack").block(&NextGuest);
    }
}

/// What one guest has made is not there for the next one, nor what its end has made.
fn drop_locals() {
    local::drop_all(here_for("an E-stack").running());
}

impl<G: Guest> Drop for Host<G> {
    fn drop(&mut self) {
        self.reclaim(0);
        self.processor.stacks.return_all();
        let tally = self.processor.tally();
        // Threads that wait here for ever keep their processor.
        if tally.forked == tally.ended {
            self.hosts.places().vacant.push(Vacant(self.processor));
        }
    }
}

impl fmt::Debug for Hosts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut hosts = f.debug_struct("Hosts");
        hosts.field("stack_bytes", &self.stack_bytes).finish_non_exhaustive()
    }
}

impl<G: Guest> fmt::Debug for Host<G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (estacks, free) = self.counts();
        let mut host = f.debug_struct("Host");
        host.field("estacks", &estacks).field("free", &free).finish_non_exhaustive()
    }
}
