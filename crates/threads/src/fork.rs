//! Fork and join: where a closure and its result lie, and who takes them.
//!
//! ```text
//!   top ─▶ ┌────────────────┐
//!          │ offset         │ unused, so that stacks do not compete for lines
//!  base ─▶ │ result         │ nothing until the thread ends
//!          │ closure        │ nothing once the thread has begun
//!          │ 0              │ the outermost return address
//!          │ frames      ▼  │
//! ```
//!
//! So a fork allocates nothing but a stack from the pool. The base of a stack is the same for all
//! of its threads, and where the two lie below it is known from their types, so that neither has to
//! be noted.

use std::any::Any;
use std::cell::Cell;
use std::fmt;
use std::marker::PhantomData;
use std::mem;
use std::panic::{AssertUnwindSafe, RefUnwindSafe, UnwindSafe};
use std::ptr::NonNull;

use crate::cancel::Unwind;
use crate::error::{ForkError, JoinError, Outside, Unwound};
use crate::kernel::catch_unwind;
use crate::place::Place;
use crate::processor::{Processor, here, here_for, outside};
use crate::report::Waited;
use crate::runs;
use crate::scope::Family;
use crate::stack::STACK_BYTES_MIN;
use crate::stacks::Stacks;
use crate::switch::Context;
use crate::thread::Thread;

// With its path, because the schedules (`tests/schedules`) have this file as a module, too.
#[path = "fork/ending.rs"]
mod ending;

use self::ending::{drop_unwanted, end_with, take};

/// Bases of stacks are multiples of this.
const LINE_BYTES: usize = 64;

/// What a thread leaves behind; if it has unwound, an [`Unwound`].
pub(crate) type Outcome<T> = Result<T, Box<dyn Any + Send>>;

/// A FastThread that was forked. Dropping it lets the thread go on alone.
///
/// Can be given to another FastThread of the same run, and be joined there.
#[must_use = "a thread that nobody joins may not have run when the first thread ends"]
pub struct Forked<T> {
    /// Nothing once its result was taken.
    thread: Cell<Option<&'static Thread>>,
    run: u32,
    result: PhantomData<T>,
}

// SAFETY: it is a reference to a record, of which it uses the join word, on a processor of the
// thread's run or after that; the result that it gives is `Send` itself.
unsafe impl<T: Send> Send for Forked<T> {}

// It has what its thread leaves behind, and nothing that a panic of the caller's could.
impl<T> UnwindSafe for Forked<T> {}

impl<T> RefUnwindSafe for Forked<T> {}

/// A thread that is to have a name.
#[derive(Debug)]
pub struct Named<'n>(pub(crate) &'n str);

/// Forks a thread that runs `body`. It begins when the caller yields or waits.
///
/// # Errors: see [`ForkError`]. Nothing is left behind.
///
/// # Cost: no allocation while a stack is free in the processor's pool; eight procedure calls' time
/// with the thread's begin and end (`bench threads`).
///
/// ```
/// let sum = nearcall_threads::run(|| {
///     let child = nearcall_threads::fork(|| 2 + 3).unwrap();
///     child.join().unwrap()
/// });
/// assert_eq!(sum.unwrap(), 5);
/// ```
#[inline]
pub fn fork<F, T>(body: F) -> Result<Forked<T>, ForkError>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    match here() {
        Some(processor) => fork_on(processor, None, false, body),
        None => Err(ForkError::Outside(outside())),
    }
}

/// The next fork's name: it stands in reports, and in the message about a stack's overflow.
///
/// ```
/// let name = nearcall_threads::run(|| {
///     let child = nearcall_threads::named("reader").fork(nearcall_threads::name).unwrap();
///     child.join().unwrap()
/// });
/// assert_eq!(name.unwrap().as_deref(), Some("reader"));
/// ```
pub fn named(name: &str) -> Named<'_> {
    Named(name)
}

impl Named<'_> {
    /// See [`fork`].
    ///
    /// # Errors: see [`ForkError`].
    pub fn fork<F, T>(self, body: F) -> Result<Forked<T>, ForkError>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        let processor = here().ok_or_else(|| ForkError::Outside(outside()))?;
        fork_on(processor, Some(self.0), false, body)
    }
}

