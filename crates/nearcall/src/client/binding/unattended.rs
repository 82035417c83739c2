//! Calls that were posted and that nobody waits for yet. Who waits rings again for a call that no
//! server processor takes; for these, housekeeping does (design note 0003).

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};

use nearcall_core::overdue::Overdue;
use nearcall_core::turn;

use super::{ClientBinding, was_claimed};
use crate::client::linkage::NOBODY;

/// Looks in a row that find no call which anybody would have to take, after which housekeeping
/// looks once more, and no more.
const IDLE_LOOKS: u32 = 25;

/// Nobody looks: whoever posts has housekeeping do it.
const UNWATCHED: u32 = 0;

/// Housekeeping looks.
const WATCHED: u32 = 1;

/// The same, once more. Whoever posts takes it for [`UNWATCHED`], so that the last look finds what
/// was posted while it was [`WATCHED`].
const ENDING: u32 = 2;

/// What a binding knows of them.
#[derive(Debug, Default)]
pub(super) struct Unattended {
    watch: AtomicU32,
    /// Housekeeping's own.
    seen: Mutex<Seen>,
}

#[derive(Debug, Default)]
struct Seen {
    overdue: Overdue,
    idle_looks: u32,
}

impl ClientBinding {
    /// A call was posted that nobody waits for yet.
    ///
    /// # Cost: one load; if there was none for a tenth of a second, a wake-up of housekeeping.
    #[inline(always)]
    pub fn leave_unattended(&self) {
        // Relaxed: who reads late that nobody looks any more is seen by the last look.
        if self.unattended.watch.load(Ordering::Relaxed) != WATCHED {
            self.watch_unattended();
        }
    }

    #[cold]
    #[inline(never)]
    fn watch_unattended(&self) {
        // AcqRel: pairs with the exchange in `ends_watch`. Either that fails, or the binding comes
        // to the list again.
        if self.unattended.watch.swap(WATCHED, Ordering::AcqRel) == UNWATCHED {
            self.domain.core().housekeeping.look_after_posted(&self.me);
        }
    }

    /// Whether housekeeping is to look again.
    pub fn has_unattended_watched(&self) -> bool {
        // Acquire: as in `watch_unattended`.
        self.unattended.watch.load(Ordering::Acquire) != UNWATCHED
    }

    /// Looks at the calls that nobody waits for, and rings for those that no server processor has
    /// taken since the last look, the second last, the fourth last and so on.
    pub fn look_after_unattended(&self) {
        let mut seen = self.unattended.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut is_idle, mut times) = (true, 0);
        for astack in self.regions().flat_map(|region| region.region.astacks()) {
            let record = astack.record();
            let call = (record.outstanding() != NOBODY).then(|| record.sequence());
            let Some(looks) = seen.overdue.look(record.index, call) else { continue };
            is_idle = false;
            // Seldom: both sides may have these lines in their hands just now.
            if !looks.is_power_of_two() {
                continue;
            }
            let is_posted = turn::is_pending(&astack.head().turn);
            match is_posted && !was_claimed(astack, record.sequence()) {
                true => times = times.max(looks.ilog2() + 1),
                false => seen.overdue.take(record.index),
            }
        }
        seen.idle_looks = if is_idle { seen.idle_looks + 1 } else { 0 };
        if self.ends_watch(seen.idle_looks) {
            seen.idle_looks = 0;
        }
        drop(seen);
        if times > 0 && self.state.is_open() {
            self.ring_again(times);
        }
    }

    /// Whether it is over, or begins anew.
    fn ends_watch(&self, idle_looks: u32) -> bool {
        let watch = &self.unattended.watch;
        match idle_looks {
            // Relaxed: nobody else writes it while it is not `UNWATCHED`, but to the same.
            0 => watch.store(WATCHED, Ordering::Relaxed),
            1..IDLE_LOOKS => {}
            // Relaxed: as in `leave_unattended`.
            IDLE_LOOKS => watch.store(ENDING, Ordering::Relaxed),
            _ => {
                // AcqRel: see `watch_unattended`. It fails where somebody has posted since.
                let _ =
                    watch.compare_exchange(ENDING, UNWATCHED, Ordering::AcqRel, Ordering::Relaxed);
                return true;
            }
        }
        false
    }
}
