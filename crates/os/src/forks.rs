//! fork(2) of the process: what is its parent's alone is told so in the child, before anybody else
//! runs there.
//!
//! ```text
//!             before      fork(2)       after
//!   the list ── hold ──┬── parent ── let go ───────────────────────▶ goes on
//!                      └── child ─── each of the list is told ─────▶ its one thread goes on
//! ```
//!
//! The list is locked from before the fork to after it, so that no other thread, which the child
//! has not, is in the middle of it there. Nothing is called for a child that another way makes:
//! clone(2) by hand and `_Fork` leave locks of the C library as other threads had them, so that
//! such a child may call nothing that allocates, and with it nothing of Nearcall.
//!
//! Under the same lock: who is told of a thread that is not to inherit what was kept for one that
//! has ended.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::fmt;
use std::mem::ManuallyDrop;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, Once, OnceLock, PoisonError, Weak};

/// What a child of fork(2) has a copy of, and must not use as its parent does.
pub trait InChild: Send + Sync {
    /// This is the child, and has one thread. It neither waits for a lock nor allocates: another
    /// thread of the parent may have been at it.
    fn in_child(&self);
}

/// What keeps something for a thread by its thread pointer, which comes back when that has ended.
pub trait Keeper: Send + Sync {
    /// From now on nothing is kept for the thread of this thread pointer, whichever it is.
    fn disinherit(&self, thread_pointer: u64);
}

/// Whoever is told, by number.
struct List {
    all: BTreeMap<u64, Weak<dyn InChild>>,
    keepers: BTreeMap<u64, Weak<dyn Keeper>>,
    next: u64,
}

static LIST: Mutex<List> =
    Mutex::new(List { all: BTreeMap::new(), keepers: BTreeMap::new(), next: 0 });

/// How many forks this process is away from one that nobody has told of any.
static FORKS: AtomicU32 = AtomicU32::new(0);

thread_local! {
    /// Without a destructor, so that a thread that forks allocates nothing for it.
    static HELD: Cell<Option<ManuallyDrop<Guard>>> = const { Cell::new(None) };
}

type Guard = MutexGuard<'static, List>;

/// A place in the list, until it is dropped.
#[must_use]
pub struct Listed {
    number: u64,
}

/// From now on `whom` is told in each child.
pub fn tell(whom: Weak<dyn InChild>) -> Listed {
    watch();
    let mut list = lock();
    let number = list.next;
    list.next += 1;
    list.all.insert(number, whom);
    Listed { number }
}

/// The same, and `whom` is told of each heir.
pub fn tell_of_heirs(whom: Weak<impl InChild + Keeper + 'static>) -> Listed {
    let listed = tell(whom.clone());
    lock().keepers.insert(listed.number, whom);
    listed
}

/// A thread begins with this thread pointer, and is not to have what is kept for whoever had it
/// before. Each keeper is held meanwhile, and may have nobody else left: then it ends here.
///
/// # Cost: a lock, and a count up and down for each keeper.
pub fn disinherit(thread_pointer: u64) {
    let keepers: Vec<_> = lock().keepers.values().filter_map(Weak::upgrade).collect();
    keepers.iter().for_each(|keeper| keeper.disinherit(thread_pointer));
}

impl Drop for Listed {
    fn drop(&mut self) {
        let mut list = lock();
        let gone = (list.all.remove(&self.number), list.keepers.remove(&self.number));
        drop(list);
        // After the lock: it may be the last that keeps the memory.
        drop(gone);
    }
}

impl fmt::Debug for Listed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Listed").field("number", &self.number).finish()
    }
}

/// Which of the processes this is that have forked each other: a child and its parent differ.
pub fn generation() -> u32 {
    watch();
    // Relaxed: a child that adds to it has one thread.
    FORKS.load(Ordering::Relaxed)
}

/// What each process makes for itself: a parent's has threads that its child has not, and locks
/// that they may be at.
#[derive(Debug)]
pub struct PerProcess<T> {
    made: OnceLock<(u32, T)>,
    childs: OnceLock<Box<PerProcess<T>>>,
}

impl<T> PerProcess<T> {
    /// Nothing yet.
    #[allow(clippy::new_without_default)]
    pub const fn new() -> PerProcess<T> {
        PerProcess { made: OnceLock::new(), childs: OnceLock::new() }
    }

    /// This process's, which is made now if there is none.
    ///
    /// # Cost: a comparison for each fork that lies behind this process.
    pub fn own(&self, make: impl FnOnce() -> T) -> &T {
        let (own, mut make, mut place) = (generation(), Some(make), self);
        loop {
            let made = || (own, make.take().expect("it is made once")());
            let (generation, made) = place.made.get_or_init(made);
            if *generation == own {
                return made;
            }
            place = place.childs.get_or_init(|| Box::new(PerProcess::new()));
        }
    }
}