/// The number of the FastThread that calls this, as reports and policies have it: 1 is the first of
/// a run. Nothing if the caller is none.
///
/// ```
/// use nearcall_threads::{fork, number, run};
/// let (told, own) = run(|| {
///     let child = fork(number).unwrap();
///     (child.number(), child.join().unwrap())
/// })
/// .unwrap();
/// assert!(told.is_some() && told == own);
/// ```
pub fn number() -> Option<u64> {
    // A host's loop has none.
    here().map(|processor| processor.running().number.get()).filter(|number| *number > 0)
}

/// The name of the FastThread that calls this, if it has one.
pub fn name() -> Option<String> {
    let thread = here()?.running();
    thread.rare.borrow().name.as_deref().map(str::to_owned)
}

/// Forks a thread on this processor, which is the caller's or not run yet. It `stays` here, or what
/// it is made of is `Send`.
#[inline(always)]
pub(crate) fn fork_on<F, T>(
    processor: &'static Processor,
    name: Option<&str>,
    stays: bool,
    body: F,
) -> Result<Forked<T>, ForkError>
where
    F: FnOnce() -> T + 'static,
    T: 'static,
{
    // SAFETY: S1, S2: neither borrows anything that ends.
    let thread = unsafe { prepare_on(processor, name, body) }?;
    processor.number(thread);
    processor.begin(thread, stays);
    Ok(Forked::of(processor, thread))
}

/// The same for a thread of a scope, which it is in until it has ended.
///
/// # Safety
///
/// - S1 closure: `family`, and what `body` borrows, are there until the thread has left `family`.
/// - S2 result: what a `T` borrows is there for as long as what this returns, or that is forgotten;
///   and if it is dropped where the run is not, by [`Forked::drop_in`] of `family`, until the
///   thread that has `family` has let go of those that were left to that, and all their results are
///   dropped.
pub(crate) unsafe fn fork_in<F, T>(
    processor: &'static Processor,
    name: Option<&str>,
    family: &Family,
    body: F,
) -> Result<Forked<T>, ForkError>
where
    F: FnOnce() -> T,
{
    // SAFETY: S1: as S1, for the thread leaves `family` when it has dropped what it is to drop.
    // S2: S2.
    let thread = unsafe { prepare_on(processor, name, body) }?;
    thread.rare.borrow_mut().family = Some(NonNull::from(family));
    thread.is_rare.set(true);
    processor.number(thread);
    family.add(processor, thread);
    processor.begin(thread, false);
    let forked = Forked::of(processor, thread);
    if family.is_cancelled(processor) {
        // If nobody can be told, it goes on.
        let _ = forked.cancel();
    }
    Ok(forked)
}

/// Prepares a thread that nobody joins on this processor, where it stays and begins when its host
/// says so.
pub(crate) fn fork_guest<F>(
    processor: &'static Processor,
    body: F,
) -> Result<&'static Thread, ForkError>
where
    F: FnOnce() + 'static,
{
    let thread = prepare_detached(processor, body)?;
    processor.admit(thread);
    Ok(thread)
}

/// Has another processor of the run run a thread that nobody joins. It is one of that processor's,
/// and never begins if that is a host's and has ended: see `Processor::forget_told`.
pub(crate) fn fork_elsewhere<F>(
    processor: &'static Processor,
    at: u16,
    body: F,
) -> Result<(), ForkError>
where
    F: FnOnce() + Send + 'static,
{
    const { assert!(!mem::needs_drop::<F>(), "nobody drops what never begins") };
    let thread = prepare_detached(processor, move || {
        let there = here_for("a thread that was forked elsewhere");
        there.admit(there.running());
        body();
    })?;
    Place { at, ..processor.place() }.deliver(thread);
    Ok(())
}

