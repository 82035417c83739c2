//! Which stacks are kept: those that were used last, whole; all others without what was touched of
//! them (L27 to L29). A processor has some for itself, the rest is everybody's.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::ptr;
use std::sync::{MutexGuard, PoisonError};

use rustix::io::Errno;

use crate::kernel::Mutex;
use crate::stack::Stack;
use crate::thread::Thread;

/// A processor takes so many at once from what is everybody's.
const TAKEN_AT_ONCE: usize = 32;

/// A processor that is idle keeps so many stacks as they are.
const KEPT: usize = 32;

/// One of several processors that has more shares them.
const SHARED_FROM: usize = 512;

/// It looks whether a thread is ready after so many that it has given back.
const GIVEN_AT_ONCE: usize = 1024;

/// A thread that has ended, and whose result is gone.
#[derive(Clone, Copy)]
struct Free(&'static Thread);

// SAFETY: nobody but whoever takes it out of the pool touches a free thread's record.
unsafe impl Send for Free {}

/// Every record that there is, and the free ones that no processor has, by bytes of their stacks.
pub struct Pool {
    slabs: Vec<&'static [Shared]>,
    free: BTreeMap<usize, Vec<Free>>,
}

static POOL: Mutex<Pool> = Mutex::new(Pool { slabs: Vec::new(), free: BTreeMap::new() });

/// A record in a slab.
#[repr(transparent)]
struct Shared(Thread);

// SAFETY: a record belongs to its processor, or to whoever has it out of a list; see `for_each`.
unsafe impl Sync for Shared {}

// SAFETY: as above.
unsafe impl Send for Shared {}

pub fn pool() -> MutexGuard<'static, Pool> {
    POOL.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The free stacks of a processor, the one that was used last first.
#[derive(Debug)]
pub struct Stacks {
    free: Cell<Option<&'static Thread>>,
    /// So many of the first may have been touched since they were given back to the system; of the
    /// others none was, because the list ends where it ended then, or earlier.
    touched_max: Cell<usize>,
    bytes: usize,
}

impl Stacks {
    /// None yet, of `bytes` each.
    pub const fn new(bytes: usize) -> Stacks {
        Stacks { free: Cell::new(None), touched_max: Cell::new(0), bytes }
    }

    /// Bytes of each.
    #[inline(always)]
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// The stack that was used last.
    ///
    /// # Errors: what the kernel says when there is no memory for more.
    #[inline(always)]
    pub fn take(&self) -> Result<&'static Thread, Errno> {
        let thread = match self.free.get() {
            Some(thread) => thread,
            None => self.refill()?,
        };
        self.free.set(thread.next.get());
        thread.is_touched.set(true);
        Ok(thread)
    }

    /// A thread of this processor has ended and its result is gone. Its stack may be in use until
    /// the processor leaves it; nobody else takes it before.
    #[inline(always)]
    pub fn give(&self, thread: &'static Thread) {
        thread.next.set(self.free.get());
        self.free.set(Some(thread));
        self.touched_max.set(self.touched_max.get() + 1);
    }

    /// Gets some from the pool, or new ones.
    #[cold]
    fn refill(&self) -> Result<&'static Thread, Errno> {
        let mut pool = pool();
        if pool.free.get(&self.bytes).is_none_or(Vec::is_empty) {
            pool.map(self.bytes)?;
        }
        let free = pool.free.entry(self.bytes).or_default();
        let rest = free.len().saturating_sub(TAKEN_AT_ONCE);
        for Free(thread) in free.drain(rest..) {
            self.give(thread);
        }
        self.free.get().ok_or(Errno::NOMEM)
    }

    /// Whether there may be something for [`Stacks::trim`] to give back.
    pub fn has_touched(&self) -> bool {
        self.touched_max.get() > KEPT
    }

    /// Gives back to the system what was touched of stacks that were not used lately. `running` is
    /// the thread whose stack the caller is on. True: there is more to give back.
    pub fn trim(&self, running: &Thread) -> bool {
        let mut next = self.free.get();
        let mut given = 0;
        for rank in 0..self.touched_max.get() {
            let Some(thread) = next else { break };
            next = thread.next.get();
            if rank < KEPT || !thread.is_touched.get() || ptr::eq(thread, running) {
                continue;
            }
            if given == GIVEN_AT_ONCE {
                return true;
            }
            give_back(thread);
            given += 1;
        }
        self.touched_max.set(self.touched_max.get().min(KEPT));
        false
    }

    /// The same for one stack, if there is one not far from those that were used last.
    pub fn trim_one(&self, running: &Thread) {
        let free = std::iter::successors(self.free.get(), |thread| thread.next.get());
        let mut others = free.take(self.touched_max.get().min(GIVEN_AT_ONCE)).skip(KEPT);
        let is_due = |thread: &&Thread| thread.is_touched.get() && !ptr::eq(*thread, running);
        others.find(is_due).map(give_back);
    }

    /// If there are many, most become everybody's, without what was touched of them: a processor
    /// that takes others' threads, which nobody joins, would heap up their stacks.
    pub fn share(&self) {
        if self.touched_max.get() <= SHARED_FROM {
            return;
        }
        let mut free = Vec::new();
        while free.len() < SHARED_FROM - KEPT
            && let Some(thread) = self.free.get()
        {
            self.free.set(thread.next.get());
            give_back(thread);
            free.push(Free(thread));
        }
        self.touched_max.set(self.touched_max.get() - free.len());
        pool().free.entry(self.bytes).or_default().append(&mut free);
    }

    /// All of them become everybody's, without what was touched of them. None is in use any more.
    pub fn return_all(&self) {
        let mut free = Vec::new();
        while let Some(thread) = self.free.get() {
            self.free.set(thread.next.get());
            give_back(thread);
            free.push(Free(thread));
        }
        pool().free.entry(self.bytes).or_default().append(&mut free);
    }
}

impl Pool {
    fn map(&mut self, bytes: usize) -> Result<(), Errno> {
        let stacks = Stack::map_slab(bytes)?.into_iter().enumerate();
        let threads = stacks.map(|(index, stack)| Shared(Thread::new(index, stack)));
        let slab: &'static [Shared] = Box::leak(threads.collect::<Box<[Shared]>>());
        self.free.entry(bytes).or_default().extend(slab.iter().map(|shared| Free(&shared.0)));
        self.slabs.push(slab);
        Ok(())
    }
}

/// Gives what was touched of a free thread's stack back to the system.
fn give_back(thread: &Thread) {
    if thread.is_touched.replace(false) {
        // SAFETY: the thread has ended, its result is gone, and nobody runs on its stack.
        unsafe { thread.stack.give_back() };
    }
}

/// Shows every record to `look`: those of free threads, and those of other processors, of which it
/// may read `run` only.
pub fn for_each(look: impl FnMut(&'static Thread)) {
    let slabs = pool().slabs.clone();
    slabs.iter().flat_map(|slab| slab.iter()).map(|shared| &shared.0).for_each(look);
}
