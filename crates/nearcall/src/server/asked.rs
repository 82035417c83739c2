//! What the watcher is asked for besides bells: to go on with suspended calls that were woken, to
//! enter procedures again whose calls were set aside, and to look at bindings.
//!
//! It takes one at a time, because each may keep it: what is left is another watcher's once the
//! watch is taken over. A relief looks whether the watcher is stuck for as long as something is
//! left, for nobody rings for a call that was claimed.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, MutexGuard};

use nearcall_os::forks::OwnLock;

use super::binding::ServerBinding;
use super::deferred::Deferred;
use super::feeds::source::Asker;
use super::suspended::Suspended;

/// What a watcher is asked for.
#[derive(Debug, Default)]
pub(crate) struct Asked {
    lists: OwnLock<Lists>,
    /// Something is in them. Written under their lock.
    is_some: AtomicBool,
}

#[derive(Debug, Default)]
struct Lists {
    /// Suspended calls that were woken.
    woken: VecDeque<Arc<Suspended>>,
    /// Calls for batches that there are items for now.
    again: VecDeque<Deferred>,
    /// The domain has ended: nobody is left who would do any of it.
    has_ended: bool,
    looks: VecDeque<Asking>,
    /// A relief looks again and again whether the watcher is stuck.
    has_relief: bool,
}

impl Lists {
    fn is_some(&self) -> bool {
        !self.woken.is_empty() || !self.again.is_empty() || !self.looks.is_empty()
    }
}

/// A binding that the watcher is asked to look at.
#[derive(Debug)]
pub(crate) struct Asking {
    pub binding: Arc<ServerBinding>,
    /// Its client has asked, over its socket; else a resident, which has served it.
    pub is_clients: bool,
}

/// What the last processor of a domain has left, and nobody goes on with. It knows its bindings:
/// what those serve may have a handle on the domain, and would keep it, and be kept, for good.
#[derive(Debug)]
pub(crate) struct Left {
    _woken: VecDeque<Arc<Suspended>>,
    _looks: VecDeque<Asking>,
}

/// How much there was when the watcher began with it: what comes meanwhile, from calls that wake
/// themselves say, has its turn after the bells.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Batch {
    woken_count: usize,
    again_count: usize,
    looks_count: usize,
}

/// The next thing.
#[derive(Debug)]
pub(crate) enum Next {
    Resume(Arc<Suspended>),
    Again(Deferred),
    Look(Asking),
}

impl Asked {
    /// A suspended call was woken.
    pub fn resume(&self, suspended: Arc<Suspended>) {
        let mut lists = self.lists();
        // One that comes later is nobody's to go on with, and would keep its binding here.
        if !lists.has_ended {
            lists.woken.push_back(suspended);
        }
        self.note(&lists);
    }

    /// A call was set aside, and its procedure is to be entered again.
    ///
    /// # Errors: the domain has ended; that call.
    pub fn again(&self, call: Deferred) -> Result<(), Deferred> {
        let mut lists = self.lists();
        if lists.has_ended {
            return Err(call);
        }
        lists.again.push_back(call);
        self.note(&lists);
        Ok(())
    }

    /// The domain has ended: nothing comes any more, and who asked for a batch is told. What else
    /// is left is not to be dropped within a lock: with its last binding goes what the application
    /// serves by it.
    pub fn end(&self) -> Left {
        let mut lists = self.lists();
        lists.has_ended = true;
        let again = std::mem::take(&mut lists.again);
        let left = Left {
            _woken: std::mem::take(&mut lists.woken),
            _looks: std::mem::take(&mut lists.looks),
        };
        self.note(&lists);
        drop(lists);
        again.into_iter().for_each(|call| Box::new(call).end());
        left
    }

    /// A binding is to be looked at.
    pub fn look(&self, asks: Asking) {
        let mut lists = self.lists();
        let is_known = |known: &Asking| Arc::ptr_eq(&known.binding, &asks.binding);
        // As of a suspended call that is woken.
        if !lists.has_ended && !lists.looks.iter().any(is_known) {
            lists.looks.push_back(asks);
        }
        self.note(&lists);
    }

    /// Whether there is anything.
    #[inline]
    pub fn is_some(&self) -> bool {
        // Relaxed: who is told to look acquires what that takes; who polls sees it a little later.
        self.is_some.load(Ordering::Relaxed)
    }

    /// What there is now.
    pub fn batch(&self) -> Batch {
        let lists = self.lists();
        let (again_count, looks_count) = (lists.again.len(), lists.looks.len());
        Batch { woken_count: lists.woken.len(), again_count, looks_count }
    }

    /// Of that only suspended calls that were woken.
    pub fn woken(&self) -> Batch {
        Batch { again_count: 0, looks_count: 0, ..self.batch() }
    }

    /// The next of a batch, those that were woken first. `None`: that was all, or another watcher
    /// has taken what was left.
    pub fn next(&self, batch: &mut Batch) -> Option<Next> {
        let mut lists = self.lists();
        let next = if batch.woken_count > 0 {
            batch.woken_count -= 1;
            lists.woken.pop_front().map(Next::Resume)
        } else if batch.again_count > 0 {
            batch.again_count -= 1;
            lists.again.pop_front().map(Next::Again)
        } else if batch.looks_count > 0 {
            batch.looks_count -= 1;
            lists.looks.pop_front().map(Next::Look)
        } else {
            None
        };
        self.note(&lists);
        next
    }

    fn note(&self, lists: &Lists) {
        // Relaxed: the lock orders it among those who write; see `is_some` for the others.
        self.is_some.store(lists.is_some(), Ordering::Relaxed);
    }

    /// The watcher is in a procedure: whether a relief is to be called, because something is left
    /// and none looks. Under the lock, so that of the watcher, which asks after it has entered, and
    /// of whoever asks it for something and then looks where it is, one sees the other.
    pub fn needs_relief(&self) -> bool {
        let lists = self.lists();
        lists.is_some() && !lists.has_relief
    }

    /// A relief looks whether the watcher is stuck, and goes on to as long as something is left.
    pub fn begin_looking(&self) {
        self.lists().has_relief = true;
    }

    /// It does not any more. True: it is to look again, something was left.
    pub fn stop_looking(&self) -> bool {
        let mut lists = self.lists();
        lists.has_relief = false;
        lists.is_some()
    }

    fn lists(&self) -> MutexGuard<'_, Lists> {
        self.lists.lock()
    }
}