/// Prepares a thread that nobody joins.
fn prepare_detached<F>(processor: &'static Processor, body: F) -> Result<&'static Thread, ForkError>
where
    F: FnOnce() + 'static,
{
    // SAFETY: S1, S2: it borrows nothing that ends.
    let thread = unsafe { prepare_on(processor, None, body) }?;
    let has_ended = thread.join.detach(processor.is_alone());
    debug_assert!(!has_ended, "it has not begun");
    Ok(thread)
}

/// Takes a stack of this processor's and puts on it what a thread begins with.
///
/// # Safety
///
/// - S1 closure: what `body` borrows is there until the thread has dropped it, and its result if it
///   is the thread that drops that.
/// - S2 result: what the result borrows is there when somebody else takes or drops it.
#[inline(always)]
unsafe fn prepare_on<F, T>(
    processor: &'static Processor,
    name: Option<&str>,
    body: F,
) -> Result<&'static Thread, ForkError>
where
    F: FnOnce() -> T,
{
    let bytes = mem::size_of::<F>().max(mem::size_of::<Outcome<T>>());
    let align = mem::align_of::<F>().max(mem::align_of::<Outcome<T>>());
    // Most fit every stack, which is known when this is compiled.
    if bytes.max(align) > STACK_BYTES_MIN / 4 && bytes.max(align) > processor.stacks.bytes() / 4 {
        return Err(ForkError::TooLong { bytes, bytes_max: processor.stacks.bytes() / 4 });
    }
    let thread = processor.stacks.take().map_err(|errno| ForkError::NoStack {
        bytes: processor.stacks.bytes(),
        source: errno.into(),
    })?;
    let closure = closure_of::<F, T>(thread);
    // SAFETY: aligned for `F`, and within the stack, which is free: both together take at most half
    // of it, their alignments less than three eighths (only the larger one and half of that can
    // leave gaps), and the offset of the base under 3 KiB of at least 64.
    unsafe { closure.write(body) };
    // SAFETY: S1: the rest of the free stack. S2: `closure_of` gives a multiple of 16.
    unsafe { thread.context.prepare(closure.cast::<usize>().wrapping_sub(1), start::<F, T>) };
    thread.join.begin();
    if let Some(name) = name {
        thread.rare.borrow_mut().name = Some(name.into());
        thread.is_rare.set(true);
    }
    Ok(thread)
}

/// Where a `P` lies below this: at a multiple of 16.
#[inline(always)]
fn below<P>(base: *mut u8) -> *mut P {
    let align = mem::align_of::<P>().max(16);
    let place = base.wrapping_sub(mem::size_of::<P>().next_multiple_of(align));
    // Bases are multiples of a line.
    let is_aligned = align <= LINE_BYTES;
    let place = if is_aligned { place } else { place.map_addr(|at| at & !(align - 1)) };
    place.cast()
}

/// Where a thread's result lies when it has ended.
#[inline(always)]
fn outcome_of<T>(thread: &Thread) -> *mut Outcome<T> {
    below(thread.base)
}

/// Where its closure lies before it begins.
#[inline(always)]
fn closure_of<F, T>(thread: &Thread) -> *mut F {
    let outcome = below::<Outcome<T>>(thread.base).cast();
    // What is aligned to less than a line may end between two.
    below::<F>(if mem::align_of::<F>() > 16 { down_to_line(outcome) } else { outcome })
}

#[inline(always)]
fn down_to_line(place: *mut u8) -> *mut u8 {
    place.map_addr(|address| address & !(LINE_BYTES - 1))
}

/// A thread's outermost frame.
///
/// # Safety
///
/// - S1 record: `context` is the first field of a thread's record, and that thread begins.
/// - S2 closure: its closure is an `F`, and there is room for an `Outcome<T>`.
unsafe extern "C" fn start<F, T>(context: *const Context) -> !
where
    F: FnOnce() -> T,
{
    // SAFETY: S1, and records are never freed.
    let thread = unsafe { &*context.cast::<Thread>() };
    // SAFETY: S2; read once, because a thread begins once.
    let body = unsafe { closure_of::<F, T>(thread).read() };
    if thread.asked.is_due() {
        // SAFETY: S1: S2.
        unsafe { never_begin::<F, T>(thread, body) };
    }
    let outcome: Outcome<T> = caught(thread, body);
    // SAFETY: S2.
    unsafe { end_with(thread, outcome) }
}

/// What comes of `body`, with which `thread` ends.
#[inline(always)]
fn caught<T>(thread: &Thread, body: impl FnOnce() -> T) -> Outcome<T> {
    let mut outcome = catch_unwind(AssertUnwindSafe(body));
    // In place, so that a result is not moved once more.
    if let Err(payload) = &mut outcome {
        sign(thread, payload);
    }
    outcome
}

/// Notes who has unwound. Now, because the name does not outlast the thread.
#[cold]
#[inline(never)]
fn sign(thread: &Thread, payload: &mut Box<dyn Any + Send>) {
    let unwound = mem::replace(payload, Box::new(()));
    *payload = Box::new(Unwound { thread: thread.told(), payload: unwound });
}

/// A thread was cancelled before it began; its closure was moved off its stack.
///
/// # Safety
///
/// - S1 room: as S2 of [`start`].
#[cold]
unsafe fn never_begin<F, T>(thread: &'static Thread, body: F) -> ! {
    let outcome: Outcome<T> = caught(thread, || {
        drop(body);
        Unwind::of(thread).unwind()
    });
    // SAFETY: S1.
    unsafe { end_with(thread, outcome) }
}

impl<T> Forked<T> {
    /// The one of a thread that has begun, or may.
    #[inline(always)]
    fn of(processor: &Processor, thread: &'static Thread) -> Forked<T> {
        let run = processor.run_number();
        Forked { thread: Cell::new(Some(thread)), run, result: PhantomData }
    }

    /// Waits until the thread has ended, and takes its result.
    ///
    /// Lets other FastThreads run meanwhile. If the caller is cancelled while it waits, the thread
    /// goes on, and can still be joined.
    ///
    /// # Errors: its panic, or why it cannot be joined; see [`JoinError`].
    #[inline]
    pub fn join(&self) -> Result<T, JoinError> {
        let Some(processor) = here() else {
            return Err(JoinError::Outside(outside()));
        };
        let Some(thread) = self.thread.get() else {
            return Err(JoinError::AlreadyJoined);
        };
        if processor.run_number() != self.run {
            return Err(JoinError::Outside(Outside::OtherRun));
        }
        let joiner = processor.running();
        if std::ptr::eq(thread, joiner) {
            return Err(JoinError::JoinsItself(joiner.told()));
        }
        self.thread.set(None);
        if !thread.join.join(joiner.address(), processor.is_alone()) {
            self.block(processor, thread);
        }
        // SAFETY: S1: it has ended, and whoever has emptied `self.thread` has the result.
        unsafe { take_and_give(&processor.stacks, thread) }
            .map_err(|payload| JoinError::of(Unwound::of(payload)))
    }

    /// Whether the thread has ended, so that a join would not wait; also if its result was taken.
    /// What it has done is seen by a FastThread that is told so.
    ///
    /// Can be asked anywhere. Waits for nothing, and yields to nobody: who asks again and again on
    /// the thread's processor is to yield.
    ///
    /// # Cost: one load.
    #[inline]
    pub fn is_finished(&self) -> bool {
        self.thread.get().is_none_or(|thread| thread.join.has_ended())
    }

    /// The thread's number, as reports and policies have it; nothing once its result was taken. Can
    /// be asked anywhere.
    pub fn number(&self) -> Option<u64> {
        self.thread.get().map(|thread| thread.number.get())
    }

    #[inline(always)]
    fn block(&self, processor: &Processor, thread: &'static Thread) {
        if let Err(cancelled) = processor.block_unless_cancelled(thread) {
            self.thread.set(Some(thread));
            cancelled.unwind();
        }
    }

    /// Asks the thread to end. If it has not begun, it never does; else it ends where it waits or
    /// asks ([`crate::test_cancel`]), now or later: its stack is unwound, so that whatever is on it
    /// is dropped, and [`Forked::join`] says that it was cancelled.
    ///
    /// A thread waits in this sense where it joins, sleeps, waits for a condition's signal or a
    /// permit of a semaphore, at the end of a [`crate::scope()`], to whose threads this is passed
    /// on, and for the reply of a call to another domain, which is given up. Not for locks, nor in
    /// [`crate::block`], nor where what it wants is there, nor in [`crate::shield`].
    ///
    /// Does not wait. Cancelling again changes nothing; a thread that has ended or was joined is
    /// left alone; one that cancels itself ends where it waits next. If its processor is
    /// another one, that one does so when it comes to it.
    ///
    /// As after a panic, a lock that the thread has when it is unwound is poisoned, and whatever
    /// is dropped must not wait (it may fork a thread that does). Nor can a program unwind that is
    /// built with `panic = "abort"`: the process ends, with a message that names the thread. One
    /// that catches the unwinding is unwound again where it waits next.
    ///
    /// # Errors: the caller is no FastThread of the run; or no stack is left for a thread that
    /// tells the thread's processor. It goes on.
    ///
    /// ```
    /// use std::time::Duration;
    /// use nearcall_threads::{JoinError, fork, run, sleep};
    /// let joined = run(|| {
    ///     let child = fork(|| sleep(Duration::from_secs(3600))).unwrap();
    ///     child.cancel().unwrap();
    ///     child.join()
    /// });
    /// assert!(matches!(joined.unwrap(), Err(JoinError::Cancelled(_))));
    /// ```
    pub fn cancel(&self) -> Result<(), ForkError> {
        let Some(processor) = here() else {
            return Err(ForkError::Outside(outside()));
        };
        if processor.run_number() != self.run {
            return Err(ForkError::Outside(Outside::OtherRun));
        }
        self.thread.get().map_or(Ok(()), |thread| processor.cancel(thread))
    }
}

impl<T> Forked<T> {
    /// Lets the thread, which was forked in this scope, go on alone.
    #[inline]
    pub(crate) fn drop_in(&self, family: &Family) {
        if let Some(thread) = self.thread.take() {
            part_with::<T>(self.run, Some(family), thread);
        }
    }

    /// The result of a thread that has ended; after its run, outside it.
    pub(crate) fn take_ended(self, processor: &Processor) -> Outcome<T> {
        let thread = self.thread.take().expect("nobody has joined it");
        // SAFETY: S1: it has ended, and whoever has emptied `self.thread` has the result.
        unsafe { take_and_give(&processor.stacks, thread) }
    }
}

impl<T> fmt::Debug for Forked<T> {
    /// Of the thread's record only what nobody writes while there is this: it may run elsewhere.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (number, is_finished) = (self.number(), self.is_finished());
        let mut forked = f.debug_struct("Forked");
        forked.field("number", &number).field("is_finished", &is_finished).finish()
    }
}

