//! The iterators of a domain that calls are in at this moment, and which thread is in which.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, MutexGuard};

use nearcall_os::forks::OwnLock;

/// What makes items.
pub(crate) trait Making: Send + Sync {
    /// If this turn is late, others send what it has made, and it sends what it makes next at once.
    /// False: it is not late.
    fn relieve(&self, turn: u64) -> bool;

    /// Nobody waits for what this turn makes: its client has given the feed up, or the batch; or
    /// the turn is over.
    fn is_over(&self, turn: u64) -> bool;
}

/// A turn in an iterator.
pub(crate) type MakingTurn = (Arc<dyn Making>, u64);

/// See the module.
#[derive(Default)]
pub(crate) struct Makers {
    all: OwnLock<Vec<Maker>>,
    /// There are some. Written under the lock.
    are_some: AtomicBool,
}

struct Maker {
    thread: usize,
    turn: MakingTurn,
    /// It sends what it makes at once.
    is_relieved: bool,
}

/// While it lives, its maker is known.
pub(super) struct Registered<'m> {
    makers: &'m Makers,
    thread: usize,
    turn: u64,
}

impl Makers {
    /// Sends what is late. Whether there is something that is not late yet.
    pub fn relieve(&self) -> bool {
        let are_open = |maker: &&Maker| !maker.is_relieved;
        let turns: Vec<_> = self.all().iter().filter(are_open).map(|it| it.turn.clone()).collect();
        // Outside of the lock, for each takes its own.
        let is_late = |(making, turn): &MakingTurn| making.relieve(*turn);
        let relieved: Vec<_> = turns.into_iter().filter(is_late).collect();
        let mut all = self.all();
        for maker in all.iter_mut() {
            maker.is_relieved |= relieved.iter().any(|turn| maker.has(turn));
        }
        let is_left = all.iter().any(|maker| !maker.is_relieved);
        drop(all);
        // They may be the last that hold a feed, and what is the application's.
        drop(relieved);
        is_left
    }

    /// The turn that this thread has: the last one that it began.
    pub fn of_this_thread(&self) -> Option<MakingTurn> {
        // Relaxed: what this thread has written it sees.
        if !self.are_some.load(Ordering::Relaxed) {
            return None;
        }
        let thread = this_thread();
        let all = self.all();
        all.iter().rev().find(|maker| maker.thread == thread).map(|maker| maker.turn.clone())
    }

    fn all(&self) -> MutexGuard<'_, Vec<Maker>> {
        self.all.lock()
    }
}

impl Maker {
    fn has(&self, turn: &MakingTurn) -> bool {
        Arc::ptr_eq(&self.turn.0, &turn.0) && self.turn.1 == turn.1
    }
}

impl<'m> Registered<'m> {
    /// `is_relieved`: it sends what it makes at once.
    pub fn new(makers: &'m Makers, turn: MakingTurn, is_relieved: bool) -> Registered<'m> {
        let registered = Registered { makers, thread: this_thread(), turn: turn.1 };
        let mut all = makers.all();
        all.push(Maker { thread: registered.thread, turn, is_relieved });
        // Relaxed: see who asks.
        makers.are_some.store(true, Ordering::Relaxed);
        registered
    }
}

impl Drop for Registered<'_> {
    fn drop(&mut self) {
        let mut all = self.makers.all();
        // The last one: a thread leaves its iterators in the order in which it came.
        let is_it = |maker: &Maker| (maker.thread, maker.turn.1) == (self.thread, self.turn);
        let gone = all.iter().rposition(is_it).map(|at| all.remove(at));
        // Relaxed: as above.
        self.makers.are_some.store(!all.is_empty(), Ordering::Relaxed);
        drop(all);
        drop(gone);
    }
}

/// Which thread this is, on an E-stack or not. Two that live at the same time differ. FastThreads
/// that an iterator forks are the thread that it runs on.
fn this_thread() -> usize {
    thread_local! {
        static HERE: u8 = const { 0 };
    }
    #[cfg(feature = "threads")]
    if nearcall_threads::is_hosted()
        && let Some(thread) = nearcall_threads::identity()
    {
        return thread;
    }
    HERE.with(|here| std::ptr::from_ref(here).addr())
}

impl fmt::Debug for Makers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Makers").field("count", &self.all().len()).finish()
    }
}

#[cfg(all(test, feature = "threads"))]
mod tests {
    use super::*;

    /// A turn that is over.
    struct Over;

    impl Making for Over {
        fn relieve(&self, _turn: u64) -> bool {
            true
        }

        fn is_over(&self, _turn: u64) -> bool {
            true
        }
    }

    #[test]
    fn an_iterator_that_forks_fastthreads_is_known_to_them() {
        let makers = Arc::new(Makers::default());
        let _registered = Registered::new(&makers, (Arc::new(Over), 7), false);
        let known = Arc::clone(&makers);
        let found = move || known.of_this_thread().map(|(_, turn)| turn);
        assert_eq!(found(), Some(7));
        assert_eq!(nearcall_threads::run(found.clone()).unwrap(), Some(7));
        assert_eq!(std::thread::spawn(found).join().unwrap(), None);
    }
}
