//! Ending the waits of one thread from another (design note 0015).
//!
//! ```text
//!   any thread      cancel ──▶ the flag
//!   this one        run(|| … a call waits ──▶ before each slice of sleep: a flag of mine?)
//!                                                                          └─▶ given up
//! ```
//!
//! Nothing looks at a flag while nothing is waited for, as nothing looks at a clock: a call whose
//! reply comes meanwhile has it. So what may be cancelled costs a plain call nothing.
//!
//! What a thread is in is noted for it, and by a FastThread for itself: others of its processor,
//! which run while it waits, are in nothing of it.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

/// Longest sleep of a wait that can be cancelled.
pub(crate) const SLICE: Duration = Duration::from_millis(20);

/// How often anybody is in any: mostly never, and then nobody looks further.
static ENTERED: AtomicUsize = AtomicUsize::new(0);

/// The flags of those that a thread is in, the outermost first.
type Flags = RefCell<Vec<Arc<AtomicBool>>>;

thread_local! {
    static OF_THREAD: Flags = const { RefCell::new(Vec::new()) };
}

#[cfg(feature = "threads")]
static OF_FASTTHREAD: nearcall_threads::Local<Flags> =
    nearcall_threads::Local::new(|| RefCell::new(Vec::new()));

/// Ends calls of other threads: those that they make in [`Cancellation::run`].
///
/// Its clones are the same. Any number of threads may run something in it at a time, and each of
/// them several things, one in another; what it is cancelled for once, it is for good.
///
/// ```no_run
/// # fn slow() -> Result<u32, nearcall::CallError> { Ok(0) }
/// let cancellation = nearcall::Cancellation::new();
/// let theirs = cancellation.clone();
/// std::thread::spawn(move || theirs.cancel());
/// match cancellation.run(slow) {
///     Err(nearcall::CallError::CallAborted { was_cancelled: true, .. }) => println!("cancelled"),
///     other => println!("{other:?}"),
/// }
/// ```
#[derive(Clone, Debug, Default)]
pub struct Cancellation {
    is_cancelled: Arc<AtomicBool>,
}

impl Cancellation {
    /// One that is not cancelled.
    pub fn new() -> Cancellation {
        Cancellation::default()
    }

    /// What `work` evaluates to. While it runs, the calls that this thread makes, or this
    /// FastThread, end with [`Cancellation::cancel`] as they do with a deadline: in `CallAborted`
    /// if they were posted, which the server sees, else in `NoAStack` or `NotExecuted`. A wait for
    /// an import ends in `TimedOut`, one for a rebind as after its time.
    ///
    /// A call looks when it is about to sleep: once it is cancelled, those that come after it are
    /// posted, too, and have their replies if those come sooner. Whoever makes many asks
    /// [`Cancellation::is_cancelled`].
    ///
    /// Threads that `work` starts are not in it, nor are calls that are awaited: drop those.
    pub fn run<T>(&self, work: impl FnOnce() -> T) -> T {
        let _inside = Inside::enter(self);
        work()
    }

    /// From now on no call waits that is made in it: one that does gives up within 20 ms. Waits for
    /// nothing.
    pub fn cancel(&self) {
        // Relaxed: a flag that orders nothing.
        self.is_cancelled.store(true, Ordering::Relaxed);
    }

    /// Whether it was cancelled.
    pub fn is_cancelled(&self) -> bool {
        // Relaxed: as above.
        self.is_cancelled.load(Ordering::Relaxed)
    }
}

/// What [`Cancellation::run`] begins with, for a language whose functions we do not call: the same
/// thread, or FastThread, is to leave it.
pub fn enter(cancellation: &Cancellation) {
    let entered = with(|flags| flags.borrow_mut().push(Arc::clone(&cancellation.is_cancelled)));
    if entered.is_some() {
        // Relaxed: who looks is the thread that has entered, or is in none.
        ENTERED.fetch_add(1, Ordering::Relaxed);
    }
}