impl<T> Drop for Forked<T> {
    #[inline]
    fn drop(&mut self) {
        if let Some(thread) = self.thread.get() {
            part_with::<T>(self.run, None, thread);
        }
    }
}

/// Nobody joins this thread of this run, and of this scope if it is in one.
#[inline(always)]
fn part_with<T>(run: u32, family: Option<&Family>, thread: &'static Thread) {
    match here() {
        Some(processor) if processor.alone_in() == run => {
            detach::<T>(&processor.stacks, thread, true);
        }
        processor => detach_elsewhere::<T>(run, family, thread, processor),
    }
}

/// The same in a run with other processors, or outside of the thread's.
#[cold]
fn detach_elsewhere<T>(
    run: u32,
    family: Option<&Family>,
    thread: &'static Thread,
    processor: Option<&'static Processor>,
) {
    match processor {
        Some(processor) if processor.run_number() == run => {
            detach::<T>(&processor.stacks, thread, false);
        }
        _ => runs::detach_from_outside(run, family, thread, detach::<T>),
    }
}

/// Nobody joins this thread of the caller's run, which has one processor or not; or of a run that
/// is over.
#[inline(always)]
fn detach<T>(stacks: &Stacks, thread: &'static Thread, is_alone: bool) {
    if thread.join.detach(is_alone) {
        // SAFETY: S1: it has ended, and its `Forked` is gone without having taken the result.
        drop_unwanted(unsafe { take_and_give::<T>(stacks, thread) });
    }
}

/// The result of a thread that has ended; the stack, once it is left, goes to the caller's pool.
///
/// # Safety
///
/// - S1 ended: the thread has ended with an `Outcome<T>`, which nobody has taken.
#[inline(always)]
unsafe fn take_and_give<T>(stacks: &Stacks, thread: &'static Thread) -> Outcome<T> {
    // SAFETY: S1.
    let outcome = unsafe { take::<T>(thread) };
    if thread.join.take() {
        stacks.give(thread);
    }
    outcome
}

impl Waited for Thread {
    fn describe(&self) -> String {
        format!("the end of {}", self.title())
    }

    fn holder(&self) -> Option<usize> {
        Some(self.address())
    }

    fn withdraw(&self, processor: &Processor, thread: &'static Thread) -> bool {
        self.join.withdraw(thread.address(), processor.is_alone())
    }
}