/// A lock for which no child waits that was forked while a thread of its parent held it: it has
/// another one, and what is kept by that is as it was made first.
#[derive(Debug)]
pub struct OwnLock<T>(PerProcess<Mutex<T>>);

impl<T: Default> OwnLock<T> {
    /// Of what is kept, as its default is.
    pub const fn new() -> OwnLock<T> {
        OwnLock(PerProcess::new())
    }

    /// Waits for the threads of this process alone. Whoever panicked with it has left it as it was.
    ///
    /// # Cost: that of [`PerProcess::own`], and of the lock.
    pub fn lock(&self) -> MutexGuard<'_, T> {
        self.0.own(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T: Default> Default for OwnLock<T> {
    fn default() -> OwnLock<T> {
        OwnLock::new()
    }
}

/// Ends this process, a child, as the end of its last thread does. Neither the end of a thread nor
/// [`std::process::exit`] is to be waited for in one: the standard library takes a lock in both,
/// which another thread of the parent's may have held.
pub fn end_child() -> ! {
    // SAFETY: runs what the program has registered for its end, as any end of a process does.
    unsafe { libc::exit(0) }
}

fn lock() -> Guard {
    LIST.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Has every fork(2) of this process noticed.
fn watch() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // SAFETY: the function for the child calls `InChild`s, which neither wait nor allocate, and
        // is otherwise as those for the parent: it gives a lock back that its thread has.
        let outcome = unsafe { libc::pthread_atfork(Some(hold), Some(let_go), Some(in_child)) };
        assert_eq!(outcome, 0, "no memory to notice fork(2)");
    });
}

/// # Safety
///
/// - S1 before: called by fork(2), which calls one of the others after it.
unsafe extern "C" fn hold() {
    HELD.set(Some(ManuallyDrop::new(lock())));
}

/// # Safety
///
/// - S1 after: called by fork(2), on the thread that calls it.
unsafe extern "C" fn let_go() {
    drop(HELD.take().map(ManuallyDrop::into_inner));
}

/// # Safety
///
/// - S1 child: called by fork(2) in the child.
unsafe extern "C" fn in_child() {
    // Relaxed: the child has one thread.
    FORKS.fetch_add(1, Ordering::Relaxed);
    let Some(held) = HELD.take() else { return };
    let held = ManuallyDrop::into_inner(held);
    // None of them ends here: whoever has it in the parent has it here.
    held.all.values().filter_map(Weak::upgrade).for_each(|whom| whom.in_child());
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::AtomicU64;

    use super::*;

    struct Nobody;

    impl InChild for Nobody {
        fn in_child(&self) {}
    }

    /// Which thread pointer it was told of last.
    struct Kept(AtomicU64);

    impl InChild for Kept {
        fn in_child(&self) {}
    }

    impl Keeper for Kept {
        fn disinherit(&self, thread_pointer: u64) {
            self.0.store(thread_pointer, Ordering::Relaxed);
        }
    }

    #[test]
    fn whoever_keeps_something_is_told_of_an_heir() {
        let keeper = Arc::new(Kept(AtomicU64::new(0)));
        let listed = tell_of_heirs(Arc::downgrade(&keeper));
        disinherit(0x1000);
        assert_eq!(keeper.0.load(Ordering::Relaxed), 0x1000);
        drop(listed);
        disinherit(0x2000);
        assert_eq!(keeper.0.load(Ordering::Relaxed), 0x1000, "it has given up its place");
    }

    #[test]
    fn a_process_makes_its_own_once() {
        let made = PerProcess::new();
        assert_eq!((*made.own(|| 1), *made.own(|| 2)), (1, 1));
    }

    #[test]
    fn a_child_waits_for_no_lock_of_its_parents_threads() {
        let lock = OwnLock::<u32>::new();
        let mut held = lock.lock();
        *held = 7;
        // SAFETY: the child takes a lock that is its own, and ends.
        let child = unsafe { libc::fork() };
        if child == 0 {
            // SAFETY: a call of its own, for a child that waits after all.
            unsafe { libc::alarm(20) };
            let kept = *lock.lock();
            // SAFETY: as above.
            unsafe { libc::_exit(if kept == 0 { 0 } else { 1 }) };
        }
        let mut status = -1;
        // SAFETY: our own child, and a word of our own.
        assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
        assert_eq!((status, *held), (0, 7));
    }

    #[test]
    fn who_lets_go_of_its_place_is_told_no_more() {
        let nobody = Arc::new(Nobody);
        let whom: Weak<Nobody> = Arc::downgrade(&nobody);
        let listed = tell(whom);
        let number = listed.number;
        assert!(lock().all.contains_key(&number));
        drop(listed);
        assert!(!lock().all.contains_key(&number));
    }
}
