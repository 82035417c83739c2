//! A-stack bias: the thread that calls most keeps A-stacks of a class for itself, and claims and
//! releases them without a read-modify-write. Everybody else uses the list; a thread that finds the
//! list empty revokes the bias for good, unless it is a FastThread of the thread that it is for.
//!
//! ```text
//!  owner: NOBODY ──establish──▶ thread ──revoke, close──▶ REVOKED
//!
//!  kept, free: a bit for each A-stack, the lowest for the first of the class
//!
//!  the owner                        whoever revokes
//!    its bit in free := 0  D1         owner := REVOKED          D3
//!    light fence                      heavy fence
//!    owner still me?       D2         free?                     D4
//! ```
//!
//! The two cannot both miss each other (Dekker): the light fence keeps only the compiler from
//! moving the load up, the heavy one makes every processor of this domain pass a full fence
//! (membarrier). So the owner pays nothing, and the revoker a system call, once a binding.
//!
//! If the revoker finds an A-stack kept and not free, exactly one of the two puts it into the list:
//! who comes second to its bit of `handover`. An owner that never comes, because the server holds
//! the A-stack captured, keeps it: to abandon one takes no step here.
//!
//! | row | edge | by | order | makes visible | pairs with |
//! |---|---|---|---|---|---|
//! | D1 | free, store with a bit less | owner | Relaxed | nothing | - |
//! | D2 | owner, load | owner | Relaxed | nothing | - |
//! | D3 | owner to REVOKED, swap | revoker | Relaxed | nothing | - |
//! | D4 | free, load | revoker | Acquire | bytes are dead | D5 |
//! | D5 | free, store with a bit more | owner | Release | bytes are dead | D4 |
//! | D6 | handover, or | both | AcqRel | bytes are dead | D6 |
//! | D7 | owner, NOBODY to TAKEN to a thread | who establishes | Relaxed | nothing | - |
//! | D8 | kept, store with a bit more | owner | Relaxed | nothing | - |
//! | D9 | kept, load, after D4 | revoker | Relaxed | nothing | - |
//!
//! Private memory: no peer sees any of it.

use core::mem::offset_of;

use crate::sync::{AtomicU64, light_fence, ord};

/// Most A-stacks that a bias keeps: the first of their class.
pub const KEPT_MAX: u32 = u64::BITS;

const NOBODY: u64 = u64::MAX - 2;
const TAKEN: u64 = u64::MAX - 1;
const REVOKED: u64 = u64::MAX;

/// Where a bias's owner and its free A-stacks lie: the call path in C takes rows D1, D2 and D5 of
/// the first of them by itself (design note 0026).
pub const OWNER_OFFSET_BYTES: usize = offset_of!(Bias, owner);
/// As above.
pub const FREE_OFFSET_BYTES: usize = offset_of!(Bias, free);

/// The bias of one A-stack class. A line of its own, written by its owner alone.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Bias {
    owner: AtomicU64,
    free: AtomicU64,
    kept: AtomicU64,
    /// Index of the A-stack that the lowest bit stands for.
    first: u32,
    handover: AtomicU64,
}

/// What a thread gets from a bias.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Claim {
    /// An A-stack that is kept for it: to be given back by [`Bias::release`].
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
    /// The caller.
    Push,
    /// Nobody has to now.
    Nothing,
}

impl Bias {
    /// A bias towards nobody, over a class whose first A-stack has index `first`.
    pub fn new(first: u32) -> Bias {
        Bias {
            owner: AtomicU64::new(NOBODY),
            free: AtomicU64::new(0),
            kept: AtomicU64::new(0),
            first,
            handover: AtomicU64::new(0),
        }
    }

    /// An A-stack that is kept for `thread` and that it has not claimed. `thread` is none of the
    /// last three numbers.
    ///
    /// # Cost: three loads and a store.
    #[inline(always)]
    pub fn claim(&self, thread: u64) -> Claim {
        if self.owner.load(ord!("D2", Relaxed)) != thread {
            return Claim::Nothing;
        }
        // Row D1's: only this thread writes it while it is the owner.
        let free = self.free.load(ord!("D1", Relaxed));
        if free == 0 {
            return Claim::Nothing;
        }
        self.free.store(free & (free - 1), ord!("D1", Relaxed));
        light_fence();
        let index = self.first + free.trailing_zeros();
        if self.owner.load(ord!("D2", Relaxed)) == thread {
            return Claim::Kept(index);
        }
        // Revoked just now. The revoker either saw the A-stack free and has it, or saw it busy:
        // then it belongs to the second of us.
        match self.settle(index) {
            Settled::Push => Claim::Plain(index),
            Settled::Nothing => Claim::Nothing,
        }
    }

