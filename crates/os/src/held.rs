//! A head that is held together with what keeps it mapped: a look at it goes through nothing else.

use std::fmt;
use std::ptr::NonNull;
use std::sync::Arc;

use nearcall_abi::AStackHead;

/// A head of an A-stack and its owner. A processor that polls many heads has them one behind the
/// other, and reaches each by one load.
pub struct HeldHead<O> {
    head: NonNull<AStackHead>,
    owner: Arc<O>,
}

// SAFETY: it is a shared owner and a reference to what that one lends: both may go wherever an
// `Arc<O>` may.
unsafe impl<O: Send + Sync> Send for HeldHead<O> {}
// SAFETY: as above.
unsafe impl<O: Send + Sync> Sync for HeldHead<O> {}

impl<O> HeldHead<O> {
    /// Holds the head that its owner lends. `None` if there is none.
    pub fn new(
        owner: Arc<O>,
        head: impl for<'o> FnOnce(&'o O) -> Option<&'o AStackHead>,
    ) -> Option<HeldHead<O>> {
        let head = NonNull::from(head(&owner)?);
        Some(HeldHead { head, owner })
    }

    /// The head.
    #[inline(always)]
    pub fn head(&self) -> &AStackHead {
        // SAFETY: it was borrowed of `*owner`, for as long as anybody liked (`for<'o>`). `owner` is
        // held since: `*owner` has not moved, and nobody has it mutably, because `owner` is given
        // out as a shared reference only.
        unsafe { self.head.as_ref() }
    }

    /// Its owner.
    #[inline(always)]
    pub fn owner(&self) -> &Arc<O> {
        &self.owner
    }
}

impl<O> fmt::Debug for HeldHead<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HeldHead").field("head", &self.head).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering::Relaxed;

    use super::*;

    #[test]
    fn a_held_head_outlives_whoever_has_made_it() {
        let heads: Arc<[AStackHead; 2]> = Arc::new([AStackHead::default(), AStackHead::default()]);
        let held = HeldHead::new(Arc::clone(&heads), |heads| heads.get(1)).unwrap();
        assert!(HeldHead::new(Arc::clone(&heads), |heads| heads.get(2)).is_none());
        heads[1].turn.store(7, Relaxed);
        drop(heads);
        assert_eq!(held.head().turn.load(Relaxed), 7);
        assert_eq!(held.owner()[0].turn.load(Relaxed), 0);
    }
}
