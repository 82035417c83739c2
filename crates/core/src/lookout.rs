//! Whether a binding's calls that were posted, and that nobody waits for yet, are looked at by
//! housekeeping. Who posts must not pay for that, and housekeeping must not look for ever.
//!
//! ```text
//!   NOBODY ──a post finds that (K2)──▶ LOOKS ──found nothing for long (K3)──▶ NOBODY
//!                                        ▲                                     │
//!                                        └── one more look finds a call (K2) ──┘
//!
//!   who posts                             housekeeping
//!     notes that a call is outstanding      word := NOBODY          K3
//!     light fence                           heavy fence
//!     word?                  K1             is a call outstanding?  one more look
//!     NOBODY: word := LOOKS  K2             yes: word := LOOKS      K2
//!     it was NOBODY: lists the binding      unlists it unless the word is LOOKS  K1
//! ```
//!
//! The two cannot both miss each other, as in `crate::bias`: the light fence keeps only the
//! compiler from moving the load up, the heavy one makes every processor of this domain pass a full
//! fence. The list has a lock, and holds a binding once.
//!
//! | row | edge | by | order | makes visible | pairs with |
//! |---|---|---|---|---|---|
//! | K1 | load | both | Relaxed | nothing | - |
//! | K2 | to LOOKS, swap | both | Relaxed | nothing: the list has a lock | - |
//! | K3 | to NOBODY, store | housekeeping | Relaxed | nothing | - |
//!
//! Private memory: no peer sees it.

use crate::sync::{AtomicU32, light_fence, ord};

const NOBODY: u32 = 0;
/// Somebody looks: the call path in C takes row K1 by itself (design note 0026).
pub const LOOKS: u32 = 1;

/// The word of one binding. At first nobody looks.
#[derive(Debug)]
#[repr(transparent)]
pub struct Lookout {
    word: AtomicU32,
}

impl Lookout {
    /// Nobody looks.
    pub fn new() -> Lookout {
        Lookout { word: AtomicU32::new(NOBODY) }
    }

    /// A call was noted as outstanding. Whether nobody looks: then [`Lookout::begin`].
    ///
    /// # Cost: one load.
    #[inline(always)]
    pub fn is_wanted(&self) -> bool {
        light_fence();
        !self.is_kept()
    }

    /// Somebody is to look. True: nobody did, and the binding is to be listed.
    pub fn begin(&self) -> bool {
        self.word.swap(LOOKS, ord!("K2", Relaxed)) == NOBODY
    }

    /// Nothing was found for long. One more look has to follow, and [`Lookout::begin`] if that
    /// finds a call. `heavy_fence` makes every processor of this domain pass a full fence.
    pub fn end(&self, heavy_fence: impl FnOnce()) {
        self.word.store(NOBODY, ord!("K3", Relaxed));
        heavy_fence();
    }

    /// Whether somebody is to look.
    #[inline(always)]
    pub fn is_kept(&self) -> bool {
        self.word.load(ord!("K1", Relaxed)) == LOOKS
    }
}

impl Default for Lookout {
    fn default() -> Lookout {
        Lookout::new()
    }
}
