//! A-stack bias: the thread that calls most keeps one A-stack of a class for itself, and claims and
//! releases it without a read-modify-write. Everybody else uses the list; a thread that finds the
//! list empty revokes the bias for good.
//!
//! ```text
//!  owner: NOBODY ──establish──▶ thread ──revoke / abandon──▶ REVOKED
//!
//!  the owner                        whoever revokes
//!    busy := 1          D1            owner := REVOKED          D3
//!    light fence                      heavy fence
//!    owner still me?    D2            busy?                     D4
//! ```
//!
//! The two cannot both miss each other (Dekker): the light fence keeps only the compiler from
//! moving the load up, the heavy one makes every processor of this domain pass a full fence
//! (membarrier). So the owner pays nothing, and the revoker a system call, once a binding.
//!
//! If the revoker finds the A-stack busy, exactly one of the two puts it into the list: who comes
//! second to `handover`.
//!
//! | row | edge | by | order | makes visible | pairs with |
//! |---|---|---|---|---|---|
//! | D1 | busy, store 1 | owner | Relaxed | nothing | - |
//! | D2 | owner, load | owner | Relaxed | nothing | - |
//! | D3 | owner to REVOKED, compare-and-swap | revoker | Relaxed | nothing | - |
//! | D4 | busy, load | revoker | Acquire | bytes are dead | D5 |
//! | D5 | busy, store 0 | owner | Release | bytes are dead | D4 |
//! | D6 | handover, swap | both | AcqRel | bytes are dead | D6 |
//! | D7 | owner, NOBODY to TAKEN to a thread | who establishes | Relaxed | nothing | - |
//! | D8 | handover, load | owner | Acquire | bytes are dead | D6 |
//!
//! Private memory: no peer sees any of it.

use crate::sync::{AtomicU32, AtomicU64, light_fence, ord};

const NOBODY: u64 = u64::MAX - 2;
const TAKEN: u64 = u64::MAX - 1;
const REVOKED: u64 = u64::MAX;

const UNDECIDED: u32 = 0;
const OWNER_CAME: u32 = 1;
const REVOKER_CAME: u32 = 2;

/// The bias of one A-stack class. A line of its own, written by its owner alone.
#[derive(Debug)]
#[repr(align(64))]
pub struct Bias {
    owner: AtomicU64,
    busy: AtomicU32,
    index: AtomicU32,
    handover: AtomicU32,
}

/// What a thread gets from a bias.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Claim {
    /// The A-stack that is kept for it: to be given back by [`Bias::release`].
    Kept(u32),
    /// An A-stack that is like any other: to be given back to the list.
    Plain(u32),
    /// Nothing: ask the list.
    Nothing,
}

/// Who puts an A-stack into the list that a bias gave up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Settled {
    /// The caller, this one.
    Push(u32),
    /// Nobody has to now.
    Nothing,
}

impl Bias {
    /// A bias towards nobody.
    #[allow(clippy::new_without_default)]
    pub fn new() -> Bias {
        Bias {
            owner: AtomicU64::new(NOBODY),
            busy: AtomicU32::new(0),
            index: AtomicU32::new(0),
            handover: AtomicU32::new(UNDECIDED),
        }
    }

    /// The A-stack that is kept for `thread`, unless that has it already. `thread` is none of the
    /// last three numbers.
    ///
    /// # Cost: three loads and a store.
    #[inline(always)]
    pub fn claim(&self, thread: u64) -> Claim {
        // Row D1's: only this thread writes `busy` while it is the owner.
        if self.owner.load(ord!("D2", Relaxed)) != thread
            || self.busy.load(ord!("D1", Relaxed)) != 0
        {
            return Claim::Nothing;
        }
        self.busy.store(1, ord!("D1", Relaxed));
        light_fence();
        if self.owner.load(ord!("D2", Relaxed)) == thread {
            // Row D7's: written by this thread.
            return Claim::Kept(self.index.load(ord!("D7", Relaxed)));
        }
        // Revoked just now. The revoker either saw the A-stack free and has it, or saw it busy:
        // then it belongs to the second of us.
        match self.settle() {
            Settled::Push(index) => Claim::Plain(index),
            Settled::Nothing => Claim::Nothing,
        }
    }

    /// The owner is done with the A-stack. False: the bias was ended meanwhile, and the caller is
    /// to [`Bias::settle`] whose the A-stack is.
    ///
    /// # Cost: a store and a load.
    #[inline(always)]
    #[must_use]
    pub fn release(&self, thread: u64) -> bool {
        self.busy.store(0, ord!("D5", Release));
        light_fence();
        self.owner.load(ord!("D2", Relaxed)) == thread
    }

    /// Between the owner, who finds that it is none any more, and the revoker: the A-stack belongs
    /// to the second of the two.
    #[cold]
    pub fn settle(&self) -> Settled {
        self.meet(OWNER_CAME, REVOKER_CAME)
    }

    /// There is no bias yet. Cost: one load.
    #[inline]
    pub fn is_unset(&self) -> bool {
        self.owner.load(ord!("D2", Relaxed)) == NOBODY
    }

    /// Keeps A-stack `index`, which `thread` has claimed from the list, for that thread. False if
    /// there is or was a bias: the A-stack is then released to the list as ever.
    #[cold]
    pub fn establish(&self, thread: u64, index: u32) -> bool {
        let (from, order) = (NOBODY, ord!("D7", Relaxed));
        if self.owner.compare_exchange(from, TAKEN, order, order).is_err() {
            return false;
        }
        self.index.store(index, ord!("D7", Relaxed));
        self.busy.store(1, ord!("D1", Relaxed));
        self.owner.store(thread, ord!("D7", Relaxed));
        true
    }

    /// Ends the bias, for a thread that finds the list empty. `heavy_fence` makes every processor
    /// of this domain pass a full fence.
    #[cold]
    pub fn revoke(&self, heavy_fence: impl FnOnce()) -> Settled {
        let seen = self.owner.load(ord!("D2", Relaxed));
        if matches!(seen, NOBODY | TAKEN | REVOKED) || !self.end(seen) {
            return Settled::Nothing;
        }
        heavy_fence();
        if self.busy.load(ord!("D4", Acquire)) == 0 {
            return Settled::Push(self.index.load(ord!("D7", Relaxed)));
        }
        self.meet(REVOKER_CAME, OWNER_CAME)
    }

    /// Ends the bias while its owner has the A-stack and will not release it: the server holds it
    /// captured. From here on it is like any other.
    #[cold]
    pub fn abandon(&self, thread: u64, mut pause: impl FnMut()) {
        if self.end(thread) {
            return;
        }
        // A revoker is about to leave the A-stack to us.
        while self.handover.load(ord!("D8", Acquire)) != REVOKER_CAME {
            pause();
        }
    }

    fn end(&self, owner: u64) -> bool {
        let order = ord!("D3", Relaxed);
        self.owner.compare_exchange(owner, REVOKED, order, order).is_ok()
    }

    fn meet(&self, comes: u32, other: u32) -> Settled {
        if self.handover.swap(comes, ord!("D6", AcqRel)) == other {
            Settled::Push(self.index.load(ord!("D7", Relaxed)))
        } else {
            Settled::Nothing
        }
    }
}