/// What it ends with. Of one that was entered several times, the last time is over; false: the
/// caller is not in it.
pub fn leave(cancellation: &Cancellation) -> bool {
    let last = with(|flags| {
        let mut flags = flags.borrow_mut();
        let is_this = |flag: &Arc<AtomicBool>| Arc::ptr_eq(flag, &cancellation.is_cancelled);
        flags.iter().rposition(is_this).map(|at| flags.remove(at))
    });
    let was_inside = last.flatten().is_some();
    if was_inside {
        // Relaxed: as above.
        ENTERED.fetch_sub(1, Ordering::Relaxed);
    }
    was_inside
}

/// While it lives, this thread is in a cancellation.
struct Inside<'c>(&'c Cancellation);

impl<'c> Inside<'c> {
    fn enter(cancellation: &'c Cancellation) -> Inside<'c> {
        enter(cancellation);
        Inside(cancellation)
    }
}

impl Drop for Inside<'_> {
    fn drop(&mut self) {
        leave(self.0);
    }
}

/// Shows what the caller is in; `None`: its thread ends, and has forgotten that.
fn with<R>(look: impl FnOnce(&Flags) -> R) -> Option<R> {
    #[cfg(feature = "threads")]
    if nearcall_threads::identity().is_some() {
        return Some(OF_FASTTHREAD.with(look));
    }
    OF_THREAD.try_with(look).ok()
}

/// Whether the caller is in any, so that its waits look now and then.
pub(crate) fn is_inside() -> bool {
    // Relaxed: as above.
    ENTERED.load(Ordering::Relaxed) > 0 && with(|flags| !flags.borrow().is_empty()).unwrap_or(false)
}

/// Whether one that the caller is in was cancelled.
pub(crate) fn is_cancelled() -> bool {
    // Relaxed, both: as above.
    let is_set = |flag: &Arc<AtomicBool>| flag.load(Ordering::Relaxed);
    ENTERED.load(Ordering::Relaxed) > 0
        && with(|flags| flags.borrow().iter().any(is_set)).unwrap_or(false)
}

/// How long the caller may sleep of so long, before it looks again.
pub(crate) fn slice(left: Duration) -> Duration {
    if is_inside() { left.min(SLICE) } else { left }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_is_in_what_it_runs_and_in_what_that_is_in() {
        let (outer, inner) = (Cancellation::new(), Cancellation::new());
        outer.run(|| {
            inner.run(|| {
                assert!(is_inside() && !is_cancelled());
                outer.cancel();
                assert!(is_cancelled());
            });
            assert!(is_cancelled());
        });
        assert!(!is_inside() && !is_cancelled());
        inner.cancel();
        assert!(!is_cancelled());
        assert!(inner.run(is_cancelled), "it is for good");
    }

    #[test]
    fn another_thread_is_in_nothing_of_it() {
        let cancellation = Cancellation::new();
        cancellation.cancel();
        cancellation.run(|| {
            assert!(is_cancelled());
            assert!(!std::thread::spawn(is_cancelled).join().unwrap());
        });
    }

    #[test]
    fn one_that_panics_leaves_it() {
        let cancellation = Cancellation::new();
        let panics = || cancellation.run(|| std::panic::resume_unwind(Box::new("on purpose")));
        let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(panics));
        assert!(panicked.is_err());
        assert!(!is_inside());
    }

    #[test]
    fn what_is_left_is_what_was_entered_last_of_it() {
        let (one, other) = (Cancellation::new(), Cancellation::new());
        assert!(!leave(&one), "it was not entered");
        enter(&one);
        enter(&other);
        enter(&one);
        assert!(leave(&one) && leave(&one) && !leave(&one));
        other.cancel();
        assert!(is_cancelled());
        assert!(leave(&other) && !is_inside());
    }

    #[cfg(feature = "threads")]
    #[test]
    fn fastthreads_of_one_processor_are_in_what_each_has_run() {
        let cancellation = Cancellation::new();
        cancellation.cancel();
        let outside = cancellation.run(|| {
            nearcall_threads::run(|| {
                let cancelled = Cancellation::new();
                cancelled.cancel();
                cancelled.run(|| {
                    assert!(is_cancelled());
                    let other = nearcall_threads::fork(is_inside).unwrap();
                    other.join().unwrap()
                })
            })
        });
        assert!(!outside.unwrap());
    }
}
