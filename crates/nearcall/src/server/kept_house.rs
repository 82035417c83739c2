//! What the thread that keeps house notes of a binding, for itself.

use std::sync::atomic::{AtomicBool, Ordering};

/// Of one binding.
#[derive(Debug, Default)]
pub(crate) struct KeptHouse {
    wants_look: AtomicBool,
    is_paused: AtomicBool,
}

impl KeptHouse {
    /// The client says over the socket that its bells do not arrive.
    pub fn ask_to_look(&self) {
        // Relaxed, here and below: one thread sets it and asks for it.
        self.wants_look.store(true, Ordering::Relaxed);
    }

    /// Whether it has said so since it was last asked.
    pub fn take_look(&self) -> bool {
        // Relaxed: as above.
        self.wants_look.swap(false, Ordering::Relaxed)
    }

    /// Nothing is read from it for a while, or is again.
    pub fn set_paused(&self, is_paused: bool) {
        // Relaxed: as above.
        self.is_paused.store(is_paused, Ordering::Relaxed);
    }

    /// Whether nothing is read from it now.
    pub fn is_paused(&self) -> bool {
        // Relaxed: as above.
        self.is_paused.load(Ordering::Relaxed)
    }
}