    /// The owner is done with the A-stack that `bit` stands for (see [`Bias::bit`]), and that is
    /// kept for it. False: the bias was ended meanwhile, and the caller is to [`Bias::settle`]
    /// whose the A-stack is.
    ///
    /// # Cost: two loads and a store.
    #[inline(always)]
    #[must_use]
    pub fn release(&self, thread: u64, bit: u64) -> bool {
        // Row D1's: written by this thread.
        let free = self.free.load(ord!("D1", Relaxed)) | bit;
        self.free.store(free, ord!("D5", Release));
        light_fence();
        self.owner.load(ord!("D2", Relaxed)) == thread
    }

    /// Between the owner, who finds that it is none any more, and the revoker: A-stack `index`
    /// belongs to the second of the two.
    #[cold]
    pub fn settle(&self, index: u32) -> Settled {
        let bit = self.bit(index);
        match self.handover.fetch_or(bit, ord!("D6", AcqRel)) & bit {
            0 => Settled::Nothing,
            _ => Settled::Push,
        }
    }

    /// Index of the A-stack that the lowest bit stands for.
    #[inline]
    pub const fn first(&self) -> u32 {
        self.first
    }

    /// The bit that stands for A-stack `index`, if it may be kept.
    #[inline]
    pub fn bit(&self, index: u32) -> u64 {
        1 << (index.wrapping_sub(self.first) % KEPT_MAX)
    }

    /// Whether it is towards `thread`, which then has all that it keeps. Cost: one load.
    #[inline]
    pub fn is_towards(&self, thread: u64) -> bool {
        self.owner.load(ord!("D2", Relaxed)) == thread
    }

    /// Whether A-stack `index`, of this class, may be kept for `thread`. Cost: two loads.
    #[inline]
    pub fn may_keep(&self, thread: u64, index: u32) -> bool {
        let owner = self.owner.load(ord!("D2", Relaxed));
        (owner == thread || owner == NOBODY) && index.wrapping_sub(self.first) < KEPT_MAX
    }

    /// Keeps A-stack `index`, which it [`Bias::may_keep`] and which `thread` has claimed from the
    /// list, for that thread. False: the A-stack is released to the list as ever.
    #[cold]
    pub fn establish(&self, thread: u64, index: u32) -> bool {
        let (from, order) = (NOBODY, ord!("D7", Relaxed));
        let is_first = self.owner.compare_exchange(from, TAKEN, order, order).is_ok();
        if !is_first && self.owner.load(ord!("D2", Relaxed)) != thread {
            return false;
        }
        // Not free: a revoker that finds it leaves it to us.
        let kept = self.kept.load(ord!("D8", Relaxed)) | self.bit(index);
        self.kept.store(kept, ord!("D8", Relaxed));
        light_fence();
        match is_first {
            // Unless it was closed meanwhile.
            true => self.owner.compare_exchange(TAKEN, thread, order, order).is_ok(),
            false => self.owner.load(ord!("D2", Relaxed)) == thread,
        }
    }

    /// Ends the bias, for a thread that finds the list empty, and has it `push` what is free.
    /// `heavy_fence` makes every processor of this domain pass a full fence.
    #[cold]
    pub fn revoke(&self, heavy_fence: impl FnOnce(), push: impl FnMut(u32)) {
        // Nothing was kept yet, or is any more. From now on nothing will be: who waits for an
        // A-stack is woken by the list alone.
        if matches!(self.owner.swap(REVOKED, ord!("D3", Relaxed)), NOBODY | TAKEN | REVOKED) {
            return;
        }
        heavy_fence();
        let free = self.free.load(ord!("D4", Acquire));
        let kept = self.kept.load(ord!("D9", Relaxed));
        let astacks = (0..KEPT_MAX).map(|slot| (1 << slot, self.first + slot));
        let is_ours = |&(bit, index): &(u64, u32)| {
            free & bit != 0 || (kept & bit != 0 && self.settle(index) == Settled::Push)
        };
        astacks.filter(is_ours).map(|(_, index)| index).for_each(push);
    }

    /// Ends the bias for good, and pushes nothing: nobody is to have an A-stack any more. Who has
    /// one settles as after a revocation.
    #[cold]
    pub fn close(&self) {
        self.owner.swap(REVOKED, ord!("D3", Relaxed));
    }
}
